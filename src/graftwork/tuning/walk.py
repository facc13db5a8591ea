"""A walk down a lambda path: each fit starts from the one before; one budget, clock and trace."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from graftwork.grafting import Budget, Observer, Outcome, Problem, Recipe, Round, WorkingSet, graft
from graftwork.grafting.trace import Silence
from graftwork.inference.layout import Potentials
from graftwork.solvers import Solution
from graftwork.tuning.refit import refit

# Accuracy of fits that only serve a choice, relative to lambda: the noise in the data is far
# larger.
PATH_ACCURACY = 0.1
# The optimum at a lambda does not depend on the way there, so the path takes the quickest.
PATH_RECIPE = Recipe("working-set", WorkingSet())
# How a fit may end without ending the walk.
GOES_ON = ("optimal", "stalled", "edges")


class WalkEndedError(Exception):
    """Raised inside a walk when it was interrupted, or a budget is spent."""


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
    trace : list of Round
        All rounds; counters and clock go on from fit to fit.
    interrupted : bool
        Whether Ctrl-C ended it.
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
        self.trace: list[Round] = []
        self.interrupted = False
        self._rng, self._started, self._tests = rng, time.monotonic(), 0
        self._out_of_time = False

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
        self.fits.append(outcome)
        self.check(outcome)
        return outcome

    def settle(self, recipe: Recipe, lam: float, start: Potentials, tolerance: float) -> Outcome:
        """Return the fit at a lambda solved to the tolerance, and certified by a recipe."""
        quick = self.graft(PATH_RECIPE, lam, start, tolerance)
        if quick.certificate.stop not in ("optimal", "stalled"):
            return quick
        return self.graft(recipe, lam, quick.potentials, tolerance)

    def check(self, outcome: Outcome) -> None:
        """End the walk if this fit was cut short."""
        self.interrupted |= outcome.interrupted
        if outcome.certificate.stop not in GOES_ON:
            raise WalkEndedError

    def check_time(self) -> None:
        """End the walk if its time is up."""
        limit = self.budget.max_seconds
        if limit is not None and time.monotonic() - self._started >= limit:
            self._out_of_time = True
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
        before, tests = time.monotonic() - self._started, self._tests
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
            self.trace.append(
                replace(
                    record,
                    index=len(self.trace),
                    blocks_scored=tests + record.blocks_scored,
                    seconds=before + record.seconds,
                )
            )
            self._tests = tests + record.blocks_scored
        return outcome

    def conclude(self, outcome: Outcome, tolerance: float) -> Outcome:
        """Return an outcome with the whole trace, solved to the tolerance though the walk was cut.

        After an interrupt it is left as it is, and says so.
        """
        reason = outcome.certificate.stop
        if not self.interrupted and outcome.certificate.tolerance > tolerance:
            outcome = graft(
                self.problem_at(outcome.certificate.lam),
                PATH_RECIPE,
                start=outcome.potentials,
                budget=Budget(max_rounds=0),
                tolerance=tolerance,
            )
            cut = replace(outcome.certificate, stop=reason, converged=False)
            outcome = replace(outcome, certificate=cut)
        if self.interrupted or self._out_of_time:
            why = "interrupted" if self.interrupted else "seconds"
            stopped = replace(outcome.certificate, stop=why, converged=False)
            outcome = replace(outcome, certificate=stopped)
        return replace(outcome, trace=tuple(self.trace))

    def _budget_left(self) -> Budget:
        """Return what the fits so far have left of the budget for all of them together."""
        budget = self.budget
        rounds, tests, seconds = budget.max_rounds, budget.max_tests, budget.max_seconds
        return Budget(
            budget.max_edges,
            None if rounds is None else max(0, rounds - len(self.trace)),
            None if tests is None else max(0, tests - self._tests),
            None if seconds is None else max(0.0, seconds + self._started - time.monotonic()),
        )
