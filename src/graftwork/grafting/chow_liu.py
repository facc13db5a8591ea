"""The best tree: the spanning tree of largest mutual information, and its weights.

References
----------
Chow and Liu (1968), Approximating discrete probability distributions with dependence trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.counts import Numbers
from graftwork.data.encoded import EncodedRows
from graftwork.grafting.factors import PairFactors
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.ragged import offsets
from graftwork.kernels.information import information_of_tables
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.protocol import independent_potentials, states_of_entries
from graftwork.solvers.solution import never

# Pairs with less mutual information than this (in nats) count as independent. Whole counts that fit
# independence give exactly 0; sums of weights are off by rounding, whose information is smaller.
INDEPENDENT = 1e-20
# A tree's pair frequencies are mixed with independence, as if that had been seen this often.
PSEUDO_COUNT = 0.5
# Most table cells held at once, and fewest that are worth a second thread.
MOST_CELLS = 2**22
# Tables of all pairs are kept for later where they have no more cells than this together.
MOST_KEPT = 2**20
THREAD_CELLS = 2**14


def pair_information(sample: EncodedRows, pairs: Ints) -> Floats:
    """Return the mutual information of pairs of variables in the data, in nats, shape (k,).

    The number is the same whatever the order of states, and exactly 0 where whole counts fit
    independence. Rows where one of the two is missing are not in it. Tables are kept for later
    where those of all pairs fit.

    Shapes: pairs (k, 2) int64.
    """
    information = np.empty(len(pairs))
    cells = (sample.cards.sum() ** 2 - (sample.cards**2).sum()) // 2
    count = sample.counts.tables if cells <= MOST_KEPT else sample.counts.compute
    for part in _batches(sample.cards, pairs):
        counts, starts = count(pairs[part])
        information[part] = table_information(sample, pairs[part], counts, starts)
    return information


def table_information(sample: EncodedRows, pairs: Ints, counts: Numbers, starts: Ints) -> Floats:
    """Return the mutual information of pairs whose tables of counts are at hand, shape (k,)."""
    if not sample.complete:
        return _information_together(sample, pairs, counts, starts)
    information, places = np.empty(len(pairs)), offsets(sample.cards)
    margins: NDArray[Any] = sample.counts.margins
    total = sample.total_weight
    if counts.dtype == np.float64:  # a power of two: tiny weights must not vanish when multiplied
        scale = 2.0 ** -int(np.frexp(total)[1])
        counts, margins, total = counts * np.float64(scale), margins * scale, total * scale

    def fill(part: slice) -> None:
        information_of_tables(
            pairs[part], sample.cards, counts, starts[part.start : part.stop + 1], margins, places,
            total, information[part],
        )  # fmt: skip

    threads = sample.counts.n_threads if len(counts) > THREAD_CELLS else 1
    run_chunks(fill, cut_evenly(np.diff(starts).astype(np.float64), threads), threads)
    return information


def _information_together(
    sample: EncodedRows, pairs: Ints, counts: Numbers, starts: Ints
) -> Floats:
    """Return the mutual information in the rows that have both variables, shape (k,)."""
    information, only = np.zeros(len(pairs)), np.array([[0, 1]])
    for k, (i, j) in enumerate(pairs):
        cards = sample.cards[[i, j]]
        table = counts[starts[k] : starts[k + 1]]
        total = float(table.sum())
        if total > 0.0:  # else they are never seen together
            scale = 2.0 ** -int(np.frexp(total)[1]) if table.dtype == np.float64 else 1
            square = table.reshape(cards) * scale
            margins = np.concatenate([square.sum(axis=1), square.sum(axis=0)])
            information_of_tables(
                only, cards, square.ravel(), np.array([0, square.size]), margins, offsets(cards),
                total * scale, information[k : k + 1],
            )  # fmt: skip
    return information


def chow_liu_edges(
    sample: EncodedRows, halted: Callable[[], bool] = never, prior: PairFactors | None = None
) -> tuple[Ints, Floats]:
    """Return the spanning tree of largest mutual information, and the information of its edges.

    A forest where variables are independent: pairs without any mutual information (up to rounding)
    and constant columns have no edge. Of equally informative pairs the first goes first, in the
    order (0, 1), (0, 2), ..., (1, 2), ...; with that rule there is exactly one tree.

    Prim's algorithm: it asks for the pairs of one variable at a time and keeps one number for each
    variable, so that memory does not grow with the number of pairs.

    Shapes: edges (k, 2) int64; information (k,) float64.
    """
    outside = np.flatnonzero(sample.cards > 1)
    best, partner = np.zeros(len(outside)), np.full(len(outside), -1)
    found: list[tuple[int, int]] = []
    strengths: list[float] = []
    while len(outside) and not halted():
        numbers = _numbers(outside, partner, len(sample.cards))
        place = int(np.lexsort((numbers, -best))[0])
        new, edge, strength = int(outside[place]), int(partner[place]), float(best[place])
        if edge >= 0:
            found.append((min(edge, new), max(edge, new)))
            strengths.append(strength)
        outside, best, partner = (np.delete(a, place) for a in (outside, best, partner))
        pairs = np.stack([np.minimum(outside, new), np.maximum(outside, new)], axis=1)
        information = _worth(sample, pairs, prior)
        better = information > np.maximum(best, INDEPENDENT)
        earlier = _numbers(outside, new, len(sample.cards)) < np.delete(numbers, place)
        better |= (information == best) & (partner >= 0) & earlier
        best, partner = np.where(better, information, best), np.where(better, new, partner)
    edges, weights = np.array(found, dtype=np.int64).reshape(-1, 2), np.array(strengths)
    order = np.lexsort((edges[:, 1], edges[:, 0], -weights))
    edges, weights = edges[order], weights[order]
    known = np.isinf(weights)
    weights[known] = pair_information(sample, edges[known])
    return edges, weights


def _worth(sample: EncodedRows, pairs: Ints, prior: PairFactors | None) -> Floats:
    """Return the mutual information of pairs: infinite if required, -1 if they may not be edges."""
    if prior is None:
        return pair_information(sample, pairs)
    worth = np.where(prior.requires(pairs), np.inf, -1.0)
    open_ = np.flatnonzero(np.isfinite(prior.at(pairs)) & (worth < 0))
    worth[open_] = pair_information(sample, pairs[open_])
    return worth


def tree_potentials(
    sample: EncodedRows, edges: Ints, pseudo_count: float = PSEUDO_COUNT
) -> Potentials:
    """Return the maximum-likelihood weights of a forest, in closed form.

    Unaries are log p_i, tables log p_ij / (p_i p_j). So that cells without counts stay finite, the
    frequencies are those of the data mixed with independence, as if a fraction
    ``pseudo_count / (rows + pseudo_count)`` of the rows had been shuffled: the pair tables become
    positive, and the variables' own frequencies stay as they are.

    Shapes: edges (k, 2) int64.
    """
    edges = np.ascontiguousarray(edges, dtype=np.int64).reshape(-1, 2)
    share = pseudo_count / (sample.total_weight + pseudo_count)
    alone = np.exp(independent_potentials(sample).weights)  # positive also where nothing occurs
    margins = (1.0 - share) * sample.frequencies + share * alone
    layout = Layout.of(sample.cards, edges)
    together = _pair_frequencies(sample, layout)
    first, second = states_of_entries(layout, edges)
    joint = (1.0 - share) * together + share * alone[first] * alone[second]
    with np.errstate(divide="ignore"):
        tables = np.log(joint / (margins[first] * margins[second]))
        return Potentials(layout, np.concatenate([np.log(margins), tables]))


def _pair_frequencies(sample: EncodedRows, layout: Layout) -> Floats:
    """Return the frequencies of the edges' cells among the rows that have both variables."""
    counts, _ = sample.counts.tables(layout.edges)
    if sample.complete or not len(counts):
        return np.asarray(counts / sample.total_weight)
    totals = np.add.reduceat(counts, layout.edge_offsets[:-1] - layout.n_unary)
    return np.asarray(counts / np.repeat(np.maximum(totals, 1e-300), layout.edge_sizes))


def _numbers(variables: Ints, partner: Ints | int, n: int) -> Ints:
    """Return numbers in the order of the pairs; variables without a partner (-1) come first."""
    numbers: Ints = np.minimum(variables, partner) * n + np.maximum(variables, partner)
    return numbers


def _batches(cards: Ints, pairs: Ints) -> Iterator[slice]:
    """Yield slices of the pairs whose tables fit in memory together."""
    ends = np.cumsum(cards[pairs[:, 0]] * cards[pairs[:, 1]])
    start, held = 0, 0
    while start < len(pairs):
        stop = max(start + 1, int(np.searchsorted(ends, held + MOST_CELLS, side="right")))
        yield slice(start, stop)
        start, held = stop, int(ends[stop - 1])
