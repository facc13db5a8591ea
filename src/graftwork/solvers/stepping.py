"""How long a solver steps: to a tolerance, or a few steps, within its evaluations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from graftwork.solvers.solution import Solution


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
