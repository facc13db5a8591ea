"""A proximal quasi-Newton solver that ends on a stationarity residual.

Each step minimises a quadratic model of the loss plus the penalty itself. The model's curvature is
remembered from earlier steps and belongs to the loss alone, so it stays true when blocks come and
go and when lambda changes. Minimising the model costs no pass over the data. A step is taken only
when it lowers the objective.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from graftwork.inference.layout import Floats, Layout
from graftwork.kernels.quadratic import minimise_model
from graftwork.objectives.protocol import Loss
from graftwork.penalties.blocks import Blocks
from graftwork.penalties.protocol import Penalty
from graftwork.solvers.coordinates import Coordinates, Decoupled, choose_coordinates
from graftwork.solvers.memory import Hessian, Memory
from graftwork.solvers.newton import Sharpened
from graftwork.solvers.solution import Solution, measure, never, take_steps

# Objective values closer than this (relative) are equal up to rounding.
ROUNDING = 1e-14
LEAST_CURVATURE = 1e-8
# The model is solved to this share of the current residual, in at most this number of inner steps.
MODEL_ACCURACY = 0.2
MODEL_STEPS = 60
_NO_TABLES = Layout.of([], [])


@dataclass(frozen=True, slots=True)
class ProximalQuasiNewton:
    """Steps that minimise a limited-memory model of the loss plus the penalty."""

    max_evaluations: int = 2000
    memory: int = 10

    def improve(
        self,
        objective: Loss,
        penalty: Penalty,
        blocks: Blocks,
        solution: Solution,
        tolerance: float,
        steps: int | None = None,
        halted: Callable[[], bool] = never,
    ) -> Solution:
        """Return a solution whose residual is at most ``tolerance``, or the best reached."""
        coordinates = choose_coordinates(objective, penalty, blocks)
        problem = Composite(objective, penalty, blocks, coordinates, self.memory)
        step = problem.step if steps is not None else Sharpened(problem, problem.step)
        return take_steps(step, solution, tolerance, steps, self.max_evaluations, halted)


@dataclass(frozen=True, slots=True, eq=False)
class Composite:
    """A loss plus a penalty on fixed blocks, in some coordinates; ``step`` improves a solution."""

    objective: Loss
    penalty: Penalty
    blocks: Blocks
    coordinates: Coordinates
    most_memory: int

    def evaluate(self, weights: Floats, near: Solution) -> Solution:
        """Return the solution at other weights."""
        point = self.objective.at(replace(near.point.potentials, weights=weights), near.point)
        return measure(point, self.penalty, self.blocks, near.evaluations + 1, near.memory)

    def step(self, current: Solution) -> Solution:
        """Return the solution after one step; damped until it lowers the objective."""
        weights = self.coordinates.enter(current.point.potentials.weights)
        gradient = self.coordinates.slope(current.point.gradient)
        metric = np.maximum(current.point.curvature, LEAST_CURVATURE)
        hessian = undamped = current.memory.hessian(metric)
        damping, spent = 0.0, current
        while True:
            if damping:
                hessian = replace(undamped, diagonal=undamped.diagonal + damping * metric)
            model = _Model(self, hessian, gradient, weights, self.blocks.largest(metric))
            after = model.minimise(MODEL_ACCURACY * current.residual)
            if after is weights:  # no way down by this model: forget it, or give up
                return replace(spent, memory=Memory(), stalled=not current.memory.pairs)
            promised = model.value(after) - (current.objective - current.point.value)
            trial = self.evaluate(self.coordinates.leave(after), spent)
            allowed = 1e-4 * promised + ROUNDING * abs(current.objective)
            if trial.objective <= current.objective + allowed:
                break
            spent = replace(current, evaluations=trial.evaluations)
            if damping > 1e9 or promised >= 0.0:
                return replace(spent, memory=Memory(), stalled=not current.memory.pairs)
            damping = max(0.5, 4.0 * damping)
        change = self.coordinates.slope(trial.point.gradient) - gradient
        memory = current.memory.remember(after - weights, change, self.most_memory)
        return replace(trial, memory=memory)


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """The quadratic model of the loss around ``centre`` plus the exact penalty."""

    problem: Composite
    hessian: Hessian
    gradient: Floats
    centre: Floats
    curvature: Floats

    def value(self, weights: Floats) -> float:
        step = weights - self.centre
        bent = self.hessian.multiply(step)
        return float(self.gradient @ step + 0.5 * (step @ bent)) + self.problem.penalty.value(
            self.problem.blocks, weights
        )

    def minimise(self, tolerance: float) -> Floats:
        """Return weights that nearly minimise the model: accelerated proximal steps, no data.

        They are the centre itself where the model bends down and so tells nothing.
        """
        blocks, coordinates = self.problem.blocks, self.problem.coordinates
        shrinkage = getattr(self.problem.penalty, "shrinkage", None)
        if shrinkage is None:
            return self.minimise_by(tolerance)
        lam, l2 = shrinkage(blocks)
        tables = _NO_TABLES
        if isinstance(coordinates, Decoupled) and coordinates.centred:
            tables = coordinates.layout
        weights, up = minimise_model(
            self.gradient, self.centre, self.hessian.diagonal, self.hessian.factors,
            self.hessian.middle, self.curvature, blocks.offsets, blocks.free,
            self.problem.penalty.separable, lam, l2, tables is not _NO_TABLES, tables.cards,
            tables.edges, tables.edge_offsets, *blocks.where_parts, tolerance, MODEL_STEPS,
        )  # fmt: skip
        return weights if up else self.centre

    def minimise_by(self, tolerance: float) -> Floats:
        """Return the same by the penalty's own proximal step, for a penalty without `shrinkage`."""
        blocks, penalty = self.problem.blocks, self.problem.penalty
        metric = blocks.spread(self.curvature)
        scale, momentum, factor = 1.0, 1.0, 0.0
        weights, bent = self.centre, np.zeros_like(self.centre)
        previous, bent_before = weights, bent
        for _ in range(MODEL_STEPS):
            ahead = weights + factor * (weights - previous)
            bent_ahead = bent + factor * (bent - bent_before)
            target = ahead - (self.gradient + bent_ahead) / (scale * metric)
            after = np.where(
                blocks.free, penalty.prox(blocks, target, scale * self.curvature), ahead
            )
            bent_after = self.problem.coordinates.project(
                self.hessian.multiply(after - self.centre)
            )
            move = after - ahead
            length = float(move @ (metric * move))
            ratio = float(move @ (bent_after - bent_ahead)) / max(length, 1e-300)
            if (after - self.centre) @ bent_after < 0:
                return self.centre  # a model that bends down tells nothing: the caller forgets it
            if ratio > scale:  # the step was too bold for the model's curvature
                scale, momentum, factor = 1.5 * ratio, 1.0, 0.0
                continue
            if blocks.largest(scale * metric * move).max() <= tolerance:
                return after
            if move @ (metric * (after - weights)) < 0:  # momentum points uphill: start it anew
                momentum = 1.0
            longer = 0.5 + np.sqrt(0.25 + momentum * momentum)
            factor, momentum = (momentum - 1.0) / longer, longer
            previous, bent_before, weights, bent = weights, bent, after, bent_after
        return weights
