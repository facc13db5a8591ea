"""Sums of conditionals by the states of a variable that is no neighbour: gradients of pairs.

Few pairs are summed one by one; many at once come from products of conditionals with states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graftwork.data.counts import Numbers, table_offsets
from graftwork.data.encoded import EncodedRows
from graftwork.inference.layout import Floats, Ints
from graftwork.inference.ragged import offsets
from graftwork.kernels import pair_sums as kernel
from graftwork.kernels.row_sums import cache_lines
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.conditionals import NO_IDS, Conditionals
from graftwork.objectives.neighbourhoods import lanes_for, padded
from graftwork.objectives.protocol import Expectations

# Conditionals that are added at once: a register or two.
LANES = (0,) * 8
# Variables share a cell while their states have at most this many combinations.
MOST_COMBINED = 128
# The sums of this many cells stay in a near cache.
MOST_CELLS = 12288
# Rows whose cells are kept at once.
SPAN = 2**15
# Pairs are cut by this many first variables, unless one product of all with all does less.
PART = 128
# From this many pairs on, and this share of all cells among their variables, products are quicker.
MANY_PAIRS, DENSE = 128, 0.2

#: Fills conditionals: (variable, first state, last state, first row, place among the lanes, out).
Take = Callable[[int, int, int, int, int, Floats], None]


def compare_pairs(at: Conditionals, pairs: Ints, own_sums: Floats) -> Expectations:
    """Return the mean conditionals of both variables of each pair, and the data's cells.

    Parameters
    ----------
    at : Conditionals
    pairs : (k, 2) int64
    own_sums : (states of all variables,) float64
        Sums over rows of each state's probability.
    """
    sample, total = at.sample, at.sample.total_weight
    counts, starts = sample.counts.extended_tables(pairs)
    sums = np.empty((2, int(starts[-1])))
    kernel.sum_alone(
        pairs, starts, at.neighbourhoods.degrees, sample.cards, sample.extended,
        at.potentials.layout.unary_offsets, own_sums, counts, sums,
    )  # fmt: skip
    if dense(pairs, sample.cards):
        _multiply_pairs(at, pairs, starts[:-1], counts, sums)
    else:
        _sum_one_by_one(at, pairs, starts[:-1], sums)
    model, data = (by_states(sample, pairs, values) for values in (sums, counts))
    data = data[0] if sample.complete else 0.5 * (data[0] + data[1])
    return Expectations(model / total, (2, 1), data / total, table_offsets(sample.cards, pairs))


def by_states(sample: EncodedRows, pairs: Ints, values: Any) -> Floats:
    """Return tables of pairs by states, for both sides, from tables by codes.

    For the first variable's side those of its states by what the second's codes count as; for the
    second's the other way round.

    Parameters
    ----------
    values : (2, entries) or (entries,) array
        One line for each side, or one for both.
    """
    both: Floats = np.broadcast_to(np.asarray(values, dtype=np.float64), (2, np.shape(values)[-1]))
    if sample.complete:
        return both
    starts, ends = table_offsets(sample.extended, pairs), table_offsets(sample.cards, pairs)
    out = np.zeros((2, int(ends[-1])))
    unary_offsets = offsets(sample.cards)
    kernel.fold_codes(
        pairs, sample.cards, sample.extended, unary_offsets, sample.frequencies,
        np.ascontiguousarray(both), starts, ends, out,
    )  # fmt: skip
    return out


def _sum_one_by_one(at: Conditionals, pairs: Ints, starts: Ints, sums: Floats) -> None:
    """Fill the sums of variables that have neighbours, variable by variable."""
    sample, here = at.sample, at.neighbourhoods
    flat, size = sums.reshape(-1), sums.shape[1]
    owner, other = pairs.T.ravel(), pairs[:, ::-1].T.ravel()
    goals = np.concatenate([starts, starts + size])
    second = sample.extended[pairs[:, 1]]
    own_strides = np.concatenate([second, np.ones_like(second)])
    other_strides = np.concatenate([np.ones_like(second), second])
    order = np.flatnonzero(here.degrees[owner] > 0)
    order = order[np.argsort(owner[order], kind="stable")]
    nodes, firsts = np.unique(owner[order], return_index=True)
    ends = np.append(firsts[1:], len(order))
    at.remember(nodes)

    def run(part: slice) -> None:
        for node, first, last in zip(nodes[part], firsts[part], ends[part], strict=True):
            mine = order[first:last]
            kernel.sum_by_others(
                lanes_for(sample.cards[node]), *at.of(node), here.cache.row_masses(node),
                other[mine], sample.codes, sample.extended, goals[mine], own_strides[mine],
                other_strides[mine], flat,
            )  # fmt: skip

    costs = (ends - firsts).astype(np.float64)
    run_chunks(run, cut_evenly(costs, at.n_threads), at.n_threads)


def _multiply_pairs(
    at: Conditionals, pairs: Ints, starts: Ints, counts: Numbers, sums: Floats
) -> None:
    """Fill the same sums from products of many conditionals with many variables' codes."""
    cards, extended = at.sample.cards, at.sample.extended
    for members in cut_pairs(pairs, cards):
        here, first = pairs[members], starts[members]
        both = np.unique(here)
        square = _multiply(at, both, both) if one_square(here, cards) else None
        for side in range(2):
            own, other = np.unique(here[:, side]), np.unique(here[:, 1 - side])
            product = square or _multiply(at, own, other)
            kernel.place_products(
                here, side, first, at.neighbourhoods.degrees, product.lines, product.columns,
                product.values, cards, extended, counts, sums,
            )  # fmt: skip


