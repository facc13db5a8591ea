"""The group penalty: lam sum_g d_g ||w_g||_2 + l2 sum_g ||w_g||_2^2. Whole tables come and go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.inference.layout import Floats, Ints
from graftwork.penalties.blocks import Blocks, Bools


@dataclass(frozen=True, slots=True)
class GroupL1:
    """Group-l1 with an optional squared norm.

    Examples
    --------
    >>> GroupL1(lam=0.5).scores(np.array([3.0, 4.0]), np.array([0, 2]), np.array([2.0]))
    array([2.5])

    References
    ----------
    Chaabene and Huang, Best-choice edge grafting, eq. 2 to 5 (with d_g the square root of the
    number of entries).
    """

    lam: float
    l2: float = 0.0
    centres = True

    def value(self, blocks: Blocks, weights: Floats) -> float:
        """Return the penalty."""
        norms = blocks.norms(weights)[blocks.penalised]
        return float(
            self.lam * (blocks.scale[blocks.penalised] @ norms) + self.l2 * (norms @ norms)
        )

    def prox(self, blocks: Blocks, weights: Floats, curvature: Floats) -> Floats:
        """Return argmin_w sum_g curvature_g/2 ||w_g - weights_g||^2 + penalty(w)."""
        norms = blocks.norms(weights)
        threshold = self.lam * blocks.scale / curvature
        shrink = np.maximum(0.0, 1.0 - threshold / np.maximum(norms, 1e-300))
        shrink /= 1.0 + 2.0 * self.l2 / curvature
        result: Floats = weights * blocks.spread(np.where(blocks.penalised, shrink, 1.0))
        return result

    def slope(self, blocks: Blocks, weights: Floats) -> tuple[Floats, Bools]:
        """Return lam d_g w/||w|| + 2 l2 w where w is not zero, and where that is (or free)."""
        norms = blocks.norms(weights)
        pull = self.lam * blocks.scale / np.maximum(norms, 1e-300) + 2.0 * self.l2
        pull = np.where(blocks.penalised & (norms > 0), pull, 0.0)
        return weights * blocks.spread(pull), blocks.spread(~blocks.penalised | (norms > 0))

    def residuals(self, blocks: Blocks, weights: Floats, gradient: Floats) -> Floats:
        """Return ||gradient + slope|| / d_g of each block, or its violation where w = 0."""
        slope, smooth = self.slope(blocks, weights)
        left = blocks.norms(gradient + slope) / blocks.scale
        idle = ~smooth[blocks.offsets[:-1]]
        return np.where(idle, np.maximum(0.0, left - self.lam), left)

    def scores(self, gradients: Floats, offsets: Ints, scale: Floats) -> Floats:
        """Return ||gradient_e||_2 / d_e of each inactive block."""
        if not len(scale):
            return np.zeros(0)
        result: Floats = np.sqrt(np.add.reduceat(gradients * gradients, offsets[:-1])) / scale
        return result
