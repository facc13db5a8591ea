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
from graftwork.kernels.rare_codes import add_rare, sum_by_rare
from graftwork.kernels.row_sums import cache_lines
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.conditionals import NO_IDS, Conditionals
from graftwork.objectives.neighbourhoods import lanes_for, padded
from graftwork.objectives.protocol import Expectations
from graftwork.objectives.rare_codes import RareCodes

# Conditionals that are added at once: a register or two.
LANES = (0,) * 8
# Variables share a cell while their states have at most this many combinations.
MOST_COMBINED = 128
# The sums of this many cells stay in a near cache.
MOST_CELLS = 12288
# Rows whose cells are kept at once.
SPAN = 2**15
# Lanes of this many rows are filled before they are added: they stay in a near cache.
ROWS = 2**13
# Pairs are cut by this many first variables, unless one product of all with all does less.
PART = 128
# From this many pairs on, and this share of all cells among their variables, products are quicker.
MANY_PAIRS, DENSE = 128, 0.2

#: Fills conditionals: (variable, first state, last state, first row, place among the lanes, out).
Take = Callable[[int, int, int, int, int, Floats], None]
#: What fills the lanes: variables, first and last state, place among the lanes.
Piece = list[tuple[int, int, int, int]]


def compare_pairs(at: Conditionals, pairs: Ints, own_sums: Floats) -> Expectations:
    """Return the mean conditionals of both variables of each pair, and the data's cells.

    Shapes: pairs (k, 2) int64; own_sums (states of all variables,) float64.
    """
    sample, total = at.sample, at.sample.total_weight
    counts, starts = sample.counts.extended_tables(pairs)
    if dense(pairs, sample.cards):
        sums = np.empty((2, int(starts[-1])))
        _multiply_pairs(at, pairs, starts[:-1], counts, sums)
    else:
        sums = np.zeros((2, int(starts[-1])))
        if at.neighbourhoods.degrees[pairs].any():
            sums = at.over_rows(_sum_one_by_one, pairs, starts, variables=np.unique(pairs))
    kernel.sum_alone(
        pairs, starts, at.neighbourhoods.degrees, sample.cards, sample.extended,
        at.potentials.layout.unary_offsets, own_sums, counts, sums,
    )  # fmt: skip
    model, data = (by_states(sample, pairs, values) for values in (sums, counts))
    data = data[0] if sample.complete else 0.5 * (data[0] + data[1])
    return Expectations(model / total, (2, 1), data / total, table_offsets(sample.cards, pairs))


def by_states(sample: EncodedRows, pairs: Ints, values: Any) -> Floats:
    """Return tables of pairs by states, for both sides, from tables by codes.

    For the first variable's side those of its states by what the second's codes count as; for the
    second's the other way round.

    Shapes: values (2, entries) or (entries,) array.
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


def _sum_one_by_one(at: Conditionals, pairs: Ints, ends: Ints) -> Floats:
    """Return the sums of variables that have neighbours, variable by variable; 0 of others."""
    sample, here = at.sample, at.neighbourhoods
    starts, size = ends[:-1], int(ends[-1])
    sums = np.zeros((2, size))
    flat = sums.reshape(-1)
    owner, other = pairs.T.ravel(), pairs[:, ::-1].T.ravel()
    goals = np.concatenate([starts, starts + size])
    second = sample.extended[pairs[:, 1]]
    own_strides = np.concatenate([second, np.ones_like(second)])
    other_strides = np.concatenate([np.ones_like(second), second])
    order = np.flatnonzero(here.degrees[owner] > 0)
    order = order[np.argsort(owner[order], kind="stable")]
    nodes, firsts = np.unique(owner[order], return_index=True)
    lasts = np.append(firsts[1:], len(order))
    at.remember(nodes)
    rare = here.cache.rare

    def fill(node: int, mine: Ints) -> None:
        kernel.sum_by_others(
            lanes_for(sample.cards[node]), *at.of(node), here.cache.row_masses(node),
            other[mine], sample.codes, sample.extended, goals[mine], own_strides[mine],
            other_strides[mine], flat,
        )  # fmt: skip

    def fill_sparse(node: int, mine: Ints) -> None:
        if not len(mine):
            return
        sum_by_rare(
            padded(sample.cards[node]), *at.of(node), here.cache.row_masses(node), other[mine],
            rare.starts, rare.rows, rare.codes, rare.commonest, sample.extended, goals[mine],
            own_strides[mine], other_strides[mine], flat,
        )  # fmt: skip

    def run(part: slice) -> None:
        for node, first, last in zip(nodes[part], firsts[part], lasts[part], strict=True):
            mine = order[first:last]
            fill(int(node), mine[~rare.sparse[other[mine]]])
            fill_sparse(int(node), mine[rare.sparse[other[mine]]])

    costs = (lasts - firsts).astype(np.float64)
    run_chunks(run, cut_evenly(costs, at.n_threads), at.n_threads)
    return sums


def _multiply_pairs(
    at: Conditionals, pairs: Ints, starts: Ints, counts: Numbers, sums: Floats
) -> None:
    """Fill the same sums from products of many conditionals with many variables' codes."""
    cards, extended, degrees = at.sample.cards, at.sample.extended, at.neighbourhoods.degrees
    jobs: list[tuple[Ints, Ints]] = []
    goals: list[tuple[Ints, int, int]] = []
    for members in cut_pairs(pairs, cards):
        first, second, both = _ends(pairs[members], cards)
        if one_square(pairs[members], cards):
            goals += [(members, 0, len(jobs)), (members, 1, len(jobs))]
            jobs.append((both, both))
        else:
            goals += [(members, 0, len(jobs)), (members, 1, len(jobs) + 1)]
            jobs += [(first, second), (second, first)]
    jobs = [(own[degrees[own] > 0], other) for own, other in jobs]
    products = [np.zeros((0, 0, len(LANES)))] * len(jobs)
    wanted = np.unique(np.concatenate([own for own, _ in jobs]))
    if len(wanted):
        products = at.over_rows(_multiply, jobs, variables=wanted)
    for members, side, number in goals:
        own, other = jobs[number]
        kernel.place_products(
            pairs[members], side, starts[members], degrees, lines_of(own, cards - 1),
            lines_of(other, extended), products[number], cards, extended, counts, sums,
        )  # fmt: skip


