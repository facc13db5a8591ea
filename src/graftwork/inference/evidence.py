"""What is left of a network when some variables are observed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.pairs import Mask
from graftwork.inference.ragged import grids


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """A network of the unobserved variables only."""

    # over the free variables, renumbered in order; tables of observed neighbours are folded into
    # their unaries
    potentials: Potentials
    # log weight of the observed variables among themselves: log Z restricted to the evidence is
    # `constant` plus the log Z of `potentials`
    constant: float
    free: Ints  # (number of free variables,): the old number of each new variable
    codes: Ints  # (n,): observed state of each variable, -1 where free


def observe(potentials: Potentials, codes: Ints) -> Reduced:
    """Return the network given observed states, -1 marking the free variables."""
    layout, weights = potentials.layout, potentials.weights
    free = np.flatnonzero(codes < 0)
    i, j = layout.edges[:, 0], layout.edges[:, 1]
    open_i, open_j = codes[i] < 0, codes[j] < 0
    number = np.cumsum(codes < 0) - 1
    inside = open_i & open_j
    small = Layout.of(layout.cards[free], number[layout.edges[inside]])
    unary = weights[: layout.n_unary].copy()
    _fold(layout, weights, codes, unary, open_i & ~open_j, open_j & ~open_i)
    seen = np.flatnonzero(codes >= 0)
    both = ~open_i & ~open_j
    cells = layout.edge_offsets[:-1][both] + codes[i[both]] * layout.cards[j[both]] + codes[j[both]]
    constant = weights[layout.unary_offsets[seen] + codes[seen]].sum() + weights[cells].sum()
    one = np.ones_like(free)
    kept = grids(layout.unary_offsets[free], one, layout.cards[free], 0, 1)
    sizes = layout.edge_sizes[inside]
    tables = grids(layout.edge_offsets[:-1][inside], np.ones_like(sizes), sizes, 0, 1)
    reduced = Potentials(small, np.concatenate([unary[kept], weights[tables]]))
    return Reduced(reduced, float(constant), free, codes)


def _fold(
    layout: Layout, weights: Floats, codes: Ints, unary: Floats, first: Mask, second: Mask
) -> None:
    """Add the table rows of observed neighbours to `unary`: free at the first end, the second."""
    for mask, end, seen in ((first, 0, 1), (second, 1, 0)):
        variable, neighbour = layout.edges[mask, end], layout.edges[mask, seen]
        stride = layout.cards[layout.edges[mask, 1]]
        own, other = (stride, np.ones_like(stride)) if end == 0 else (np.ones_like(stride), stride)
        start = layout.edge_offsets[:-1][mask] + codes[neighbour] * other
        one, states = np.ones_like(variable), layout.cards[variable]
        row = weights[grids(start, one, states, 0, own)]
        np.add.at(unary, grids(layout.unary_offsets[variable], one, states, 0, 1), row)


def restore(reduced: Reduced, layout: Layout, values: Floats) -> Floats:
    """Return unary marginals of all variables, shape (layout.n_unary,): point masses where seen."""
    out = np.zeros(layout.n_unary)
    free, seen = reduced.free, np.flatnonzero(reduced.codes >= 0)
    cells = grids(layout.unary_offsets[free], np.ones_like(free), layout.cards[free], 0, 1)
    out[cells] = values[: len(cells)]
    out[layout.unary_offsets[seen] + reduced.codes[seen]] = 1.0
    return out
