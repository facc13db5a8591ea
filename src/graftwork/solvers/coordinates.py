"""Coordinates in which unaries and tables hardly disturb each other.

A table adds something to its variables' unaries on average; with free unaries that average can be
moved into them: u'_i(a) = u_i(a) + sum_j sum_b f_j(b) W_ij(a, b), with f the data's frequencies.
Tables then act only through x_j's deviation from its mean, and the solver need not balance the two
against each other. Tables themselves, and so the penalty, stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from graftwork.inference.layout import Floats, Layout, Potentials
from graftwork.kernels.tables import add_mean_rows, centre_tables, subtract_mean_slopes
from graftwork.objectives.protocol import Loss
from graftwork.penalties.blocks import Blocks, Bools, Parts
from graftwork.penalties.protocol import Penalty


class Coordinates(Protocol):
    """A linear change of variables the solver works in."""

    def enter(self, weights: Floats) -> Floats:
        """Return the weights in these coordinates."""
        ...

    def leave(self, weights: Floats) -> Floats:
        """Return weights of these coordinates as plain weights."""
        ...

    def slope(self, gradient: Floats) -> Floats:
        """Return a plain gradient in these coordinates."""
        ...

    def project(self, vector: Floats) -> Floats:
        """Return the part of a vector inside the subspace searched."""
        ...


def choose_coordinates(objective: Loss, penalty: Penalty, blocks: Blocks) -> Coordinates:
    """Return the coordinates to work in: decoupled where unaries are free, plain otherwise."""
    sample, layout = getattr(objective, "sample", None), blocks.layout
    if sample is None or not isinstance(layout, Layout) or penalty.unary_lam or penalty.unary_l2:
        return Plain(blocks)
    centred = penalty.centres and bool(blocks.free.all())
    return Decoupled(layout, blocks.free, sample.frequencies, centred, blocks.parts)


def searchable(penalty: Penalty, potentials: Potentials) -> Potentials:
    """Return the same network where a solver can begin: with double-centred tables, if it must.

    Row and column means move into the unaries, which changes nothing but a constant. A penalty that
    centres (see ``choose_coordinates``) is never raised by that.

    Examples
    --------
    >>> from graftwork.inference import Layout
    >>> from graftwork.penalties import GroupL1
    >>> layout = Layout.of([2, 2], [(0, 1)])
    >>> searchable(GroupL1(0.1), Potentials(layout, np.r_[np.zeros(4), 4, 0, 2, 2])).weights
    array([ 2.,  2.,  3.,  1.,  1., -1., -1.,  1.])
    """
    unaries_fixed = penalty.unary_lam or penalty.unary_l2 or not potentials.layout.n_unary
    if not penalty.centres or unaries_fixed:
        return potentials
    layout, weights = potentials.layout, potentials.weights.copy()
    even = np.repeat(1.0 / layout.cards, layout.cards)
    add_mean_rows(
        weights, layout.cards, layout.edges, layout.edge_offsets, layout.unary_offsets, even, 1.0
    )
    centre_tables(weights, layout.cards, layout.edges, layout.edge_offsets)
    return Potentials(layout, weights)


@dataclass(frozen=True, slots=True, eq=False)
class Plain:
    """The weights as they are."""

    blocks: Blocks

    def enter(self, weights: Floats) -> Floats:
        """Return the weights."""
        return weights

    leave = enter

    def slope(self, gradient: Floats) -> Floats:
        """Return the gradient of what may move."""
        return self.project(gradient)

    def project(self, vector: Floats) -> Floats:
        """Return the vector without what may not move."""
        moved = np.where(self.blocks.free, vector, 0.0)
        return moved if self.blocks.parts is None else self.blocks.parts.project(moved)


@dataclass(frozen=True, slots=True, eq=False)
class Decoupled:
    """Unaries that follow their tables; for free unaries only.

    ``centred``: search double-centred tables only, where the optimum of a group penalty lies.
    ``parts``: of tables of ordered variables perhaps only the linear part.
    """

    layout: Layout
    free: Bools
    frequencies: Floats
    centred: bool
    parts: Parts | None = None

    def enter(self, weights: Floats) -> Floats:
        """Return the weights with their tables' averages in the unaries."""
        return self._shift(weights, 1.0)

    def leave(self, weights: Floats) -> Floats:
        """Return the weights with their tables' averages taken out of the unaries."""
        return self._shift(weights, -1.0)

    def slope(self, gradient: Floats) -> Floats:
        """Return the gradient for tables whose unaries follow."""
        layout, result = self.layout, gradient.copy()
        subtract_mean_slopes(
            result, layout.cards, layout.edges, layout.edge_offsets, layout.unary_offsets,
            self.frequencies,
        )  # fmt: skip
        return self.project(result)

    def project(self, vector: Floats) -> Floats:
        """Return the vector without what may not move, and double-centred if so searched."""
        layout, result = self.layout, np.where(self.free, vector, 0.0)
        if self.centred:
            centre_tables(result, layout.cards, layout.edges, layout.edge_offsets)
        return result if self.parts is None else self.parts.project(result)

    def _shift(self, weights: Floats, sign: float) -> Floats:
        layout, result = self.layout, weights.copy()
        add_mean_rows(
            result, layout.cards, layout.edges, layout.edge_offsets, layout.unary_offsets,
            self.frequencies, sign,
        )  # fmt: skip
        return result
