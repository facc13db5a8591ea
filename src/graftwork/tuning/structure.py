"""goal="structure": screen down to the noise level, refit, test every pair, keep what is sure.

The l1 penalty shrinks what it keeps and lets in what only shares in it, so no single lambda finds
the edges. Grafting down to the noise level makes a short list; its edges are fitted again without
the penalty, and each is tested, as is each absent pair; a false discovery rate over all pairs says
which to keep. What changes is refitted and tested again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.special import chdtri
from threadpoolctl import threadpool_limits

from graftwork.grafting import Budget, Observer, Outcome, PairDomain, Problem, Recipe
from graftwork.grafting.certificate import STOPS
from graftwork.grafting.starts import only, with_pairs
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.objectives.protocol import Objective
from graftwork.solvers import Solution
from graftwork.tuning.contrasts import frequent_states
from graftwork.tuning.edge_tests import Cut, Findings, examine_edges
from graftwork.tuning.evidence import Evidence
from graftwork.tuning.levels import Levels, find_levels
from graftwork.tuning.newton import newton
from graftwork.tuning.pair_tests import examine_absent
from graftwork.tuning.path import PathPoint, path_values
from graftwork.tuning.refit import refit, unshrunk
from graftwork.tuning.rows import Rows
from graftwork.tuning.walk import Walk, WalkEndedError

# Refits are solved to this before a test, with so many evaluations before Newton steps take over.
REFIT_ACCURACY = 2e-4
MOST_EVALUATIONS = 30
# Where variables have too many states for those, so many evaluations must do.
LAST_EVALUATIONS = 200
# At the end Newton steps go on to rounding errors; where there are none, this must do.
LAST_DIGITS = 1e-13
FINAL_ACCURACY = 1e-5
# The stretch of a statistic need not be exact: it is estimated from about so many rows.
ROWS, FINAL_ROWS = 2048, 8192
# Rounds in which pairs may enter; none enters twice.
MOST_ROUNDS = 2
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
    words : str
        How the edges were chosen, for people.
    """

    outcome: Outcome
    refitted: Solution
    evidence: Evidence | None
    path: tuple[PathPoint, ...]
    levels: Levels
    words: str


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
    """
    walk = Walk(problem_at, budget=budget, rng=rng, observer=observer)
    walk.observer.on_stage("looking for the range of lambda", 0, 4)
    levels = find_levels(problem_at(1.0))
    search = _Search(walk, pseudo, recipe, fdr, tolerance)
    with threadpool_limits(limits=1, user_api="blas"):
        try:
            search.screen(path_values(levels))
            search.test()
        except WalkEndedError:
            pass
        except KeyboardInterrupt:
            walk.interrupted = True
    return search.result(levels)


class _Search:
    """The short list, then the tests."""

    def __init__(
        self, walk: Walk, pseudo: Objective, recipe: Recipe, fdr: float, tolerance: float
    ) -> None:
        self._walk, self._recipe, self._fdr, self._tolerance = walk, recipe, fdr, tolerance
        problem = walk.problem_at(1.0)
        self._own = problem.objective is pseudo
        self._problem = Problem(pseudo, problem.penalty, problem.domain)
        self._contrasts = frequent_states(pseudo.sample)
        self._outcome: Outcome | None = None
        self._fitted: Solution | None = None
        self._final: Solution | None = None
        self._evidence: Evidence | None = None
        self._entered: Ints = np.zeros(0, dtype=np.int64)  # pairs that came in by their test

    def screen(self, lams: list[float]) -> None:
        """Walk down to the last lambda, and certify the fit there."""
        steps = len(lams) + 4
        for step, lam in enumerate(lams):
            self._walk.observer.on_stage(f"lambda {lam:.4g}", step + 1, steps)
            start = self._walk.step(lam).potentials
            if self._walk.full:
                break
        self._walk.observer.on_stage(f"short list at lambda {lam:.4g}", steps - 3, steps)
        self._outcome = self._walk.settle(self._recipe, lam, start, self._tolerance)
        self._walk.check(self._outcome)

    def test(self) -> None:
        """Test, change, refit, until nothing changes; then measure what is kept exactly."""
        assert self._outcome is not None
        self._note("refitting the short list", 2)
        self._walk.check_time()
        self._fit(self._outcome.potentials)
        turns, edges = 0, self._look()
        self._change(edges, enter=False)  # most noise goes before absent pairs are tested
        while turns < MOST_ROUNDS:
            turns += 1
            self._note(f"testing all pairs, round {turns}", 1)
            if not self._change(self._look(edges), enter=True):
                break
            edges = self._look()  # what came in is an edge now, and tested as one
            self._change(edges, enter=False)
        while True:  # to the last digits, so that nothing depends on the way here
            self._note("final tests", 0)
            self._sharpen(LAST_DIGITS, FINAL_ACCURACY)
            self._evidence = self._look(final=True)
            # pairs that a quick look missed may still come in
            if not self._change(self._evidence, enter=turns < MOST_ROUNDS):
                break
            turns += 1
            while self._change(self._look(), enter=False):
                pass
        assert self._fitted is not None
        self._final = self._fitted
        if not self._own:
            potentials = self._fitted.point.potentials
            self._final = self._walk.refit(self._outcome.certificate.lam, potentials, 1e-5)

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
        domain = cast(PairDomain, self._problem.domain)
        words = _words(outcome, evidence, levels, len(domain.required))
        if evidence is not None and refitted.residual > FINAL_ACCURACY:
            words += f" With so many states the refit was solved to {refitted.residual:.1g} only."
        return StructureResult(outcome, refitted, evidence, path, levels, words)

    def _note(self, text: str, left: int) -> None:
        steps = len(self._walk.fits) + 4
        self._walk.observer.on_stage(text, steps - 1 - left, steps)

    def _fit(self, start: Potentials) -> None:
        """Refit, for a test."""
        self._fitted = refit(
            self._problem, start, REFIT_ACCURACY, self._fitted, max_evaluations=MOST_EVALUATIONS
        )
        self._sharpen(REFIT_ACCURACY, REFIT_ACCURACY)

    def _sharpen(self, wanted: float, at_least: float) -> None:
        """Solve the refit further by Newton steps, or without where there are too many states."""
        assert self._fitted is not None
        if self._fitted.residual <= wanted:
            return
        smooth, n_threads = unshrunk(self._problem), self._problem.objective.n_threads
        if not (smooth.penalty.unary_lam or smooth.penalty.unary_l2):
            self._fitted = newton(smooth, self._fitted, wanted, n_threads)
        if self._fitted.residual > at_least:
            start = self._fitted.point.potentials
            self._fitted = refit(self._problem, start, at_least, max_evaluations=LAST_EVALUATIONS)

    def _look(self, known: Evidence | None = None, final: bool = False) -> Evidence:
        """Test the edges or, where tests of them are ``known``, the absent pairs; finally both.

        Of what is known only the edges that are still there count.
        """
        self._walk.check_time()
        assert self._fitted is not None
        point, pseudo = self._fitted.point, self._problem.objective
        rows = Rows(pseudo.sample, point.potentials, self._contrasts, pseudo.n_threads)
        size, most = self._problem.space.size, self._walk.budget.max_edges
        # With a limit on their number, the order of all p-values matters.
        cut = None if final or most is not None else Cut(self._fdr, size)
        others = Findings.none(0)
        if final or known is not None:
            others = examine_absent(rows, point, self._problem, cut)
        if known is None:
            edges = examine_edges(rows, FINAL_ROWS if final else ROWS, cut=cut)
        else:
            there = find_edges(point.potentials.layout, known.edges.pairs) >= 0
            edges = known.edges.some(there)
        return Evidence(edges, others, size, self._fdr)

    def _change(self, evidence: Evidence, *, enter: bool) -> bool:
        """Drop edges and, if they may ``enter``, take in pairs; return whether anything changed."""
        assert self._fitted is not None
        required = cast(PairDomain, self._problem.domain).requires(evidence.edges.pairs)
        kept, entering = evidence.choose(required, self._walk.budget.max_edges, enter=enter)
        numbers = self._problem.space.keys(entering)
        entering = entering[~np.isin(numbers, self._entered)]
        self._entered = np.union1d(self._entered, numbers)
        self._drop(evidence, np.flatnonzero(~kept))
        if len(entering):
            self._fit(with_pairs(self._fitted.point.potentials, entering))
        return not kept.all() or len(entering) > 0

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


def _price(evidence: Evidence, degrees: Floats) -> float:
    """Return the statistic that the largest of some tables would need to be the only edge."""
    return float(chdtri(degrees.max(), evidence.level / max(1, evidence.n_tests)))


def _words(outcome: Outcome, evidence: Evidence | None, levels: Levels, n_required: int) -> str:
    """Return how the edges were chosen, for people."""
    stop = outcome.certificate.stop
    if evidence is None:
        return (
            f"The search was cut short ({STOPS[stop]}) before edges were tested; it stood at "
            f"lambda {outcome.certificate.lam:.4g}."
        )
    if not evidence.n_tests:
        return "There is no pair of variables that might be an edge, so nothing was tested."
    short, kept = outcome.certificate.n_edges, len(evidence.edges.pairs) - n_required
    listed = (
        f"Grafting down to lambda {outcome.certificate.lam:.4g}, where chance alone would give the "
        f"first edge, made a short list of {short:,} pair{'s'[: short != 1]}. "
    )
    if levels.largest <= levels.noise:
        listed = (
            f"No pair depends more than the strongest would by chance (score {levels.largest:.3g}, "
            f"noise level {levels.noise:.3g}), so none is on the short list. "
        )
    sampled = " The noise level was estimated from a random sample of all pairs."
    return (
        f"{listed}All {evidence.n_tests:,} pairs were tested, refitted without the penalty, and "
        f"{kept:,} edge{'s'[: kept != 1]} kept at a false discovery rate of {evidence.level:g}"
        + (f", beside {n_required:,} required whatever the tests say." if n_required else ".")
        + (sampled if levels.sampled else "")
    )
