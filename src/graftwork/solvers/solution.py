"""Where a solver stops, what every solver does, and how long it steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from graftwork.objectives.protocol import Evaluated, Loss
from graftwork.penalties.blocks import Blocks
from graftwork.penalties.protocol import Penalty, residual
from graftwork.solvers.memory import Memory


def never() -> bool:
    """Return False: nothing halts."""
    return False


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Where a solver stopped."""

    point: Any  # the loss evaluated there; of networks it is a ``Point``
    objective: float  # loss plus penalty
    # largest distance to stationarity over the active blocks (see ``Penalty.residuals``)
    residual: float
    evaluations: int = 0  # how many times the loss was evaluated
    # curvature of the loss, to start the next solve from
    memory: Memory = field(default_factory=Memory)
    # whether it gave up: no step lowers the objective any more (rounding, or a gradient that is
    # not the gradient of the value: unconverged inference), or it used all its evaluations
    stalled: bool = False


class Solver(Protocol):
    """Improves the weights of a fixed set of active blocks."""

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
        """Return a solution no worse than the one given.

        ``steps`` is the most steps to take; None goes on until the residual is at most
        ``tolerance``. When ``halted`` says so, it stops where it is.
        """
        ...


def measure(
    point: Evaluated,
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
        residual(penalty, blocks, weights, point.gradient),
        evaluations,
        memory or Memory(),
    )


def take_steps(
    step: Callable[[Solution], Solution],
    solution: Solution,
    tolerance: float,
    steps: int | None,
    max_evaluations: int,
    halted: Callable[[], bool],
) -> Solution:
    """Return where stepping ends: at the tolerance, after ``steps``, when halted or stuck.

    A solution that used all its evaluations without reaching the tolerance is marked stalled.
    """
    current, taken = solution, 0
    while current.residual > tolerance and not current.stalled and taken != steps and not halted():
        if current.evaluations - solution.evaluations >= max_evaluations:
            return replace(current, stalled=True)
        current = step(current)
        taken += 1
    return current


@dataclass(frozen=True, slots=True)
class Forgetful:
    """Another solver, but what it learned about curvature is forgotten between solves."""

    solver: Solver

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
        """Return what the solver makes of the solution without its memory."""
        blank = replace(solution, memory=Memory())
        return self.solver.improve(objective, penalty, blocks, blank, tolerance, steps, halted)
