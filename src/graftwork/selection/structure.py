"""goal="structure": screen down to the noise level, refit, test every pair, keep what is sure.

The l1 penalty shrinks what it keeps and lets in what only shares in it, so no single lambda finds
the edges. Grafting down to the noise level makes a short list; its edges are fitted again without
the penalty, and each is tested, as is each absent pair; a false discovery rate over all pairs says
which to keep. What changes is refitted and tested again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from graftwork.grafting import Budget, NetworkFamily, Observer, Outcome, Problem, Recipe
from graftwork.grafting.networks import only
from graftwork.grafting.starts import with_pairs
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.kernels.threads import one_blas_thread
from graftwork.objectives.protocol import Objective
from graftwork.selection.folds import Fold
from graftwork.selection.levels import Levels, find_levels
from graftwork.selection.path import (
    EdgeSelection,
    LambdaChoice,
    LambdaPath,
    PathEndedError,
    PathPoint,
    path_values,
)
from graftwork.selection.refit import carry, refit, unshrunk
from graftwork.solvers import Solution
from graftwork.testing.contrasts import frequent_states
from graftwork.testing.edge_tests import Cut, EdgeTests, Findings
from graftwork.testing.evidence import Evidence
from graftwork.testing.newton import Curvature, has_hessian, newton, switch
from graftwork.testing.pair_screen import FEWEST_PAIRS, STRIKING
from graftwork.testing.pair_tests import examine_absent, examine_pairs
from graftwork.testing.resampled import NOISE, DrawnFrom
from graftwork.testing.rows import FittedRows
from graftwork.testing.verdicts import Verdicts, middle_test

# Refits are solved to this before a test; Newton steps take over after this many evaluations.
REFIT_ACCURACY = 2e-4
MOST_EVALUATIONS = 30
# Where variables have too many states for those, this many evaluations must do.
LAST_EVALUATIONS = 200
# At the end Newton steps go on to rounding errors; where there are none, this must do.
LAST_DIGITS = 1e-13
FINAL_ACCURACY = 1e-5
# The short list of a resample is solved to this share of lambda, and its last refit to this: what
# is left moves a strength by a hundredth of what it varies by from resample to resample.
RESAMPLE_ACCURACY = 0.01
RESAMPLE_FINAL_ACCURACY = 1e-4
# Satterthwaite scales need not be exact: they are estimated from about this many rows.
ROWS, FINAL_ROWS = 2048, 8192
# With this many rows the path is walked with a share of them, which is not too large or too few.
MANY_ROWS = 200_000
LEAST_ROWS, MOST_SHARE = 50_000, 0.5
# Rounds in which pairs enter together, before refits are exact.
MOST_ROUNDS = 2
# While settling, absent pairs whose p-values are at most those of discoveries to this power are
# tested again and again, and all only once those agree.
CLOSE = 0.6
# Edges may leave together if that costs at most this much more than each alone promised.
SLACK = 1.25


@dataclass(frozen=True, slots=True, eq=False)
class StructureResult:
    """A network whose edges were tested.

    Attributes
    ----------
    outcome : Outcome
        The penalised fit at the noise level (the short list), with its certificate and the trace
        of everything.
    refitted : Solution
        The edges kept, fitted without the penalty.
    evidence : Evidence or None
        The tests; None if the run was cut short before.
    path : tuple of PathPoint
    levels : Levels
    choice : LambdaChoice
        How the edges were chosen.
    given : Solution or None
        The edges of the network of the sample that the rows were drawn from, fitted likewise.
    unsettled : int
        Pairs that came or went after the tests of all pairs together: many where variables carry
        the same information, so that edges stand in for each other.
    """

    outcome: Outcome
    refitted: Solution
    evidence: Evidence | None
    path: tuple[PathPoint, ...]
    levels: Levels
    choice: LambdaChoice
    given: Solution | None = None
    unsettled: int = 0


def learn_structure(
    problem_at: Callable[[float], Problem],
    pseudo: Objective,
    recipe: Recipe,
    *,
    fdr: float = 0.01,
    budget: Budget | None = None,
    tolerance: float = 1e-6,
    rng: np.random.Generator,
    observer: Observer | None = None,
    drawn_from: DrawnFrom | None = None,
    start: Potentials | None = None,
    rounds: int | None = None,
    some_rows: Callable[[float], Fold] | None = None,
) -> StructureResult:
    """Return the network of the edges that tests keep at a false discovery rate.

    An interrupt (Ctrl-C) ends it with the best so far, said in the outcome.

    Parameters
    ----------
    problem_at : function
        The problem with a given lambda.
    pseudo : Objective
        The pseudo-likelihood of the same sample (the problem's own loss, if it is that): what the
        tests are about.
    drawn_from : DrawnFrom, optional
        The sample that the rows were drawn from with replacement: tests are then read as those of
        fresh rows, and the edges of that sample's network are fitted too.
    start : Potentials, optional
        The network of almost the same rows: the short list is solved from there, without a path,
        and so are refits, as far as they have its edges. They are the same wherever their solvers
        begin.
    rounds : int, optional
        How often to test all pairs; default until tests of edges and of absent pairs agree. Cut
        short so, the result has no evidence.
    some_rows : function, optional
        About a share of the rows, for the path where there are many.
    """
    walk = LambdaPath(problem_at, budget=budget, rng=rng, observer=observer)
    walk.observer.on_stage("looking for the range of lambda", 0, 4)
    levels = find_levels(problem_at(1.0))
    if drawn_from is not None:
        levels = replace(levels, noise=NOISE * levels.noise)
        tolerance = max(tolerance, RESAMPLE_ACCURACY * levels.noise)
    search = _Search(walk, pseudo, recipe, fdr, tolerance, drawn_from, start)
    with one_blas_thread():
        try:
            lams = path_values(levels)
            if start is None and some_rows is not None:
                search.begin(lams, some_rows)
            search.screen(lams)
            search.test(rounds)
        except PathEndedError:
            pass
        except KeyboardInterrupt:
            walk.interrupted = True
    return search.result(levels)


class _Search:
    """The short list, then the tests."""

    def __init__(
        self,
        walk: LambdaPath,
        pseudo: Objective,
        recipe: Recipe,
        fdr: float,
        tolerance: float,
        drawn_from: DrawnFrom | None = None,
        near: Potentials | None = None,
    ) -> None:
        self._drawn_from, self._near = drawn_from, near
        self._enough = FINAL_ACCURACY if drawn_from is None else RESAMPLE_FINAL_ACCURACY
        self._walk, self._recipe, self._fdr, self._tolerance = walk, recipe, fdr, tolerance
        problem = walk.problem_at(1.0)
        self._own = problem.objective is pseudo
        self._problem = Problem(pseudo, problem.penalty, problem.family)
        self._contrasts = frequent_states(pseudo.sample)
        self._outcome: Outcome | None = None
        self._fitted: Solution | None = None
        self._final: Solution | None = None
        self._given: Solution | None = None
        self._unsettled = 0
        self._evidence: Evidence | None = None
        self._edge_tests: EdgeTests | None = None
        # The curvature at the network that is tested, and networks that differ in one pair from it.
        self._curvature: tuple[Solution, Curvature] | None = None
        self._other_way: dict[tuple[int, int], Solution] = {}
        # Pairs that came in by their test, and edges that left by theirs while settling.
        self._entered: set[tuple[int, ...]] = set()
        self._left: set[tuple[int, ...]] = set()
        # Pairs that came in because two tests in three said so; and those that failed afterwards,
        # with the logarithm of the q-value.
        self._decided: set[tuple[int, int]] = set()
        self._rivals: dict[tuple[int, int], float] = {}

    def begin(self, lams: list[float], some_rows: Callable[[float], Fold]) -> None:
        """Walk down to the last lambda but one with fewer rows, where there are many.

        The noise level of a share of the rows is that of all, divided by the root of the share: as
        many rows are enough at a larger lambda. With an edge budget all rows count from the first
        edge on.
        """
        most, last = self._problem.objective.sample.n_rows, len(lams) - 1
        if most < MANY_ROWS or last < 1 or self._walk.budget.max_edges is not None:
            return
        share = max((lams[-1] / lams[-2]) ** 2, LEAST_ROWS / most)
        if share > MOST_SHARE:
            return

        def announce(lam: float) -> None:
            self._walk.observer.on_stage(f"lambda {lam:.4g}", lams.index(lam) + 1, len(lams) + 4)

        self._walk.begin(some_rows(share), lams[:-1], announce)

    def screen(self, lams: list[float]) -> None:
        """Walk down the path to its last lambda, and certify the fit there."""
        start, lam, steps, done = self._near, lams[-1], len(lams) + 4, len(self._walk.fits)
        for step, lam in enumerate(lams[done:] if start is None else [], done):
            self._walk.observer.on_stage(f"lambda {lam:.4g}", step + 1, steps)
            start = self._walk.step(lam).potentials
            if self._walk.full:
                break
        assert start is not None
        self._walk.observer.on_stage(f"short list at lambda {lam:.4g}", steps - 3, steps)
        self._outcome = self._walk.settle(self._recipe, lam, start, self._tolerance)
        self._walk.check(self._outcome)

    def test(self, rounds: int | None = None) -> None:
        """Test, change, refit, until nothing changes; then measure what is kept exactly."""
        assert self._outcome is not None
        self._note("refitting the short list", 2)
        self._walk.check_time()
        self._fit(self._outcome.potentials)
        edges = self._prune()  # most noise goes before absent pairs are tested
        for turn in range(MOST_ROUNDS if rounds is None else rounds):
            self._note(f"testing all pairs, round {turn + 1}", 1)
            entering = self._choose(self._look(edges))[1]
            if not len(entering):
                break
            self._enter(entering)
            edges = self._prune()  # what came in is an edge now, and tested as one
        if rounds is not None:
            return
        self._settle()
        self._limit()
        assert self._fitted is not None
        self._final = self._fitted
        if not self._own:
            potentials = self._fitted.point.potentials
            self._final = self._walk.refit(self._outcome.certificate.lam, potentials, self._enough)
        if self._drawn_from is not None:
            self._refit_edges(self._drawn_from.edges)

    def result(self, levels: Levels) -> StructureResult:
        """Return the best so far; where there is nothing yet, the interrupt goes on."""
        walk = self._walk
        if self._outcome is None and not walk.fits:
            raise KeyboardInterrupt
        outcome = walk.conclude(self._outcome or walk.fits[-1], self._tolerance)
        refitted = self._final or self._fitted or outcome.solution
        lam = outcome.certificate.lam
        path = tuple(
            PathPoint(
                fit.certificate.lam, fit.certificate.n_edges, fit.certificate.loss,
                fit.certificate.objective, chosen=fit.certificate.lam == lam,
            )
            for fit in walk.fits
        )  # fmt: skip
        evidence = self._evidence if self._final is not None else None
        begun = self._fitted is not None
        choice = LambdaChoice("testing" if begun else "tests", lam, outcome.certificate.stop)
        if evidence is not None:
            tests = self._selection(outcome, evidence, levels, refitted.residual)
            choice = LambdaChoice("tests", lam, tests=tests)
        return StructureResult(
            outcome, refitted, evidence, path, levels, choice, self._given, self._unsettled
        )

    def _selection(
        self, outcome: Outcome, evidence: Evidence, levels: Levels, residual: float
    ) -> EdgeSelection:
        """Return how tests chose the edges, in numbers."""
        n_required = len(cast(NetworkFamily, self._problem.family).required)
        most, n_edges = self._walk.budget.max_edges, len(evidence.edges.pairs)
        return EdgeSelection(
            n_listed=outcome.certificate.n_edges,
            n_tests=evidence.n_tests,
            n_kept=n_edges - n_required,
            n_required=n_required,
            fdr=evidence.level,
            largest=levels.largest,
            noise=levels.noise,
            sampled=levels.sampled,
            n_contested=evidence.n_contested,
            max_edges=most if n_edges == most else None,
            residual=residual if residual > self._enough else None,
        )

    def _refit_edges(self, edges: Ints) -> None:
        """Fit other edges than those found, and keep their weights."""
        assert self._outcome is not None
        assert self._final is not None
        alone = only(self._final.point.potentials, np.zeros(self._layout.n_edges, dtype=bool))
        lam = self._outcome.certificate.lam
        start = self._known(with_pairs(alone, edges))
        self._given = self._walk.refit(lam, start, REFIT_ACCURACY, self._final)

    def _note(self, text: str, left: int) -> None:
        steps = len(self._walk.fits) + 4
        self._walk.observer.on_stage(text, steps - 1 - left, steps)

    def _fit(self, start: Potentials) -> None:
        """Refit, for a test."""
        start, before = self._known(start), self._fitted
        self._fitted = refit(
            self._problem, start, REFIT_ACCURACY, before, max_evaluations=MOST_EVALUATIONS
        )
        self._sharpen(REFIT_ACCURACY, REFIT_ACCURACY)

    def _finish_refit(self) -> None:
        """Solve the refit to the last digits; that of a resample, which is noisier, almost."""
        assert self._fitted is not None
        if self._drawn_from is None:
            self._sharpen(LAST_DIGITS, FINAL_ACCURACY)
        elif self._fitted.residual > self._enough:
            here = self._fitted.point.potentials
            self._fitted = refit(
                self._problem, here, self._enough, self._fitted, max_evaluations=MOST_EVALUATIONS
            )
            self._sharpen(self._enough, self._enough)

    def _known(self, start: Potentials) -> Potentials:
        """Return a start with the weights that almost the same rows have."""
        return start if self._near is None else carry(self._near, start)

    def _sharpen(self, wanted: float, at_least: float) -> None:
        """Solve the refit further by Newton steps, or without where there are too many states."""
        assert self._fitted is not None
        if self._fitted.residual <= wanted:
            return
        smooth = unshrunk(self._problem)
        if not (smooth.penalty.unary_lam or smooth.penalty.unary_l2):
            self._fitted = newton(smooth, self._fitted, wanted)
        if self._fitted.residual > at_least:
            start = self._fitted.point.potentials
            self._fitted = refit(self._problem, start, at_least, max_evaluations=LAST_EVALUATIONS)

    def _look(
        self,
        known: Evidence | None = None,
        *,
        settling: bool = False,
        exact: bool = False,
        among: Ints | None = None,
    ) -> Evidence:
        """Test the edges or, where tests of them are ``known``, the absent pairs; settling, both.

        Of what is known only the edges that are still there count. Only the tests that may change
        a decision are exact, or those of all striking absent pairs too. Absent pairs are looked for
        ``among`` some, or all.
        """
        self._walk.check_time()
        assert self._fitted is not None
        point, rows = self._fitted.point, self._rows()
        size = self._problem.space.size
        cut = Cut(self._fdr, size, None if self._drawn_from is None else self._drawn_from.fresh)
        others, striking = Findings.none(0), max(STRIKING, self._fdr)
        if among is not None:
            absent = among[find_edges(point.potentials.layout, among) < 0]
            others = examine_pairs(rows, point, absent)
        elif settling or known is not None:
            others = examine_absent(rows, point, self._problem, None if exact else cut, striking)
        if known is None:
            self._edge_tests = EdgeTests.of(rows)
            edges = self._edge_tests.findings(FINAL_ROWS if settling else ROWS, cut)
        else:
            there = find_edges(point.potentials.layout, known.edges.pairs) >= 0
            edges = known.edges.some(there)
        if self._drawn_from is not None:
            others = self._drawn_from.fresh(others)
            edges = edges if known is not None else self._drawn_from.fresh(edges)
        return Evidence(edges, others, size, self._fdr)

    def _prune(self) -> Evidence:
        """Drop the edges that fail their test, and return the tests."""
        evidence = self._look()
        self._drop(evidence, np.flatnonzero(~self._choose(evidence)[0]))
        return evidence

    def _enter(self, pairs: Ints) -> None:
        """Take in pairs."""
        assert self._fitted is not None
        self._entered.update(map(tuple, pairs.tolist()))
        self._fit(with_pairs(self._fitted.point.potentials, pairs))

    def _choose(self, evidence: Evidence) -> tuple[NDArray[np.bool_], Ints]:
        """Return which edges to keep, and which other pairs are edges too, the surest first."""
        required = cast(NetworkFamily, self._problem.family).requires(evidence.edges.pairs)
        return evidence.choose(required)

    def _settle(self) -> None:
        """Go on until the tests of edges and those of absent pairs agree at an exact refit."""
        verdicts, exact, close = Verdicts(), True, None
        many = self._problem.space.size >= FEWEST_PAIRS
        while True:
            self._note("final tests", 0)
            if exact:
                self._finish_refit()
            lists = exact and not many
            tests = self._look(settling=True, exact=lists, among=None if exact else close)
            if exact and many:
                close = _close(tests)
            then = self._change(tests, verdicts, exact)
            if then is None and many:  # all that is striking is listed once, at the end
                tests = self._look(tests, exact=True)
                then = self._change(tests, verdicts, exact)
            if then is None:
                break
            exact = then
        evidence = verdicts.applied(self._measured(tests), self._layout)
        passing = _pairs(self._doubted(evidence)[1])
        rivals = {pair: q for pair, q in self._rivals.items() if pair in passing}
        self._evidence = replace(evidence, rivals=rivals)

    def _change(self, tests: Evidence, verdicts: Verdicts, exact: bool) -> bool | None:
        """Change pairs as tests say; return whether the refit is to be exact, None if all agree."""
        if self._move(verdicts.applied(tests, self._layout)):
            return False
        return True if not exact or self._decide(tests, verdicts) else None

    def _measured(self, tests: Evidence) -> Evidence:
        """Return the tests with those of all edges exact."""
        if self._drawn_from is not None:  # of a resample only the edges themselves are kept
            return tests
        assert self._edge_tests is not None
        return replace(tests, edges=self._edge_tests.findings(FINAL_ROWS))

    def _limit(self) -> None:
        """Keep only as many edges as there may be: the required and the surest."""
        most, evidence = self._walk.budget.max_edges, self._evidence
        assert self._fitted is not None
        assert evidence is not None
        if most is None or self._layout.n_edges <= most:
            return
        required = cast(NetworkFamily, self._problem.family).requires(evidence.edges.pairs)
        surest = np.argsort(np.where(required, -np.inf, evidence.edges.log_p), kind="stable")
        kept = _among(self._layout.edges, evidence.edges.pairs[surest[:most]])
        self._fit(only(self._fitted.point.potentials, kept))
        self._sharpen(LAST_DIGITS, FINAL_ACCURACY)
        self._evidence = self._measured(self._look(settling=True, exact=True))

    def _move(self, evidence: Evidence) -> bool:
        """Drop edges, or else take in absent pairs, that did not move before.

        Of those that share a variable only the clearest move. Returns whether there were any.
        """
        failing, entering = self._doubted(evidence)
        leaving = apart(_without(failing, self._left))
        if len(leaving):
            self._unsettled += len(leaving)
            self._left.update(map(tuple, leaving.tolist()))
            self._drop(evidence, np.flatnonzero(_among(evidence.edges.pairs, leaving)))
            return True
        entering = apart(_without(entering, self._entered))
        if len(entering):
            self._unsettled += len(entering)
            self._enter(entering)
        return len(entering) > 0

    def _doubted(self, evidence: Evidence) -> tuple[Ints, Ints]:
        """Return the edges that fail their tests and the absent pairs that pass, clearest first."""
        kept, entering = self._choose(evidence)
        failing = np.flatnonzero(~kept)
        order = np.argsort(-evidence.edges.log_p[failing], kind="stable")
        return evidence.edges.pairs[failing[order]], entering

    def _decide(self, tests: Evidence, verdicts: Verdicts) -> bool:
        """Change the pairs of which two tests in three say so; return whether there are any.

        Each edge that fails its test, and each absent pair that passes, is fitted both ways. Of
        pairs that share a variable only one changes, and one that came in so and fails does not
        come in again: it and others stand in for each other (a q-value depends on the tests of
        all pairs, so an absent pair may pass and, once it is an edge, fail by the same p-value).
        """
        here, layout = self._fitted, self._layout
        assert here is not None
        self._other_way.clear()
        while True:
            evidence = verdicts.applied(tests, layout)
            failing, entering = self._doubted(evidence)
            entering = _without(entering, self._rivals.keys())
            doubted = apart(np.concatenate([failing, entering]))
            new = [(i, j) for i, j in doubted.tolist() if verdicts.get((i, j), layout) is None]
            if not new:
                break
            self._walk.check_time()
            verdicts.add(new[0], self._middle_test(here, np.array(new[:1])), layout)
        self._unsettled += len(doubted)
        for place, pair in enumerate(_pairs(evidence.edges.pairs)):
            if pair in self._decided and pair in _pairs(doubted):
                self._rivals[pair] = float(evidence.edge_log_q[place])
        self._decided.update(set(_pairs(doubted)) & set(_pairs(entering)))
        if len(doubted) == 1 and (doubted[0, 0], doubted[0, 1]) in self._other_way:
            self._fitted = self._other_way[doubted[0, 0], doubted[0, 1]]
        elif len(doubted):
            self._fit(_switched(here.point.potentials, doubted))
        return len(doubted) > 0

    def _middle_test(self, here: Solution, pair: Ints) -> Findings:
        """Return the middle one of three tests of a pair: it is fitted the other way."""
        rows, there = self._rows(), self._fit_switched(here, pair)
        self._other_way[_pairs(pair)[0]] = there
        fits, views = [here, there], [rows, FittedRows.of(there.point, self._contrasts)]
        if find_edges(here.point.potentials.layout, pair)[0] >= 0:
            fits, views = fits[::-1], views[::-1]
        finding = middle_test(fits, views, pair, FINAL_ROWS)
        return finding if self._drawn_from is None else self._drawn_from.fresh(finding)

    def _fit_switched(self, here: Solution, pair: Ints) -> Solution:
        """Return the exact refit of the network with one pair the other way.

        Mostly its weights move near the pair alone: the curvature of the network as it is serves
        all pairs that are looked at.
        """
        start = _switched(here.point.potentials, pair)
        smooth = unshrunk(self._problem)
        free = not (smooth.penalty.unary_lam or smooth.penalty.unary_l2)
        if free and has_hessian(self._problem.objective.sample, start.layout):
            if self._curvature is None or self._curvature[0] is not here:
                self._curvature = here, Curvature.of(smooth, here)
            wanted = LAST_DIGITS if self._drawn_from is None else self._enough
            there = switch(smooth, self._curvature[1], start, pair[0], wanted)
            if there.residual <= self._enough:
                return there
        self._fit(start)
        self._finish_refit()
        assert self._fitted is not None
        there, self._fitted = self._fitted, here
        return there

    @property
    def _layout(self) -> Layout:
        assert self._fitted is not None
        layout: Layout = self._fitted.point.potentials.layout
        return layout

    def _rows(self) -> FittedRows:
        """Return the sample under the network as it is fitted."""
        assert self._fitted is not None
        return FittedRows.of(self._fitted.point, self._contrasts)

    def _drop(self, evidence: Evidence, leaving: Ints) -> None:
        """Refit without these edges, or without the least sure of them.

        Edges are tested one by one. Where several can stand in for each other (copies of a column),
        none of them looks necessary, but they must not leave together: if that costs more than
        their tests promised, half as many leave.
        """
        assert self._fitted is not None
        before, rows = self._fitted, self._problem.objective.sample.total_weight
        edges = evidence.edges
        leaving = leaving[np.argsort(-edges.log_p[leaving], kind="stable")]
        while len(leaving):
            kept = np.ones(len(edges.pairs), dtype=bool)
            kept[leaving] = False
            self._fitted = before
            self._fit(only(before.point.potentials, kept))
            cost = 2.0 * rows * (self._fitted.objective - before.objective)
            promised = SLACK * edges.rises[leaving].sum()
            promised += _price(evidence, edges.degrees[leaving])
            if len(leaving) == 1 or cost <= promised:
                return
            leaving = leaving[: len(leaving) // 2]


def apart(pairs: Ints) -> Ints:
    """Return those of some pairs that share no variable with one before them.

    Examples
    --------
    >>> apart(np.array([[0, 1], [1, 2], [2, 3], [3, 4]])).tolist()
    [[0, 1], [2, 3]]
    """
    used: set[int] = set()
    chosen = []
    for k, pair in enumerate(pairs.tolist()):
        if used.isdisjoint(pair):
            used.update(pair)
            chosen.append(k)
    return pairs[chosen]


def _close(tests: Evidence) -> Ints:
    """Return the edges, and the absent pairs that are not far from being some."""
    discoveries = len(tests.edges.pairs) + 1
    limit = CLOSE * np.log(tests.level * min(1.0, discoveries / tests.n_tests))
    return np.concatenate([tests.edges.pairs, tests.others.pairs[tests.others.log_p <= limit]])


def _switched(potentials: Potentials, pairs: Ints) -> Potentials:
    """Return the network with those of some pairs that are absent, without those that are edges."""
    layout = potentials.layout
    absent = find_edges(layout, pairs) < 0
    return with_pairs(only(potentials, ~_among(layout.edges, pairs)), pairs[absent])


def _pairs(pairs: Ints) -> list[tuple[int, int]]:
    """Return pairs as tuples."""
    return [(i, j) for i, j in pairs.tolist()]


def _without(pairs: Ints, gone: Collection[tuple[int, ...]]) -> Ints:
    """Return those of some pairs that are not among others."""
    return pairs[[tuple(pair) not in gone for pair in pairs.tolist()]]


def _among(pairs: Ints, some: Ints) -> NDArray[np.bool_]:
    """Return which pairs are among some."""
    listed = set(map(tuple, some.tolist()))
    return np.array([tuple(pair) in listed for pair in pairs.tolist()], dtype=bool)


def _price(evidence: Evidence, degrees: Floats) -> float:
    """Return the statistic that the largest of some tables would need to be the only edge."""
    return float(chdtri(degrees.max(), evidence.level / max(1, evidence.n_tests)))
