"""The rows of a sample by the states of a variable's neighbours.

The conditional of a variable depends on its neighbours alone: rows in which all of them have the
same codes (a *configuration*) share it. Where few configurations occur, rows are merged into them;
where many do, rows stay, but neighbours are looked up in groups. Rows need not be complete: codes
of missing neighbours are codes like others, and whether the variable itself is missing is part of
the configuration.

Where the rows are in parts elsewhere, configurations are counted there and added up: the loss needs
no more of them. Variables with too many are looked at in the parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from graftwork.data.encoded import EncodedRows
from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.objectives.configurations import (
    Classes,
    Codes,
    Ids,
    count_configurations,
    masses_of_rows,
)
from graftwork.objectives.rare_codes import RareCodes
from graftwork.objectives.some_rows import some_rows

Kind = TypeVar("Kind", bound=np.generic)

# A group's look-up table has at most this many entries, so that it stays in the nearest cache.
MOST_ENTRIES = 1024
# Inner loops run over this many states at once: four, or blocks of eight.
FEW, MANY = (0,) * 4, (0,) * 8


@cache
def padded(states: int) -> int:
    """Return a number of states rounded up to whole lanes."""
    lanes = len(lanes_for(states))
    return -(-states // lanes) * lanes


def lanes_for(states: int) -> tuple[int, ...]:
    """Return how many states the kernels take at once, as the length of a tuple."""
    return FEW if states <= len(FEW) else MANY


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhood:
    """A variable's neighbours, in the order of their edges, and their configurations."""

    others: Ints  # (k,)
    count: int  # how many configurations there are
    # (g, 4): first and last neighbour, number of codes, where the codes start in the cache's arena
    groups: Ints
    masses: int  # where the configurations' masses start in the cache's arena, or -1: all are 1
    ids: Ids | None = None  # (rows,), optional: the configuration of each row
    # (k, count) unsigned integers, optional: the neighbours' codes in each configuration
    table: Codes | None = None
    # (count,), optional: in which configurations the variable is missing
    lacking: NDArray[np.bool_] | None = None

    @property
    def span(self) -> slice:
        """Where the masses are in the cache's arena: nowhere if all are 1."""
        return slice(self.masses, self.masses + self.count * (self.masses >= 0))

    def row_ids(self) -> Ids:
        """Return the configuration of each row: itself where rows were not merged."""
        return np.arange(self.count, dtype=np.int32) if self.ids is None else self.ids

    def states(self, sample: EncodedRows, part: slice) -> tuple[Codes, Ints, Ints]:
        """Return some configurations as a kernel finds them.

        Codes of variables (one below the other), which of these the neighbours are, and where in
        them each configuration stands.
        """
        places = np.arange(part.start, part.stop)
        if self.table is not None:
            return self.table, np.arange(len(self.others)), places
        return sample.codes, self.others, places


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
        self._some: dict[int, NeighbourhoodCache | None] = {}
        self._clear()

    @cached_property
    def rare(self) -> RareCodes:
        """The rows in which sparse variables do not have their commonest code."""
        starts = np.cumsum(self.sample.cards) - self.sample.cards
        largest = np.maximum.reduceat(self.frequencies, starts)
        return RareCodes.of(self.sample.codes, self.sample.extended, largest)

    def _clear(self) -> None:
        # new ones: neighbourhoods written before keep the old
        self.codes, self.masses = Arena(np.uint16), Arena(np.float64)
        self._written: dict[tuple[int, ...], int] = {}  # groups of rows that were not merged
        self.masses.add(self._weights)  # of rows that were not merged

    def get(self, wanted: Mapping[int, Ints]) -> dict[int, Neighbourhood]:
        """Return the neighbourhoods of some variables, given their neighbours."""
        new = [
            (node, others)
            for node, others in wanted.items()
            if node not in self._kept or not np.array_equal(self._kept[node].others, others)
        ]
        if self.sample.parts is None:
            for node, others in new:
                classes = self._classes(node, self._kept.get(node), others)
                self._kept[node] = self._write(node, others, classes)
        elif new:
            found = count_configurations(self.sample, new)
            for (node, others), counted in zip(new, found, strict=True):
                self._kept[node] = self._write_counted(node, others, counted)
        return {node: self._kept[node] for node in wanted}

    def tidy(self, wanted: Ints) -> None:
        """Forget neighbourhoods of other variables, and codes that none needs any more."""
        if self.codes.size < 2**20:
            return
        starts = {int(g[3]): one.count for one in self._kept.values() for g in one.groups}
        if self.codes.size < 2 * sum(starts.values()) + 2**20:
            return
        old, masses = self._kept, self.masses.values
        self._clear()
        self._kept = {
            node: self._write_again(node, one, masses[one.span])
            for node, one in old.items()
            if node in wanted
        }

    def some(self, most: int) -> NeighbourhoodCache | None:
        """Return the neighbourhoods in ``most`` different rows; None if all are here and not more.

        Which rows depends on what is in them alone, so that weights equal repeated rows, and it
        does not matter in which parts they are.
        """
        if most not in self._some:
            found = some_rows(self.sample, most)
            self._some[most] = None if found is None else NeighbourhoodCache(found)
        return self._some[most]

    def row_masses(self, node: int) -> Floats:
        """Return the rows' weights for a variable, zero where it is missing; empty if all are 1."""
        if self.sample.extended[node] == self.sample.cards[node]:
            return self._weights
        return masses_of_rows(self.sample, node)

    def _classes(self, node: int, known: Neighbourhood | None, others: Ints) -> Classes | None:
        """Return the configurations of rows that are here; None for too many."""
        sample = self.sample
        found = Classes.of(sample, node)
        if known is not None and np.array_equal(known.others, others[: len(known.others)]):
            if known.ids is None or known.table is None:
                return None
            found = Classes(known.ids, known.table, known.lacking)
        return found.refined(sample, others[len(found.table) :], node)

    def _write(self, node: int, others: Ints, classes: Classes | None) -> Neighbourhood:
        """Return a neighbourhood of rows that are here, with codes and masses in the arenas."""
        sample, weights = self.sample, self.row_masses(node)
        if classes is not None:
            masses = classes.masses(weights)
            return self._merged(node, others, masses, classes.table, classes.ids, classes.lacking)
        start = -1
        if weights is not self._weights:
            start = self.masses.add(weights)
        elif len(weights):
            start = 0
        groups = []
        for low, high, n_codes in self._cut(node, others):
            members = tuple(others[low:high].tolist())
            if members not in self._written:
                columns = [sample.codes[j] for j in members]
                self._written[members] = self._write_codes(members, columns, sample.n_rows)
            groups.append((low, high, n_codes, self._written[members]))
        return Neighbourhood(others, sample.n_rows, np.array(groups, dtype=np.int64), start)

    def _write_counted(
        self, node: int, others: Ints, counted: tuple[Codes, Floats] | None
    ) -> Neighbourhood:
        """Return a neighbourhood of rows that are elsewhere; None: its configurations are many."""
        if counted is None:
            groups = self._write_groups(node, others, [np.zeros(0, np.uint8)] * len(others), 0)
            return Neighbourhood(others, 0, groups, -1)
        return self._merged(node, others, counted[1], counted[0])

    def _write_again(self, node: int, known: Neighbourhood, masses: Floats) -> Neighbourhood:
        """Return a neighbourhood with codes and masses in other arenas."""
        if known.table is not None:
            return self._merged(node, known.others, masses, known.table, known.ids, known.lacking)
        if self.sample.parts is not None:
            return self._write_counted(node, known.others, None)
        return self._write(node, known.others, None)

    def _merged(
        self,
        node: int,
        others: Ints,
        masses: Floats,
        table: Codes,
        ids: Ids | None = None,
        lacking: NDArray[np.bool_] | None = None,
    ) -> Neighbourhood:
        groups = self._write_groups(node, others, list(table), len(masses))
        start = self.masses.add(masses)
        return Neighbourhood(others, len(masses), groups, start, ids, table, lacking)

    def _write_groups(self, node: int, others: Ints, columns: Sequence[Codes], count: int) -> Ints:
        """Return the groups of a variable's neighbours, with their codes in the arena."""
        groups = [
            (low, high, n_codes, self._write_codes(others[low:high], columns[low:high], count))
            for low, high, n_codes in self._cut(node, others)
        ]
        return np.array(groups, dtype=np.int64)

    def _write_codes(self, others: Iterable[int], columns: Sequence[Codes], count: int) -> int:
        """Return where the codes of some neighbours together start in the arena."""
        codes = np.zeros(count, dtype=np.uint16)
        for other, own in zip(others, columns, strict=True):
            codes *= np.uint16(self.sample.extended[other])
            codes += own
        return self.codes.add(codes)

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
    """

    cache: NeighbourhoodCache
    edges: Ints  # (half-edges,): which edge each half-edge belongs to
    # halves, groups, spans: (..., 7), (..., 4) and (n, 4): see ``kernels.neighbourhoods``
    halves: Ints
    groups: Ints
    spans: Ints
    degrees: Ints  # (n,)
    connected: Ints  # (k,): the variables that have neighbours
    costs: Floats  # (n,): about what each variable costs a pass
    known: dict[int, Neighbourhood]  # those of connected variables
    # (n,): the variables with neighbours that can be looked at in the parts of the rows alone
    apart: NDArray[np.bool_]
    codes: Arena[np.uint16]
    masses: Arena[np.float64]

    @staticmethod
    def of(
        layout: Layout, cache: NeighbourhoodCache, variables: Ints | None = None
    ) -> Neighbourhoods:
        """Return the neighbourhoods of a layout's variables, or of some of them."""
        owner = layout.edges.ravel()
        order = np.argsort(owner, kind="stable")
        others = layout.edges[:, ::-1].ravel()[order]
        edges, side = np.divmod(order, 2)
        degrees = np.bincount(owner, minlength=layout.n_variables)
        ends = np.cumsum(degrees)
        connected = np.flatnonzero(degrees)
        if variables is not None:
            connected = np.intersect1d(connected, variables)
        cache.tidy(connected)
        spans = np.zeros((layout.n_variables, 4), dtype=np.int64)
        groups, count = [np.zeros((0, 4), dtype=np.int64)], 0
        starts = dict(zip(connected.tolist(), (ends - degrees)[connected].tolist(), strict=True))
        known = cache.get({node: others[first : int(ends[node])] for node, first in starts.items()})
        apart = np.zeros(layout.n_variables, dtype=bool)
        for node, one in known.items():
            own = one.groups.copy()
            own[:, :2] += starts[node]
            groups.append(own)
            spans[node] = count, count + len(own), one.count, one.masses
            count += len(own)
            apart[node] = one.table is None and cache.sample.parts is not None
        n_groups = (spans[:, 1] - spans[:, 0])[connected]
        costs = np.zeros(layout.n_variables)
        costs[connected] = spans[connected, 2] * (2.0 + n_groups) + 500.0 * n_groups
        return Neighbourhoods(
            cache, edges, _halves(layout, cache.sample, edges, side, others),
            np.concatenate(groups), spans, degrees, connected,
            costs, known, apart, cache.codes, cache.masses,
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
        if node in self.known:
            return self.masses.values[one.span]
        if one.ids is None:
            return self.sample.observed_weight[[node]]
        weights = self.cache.row_masses(node)
        return np.bincount(one.row_ids(), weights if weights.size else None).astype(np.float64)


def _alone(sample: EncodedRows, node: int) -> Neighbourhood:
    """Return the neighbourhood of a variable without neighbours: it is observed, or missing."""
    nothing, groups = np.zeros(0, dtype=np.int64), np.zeros((0, 4), dtype=np.int64)
    if sample.parts is not None:  # rows in which it is missing have no mass
        return Neighbourhood(nothing, 1, groups, -1, None, np.zeros((0, 1), np.uint8))
    classes = Classes.of(sample, node)
    count = classes.table.shape[1]
    return Neighbourhood(nothing, count, groups, -1, classes.ids, classes.table, classes.lacking)


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
