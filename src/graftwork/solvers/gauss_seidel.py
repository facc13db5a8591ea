"""Gauss-Seidel: optimise a few features at a time, the others held fixed.

References
----------
Shevade and Keerthi (2003), A simple and efficient algorithm for gene selection using sparse
logistic regression; the baseline of Zhu, Lao and Xing (2010), Grafting-Light.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from graftwork.objectives.protocol import Loss
from graftwork.parameters import whole_number
from graftwork.penalties.blocks import Blocks, Bools
from graftwork.penalties.protocol import Penalty
from graftwork.solvers.coordinates import Plain
from graftwork.solvers.memory import Memory
from graftwork.solvers.newton import Sharpened
from graftwork.solvers.orthant import OrthantWise
from graftwork.solvers.proximal import Composite
from graftwork.solvers.solution import Solution, Solver, measure, never, take_steps

# A few features are optimised to this share of what the whole was away from its optimum.
PART_ACCURACY = 0.1
# Features that follow each other closely would take turns for tens of thousands of rounds.
PATIENCE = 7


@dataclass(frozen=True, slots=True)
class GaussSeidel:
    """Optimises the ``count`` features furthest from their optimum, again and again.

    Unaries are no features here: they move along every time. With a penalty that ties a table's
    entries together, whole tables are optimised, ``count`` at a time.
    """

    count: int = 1
    inner: Solver = field(default_factory=OrthantWise)
    max_evaluations: int = 50_000

    def __post_init__(self) -> None:
        whole_number("count", self.count, 1)

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

        def step(current: Solution) -> Solution:
            some = replace(blocks, free=self._furthest(penalty, blocks, current))
            part = replace(measure(current.point, penalty, some, 0), memory=Memory())
            accuracy = max(0.5 * tolerance, PART_ACCURACY * part.residual)
            part = self.inner.improve(objective, penalty, some, part, accuracy, None, halted)
            whole = measure(part.point, penalty, blocks, current.evaluations + part.evaluations)
            return replace(whole, stalled=part.stalled or part.evaluations == 0)

        whole = Composite(objective, penalty, blocks, Plain(blocks), 0)
        taken = step if steps is not None else Sharpened(whole, step, PATIENCE)
        return take_steps(taken, solution, tolerance, steps, self.max_evaluations, halted)

    def _furthest(self, penalty: Penalty, blocks: Blocks, current: Solution) -> Bools:
        """Return the unaries and the ``count`` furthest features (or tables) as what may move."""
        point = current.point
        residuals = penalty.kkt_residuals(blocks, point.potentials.weights, point.gradient)
        unary = np.arange(len(residuals)) < blocks.layout.n_unary
        residuals = np.where(blocks.free & ~unary, residuals, 0.0)
        per_feature = residuals if penalty.separable else blocks.largest(residuals)
        chosen = np.zeros(len(per_feature), dtype=bool)
        chosen[np.argsort(-per_feature, kind="stable")[: self.count]] = True
        entries = chosen if penalty.separable else blocks.spread(chosen)
        moving: Bools = blocks.free & (unary | entries)
        return moving