def _multiply(at: Conditionals, owners: Ints, others: Ints) -> Product:
    """Return the sums of some variables' conditionals by the codes of others."""
    here, cards = at.neighbourhoods, at.sample.cards
    owners = owners[here.degrees[owners] > 0]
    all_fit = at.fit(owners)
    merged = np.array([here.known[node].ids is not None for node in owners.tolist()], dtype=bool)
    at.remember(owners if all_fit else owners[merged])

    def take(node: int, first: int, last: int, start: int, place: int, out: Floats) -> None:
        masses = here.cache.row_masses(node)
        if all_fit or here.known[node].ids is not None:
            values, s, ids = at.of(node)
        else:  # too large to keep: these rows alone
            count = len(out) // len(LANES)
            values, s, ids = at.compute(node, start, count), int(cards[node]), NO_IDS
            masses, start = masses[start:], 0
        kernel.take_states(
            padded(s), first, last, values, ids, masses, start, place, len(LANES), out
        )

    return Product.of(owners, others, at.sample, take, at.n_threads)


class Groups(NamedTuple):
    """Variables whose codes are combined to cells (see ``kernels.pair_sums``)."""

    variables: Ints
    strides: Ints
    bounds: Ints
    bases: Ints
    sizes: Ints

    @staticmethod
    def of(variables: Ints, cards: Ints) -> Groups:
        """Return neighbouring variables in groups of few combinations."""
        strides, bounds, sizes = [], [0], [1]
        for place, card in enumerate(cards[variables].tolist()):
            if sizes[-1] > 1 and sizes[-1] * card > MOST_COMBINED:
                bounds.append(place)
                sizes.append(1)
            strides.append(sizes[-1])
            sizes[-1] *= card
        bounds.append(len(variables))
        ends = offsets(np.array(sizes))
        return Groups(variables, np.array(strides), np.array(bounds), ends[:-1], np.array(sizes))

    def parts(self) -> Iterator[Groups]:
        """Yield groups whose sums fit into a near cache together."""
        ends = self.bases + self.sizes
        first = 0
        while first < len(self.sizes):
            fitting = int(np.searchsorted(ends, self.bases[first] + MOST_CELLS, side="right"))
            last = max(first + 1, fitting)
            low, high = self.bounds[first], self.bounds[last]
            yield Groups(
                self.variables[low:high], self.strides[low:high],
                self.bounds[first : last + 1] - low, self.bases[first:last] - self.bases[first],
                self.sizes[first:last],
            )  # fmt: skip
            first = last


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """Sums over rows of the conditionals of ``owners``, all states but the last, by others' states.

    Attributes
    ----------
    lines : (n,) int64
        Where each owner's conditionals start; -1 where it is none.
    columns : (n,) int64
        Where each other variable's states start; -1 where it is none.
    values : (blocks of lines, columns, lanes) float64
    """

    lines: Ints
    columns: Ints
    values: Floats

    @staticmethod
    def of(owners: Ints, others: Ints, sample: EncodedRows, take: Take, n_threads: int) -> Product:
        """Return the product; ``take`` fills in conditionals, times the rows' weights."""
        cards, extended, codes = sample.cards, sample.extended, sample.codes
        lines, columns = lines_of(owners, cards - 1), lines_of(others, extended)
        n_lines, n_columns = int((cards[owners] - 1).sum()), int(extended[others].sum())
        values = np.zeros((-(-n_lines // len(LANES)), n_columns, len(LANES)))
        pieces = list(pieces_of(owners, cards))
        for start in range(0, codes.shape[1], SPAN):
            size = min(SPAN, codes.shape[1] - start)
            for part in Groups.of(others, extended).parts():
                cells = np.empty((size, len(part.bases)), dtype=np.uint32)
                kernel.find_cells(
                    part.variables, part.strides, part.bounds, part.bases, codes, start,
                    len(LANES), cells,
                )  # fmt: skip
                n_cells, flat = int(part.sizes.sum()), cells.ravel()
                where, states = columns[part.variables], extended[part.variables]

                def add(number: int, start: int = start, size: int = size, part: Groups = part,
                        flat: NDArray[np.uint32] = flat, n_cells: int = n_cells,
                        where: Ints = where, states: Ints = states) -> None:  # fmt: skip
                    own, sums = (cache_lines(count * len(LANES)) for count in (size, n_cells))
                    for node, first, last, place in pieces[number]:
                        take(node, first, last, start, place, own)
                    kernel.add_rows(LANES, own, flat, sums)
                    kernel.part_cells(
                        LANES, part.strides, states, part.bounds, part.bases, part.sizes, where,
                        sums, values[number].ravel(),
                    )  # fmt: skip

                run_chunks(add, range(len(values)), n_threads)
        return Product(lines, columns, values)


def cut_pairs(pairs: Ints, cards: Ints) -> list[Ints]:
    """Return the places of pairs, grouped by their first variables."""
    firsts, which = np.unique(pairs[:, 0], return_inverse=True)
    if len(firsts) <= 2 * PART and one_square(pairs, cards):
        return [np.arange(len(pairs))]
    part = which // PART
    return [np.flatnonzero(part == number) for number in range(int(part.max(initial=-1)) + 1)]


def one_square(pairs: Ints, cards: Ints) -> bool:
    """Return whether all variables with all have fewer cells than first with second both ways."""
    first, second, both = (
        int(cards[np.unique(ends)].sum()) for ends in (pairs[:, 0], pairs[:, 1], pairs)
    )
    return both**2 < 2 * first * second


def dense(pairs: Ints, cards: Ints) -> bool:
    """Return whether pairs are many, with most cells of the tables among their variables."""
    if len(pairs) < MANY_PAIRS:
        return False
    first, second = (int(cards[np.unique(ends)].sum()) for ends in pairs.T)
    return int(cards[pairs].prod(axis=1).sum()) >= DENSE * first * second


def lines_of(variables: Ints, sizes: Ints) -> Ints:
    """Return where each variable's lines start among those of ``variables``, or -1."""
    places = np.full(len(sizes), -1)
    places[variables] = np.cumsum(sizes[variables]) - sizes[variables]
    return places


def pieces_of(owners: Ints, cards: Ints) -> Iterator[list[tuple[int, int, int, int]]]:
    """Yield what fills the lanes: variables, first and last state, place among the lanes."""
    piece: list[tuple[int, int, int, int]] = []
    place = 0
    for node in owners.tolist():
        first, last = 0, int(cards[node]) - 1
        while first < last:
            count = min(last - first, len(LANES) - place)
            piece.append((node, first, first + count, place))
            first, place = first + count, place + count
            if place == len(LANES):
                yield piece
                piece, place = [], 0
    if piece:
        yield piece
