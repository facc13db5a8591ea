"""Joint marginals of pairs that the beliefs already contain: edges, and separate components."""

from __future__ import annotations

import numpy as np

from graftwork.inference.engines import Beliefs
from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.inference.ragged import grids, offsets

Mask = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


def check_pairs(layout: Layout, pairs: object) -> Ints:
    """Return the pairs as a (k, 2) array, or refuse them."""
    out = np.ascontiguousarray(pairs, dtype=np.int64).reshape(-1, 2)
    if out.size and (out.min() < 0 or out.max() >= layout.n_variables):
        raise ValueError(f"pairs must name variables 0 to {layout.n_variables - 1}")
    if (out[:, 0] == out[:, 1]).any():
        raise ValueError("a pair must name two different variables")
    return out


def pair_offsets(layout: Layout, pairs: Ints) -> Ints:
    """Return where the table of each pair starts in a flat answer, shape (k + 1,).

    Examples
    --------
    >>> pair_offsets(Layout.of([2, 3, 4]), np.array([(2, 0), (0, 1)]))
    array([ 0,  8, 14])
    """
    return offsets(layout.cards[pairs[:, 0]] * layout.cards[pairs[:, 1]])


def find_edges(layout: Layout, pairs: Ints) -> Ints:
    """Return the edge that joins each pair in either order, or -1, shape (k,)."""
    if not layout.n_edges:
        return np.full(len(pairs), -1, dtype=np.int64)
    n = layout.n_variables
    keys = layout.edges[:, 0] * n + layout.edges[:, 1]
    by_key = np.argsort(keys, kind="stable")
    wanted = pairs.min(axis=1) * n + pairs.max(axis=1)
    slot = np.minimum(np.searchsorted(keys[by_key], wanted), len(keys) - 1)
    edge = by_key[slot]
    return np.where(keys[edge] == wanted, edge, -1)


def fill_edges(beliefs: Beliefs, pairs: Ints, edges: Ints, starts: Ints, out: Floats) -> None:
    """Write the beliefs of pairs that are edges into their tables, transposed where asked."""
    layout = beliefs.layout
    s_i, s_j = layout.cards[pairs[:, 0]], layout.cards[pairs[:, 1]]
    forward = pairs[:, 0] < pairs[:, 1]
    row, col = np.where(forward, s_j, 1), np.where(forward, 1, s_i)
    cells = grids(layout.edge_offsets[edges], s_i, s_j, row, col)
    out[grids(starts, s_i, s_j, s_j, 1)] = beliefs.values[cells]


def fill_products(beliefs: Beliefs, pairs: Ints, starts: Ints, out: Floats) -> None:
    """Write the products of the two marginals of each pair into their tables."""
    layout = beliefs.layout
    i, j = pairs[:, 0], pairs[:, 1]
    s_i, s_j = layout.cards[i], layout.cards[j]
    left = beliefs.values[grids(layout.unary_offsets[i], s_i, s_j, 1, 0)]
    right = beliefs.values[grids(layout.unary_offsets[j], s_i, s_j, 0, 1)]
    out[grids(starts, s_i, s_j, s_j, 1)] = left * right


def fill_known(beliefs: Beliefs, component: Ints, pairs: Ints, starts: Ints, out: Floats) -> Mask:
    """Write edges and pairs of separate components; return which pairs are still open."""
    edges = find_edges(beliefs.layout, pairs)
    joined = edges >= 0
    fill_edges(beliefs, pairs[joined], edges[joined], starts[joined], out)
    apart: Mask = component[pairs[:, 0]] != component[pairs[:, 1]]
    fill_products(beliefs, pairs[apart], starts[apart], out)
    return ~(joined | apart)


def choose_sources(cards: Ints, pairs: Ints) -> Mask:
    """Return for which pairs the first variable should be the source of a run.

    A run costs the source's states and serves all its pairs, so the busier end is taken.

    Examples
    --------
    >>> choose_sources(np.array([2, 2, 2]), np.array([(0, 2), (1, 2)]))
    array([False, False])
    """
    busy = np.bincount(pairs.ravel(), minlength=len(cards)) / cards
    first: Mask = busy[pairs[:, 0]] >= busy[pairs[:, 1]]
    return first


def group_by_source(source: Ints, target: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the distinct sources, where the pairs of each start, and the order of pairs."""
    order = np.lexsort((target, source))
    sources, counts = np.unique(source, return_counts=True)
    return sources, offsets(counts), order
