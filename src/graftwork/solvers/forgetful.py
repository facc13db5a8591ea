"""A solver that starts every solve without memory: to show what memory is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from graftwork.objectives.protocol import Loss
from graftwork.penalties.blocks import Blocks
from graftwork.penalties.protocol import Penalty
from graftwork.solvers.memory import Memory
from graftwork.solvers.solution import Solution, Solver, never


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
