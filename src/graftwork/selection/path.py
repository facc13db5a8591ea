"""The lambda path: each fit starts from the one before; one budget, clock and trace."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from graftwork.grafting import Budget, Observer, Outcome, Problem, Recipe, Round, graft
from graftwork.grafting.certificate import Stop
from graftwork.grafting.trace import Silence, check_of
from graftwork.inference.layout import Potentials
from graftwork.recipes.working_set import working_set
from graftwork.selection.folds import Fold
from graftwork.selection.levels import Levels
from graftwork.selection.refits import Curved, bent, refit
from graftwork.solvers import Memory, Solution

STEPS = 5

# Accuracy of fits that only serve a choice, relative to lambda: the noise in the data is far
# larger.
PATH_ACCURACY = 0.1
# The optimum at a lambda does not depend on the way there, so the path takes the quickest.
PATH_RECIPE = working_set()
# How a fit may end without ending the path.
GOES_ON = ("optimal", "stalled", "edges")
#: How lambda came about: there is no penalty; the method gives the number of edges, so that none is
#: needed; it was given; one row cannot tell; no pair depends at all; tests chose the edges at the
#: noise level, or ("testing") were cut short before they had; or what the lambdas of a path were
#: judged by (of "adaptive" the first fit ended it).
How = Literal[
    "none", "sized", "given", "one-row", "independent", "tests", "testing", "held-out", "ebic",
    "stars", "adaptive",
]  # fmt: skip
#: Where a path ended: the criterion kept rising, edges became unstable, or at its planned end, with
#: the best lambda inside it or at its small end.
PathEnd = Literal["rises", "unstable", "inside", "boundary"]


@dataclass(frozen=True, slots=True)
class PathPoint:
    """One lambda of the path."""

    lam: float
    n_edges: int
    loss: float  # loss, objective: of the penalised fit
    objective: float
    refit_loss: float = float("nan")  # of the same edges fitted without the penalty
    # what was minimised to choose (of "stars" the instability, which must not exceed a threshold)
    criterion: float = float("nan")
    held_out: float = float("nan")  # mean negative log pseudo-likelihood of rows not learned from
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Basis:
    """What the lambdas of a path are judged by."""

    how: How
    n_parts: int = 1  # parts of the rows held out in turn, or subsamples
    n_rows: int = 0  # rows held out, or in each subsample
    gamma: float = 0.0  # of the extended Bayesian information criterion
    of_refits: bool = False  # whether that is of refits without the penalty
    threshold: float = 0.0  # the largest instability that is accepted


@dataclass(frozen=True, slots=True)
class PathSearch:
    """The search along a path for the best lambda."""

    basis: Basis
    n_lams: int  # lambdas tried
    largest: float  # largest, smallest: the first and the last of them
    smallest: float
    criterion: float  # its value at the lambda chosen
    end: PathEnd | None  # where it ended
    planned: float | None = None  # the planned end, where the path went on below it
    # the criterion of the network of the edges that tests keep, judged like those of the path
    tested: float | None = None


@dataclass(frozen=True, slots=True)
class EdgeSelection:
    """How tests chose the edges."""

    n_listed: int  # pairs on the short list: edges of the penalised fit at the noise level
    # n_tests, n_kept, n_required: pairs tested; edges that tests keep; edges that are there
    # whatever their test says
    n_tests: int
    n_kept: int
    n_required: int
    fdr: float  # the false discovery rate
    largest: float  # largest, noise: the largest score of a pair, and what chance alone would reach
    noise: float
    sampled: bool = False  # whether the noise level comes from a sample of the pairs
    n_contested: int = 0  # pairs whose tests with and without the edge disagreed
    # pairs left out though they pass their tests while absent: they fail as edges
    rivals: tuple[tuple[Any, Any], ...] = ()
    max_edges: int | None = None  # the largest number of edges, where there are that many
    residual: float | None = None  # what the refit was solved to, where that is less than asked for


@dataclass(frozen=True, slots=True)
class LambdaChoice:
    """How lambda came about, and with it the edges."""

    how: How
    lam: float
    stop: Stop | None = None  # why a search was cut short, if it was
    tests: EdgeSelection | None = None  # where tests chose the edges, unless they were cut short
    # where a criterion judged lambdas, unless there was none to judge
    path: PathSearch | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain values; names as text."""
        plain = asdict(self)
        if self.tests is not None:
            plain["tests"]["rivals"] = [[str(name) for name in pair] for pair in self.tests.rivals]
        return plain

    @staticmethod
    def from_dict(plain: Mapping[str, Any]) -> LambdaChoice:
        """Return the choice that ``to_dict`` made plain."""
        tests, path = plain.get("tests"), plain.get("path")
        if tests is not None:
            tests = EdgeSelection(**tests | {"rivals": tuple(map(tuple, tests["rivals"]))})
        if path is not None:
            path = PathSearch(**path | {"basis": Basis(**path["basis"])})
        return LambdaChoice(plain["how"], plain["lam"], plain.get("stop"), tests, path)


