"""lam="auto": a path down to the noise level, a criterion on the refitted models, the best refit.

The l1 penalty shrinks what it keeps, so a penalised fit says little about which support is best:
supports on the path are fitted again without the penalty, and those models are compared. Edges of
the best one that do not repay their price are dropped, and pairs that would are added.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from graftwork.data.compact import Sample
from graftwork.grafting import (
    Budget,
    Observer,
    Outcome,
    PairDomain,
    Problem,
    Recipe,
    Round,
    WorkingSet,
    graft,
)
from graftwork.grafting.certificate import STOPS
from graftwork.grafting.space import BATCH
from graftwork.grafting.trace import Silence
from graftwork.inference.layout import Ints, Layout, Potentials
from graftwork.objectives.protocol import Objective, Point
from graftwork.penalties import Penalty
from graftwork.solvers import Solution
from graftwork.tuning.levels import MOST_PAIRS, Levels, find_levels
from graftwork.tuning.path import STEPS, PathPoint, path_values, words_of_choice, words_of_revision
from graftwork.tuning.prices import edge_prices
from graftwork.tuning.refit import refit

# Accuracy of fits that only serve the choice (relative to lambda), and of refits. The noise in the
# data is far larger than either.
PATH_ACCURACY = 0.1
REFIT_ACCURACY = 5e-4
FINAL_REFIT_ACCURACY = 1e-4
# The optimum at a lambda does not depend on the way there, so the path takes the quickest.
PATH_RECIPE = Recipe("working-set", WorkingSet())
# The criterion may have several minima: the search up the path ends after so many rises.
PATIENCE = 2
# Refits that try to improve the chosen network, and how many of the first may add pairs.
MOST_REVISIONS = 8
MOST_ADDITIONS = 2
_NONE = np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class AutoResult:
    """A network learned without a given lambda.

    Attributes
    ----------
    outcome : Outcome
        The penalised fit at the chosen lambda, with its certificate and the trace of everything.
    refitted : Solution
        The edges that repay their price, fitted without the penalty.
    path : tuple of PathPoint
    levels : Levels
    words : str
        How lambda was chosen, for people.
    """

    outcome: Outcome
    refitted: Solution
    path: tuple[PathPoint, ...]
    levels: Levels
    words: str


def learn_without_lambda(
    objective: Objective,
    penalty_at: Callable[[float], Penalty],
    objective_of: Callable[[Sample], Objective],
    recipe: Recipe,
    *,
    budget: Budget | None = None,
    tolerance: float = 1e-6,
    rng: np.random.Generator,
    observer: Observer | None = None,
    domain: PairDomain | None = None,
) -> AutoResult:
    """Return the network whose refitted support has the best criterion along a lambda path.

    An interrupt (Ctrl-C) ends it with the best so far, said in the outcome.

    Parameters
    ----------
    penalty_at : function
        The penalty with a given lambda.
    objective_of : function
        The loss of another sample (used for permuted columns).
    domain : PairDomain, optional
        Which pairs may be edges; default all.
    """
    observer, domain = observer or Silence(), domain or PairDomain(objective.sample)
    observer.on_stage("looking for the range of lambda", 0, STEPS + 3)
    levels = find_levels(Problem(objective, penalty_at(1.0), domain), objective_of, rng)
    walk = _Walk(objective, penalty_at, recipe, budget, rng, observer, domain)
    lams = path_values(levels)
    try:
        for step, lam in enumerate(lams):
            observer.on_stage(f"lambda {lam:.4g}", step + 1, len(lams) + 3)
            walk.step(lam)
            if walk.full:
                break
        observer.on_stage("comparing refitted networks", len(lams) + 1, len(lams) + 3)
        best = walk.compare()
        observer.on_stage(f"final fit, lambda {lams[best]:.4g}", len(lams) + 2, len(lams) + 3)
        walk.finish(best, tolerance)
    except _WalkEndedError:
        pass
    return walk.result(levels, len(lams), tolerance)


class _WalkEndedError(Exception):
    """Raised inside the walk when it was interrupted, or a budget is spent."""


class _Walk:
    """The way down the path: each fit starts from the one before."""

    def __init__(
        self,
        objective: Objective,
        penalty_at: Callable[[float], Penalty],
        recipe: Recipe,
        budget: Budget | None,
        rng: np.random.Generator,
        observer: Observer,
        domain: PairDomain,
    ) -> None:
        self._objective, self._penalty_at, self._recipe = objective, penalty_at, recipe
        self._domain = domain
        self._budget = budget or Budget()
        self._started, self._tests = time.monotonic(), 0
        self._rng, self._observer = rng, observer
        self._fits: list[Outcome] = []
        self._points: list[PathPoint] = []
        self._trace: list[Round] = []
        self._best = 0
        self._outcome: Outcome | None = None
        self._refits: dict[int, Solution] = {}
        self._refitted: Solution | None = None
        self._interrupted = False

    @property
    def full(self) -> bool:
        """Whether the last fit used up the edge budget: smaller lambdas could not add any."""
        return self._fits[-1].certificate.stop == "edges"

    def step(self, lam: float) -> None:
        """Add the penalised fit at one lambda."""
        start = self._fits[-1].potentials if self._fits else None
        outcome = self._graft(PATH_RECIPE, lam, start, PATH_ACCURACY * lam)
        solution = outcome.solution
        n_edges = outcome.potentials.layout.n_edges
        self._fits.append(outcome)
        self._points.append(PathPoint(lam, n_edges, solution.point.value, solution.objective))
        self._best = len(self._fits) - 1
        if outcome.interrupted:
            self._interrupted = True
        if outcome.certificate.stop not in ("optimal", "stalled", "edges"):
            raise _WalkEndedError

    def compare(self) -> int:
        """Refit from the densest fit upwards until the criterion keeps rising; return the best."""
        before: Solution | None = None
        rises = 0
        for k in reversed(range(len(self._fits))):
            problem = self._problem(self._points[k].lam)
            before = self._refit(problem, self._fits[k].potentials, REFIT_ACCURACY, before)
            criterion = self._criterion(problem, before)
            self._points[k] = replace(
                self._points[k], refit_loss=before.point.value, criterion=criterion
            )
            self._refits[k] = before
            if criterion <= self._points[self._best].criterion:
                self._best, rises = k, 0
            else:
                rises += 1
            if rises >= PATIENCE:
                break
        return self._best

    def finish(self, best: int, tolerance: float) -> None:
        """Solve the chosen fit to full accuracy, drop what does not repay its price, refit."""
        lam, start = self._points[best].lam, self._fits[best].potentials
        quick = self._graft(PATH_RECIPE, lam, start, tolerance)
        outcome = quick
        if quick.certificate.stop in ("optimal", "stalled"):
            outcome = self._graft(self._recipe, lam, quick.potentials, tolerance)
        self._outcome = outcome
        if outcome.certificate.stop not in ("optimal", "stalled", "edges"):
            self._interrupted = outcome.interrupted
            raise _WalkEndedError
        problem = self._problem(lam)
        refitted = self._refits[best]
        refitted = self._refit(problem, outcome.potentials, REFIT_ACCURACY, refitted)
        refitted = self._revise(problem, refitted)
        potentials = refitted.point.potentials
        self._refitted = self._refit(problem, potentials, FINAL_REFIT_ACCURACY, refitted)

    def result(self, levels: Levels, planned: int, tolerance: float) -> AutoResult:
        """Return the best so far."""
        if (
            self._points[self._best].criterion != self._points[self._best].criterion
            and self._refits
        ):
            self._best = min(self._refits, key=lambda k: self._points[k].criterion)
        best, outcome = self._best, self._outcome or self._fits[self._best]
        if not self._interrupted and outcome.certificate.tolerance > tolerance:
            # a budget ended the walk: what is kept is solved all the same
            reason = outcome.certificate.stop
            outcome = graft(
                self._problem(self._points[best].lam),
                PATH_RECIPE,
                start=outcome.potentials,
                budget=Budget(max_rounds=0),
                tolerance=tolerance,
            )
            cut = replace(outcome.certificate, stop=reason, converged=False)
            outcome = replace(outcome, certificate=cut)
        refitted = self._refitted or self._refits.get(best) or outcome.solution
        if self._interrupted:
            stopped = replace(outcome.certificate, stop="interrupted", converged=False)
            outcome = replace(outcome, certificate=stopped)
        path = tuple(replace(p, chosen=k == best) for k, p in enumerate(self._points))
        words = words_of_choice(path, best, levels, planned)
        if outcome.certificate.stop not in ("optimal", "stalled", "edges"):
            words = (
                f"The search for lambda was cut short ({STOPS[outcome.certificate.stop]}); "
                f"it stood at {self._points[best].lam:.4g}."
            )
        if self._refitted is not None:
            words += words_of_revision(outcome.potentials.layout, refitted.point.potentials.layout)
        outcome = replace(outcome, trace=tuple(self._trace))
        return AutoResult(outcome, refitted, path, levels, words)

    def _revise(self, problem: Problem, refitted: Solution) -> Solution:
        """Return the refit after dear edges left and paying pairs entered, as long as that pays.

        Edges are judged one by one but leave together: where several can stand in for each other
        that would be wrong, so a change that worsens the criterion is tried again with half as many
        leaving.
        """
        best, most_leaving, refits = self._criterion(problem, refitted), None, 0
        while refits < MOST_REVISIONS:
            point = refitted.point
            edges = point.potentials.layout.edges
            value = self._objective.sample.total_weight * point.edge_spreads()
            value = value / edge_prices(problem, edges)
            value[self._domain.requires(edges)] = np.inf
            leaving = np.argsort(value, kind="stable")[: int((value < 1.0).sum())][:most_leaving]
            room = problem.space.size
            if self._budget.max_edges is not None:
                room = max(0, self._budget.max_edges - len(edges) + len(leaving))
            entering = self._worthwhile(problem, point)[:room] if refits < MOST_ADDITIONS else _NONE
            if not len(leaving) and not len(entering):
                break
            changed = _exchange(point.potentials, leaving, entering)
            trial = self._refit(problem, changed, REFIT_ACCURACY, refitted)
            refits += 1
            criterion = self._criterion(problem, trial)
            if criterion < best:
                refitted, best, most_leaving = trial, criterion, None
            elif len(leaving) > 1:
                most_leaving = len(leaving) // 2
            else:
                break
        return refitted

    def _criterion(self, problem: Problem, refitted: Solution) -> float:
        """Return twice the refitted loss of all rows plus the prices of the edges."""
        prices = edge_prices(problem, refitted.point.potentials.layout.edges)
        return 2.0 * self._objective.sample.total_weight * refitted.objective + float(prices.sum())

    def _worthwhile(self, problem: Problem, point: Point) -> Ints:
        """Return the absent pairs whose estimated gain exceeds their price, best first."""
        space, rows = problem.space, self._objective.sample.total_weight
        active = np.sort(space.keys(point.potentials.layout.edges))
        found, ratios = [np.zeros((0, 2), dtype=np.int64)], [np.zeros(0)]
        for start in range(0, min(space.size, MOST_PAIRS), BATCH):
            keys = np.arange(start, min(start + BATCH, space.size))
            pairs = space.pairs(np.setdiff1d(keys, active, assume_unique=True))
            ratio = rows * point.pair_gains(pairs) / edge_prices(problem, pairs)
            found.append(pairs[ratio > 1.0])
            ratios.append(ratio[ratio > 1.0])
        order = np.argsort(-np.concatenate(ratios), kind="stable")
        return np.concatenate(found)[order]

    def _problem(self, lam: float) -> Problem:
        return Problem(self._objective, self._penalty_at(lam), self._domain)

    def _refit(
        self, problem: Problem, start: Potentials, accuracy: float, before: Solution | None
    ) -> Solution:
        try:
            return refit(problem, start, accuracy, before)
        except KeyboardInterrupt:
            self._interrupted = True
            raise _WalkEndedError from None

    def _graft(
        self, recipe: Recipe, lam: float, start: Potentials | None, tolerance: float
    ) -> Outcome:
        before, tests = time.monotonic() - self._started, self._tests
        outcome = graft(
            self._problem(lam),
            recipe,
            start=start,
            budget=self._budget_left(),
            tolerance=tolerance,
            rng=self._rng,
            observer=self._observer,
        )
        for record in outcome.trace:  # one trace for the whole walk: counters and clock go on
            self._trace.append(
                replace(
                    record,
                    index=len(self._trace),
                    blocks_scored=tests + record.blocks_scored,
                    seconds=before + record.seconds,
                )
            )
            self._tests = tests + record.blocks_scored
        return outcome

    def _budget_left(self) -> Budget:
        """Return what the fits so far have left of the budget for all of them together."""
        budget = self._budget
        rounds, tests, seconds = budget.max_rounds, budget.max_tests, budget.max_seconds
        return Budget(
            budget.max_edges,
            None if rounds is None else max(0, rounds - len(self._trace)),
            None if tests is None else max(0, tests - self._tests),
            None if seconds is None else max(0.0, seconds + self._started - time.monotonic()),
        )


def _exchange(old: Potentials, leaving: Ints, entering: Ints) -> Potentials:
    """Return the network without some edges and with some pairs, whose tables start at zero."""
    kept = np.ones(old.layout.n_edges, dtype=bool)
    kept[leaving] = False
    layout = Layout.of(old.layout.cards, np.concatenate([old.layout.edges[kept], entering]))
    n_unary, weights = old.layout.n_unary, layout.zeros()
    tables = old.weights[n_unary:][np.repeat(kept, old.layout.edge_sizes)]
    weights[:n_unary] = old.weights[:n_unary]
    weights[n_unary : n_unary + len(tables)] = tables
    return Potentials(layout, weights)
