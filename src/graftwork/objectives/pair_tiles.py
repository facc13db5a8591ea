"""Gradient tables of all pairs of variables, a tile of pairs at a time: none is listed or kept.

Pairs between two lists of variables share the sums of residuals by states. Tables of counts are
needed for variables without neighbours alone, and made by the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from graftwork.data.parts import TilingEngine
from graftwork.inference.layout import Floats, Ints
from graftwork.inference.ragged import offsets
from graftwork.kernels import pair_tiles
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.conditionals import NO_IDS, Conditionals
from graftwork.objectives.neighbourhoods import padded
from graftwork.objectives.pair_sums import LANES, Cells, RareRows, cells_of, lines_of, pieces_of
from graftwork.objectives.protocol import Expectations

# The variables of one side of a tile have about this many states.
TILE = 4096
# Cells of this many rows and groups of variables are kept from tile to tile.
MOST_CELLS = 2**26

Summed = Cells | RareRows


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """All pairs between two lists of variables, the same ones or such that share none."""

    first: Ints  # first, second: (k,): variables
    second: Ints
    places: tuple[int, int]  # where both lists start among all variables asked for
    # forth, back: (blocks of lines, columns, lanes): sums of the residuals of the first by states
    # of the second, and the other way round
    forth: Floats
    back: Floats
    at: Conditionals

    @property
    def triangle(self) -> bool:
        """Whether both lists are the same: then only pairs above the diagonal count."""
        return self.places[0] == self.places[1]

    def slack(self, roots: Floats, largest: bool, limit: float) -> float:
        """Return by how much a score near a limit may be wrong: not at all."""
        return 0.0

    def scores(self, roots: Floats, largest: bool) -> Floats:
        """Return norms of the gradient tables over both variables' roots, or largest entries."""
        total = float(self.at.sample.total_weight)
        return self._fill(pair_tiles.score_tables, roots, largest, total)

    def statistics(self, axes: list[Floats], curvatures: list[Floats]) -> Floats:
        """Return statistics in coordinates of each variable's own (see ``quick_statistics``)."""
        sizes = np.array([len(own) for own in curvatures], dtype=np.int64)
        nothing = np.zeros(0)
        joined = np.concatenate([nothing, *(own.ravel() for own in axes)])
        along = np.concatenate([nothing, *curvatures])
        starts = offsets(np.array([own.size for own in axes], dtype=np.int64)), offsets(sizes)
        return self._fill(pair_tiles.quick_statistics, joined, starts[0], sizes, along, starts[1])

    def scored_above(self, roots: Floats, largest: bool, limit: float) -> tuple[Ints, Ints, Floats]:
        """Return the pairs that score above a limit.

        Their places in the first list and in the second, and their scores.
        """
        found = self.scores(roots, largest)
        lines, columns = np.nonzero(found > limit)
        return lines, columns, found[lines, columns]

    def striking(
        self, axes: list[Floats], curvatures: list[Floats], least: Floats
    ) -> tuple[Ints, Ints, Floats]:
        """Return the pairs whose statistic is large, as `scored_above` does."""
        found = self.statistics(axes, curvatures)
        first, second = (
            np.array([len(curvatures[i]) for i in some.tolist()], dtype=np.int64)
            for some in (self.first, self.second)
        )
        chosen = found >= least[first[:, None] * second]
        lines, columns = np.nonzero(np.triu(chosen, 1) if self.triangle else chosen)
        return lines, columns, found[lines, columns]

    def expectations(self, lines: Ints, columns: Ints) -> Expectations:
        """Return what the loss compares at some pairs: both sides of the model as one.

        Shapes: lines, columns (k,) int64.
        """
        sample, total = self.at.sample, self.at.sample.total_weight
        pairs = np.stack([self.first[lines], self.second[columns]], axis=1)
        counts, starts = sample.counts.compute(pairs)
        slopes, data = np.empty(int(starts[-1])), np.asarray(counts, dtype=np.float64) / total
        forth, back = (_layout(self.at, *both) for both in self._sides())
        pair_tiles.list_tables(
            lines, columns, self.first, self.second, sample.cards, *forth, self.forth, *back,
            self.back, starts, slopes,
        )  # fmt: skip
        return Expectations((2.0 * data - slopes / total)[None], (2, 1), data, starts)

    def _fill(self, kernel: Callable[..., None], *more: Any) -> Floats:
        cards, n_threads = self.at.sample.cards, self.at.n_threads
        forth, back = (_layout(self.at, *both) for both in self._sides())
        out = np.zeros((len(self.first), len(self.second)))

        def run(part: slice) -> None:
            kernel(
                part.start, part.stop, self.first, self.second, self.triangle, cards, *forth,
                self.forth, *back, self.back, *more, out,
            )  # fmt: skip

        costs = np.ones(len(self.first))
        if self.triangle:
            costs = np.arange(len(costs), 0.0, -1.0)
        run_chunks(run, cut_evenly(costs, n_threads), n_threads)
        return out

    def _sides(self) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
        return (self.first, self.second), (self.second, self.first)


