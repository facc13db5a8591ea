"""A walk down a lambda path: each fit starts from the one before; one budget, clock and trace."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from graftwork.grafting import Budget, Observer, Outcome, Problem, Recipe, Round, graft
from graftwork.grafting.certificate import Stop
from graftwork.grafting.trace import Silence
from graftwork.inference.layout import Potentials
from graftwork.recipes import working_set
from graftwork.solvers import Memory, Solution
from graftwork.tuning.refit import refit

# Accuracy of fits that only serve a choice, relative to lambda: the noise in the data is far
# larger.
PATH_ACCURACY = 0.1
# The optimum at a lambda does not depend on the way there, so the path takes the quickest.
PATH_RECIPE = working_set()
# How a fit may end without ending the walk.
GOES_ON = ("optimal", "stalled", "edges")


class WalkEndedError(Exception):
    """Raised inside a walk when it was interrupted, or a budget is spent."""


@dataclass(frozen=True, slots=True, eq=False)
class _Bare:
    """What is kept of a point that was left behind: not its conditionals, which fill memories."""

    potentials: Potentials
    value: float


@dataclass(slots=True, eq=False)
class _Books:
    """What walks that belong together have in common."""

    trace: list[Round] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    tests: int = 0
    evaluations: dict[int, int] = field(default_factory=dict)  # of each walk so far
    tables: dict[int, int] = field(default_factory=dict)
    interrupted: bool = False
    ended: Stop | None = None

    def add(self, walk: int, record: Round, before: float, tests: int) -> None:
        """Write a round of one of the walks down; counters and clock go on from those before."""
        self.evaluations[walk], self.tables[walk] = record.evaluations, record.tables_counted
        self.tests = tests + record.blocks_scored
        self.trace.append(
            replace(
                record,
                index=len(self.trace),
                blocks_scored=self.tests,
                evaluations=sum(self.evaluations.values()),
                tables_counted=sum(self.tables.values()),
                seconds=before + record.seconds,
            )
        )


class Walk:
    """Penalised fits of one problem, from large lambdas to small ones.

    Parameters
    ----------
    problem_at : function
        The problem with a given lambda.
    budget : Budget, optional
        For all fits together.

    Attributes
    ----------
    fits : list of Outcome
        What ``step`` found so far.
    """

    def __init__(
        self,
        problem_at: Callable[[float], Problem],
        *,
        budget: Budget | None = None,
        rng: np.random.Generator,
        observer: Observer | None = None,
    ) -> None:
        self.problem_at, self.budget = problem_at, budget or Budget()
        self.observer = observer or Silence()
        self.fits: list[Outcome] = []
        self._rng, self._books, self._number = rng, _Books(), 0

    def beside(self, problem_at: Callable[[float], Problem]) -> Walk:
        """Return a walk of another problem that shares budget, clock, trace and interrupts."""
        other = Walk(problem_at, budget=self.budget, rng=self._rng, observer=self.observer)
        other._books, other._number = self._books, len(self._books.evaluations) + 1
        self._books.evaluations[other._number] = 0
        return other

    @property
    def trace(self) -> list[Round]:
        """All rounds so far, of the walks beside it too."""
        return self._books.trace

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self._books.interrupted

    @interrupted.setter
    def interrupted(self, seen: bool) -> None:
        self._books.interrupted = seen

    @property
    def full(self) -> bool:
        """Whether the last fit used up the edge budget: smaller lambdas could not add any."""
        return bool(self.fits) and self.fits[-1].certificate.stop == "edges"

    def step(self, lam: float) -> Outcome:
        """Return the penalised fit at the next lambda, loosely solved.

        When it was cut short the walk ends: ``WalkEndedError``.
        """
        start = self.fits[-1].potentials if self.fits else None
        outcome = self.graft(PATH_RECIPE, lam, start, PATH_ACCURACY * lam)
        if self.fits:
            self.fits[-1] = _bare(self.fits[-1])
        self.fits.append(outcome)
        self.check(outcome)
        return outcome

    def settle(self, recipe: Recipe, lam: float, start: Potentials, tolerance: float) -> Outcome:
        """Return the fit at a lambda solved to the tolerance, and certified.

        A recipe with other blocks, or another idea of which may stay, has the last word.
        """
        quick = self.graft(PATH_RECIPE, lam, start, tolerance)
        alike = recipe.pruner == PATH_RECIPE.pruner and not recipe.features
        certified = quick.certificate.converged and alike
        if certified or quick.certificate.stop not in ("optimal", "stalled"):
            return quick
        return self.graft(recipe, lam, quick.potentials, tolerance)

    def check(self, outcome: Outcome) -> None:
        """End the walk if this fit was cut short."""
        self.interrupted |= outcome.interrupted
        if outcome.certificate.stop not in GOES_ON:
            self._books.ended = outcome.certificate.stop
            raise WalkEndedError

    def check_time(self) -> None:
        """End the walk if its time is up."""
        limit = self.budget.max_seconds
        if limit is not None and time.monotonic() - self._books.started >= limit:
            self._books.ended = "seconds"
            raise WalkEndedError

    def refit(
        self, lam: float, start: Potentials, accuracy: float, before: Solution | None = None
    ) -> Solution:
        """Return the weights of the edges in ``start`` fitted again, not shrunk by lambda."""
        try:
            return refit(self.problem_at(lam), start, accuracy, before)
        except KeyboardInterrupt:
            self.interrupted = True
            raise WalkEndedError from None

    def graft(
        self, recipe: Recipe, lam: float, start: Potentials | None, tolerance: float
    ) -> Outcome:
        """Return what the loop makes of a start with what is left of the budget."""
        before, tests = time.monotonic() - self._books.started, self._books.tests
        outcome = graft(
            self.problem_at(lam),
            recipe,
            start=start,
            budget=self._budget_left(),
            tolerance=tolerance,
            rng=self._rng,
            observer=self.observer,
        )
        for record in outcome.trace:
            self._books.add(self._number, record, before, tests)
        return outcome

    def conclude(self, outcome: Outcome, tolerance: float) -> Outcome:
        """Return an outcome with the whole trace, solved to the tolerance though the walk was cut.

        After an interrupt it is left as it is, and says so.
        """
        reason = self._books.ended or outcome.certificate.stop
        loose = not self.interrupted and outcome.certificate.tolerance > tolerance
        if loose:
            outcome = self.weigh(outcome.certificate.lam, outcome.potentials, tolerance)
        if self.interrupted or loose or reason not in GOES_ON:
            why = "interrupted" if self.interrupted else reason
            stopped = replace(outcome.certificate, stop=why, converged=False)
            outcome = replace(outcome, certificate=stopped)
        return replace(outcome, trace=tuple(self.trace))

    def weigh(self, lam: float, start: Potentials, tolerance: float) -> Outcome:
        """Return the network of the edges in ``start`` with weights solved to a tolerance.

        It takes what it takes: it is for the end of a walk whose budget is spent.
        """
        return graft(
            self.problem_at(lam),
            PATH_RECIPE,
            start=start,
            budget=Budget(max_rounds=0),
            tolerance=tolerance,
        )

    def _budget_left(self) -> Budget:
        """Return what the fits so far have left of the budget for all of them together."""
        budget = self.budget
        rounds, tests, seconds = budget.max_rounds, budget.max_tests, budget.max_seconds
        return Budget(
            budget.max_edges,
            None if rounds is None else max(0, rounds - len(self.trace)),
            None if tests is None else max(0, tests - self._books.tests),
            None if seconds is None else max(0.0, seconds + self._books.started - time.monotonic()),
        )


def _bare(outcome: Outcome) -> Outcome:
    """Return an outcome without what only a next step would need."""
    solution = outcome.solution
    point = _Bare(solution.point.potentials, solution.point.value)
    return replace(outcome, solution=replace(solution, point=point, memory=Memory()), trace=())
