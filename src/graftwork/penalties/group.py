"""The group penalty: lam sum_g d_g ||w_g||_2 + l2 sum_g ||w_g||_2^2. Whole tables come and go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.inference.layout import Floats, Ints
from graftwork.penalties.blocks import Blocks, Bools


@dataclass(frozen=True, slots=True)
class GroupL1:
    """Group-l1 with an optional squared norm; unaries are free unless given strengths.

    References
    ----------
    Chaabene and Huang, Best-choice edge grafting, eq. 2 to 5 (with d_g the square root of the
    number of entries).
    """

    # lam, l2, unary_lam, unary_l2: strengths of norms and of squared norms, on tables and on
    # unaries
    lam: float
    l2: float = 0.0
    unary_lam: float = 0.0
    unary_l2: float = 0.0
    # of linear parts of tables the strength of the mean square of their entries, in place of l2
    linear_l2: float | None = None
    separable = False
    centres = True

    def value(self, blocks: Blocks, weights: Floats) -> float:
        """Return the penalty."""
        norms, lam, l2 = blocks.norms(weights), *self._strengths(blocks)
        return float((lam * blocks.scale) @ norms + l2 @ (norms * norms))

    def prox(self, blocks: Blocks, weights: Floats, curvature: Floats) -> Floats:
        """Return argmin_w sum_g curvature_g/2 ||w_g - weights_g||^2 + penalty(w)."""
        norms, lam, l2 = blocks.norms(weights), *self._strengths(blocks)
        curvature = blocks.by_group(curvature)
        threshold = lam * blocks.scale / curvature
        shrink = np.maximum(0.0, 1.0 - threshold / np.maximum(norms, 1e-200))
        return blocks.times(weights, shrink / (1.0 + 2.0 * l2 / curvature))

    def shrinkage(self, blocks: Blocks) -> tuple[Floats, Floats]:
        """Return what a group's norm costs, and its square."""
        lam, l2 = self._strengths(blocks)
        return lam * blocks.scale, l2

    def slope(self, blocks: Blocks, weights: Floats) -> tuple[Floats, Bools]:
        """Return lam d_g w/||w|| + 2 l2 w where w is not zero, and where that is (or free)."""
        pull, idle = self.pull(blocks, weights)
        return blocks.times(weights, pull), ~blocks.spread(blocks.by_block(idle))

    def kkt_residuals(self, blocks: Blocks, weights: Floats, gradient: Floats) -> Floats:
        """Return ||gradient + slope|| / d_g of each block, or its violation where w = 0."""
        pull, idle = self.pull(blocks, weights)
        left = blocks.norms(gradient + blocks.times(weights, pull)) / blocks.scale
        if idle.any():
            lam, _ = self._strengths(blocks)
            left = np.where(idle, np.maximum(0.0, left - lam), left)
        return blocks.spread(blocks.by_block(left))

    def pull(self, blocks: Blocks, weights: Floats) -> tuple[Floats, Bools]:
        """Return what a group's weights are multiplied by in its slope, and which sit at zero.

        The former is the curvature, too, of a parabola that touches the penalty and lies above it.
        """
        lam, l2 = self._strengths(blocks)
        if not lam.any():  # no norm is asked for
            return 2.0 * l2, np.zeros(len(lam), dtype=bool)
        norms = blocks.norms(weights)
        pull = np.where(norms > 0, lam * blocks.scale / np.maximum(norms, 1e-200), 0.0) + 2.0 * l2
        return pull, (lam != 0) & ~(norms > 0)

    def scores(self, gradients: Floats, offsets: Ints, scale: Floats) -> Floats:
        """Return ||gradient_e||_2 / d_e of each inactive block."""
        if not len(scale):
            return np.zeros(0)
        result: Floats = np.sqrt(np.add.reduceat(gradients * gradients, offsets[:-1])) / scale
        return result

    def _strengths(self, blocks: Blocks) -> tuple[Floats, Floats]:
        """Return lam and l2 of each group."""
        l2 = blocks.ridges(self.unary_l2, self.l2, self.linear_l2)
        return blocks.strengths(self.unary_lam, self.lam), l2
