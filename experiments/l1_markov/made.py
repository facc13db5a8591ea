"""Made rows of the kind of the digits and of the SNPs, for the tiny size: no data set is needed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graftwork.data import Table
from graftwork.data.missing import MISSING_STATE
from graftwork.datasets.files import pixel_table

#: How often a genotype is missing, an allele is rare, and neighbouring alleles are inherited
#: together.
MISSING, RARE, TOGETHER = 0.01, 0.4, 0.6


def made_digits(digit: int, count: int, side: int) -> Table:
    """Return black-and-white images of a bar whose place and slope differ a little between them.

    Examples
    --------
    >>> made_digits(3, 20, 7)
    Table: 20 rows x 49 variables, 2 states each
    """
    rng = np.random.default_rng([digit, count, side])
    rows, columns = np.mgrid[:side, :side]
    angle = rng.uniform(0, np.pi) + rng.normal(0.0, 0.5, (count, 1, 1))
    away = (columns - side // 2) * np.sin(angle) - (rows - side // 2) * np.cos(angle)
    ink = np.abs(away + rng.normal(0.0, 1.0, (count, 1, 1))) < 1.2
    return pixel_table((ink ^ (rng.random(ink.shape) < 0.15)).astype(np.uint8))


def made_genotypes(which: str, people: int, snps: int, *, binary: bool) -> Table:
    """Return genotypes of unrelated people, who have two chromosomes each.

    Examples
    --------
    >>> made_genotypes("chr22", 30, 50, binary=False)
    Table: 30 rows x 50 variables, 3 to 4 states
    """
    rng = np.random.default_rng([people, snps, *which.encode()])
    fresh = rng.random((snps, 2 * people)) < RARE
    alleles = fresh.copy()
    for k in range(1, snps):
        alleles[k] = np.where(rng.random(2 * people) < TOGETHER, alleles[k - 1], fresh[k])
    copies = alleles[:, :people].astype(np.uint8) + alleles[:, people:]
    values = (0, 1) if binary else (0, 1, 2)
    codes: NDArray[np.uint8] = np.minimum(copies, values[-1])
    codes[rng.random(codes.shape) < MISSING] = len(values)
    states = tuple((*values, MISSING_STATE) if len(values) in row else values for row in codes)
    return Table(tuple(f"rs{k}" for k in range(snps)), states, codes)
