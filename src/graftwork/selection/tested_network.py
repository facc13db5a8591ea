"""A network that tests change: edges that fail leave, absent pairs that pass come in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from graftwork.grafting.networks import only
from graftwork.grafting.starts import with_pairs
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.selection.looks import Looks
from graftwork.selection.pair_tester import PairTester
from graftwork.selection.tested_refit import FINAL_ACCURACY, LAST_DIGITS, Refits
from graftwork.solvers import Solution
from graftwork.testing.edge_tests import EdgeTests
from graftwork.testing.evidence import Evidence

# Edges may leave together if that costs at most this much more than each alone promised.
SLACK = 1.25


class TestedNetwork:
    """The network so far, refitted after every change.

    Attributes
    ----------
    refits : Refits
    tester : PairTester
    fitted : Solution
        The network.
    sure : Solution or None
        The last of which all edges were tested, without those that failed; None before.
    looks : Looks
    entered : set
        Pairs that came in by their tests.
    """

    def __init__(self, refits: Refits, tester: PairTester, short_list: Potentials) -> None:
        self.refits, self.tester = refits, tester
        self.fitted = refits.fit(short_list)
        self.sure: Solution | None = None
        self.looks = Looks(tester)
        self.entered: set[tuple[int, ...]] = set()
        self._prepared: EdgeTests | None = None

    @property
    def layout(self) -> Layout:
        """Of the network."""
        layout: Layout = self.fitted.point.potentials.layout
        return layout

    @property
    def _potentials(self) -> Potentials:
        found: Potentials = self.fitted.point.potentials
        return found

    def finish(self) -> None:
        """Solve the refit as exactly as the last tests need it."""
        self.fitted = self.refits.finish(self.fitted)

    def change(self, potentials: Potentials) -> None:
        """Go on with another network."""
        self.fitted = self.refits.fit(potentials, self.fitted)

    def enter(self, pairs: Ints) -> None:
        """Take in pairs."""
        self.entered.update(map(tuple, pairs.tolist()))
        self.change(with_pairs(self.fitted.point.potentials, pairs))

    def prepare(self, *, anew: bool = False) -> EdgeTests:
        """Return what tests of the edges have in common.

        Of many variables some of it may be of a network that hardly differs, and of many rows some
        may tell about all, unless it is made anew.
        """
        known = self._prepared
        if anew and known is not None and known.exact and known.rows.potentials is self._potentials:
            return known
        found = self.tester.prepare(self.fitted, None if anew else known, roughly=not anew)
        if not found.renewed and self.looks.many:
            self._prepared = found
        return found

    def test_absent(self, known: Evidence) -> Evidence:
        """Return the tests of absent pairs, with known ones of the edges that are still there."""
        among = self.looks.among(self.fitted)
        tests = self.tester.test_absent(self.fitted, known, among)
        self.looks.keep(tests, self.fitted, among)
        return tests

    def prune(self) -> Evidence:
        """Drop the edges that fail their test, and return the tests."""
        tests = self.tester.test_edges(self.prepare())
        self.drop(tests, np.flatnonzero(~self.tester.choose(tests)[0]))
        self.sure = self.fitted
        return tests

    def drop(self, tests: Evidence, leaving: Ints) -> None:
        """Refit without these edges, or without the least sure of them.

        Edges are tested one by one. Where several can stand in for each other (copies of a column),
        none of them looks necessary, but they must not leave together: if that costs more than
        their tests promised, half as many leave.

        Parameters
        ----------
        leaving : (k,) int64
            The edges' places.
        """
        before, edges = self.fitted, tests.edges
        rows = self.refits.problem.objective.sample.total_weight
        leaving = leaving[np.argsort(-edges.log_p[leaving], kind="stable")]
        while len(leaving):
            kept = np.ones(len(edges.pairs), dtype=bool)
            kept[leaving] = False
            after = self.refits.fit(only(before.point.potentials, kept), before)
            cost = 2.0 * rows * (after.objective - before.objective)
            promised = SLACK * edges.rises[leaving].sum() + _price(tests, edges.degrees[leaving])
            if len(leaving) == 1 or cost <= promised:
                self.fitted = after
                return
            leaving = leaving[: len(leaving) // 2]

    def limit(self, tests: Evidence, most: int | None) -> Evidence:
        """Keep at most so many edges, the required and the surest; return the tests of those."""
        if most is None or self.layout.n_edges <= most:
            return tests
        required = self.tester.requires(tests.edges.pairs)
        surest = np.argsort(np.where(required, -np.inf, tests.edges.log_p), kind="stable")
        kept = among(self.layout.edges, tests.edges.pairs[surest[:most]])
        self.change(only(self.fitted.point.potentials, kept))
        self.fitted = self.refits.sharpen(self.fitted, LAST_DIGITS, FINAL_ACCURACY)
        prepared = self.prepare(anew=True)
        tests = self.tester.test_all(self.fitted, prepared, exact=True)
        return self.tester.measured(tests, prepared)


def among(pairs: Ints, some: Ints) -> NDArray[np.bool_]:
    """Return which pairs are among some.

    Examples
    --------
    >>> among(np.array([[0, 1], [1, 2]]), np.array([[1, 2]])).tolist()
    [False, True]
    """
    listed = set(map(tuple, some.tolist()))
    return np.array([tuple(pair) in listed for pair in pairs.tolist()], dtype=bool)


def _price(tests: Evidence, degrees: Floats) -> float:
    """Return the statistic that the largest of some tables would need to be the only edge."""
    return float(chdtri(degrees.max(), tests.level / max(1, tests.family)))
