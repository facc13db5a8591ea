"""Tests of the pairs of a refitted network, edges and absent ones, and what to keep by them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graftwork.grafting import NetworkFamily, Problem
from graftwork.grafting.screen import in_tiles
from graftwork.inference.layout import Ints
from graftwork.inference.pairs import find_edges
from graftwork.solvers import Solution
from graftwork.testing.contrasts import Contrasts
from graftwork.testing.edge_tests import Cut, EdgeTests, Findings
from graftwork.testing.evidence import Evidence
from graftwork.testing.lost import Lost
from graftwork.testing.pair_screen import STRIKING
from graftwork.testing.pair_tests import examine_absent, examine_pairs
from graftwork.testing.resampled import DrawnFrom
from graftwork.testing.rows import FittedRows, unchecked
from graftwork.testing.verdicts import middle_test

# Satterthwaite scales need not be exact: they are estimated from about this many rows.
ROWS, FINAL_ROWS = 2048, 8192
# Absent pairs that are listed though they are there by chance: of very many pairs, those with
# smaller p-values.
LISTED_BY_CHANCE = 2**13


@dataclass(frozen=True, slots=True, eq=False)
class PairTester:
    """How the pairs of refitted networks are tested.

    Attributes
    ----------
    problem : Problem
        The pseudo-likelihood, with the pairs that may be edges.
    fdr : float
        The false discovery rate.
    n_rests : int
        How many pairs of ordered variables are also tested for more than a linear part: a second
        way to become an edge, within the same false discovery rate.
    contrasts : Contrasts
        The states that tests tell apart.
    drawn_from : DrawnFrom or None
        The sample that the rows were drawn from with replacement: tests are read as those of fresh
        rows.
    lost : Lost
        What missing cells take from the tests.
    check_time : function
        Called before tests; raises where the time is up.
    tilted : dict
        Statistics that hold for many networks (see `FittedRows`).
    check : function
        Called now and then within tests; it may raise KeyboardInterrupt.
    """

    problem: Problem
    fdr: float
    n_rests: int
    contrasts: Contrasts
    drawn_from: DrawnFrom | None
    lost: Lost
    check_time: Callable[[], None]
    tilted: dict[object, Any] = field(default_factory=dict)
    check: Callable[[], None] = unchecked

    def test_edges(self, prepared: EdgeTests) -> Evidence:
        """Return the tests of the edges alone, exact where that may change a decision."""
        edges = prepared.findings(ROWS, self.cut)
        return self._evidence(self._read(edges), Findings.none(0))

    def test_absent(self, fitted: Solution, known: Evidence, among: Ints | None) -> Evidence:
        """Return the tests of the absent pairs, with known ones of the edges that are still there.

        Parameters
        ----------
        among : (k, 2) int64 or None
            Pairs to look at; None for all.
        """
        self.check_time()
        others = self._absent(self.rows(fitted), fitted, False, among)
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
            Whether all striking absent pairs are tested exactly, or only where that may change a
            decision.
        """
        others = self._absent(prepared.rows, fitted, exact, among)
        return self._evidence(self._read(prepared.findings(FINAL_ROWS, self.cut)), others)

    def with_striking(self, tests: Evidence, prepared: EdgeTests, fitted: Solution) -> Evidence:
        """Return the tests with all striking absent pairs, each tested exactly."""
        return replace(tests, others=self._absent(prepared.rows, fitted, True, None))

    def prepare(
        self, fitted: Solution, before: EdgeTests | None = None, *, roughly: bool = False
    ) -> EdgeTests:
        """Return what tests of a network's edges have in common (see `EdgeTests.of`)."""
        self.check_time()
        return EdgeTests.of(self.rows(fitted), before=before, roughly=roughly)

    def measured(self, tests: Evidence, prepared: EdgeTests) -> Evidence:
        """Return the tests with those of all edges exact, and standard errors.

        Of a resample only the edges themselves are kept, so its tests stay as they are.
        """
        if self.drawn_from is not None:
            return tests
        edges, errors = prepared.measured(FINAL_ROWS)
        return replace(tests, edges=self._read(edges), errors=self.lost.errors(edges.pairs, errors))

    def middle_test(self, here: Solution, there: Solution, pair: Ints) -> Findings:
        """Return the middle one of three tests of a pair that is an edge of one of two refits."""
        fits = [here, there]
        if find_edges(here.point.potentials.layout, pair)[0] >= 0:
            fits = fits[::-1]
        views = [self.rows(fitted) for fitted in fits]
        return self._read(middle_test(fits, views, pair, FINAL_ROWS))

    def choose(self, tests: Evidence) -> tuple[NDArray[np.bool_], Ints]:
        """Return which edges to keep, and which other pairs are edges too, the surest first."""
        return tests.choose(self.requires(tests.edges.pairs))

    def requires(self, pairs: Ints) -> NDArray[np.bool_]:
        """Return which pairs are edges whatever their tests say."""
        return cast(NetworkFamily, self.problem.family).requires(pairs)

    @property
    def lists_late(self) -> bool:
        """Whether striking pairs are listed once decisions agree.

        An engine that has products of all pairs looks at them in less time than it tests a list.
        """
        return in_tiles(self.problem.objective)

    @property
    def family(self) -> int:
        """How many tests the false discovery rate is over."""
        return self.problem.space.size + self.n_rests

    @property
    def cut(self) -> Cut:
        """The false discovery rate that edges need."""
        return Cut(self.fdr, self.family, self._read)

    def rows(self, fitted: Solution) -> FittedRows:
        """Return the sample under a refitted network."""
        return FittedRows.of(fitted.point, self.contrasts, self.tilted, self.check)

    def _absent(
        self, rows: FittedRows, fitted: Solution, exact: bool, among: Ints | None
    ) -> Findings:
        point, cut = fitted.point, None if exact else self.cut
        if among is None:
            found = examine_absent(rows, point, self.problem, cut, self._striking)
        else:
            absent = among[find_edges(point.potentials.layout, among) < 0]
            found = examine_pairs(rows, point, absent, striking=self._striking)
        return self._read(found)

    @property
    def _striking(self) -> float:
        """The largest p-value of interest: .05, or the rate asked for; less of very many pairs."""
        return min(max(STRIKING, self.fdr), LISTED_BY_CHANCE / max(1, self.problem.space.size))

    def _read(self, findings: Findings) -> Findings:
        """Return tests as they are read: without what is missing, and as those of fresh rows."""
        findings = self.lost.read(findings)
        return findings if self.drawn_from is None else self.drawn_from.fresh(findings)

    def _evidence(self, edges: Findings, others: Findings) -> Evidence:
        size = self.problem.space.size
        return Evidence(edges, others, size, self.fdr, self.family, striking=self._striking)