def path_values(levels: Levels) -> list[float]:
    """Return the path, from just above the largest useful lambda to the noise level."""
    top = 1.02 * levels.largest
    if levels.largest <= 0.0:
        return [1.0]  # no pair depends at all: any lambda gives the empty network
    if levels.noise >= levels.largest or levels.noise <= 0.0:
        return [top]
    return [float(lam) for lam in np.geomspace(top, levels.noise, STEPS)]


class PathEndedError(Exception):
    """Raised on a path when it was interrupted, or a budget is spent."""


@dataclass(frozen=True, slots=True, eq=False)
class _Bare:
    """What is kept of a point that was left behind: not its conditionals, which fill memories."""

    potentials: Potentials
    value: float


@dataclass(slots=True, eq=False)
class _SharedLog:
    """What paths that belong together have in common."""

    trace: list[Round] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    tests: int = 0
    evaluations: dict[int, int] = field(default_factory=dict)  # of each path so far
    tables: dict[int, int] = field(default_factory=dict)
    interrupted: bool = False
    ended: Stop | None = None

    def add(self, path: int, record: Round, before: float, tests: int) -> None:
        """Write a round of one of the paths down; counters and clock go on from those before."""
        self.evaluations[path], self.tables[path] = record.evaluations, record.tables_counted
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


