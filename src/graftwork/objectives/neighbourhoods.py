"""The rows of a sample by the states of a variable's neighbours.

The conditional of a variable depends on its neighbours alone: rows in which all of them have the
same codes (a *configuration*) share it. Where few configurations occur, rows are merged into them;
where many do, rows stay, but neighbours are looked up in groups. Rows need not be complete: codes
of missing neighbours are codes like others, and whether the variable itself is missing is part of
the configuration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from graftwork.data.encoded import EncodedRows
from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.kernels import neighbourhoods as kernel
from graftwork.objectives.protocol import states_of_entries

Ids = NDArray[np.int32]
Kind = TypeVar("Kind", bound=np.generic)

# Rows are merged where there are at most this many configurations for each of them.
MOST_CONFIGURATIONS = 0.35
# A group's look-up table has at most this many entries, so that it stays in the nearest cache.
MOST_ENTRIES = 1024
# Inner loops run over this many states at once: four, or blocks of eight.
FEW, MANY = (0,) * 4, (0,) * 8


def padded(states: int) -> int:
    """Return a number of states rounded up to whole lanes.

    Examples
    --------
    >>> padded(3), padded(5), padded(17)
    (4, 8, 24)
    """
    lanes = len(lanes_for(states))
    return -(-states // lanes) * lanes


def lanes_for(states: int) -> tuple[int, ...]:
    """Return how many states the kernels take at once, as the length of a tuple."""
    return FEW if states <= len(FEW) else MANY


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhood:
    """A variable's neighbours, in the order of their edges, and their configurations.

    Attributes
    ----------
    others : (k,) int64
    ids : (rows,) int32, optional
        The configuration of each row; None where rows were not merged.
    first : (count,) int64, optional
        The first row of each configuration; None where rows were not merged.
    count : int
        How many configurations there are.
    groups : (g, 4) int64
        First and last neighbour, number of codes, where the codes start in the cache's arena.
    masses : int
        Where the configurations' masses start in the cache's arena, or -1: all are 1.
    """

    others: Ints
    ids: Ids | None
    first: Ints | None
    count: int
    groups: Ints
    masses: int

    def row_ids(self) -> Ids:
        """Return the configuration of each row: itself where rows were not merged."""
        return np.arange(self.count, dtype=np.int32) if self.ids is None else self.ids

    def codes(
        self, sample: EncodedRows, i: int, part: slice | None = None
    ) -> NDArray[np.unsignedinteger]:
        """Return the codes of a neighbour, or of the variable itself, in each configuration.

        Or in part of the configurations.
        """
        own: NDArray[np.unsignedinteger] = sample.codes[i]
        part = slice(None) if part is None else part
        return own[part] if self.first is None else own[self.first[part]]


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


class NeighbourhoodCache:
    """The neighbourhoods of a sample's variables, kept while the neighbours stay the same."""

    def __init__(self, sample: EncodedRows) -> None:
        self.sample = sample
        self._weights = np.zeros(0) if sample.weights is None else sample.weights
        self.frequencies = sample.frequencies
        self._kept: dict[int, Neighbourhood] = {}
        self._some: dict[int, Ints] = {}
        self._clear()

    def _clear(self) -> None:
        # new ones: neighbourhoods written before keep the old
        self.codes, self.masses = Arena(np.uint16), Arena(np.float64)
        self.masses.add(self._weights)  # of rows that were not merged

    def get(self, node: int, others: Ints) -> Neighbourhood:
        """Return a variable's neighbourhood."""
        known = self._kept.get(node)
        if known is None or not np.array_equal(known.others, others):
            known = self._write(node, others, *self._classes(node, known, others))
            self._kept[node] = known
        return known

    def tidy(self, wanted: Ints) -> None:
        """Forget neighbourhoods of other variables, and codes that none needs any more."""
        used = sum(len(one.groups) * one.count for one in self._kept.values())
        if self.codes.size < 2 * used + 2**20:
            return
        self._clear()
        self._kept = {
            node: self._write(node, one.others, one.ids, one.count)
            for node, one in self._kept.items()
            if node in wanted
        }

    def some_rows(self, most: int) -> Ints:
        """Return about ``most`` of the rows; none where there are not more.

        Equal rows are in it together or not at all: which are depends on what is in them alone, so
        that weights equal repeated rows.
        """
        if most not in self._some:
            self._some[most] = _some_rows(self.sample, most)
        return self._some[most]

    def row_masses(self, node: int) -> Floats:
        """Return the rows' weights for a variable, zero where it is missing; empty if all are 1."""
        if self.sample.extended[node] == self.sample.cards[node]:
            return self._weights
        observed = self.sample.observed(node).astype(np.float64)
        return observed * self._weights if self._weights.size else observed

    def _classes(
        self, node: int, known: Neighbourhood | None, others: Ints
    ) -> tuple[Ids | None, int]:
        """Return which configuration each row has, and how many there are; None for too many."""
        sample, rows = self.sample, self.sample.n_rows
        limit = int(MOST_CONFIGURATIONS * rows)
        columns = [(sample.codes[j], int(sample.extended[j])) for j in others.tolist()]
        ids, count = np.zeros(rows, dtype=np.int32), min(1, rows)
        if known is not None and np.array_equal(known.others, others[: len(known.others)]):
            if known.ids is None:
                return None, rows
            ids, count, columns = known.ids, known.count, columns[len(known.others) :]
        elif sample.extended[node] > sample.cards[node]:
            columns.insert(0, ((~sample.observed(node)).astype(sample.codes.dtype), 2))
        for codes, card in columns:
            if count * card > 16 * rows:  # a table of all that may occur would be too large
                return None, rows
            fresh, places = np.empty_like(ids), np.empty(count * card, dtype=np.int32)
            count = kernel.refine(ids, count, codes, card, places, fresh)
            ids = fresh
            if count > limit:
                return None, rows
        return ids, count

    def _write(self, node: int, others: Ints, ids: Ids | None, count: int) -> Neighbourhood:
        """Return a neighbourhood whose codes are in the arenas."""
        sample, weights, first = self.sample, self.row_masses(node), None
        if ids is not None:
            first, masses = np.empty(count, dtype=np.int64), np.empty(count)
            kernel.gather_classes(ids, weights, first, masses)
            start = self.masses.add(masses)
        elif weights is self._weights:
            start = 0 if len(weights) else -1
        else:
            start = self.masses.add(weights)
        groups = []
        for low, high, n_codes in self._cut(node, others):
            codes = np.zeros(count, dtype=np.uint16)
            for other in others[low:high]:
                codes *= np.uint16(sample.extended[other])
                codes += sample.codes[other] if first is None else sample.codes[other][first]
            groups.append((low, high, n_codes, self.codes.add(codes)))
        return Neighbourhood(others, ids, first, count, np.array(groups, dtype=np.int64), start)

    def _cut(self, node: int, others: Ints) -> list[tuple[int, int, int]]:
        """Return consecutive groups of neighbours, and how many codes each has."""
        limit = MOST_ENTRIES // padded(int(self.sample.cards[node]))
        groups, first, n_codes = [], 0, 1
        for place, card in enumerate(self.sample.extended[others].tolist()):
            if place > first and n_codes * card > limit:
                groups.append((first, place, n_codes))
                first, n_codes = place, 1
            n_codes *= card
        groups.append((first, len(others), n_codes))
        return groups


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhoods:
    """The neighbourhoods of a layout's variables, as the kernels take them.

    The arenas only grow: what is here stays where it is.

    Attributes
    ----------
    cache : NeighbourhoodCache
    edges : (half-edges,) int64
        Which edge each half-edge belongs to.
    halves, groups, spans : (..., 7), (..., 4) and (n, 4) int64
        See ``kernels.neighbourhoods``.
    degrees : (n,) int64
    connected : (k,) int64
        The variables that have neighbours.
    states : two of (table entries,) int64
        Which states each table entry is about, as positions among all unary entries.
    costs : (n,) float64
        About what each variable costs a pass.
    known : dict of Neighbourhood
        Those of connected variables.
    codes, masses : Arena
    """

    cache: NeighbourhoodCache
    edges: Ints
    halves: Ints
    groups: Ints
    spans: Ints
    degrees: Ints
    connected: Ints
    states: tuple[Ints, Ints]
    costs: Floats
    known: dict[int, Neighbourhood]
    codes: Arena[np.uint16]
    masses: Arena[np.float64]

    @staticmethod
    def of(layout: Layout, cache: NeighbourhoodCache) -> Neighbourhoods:
        """Return the neighbourhoods of a layout."""
        owner = layout.edges.ravel()
        order = np.argsort(owner, kind="stable")
        others = layout.edges[:, ::-1].ravel()[order]
        edges, side = np.divmod(order, 2)
        degrees = np.bincount(owner, minlength=layout.n_variables)
        ends = np.cumsum(degrees)
        connected = np.flatnonzero(degrees)
        cache.tidy(connected)
        spans = np.zeros((layout.n_variables, 4), dtype=np.int64)
        groups, known, count = [np.zeros((0, 4), dtype=np.int64)], {}, 0
        for node in connected.tolist():
            first = int(ends[node] - degrees[node])
            one = known[node] = cache.get(node, others[first : int(ends[node])])
            own = one.groups.copy()
            own[:, :2] += first
            groups.append(own)
            spans[node] = count, count + len(own), one.count, one.masses
            count += len(own)
        n_groups = (spans[:, 1] - spans[:, 0])[connected]
        costs = np.zeros(layout.n_variables)
        costs[connected] = spans[connected, 2] * (2.0 + n_groups) + 500.0 * n_groups
        return Neighbourhoods(
            cache, edges, _halves(layout, cache.sample, edges, side, others),
            np.concatenate(groups), spans, degrees, connected,
            states_of_entries(layout, layout.edges), costs, known, cache.codes, cache.masses,
        )  # fmt: skip

    @property
    def sample(self) -> EncodedRows:
        """The rows."""
        return self.cache.sample

    def of_variable(self, node: int) -> Neighbourhood:
        """Return the neighbourhood of one variable, which may have no neighbours."""
        found = self.known.get(node)
        return _alone(self.sample, node) if found is None else found

    def masses_of(self, node: int) -> Floats:
        """Return the masses of a variable's configurations; empty if all are 1."""
        one = self.of_variable(node)
        if node not in self.known:
            weights = self.cache.row_masses(node)
            return np.bincount(one.row_ids(), weights if weights.size else None).astype(np.float64)
        return self.masses.values[one.masses : one.masses + one.count * (one.masses >= 0)]


