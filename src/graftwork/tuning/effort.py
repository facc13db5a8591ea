"""How much work a method usually does: evaluations, scorings, countings.

The numbers are typical of real fits (``benchmarks/estimates.py`` compares), not bounds: how far a
solver has to go depends on the data in ways that only a fit finds out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from graftwork.grafting import (
    Everything,
    Exhaustive,
    GivenEdges,
    PriorityQueue,
    Recipe,
    Reservoir,
    WorkingSet,
)
from graftwork.solvers import GaussSeidel, ToConvergence
from graftwork.tuning.criteria import Criterion
from graftwork.tuning.criteria.adaptive import Adaptive
from graftwork.tuning.criteria.held_out import HoldOut, KFold
from graftwork.tuning.criteria.information import EbicRefit
from graftwork.tuning.criteria.stars import Stars

# Lambdas of a path to the noise level (with the certified fit), of one well below it, and what a
# last fit counts as.
SHORT, DEEP, LAST = 6, 14, 1
# Evaluations at each lambda of these: the smaller lambda, the more.
EACH_SHORT, EACH_DEEP = 15.0, 30.0


@dataclass(frozen=True, slots=True)
class Effort:
    """Work in whole-network units.

    Attributes
    ----------
    evaluations : float
        Of the loss, each at ``edges`` edges.
    edges : float
        Mean number of edges while evaluating and scoring.
    points : float
        Points at which pairs are scored: each needs its conditionals (or messages) once.
    scored, counted : float
        Pairs scored at those, and tables counted.
    operations : float
        Floating point operations of products of matrices.
    upkeep : float
        Steps that take nothing but what each takes beside its evaluation: few rows are looked at.

    Examples
    --------
    >>> both = Effort(10, 4, 2, 6, 6) + Effort(30, 8, 0, 0, 6)
    >>> both.evaluations, both.edges, both.counted
    (40, 7.0, 12)
    """

    evaluations: float
    edges: float
    points: float
    scored: float
    counted: float
    operations: float = 0.0
    upkeep: float = 0.0

    def __add__(self, other: Effort) -> Effort:
        evaluations = self.evaluations + other.evaluations
        edges = self.evaluations * self.edges + other.evaluations * other.edges
        return Effort(
            evaluations,
            edges / max(1.0, evaluations),
            self.points + other.points,
            self.scored + other.scored,
            self.counted + other.counted,
            self.operations + other.operations,
            self.upkeep + other.upkeep,
        )

    def times(self, count: float, share: float = 1.0) -> Effort:
        """Return this work done so often, each time with a share of the rows.

        Examples
        --------
        >>> twice = Effort(10, 4, 2, 6, 6).times(2, 0.5)
        >>> twice.evaluations, twice.upkeep
        (10.0, 12.0)
        """
        much = count * share
        left = (count - much) * (self.evaluations + self.points) + count * self.upkeep
        return Effort(
            much * self.evaluations,
            self.edges,
            much * self.points,
            much * self.scored,
            much * self.counted,
            much * self.operations,
            left,
        )


def effort_of_structure(edges: int, pairs: int, operations: float, *, newton: bool) -> Effort:
    """Return what goal="structure" does: levels, path, certified fit, refits, tests.

    Parameters
    ----------
    edges, pairs : int
        Edges of the short list; all pairs.
    operations : float
        Of the tests and Newton steps.
    newton : bool
        Whether there are Newton steps; else refits take more evaluations.

    Examples
    --------
    >>> effort_of_structure(100, 1000, 1e9, newton=True).counted
    1000.0
    """
    refits = 100.0 if newton else 1200.0
    path = _path(0.7 * edges, pairs, SHORT, EACH_SHORT)
    return path + Effort(min(refits, 20.0 + 20.0 * edges), edges, 0.0, 0.0, 0.0, operations)


def effort_of_choice(criterion: Criterion, edges: int, pairs: int, rows: float) -> Effort:
    """Return what a criterion does to choose lambda, with the fit to all rows after it.

    Parameters
    ----------
    edges, pairs : int
        Edges that are expected at the lambda chosen; all pairs.
    rows : float
        Total weight of the rows.

    Examples
    --------
    >>> from graftwork.tuning.criteria.held_out import HoldOut, KFold
    >>> one = effort_of_choice(HoldOut(), 100, 1000, 5000)
    >>> effort_of_choice(KFold(5), 100, 1000, 5000).evaluations > one.evaluations
    True
    """
    # what looks for a minimum has to go on beyond it, where most edges are noise
    wide = edges if predicts(criterion) else math.sqrt(edges * pairs)
    deep = _path(0.7 * wide, pairs, DEEP, EACH_DEEP)
    last = _path(edges, pairs, LAST, EACH_DEEP)
    if isinstance(criterion, KFold):
        return deep.times(criterion.folds, 1.0 - 1.0 / criterion.folds) + last
    if isinstance(criterion, HoldOut):
        return deep.times(1, 1.0 - criterion.share) + last
    short = _path(0.7 * edges, pairs, SHORT, EACH_SHORT)
    if isinstance(criterion, Stars):
        size = criterion.size or min(10.0 * math.sqrt(rows), 0.8 * rows)
        return short.times(criterion.subsamples, min(1.0, size / max(1.0, rows))) + last
    refits = Effort(20.0 * DEEP, edges, 0.0, 0.0, 0.0)
    if isinstance(criterion, Adaptive):
        return short + _path(edges, edges, DEEP, EACH_SHORT) + refits
    return deep + last + refits if isinstance(criterion, EbicRefit) else deep + last


def predicts(criterion: Criterion | None) -> bool:
    """Return whether a criterion is how well rows held out are predicted.

    Examples
    --------
    >>> predicts(HoldOut()), predicts(Stars()), predicts(None)
    (True, False, False)
    """
    return isinstance(criterion, HoldOut | KFold)


def _path(edges: float, pairs: int, steps: int, each: float) -> Effort:
    """Return what a path of so many lambdas does, with so many evaluations at each."""
    evaluations = min(each * steps, 4.0 * steps + 4.0 * edges)
    return Effort(evaluations, edges, 3.5 * steps, 1.2 * steps * pairs, 1.0 * pairs)


def effort_of_fit(recipe: Recipe, edges: int, pairs: int, variables: int, cells: float) -> Effort:
    """Return what a recipe does at one lambda, from a network without edges.

    Parameters
    ----------
    edges, pairs, variables : int
        Expected edges; all pairs of variables; variables that vary.
    cells : float
        Features of an edge, where single features are activated, else 1.

    Examples
    --------
    >>> from graftwork.recipes.best_choice import best_choice
    >>> effort_of_fit(best_choice(), 100, 1000, 50, 1).evaluations
    140.0
    """
    selector = recipe.selector
    if recipe.exchange is not None:
        return Effort(1500.0, edges, 200.0, 100.0 * pairs, 1.0 * pairs)
    if isinstance(selector, GivenEdges):
        return Effort(50.0, edges, 0.0, 0.0, 1.0 * pairs)
    if isinstance(selector, Everything):
        return Effort(80.0, 0.8 * pairs, 3.0, 1.0 * pairs, 1.0 * pairs)
    if isinstance(selector, Reservoir):
        size = min(variables, selector.size or variables) + (selector.tests or math.sqrt(variables))
        rounds = (0.6 if selector.tests is None else 1.3) * edges
        scored = 1.5 * pairs + rounds * size
        each = 1.2 if selector.tests is None else 3.2
        return Effort(20.0 + each * edges, 0.65 * edges, rounds, scored, 1.0 * pairs)
    if isinstance(selector, Exhaustive):
        return _exhaustive(recipe, selector, edges, pairs, cells)
    if isinstance(selector, WorkingSet):
        return Effort(30.0 + 0.2 * edges, 0.9 * edges, 15.0, 3.5 * pairs, 1.0 * pairs)
    if isinstance(selector, PriorityQueue):
        return Effort(20.0 + 9.0 * edges, 0.65 * edges, 2.0 * edges, 3.0 * pairs, 1.0 * pairs)
    return Effort(20.0 + 2.0 * edges, 0.7 * edges, 10.0, 5.0 * pairs, 1.0 * pairs)


def _exhaustive(
    recipe: Recipe, selector: Exhaustive, edges: int, pairs: int, cells: float
) -> Effort:
    blocks = edges * cells
    rounds = max(5.0, 1.2 * blocks / (selector.count or max(1.0, blocks)))
    each = 25.0 if isinstance(recipe.solver, GaussSeidel) else 2.5
    if isinstance(recipe.schedule, ToConvergence):
        each = max(each, 13.0)
    return Effort(20.0 + each * rounds, 0.6 * edges, rounds, rounds * pairs, 1.0 * pairs)
