"""Newton's steps between those of another solver, where many of those have not sufficed.

Where data nearly determine each other and no penalty says otherwise, the best weights are far away
and the loss is almost flat on the way: a few remembered changes of the gradient do not tell how
flat. A loss of few enough configurations knows its Hessian.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from graftwork.inference.layout import Floats
from graftwork.penalties.group import GroupL1
from graftwork.solvers.coordinates import searchable
from graftwork.solvers.solution import Solution

if TYPE_CHECKING:
    from graftwork.solvers.proximal import Composite

#: Steps of the other solver before the first, and between two that did not help.
PATIENCE = 20
#: Curvature that is added everywhere: some directions change nothing.
DAMPING = 1e-9
#: No weight moves further in one step, and no step is halved more often.
LONGEST, HALVINGS = 4.0, 6
#: A step must achieve this share of the decrease its slope promises.
SUFFICIENT = 1e-4
#: A kink is crossed where the penalty on its other side is less than this share of the decrease.
CHEAP = 0.1
#: Curvature of parts of tables that may not move.
HELD = 1e6
#: How often a step is computed anew because some weights end at a kink.
CORNERS = 8


@dataclass(slots=True)
class Sharpened:
    """Steps of a solver, with Newton's between them once there were many."""

    problem: Composite
    step: Callable[[Solution], Solution]
    patience: int = PATIENCE

    def __call__(self, current: Solution) -> Solution:
        """Return a better solution."""
        if self.patience > 0:
            self.patience -= 1
            return self.step(current)
        after = newton_step(self.problem, current)
        if after.objective < current.objective:
            return after
        self.patience = PATIENCE
        return self.step(after)


def newton_step(problem: Composite, current: Solution) -> Solution:
    """Return the solution after one step; the one given if no step lowers the objective.

    That, too, where the loss does not know its Hessian.
    """
    hessian = _hessian(problem, current)
    if hessian is None:
        return current
    blocks, penalty, start = problem.blocks, problem.penalty, current.point.potentials
    downhill, orthant = _downhill(problem, current)
    direction = _direction(problem, start.weights, hessian, downhill, orthant)
    promised = float(direction @ downhill)
    length = min(1.0, LONGEST / max(float(np.abs(direction).max(initial=0.0)), 1e-300))
    for _ in range(HALVINGS):
        after = start.weights + length * direction
        if blocks.all_free:
            after = searchable(penalty, replace(start, weights=after)).weights
        trial = problem.evaluate(after, current)
        if trial.objective < current.objective + SUFFICIENT * length * min(promised, 0.0):
            return trial
        current = replace(current, evaluations=trial.evaluations)
        length *= 0.5
    return current


def _downhill(problem: Composite, current: Solution) -> tuple[Floats, Floats]:
    """Return the slope of the objective, and the signs that weights have on its side of a kink.

    The slope is 0 for what may not move or is best at its kink. The sign is 0 where there is none.
    """
    blocks, penalty, weights = problem.blocks, problem.penalty, current.point.potentials.weights
    gradient = current.point.gradient
    slope, smooth = penalty.slope(blocks, weights)
    if blocks.parts is not None:
        downhill = _movable(problem, weights, gradient + slope)
        return np.where(blocks.free, downhill, 0.0), np.zeros_like(weights)
    downhill, orthant = np.where(smooth, gradient + slope, 0.0), np.zeros_like(weights)
    if penalty.separable:
        lam = blocks.spread(blocks.strengths(penalty.unary_lam, penalty.lam))
        leaving = np.sign(gradient) * np.maximum(0.0, np.abs(gradient) - lam)
        downhill = np.where(smooth, downhill, leaving)
        signs = np.where(weights != 0, np.sign(weights), -np.sign(leaving))
        orthant = np.where(lam > 0, signs, 0.0)
    return np.where(blocks.free, downhill, 0.0), orthant


def _movable(problem: Composite, weights: Floats, vector: Floats) -> Floats:
    """Return what of a vector may move smoothly: no part of a table that is best at zero."""
    blocks, penalty = problem.blocks, problem.penalty
    if blocks.parts is None or not isinstance(penalty, GroupL1):
        return vector
    _, idle = penalty.pull(blocks, weights)
    return blocks.times(vector, np.where(idle, 0.0, 1.0))


def _direction(
    problem: Composite, weights: Floats, hessian: Floats, downhill: Floats, orthant: Floats
) -> Floats:
    """Return Newton's step; where it would cross a kink at a price, it ends there."""
    bent = hessian + _bend(problem, weights, orthant)
    bent[np.diag_indices_from(bent)] += DAMPING
    step, moving = np.zeros_like(weights), downhill != 0.0
    value, blocks = problem.penalty.value, problem.blocks
    for _ in range(CORNERS):
        some, ended = np.flatnonzero(moving), np.flatnonzero(~moving & (step != 0))
        known = downhill[some] + bent[np.ix_(some, ended)] @ step[ended]
        step[some] = -np.linalg.solve(bent[np.ix_(some, some)], known)
        after = weights + step
        crossing = moving & (after * orthant < 0)
        price = value(blocks, after) - value(blocks, np.where(crossing, 0.0, after))
        if price <= -CHEAP * float(step @ downhill):
            break
        step[crossing] = -weights[crossing]
        moving &= ~crossing
    return _movable(problem, weights, step)


def _hessian(problem: Composite, current: Solution) -> Floats | None:
    """Return the Hessian of a loss that knows it."""
    known = getattr(current.point, "hessian", None)
    if known is None:
        return None
    found: Floats | None = known()
    return found


def _bend(problem: Composite, weights: Floats, orthant: Floats) -> Floats:
    """Return the curvature, a matrix, of parabolas that touch the penalty and lie above it."""
    blocks, penalty = problem.blocks, problem.penalty
    if blocks.parts is not None and isinstance(penalty, GroupL1):
        pull, idle = penalty.pull(blocks, weights)
        factors, rows = np.where(idle, 0.0, pull - HELD), np.eye(len(weights))
        return np.array([blocks.times(row, factors) for row in rows]) + HELD * rows
    squares = blocks.spread(blocks.weigh(2.0 * penalty.unary_l2, 2.0 * penalty.l2))
    slope, _ = penalty.slope(blocks, weights)
    whole = np.abs(slope) / np.maximum(np.abs(weights), 1e-200)
    return np.diag(np.where(penalty.separable | (orthant != 0) | (weights == 0), squares, whole))
