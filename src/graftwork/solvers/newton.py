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
from graftwork.penalties.blocks import Bools
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


@dataclass(slots=True)
class Sharpened:
    """Steps of a solver, with Newton's between them once there were many.

    Parameters
    ----------
    problem : Composite
        What is minimised.
    step : function of a solution
        The solver's own step.
    """

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

    That, too, where the loss does not know its Hessian. Entries at a kink of the penalty stay.
    """
    hessian = _hessian(problem, current)
    if hessian is None:
        return current
    blocks, penalty, start = problem.blocks, problem.penalty, current.point.potentials
    weights = start.weights
    slope, smooth = penalty.slope(blocks, weights)
    kinked = ~penalty.slope(blocks, np.zeros_like(weights))[1] & penalty.separable
    moving = np.flatnonzero(smooth & blocks.free)
    downhill = (current.point.gradient + slope)[moving]
    bent = hessian[np.ix_(moving, moving)]
    bent.flat[:: len(moving) + 1] += DAMPING + _bend(problem, slope, weights, kinked)[moving]
    direction = np.zeros_like(weights)
    direction[moving] = -np.linalg.solve(bent, downhill)
    promised = float(direction[moving] @ downhill)
    length = min(1.0, LONGEST / max(float(np.abs(direction).max(initial=0.0)), 1e-300))
    for _ in range(HALVINGS):
        after = _moved(problem, weights, length * direction, kinked, -length * promised)
        if blocks.all_free:
            after = searchable(penalty, replace(start, weights=after)).weights
        trial = problem.evaluate(after, current)
        if trial.objective < current.objective + SUFFICIENT * length * promised:
            return trial
        current = replace(current, evaluations=trial.evaluations)
        length *= 0.5
    return current


def _hessian(problem: Composite, current: Solution) -> Floats | None:
    """Return the Hessian of a loss that knows it, for tables that are whole."""
    known = getattr(current.point, "hessian", None)
    if known is None or problem.blocks.parts is not None:
        return None
    found: Floats | None = known()
    return found


def _moved(
    problem: Composite, weights: Floats, step: Floats, kinked: Bools, promised: float
) -> Floats:
    """Return the weights after a step; kinks are crossed where that costs little, or end it."""
    after = weights + step
    stopped = np.where(kinked & (after * weights < 0), 0.0, after)
    value = problem.penalty.value
    cost = value(problem.blocks, after) - value(problem.blocks, stopped)
    return after if cost < CHEAP * promised else stopped


def _bend(problem: Composite, slope: Floats, weights: Floats, kinked: Bools) -> Floats:
    """Return the curvature of parabolas that touch the penalty and lie above it."""
    blocks, penalty = problem.blocks, problem.penalty
    squares = blocks.spread(blocks.weigh(2.0 * penalty.unary_l2, 2.0 * penalty.l2))
    return np.where(kinked, squares, np.abs(slope) / np.maximum(np.abs(weights), 1e-300))
