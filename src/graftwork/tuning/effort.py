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
)
from graftwork.solvers import GaussSeidel, ToConvergence


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

    Examples
    --------
    >>> Effort(10, 4, 2, 6, 6) + Effort(30, 8, 0, 0, 6)
    Effort(evaluations=40, edges=7.0, points=2, scored=6, counted=12)
    """

    evaluations: float
    edges: float
    points: float
    scored: float
    counted: float

    def __add__(self, other: Effort) -> Effort:
        evaluations = self.evaluations + other.evaluations
        edges = self.evaluations * self.edges + other.evaluations * other.edges
        return Effort(
            evaluations,
            edges / max(1.0, evaluations),
            self.points + other.points,
            self.scored + other.scored,
            self.counted + other.counted,
        )


def effort_of_path(edges: int, pairs: int) -> Effort:
    """Return what lam="auto" does before its last fit: levels, path, refits.

    Examples
    --------
    >>> effort_of_path(100, 1000).counted
    4000.0
    """
    evaluations = min(400.0, 40.0 + 5.0 * edges)
    return Effort(evaluations, 1.0 * edges, 35.0, 24.0 * pairs, 4.0 * pairs)


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
    >>> from graftwork.recipes import best_choice
    >>> effort_of_fit(best_choice(), 100, 1000, 50, 1).evaluations
    340.0
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
        rounds = 1.3 * edges
        scored = 1.5 * pairs + rounds * size
        return Effort(20.0 + 3.2 * edges, 0.65 * edges, rounds, scored, 1.0 * pairs)
    if isinstance(selector, Exhaustive):
        return _exhaustive(recipe, selector, edges, pairs, cells)
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