def tiles(
    at: Conditionals, variables: Ints, own_sums: Floats, leading: int | None = None
) -> Iterator[Tile]:
    """Yield all pairs among some variables, tile by tile.

    Shapes: variables (k,) int64; own_sums (states of all variables,) float64.
    """
    elsewhere = at.sample.parts
    if elsewhere is not None and isinstance(elsewhere.engine, TilingEngine):
        made = elsewhere.engine.tiles(elsewhere.handles, at, variables, own_sums, leading)
        if made is not None:
            yield from made
            return
    leading = len(variables) if leading is None else leading
    ends = np.cumsum(at.sample.cards[variables])
    cuts = np.flatnonzero(np.diff(ends // TILE)) + 1
    if leading < len(variables):
        cuts = np.union1d(cuts, [leading])
    parts = np.split(variables, cuts)
    places = [0, *accumulate(map(len, parts))]
    kept: dict[int, list[Summed]] = {}
    for second, theirs in enumerate(parts):
        for first, mine in enumerate(parts[: second + 1]):
            if places[first] >= leading:
                break
            if at.sample.parts is None:
                sides = _sides(at, parts, first, second, own_sums, kept)
            else:
                both = np.union1d(mine, theirs)
                sides = at.over_rows(_sides, parts, first, second, own_sums, variables=both)
            yield Tile(mine, theirs, (places[first], places[second]), sides[0], sides[-1], at)


def _sides(
    at: Conditionals, parts: list[Ints], first: int, second: int, own_sums: Floats,
    kept: dict[int, list[Summed]] | None = None,
) -> list[Floats]:  # fmt: skip
    """Return the sums of a tile: forth and back, or once where both lists are the same."""
    kept = {} if kept is None else kept
    mine, theirs = parts[first], parts[second]
    forth = _sum(at, mine, theirs, own_sums, _cells(at, parts, second, kept))
    if first == second:
        return [forth]
    return [forth, _sum(at, theirs, mine, own_sums, _cells(at, parts, first, kept))]


def _cells(
    at: Conditionals, parts: list[Ints], number: int, kept: dict[int, list[Summed]]
) -> Iterator[Summed]:
    """Yield the cells of one list of variables, kept where there is room for those of all."""
    rare = at.neighbourhoods.cache.rare
    found: Iterable[Summed] = kept.get(number) or cells_of(parts[number], at.sample, rare)
    if at.sample.n_rows * sum(map(len, parts)) <= MOST_CELLS:
        found = kept[number] = list(found)
    yield from found


def _order(at: Conditionals, owners: Ints) -> tuple[Ints, Ints]:
    """Return the owners whose residuals are summed over rows, and those that counts are for."""
    alone = at.neighbourhoods.degrees[owners] == 0
    if at.sample.parts is not None or at.sample.counts.bitsets is None:
        alone[:] = False
    return owners[~alone], owners[alone]


def _layout(at: Conditionals, owners: Ints, others: Ints) -> tuple[Ints, Ints]:
    """Return where the lines of each owner and the columns of each other variable start."""
    cards = at.sample.cards
    summed, counted = _order(at, owners)
    lines = lines_of(summed, cards - 1)
    n_lines = int((cards[summed] - 1).sum())
    lines[counted] = lines_of(counted, cards - 1)[counted] + -(-n_lines // len(LANES)) * len(LANES)
    return lines, lines_of(others, cards)


def _sum(
    at: Conditionals, owners: Ints, others: Ints, own_sums: Floats, cells: Iterator[Summed]
) -> Floats:
    """Return the sums of the owners' residuals by states of others."""
    sample, width = at.sample, len(LANES)
    cards, extended = sample.cards, sample.extended
    summed, counted = _order(at, owners)
    lines, columns = _layout(at, owners, others)
    blocks = [-(-int((cards[some] - 1).sum()) // width) for some in (summed, counted)]
    values = np.zeros((sum(blocks), int(cards[others].sum()), width))
    if len(counted):
        _place_counts(at, counted, others, lines, columns, own_sums, values)
    pieces = list(pieces_of(summed, cards))
    fit = at.fit(summed)
    if fit:
        at.remember(summed)

    def take(node: int, first: int, last: int, start: int, place: int, out: Floats) -> None:
        _take(at, fit, node, first, last, start, place, out)

    for one in cells if pieces else ():
        one.add(pieces, take, columns, extended, values, at.n_threads)
    return values


def _place_counts(
    at: Conditionals, counted: Ints, others: Ints, lines: Ints, columns: Ints, own_sums: Floats,
    values: Floats,
) -> None:  # fmt: skip
    """Fill the sums of variables without neighbours, from counts."""
    sample, sets = at.sample, at.sample.counts.bitsets
    assert sets is not None
    starts = at.potentials.layout.unary_offsets
    shares = own_sums / np.repeat(sample.observed_weight, sample.cards)
    margins = np.asarray(sample.counts.margins)

    def run(part: slice) -> None:
        pair_tiles.place_counts(
            counted[part], others, lines, columns, sample.cards, sets.bits, sets.offsets, margins,
            starts, shares, values,
        )  # fmt: skip

    run_chunks(run, cut_evenly(np.ones(len(counted)), at.n_threads), at.n_threads)


def _take(
    at: Conditionals, fit: bool, node: int, first: int, last: int, start: int, place: int,
    out: Floats,
) -> None:  # fmt: skip
    """Fill in the residuals of some states of a variable, in rows from ``start`` on."""
    here, states = at.neighbourhoods, int(at.sample.cards[node])
    masses, codes = here.cache.row_masses(node), at.sample.codes[node]
    if fit or not here.degrees[node] or here.known[node].ids is not None:
        values, states, ids = at.of(node)
    else:  # too large to keep: these rows alone
        values, ids = at.compute(node, start, len(out) // len(LANES)), NO_IDS
        masses, codes, start = masses[start:], codes[start:], 0
    pair_tiles.take_residuals(
        padded(states), first, last, values, ids, masses, codes, start, place, len(LANES), out
    )
