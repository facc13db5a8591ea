"""A proximal solver that ends on a stationarity residual.

Proximal gradient steps (block metric from measured curvature, Barzilai-Borwein scaling) find which
blocks are zero; quasi-Newton steps on the blocks that are not make it converge fast. Both kinds are
taken only when they lower the objective, so the composition cannot go wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from graftwork.inference.layout import Floats, Potentials
from graftwork.objectives.protocol import Objective, Point
from graftwork.penalties.blocks import Blocks
from graftwork.penalties.protocol import Penalty
from graftwork.solvers.memory import Memory

# Objective values closer than this (relative) are equal up to rounding.
ROUNDING = 1e-13
SMALLEST_BEND = 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Where a solver stopped.

    Attributes
    ----------
    point : Point
        The loss evaluated there.
    objective : float
        Loss plus penalty.
    residual : float
        Largest distance to stationarity over the active blocks (see ``Penalty.residuals``).
    evaluations : int
        How many times the loss was evaluated.
    memory : Memory
        Curvature to start the next solve from.
    stalled : bool
        Whether it stopped because no step lowers the objective any more (rounding, or a gradient
        that is not the gradient of the value: unconverged inference).
    """

    point: Point
    objective: float
    residual: float
    evaluations: int = 0
    memory: Memory = field(default_factory=Memory)
    stalled: bool = False


class Solver(Protocol):
    """Improves the weights of a fixed set of active blocks."""

    def improve(
        self,
        objective: Objective,
        penalty: Penalty,
        blocks: Blocks,
        solution: Solution,
        tolerance: float,
    ) -> Solution:
        """Return a solution no worse than the one given."""
        ...


@dataclass(frozen=True, slots=True)
class ProximalQuasiNewton:
    """Proximal gradient steps with quasi-Newton steps on the non-zero blocks in between.

    Parameters
    ----------
    max_evaluations : int
        Most evaluations of the loss in one solve.
    memory : int
        How many curvature pairs to keep.
    newton_steps : int
        Most quasi-Newton steps between two proximal steps.
    """

    max_evaluations: int = 2000
    memory: int = 10
    newton_steps: int = 6

    def improve(
        self,
        objective: Objective,
        penalty: Penalty,
        blocks: Blocks,
        solution: Solution,
        tolerance: float,
    ) -> Solution:
        """Return a solution whose residual is at most ``tolerance``, or the best reached."""
        problem = _Problem(objective, penalty, blocks, self.memory)
        current, scale, newton_left = solution, 1.0, 0
        while (
            current.residual > tolerance
            and not current.stalled
            and current.evaluations - solution.evaluations < self.max_evaluations
        ):
            if newton_left > 0:
                step = problem.quasi_newton_step(current)
                newton_left = newton_left - 1 if step is not None else 0
                current = step or replace(current, evaluations=current.evaluations + 1)
            else:
                current, scale = problem.proximal_step(current, scale)
                newton_left = self.newton_steps if current.memory.pairs else 0
        return current


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """One composite objective on fixed blocks, and the two kinds of steps on it."""

    objective: Objective
    penalty: Penalty
    blocks: Blocks
    most_memory: int

    def evaluate(self, weights: Floats, near: Solution) -> Solution:
        point = self.objective.at(Potentials(self.blocks.layout, weights), near.point)
        return measure(point, self.penalty, self.blocks, near.evaluations + 1, near.memory)

    def gradient(self, solution: Solution) -> Floats:
        """Return the gradient, inside the centred tables where the optimum lies there."""
        raw = solution.point.gradient
        free_unaries = not self.blocks.penalised[: self.blocks.layout.n_variables].any()
        return self.blocks.centred(raw) if self.penalty.centres and free_unaries else raw

    def bend(self, solution: Solution) -> Floats:
        return np.maximum(solution.point.curvature, SMALLEST_BEND)

    def proximal_step(self, current: Solution, scale: float) -> tuple[Solution, float]:
        """Return the next solution and the next scale of the metric."""
        weights, gradient = current.point.potentials.weights, self.gradient(current)
        bend = self.bend(current)
        metric = self.blocks.spread(bend)
        spent = current
        while True:
            target = weights - gradient / (scale * metric)
            after = self.penalty.prox(self.blocks, target, scale * bend)
            step = after - weights
            length = float(step @ (metric * step))
            trial = self.evaluate(after, spent)
            enough = current.objective - 1e-4 * scale * length
            if trial.objective <= enough + ROUNDING * abs(current.objective):
                break
            spent = replace(current, evaluations=trial.evaluations)
            if scale > 1e12 or length == 0.0:
                return replace(spent, stalled=True), scale
            scale *= 2.0
        change = self.gradient(trial) - gradient
        next_scale = float(np.clip(step @ change / max(length, 1e-300), 0.05, 1e3))
        return self._remember(current, trial), next_scale

    def quasi_newton_step(self, current: Solution) -> Solution | None:
        """Return the solution after a step on the non-zero blocks, or None if it did not help."""
        weights = current.point.potentials.weights
        slope, smooth = self.penalty.slope(self.blocks, weights)
        gradient = (self.gradient(current) + slope) * smooth
        memory = current.memory.restrict(smooth)
        if not memory.pairs:
            return None
        step = memory.direction(gradient, self.blocks.spread(self.bend(current))) * smooth
        trial = self.evaluate(weights + step, current)
        if not trial.objective <= current.objective + 1e-4 * float(gradient @ step):
            return None
        return self._remember(current, trial)

    def _remember(self, before: Solution, after: Solution) -> Solution:
        """Return the new solution with this step's curvature in its memory."""
        old, new = before.point.potentials.weights, after.point.potentials.weights
        old_slope, was_smooth = self.penalty.slope(self.blocks, old)
        new_slope, is_smooth = self.penalty.slope(self.blocks, new)
        both = was_smooth & is_smooth
        change = self.gradient(after) + new_slope - self.gradient(before) - old_slope
        memory = before.memory.remember((new - old) * both, change * both, self.most_memory)
        return replace(after, memory=memory)


def measure(
    point: Point,
    penalty: Penalty,
    blocks: Blocks,
    evaluations: int = 0,
    memory: Memory | None = None,
) -> Solution:
    """Return a point as a solution: its objective and stationarity residual."""
    weights = point.potentials.weights
    return Solution(
        point,
        point.value + penalty.value(blocks, weights),
        float(penalty.residuals(blocks, weights, point.gradient).max(initial=0.0)),
        evaluations,
        memory or Memory(),
    )
