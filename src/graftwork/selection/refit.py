"""Refit a support without the sparsity penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from graftwork.data.encoded import EncodedRows
from graftwork.grafting import Budget, Problem
from graftwork.grafting.starts import strongest, with_pairs
from graftwork.inference.layout import Ints, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.objectives.protocol import independent_potentials
from graftwork.penalties import GroupL1
from graftwork.solvers import ProximalQuasiNewton, Solution
from graftwork.solvers.coordinates import searchable
from graftwork.solvers.solution import never


def normal_prior(sample: EncodedRows) -> float:
    """Return the ridge on the mean loss that a standard normal prior on every entry amounts to.

    It keeps weights finite where the data separate: a state that never meets another, an exact copy
    of a column.
    """
    return 0.5 / sample.total_weight


def unshrunk(problem: Problem) -> Problem:
    """Return the problem with a standard normal prior on every table entry, and no sparsity."""
    prior = normal_prior(problem.objective.sample)
    penalised = problem.penalty.unary_lam > 0 or problem.penalty.unary_l2 > 0
    ridge = GroupL1(0.0, prior, unary_l2=prior if penalised else 0.0)
    return replace(problem, penalty=ridge)


def refit(
    problem: Problem,
    start: Potentials,
    tolerance: float,
    before: Solution | None = None,
    halted: Callable[[], bool] = never,
    max_evaluations: int = 2000,
) -> Solution:
    """Return the weights of the edges in ``start`` fitted again, not shrunk by lambda.

    A standard normal prior on every table entry keeps them finite (see ``normal_prior``).

    Parameters
    ----------
    before : Solution, optional
        An earlier refit with some of these edges: their weights are better starts.
    halted : function
        True when there is no time left.
    max_evaluations : int
        Most evaluations of the loss.
    """
    smooth = unshrunk(problem)
    if before is not None:
        start = _carry(before.point.potentials, start)
    start = searchable(smooth.penalty, start)
    return ProximalQuasiNewton(max_evaluations).improve(
        problem.objective,
        smooth.penalty,
        smooth.blocks(start.layout),
        smooth.solution(start),
        tolerance,
        halted=halted,
    )


def _carry(old: Potentials, new: Potentials) -> Potentials:
    """Return ``new`` with the unaries of ``old`` and its tables of the edges both have."""
    weights = new.weights.copy()
    weights[: new.layout.n_unary] = old.weights[: new.layout.n_unary]
    shared = find_edges(old.layout, new.layout.edges)
    for e in np.flatnonzero(shared >= 0):
        new.layout.table(weights, int(e))[:] = old.layout.table(old.weights, int(shared[e]))
    return Potentials(new.layout, weights)


# A start need not be exact: the run solves it further anyway.
ACCURACY = 5e-4


@dataclass(frozen=True, slots=True, eq=False)
class Refitted:
    """Edges, with weights from a loose fit without the sparsity penalty.

    Weights that are not zero matter to methods of single features: they keep no tables of zeros.
    With an edge budget smaller than that, the strongest edges stay.

    Attributes
    ----------
    edges : (k, 2) int64
        Pairs of variables that vary, ``i < j`` in each row.
    """

    edges: Ints

    def begin(
        self,
        problem: Problem,
        budget: Budget,
        rng: np.random.Generator,
        halted: Callable[[], bool],
    ) -> Potentials:
        """Return the network of these edges."""
        empty = with_pairs(independent_potentials(problem.objective.sample), self.edges)
        fitted = refit(problem, empty, ACCURACY, halted=halted).point.potentials
        return strongest(fitted, budget.max_edges)
