"""What a variable's conditional is computed from: its neighbours' configurations, not the rows.

Rows in which all neighbours have the same states share one conditional. Where few configurations
occur, rows are merged into them; where many do, rows stay, but neighbours are looked up in groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from graftwork.data.compact import Sample
from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.kernels import stars as kernel
from graftwork.objectives.protocol import states_of_entries

# Rows are merged where there are at most this many configurations for each of them.
MOST_CONFIGURATIONS = 0.35
# A group's look-up table has at most this many entries, so that it stays in the nearest cache.
MOST_ENTRIES = 1024
# Inner loops run over this many states at once: four, or blocks of eight.
FEW, MANY = (0,) * 4, (0,) * 8

Kind = TypeVar("Kind", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Star:
    """A variable's neighbours, in the order of their edges, and their configurations.

    Attributes
    ----------
    others : (k,) int64
    ids : (rows,) int32, optional
        The configuration of each row; None where rows were not merged.
    n_configurations : int
    groups : (g, 4) int64
        First and last neighbour, number of codes, where the codes start in the book's arena.
    masses : int
        Where the configurations' weights start in the book's arena, or -1: all are 1.
    """

    others: Ints
    ids: NDArray[np.int32] | None
    n_configurations: int
    groups: Ints
    masses: int


class Arena(Generic[Kind]):
    """One growing array that many short ones are kept in."""

    def __init__(self, dtype: type[Kind]) -> None:
        self.values: NDArray[Kind] = np.zeros(1024, dtype=dtype)
        self.size = 0

    def add(self, values: NDArray[Any]) -> int:
        """Return where a copy of these values starts."""
        start, self.size = self.size, self.size + len(values)
        if self.size > len(self.values):
            self.values = np.resize(self.values, max(self.size, 2 * len(self.values)))
        self.values[start : self.size] = values
        return start


class StarBook:
    """The stars of a sample's variables, kept while their neighbours stay the same."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._weights = np.zeros(0) if sample.weights is None else sample.weights
        self._stars: dict[int, Star] = {}
        self._clear()

    def _clear(self) -> None:
        # new ones: stars written before keep the old
        self.codes, self.masses = Arena(np.uint16), Arena(np.float64)
        self.masses.add(self._weights)  # of rows that were not merged

    def star(self, node: int, others: Ints) -> Star:
        """Return a variable's star."""
        known = self._stars.get(node)
        if known is None or not np.array_equal(known.others, others):
            known = self._write(node, others, *self._classes(known, others))
            self._stars[node] = known
        return known

    def tidy(self, wanted: Ints) -> None:
        """Forget stars of other variables, and codes that no star needs any more."""
        used = sum(len(star.groups) * star.n_configurations for star in self._stars.values())
        if self.codes.size < 2 * used + 2**20:
            return
        self._clear()
        self._stars = {
            node: self._write(node, star.others, star.ids, star.n_configurations)
            for node, star in self._stars.items()
            if node in wanted
        }

    def _classes(self, known: Star | None, others: Ints) -> tuple[NDArray[np.int32] | None, int]:
        """Return which configuration each row has, and how many there are; None for too many."""
        rows = self._sample.n_rows
        limit, cards = int(MOST_CONFIGURATIONS * rows), self._sample.cards
        ids, count, first = np.zeros(rows, dtype=np.int32), 1, 0
        if known is not None and np.array_equal(known.others, others[: len(known.others)]):
            if known.ids is None:
                return None, rows
            ids, count, first = known.ids, known.n_configurations, len(known.others)
        for other in others[first:]:
            card = int(cards[other])
            if count * card > 16 * rows:  # a table of all that may occur would be too large
                return None, rows
            fresh, places = np.empty_like(ids), np.empty(count * card, dtype=np.int32)
            count = kernel.refine(ids, count, self._sample.codes[other], card, places, fresh)
            ids = fresh
            if count > limit:
                return None, rows
        return ids, count

    def _write(self, node: int, others: Ints, ids: NDArray[np.int32] | None, count: int) -> Star:
        """Return a star whose codes are in the arenas."""
        columns, masses = self._sample.codes, 0 if len(self._weights) else -1
        if ids is not None:
            representatives, totals = np.empty(count, dtype=np.int64), np.empty(count)
            kernel.gather_classes(ids, self._weights, representatives, totals)
            masses = self.masses.add(totals)
        groups = []
        for first, last, n_codes in self._cut(node, others):
            codes = np.zeros(count, dtype=np.uint16)
            for other in others[first:last]:
                column = columns[other] if ids is None else columns[other][representatives]
                codes *= np.uint16(self._sample.cards[other])
                codes += column
            groups.append((first, last, n_codes, self.codes.add(codes)))
        return Star(others, ids, count, np.array(groups, dtype=np.int64), masses)

    def _cut(self, node: int, others: Ints) -> list[tuple[int, int, int]]:
        """Return consecutive groups of neighbours, and how many codes each has."""
        cards = self._sample.cards
        limit = MOST_ENTRIES // padded(int(cards[node]))
        groups, first, n_codes = [], 0, 1
        for place, other in enumerate(others):
            card = int(cards[other])
            if place > first and n_codes * card > limit:
                groups.append((first, place, n_codes))
                first, n_codes = place, 1
            n_codes *= card
        groups.append((first, len(others), n_codes))
        return groups