class LambdaPath:
    """Penalised fits of one problem, from large lambdas to small ones."""

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
        self._rng, self._log, self._number = rng, _SharedLog(), 0

    def sharing_log(self, problem_at: Callable[[float], Problem]) -> LambdaPath:
        """Return the path of another problem that shares budget, clock, trace and interrupts."""
        other = LambdaPath(problem_at, budget=self.budget, rng=self._rng, observer=self.observer)
        other._log, other._number = self._log, len(self._log.evaluations) + 1
        self._log.evaluations[other._number] = 0
        return other

    @property
    def trace(self) -> list[Round]:
        """All rounds so far, also of the paths that share its log."""
        return self._log.trace

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self._log.interrupted

    @interrupted.setter
    def interrupted(self, seen: bool) -> None:
        self._log.interrupted = seen

    @property
    def full(self) -> bool:
        """Whether the last fit used up the edge budget: smaller lambdas could not add any."""
        return bool(self.fits) and self.fits[-1].certificate.stop == "edges"

    def step(self, lam: float) -> Outcome:
        """Return the penalised fit at the next lambda, loosely solved.

        It begins with the fit before. When it was cut short the path ends: ``PathEndedError``.
        """
        start = self.fits[-1].potentials if self.fits else None
        outcome = self.graft(PATH_RECIPE, lam, start, PATH_ACCURACY * lam)
        if self.fits:
            self.fits[-1] = _bare(self.fits[-1])
        self.fits.append(outcome)
        self.check(outcome)
        return outcome

    def begin(self, fold: Fold, lams: Sequence[float], announce: Callable[[float], None]) -> None:
        """Take the first steps with some of the rows; the next begins where they end.

        When a fit was cut short the path ends: ``PathEndedError``.
        """
        some = self.sharing_log(fold.problem_at)
        try:
            for lam in lams:
                announce(lam)
                some.step(lam)
        finally:
            self.fits += [_bare(fit, fold.lift) for fit in some.fits]

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
        """End the path if this fit was cut short."""
        self.interrupted |= outcome.interrupted
        if outcome.certificate.stop not in GOES_ON:
            self._log.ended = outcome.certificate.stop
            raise PathEndedError

    def include(self, outcome: Outcome) -> None:
        """Count a fit that was made elsewhere as one of these; end the path if it was cut short."""
        before, tests = time.monotonic() - self._log.started, self._log.tests
        number = len(self._log.evaluations) + 1
        for record in outcome.trace:
            self._log.add(number, record, before - outcome.trace[-1].seconds, tests)
        self.check(outcome)

    def check_time(self) -> None:
        """End the path if its time is up."""
        if self.late():
            self._log.ended = "seconds"
            raise PathEndedError

    def late(self) -> bool:
        """Return whether its time is up; an observer may end it with KeyboardInterrupt."""
        check_of(self.observer)()
        limit = self.budget.max_seconds
        return limit is not None and time.monotonic() - self._log.started >= limit

    def refit(
        self,
        lam: float,
        start: Potentials,
        accuracy: float,
        before: Solution | None = None,
        curved: Curved | None = None,
    ) -> Solution:
        """Return the weights of the edges in ``start`` fitted again, not shrunk by lambda.

        ``curved`` are the pairs of ordered variables whose tables are whole; None for all.
        """
        try:
            return refit(bent(self.problem_at(lam), curved), start, accuracy, before)
        except KeyboardInterrupt:
            self.interrupted = True
            raise PathEndedError from None

    def graft(
        self, recipe: Recipe, lam: float, start: Potentials | None, tolerance: float
    ) -> Outcome:
        """Return what the loop makes of a start with what is left of the budget."""
        before, tests = time.monotonic() - self._log.started, self._log.tests
        outcome = graft(
            self.problem_at(lam),
            recipe,
            start=start,
            budget=self.budget_left(),
            tolerance=tolerance,
            rng=self._rng,
            observer=self.observer,
        )
        for record in outcome.trace:
            self._log.add(self._number, record, before, tests)
        return outcome

    def conclude(self, outcome: Outcome, tolerance: float) -> Outcome:
        """Return an outcome with the whole trace, solved to the tolerance though the path was cut.

        After an interrupt it is left as it is, and says so.
        """
        reason = self._log.ended or outcome.certificate.stop
        loose = not self.interrupted and outcome.certificate.tolerance > tolerance
        if loose:
            outcome = self.weigh(outcome.certificate.lam, outcome.potentials, tolerance)
        if self.interrupted or loose or reason not in GOES_ON:
            why = "interrupted" if self.interrupted else reason
            stopped = replace(outcome.certificate, stop=why, converged=False, tolerance=tolerance)
            outcome = replace(outcome, certificate=stopped)
        return replace(outcome, trace=tuple(self.trace))

    def weigh(self, lam: float, start: Potentials, tolerance: float) -> Outcome:
        """Return the network of the edges in ``start`` with weights solved to a tolerance.

        It takes what it takes: it is for the end of a path whose budget is spent.
        """
        return graft(
            self.problem_at(lam),
            PATH_RECIPE,
            start=start,
            budget=Budget(max_rounds=0),
            tolerance=tolerance,
        )

    def budget_left(self) -> Budget:
        """Return what the fits so far have left of the budget for all of them together."""
        budget = self.budget
        rounds, tests, seconds = budget.max_rounds, budget.max_tests, budget.max_seconds
        return Budget(
            budget.max_edges,
            None if rounds is None else max(0, rounds - len(self.trace)),
            None if tests is None else max(0, tests - self._log.tests),
            None if seconds is None else max(0.0, seconds + self._log.started - time.monotonic()),
        )


def _bare(outcome: Outcome, lift: Callable[[Potentials], Potentials] | None = None) -> Outcome:
    """Return an outcome without what only a next step would need, perhaps for other rows."""
    solution = outcome.solution
    potentials = solution.point.potentials
    point = _Bare(potentials if lift is None else lift(potentials), solution.point.value)
    return replace(outcome, solution=replace(solution, point=point, memory=Memory()), trace=())