def _multiply(at: Conditionals, jobs: list[tuple[Ints, Ints]]) -> list[Floats]:
    """Return the sums of some variables' conditionals by the codes of others (see `product`)."""
    return [_multiply_one(at, *job) for job in jobs]


def _multiply_one(at: Conditionals, owners: Ints, others: Ints) -> Floats:
    here, cards = at.neighbourhoods, at.sample.cards
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

    return product(owners, others, at.sample, here.cache.rare, take, at.n_threads)


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
class Cells:
    """The cells that some rows are in, of groups of variables."""

    start: int  # start, size: the first row, and how many there are
    size: int
    part: Groups
    places: NDArray[np.uint32]  # (size * groups,) uint32: where the sums of each row's cells start

    @staticmethod
    def of(variables: Ints, sample: EncodedRows) -> Iterator[Cells]:
        """Yield the cells of some variables, for some rows and some of the groups at a time."""
        if not len(variables):
            return
        groups = Groups.of(variables, sample.extended)
        for start in range(0, sample.n_rows, SPAN):
            size = min(SPAN, sample.n_rows - start)
            for part in groups.parts():
                places = np.empty((size, len(part.bases)), dtype=np.uint32)
                kernel.find_cells(
                    part.variables, part.strides, part.bounds, part.bases, sample.codes, start,
                    len(LANES), places,
                )  # fmt: skip
                yield Cells(start, size, part, places.ravel())

    def add(
        self, pieces: list[Piece], take: Take, columns: Ints, extended: Ints, values: Floats,
        n_threads: int,
    ) -> None:  # fmt: skip
        """Add what ``take`` fills in for these rows to ``values``, a table for each piece."""
        part = self.part
        where, codes = columns[part.variables], extended[part.variables]

        def add(own: Floats, out: Floats) -> None:
            kernel.add_blocks(
                LANES, own, self.places, part.strides, codes, part.bounds, part.bases, part.sizes,
                where, out,
            )  # fmt: skip

        _add_pieces(self.start, self.size, pieces, take, add, values, n_threads)


