"""A point seen through another layout: tables of zeros come and go without an evaluation."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.inference.ragged import offsets
from graftwork.objectives.protocol import Expectations, Point


class _Ask(Protocol):
    def __call__(self, pairs: Ints) -> Floats: ...


class Reshaped:
    """An evaluated point whose layout has other tables of zeros: the same network.

    Value and gradient are the evaluated point's; entries of pairs it lacks are computed as those of
    inactive pairs are.
    """

    def __init__(self, base: Point, potentials: Potentials) -> None:
        self.base = base
        self.potentials = potentials
        self.value, self.trusted = base.value, base.trusted
        self._pairs_exact = True
        self.gradient = _assemble(base, base.gradient, potentials.layout, self._ask_gradients)
        self.exact = base.exact and self._pairs_exact

    @property
    def curvature(self) -> Floats:
        """An estimate of the curvature along each entry, made when it is asked for."""
        base = self.base
        return _assemble(base, base.curvature, self.potentials.layout, base.pair_curvatures)

    def pair_gradients(self, pairs: Ints) -> tuple[Floats, Ints, bool]:
        """Return the gradient tables of any pairs, where each starts, and if they are exact."""
        return table_gradients(self.base, pairs)

    def pair_curvatures(self, pairs: Ints) -> Floats:
        """Return the estimated curvature of each entry that would be added for these pairs."""
        return self.base.pair_curvatures(pairs)

    def pair_expectations(self, pairs: Ints) -> Expectations:
        """Return what the loss compares at these pairs."""
        return self.base.pair_expectations(pairs)

    def pair_gains(self, pairs: Ints) -> Floats:
        """Return about twice what the loss would fall if each pair's table were optimised."""
        return self.base.pair_gains(pairs)

    def removal_costs(self) -> Floats:
        """Return what the removal of each edge costs: nothing for those without weights."""
        places = find_edges(self.base.potentials.layout, self.potentials.layout.edges)
        return np.append(self.base.removal_costs(), 0.0)[places]

    def _ask_gradients(self, pairs: Ints) -> Floats:
        gradients, _, exact = self.base.pair_gradients(pairs)
        self._pairs_exact &= exact
        return gradients


def reshape(point: Point, potentials: Potentials) -> Point:
    """Return the point for potentials that differ from its own by tables of zeros only."""
    return Reshaped(evaluated(point), potentials)


def evaluated(point: Point) -> Point:
    """Return the point that was really evaluated: the one itself, or the one it was made of."""
    return point.base if isinstance(point, Reshaped) else point


def table_gradients(point: Point, pairs: Ints) -> tuple[Floats, Ints, bool]:
    """Return the gradient tables of any pairs, edges or not, and if those of non-edges are exact.

    Parameters
    ----------
    pairs : (k, 2) int64
        ``i < j`` in each row.
    """
    if isinstance(point, Reshaped):
        return table_gradients(point.base, pairs)
    layout = point.potentials.layout
    edges = find_edges(layout, pairs)
    absent = edges < 0
    if absent.all():
        return point.pair_gradients(pairs)
    gradients, _, exact = point.pair_gradients(pairs[absent])
    starts = offsets(layout.cards[pairs[:, 0]] * layout.cards[pairs[:, 1]])
    out = np.empty(starts[-1])
    missing = np.repeat(absent, np.diff(starts))
    out[missing] = gradients
    out[~missing] = point.gradient[layout.entries(edges[~absent])]
    return out, starts, exact


def _assemble(base: Point, vector: Floats, layout: Layout, ask: _Ask) -> Floats:
    """Return a vector of the base's layout in another one; what it lacks is asked for."""
    old = base.potentials.layout
    edges = find_edges(old, layout.edges)
    out = layout.zeros()
    out[: layout.n_unary] = vector[: layout.n_unary]
    shared, fresh = np.flatnonzero(edges >= 0), np.flatnonzero(edges < 0)
    out[layout.entries(shared)] = vector[old.entries(edges[shared])]
    if len(fresh):
        out[layout.entries(fresh)] = ask(layout.edges[fresh])
    return out
