"""Refit a support without the sparsity penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from graftwork.data.encoded import EncodedRows
from graftwork.grafting import Budget, NetworkFamily, Problem
from graftwork.grafting.starts import strongest, with_pairs
from graftwork.inference.layout import Ints, Layout, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.objectives.protocol import independent_potentials
from graftwork.penalties import GroupL1
from graftwork.penalties.blocks import LINEAR_PRECISION
from graftwork.solvers import ProximalQuasiNewton, Solution
from graftwork.solvers.coordinates import searchable
from graftwork.solvers.memory import Memory
from graftwork.solvers.solution import never

Curved = frozenset[tuple[int, int]]


def normal_prior(sample: EncodedRows) -> float:
    """Return the ridge on the mean loss that a standard normal prior on every entry amounts to.

    It keeps weights finite where the data separate: a state that never meets another, an exact copy
    of a column.
    """
    return 0.5 / sample.total_weight


def bent(problem: Problem, curved: Curved | None) -> Problem:
    """Return the problem with whole tables for some pairs of ordered variables alone."""
    return replace(problem, family=replace(cast(NetworkFamily, problem.family), curved=curved))


def unshrunk(problem: Problem) -> Problem:
    """Return the problem without sparsity, with a normal prior on tables.

    Standard normal on every entry, and wider on linear parts (see ``LINEAR_PRECISION``).
    """
    prior = normal_prior(problem.objective.sample)
    penalised = problem.penalty.unary_lam > 0 or problem.penalty.unary_l2 > 0
    unaries, lines = prior if penalised else 0.0, LINEAR_PRECISION * prior
    return replace(problem, penalty=GroupL1(0.0, prior, unary_l2=unaries, linear_l2=lines))


def refit(
    problem: Problem,
    start: Potentials,
    tolerance: float,
    before: Solution | None = None,
    halted: Callable[[], bool] = never,
    max_evaluations: int = 2000,
) -> Solution:
    """Return the weights of the edges in ``start`` fitted again, not shrunk by lambda.

    A normal prior on tables keeps them finite (see ``unshrunk``).

    Parameters
    ----------
    before : Solution, optional
        An earlier refit with some of these edges: their weights are better starts.
    halted : function
        True when there is no time left.
    max_evaluations : int
        Most evaluations of the loss.
    """
    smooth, memory = unshrunk(problem), Memory()
    if before is not None:
        old = before.point.potentials
        start = carry(old, start)
        sources, targets = shared_entries(old.layout, start.layout)
        memory = before.memory.move(sources, start.layout.size, targets)
    start = searchable(smooth.penalty, _alone_as_observed(smooth, start))
    parts = problem.family.parts(start.layout)
    if parts is not None:  # of tables of ordered variables perhaps only the linear part
        start = replace(start, weights=parts.project(start.weights))
    return ProximalQuasiNewton(max_evaluations).improve(
        problem.objective,
        smooth.penalty,
        smooth.blocks(start.layout),
        smooth.solution(start, memory),
        tolerance,
        halted=halted,
    )


def _alone_as_observed(smooth: Problem, start: Potentials) -> Potentials:
    """Return a start in which variables without an edge have the unaries that they end with.

    Those of a variable that lost a strong edge may be so large that a probability rounds to 1, and
    then nothing tells the way back.
    """
    layout, penalty = start.layout, smooth.penalty
    alone = np.ones(layout.n_variables, dtype=bool)
    alone[layout.edges] = False
    if penalty.unary_lam or penalty.unary_l2 or not alone.any():
        return start
    weights, states = start.weights.copy(), np.repeat(alone, layout.cards)
    observed = independent_potentials(smooth.objective.sample).weights
    weights[: layout.n_unary][states] = observed[: layout.n_unary][states]
    return replace(start, weights=weights)


def carry(old: Potentials, new: Potentials) -> Potentials:
    """Return ``new`` with the unaries of ``old`` and its tables of the edges both have."""
    weights = new.weights.copy()
    sources, targets = shared_entries(old.layout, new.layout)
    weights[targets] = old.weights[sources]
    return Potentials(new.layout, weights)


def shared_entries(old: Layout, new: Layout) -> tuple[Ints, Ints]:
    """Return where unaries, and tables of edges that both have, stand in two layouts."""
    places = find_edges(old, new.edges)
    both = np.flatnonzero(places >= 0)
    unaries = np.arange(new.n_unary)
    return (
        np.concatenate([unaries, old.entries(places[both])]),
        np.concatenate([unaries, new.entries(both)]),
    )


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
