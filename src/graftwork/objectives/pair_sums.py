"""Sums of conditionals by the states of a variable that is no neighbour: gradients of pairs.

Few pairs are summed one by one; many at once come from products of conditionals with states.
"""

from __future__ import annotations

import numpy as np

from graftwork.inference.layout import Floats, Ints
from graftwork.kernels import pseudo as row_kernel
from graftwork.kernels import scatter
from graftwork.kernels import stars as kernel
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.products import LANES, Product, cut_pairs, dense, one_square
from graftwork.objectives.star_conditionals import NO_IDS, StarConditionals
from graftwork.objectives.stars import lanes_for, padded


def sum_pairs(at: StarConditionals, pairs: Ints, starts: Ints, sums: Floats) -> None:
    """Fill, for both variables of each pair, the sums of its conditional by the other's states.

    Parameters
    ----------
    at : StarConditionals
        The point.
    pairs : (k, 2) int64
    starts : (k,) int64
        Where each pair's table starts in a line of ``sums``.
    sums : (2, entries) float64
    """
    row_kernel.sum_alone(
        pairs, starts, at.stars.degrees, at.sample.cards, at.potentials.layout.unary_offsets,
        at.states, at.margins, sums,
    )  # fmt: skip
    if dense(pairs, at.sample.cards):
        _multiply_pairs(at, pairs, starts, sums)
    else:
        _sum_one_by_one(at, pairs, starts, sums)


def _sum_one_by_one(at: StarConditionals, pairs: Ints, starts: Ints, sums: Floats) -> None:
    """Fill the sums of variables that have neighbours, variable by variable."""
    cards, codes, weights = at.sample.cards, at.sample.codes, at.row_weights
    flat, size = sums.reshape(-1), sums.shape[1]
    owner, other = pairs.T.ravel(), pairs[:, ::-1].T.ravel()
    goals = np.concatenate([starts, starts + size])
    second = cards[pairs[:, 1]]
    own_strides = np.concatenate([second, np.ones_like(second)])
    other_strides = np.concatenate([np.ones_like(second), second])
    order = np.flatnonzero(at.stars.degrees[owner] > 0)
    order = order[np.argsort(owner[order], kind="stable")]
    nodes, firsts = np.unique(owner[order], return_index=True)
    ends = np.append(firsts[1:], len(order))
    at.remember(nodes)

    def run(part: slice) -> None:
        for node, first, last in zip(nodes[part], firsts[part], ends[part], strict=True):
            mine = order[first:last]
            kernel.sum_by_others(
                lanes_for(cards[node]), *at.of(node), weights, other[mine], codes, cards,
                goals[mine], own_strides[mine], other_strides[mine], flat,
            )  # fmt: skip

    costs = (ends - firsts).astype(np.float64)
    run_chunks(run, cut_evenly(costs, at.n_threads), at.n_threads)


def _multiply_pairs(at: StarConditionals, pairs: Ints, starts: Ints, sums: Floats) -> None:
    """Fill the same sums from products of many conditionals with many variables' states."""
    cards, margins = at.sample.cards, at.margins
    for members in cut_pairs(pairs, cards):
        here, first = pairs[members], starts[members]
        both = np.unique(here)
        square = _multiply(at, both, both) if one_square(here, cards) else None
        for side in range(2):
            own, other = np.unique(here[:, side]), np.unique(here[:, 1 - side])
            product = square or _multiply(at, own, other)
            row_kernel.place_products(
                here, side, first, at.stars.degrees, product.lines, product.columns,
                product.values, cards, at.potentials.layout.unary_offsets, margins, sums,
            )  # fmt: skip


def _multiply(at: StarConditionals, owners: Ints, others: Ints) -> Product:
    """Return the sums of some variables' conditionals by the states of others."""
    stars, cards, weights = at.stars, at.sample.cards, at.row_weights
    owners = owners[stars.degrees[owners] > 0]
    all_fit = at.fit(owners)
    merged = np.array([stars.ids[node] is not None for node in owners.tolist()], dtype=bool)
    at.remember(owners if all_fit else owners[merged])

    def take(node: int, first: int, last: int, start: int, place: int, out: Floats) -> None:
        masses = weights
        if all_fit or stars.ids[node] is not None:
            values, s, ids = at.of(node)
        else:  # too large to keep: these rows alone
            count = len(out) // len(LANES)
            values, s, ids = at.configurations(node, start, count), int(cards[node]), NO_IDS
            masses, start = masses[start:], 0
        scatter.take_states(
            padded(s), first, last, values, ids, masses, start, place, len(LANES), out
        )

    return Product.of(owners, others, cards, at.sample.codes, take, at.n_threads)
