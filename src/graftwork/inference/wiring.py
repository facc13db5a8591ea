"""The graph of a network compiled to index arrays, once per edge set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.inference.ragged import grids, offsets
from graftwork.kernels.bp import breadth_first


@dataclass(frozen=True, slots=True, eq=False)
class Wiring:
    """Adjacency of a layout, with where every table and message lies.

    Examples
    --------
    >>> wiring = wire(Layout.of([2, 3, 2], [(0, 1)]))
    >>> wiring.forest, wiring.component, wiring.slots[:, 0]
    (True, array([0, 0, 1]), array([1, 0]))
    """

    # (n + 1,): slots of variable i are ``indptr[i]:indptr[i + 1]``, one per incident edge, by
    # neighbour
    indptr: Ints
    # (2 m, 6): neighbour; where the edge's table starts (counted from the first table); stride of
    # the own state and of the neighbour's state in it; where the message into this variable lies,
    # and where the message to the neighbour lies
    slots: Ints
    neighbours: Ints  # (2 m,): the first column of `slots`
    reverse: Ints  # (2 m,): the slot of the same edge at the neighbour
    order: Ints  # (n,): variables breadth-first, component after component
    position: Ints  # (n,): where each variable stands in `order`
    component: Ints  # (n,): component of each variable
    forest: bool  # whether the graph has no cycle
    # (2 m + 1,): where the rows of each slot's table start, if there is one for each state of the
    # owner
    rows: Ints
    # (m + 1,): where the two messages of each edge start: into i (s_i values), then into j
    message_offsets: Ints


def wire(layout: Layout) -> Wiring:
    """Return the compiled graph of a layout; the last few are remembered."""
    return _wire(layout.cards.tobytes(), layout.edges.tobytes())


@lru_cache(maxsize=8)
def _wire(cards_bytes: bytes, edges_bytes: bytes) -> Wiring:
    cards = np.frombuffer(cards_bytes, dtype=np.int64)
    edges = np.frombuffer(edges_bytes, dtype=np.int64).reshape(-1, 2)
    n, m = len(cards), len(edges)
    i, j = edges[:, 0], edges[:, 1]
    source, target = np.concatenate([i, j]), np.concatenate([j, i])
    # By neighbour, not by edge number: what the path rule answers must not depend on edge order.
    by_source = np.lexsort((target, source))
    tables = offsets(cards[i] * cards[j])[:-1]
    boxes = offsets(cards[i] + cards[j])
    one = np.ones(m, dtype=np.int64)
    first = np.stack([j, tables, cards[j], one, boxes[:-1], boxes[:-1] + cards[i]], axis=1)
    second = np.stack([i, tables, one, cards[j], boxes[:-1] + cards[i], boxes[:-1]], axis=1)
    slots = np.concatenate([first, second])[by_source]
    indptr = offsets(np.bincount(source, minlength=n))
    neighbours = np.ascontiguousarray(slots[:, 0])
    order, component = breadth_first(indptr, neighbours)
    forest = m == n - (int(component.max()) + 1 if n else 0)
    # Row k of `first` and row k of `second` are the two slots of edge k.
    slot_of = np.empty(2 * m, dtype=np.int64)
    slot_of[by_source] = np.arange(2 * m)
    reverse = np.concatenate([slot_of[m:], slot_of[:m]])[by_source]
    position = np.empty_like(order)
    position[order] = np.arange(n)
    rows = offsets(cards[source][by_source])
    return Wiring(
        indptr, slots, neighbours, reverse, order, position, component, forest, rows, boxes
    )


@dataclass(frozen=True, slots=True, eq=False)
class Conditionals:
    """Tables by slot, so that p(x_i | neighbours) is a product of contiguous rows.

    Row ``x_j`` of slot (i, j) starts at ``starts[slot] + x_j * s_i``. Each row is shifted so that
    its largest entry is 0: for a fixed neighbour that changes nothing, and products of the
    exponentials then stay below 1.
    """

    # indptr, neighbours, starts: slots of each variable, the neighbour of each, and where its rows
    # start in `logs`
    indptr: Ints
    neighbours: Ints
    starts: Ints
    unary_offsets: Ints  # (n + 1,)
    unary_logs: Floats  # unary_logs, unary_exps: (n_unary,)
    unary_exps: Floats
    logs: Floats
    exps: Floats

    def arrays(self) -> tuple[Ints | Floats, ...]:
        """Return everything, in the order the kernels take it."""
        return tuple(getattr(self, name) for name in self.__slots__)


def conditionals(layout: Layout, weights: Floats) -> Conditionals:
    """Return the oriented, shifted and exponentiated tables of a network."""
    wiring = wire(layout)
    table, own, other = wiring.slots[:, 1], wiring.slots[:, 2], wiring.slots[:, 3]
    owner = np.repeat(np.arange(layout.n_variables), np.diff(wiring.indptr))
    s_own, s_other = layout.cards[owner], layout.cards[wiring.neighbours]
    cells = grids(table + layout.n_unary, s_other, s_own, other, own)
    starts = offsets(s_own * s_other)
    logs = shift_rows(weights[cells], np.repeat(s_own, s_other))
    unary = shift_rows(weights[: layout.n_unary], layout.cards)
    return Conditionals(
        wiring.indptr,
        wiring.neighbours,
        starts[:-1],
        layout.unary_offsets,
        unary,
        np.exp(unary),
        logs,
        np.exp(logs),
    )


def shift_rows(values: Floats, lengths: Ints) -> Floats:
    """Return consecutive blocks of values, each minus its own maximum (kept where that is -inf).

    Examples
    --------
    >>> shift_rows(np.array([1.0, 3.0, -np.inf]), np.array([2, 1]))
    array([ -2.,   0., -inf])
    """
    return values - np.repeat(block_maxima(values, lengths), lengths)


def block_maxima(values: Floats, lengths: Ints) -> Floats:
    """Return the maximum of each consecutive block, 0 for a block that is all -inf.

    Examples
    --------
    >>> block_maxima(np.array([1.0, 3.0, -np.inf]), np.array([2, 1]))
    array([3., 0.])
    """
    if not len(lengths):
        return np.zeros(0)
    top: Floats = np.maximum.reduceat(values, offsets(lengths)[:-1])
    return np.where(np.isneginf(top), 0.0, top)