def padded(states: int) -> int:
    """Return a number of states rounded up to whole lanes.

    Examples
    --------
    >>> padded(3), padded(5), padded(17)
    (4, 8, 24)
    """
    return len(FEW) if states <= len(FEW) else -(-states // len(MANY)) * len(MANY)


def lanes_for(states: int) -> tuple[int, ...]:
    """Return how many states the kernels take at once, as the length of a tuple."""
    return FEW if states <= len(FEW) else MANY


@dataclass(frozen=True, slots=True, eq=False)
class Stars:
    """All stars of a layout, as the kernels take them (see ``kernels.stars``).

    ``connected`` are the variables that have neighbours, ``costs`` about what each costs a pass,
    ``ids`` their rows' configurations, ``states`` which states (as positions among all unary
    entries) each table entry is about. The arenas only grow: what is here stays where it is.
    """

    halves: Ints
    groups: Ints
    stars: Ints
    degrees: Ints
    connected: Ints
    states: tuple[Ints, Ints]
    costs: Floats
    ids: dict[int, NDArray[np.int32] | None]
    codes: Arena[np.uint16]
    masses: Arena[np.float64]

    @staticmethod
    def of(layout: Layout, book: StarBook) -> Stars:
        """Return the stars of a layout."""
        owner = layout.edges.ravel()
        order = np.argsort(owner, kind="stable")
        others = layout.edges[:, ::-1].ravel()[order]
        edge, side = np.divmod(order, 2)
        second = layout.cards[layout.edges[edge, 1]]
        halves = np.stack(
            [
                layout.cards[others],
                layout.edge_offsets[:-1][edge] - layout.n_unary,
                np.where(side == 0, second, 1),
                np.where(side == 0, 1, second),
                side,
            ],
            axis=1,
        )
        degrees = np.bincount(owner, minlength=layout.n_variables)
        ends = np.cumsum(degrees)
        connected = np.flatnonzero(degrees)
        book.tidy(connected)
        stars = np.zeros((layout.n_variables, 4), dtype=np.int64)
        groups, ids, count = [np.zeros((0, 4), dtype=np.int64)], {}, 0
        for node in connected.tolist():
            first = int(ends[node] - degrees[node])
            star = book.star(node, others[first : int(ends[node])])
            own = star.groups.copy()
            own[:, :2] += first
            groups.append(own)
            stars[node] = count, count + len(own), star.n_configurations, star.masses
            ids[node], count = star.ids, count + len(own)
        n_groups = (stars[:, 1] - stars[:, 0])[connected]
        costs = np.zeros(layout.n_variables)
        costs[connected] = stars[connected, 2] * (2.0 + n_groups) + 500.0 * n_groups
        return Stars(
            np.ascontiguousarray(halves), np.concatenate(groups), stars, degrees, connected,
            states_of_entries(layout, layout.edges), costs, ids, book.codes, book.masses,
        )  # fmt: skip

    def masses_of(self, node: int) -> Floats:
        """Return the weights of a variable's configurations."""
        start, count = int(self.stars[node, 3]), int(self.stars[node, 2])
        return self.masses.values[start : start + count]

    def ids_of(self, nodes: Ints) -> tuple[NDArray[np.int32], Ints]:
        """Return the configurations of some variables' rows, and where each starts (or -1)."""
        known = [self.ids[node] for node in nodes.tolist()]
        found = [ids for ids in known if ids is not None]
        if not found:
            return np.zeros(0, dtype=np.int32), np.full(len(nodes), -1)
        merged = np.array([ids is not None for ids in known])
        starts = np.where(merged, (np.cumsum(merged) - 1) * len(found[0]), -1)
        return np.concatenate(found), starts
