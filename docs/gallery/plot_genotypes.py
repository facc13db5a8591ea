"""
Genotypes along a chromosome
============================

Genotypes at neighbouring places of a chromosome (SNPs) are associated, because neighbours are
inherited together. Here 400 people are drawn at 40 SNPs. Each allele is linked to the one before,
except at two hot spots of recombination, where the chain is broken.

**Lesson.** Correlations show whole blocks of SNPs. The network shows the chain behind them: two
SNPs that are not neighbours are correlated only through those in between.

``gw.datasets.load_hapmap`` reads real genotypes: 180 people at 603 SNPs of chromosome 22. They are
not part of the package; the error message of the loader says where to get them. Real chromosomes
are mosaics of ancestral ones, so there edges also reach over several SNPs.
"""

import matplotlib.pyplot as plt
import numpy as np

import graftwork as gw

rng = np.random.default_rng(0)
n_people, n_snps = 400, 40
hot_spots = [14, 27]
linked = np.full(n_snps, 0.85)  # the chance that an allele comes along with the one before
linked[hot_spots] = 0

alleles = rng.random((2 * n_people, n_snps)) < rng.uniform(0.2, 0.5, n_snps)
for k in range(1, n_snps):
    alleles[:, k] = np.where(rng.random(2 * n_people) < linked[k], alleles[:, k - 1], alleles[:, k])
genotypes = alleles[::2].astype(int) + alleles[1::2]  # two chromosomes a person: 0, 1 or 2

# %%
# The number of copies of an allele is ordered, which ``ordinal=True`` says.

names = [f"snp{k:02d}" for k in range(n_snps)]
net = gw.MarkovNetwork(ordinal=True, random_state=0).fit(gw.as_table(genotypes, names=names))

# %%
# Left: squared correlations. Right: the edges of the network, on the same axes.

correlations = np.corrcoef(genotypes.T) ** 2
place = {name: k for k, name in enumerate(names)}
edges = np.array([sorted((place[a], place[b])) for a, b in net.model_.edges])
adjacency = np.zeros((n_snps, n_snps))
adjacency[edges[:, 0], edges[:, 1]] = adjacency[edges[:, 1], edges[:, 0]] = 1

figure, axes = plt.subplots(1, 2, figsize=(9, 4.3), layout="constrained", sharey=True)
for ax, matrix, title in [
    (axes[0], correlations, "squared correlation"),
    (axes[1], adjacency, "edges of the network"),
]:
    ax.imshow(matrix, cmap="Blues", vmin=0, vmax=1)
    for spot in hot_spots:
        ax.axvline(spot - 0.5, color="#d55e00", linewidth=1)
        ax.axhline(spot - 0.5, color="#d55e00", linewidth=1)
    ax.set(title=title, xlabel="SNP")
axes[0].set_ylabel("SNP; orange lines: hot spots")

# %%
# All true links are found, and nothing else.

correlated = (correlations[np.triu_indices(n_snps, 1)] > 0.05).sum()
distances = edges[:, 1] - edges[:, 0]
print(f"pairs with a squared correlation above 0.05: {correlated}")
print(f"edges: {len(edges)}, between neighbours: {(distances == 1).sum()}")
print(f"links that the data were drawn with: {n_snps - 1 - len(hot_spots)}")
assert len(edges) == (distances == 1).sum() == n_snps - 1 - len(hot_spots)
