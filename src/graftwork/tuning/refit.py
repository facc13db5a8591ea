"""Refit a support without the sparsity penalty."""

from __future__ import annotations

from graftwork.grafting import Problem
from graftwork.inference.layout import Potentials
from graftwork.penalties import GroupL1
from graftwork.solvers import ProximalQuasiNewton, Solution


def refit(problem: Problem, start: Potentials, tolerance: float) -> Solution:
    """Return the weights of the edges in ``start`` fitted again, not shrunk by lambda.

    A standard normal prior on every table entry (a ridge of 1/N on the mean loss) keeps the weights
    finite where the data separate: a state that never meets another, an exact copy of a column.
    """
    ridge = GroupL1(0.0, 0.5 / problem.objective.sample.total_weight)
    unshrunk = Problem(problem.objective, ridge, problem.penalise_unary)
    return ProximalQuasiNewton().improve(
        problem.objective,
        ridge,
        unshrunk.blocks(start.layout),
        unshrunk.solution(start),
        tolerance,
    )
