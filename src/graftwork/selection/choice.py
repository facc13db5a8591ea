"""Lambda chosen along a path by a criterion.

The path goes from just above the largest useful lambda to well below the noise level. It ends
early once the criterion has spoken, and goes on where the best lies at its small end. Where rows
are held out, the network of the edges that tests keep is judged by the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from graftwork.grafting import Budget, Observer, Outcome, Recipe
from graftwork.inference.layout import Potentials
from graftwork.kernels.threads import one_blas_thread
from graftwork.objectives import PseudoLikelihood
from graftwork.objectives.protocol import independent_potentials
from graftwork.selection.criteria import RISES, Criterion, Judge, ProblemAt, best, compare, spoken
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
    problem_at: ProblemAt,
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
    judge = criterion.begin(problem_at, folder, rng)
    folds = () if judge is None else judge.folds
    paths = [fits.sharing_log(fold.problem_at) for fold in folds] or [fits]
    search = _Search(fits, judge, paths, recipe, tolerance, rng)
    with one_blas_thread():
        try:
            search.descend(levels)
            if fdr is None or not search.compare(levels, fdr):
                search.settle(criterion.refits)
        except PathEndedError:
            pass
        except KeyboardInterrupt:
            fits.interrupted = True
        return search.result()


@dataclass(slots=True, eq=False)
class _Search:
    """The way down, then the fit to all rows at the lambda chosen; what there is so far."""

    fits: LambdaPath
    judge: Judge | None
    paths: list[LambdaPath]  # of the judge's folds, or that of all rows
    recipe: Recipe
    tolerance: float
    rng: np.random.Generator
    top: float = 1.0
    planned: int = 0  # lambdas of the way down, as planned; walked: once it has ended
    walked: int = 0
    end: PathEnd | None = None
    # those of the way down, then perhaps one between two of them
    points: list[PathPoint] = field(default_factory=list)
    outcome: Outcome | None = None
    refitted: Solution | None = None
    judged: float | None = None  # the criterion of the network of tested edges
    tested: StructureResult | None = None

    def descend(self, levels: Levels) -> None:
        """Look at lambdas from large to small until the criterion has spoken."""
        others = [path.problem_at(1.0) for path in self.paths if path is not self.fits]
        largest = max([levels.largest, *map(largest_score, others)])
        if largest <= 0.0:
            return
        self.top = 1.02 * largest
        if self.judge is not None:
            lams = self._lams(self.judge, min(levels.noise, largest) or largest)
            for point in self.judge.points(self.paths, lams):
                self.points.append(point)

    def _lams(self, judge: Judge, floor: float) -> Iterator[float]:
        """Yield each lambda once the points have the one before; the floor is the noise level.

        The last is where a parabola through the best held-out loss and its neighbours has its
        minimum: the path is coarse, and near the best its criterion is flat.
        """
        points, threshold = self.points, judge.basis.threshold
        self.planned = _steps(self.top, PLANNED * floor)
        furthest = _steps(self.top, FURTHEST * floor)
        while self.end is None:
            place = len(points)
            lam = self.top * RATIO**place
            steps = max(self.planned, place + 1) + 2
            self.fits.observer.on_stage(f"lambda {lam:.4g}", place + 1, steps)
            yield lam
            self.end, k = spoken(points, threshold), best(points, threshold)
            if not self.end and place + 1 >= (furthest if k > place - RISES else self.planned):
                self.end = "boundary" if k == place else "inside"
        self.walked = len(points)
        if judge.basis.how == "held-out" and 0 < k < place:
            above, middle, below = (points[k + step].criterion for step in (-1, 0, 1))
            shift = 0.5 * (above - below) / (above - 2.0 * middle + below)
            lam = points[k].lam * RATIO**shift
            self.fits.observer.on_stage(f"lambda {lam:.4g}", place + 2, place + 4)
            yield lam

    def compare(self, levels: Levels, fdr: float) -> bool:
        """Judge the network of tested edges; if it is to be taken, learn it from all rows."""
        judge, points = self.judge, self.points
        if judge is None or judge.basis.how != "held-out" or not points:
            return False
        above = sum(point.lam > levels.noise for point in points[: self.walked])
        near, place = min(above, self.walked - 1), best(points)
        accuracy = max(self.tolerance, PART_ACCURACY * levels.noise)
        tested: list[Potentials] = []
        for path in self.paths:
            found = self._test(path.problem_at, fdr, accuracy, path.fits[near].potentials)
            tested.append(found.refitted.point.potentials)
        judged, excess = compare(
            judge, tested, [path.fits[place].potentials for path in self.paths]
        )
        if excess < ALLOWED:
            self.tested = self._test(self.fits.problem_at, fdr, self.tolerance)
        self.judged = judged
        return self.tested is not None

    def _test(
        self,
        problem_at: ProblemAt,
        fdr: float,
        tolerance: float,
        start: Potentials | None = None,
    ) -> StructureResult:
        """Return the network of tested edges; its search counts as a part of this one."""
        fits, pseudo = self.fits, problem_at(1.0).objective
        fits.check_time()
        if not isinstance(pseudo, PseudoLikelihood):
            pseudo = PseudoLikelihood(pseudo.sample)
        found = learn_structure(
            problem_at,
            pseudo,
            self.recipe,
            fdr=fdr,
            budget=fits.budget_left(),
            tolerance=tolerance,
            rng=self.rng,
            observer=fits.observer,
            start=start,
        )
        fits.include(found.outcome)
        return found

    def settle(self, refits: bool) -> None:
        """Fit all rows at the lambda chosen, to the tolerance; refit if the criterion does."""
        lam, start = self._best()
        steps = len(self.points) + 2
        self.fits.observer.on_stage(f"all rows at lambda {lam:.4g}", steps - 1, steps)
        self.outcome = self.fits.settle(self.recipe, lam, start, self.tolerance)
        self.fits.check(self.outcome)
        if refits:
            self.fits.check_time()
            self.refitted = self.fits.refit(lam, self.outcome.potentials, FINAL_ACCURACY)

    def result(self) -> Chosen:
        """Return the best so far."""
        fits, (lam, start) = self.fits, self._best()
        path, tested = tuple(sorted(self.points, key=lambda point: -point.lam)), self.tested
        if tested is not None:
            certified = replace(tested.outcome, trace=tuple(fits.trace))
            choice = replace(tested.choice, path=self._searched())
            return Chosen(certified, tested.refitted, path, choice, tested)
        outcome = self.outcome
        if outcome is None:
            # Only evaluated here: the weights are solved below, unless somebody is waiting.
            outcome = fits.weigh(lam, start, np.inf)
        outcome = fits.conclude(outcome, self.tolerance)
        path = tuple(replace(point, chosen=point.lam == lam) for point in path)
        return Chosen(outcome, self.refitted, path, self._choice(outcome, lam))

    def _best(self) -> tuple[float, Potentials]:
        """Return the best lambda so far, and a network of all rows near the one there."""
        if self.judge is None or not self.points:
            problem = self.fits.problem_at(self.top)
            return self.top, independent_potentials(problem.objective.sample)
        place = best(self.points, self.judge.basis.threshold)
        start: Potentials = self.paths[0].fits[place].potentials
        if self.judge.folds:
            start = self.judge.folds[0].lift(start)
        return self.points[place].lam, start

    def _choice(self, outcome: Outcome, lam: float) -> LambdaChoice:
        """Return how lambda was chosen."""
        stop = outcome.certificate.stop
        if self.judge is None:
            return LambdaChoice("one-row", lam)
        how = self.judge.basis.how
        if self.points:
            return LambdaChoice(how, lam, None if self.end else stop, path=self._searched())
        if not self.planned and stop in GOES_ON:
            return LambdaChoice("independent", lam)
        return LambdaChoice(how, lam, stop)

    def _searched(self) -> PathSearch:
        """Return the search along the path, in numbers."""
        assert self.judge is not None
        points, basis, walked = self.points, self.judge.basis, self.walked or len(self.points)
        return PathSearch(
            basis,
            len(points),
            points[0].lam,
            points[walked - 1].lam,
            points[best(points, basis.threshold)].criterion,
            self.end,
            points[self.planned - 1].lam if walked > self.planned else None,
            self.judged,
        )


def _steps(top: float, end: float) -> int:
    """Return how many lambdas a path from the top to an end has."""
    return 1 + int(np.ceil(np.log(end / top) / np.log(RATIO)))
