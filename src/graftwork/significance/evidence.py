"""What tests say about the edges of a network, and about the pairs that are none."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.layout import Floats, Ints
from graftwork.significance.edge_tests import Findings


@dataclass(frozen=True, eq=False)
class Evidence:
    """Findings of all pairs of variables, with the false discovery rate each would need."""

    edges: Findings  # of the network's edges
    others: Findings  # of the absent pairs, those with p-values of at most ``striking``
    n_tests: int  # how many pairs were tested in all
    level: float  # the false discovery rate asked for
    # how many tests it is over: one for each pair, and one more for the rest of each pair of
    # ordered variables, by which a pair may become an edge, too
    family: int
    # of how many pairs the tests disagreed, so that the middle one of three counts (see
    # ``verdicts``)
    n_contested: int = 0
    # absent pairs that would pass their tests and, once they are edges, fail: they and other pairs
    # stand in for each other, and a q-value counts the tests of all of them
    rivals: dict[tuple[int, int], float] = field(default_factory=dict)
    # of pairs of ordered variables: whether their tables have more than a linear part
    rests: Findings | None = None
    # the edges of ordered variables whose tables have: those whose rests are there at the level
    curved: frozenset[tuple[int, int]] = frozenset()
    striking: float = 0.05  # absent pairs with larger p-values are not listed
    # (edges,) or None: the standard error of the first number of each edge's table (see
    # `EdgeTests.measured`)
    errors: Floats | None = None

    @cached_property
    def _log_q(self) -> Floats:
        return log_q_values(np.append(self.edges.log_p, self.others.log_p), self.family)

    @property
    def edge_log_q(self) -> Floats:
        """Logarithms of the edges' q-values."""
        return self._log_q[: len(self.edges.pairs)]

    @property
    def other_log_q(self) -> Floats:
        """Logarithms of the other pairs' q-values; of rivals those they had as edges."""
        log_q = self._log_q[len(self.edges.pairs) :].copy()
        if self.rivals:
            for k, (i, j) in enumerate(self.others.pairs.tolist()):
                log_q[k] = max(log_q[k], self.rivals.get((i, j), -np.inf))
        return log_q

    @cached_property
    def rest_log_q(self) -> dict[tuple[int, int], tuple[float, float]]:
        """Logarithms of p-value and q-value of each tested rest, by pair."""
        if self.rests is None:
            return {}
        log_q = log_q_values(self.rests.log_p, self.family)
        columns = self.rests.pairs.tolist(), self.rests.log_p.tolist(), log_q.tolist()
        return {(i, j): (p, q) for (i, j), p, q in zip(*columns, strict=True)}

    @property
    def n_rests(self) -> int | None:
        """Of how many pairs it was tested whether they are more than linear; None without order."""
        return None if self.rests is None else len(self.rests.pairs)

    def replaced(self, part: str, places: Ints, tests: Findings) -> Evidence:
        """Return the evidence with the middle tests of some edges, or of some other pairs.

        Shapes: places (k,) int64.
        """
        changed = getattr(self, part).with_rows(places, tests)
        return replace(self, **{part: changed}, n_contested=self.n_contested + len(places))

    def choose(self, required: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Ints]:
        """Return which edges to keep, and which other pairs are edges too, the surest first.

        Shapes: required (edges,) bool.
        """
        limit = np.log(self.level)
        passing = np.flatnonzero(self.other_log_q <= limit)
        order = np.argsort(self.others.log_p[passing], kind="stable")
        return (self.edge_log_q <= limit) | required, self.others.pairs[passing[order]]


def log_q_values(log_p: Floats, n_tests: int) -> Floats:
    """Return the logarithm of each test's q-value among ``n_tests``.

    The q-value is the smallest false discovery rate at which the test counts as a discovery. Tests
    that are not given have a p-value of 1.

    References
    ----------
    Benjamini and Hochberg (1995), Controlling the false discovery rate.
    """
    order = np.argsort(log_p, kind="stable")
    ranks = np.arange(1, len(order) + 1)
    scaled = log_p[order] + np.log(max(1, n_tests) / ranks)
    falling = np.minimum.accumulate(scaled[::-1])[::-1]
    out = np.empty(len(order))
    out[order] = np.minimum(falling, 0.0)
    return out
