"""Sums of many variables' conditionals by the states of many others, over all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.layout import Floats, Ints
from graftwork.inference.ragged import offsets
from graftwork.kernels import scatter as kernel
from graftwork.kernels.threads import run_chunks

# Conditionals that are added at once: a register or two.
LANES = (0,) * 8
# Variables share a cell while their states combine to at most so many.
MOST_COMBINED = 128
# The sums of so many cells stay in a near cache.
MOST_CELLS = 12288
# Rows whose cells are kept at once.
SPAN = 2**15
# Pairs are cut by this many first variables, unless one product of all with all does less.
PART = 128
# From so many pairs on, and this share of all cells among their variables, products are quicker.
MANY_PAIRS, DENSE = 512, 0.2

#: Fills conditionals: (variable, first state, last state, first row, place among the lanes, out).
Take = Callable[[int, int, int, int, int, Floats], None]


class Groups(NamedTuple):
    """Variables whose states are combined to cells (see ``kernels.scatter``)."""

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
    def of(
        owners: Ints, others: Ints, cards: Ints, codes: NDArray[np.integer], take: Take,
        n_threads: int,
    ) -> Product:  # fmt: skip
        """Return the product; ``take`` fills in conditionals, times the rows' weights."""
        lines, columns = _places(owners, cards - 1), _places(others, cards)
        n_lines, n_columns = int((cards[owners] - 1).sum()), int(cards[others].sum())
        values = np.zeros((-(-n_lines // len(LANES)), n_columns, len(LANES)))
        pieces = list(_pieces(owners, cards))
        for start in range(0, codes.shape[1], SPAN):
            size = min(SPAN, codes.shape[1] - start)
            for part in Groups.of(others, cards).parts():
                cells = np.empty((size, len(part.bases)), dtype=np.uint32)
                kernel.find_cells(
                    part.variables, part.strides, part.bounds, part.bases, codes, start,
                    len(LANES), cells,
                )  # fmt: skip
                n_cells, flat = int(part.sizes.sum()), cells.ravel()
                where, states = columns[part.variables], cards[part.variables]

                def add(number: int, start: int = start, size: int = size, part: Groups = part,
                        flat: NDArray[np.uint32] = flat, n_cells: int = n_cells,
                        where: Ints = where, states: Ints = states) -> None:  # fmt: skip
                    own, sums = aligned(size), aligned(n_cells)
                    for node, first, last, place in pieces[number]:
                        take(node, first, last, start, place, own)
                    kernel.add_rows(LANES, own, flat, sums)
                    kernel.part_cells(
                        LANES, part.strides, states, part.bounds, part.bases, part.sizes, where,
                        sums, values[number].ravel(),
                    )  # fmt: skip

                run_chunks(add, range(len(values)), n_threads)
        return Product(lines, columns, values)


def aligned(count: int) -> Floats:
    """Return zeros for so many times the lanes, from a multiple of their bytes on.

    Numbers that lie across two lines of the cache take twice as long to load and store.
    """
    lanes = len(LANES)
    raw = np.zeros((count + 1) * lanes)
    skipped = -raw.ctypes.data // raw.itemsize % lanes
    return raw[skipped : skipped + count * lanes]


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


def _places(variables: Ints, sizes: Ints) -> Ints:
    """Return where each variable's lines start among those of ``variables``, or -1."""
    places = np.full(len(sizes), -1)
    places[variables] = np.cumsum(sizes[variables]) - sizes[variables]
    return places


def _pieces(owners: Ints, cards: Ints) -> Iterator[list[tuple[int, int, int, int]]]:
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