@dataclass(frozen=True, slots=True, eq=False)
class RareRows:
    """Some rows of sparse variables: those that do not have the commonest codes."""

    start: int  # start, size: the first row, and how many there are
    size: int
    variables: Ints  # (k,)
    rare: RareCodes
    firsts: Ints  # firsts, lasts: (k,): where the rows of each variable start and end there
    lasts: Ints

    @staticmethod
    def of(variables: Ints, sample: EncodedRows, rare: RareCodes) -> Iterator[RareRows]:
        """Yield the rows of some variables, which are sparse, for some rows at a time."""
        if not len(variables):
            return
        bounds = [*range(0, sample.n_rows, SPAN), sample.n_rows]
        for start, stop, (firsts, lasts) in zip(
            bounds[:-1], bounds[1:], rare.spans(variables, bounds), strict=True
        ):
            yield RareRows(start, stop - start, variables, rare, firsts, lasts)

    def add(
        self, pieces: list[Piece], take: Take, columns: Ints, extended: Ints, values: Floats,
        n_threads: int,
    ) -> None:  # fmt: skip
        """Add what ``take`` fills in for these rows to ``values``, a table for each piece."""
        where, commonest = columns[self.variables], self.rare.commonest[self.variables]

        def add(own: Floats, out: Floats) -> None:
            add_rare(
                LANES, own, self.start, self.firsts, self.lasts, self.rare.rows, self.rare.codes,
                commonest, where, out,
            )  # fmt: skip

        _add_pieces(self.start, self.size, pieces, take, add, values, n_threads)


def _add_pieces(
    start: int, size: int, pieces: list[Piece], take: Take, add: Callable[[Floats, Floats], None],
    values: Floats, n_threads: int,
) -> None:  # fmt: skip
    """Fill the lanes of some rows, and add them to the tables of their pieces."""
    step = max(1, ROWS // size)

    def run(first: int) -> None:
        here = pieces[first : first + step]
        own = cache_lines(len(here) * size * len(LANES)).reshape(len(here), -1)
        for piece, lines in zip(here, own, strict=True):
            for node, low, high, place in piece:
                take(node, low, high, start, place, lines)
        add(own, values[first : first + step])

    run_chunks(run, range(0, len(pieces), step), n_threads)


def cells_of(variables: Ints, sample: EncodedRows, rare: RareCodes) -> Iterator[Cells | RareRows]:
    """Yield what the rows of some variables are added up by, some rows at a time."""
    sparse = rare.sparse[variables]
    yield from RareRows.of(variables[sparse], sample, rare)
    yield from Cells.of(variables[~sparse], sample)


def product(
    owners: Ints, others: Ints, sample: EncodedRows, rare: RareCodes, take: Take, n_threads: int
) -> Floats:
    """Return sums over rows of the conditionals of ``owners`` by the codes of others.

    A line for each state of an owner but its last, a column for each code of another variable,
    shape (blocks of lines, columns, lanes). ``take`` fills in conditionals, times the rows'
    weights.
    """
    cards, extended = sample.cards, sample.extended
    columns, pieces = lines_of(others, extended), list(pieces_of(owners, cards))
    values = np.zeros((len(pieces), int(extended[others].sum()), len(LANES)))
    for cells in cells_of(others, sample, rare) if pieces else ():
        cells.add(pieces, take, columns, extended, values, n_threads)
    return values


def cut_pairs(pairs: Ints, cards: Ints) -> list[Ints]:
    """Return the places of pairs, grouped by their first variables."""
    firsts, _, _ = _ends(pairs, cards)
    if len(firsts) <= 2 * PART and one_square(pairs, cards):
        return [np.arange(len(pairs))]
    part = np.searchsorted(firsts, pairs[:, 0]) // PART
    return [np.flatnonzero(part == number) for number in range(int(part.max(initial=-1)) + 1)]


def one_square(pairs: Ints, cards: Ints) -> bool:
    """Return whether all variables with all have fewer cells than first with second both ways."""
    first, second, both = (int(cards[ends].sum()) for ends in _ends(pairs, cards))
    return both**2 < 2 * first * second


def dense(pairs: Ints, cards: Ints) -> bool:
    """Return whether pairs are many, with most cells of the tables among their variables."""
    if len(pairs) < MANY_PAIRS:
        return False
    first, second, _ = (int(cards[ends].sum()) for ends in _ends(pairs, cards))
    return int(cards[pairs].prod(axis=1).sum()) >= DENSE * first * second


def _ends(pairs: Ints, cards: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the first variables of pairs, their second ones, and both."""
    seen = np.zeros((3, len(cards)), dtype=bool)
    seen[0, pairs[:, 0]] = seen[1, pairs[:, 1]] = True
    np.logical_or(seen[0], seen[1], out=seen[2])
    first, second, both = (np.flatnonzero(ends) for ends in seen)
    return first, second, both


def lines_of(variables: Ints, sizes: Ints) -> Ints:
    """Return where each variable's lines start among those of ``variables``, or -1."""
    places = np.full(len(sizes), -1)
    places[variables] = np.cumsum(sizes[variables]) - sizes[variables]
    return places


def pieces_of(owners: Ints, cards: Ints) -> Iterator[Piece]:
    """Yield what fills the lanes, one piece after the other."""
    piece: Piece = []
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
