"""
Genotypes along a chromosome
============================

Genotypes at neighbouring places of a chromosome (SNPs) are associated, because stretches of DNA
are inherited together. Here 400 people are drawn at 40 SNPs by a simple model of inheritance: each
chromosome is a mosaic of eight ancestral ones, and changes from one to another mostly at two
hot spots of recombination.

**Lesson.** The matrix of correlations shows whole blocks. The network needs few edges, nearly all
between close neighbours, because a SNP in between explains what those around it share.

The loader ``gw.datasets.load_hapmap`` reads 180 people at 603 SNPs of chromosome 22. These data
are not part of the package; the loader's error message says where to get them.
With them, the two lines that fit and print are the same: ``table = gw.datasets.load_hapmap().table``.
"""

import matplotlib.pyplot as plt
import numpy as np

import graftwork as gw

rng = np.random.default_rng(1)
n_people, n_snps, n_ancestors = 400, 40, 8
ancestors = rng.random((n_ancestors, n_snps)) < rng.uniform(0.25, 0.75, n_snps)
change = np.full(n_snps, 0.08)  # the chance of a change of ancestor before each SNP
change[[0, 14, 27]] = 1.0  # the first SNP, and hot spots

origin = np.zeros((2 * n_people, n_snps), dtype=int)
for snp in range(n_snps):
    anew = rng.random(2 * n_people) < change[snp]
    origin[:, snp] = np.where(
        anew, rng.integers(n_ancestors, size=2 * n_people), origin[:, max(snp - 1, 0)]
    )
alleles = ancestors[origin, np.arange(n_snps)]
genotypes = alleles[::2].astype(int) + alleles[1::2]  # copies of an allele: 0, 1 or 2

# %%
# The number of copies is ordered, so an edge is one number: ``ordinal=True``.

names = [f"snp{k:02d}" for k in range(n_snps)]
net = gw.MarkovNetwork(ordinal=True, random_state=0).fit(genotypes_table := gw.as_table(genotypes, names=names))
