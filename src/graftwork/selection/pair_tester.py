"""Tests of the pairs of a refitted network, edges and absent ones, and what to keep by them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from graftwork.grafting import NetworkFamily, Problem
from graftwork.inference.layout import Ints
from graftwork.inference.pairs import find_edges
from graftwork.solvers import Solution
from graftwork.testing.contrasts import Contrasts
from graftwork.testing.edge_tests import Cut, EdgeTests, Findings
from graftwork.testing.evidence import Evidence
from graftwork.testing.pair_screen import STRIKING
from graftwork.testing.pair_tests import examine_absent, examine_pairs
from graftwork.testing.resampled import DrawnFrom
from graftwork.testing.rows import FittedRows
from graftwork.testing.verdicts import middle_test
from graftwork.testing.watch import Watch

# Satterthwaite scales need not be exact: they are estimated from about this many rows.
ROWS, FINAL_ROWS = 2048, 8192
# Absent pairs that are listed though they are there by chance: of very many pairs, those with
# smaller p-values.
LISTED_BY_CHANCE = 2**16


@dataclass(frozen=True, slots=True, eq=False)
class PairTester:
    """How the pairs of refitted networks are tested.

    Attributes
    ----------
    problem : Problem
        The pseudo-likelihood, with the pairs that may be edges.
    fdr : float
        The false discovery rate.
    contrasts : Contrasts
        The states that tests tell apart.
    drawn_from : DrawnFrom or None
        The sample that the rows were drawn from with replacement: tests are read as those of fresh
        rows.
    check_time : function
        Called before tests; raises where the time is up.
    """

    problem: Problem
    fdr: float
    contrasts: Contrasts
    drawn_from: DrawnFrom | None
    check_time: Callable[[], None]

    def test_edges(self, fitted: Solution) -> Evidence:
        """Return the tests of the edges alone, exact where that may change a decision."""
        edges = self.prepare(fitted).findings(ROWS, self._cut)
        return self._evidence(self._fresh(edges), Findings.none(0))

    def test_absent(self, fitted: Solution, known: Evidence, *, exact: bool = False) -> Evidence:
        """Return the tests of the absent pairs, with known ones of the edges that are still there.

        Parameters
        ----------
        exact : bool
            Whether all striking absent pairs are tested exactly, or only where that may change a
            decision.
        """
        self.check_time()
        others = self._absent(self._rows(fitted), fitted, exact)
        there = find_edges(fitted.point.potentials.layout, known.edges.pairs) >= 0
        return self._evidence(known.edges.some(there), others)

    def test_all(
        self,
        fitted: Solution,
        prepared: EdgeTests,
        *,
        exact: bool = False,
        among: Ints | None = None,
    ) -> Evidence:
        """Return the tests of edges and of absent pairs, all or ``among`` some.

        Parameters
        ----------
        prepared : EdgeTests
            See ``prepare``.
        exact : bool
            As in ``test_absent``.
        """
        if among is None:
            others = self._absent(prepared.rows, fitted, exact)
        else:
            absent = among[find_edges(fitted.point.potentials.layout, among) < 0]
            found = examine_pairs(prepared.rows, fitted.point, absent, striking=self._striking)
            others = self._fresh(found)
        return self._evidence(self._fresh(prepared.findings(FINAL_ROWS, self._cut)), others)

    def risen(
        self, watch: Watch, fitted: Solution, prepared: EdgeTests, close: Ints
    ) -> Ints | None:
        """Return pairs that are close to being edges, with those that came so since all were seen.

        Parameters
        ----------
        watch : Watch
            What was seen.
        close : (k, 2) int64
            Those that were, and the edges.

        Returns
        -------
        (k, 2) int64 or None
            None if all pairs had better be tested.
        """
        found = watch.risen(prepared.rows, fitted.point, self._cut, len(close))
        return None if found is None else np.unique(np.concatenate([close, found]), axis=0)

    def prepare(self, fitted: Solution) -> EdgeTests:
        """Return what tests of a network's edges have in common."""
        self.check_time()
        return EdgeTests.of(self._rows(fitted))

    def measured(self, tests: Evidence, prepared: EdgeTests) -> Evidence:
        """Return the tests with those of all edges exact.

        Of a resample only the edges themselves are kept, so its tests stay as they are.
        """
        if self.drawn_from is not None:
            return tests
        return replace(tests, edges=prepared.findings(FINAL_ROWS))

    def middle_test(self, here: Solution, there: Solution, pair: Ints) -> Findings:
        """Return the middle one of three tests of a pair that is an edge of one of two refits."""
        fits = [here, there]
        if find_edges(here.point.potentials.layout, pair)[0] >= 0:
            fits = fits[::-1]
        views = [self._rows(fitted) for fitted in fits]
        return self._fresh(middle_test(fits, views, pair, FINAL_ROWS))

    def choose(self, tests: Evidence) -> tuple[NDArray[np.bool_], Ints]:
        """Return which edges to keep, and which other pairs are edges too, the surest first."""
        return tests.choose(self.requires(tests.edges.pairs))

    def requires(self, pairs: Ints) -> NDArray[np.bool_]:
        """Return which pairs are edges whatever their tests say."""
        return cast(NetworkFamily, self.problem.family).requires(pairs)

    @property
    def _cut(self) -> Cut:
        reading = None if self.drawn_from is None else self.drawn_from.fresh
        return Cut(self.fdr, self.problem.space.size, reading)

    def _rows(self, fitted: Solution) -> FittedRows:
        """Return the sample under a refitted network."""
        return FittedRows.of(fitted.point, self.contrasts)

    def _absent(self, rows: FittedRows, fitted: Solution, exact: bool) -> Findings:
        cut = None if exact else self._cut
        return self._fresh(examine_absent(rows, fitted.point, self.problem, cut, self._striking))

    @property
    def _striking(self) -> float:
        """The largest p-value of interest: .05, or the rate asked for; less of very many pairs."""
        return min(max(STRIKING, self.fdr), LISTED_BY_CHANCE / max(1, self.problem.space.size))

    def _fresh(self, findings: Findings) -> Findings:
        """Return tests as they are read."""
        return findings if self.drawn_from is None else self.drawn_from.fresh(findings)

    def _evidence(self, edges: Findings, others: Findings) -> Evidence:
        return Evidence(edges, others, self.problem.space.size, self.fdr, striking=self._striking)
