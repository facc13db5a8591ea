"""The plain l1 penalty: lam ||w||_1 + l2 ||w||_2^2. Single table entries come and go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.inference.layout import Floats, Ints
from graftwork.penalties.blocks import Blocks, Bools


@dataclass(frozen=True, slots=True)
class L1:
    """l1 on every penalised weight, with an optional squared norm.

    Examples
    --------
    >>> L1(lam=0.5).scores(np.array([3.0, -4.0]), np.array([0, 2]), np.array([2.0]))
    array([4.])
    """

    lam: float
    l2: float = 0.0
    centres = False

    def value(self, blocks: Blocks, weights: Floats) -> float:
        """Return the penalty."""
        penalised = weights[blocks.spread(blocks.penalised)]
        return float(self.lam * np.abs(penalised).sum() + self.l2 * (penalised @ penalised))

    def prox(self, blocks: Blocks, weights: Floats, curvature: Floats) -> Floats:
        """Return argmin_w sum_g curvature_g/2 ||w_g - weights_g||^2 + penalty(w)."""
        bend = blocks.spread(curvature)
        shrunk = np.sign(weights) * np.maximum(0.0, np.abs(weights) - self.lam / bend)
        shrunk /= 1.0 + 2.0 * self.l2 / bend
        return np.where(blocks.spread(blocks.penalised), shrunk, weights)

    def slope(self, blocks: Blocks, weights: Floats) -> tuple[Floats, Bools]:
        """Return lam sign(w) + 2 l2 w, and where it is smooth."""
        penalised = blocks.spread(blocks.penalised)
        slope = np.where(penalised, self.lam * np.sign(weights) + 2.0 * self.l2 * weights, 0.0)
        return slope, ~penalised | (weights != 0)

    def residuals(self, blocks: Blocks, weights: Floats, gradient: Floats) -> Floats:
        """Return the largest entry's distance to optimality in each block."""
        slope, smooth = self.slope(blocks, weights)
        idle = np.maximum(0.0, np.abs(gradient) - self.lam)
        return blocks.largest(np.where(smooth, gradient + slope, idle))

    def scores(self, gradients: Floats, offsets: Ints, scale: Floats) -> Floats:
        """Return the largest absolute gradient of each inactive block."""
        if not len(scale):
            return np.zeros(0)
        result: Floats = np.maximum.reduceat(np.abs(gradients), offsets[:-1])
        return result