def _alone(sample: EncodedRows, node: int) -> Neighbourhood:
    """Return the neighbourhood of a variable without neighbours: it is observed, or missing."""
    nothing, groups = np.zeros(0, dtype=np.int64), np.zeros((0, 4), dtype=np.int64)
    if sample.extended[node] == sample.cards[node]:
        same = np.zeros(sample.n_rows, dtype=np.int32)
        return Neighbourhood(nothing, same, np.zeros(1, dtype=np.int64), 1, groups, -1)
    missing = ~sample.observed(node)
    _, first, ids = np.unique(missing, return_index=True, return_inverse=True)
    return Neighbourhood(nothing, ids.astype(np.int32), first, len(first), groups, -1)


def _halves(layout: Layout, sample: EncodedRows, edges: Ints, side: Ints, others: Ints) -> Ints:
    """Return half-edges as the kernels take them."""
    second = layout.cards[layout.edges[edges, 1]]
    columns = [
        sample.extended[others],
        layout.edge_offsets[:-1][edges] - layout.n_unary,
        np.where(side == 0, second, 1),
        np.where(side == 0, 1, second),
        side,
        layout.cards[others],
        layout.unary_offsets[others],
    ]
    return np.ascontiguousarray(np.stack(columns, axis=1))


def _some_rows(sample: EncodedRows, most: int) -> Ints:
    """Return about ``most`` of the rows, by marks that depend on what is in them."""
    share = most / max(1, sample.n_rows)
    if share >= 1.0:
        return np.zeros(0, dtype=np.int64)
    rng, marks = np.random.default_rng(0), np.zeros(sample.n_rows, dtype=np.uint64)
    for row, count in zip(sample.codes, sample.extended.tolist(), strict=True):
        marks += rng.integers(2**63, size=count, dtype=np.uint64)[row]
    marks ^= marks >> np.uint64(31)
    return np.flatnonzero((marks & np.uint64(0xFFFF)) < share * 2**16)
