"""Tests on rows that were drawn with replacement, read as on fresh rows.

Rows drawn from a sample take the sample for the truth, its chance patterns included: a statistic
that is chi-square on fresh rows, T in the sample, is noncentral chi-square with noncentrality T in
a resample, about twice as large where there is no edge. On fresh rows the noncentrality would be
what of T is real: at most T less its degrees of freedom, the mean of chance alone, and nothing if
the pair is no edge. So a statistic of a resample is replaced by that of fresh rows at the same
quantile, a pair's excess being counted as real with the probability 1 - q that its q-value leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri

from graftwork.inference.layout import Floats, Ints
from graftwork.significance.edge_tests import Findings
from graftwork.significance.evidence import Evidence
from graftwork.significance.tails import log_tail

# How much larger the scores of independent variables are in a resample.
NOISE = float(np.sqrt(2.0))


@dataclass(frozen=True, slots=True, eq=False)
class DrawnFrom:
    """The sample that rows were drawn from, by what its tests said."""

    edges: Ints  # (k, 2): the edges of its network
    # of each pair whose test says more than chance: statistic, degrees of freedom, and what of the
    # statistic is real
    known: dict[tuple[int, int], tuple[float, float, float]]
    # ordered variables whose tables have more than a linear part in its network
    curved: frozenset[tuple[int, int]] = frozenset()

    @staticmethod
    def of(evidence: Evidence, numbers: Ints) -> DrawnFrom:
        """Return what the tests of a sample say.

        Shapes: numbers (n,) int64.
        """
        known = {}
        for findings, log_q in (
            (evidence.edges, evidence.edge_log_q),
            (evidence.others, evidence.other_log_q),
        ):
            seen, degrees = equivalent(findings), findings.degrees
            real = -np.expm1(log_q) * np.maximum(0.0, seen - degrees)
            for k, (i, j) in enumerate(np.sort(numbers[findings.pairs], axis=1).tolist()):
                known[i, j] = float(seen[k]), float(degrees[k]), float(real[k])
        pairs = np.array(sorted(evidence.curved), dtype=np.int64).reshape(-1, 2)
        curved = frozenset((i, j) for i, j in np.sort(numbers[pairs], axis=1).tolist())
        return DrawnFrom(np.sort(numbers[evidence.edges.pairs], axis=1), known, curved)

    def fresh(self, findings: Findings) -> Findings:
        """Return tests of a resample as they would be of fresh rows."""
        degrees = findings.degrees
        told = [self.known.get((i, j)) for i, j in findings.pairs.tolist()]
        chance = np.stack([degrees, degrees, np.zeros(len(degrees))], axis=1)
        sample = np.array(
            [row if own is None else own for row, own in zip(chance, told, strict=True)]
        )
        sample = sample.reshape(-1, 3)
        seen = np.maximum(0.0, sample[:, 0] + degrees - sample[:, 1])
        statistics = moved(equivalent(findings), degrees, seen, sample[:, 2])
        return replace(findings, statistics=statistics, log_p=log_tail(statistics, degrees))


def equivalent(findings: Findings) -> Floats:
    """Return the chi-square statistics that belong to the p-values, which may be more careful."""
    out = findings.statistics.copy()
    careful = findings.log_p > log_tail(out, findings.degrees) + 1e-9
    out[careful] = chdtri(findings.degrees[careful], np.exp(findings.log_p[careful]))
    return out


def moved(statistics: Floats, degrees: Floats, old: Floats, new: Floats) -> Floats:
    """Return what has the same quantile at another noncentrality.

    References
    ----------
    Sankaran (1963), Approximations to the non-central chi-square distribution.
    """
    power, mean, deviation = _sankaran(degrees, old)
    normal = ((np.maximum(statistics, 0.0) / (degrees + old)) ** power - mean) / deviation
    power, mean, deviation = _sankaran(degrees, new)
    out: Floats = (degrees + new) * np.maximum(0.0, mean + deviation * normal) ** (1.0 / power)
    return out


def _sankaran(degrees: Floats, noncentrality: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the power of T / (degrees + noncentrality) that is about normal, its mean and sd."""
    total = degrees + noncentrality
    p = (degrees + 2.0 * noncentrality) / total**2
    h = 1.0 - 2.0 * total * (degrees + 3.0 * noncentrality) / (
        3.0 * (degrees + 2.0 * noncentrality) ** 2
    )
    m = (h - 1.0) * (1.0 - 3.0 * h)
    mean = 1.0 + h * p * (h - 1.0 - 0.5 * (2.0 - h) * m * p)
    deviation = h * np.sqrt(2.0 * p) * (1.0 + 0.5 * m * p)
    return h, mean, deviation
