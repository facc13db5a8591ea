"""The plain l1 penalty: lam ||w||_1 + l2 ||w||_2^2. Single table entries come and go.

With l2 > 0 it is the elastic net; with lam = 0 a ridge; with both zero no penalty at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.inference.layout import Floats, Ints
from graftwork.penalties.blocks import Blocks, Bools


@dataclass(frozen=True, slots=True)
class L1:
    """l1 on single weights, perhaps with a ridge; unaries are free unless given strengths."""

    lam: float
    l2: float = 0.0
    unary_lam: float = 0.0
    unary_l2: float = 0.0
    separable = True
    centres = False

    def value(self, blocks: Blocks, weights: Floats) -> float:
        """Return the penalty."""
        lam, l2 = self.shrinkage(blocks)
        value = lam @ blocks.sums(np.abs(weights)) if lam.any() else 0.0
        return float(value + l2 @ blocks.sums(weights * weights)) if l2.any() else float(value)

    def prox(self, blocks: Blocks, weights: Floats, curvature: Floats) -> Floats:
        """Return argmin_w sum_g curvature_g/2 ||w_g - weights_g||^2 + penalty(w)."""
        curvature = blocks.spread(curvature)
        lam, l2 = map(blocks.spread, self.shrinkage(blocks))
        shrunk: Floats = np.sign(weights) * np.maximum(0.0, np.abs(weights) - lam / curvature)
        shrunk /= 1.0 + 2.0 * l2 / curvature
        return shrunk

    def shrinkage(self, blocks: Blocks) -> tuple[Floats, Floats]:
        """Return what an entry's absolute value costs, and its square, in each block."""
        lam = blocks.strengths(self.unary_lam, self.lam)
        return lam, blocks.weigh(self.unary_l2, self.l2)

    def slope(self, blocks: Blocks, weights: Floats) -> tuple[Floats, Bools]:
        """Return lam sign(w) + 2 l2 w, and where it is smooth."""
        lam, l2 = self.shrinkage(blocks)
        slope = blocks.spread(2.0 * l2)
        slope *= weights
        if not lam.any():
            return slope, np.ones(len(slope), dtype=bool)
        each = blocks.spread(lam)
        slope += each * np.sign(weights)
        return slope, (each == 0) | (weights != 0)

    def kkt_residuals(self, blocks: Blocks, weights: Floats, gradient: Floats) -> Floats:
        """Return each entry's distance to optimality."""
        slope, smooth = self.slope(blocks, weights)
        slope += gradient
        found: Floats = np.abs(slope, out=slope)
        if smooth.all():
            return found
        lam = blocks.spread(blocks.strengths(self.unary_lam, self.lam))
        return np.where(smooth, found, np.maximum(0.0, np.abs(gradient) - lam))

    def scores(self, gradients: Floats, offsets: Ints, scale: Floats) -> Floats:
        """Return the largest absolute gradient of each inactive block."""
        if not len(scale):
            return np.zeros(0)
        result: Floats = np.maximum.reduceat(np.abs(gradients), offsets[:-1])
        return result


def ridge(lam: float, l2: float = 0.0, unary_lam: float = 0.0, unary_l2: float = 0.0) -> L1:
    """Return a squared norm alone, of which ``lam`` is the strength."""
    return L1(0.0, lam + l2, 0.0, unary_lam + unary_l2)


def unpenalised(lam: float, l2: float = 0.0, unary_lam: float = 0.0, unary_l2: float = 0.0) -> L1:
    """Return no penalty on tables.

    Examples
    --------
    >>> unpenalised(0.5)
    L1(lam=0.0, l2=0.0, unary_lam=0.0, unary_l2=0.0)
    """
    return L1(0.0, 0.0, unary_lam)
