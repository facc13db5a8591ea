"""lam="auto": a path down to the noise level, a criterion on the refitted models, the best refit.

The l1 penalty shrinks what it keeps, so a penalised fit says little about which support is best:
every support on the path is fitted again without the penalty, and those models are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import chi2

from graftwork.data.compact import Sample
from graftwork.grafting import Budget, Observer, Outcome, Problem, Recipe, Round, WorkingSet, graft
from graftwork.grafting.trace import Silence
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.objectives import PseudoLikelihood
from graftwork.objectives.protocol import Objective
from graftwork.penalties import Penalty
from graftwork.solvers import Solution
from graftwork.tuning.levels import Levels, find_levels
from graftwork.tuning.refit import refit

STEPS = 8
# Accuracy of fits that only serve the choice: relative to lambda, and of the refits.
PATH_ACCURACY = 0.1
REFIT_ACCURACY = 5e-4
# The optimum at a lambda does not depend on the way there, so the path takes the quickest.
PATH_RECIPE = Recipe("working-set", WorkingSet())
# The chance that one absent pair or more would pay for itself, over all pairs.
FALSE_EDGE = 0.05


@dataclass(frozen=True, slots=True)
class PathPoint:
    """One lambda of the path.

    ``loss`` and ``objective`` are of the penalised fit, ``refit_loss`` of the refitted one, and
    ``criterion`` is what was minimised (see ``edge_prices``).
    """

    lam: float
    n_edges: int
    loss: float
    objective: float
    refit_loss: float
    criterion: float
    chosen: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class AutoResult:
    """A network learned without a given lambda.

    Attributes
    ----------
    outcome : Outcome
        The penalised fit at the chosen lambda, with its certificate and the trace of everything.
    refitted : Solution
        The same edges, fitted without the penalty.
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


def edge_prices(problem: Problem, pairs: Ints) -> Floats:
    """Return what each edge must gain, in twice the log-likelihood, to be worth it.

    The quantile of the chi-square with (s_i - 1)(s_j - 1) degrees that chance exceeds for one of
    all pairs with probability ``FALSE_EDGE``. In a pseudo-likelihood an edge sits in two
    conditionals, which stretches the chi-square by between 1 and 2: 1.5 is used.
    """
    cards = problem.objective.sample.cards
    degrees = np.maximum(1, (cards[pairs[:, 0]] - 1) * (cards[pairs[:, 1]] - 1))
    stretch = 1.5 if isinstance(problem.objective, PseudoLikelihood) else 1.0
    prices: Floats = stretch * chi2.isf(FALSE_EDGE / max(1, problem.space.size), degrees)
    return prices


def learn_without_lambda(
    objective: Objective,
    penalty_at: Callable[[float], Penalty],
    objective_of: Callable[[Sample], Objective],
    recipe: Recipe,
    *,
    penalise_unary: bool = False,
    budget: Budget | None = None,
    tolerance: float = 1e-6,
    rng: np.random.Generator,
    observer: Observer | None = None,
) -> AutoResult:
    """Return the network whose refitted support has the best criterion along a lambda path.

    Parameters
    ----------
    penalty_at : function
        The penalty with a given lambda.
    objective_of : function
        The loss of another sample (used for permuted columns).
    """
    observer = observer or Silence()
    observer.on_stage("looking for the range of lambda", 0, STEPS + 2)
    levels = find_levels(Problem(objective, penalty_at(1.0), penalise_unary), objective_of, rng)
    walk = _Walk(objective, penalty_at, recipe, penalise_unary, budget, rng, observer)
    lams = _grid(levels)
    for step, lam in enumerate(lams):
        observer.on_stage(f"lambda {lam:.4g}", step + 1, len(lams) + 2)
        if not walk.step(lam):
            break
    best = int(np.argmin([point.criterion for point in walk.points]))
    lam = walk.points[best].lam
    observer.on_stage(f"final fit, lambda {lam:.4g}", len(lams) + 1, len(lams) + 2)
    outcome, refitted = walk.finish(best, tolerance)
    path = tuple(replace(p, chosen=k == best) for k, p in enumerate(walk.points))
    return AutoResult(outcome, refitted, path, levels, _words(path, best, levels, len(lams)))


