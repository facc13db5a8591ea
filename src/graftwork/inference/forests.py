"""A fixed set of spanning forests of a graph, and the share of them that holds each edge.

Tree-reweighted inference needs a point of the spanning tree polytope. A mean of explicit forests is
one by construction, and it lets the upper bound be evaluated at any messages, forest by forest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.inference.pairs import find_edges
from graftwork.inference.wiring import Wiring, wire
from graftwork.kernels.forests import hang, reorder, span

#: Fewest forests, and fewest of them that hold each edge: with more the bound hardly tightens.
LEAST_FORESTS = 16
LEAST_USES = 2


@dataclass(frozen=True, slots=True, eq=False)
class Forests:
    """Spanning forests of a layout, all of the same weight.

    Attributes
    ----------
    shares : (m,) float64
        In which share of the forests each edge is: rho, in (0, 1], exactly 1 for a bridge.
    slot_shares : (2 m,) float64
        The same for each slot of the wiring.
    order : (k, n) int32
        The variables of each forest, parents first.
    up : (k, n) int32
        The slot of each variable that leads to its parent, -1 at a root.

    Examples
    --------
    >>> kite = spanning_forests(Layout.of([2, 2, 2, 2], [(0, 1), (1, 2), (0, 2), (2, 3)]))
    >>> kite.order.shape, float(kite.shares[:3].sum()), float(kite.shares[3])
    ((16, 4), 2.0, 1.0)
    """

    shares: Floats
    slot_shares: Floats
    order: NDArray[np.int32]
    up: NDArray[np.int32]


def spanning_forests(layout: Layout) -> Forests:
    """Return forests that use all edges about equally often; the last few are remembered.

    Each forest prefers the edges that the ones before have used least. The answer depends on the
    graph alone, not on the order of its edges. A graph without cycles has one forest: itself.

    Examples
    --------
    >>> spanning_forests(Layout.of([2, 2, 2], [(0, 1), (1, 2)])).shares
    array([1., 1.])
    """
    return _spanning_forests(layout.n_variables, layout.cards.tobytes(), layout.edges.tobytes())


@lru_cache(maxsize=4)
def _spanning_forests(n: int, cards_bytes: bytes, edges_bytes: bytes) -> Forests:
    cards = np.frombuffer(cards_bytes, dtype=np.int64)
    layout = Layout.of(cards, np.frombuffer(edges_bytes, dtype=np.int64).reshape(-1, 2))
    wiring = wire(layout)
    owner = np.repeat(np.arange(n), np.diff(wiring.indptr))
    # Slots lie sorted by variable and neighbour: edges numbered by them forget the layout's order.
    forward = np.flatnonzero(owner < wiring.slots[:, 0])
    backward = wiring.reverse[forward]
    first, second = owner[forward], owner[backward]
    chosen = _balance(n, wiring, first, second)
    order = np.empty((len(chosen), n), dtype=np.int32)
    up = np.empty((len(chosen), n), dtype=np.int32)
    for k, edges in enumerate(chosen):
        hang(first, second, forward, backward, edges, order[k], up[k])
    uses = np.bincount(np.concatenate(chosen), minlength=layout.n_edges)
    slot_shares, shares = np.empty(2 * layout.n_edges), np.empty(layout.n_edges)
    slot_shares[forward] = slot_shares[backward] = uses / len(chosen)
    shares[find_edges(layout, np.stack([first, second], axis=1))] = uses / len(chosen)
    return Forests(shares, slot_shares, order, up)


def _balance(n: int, wiring: Wiring, first: Ints, second: Ints) -> list[Ints]:
    """Return the edges of each forest, enough of them for every edge to be used often enough."""
    m = len(first)
    if wiring.forest:
        return [np.arange(m)]
    size = n - 1 - int(wiring.component.max())
    use = np.zeros(m, dtype=np.int64)
    # Shuffled once: in their natural order neighbouring edges would come and go together.
    order, spare = np.random.default_rng(0).permutation(m), np.empty(m, dtype=np.int64)
    chosen: list[Ints] = []
    while len(chosen) < LEAST_FORESTS or use.min() < LEAST_USES:
        edges = np.empty(size, dtype=np.int64)
        span(n, first, second, order, edges)
        chosen.append(edges)
        use[edges] += 1
        reorder(order, use, spare)
    return chosen
