"""Sums over rows for many pairs at once: how they are cut into products of two tall matrices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.layout import Floats, Ints

# Rows of one matrix product, and variables of one task: fixed, so that threads change nothing.
STRIP, PART = 2048, 48
# From so many pairs on, and this share of all pairs among their variables, products are quicker.
MANY_PAIRS, DENSE = 512, 0.12


class PairBlock(NamedTuple):
    """The pairs of some first variables, and the products that hold their sums.

    ``members`` are the pairs. Products of side 0 are of the first variables' conditionals with the
    second ones' states, of side 1 the other way round, rows and columns from the first ones on.
    """

    members: Ints
    first_rows: tuple[int, int]
    first_columns: tuple[int, int]
    products: tuple[Floats, Floats]

    @staticmethod
    def of(pairs: Ints, members: Ints, places: Ints, total: int) -> PairBlock:
        """Return the block of some pairs whose first variables lie together."""
        here = pairs[members]
        low, high = int(here[:, 0].min()), int(here[:, 0].max())
        ends = np.append(places[places >= 0], total)
        stop = int(ends[np.searchsorted(ends, places[high], side="right")])
        first, second = int(places[low]), int(places[here[:, 1].min()])
        shape = stop - first, total - second
        products = np.zeros(shape), np.zeros(shape[::-1])
        return PairBlock(members, (first, second), (second, first), products)

    def add(self, own: NDArray[np.floating], states: NDArray[np.floating]) -> None:
        """Add the products over some rows."""
        for side in range(2):
            rows, columns = self.products[side].shape
            first, second = self.first_rows[side], self.first_columns[side]
            left, right = own[first : first + rows], states[second : second + columns]
            self.products[side][:] += left @ right.T


def cut_pairs(firsts: Ints) -> list[Ints]:
    """Return the places of pairs, grouped by their first variables, ``PART`` of those at a time."""
    _, which = np.unique(firsts, return_inverse=True)
    part = which // PART
    return [np.flatnonzero(part == number) for number in range(int(part.max(initial=-1)) + 1)]


def dense(pairs: Ints) -> bool:
    """Return whether pairs are many, and most of those among their variables."""
    if len(pairs) < MANY_PAIRS:
        return False
    among = len(np.unique(pairs[:, 0])) * len(np.unique(pairs[:, 1]))
    return len(pairs) >= DENSE * among


def stacked(nodes: Ints, cards: Ints) -> Ints:
    """Return where each variable's states but the last lie among those of ``nodes``, or -1."""
    places = np.full(len(cards), -1)
    places[nodes] = np.cumsum(cards[nodes] - 1) - (cards[nodes] - 1)
    return places
