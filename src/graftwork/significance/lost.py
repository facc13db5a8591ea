"""What missing cells take from the tests of edges whose cells were drawn.

Cells are drawn from a network whose own weights come from the same rows, so drawn cells repeat
what an estimate was by chance. With s the slope of the pseudo-likelihood in an edge's parameters
(all others following), t the sums over the same parameters that the network's probability of a row
depends on, P the precision of complete cells and V the variance of s, a row whose missing cells
are drawn several times tells what they take: of the curvature C, the covariance of s and t over its
draws, and of the variance W, the variance of s over them. What is left (Louis) makes the estimate's
variance (V - W) / (P - C)^2 in place of V / P^2. The last m draws, of which the mean counts, add
W / (m P^2), and those before, one each, what the share c = C / P of them keeps of their own,
W c^2 / ((1 - c^2) P^2). Statistics are divided by the ratio of all that and V / P^2.

References
----------
Louis (1982), Finding the observed information matrix when using the EM algorithm, Journal of the
Royal Statistical Society B 44.

Robins and Wang (2000), Inference for imputation estimators, Biometrika 87.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from graftwork.inference.layout import Floats, Ints
from graftwork.kernels.curvature import fill_scores
from graftwork.objectives.fitted_rows import FittedRows, RowBlock
from graftwork.significance.edge_tests import EdgeTests, Findings
from graftwork.significance.profiles import Influences, variations
from graftwork.significance.resampled import equivalent
from graftwork.significance.tails import log_tail

# The largest share of the curvature, and of the variance, that may be missing.
MOST_LOST = 0.8
# Numbers of all draws that are looked at together, and rows at least.
STRIP, LEAST_STRIP = 2**22, 32


@dataclass(frozen=True, slots=True, eq=False)
class Lost:
    """What missing cells take from the tests of pairs."""

    # what statistics of pairs, as if the drawn cells were observed, are to be multiplied by
    factors: Mapping[tuple[int, int], float] = field(default_factory=dict)
    count: int = 1  # over how many draws the estimates to be tested are averaged

    @staticmethod
    def of(draws: Sequence[FittedRows], count: int) -> Lost:
        """Return what is missing of the edges of the network that cells were drawn from."""
        rows = draws[0]
        tests = EdgeTests.of(rows)
        if not len(tests.edges):
            return Lost(count=count)
        asked = Influences.of(tests.parameters, tests.profiles, tests.edges)
        known = tests.parameters, tests.profiles, tests.edges
        whole = variations(rows, *known, rows.sample.n_rows)
        taken, varied = _between(draws, asked)
        factors, pairs = {}, rows.potentials.layout.edges[tests.edges].tolist()
        for k, (e, (i, j)) in enumerate(zip(tests.edges.tolist(), pairs, strict=True)):
            inverse = np.linalg.inv(tests.profiles[e].precision)
            curvature = np.sum(inverse * taken[k].T) / len(inverse)
            variance = np.sum(inverse * varied[k].T)
            variance /= max(np.sum(inverse * whole[k].T), 1e-300)
            c, v = (float(np.clip(share, 0.0, MOST_LOST)) for share in (curvature, variance))
            factors[i, j] = 1.0 / (
                (1.0 - v) / (1.0 - c) ** 2 + v * (1.0 / count + c * c / (1.0 - c * c))
            )
        return Lost(factors, count)

    @property
    def median(self) -> float | None:
        """The share that is missing of a pair's information, the median; None without pairs."""
        return 1.0 - float(np.median(list(self.factors.values()))) if self.factors else None

    def of_pairs(self, pairs: Ints) -> Floats:
        """Return the factors of some pairs."""
        return np.array([self.factors.get((i, j), 1.0) for i, j in pairs.tolist()])

    def errors(self, pairs: Ints, errors: Floats) -> Floats:
        """Return the standard errors of some pairs, which are larger for what is missing."""
        found: Floats = errors / np.sqrt(self.of_pairs(pairs))
        return found

    def read(self, findings: Findings) -> Findings:
        """Return tests that took drawn cells for observed ones as they should be read.

        Pairs that cells were drawn without lose nothing: their slopes vary less than tests say.
        """
        if not self.factors:
            return findings
        factors = self.of_pairs(findings.pairs)
        some = np.flatnonzero(factors != 1.0)
        if not len(some):
            return findings
        own = findings.some(some)
        statistics = factors[some] * equivalent(own)
        log_p = log_tail(statistics, own.degrees)
        return findings.with_rows(some, replace(own, statistics=statistics, log_p=log_p))


#: Where every cell is observed.
NOTHING_LOST = Lost()


def _between(draws: Sequence[FittedRows], asked: Influences) -> tuple[list[Floats], list[Floats]]:
    """Return sums over rows of the covariance of s and t, and the variance of s, over draws."""
    taken = [np.zeros((size, size)) for size in asked.sizes]
    varied = [np.zeros((size, size)) for size in asked.sizes]
    strip = max(LEAST_STRIP, STRIP // (len(draws) * asked.count))
    for blocks in zip(*(rows.blocks(asked.needed) for rows in draws), strict=True):
        for start in range(0, len(blocks[0].spreads), strip):
            draws[0].check()
            part = slice(start, start + strip)
            weights = np.tile(blocks[0].spreads[part] / (len(draws) - 1), len(draws))
            slopes, sums = (_apart(draws[0], blocks, part, asked, sums) for sums in (False, True))
            for k, size in enumerate(asked.sizes):
                first, second = (slice(begin, begin + size) for begin in asked.starts[k])
                s, t = (some[first] + some[second] for some in (slopes, sums))
                left = s * weights
                taken[k] += left @ t.T
                varied[k] += left @ s.T
    return taken, varied


def _apart(
    rows: FittedRows, blocks: Sequence[RowBlock], part: slice, asked: Influences, sums: bool
) -> Floats:
    """Return what slopes, or sums, of draws differ by from their mean, (lines, draws * rows)."""
    places, count = rows.places, len(blocks[0].spreads[part])
    found = np.empty((asked.count, len(blocks), count))
    for k, block in enumerate(blocks):
        # slopes r z' + z r' of tables become sums z z', and those of unaries half of theirs
        left = 0.5 * block.indicators if sums else block.residuals
        for one in asked.centres:
            shares, begin, end = one.shares, places[one.centre], places[one.centre + 1]
            if sums:
                shares = shares.copy()
                shares[:, : end - begin] *= 2.0
            scores, start = np.empty((shares.shape[1], count)), part.start
            fill_scores(begin, end, one.halves, places, start, block.indicators, left, scores)
            found[one.lines, k] = shares @ scores
    apart: Floats = found - found.mean(axis=1, keepdims=True)
    return apart.reshape(asked.count, -1)
