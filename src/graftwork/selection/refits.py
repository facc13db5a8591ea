"""Edges fitted again without the sparsity penalty.

For tests a few digits are enough while pairs come and go, and all of them at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from graftwork.data.encoded import EncodedRows
from graftwork.data.scores import LINEAR_PRECISION
from graftwork.grafting import Budget, NetworkFamily, Problem
from graftwork.grafting.networks import only
from graftwork.grafting.starts import strongest, with_pairs
from graftwork.inference.layout import Ints, Layout, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.objectives.protocol import independent_potentials
from graftwork.penalties import GroupL1
from graftwork.solvers import ProximalQuasiNewton, Solution
from graftwork.solvers.coordinates import searchable
from graftwork.solvers.memory import Memory
from graftwork.solvers.newton import Curvature, has_hessian, newton, switch, switch_nearby
from graftwork.solvers.solution import never

Curved = frozenset[tuple[int, int]]

# Refits are solved to this before a test, and to this share of a slope's standard error: with
# millions of rows a residual would look like dependence. Newton steps take over after this many
# evaluations.
REFIT_ACCURACY, ERROR_SHARE = 2e-4, 0.05
MOST_EVALUATIONS = 30
# Those of a resample at once: they begin near the weights that its sample has.
RESAMPLE_EVALUATIONS = 0
# Where variables have too many states for those, this many evaluations must do.
LAST_EVALUATIONS = 200
# At the end Newton steps go on to rounding errors; where there are none, this must do.
LAST_DIGITS = 1e-13
FINAL_ACCURACY = 1e-5
# Networks of more variables than this are large: see `OtherWay`.
LARGE = 1000
# Of a resample this: it moves a strength by a hundredth of what that varies by from one to another.
RESAMPLE_ACCURACY = 1e-4
# A start need not be exact: the run solves it further anyway.
START_ACCURACY = 5e-4


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


@dataclass(frozen=True, slots=True, eq=False)
class Refitted:
    """Edges, with weights from a loose fit without the sparsity penalty.

    Weights that are not zero matter to methods of single features: they keep no tables of zeros.
    With an edge budget smaller than that, the strongest edges stay.
    """

    edges: Ints  # (k, 2): pairs of variables that vary, ``i < j`` in each row

    def begin(
        self,
        problem: Problem,
        budget: Budget,
        rng: np.random.Generator,
        halted: Callable[[], bool],
    ) -> Potentials:
        """Return the network of these edges."""
        empty = with_pairs(independent_potentials(problem.objective.sample), self.edges)
        fitted = refit(problem, empty, START_ACCURACY, halted=halted).point.potentials
        return strongest(fitted, budget.max_edges)


@dataclass(frozen=True, slots=True, eq=False)
class Refits:
    """How networks are refitted for tests."""

    problem: Problem  # the pseudo-likelihood; refits leave its sparsity penalty out
    # the network of almost the same rows: refits begin with its weights, as far as they have its
    # edges
    near: Potentials | None = None
    # whether the rows were drawn with replacement: such rows are noisier, so their refits need
    # fewer digits
    resampled: bool = False
    # true when there is no time left: refits then end where they are
    halted: Callable[[], bool] = never

    @property
    def enough(self) -> float:
        """The accuracy that the last refit must have."""
        return RESAMPLE_ACCURACY if self.resampled else FINAL_ACCURACY

    @property
    def accuracy(self) -> float:
        """The accuracy that refits have before a test."""
        rows = max(float(self.problem.objective.sample.total_weight), 1.0)
        few = RESAMPLE_ACCURACY if self.resampled else REFIT_ACCURACY
        return min(few, ERROR_SHARE / math.sqrt(rows))

    def fit(self, start: Potentials, before: Solution | None = None) -> Solution:
        """Return a network refitted well enough for a test."""
        start, enough = self.known(start), self.accuracy
        fitted = refit(
            self.problem, start, enough, before, self.halted, max_evaluations=self._evaluations
        )
        return self.sharpen(fitted, enough, enough)

    def finish(self, fitted: Solution) -> Solution:
        """Return a refit solved to the last digits; that of a resample has all it needs."""
        wanted = self.enough if self.resampled else LAST_DIGITS
        return self.sharpen(fitted, wanted, self.enough)

    def sharpen(self, fitted: Solution, wanted: float, at_least: float) -> Solution:
        """Return a refit solved further by Newton steps, or without if states are too many."""
        if fitted.residual <= wanted or self.halted():
            return fitted
        smooth = unshrunk(self.problem)
        if _has_free_unaries(smooth):
            fitted = newton(smooth.on(fitted.point.potentials.layout), fitted, wanted, self.halted)
        if fitted.residual > at_least:
            start = fitted.point.potentials
            fitted = refit(
                self.problem,
                start,
                at_least,
                halted=self.halted,
                max_evaluations=LAST_EVALUATIONS,
            )
        return fitted

    @property
    def _evaluations(self) -> int:
        return RESAMPLE_EVALUATIONS if self.resampled else MOST_EVALUATIONS

    def known(self, start: Potentials) -> Potentials:
        """Return a start with the weights that almost the same rows have."""
        return start if self.near is None else carry(self.near, start)


class OtherWay:
    """Refits of the networks that differ from one in a single pair.

    Mostly their weights move near the pair alone: the curvature of the network as it is serves all
    pairs that are looked at. In large networks only the weights at the pair's two variables move;
    in others refits are exact.
    """

    def __init__(self, refits: Refits, here: Solution) -> None:
        self._refits, self.here = refits, here
        self._curvature: Curvature | None = None

    def fit(self, pair: Ints) -> Solution:
        """Return the refit with one pair, of shape (1, 2), the other way."""
        refits, start = self._refits, switched(self.here.point.potentials, pair)
        smooth = unshrunk(refits.problem)
        sample, free = smooth.objective.sample, _has_free_unaries(smooth)
        if start.layout.n_variables > LARGE:
            if free and has_hessian(sample, start.layout, pair[0]):
                near = smooth.solution(start, None, self.here)
                return switch_nearby(smooth.on(start.layout), near, pair[0])
        elif free and has_hessian(sample, start.layout):
            if self._curvature is None:
                whole = smooth.on(self.here.point.potentials.layout)
                self._curvature = Curvature.of(whole, self.here)
            wanted = refits.enough if refits.resampled else LAST_DIGITS
            near = smooth.solution(start)
            there = switch(smooth.on(start.layout), self._curvature, near, pair[0], wanted)
            if there.residual <= refits.enough:
                return there
        return refits.finish(refits.fit(start, self.here))


def switched(potentials: Potentials, pairs: Ints) -> Potentials:
    """Return the network with those of some pairs that are absent, without those that are edges."""
    layout = potentials.layout
    places = find_edges(layout, pairs)
    kept = np.ones(layout.n_edges, dtype=bool)
    kept[places[places >= 0]] = False
    return with_pairs(only(potentials, kept), pairs[places < 0])


def _has_free_unaries(problem: Problem) -> bool:
    """Return whether unaries are not penalised: Newton steps need that."""
    return not (problem.penalty.unary_lam or problem.penalty.unary_l2)
