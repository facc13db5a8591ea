"""Refit a support without the sparsity penalty."""

from __future__ import annotations

import numpy as np

from graftwork.grafting import Problem
from graftwork.inference.layout import Potentials
from graftwork.inference.pairs import find_edges
from graftwork.penalties import GroupL1
from graftwork.solvers import ProximalQuasiNewton, Solution
from graftwork.solvers.coordinates import searchable


def refit(
    problem: Problem, start: Potentials, tolerance: float, before: Solution | None = None
) -> Solution:
    """Return the weights of the edges in ``start`` fitted again, not shrunk by lambda.

    A standard normal prior on every table entry (a ridge of 1/N on the mean loss) keeps the weights
    finite where the data separate: a state that never meets another, an exact copy of a column.

    Parameters
    ----------
    before : Solution, optional
        An earlier refit with some of these edges: their weights are better starts.
    """
    prior = 0.5 / problem.objective.sample.total_weight
    penalised = problem.penalty.unary_lam > 0 or problem.penalty.unary_l2 > 0
    ridge = GroupL1(0.0, prior, unary_l2=prior if penalised else 0.0)
    unshrunk = Problem(problem.objective, ridge)
    if before is not None:
        start = _carry(before.point.potentials, start)
    start = searchable(ridge, start)
    return ProximalQuasiNewton().improve(
        problem.objective,
        ridge,
        unshrunk.blocks(start.layout),
        unshrunk.solution(start),
        tolerance,
    )


def _carry(old: Potentials, new: Potentials) -> Potentials:
    """Return ``new`` with the unaries of ``old`` and its tables of the edges both have."""
    weights = new.weights.copy()
    weights[: new.layout.n_unary] = old.weights[: new.layout.n_unary]
    shared = find_edges(old.layout, new.layout.edges)
    for e in np.flatnonzero(shared >= 0):
        new.layout.table(weights, int(e))[:] = old.layout.table(old.weights, int(shared[e]))
    return Potentials(new.layout, weights)