class _Walk:
    """The way down the path: each fit starts from the one before."""

    def __init__(
        self,
        objective: Objective,
        penalty_at: Callable[[float], Penalty],
        recipe: Recipe,
        penalise_unary: bool,
        budget: Budget | None,
        rng: np.random.Generator,
        observer: Observer,
    ) -> None:
        self._objective, self._penalty_at, self._recipe = objective, penalty_at, recipe
        self._penalise_unary, self._budget = penalise_unary, budget
        self._rng, self._observer = rng, observer
        self.points: list[PathPoint] = []
        self._fits: list[tuple[Outcome, Solution]] = []
        self._trace: list[Round] = []

    def step(self, lam: float) -> bool:
        """Add one lambda; False when the walk should end (interrupted, or a budget is spent)."""
        start = self._fits[-1][0].potentials if self._fits else None
        outcome = self._graft(PATH_RECIPE, lam, start, PATH_ACCURACY * lam)
        problem = self._problem(lam)
        before = self._fits[-1][1] if self._fits else None
        try:
            refitted = refit(problem, outcome.potentials, REFIT_ACCURACY, before)
        except KeyboardInterrupt:
            if self._fits:
                return False
            refitted = outcome.solution
        n = problem.objective.sample.total_weight
        prices = edge_prices(problem, outcome.potentials.layout.edges)
        self.points.append(
            PathPoint(
                lam=lam,
                n_edges=len(prices),
                loss=outcome.solution.point.value,
                objective=outcome.solution.objective,
                refit_loss=refitted.point.value,
                criterion=2.0 * n * refitted.objective + float(prices.sum()),
            )
        )
        self._fits.append((outcome, refitted))
        return outcome.certificate.stop in ("optimal", "stalled")

    def finish(self, best: int, tolerance: float) -> tuple[Outcome, Solution]:
        """Return the chosen fit to full accuracy, and its refit."""
        outcome, refitted = self._fits[best]
        if not self._fits[-1][0].interrupted:
            lam = self.points[best].lam
            outcome = self._graft(self._recipe, lam, outcome.potentials, tolerance)
            try:
                refitted = refit(self._problem(lam), outcome.potentials, tolerance, refitted)
            except KeyboardInterrupt:
                outcome = replace(
                    outcome, certificate=replace(outcome.certificate, stop="interrupted")
                )
                refitted = outcome.solution
        else:
            stopped = replace(outcome.certificate, stop="interrupted", converged=False)
            outcome = replace(outcome, certificate=stopped)
        return replace(outcome, trace=tuple(self._trace)), refitted

    def _problem(self, lam: float) -> Problem:
        return Problem(self._objective, self._penalty_at(lam), self._penalise_unary)

    def _graft(
        self, recipe: Recipe, lam: float, start: Potentials | None, tolerance: float
    ) -> Outcome:
        outcome = graft(
            self._problem(lam),
            recipe,
            start=start,
            budget=self._budget,
            tolerance=tolerance,
            rng=self._rng,
            observer=self._observer,
        )
        self._trace.extend(outcome.trace)
        return outcome


def _grid(levels: Levels) -> list[float]:
    """Return the path, from just above the largest useful lambda to the noise level."""
    top = 1.02 * levels.largest
    if levels.largest <= 0.0:
        return [1.0]  # no pair depends at all: any lambda gives the empty network
    if levels.noise >= levels.largest or levels.noise <= 0.0:
        return [top]
    return [float(lam) for lam in np.geomspace(top, levels.noise, STEPS)]


def _words(path: tuple[PathPoint, ...], best: int, levels: Levels, planned: int) -> str:
    """Return how lambda was chosen, for people."""
    chosen = path[best]
    if levels.largest <= levels.noise:
        return (
            f"No pair depends more than chance would allow (strongest score {levels.largest:.3g}, "
            f"noise level {levels.noise:.3g}), so the network is left empty."
        )
    text = (
        f"lambda {chosen.lam:.4g} was chosen among {len(path)} values from {path[0].lam:.4g} "
        f"(no edge) to {path[-1].lam:.4g}"
        + (" (the noise level of shuffled columns)" if len(path) == planned else "")
        + ": its edges, refitted without the penalty, best repay what they cost."
    )
    if best == planned - 1 and planned > 1:
        text += " It is the smallest value tried: weaker dependences may exist below the noise level."
    if levels.sampled:
        text += " The range was estimated from a random sample of all pairs."
    return text
