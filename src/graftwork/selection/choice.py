"""Lambda chosen along a path by a criterion.

The path goes from just above the largest useful lambda to well below the noise level. It ends
early once the criterion has spoken, and goes on where the best lies at its small end. Where rows
are held out, the network of the edges that tests keep is judged by the same rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from graftwork.grafting import Budget, Observer, Outcome, Problem, Recipe
from graftwork.inference.layout import Potentials
from graftwork.kernels.threads import one_blas_thread
from graftwork.objectives import PseudoLikelihood
from graftwork.objectives.protocol import independent_potentials
from graftwork.selection.criteria import RISES, Criterion, Judge
from graftwork.selection.folds import Folder
from graftwork.selection.levels import Levels, find_levels, largest_score
from graftwork.selection.path import (
    GOES_ON,
    LambdaChoice,
    LambdaPath,
    PathEnd,
    PathEndedError,
    PathPoint,
    PathSearch,
)
from graftwork.selection.structure import StructureResult, learn_structure
from graftwork.solvers import Solution

# Each lambda of the path is this share of the one before: four in a factor of ten.
RATIO = 10**-0.25
# The path is planned to end at this share of the noise level, and ends at the second at the latest.
PLANNED, FURTHEST = 0.05, 3e-3
FINAL_ACCURACY = 1e-5
# The short lists of parts of the rows are solved to this share of the noise level.
PART_ACCURACY = 0.01
# The network of tested edges is taken if it predicts worse by less than this many standard errors
# of the difference: it gains more than shrunken networks from the rows that were held out.
ALLOWED = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """A network at the lambda that a criterion chose."""

    # the penalised fit to all rows there, with its certificate and the trace of everything
    outcome: Outcome
    # its edges fitted without the penalty, if the criterion refits; the tested network
    refitted: Solution | None
    path: tuple[PathPoint, ...]
    choice: LambdaChoice  # how lambda was chosen
    tested: StructureResult | None = None  # the network of tested edges, where that was taken

    @property
    def potentials(self) -> Potentials:
        """The network to keep."""
        potentials: Potentials = (self.refitted or self.outcome.solution).point.potentials
        return potentials


def choose_lambda(
    problem_at: Callable[[float], Problem],
    criterion: Criterion,
    folder: Folder,
    recipe: Recipe,
    *,
    budget: Budget | None = None,
    tolerance: float = 1e-6,
    rng: np.random.Generator,
    observer: Observer | None = None,
    fdr: float | None = None,
) -> Chosen:
    """Return the network at the lambda that a criterion finds best.

    An interrupt (Ctrl-C) ends it with the best so far, said in the outcome.
    """
    fits = LambdaPath(problem_at, budget=budget, rng=rng, observer=observer)
    fits.observer.on_stage("looking for the range of lambda", 0, 2)
    levels = find_levels(problem_at(1.0), fits.late)
    judge = criterion.begin(fits, folder, rng)
    search = _Search(fits, judge, recipe, criterion.refits, tolerance, rng)
    with one_blas_thread():
        try:
            search.descend(levels)
            if fdr is None or not search.compare(levels, fdr):
                search.settle()
        except PathEndedError:
            pass
        except KeyboardInterrupt:
            fits.interrupted = True
        return search.result()


class _Search:
    """The way down, then the fit to all rows at the lambda chosen."""

    def __init__(
        self,
        fits: LambdaPath,
        judge: Judge | None,
        recipe: Recipe,
        refits: bool,
        tolerance: float,
        rng: np.random.Generator,
    ) -> None:
        self._fits, self._judge, self._recipe = fits, judge, recipe
        self._refits, self._tolerance, self._rng = refits, tolerance, rng
        self._path: list[PathPoint] = []
        self._top, self._planned, self._walked = 1.0, 0, 0
        self._ending: PathEnd | Literal["end"] | None = None
        self._outcome: Outcome | None = None
        self._refitted: Solution | None = None
        self._judged: float | None = None
        self._tested: StructureResult | None = None

    def descend(self, levels: Levels) -> None:
        """Look at lambdas from large to small until the criterion has spoken."""
        judge = self._judge
        largest, others = levels.largest, [] if judge is None else judge.paths
        for fits in others:
            if fits is not self._fits:
                largest = max(largest, largest_score(fits.problem_at(1.0)))
        if largest > 0.0:
            self._top = 1.02 * largest
        if largest <= 0.0 or judge is None:
            return
        floor = min(levels.noise, largest) or largest
        self._planned = _steps(self._top, PLANNED * floor)
        furthest = _steps(self._top, FURTHEST * floor)
        while not self._ending:
            place = len(self._path)
            lam = self._top * RATIO**place
            steps = max(self._planned, place + 1) + 2
            self._fits.observer.on_stage(f"lambda {lam:.4g}", place + 1, steps)
            self._path.append(judge.look(lam))
            self._ending = judge.done(self._path)
            near = judge.best(self._path) > place - RISES
            if not self._ending and place + 1 >= (furthest if near else self._planned):
                self._ending = "end"
        self._refine(judge)

    def _refine(self, judge: Judge) -> None:
        """Look at the lambda where a parabola through the best and its neighbours has its minimum.

        The path is coarse, and near the best its criterion is flat.
        """
        self._walked, place = len(self._path), judge.best(self._path)
        if judge.smooth and 0 < place < self._walked - 1:
            above, best, below = (self._path[place + k].criterion for k in (-1, 0, 1))
            shift = 0.5 * (above - below) / (above - 2.0 * best + below)
            lam = self._path[place].lam * RATIO**shift
            self._fits.observer.on_stage(f"lambda {lam:.4g}", self._walked + 1, self._walked + 3)
            self._path.append(judge.look(lam))

    def compare(self, levels: Levels, fdr: float) -> bool:
        """Judge the network of tested edges; if it is to be taken, learn it from all rows."""
        judge = self._judge
        if judge is None or not self._path:
            return False
        above = sum(point.lam > levels.noise for point in self._path[: self._walked])
        accuracy = max(self._tolerance, PART_ACCURACY * levels.noise)

        def learn(problem_at: Callable[[float], Problem], start: Potentials) -> Potentials:
            found = self._test(problem_at, fdr, accuracy, start)
            potentials: Potentials = found.refitted.point.potentials
            return potentials

        judged = judge.judged(learn, min(above, self._walked - 1), judge.best(self._path))
        if judged is None:
            return False
        criterion, excess = judged
        if excess < ALLOWED:
            self._tested = self._test(self._fits.problem_at, fdr, self._tolerance)
        self._judged = criterion
        return self._tested is not None

    def _test(
        self,
        problem_at: Callable[[float], Problem],
        fdr: float,
        tolerance: float,
        start: Potentials | None = None,
    ) -> StructureResult:
        """Return the network of tested edges; its search counts as a part of this one."""
        fits, objective = self._fits, problem_at(1.0).objective
        fits.check_time()
        pseudo = objective
        if not isinstance(objective, PseudoLikelihood):
            pseudo = PseudoLikelihood(objective.sample)
        found = learn_structure(
            problem_at,
            pseudo,
            self._recipe,
            fdr=fdr,
            budget=fits.budget_left(),
            tolerance=tolerance,
            rng=self._rng,
            observer=fits.observer,
            start=start,
        )
        fits.include(found.outcome)
        return found

    def settle(self) -> None:
        """Fit all rows at the lambda chosen, to the tolerance; refit if the criterion does."""
        lam, start = self._best()
        steps = len(self._path) + 2
        self._fits.observer.on_stage(f"all rows at lambda {lam:.4g}", steps - 1, steps)
        self._outcome = self._fits.settle(self._recipe, lam, start, self._tolerance)
        self._fits.check(self._outcome)
        if self._refits:
            self._fits.check_time()
            self._refitted = self._fits.refit(lam, self._outcome.potentials, FINAL_ACCURACY)

    def result(self) -> Chosen:
        """Return the best so far."""
        fits, lam = self._fits, self._best()[0]
        path, tested = tuple(sorted(self._path, key=lambda point: -point.lam)), self._tested
        if tested is not None:
            certified = replace(tested.outcome, trace=tuple(fits.trace))
            choice = replace(tested.choice, path=self._searched())
            return Chosen(certified, tested.refitted, path, choice, tested)
        outcome = self._outcome
        if outcome is None:
            # Only evaluated here: the weights are solved below, unless somebody is waiting.
            outcome = fits.weigh(lam, self._best()[1], np.inf)
        outcome = fits.conclude(outcome, self._tolerance)
        path = tuple(replace(point, chosen=point.lam == lam) for point in path)
        return Chosen(outcome, self._refitted, path, self._choice(outcome, lam))

    def _best(self) -> tuple[float, Potentials]:
        """Return the best lambda so far, and a network near the one there."""
        if self._judge is None or not self._path:
            problem = self._fits.problem_at(self._top)
            return self._top, independent_potentials(problem.objective.sample)
        place = self._judge.best(self._path)
        return self._path[place].lam, self._judge.start(place)

    def _choice(self, outcome: Outcome, lam: float) -> LambdaChoice:
        """Return how lambda was chosen."""
        stop = outcome.certificate.stop
        if self._judge is None:
            return LambdaChoice("one-row", lam)
        how = self._judge.basis.how
        if not self._path:
            if not self._planned and stop in GOES_ON:
                return LambdaChoice("independent", lam)
            return LambdaChoice(how, lam, stop)
        path = self._searched()
        return LambdaChoice(how, lam, None if path.end else stop, path=path)

    def _searched(self) -> PathSearch:
        """Return the search along the path, in numbers."""
        assert self._judge is not None
        place, last = self._judge.best(self._path), (self._walked or len(self._path)) - 1
        end: PathEnd | None = None
        if self._ending == "end":
            end = "boundary" if place == last else "inside"
        elif self._ending:
            end = self._ending
        return PathSearch(
            self._judge.basis,
            len(self._path),
            self._path[0].lam,
            self._path[last].lam,
            self._path[place].criterion,
            end,
            self._path[self._planned - 1].lam if last >= self._planned else None,
            self._judged,
        )


def _steps(top: float, end: float) -> int:
    """Return how many lambdas a path from the top to an end has."""
    return 1 + int(np.ceil(np.log(end / top) / np.log(RATIO)))
