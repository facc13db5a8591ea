"""The verbs of a penalty."""

from __future__ import annotations

from typing import Protocol

from graftwork.inference.layout import Floats, Ints
from graftwork.penalties.blocks import Blocks, Bools


class Penalty(Protocol):
    """A convex penalty with a closed-form proximal step.

    Tables and unaries have strengths of their own; a strength of zero leaves them free.
    """

    @property
    def lam(self) -> float:
        """The strength on tables: an inactive block violates if its score exceeds it."""
        ...

    @property
    def l2(self) -> float:
        """Strength of the squared norm added to it."""
        ...

    @property
    def unary_lam(self) -> float:
        """The strength on unaries."""
        ...

    @property
    def unary_l2(self) -> float:
        """Strength of the squared norm of unaries."""
        ...

    @property
    def separable(self) -> bool:
        """Whether it is a sum over single entries, so that single entries can come and go."""
        ...

    @property
    def centres(self) -> bool:
        """Whether the optimum's tables are double-centred when unaries are free."""
        ...

    def value(self, blocks: Blocks, weights: Floats) -> float:
        """Return the penalty."""
        ...

    def prox(self, blocks: Blocks, weights: Floats, curvature: Floats) -> Floats:
        """Return argmin_w sum_g curvature_g/2 ||w_g - weights_g||^2 + penalty(w)."""
        ...

    # A penalty may also offer ``shrinkage(blocks)``: what a block's norm (or, if it is separable,
    # each of its entries) costs, and its square. Then all inner steps of a solver are compiled.

    def slope(self, blocks: Blocks, weights: Floats) -> tuple[Floats, Bools]:
        """Return the penalty's gradient where it is smooth, and which entries those are.

        Penalised entries that sit at the kink (zero) have slope 0 and False.
        """
        ...

    def kkt_residuals(self, blocks: Blocks, weights: Floats, gradient: Floats) -> Floats:
        """Return how far each entry, or its block, is from optimal, in units of lam (0: optimal).

        Where a penalty ties a block's entries together, each has the block's number.
        """
        ...

    def scores(self, gradients: Floats, offsets: Ints, scale: Floats) -> Floats:
        """Return the score of each inactive block from its gradient; above lam it violates."""
        ...


def residual(penalty: Penalty, blocks: Blocks, weights: Floats, gradient: Floats) -> float:
    """Return the largest distance to optimality over the entries that may move."""
    found = penalty.kkt_residuals(blocks, weights, gradient)
    return float((found if blocks.all_free else found[blocks.free]).max(initial=0.0))
