"""All blocks that may be activated, as numbers: pairs, or cells of their tables. None is listed.

A pair is a number in ``range(n (n - 1) / 2)``: its key. Cells run through the tables of pair
(0, 1), (0, 2), ..., each row by row; what a key means follows from the state counts alone.
Where some pairs may not be edges, an index map numbers the others without gaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from graftwork.errors import TooLargeError
from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.inference.pairs import find_edges
from graftwork.inference.ragged import offsets
from graftwork.objectives.protocol import Point
from graftwork.penalties.blocks import Bools, pair_scales

# Single cells scored in one batch; of whole tables more, unless they have many cells.
BATCH = 2**14
TABLES, TABLE_CELLS = 2**15, 2**23


class Space(Protocol):
    """All blocks that may be activated, as numbers: their keys."""

    @property
    def unit(self) -> str:
        """What a block is, in a word."""
        ...

    @property
    def whole(self) -> bool:
        """Whether a block is all that an edge or a feature has, not a part of it."""
        ...

    @property
    def batch(self) -> int:
        """How many blocks to score at once: enough to keep kernels busy, few enough for Ctrl-C."""
        ...

    @property
    def variables(self) -> Ints:
        """The variables that may have edges, ascending."""
        ...

    @property
    def size(self) -> int:
        """Number of blocks; keys are ``range(size)``."""
        ...

    def active(self, layout: Any, free: Bools) -> Ints:
        """Return the keys of the blocks in a layout, given which of its entries may move."""
        ...

    def free(self, layout: Any, weights: Floats) -> Bools:
        """Return which entries may move in a network to start from."""
        ...

    def entries(self, layout: Any, keys: Ints) -> tuple[Ints, Ints]:
        """Return the positions of the blocks' entries in a layout that has them.

        One block after the other, and where each starts, shape (k + 1,).
        """
        ...

    def gradients(self, point: Any, keys: Ints) -> tuple[Floats, Ints, bool]:
        """Return the gradient of each block, where each starts, and whether it is exact."""
        ...


class TableSpace(Space, Protocol):
    """A space whose blocks are tables of pairs of variables, or cells of them."""

    def pairs(self, keys: Ints) -> Ints:
        """Return the pair of variables of each block, shape (k, 2), ``i < j``."""
        ...

    def keys(self, pairs: Ints) -> Ints:
        """Return the keys of all blocks of some pairs."""
        ...

    def scales(self, declared: Ints, keys: Ints) -> Floats:
        """Return d_g of each block."""
        ...


def tables_at_once(cards: Ints) -> int:
    """Return how many tables of pairs of such variables to score in one batch.

    Examples
    --------
    >>> tables_at_once(np.array([2, 2, 3])), tables_at_once(np.full(50, 300))
    (32768, 93)
    """
    states, pairs = float(cards.sum()), len(cards) * (len(cards) - 1)
    cells = (states**2 - float((cards**2).sum())) / max(1, pairs)
    return max(1, min(TABLES, int(TABLE_CELLS / max(1.0, cells))))


@dataclass(frozen=True, slots=True, eq=False)
class PairSpace:
    """All pairs among some variables, or those that pass a index_map."""

    variables: Ints  # (n,): the variables that may have edges, ascending
    index_map: IndexMap | None = None  # which of the pairs may be edges
    batch: int = TABLES  # how many to score at once
    unit = "pair"
    whole = True

    @property
    def size(self) -> int:
        """Number of pairs."""
        n = len(self.variables)
        return n * (n - 1) // 2 if self.index_map is None else self.index_map.size

    def spans(self, pairs: Ints) -> tuple[Ints, Ints]:
        """Return where pairs lie among all pairs: first numbers, how many."""
        return PairSpace(self.variables).keys(pairs), np.ones(len(pairs), dtype=np.int64)

    def pairs(self, keys: Ints) -> Ints:
        """Return the pairs with these keys, shape (k, 2), ``i < j``."""
        n = len(self.variables)
        keys = np.asarray(keys, dtype=np.int64)
        keys = keys if self.index_map is None else self.index_map.numbers(keys)
        odd = 2 * n - 1
        i = np.floor((odd - np.sqrt(np.maximum(0.0, float(odd) ** 2 - 8.0 * keys))) / 2)
        i = i.astype(np.int64)
        i -= self._before(i) > keys  # the square root may be off by one for large n
        i += self._before(i + 1) <= keys
        j = keys - self._before(i) + i + 1
        return np.stack([self.variables[i], self.variables[j]], axis=1)

    def keys(self, pairs: Ints) -> Ints:
        """Return the keys of pairs given in either order; -1 for those that may not be edges."""
        places = np.searchsorted(self.variables, np.asarray(pairs, dtype=np.int64).reshape(-1, 2))
        i, j = places.min(axis=1), places.max(axis=1)
        numbers = np.asarray(self._before(i) + j - i - 1, dtype=np.int64)
        return numbers if self.index_map is None else self.index_map.keys(numbers)

    def active(self, layout: Layout, free: Bools) -> Ints:
        """Return the keys of the edges."""
        return self.keys(layout.edges)

    def free(self, layout: Layout, weights: Floats) -> Bools:
        """Return that every entry may move."""
        return np.ones(layout.size, dtype=bool)

    def entries(self, layout: Layout, keys: Ints) -> tuple[Ints, Ints]:
        """Return where the pairs' tables lie in the layout's vector, and where each starts."""
        edges = find_edges(layout, self.pairs(keys))
        return layout.entries(edges), offsets(layout.edge_sizes[edges])

    def gradients(self, point: Point, keys: Ints) -> tuple[Floats, Ints, bool]:
        """Return the gradient of each pair's table, where each starts, and whether it is exact."""
        return _table_gradients(point, self.pairs(keys))

    def scales(self, declared: Ints, keys: Ints) -> Floats:
        """Return d_g of each pair."""
        return pair_scales(declared, self.pairs(keys))

    def keys_at(self, variable: int, places: Ints) -> Ints:
        """Return the keys of some pairs at a variable, its partners numbered from 0 in order.

        As ``keys`` has it, -1 stands for pairs that may not be edges.
        """
        own = np.searchsorted(self.variables, variable)
        others = self.variables[places + (places >= own)]
        return self.keys(np.stack([np.full_like(others, variable), others], axis=1))

    def keys_of_stars(self, variables: Ints, leading: int) -> tuple[Ints, Ints]:
        """Return the keys of pairs among some variables that have one of the first so many.

        Those come first whose own first variable is one of them: both parts are nearly all pairs
        between two lists, which are scored sooner than a mixture.
        """
        first, second = np.triu_indices(leading, 1, len(variables))
        keys = self.keys(np.stack([variables[first], variables[second]], axis=1))
        possible = keys >= 0
        upper = (variables[first] < variables[second]) | (second < leading)
        return keys[possible & upper], keys[possible & ~upper]

    def places(self, variable: int, partners: Ints) -> Ints:
        """Return the numbers of partners of a variable: what ``keys_at`` takes."""
        place = np.searchsorted(self.variables, partners)
        numbers: Ints = place - (place > np.searchsorted(self.variables, variable))
        return numbers

    def _before(self, i: Ints) -> Ints:
        """Return how many pairs have a first variable before the ``i``-th."""
        n = len(self.variables)
        return i * (2 * n - i - 1) // 2


# Methods that keep something for every block refuse to keep more than this.
MOST_LISTED = 2**26


def list_keys(space: Space, who: str) -> Ints:
    """Return all keys of a space, or refuse where they would not fit in memory.

    Examples
    --------
    >>> list_keys(PairSpace(np.array([0, 1, 2])), "a method")
    array([0, 1, 2])
    """
    if space.size > MOST_LISTED:
        raise TooLargeError(
            f"{who} keeps a list of all {space.size:,} {space.unit}s, which is too many; use "
            'method="best-choice", which never lists them.'
        )
    return np.arange(space.size)


def pairs_only(space: Space, who: str) -> PairSpace:
    """Return the space if its blocks are whole tables, or refuse."""
    if not isinstance(space, PairSpace):
        raise ValueError(f"{who} activates whole tables: use it in a Recipe with features=False")
    return space


@dataclass(frozen=True, slots=True, eq=False)
class IndexMap:
    """Numbers that are kept, as runs; their keys are ``range(size)``, in the same order."""

    starts: Ints  # (m,): first number of each run, ascending
    before: Ints  # (m + 1,): how many numbers are kept before each run, and in all

    @staticmethod
    def keeping(starts: Ints, sizes: Ints) -> IndexMap:
        """Return the index_map of these runs, given in any order; runs that touch become one."""
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], (starts + sizes)[order]
        first = np.ones(len(starts), dtype=bool)
        first[1:] = starts[1:] > ends[:-1]
        last = np.append(first[1:], True)[: len(starts)]
        return IndexMap(starts[first], offsets(ends[last] - starts[first]))

    @staticmethod
    def dropping(starts: Ints, sizes: Ints, total: int) -> IndexMap:
        """Return the index_map of what is left of ``range(total)`` without these runs."""
        order = np.argsort(starts, kind="stable")
        begins = np.concatenate([[0], (starts + sizes)[order]]).astype(np.int64)
        ends = np.append(starts[order], total).astype(np.int64)
        some = ends > begins
        return IndexMap(begins[some], offsets((ends - begins)[some]))

    @property
    def size(self) -> int:
        """How many numbers are kept."""
        return int(self.before[-1])

    def numbers(self, keys: Ints) -> Ints:
        """Return the number each key stands for."""
        runs = np.searchsorted(self.before, keys, side="right") - 1
        found: Ints = keys + (self.starts - self.before[:-1])[runs]
        return found

    def keys(self, numbers: Ints) -> Ints:
        """Return the key of each number, -1 for those that are not kept."""
        if not self.size:
            return np.full(len(numbers), -1, dtype=np.int64)
        runs = np.searchsorted(self.starts, numbers, side="right") - 1
        inside = numbers - self.starts[runs]
        there = (runs >= 0) & (inside < np.diff(self.before)[runs])
        return np.where(there, self.before[runs] + inside, -1)


@dataclass(frozen=True, slots=True, eq=False)
class CellSpace:
    """All table cells of all pairs among some variables, or those that pass a index_map."""

    variables: Ints  # (n,): the variables that may have edges, ascending
    cards: Ints  # (all variables,): their numbers of states
    index_map: IndexMap | None = None  # which of the cells may be active, whole tables of them
    unit = "feature"
    whole = False
    batch = BATCH

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(self._starts()[-1]) if self.index_map is None else self.index_map.size

    def spans(self, pairs: Ints) -> tuple[Ints, Ints]:
        """Return where the pairs' cells lie among all cells: first numbers, how many."""
        ranks, states = np.searchsorted(self.variables, pairs), self._states()
        return self._first(ranks), states[ranks].prod(axis=1)

    def keys(self, pairs: Ints) -> Ints:
        """Return the keys of all cells of some pairs (``i < j``) that may be edges."""
        starts, sizes = self.spans(pairs)
        shift = np.repeat(starts - offsets(sizes)[:-1], sizes)
        return self._keys(np.arange(len(shift)) + shift)

    def pairs(self, keys: Ints) -> Ints:
        """Return the pair each cell belongs to, shape (k, 2), ``i < j``."""
        i, j, _ = self._locate(keys)
        return np.stack([self.variables[i], self.variables[j]], axis=1)

    def cells(self, keys: Ints) -> Ints:
        """Return each cell's place in its table, row-major."""
        return self._locate(keys)[2]

    def active(self, layout: Layout, free: Bools) -> Ints:
        """Return the keys of the cells of a layout that may move."""
        places = np.flatnonzero(free[layout.n_unary :])
        starts = layout.edge_offsets - layout.n_unary
        edges = np.searchsorted(starts, places, side="right") - 1
        ranks = np.searchsorted(self.variables, layout.edges[edges].reshape(-1, 2))
        return self._keys(self._first(ranks) + places - starts[edges])

    def free(self, layout: Layout, weights: Floats) -> Bools:
        """Return what may move in a network to start from: unaries and cells that are not zero."""
        free: Bools = weights != 0
        free[: layout.n_unary] = True
        return free

    def entries(self, layout: Layout, keys: Ints) -> tuple[Ints, Ints]:
        """Return where each cell lies in the layout's vector, and where each one's part starts."""
        places: Ints = layout.edge_offsets[find_edges(layout, self.pairs(keys))] + self.cells(keys)
        return places, np.arange(len(keys) + 1)

    def gradients(self, point: Point, keys: Ints) -> tuple[Floats, Ints, bool]:
        """Return the gradient of each cell, where each block's part starts, and if exact."""
        i, j, cells = self._locate(keys)
        n = len(self.variables)
        numbers, which = np.unique(i * n + j, return_inverse=True)
        pairs = self.variables[np.stack(np.divmod(numbers, n), axis=1)]
        tables, starts, exact = _table_gradients(point, pairs)
        return tables[starts[which] + cells], np.arange(len(keys) + 1), exact

    def scales(self, declared: Ints, keys: Ints) -> Floats:
        """Return d_g of each block: one entry."""
        return np.ones(len(keys))

    def _locate(self, keys: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the ranks of both variables, and the place in their table, of each key."""
        states, before, starts = self._states(), self._before(), self._starts()
        keys = np.asarray(keys, dtype=np.int64)
        keys = keys if self.index_map is None else self.index_map.numbers(keys)
        i = np.searchsorted(starts, keys, side="right") - 1
        rest = keys - starts[i]
        j = np.searchsorted(before, before[i + 1] + rest // states[i], side="right") - 1
        return i, j, rest - states[i] * (before[j] - before[i + 1])

    def _first(self, ranks: Ints) -> Ints:
        """Return the number of the first cell of each pair of ranks, shape (k, 2)."""
        i, j = ranks[:, 0], ranks[:, 1]
        states, before = self._states(), self._before()
        first: Ints = self._starts()[i] + states[i] * (before[j] - before[i + 1])
        return first

    def _keys(self, numbers: Ints) -> Ints:
        return numbers if self.index_map is None else self.index_map.keys(numbers)

    def _states(self) -> Ints:
        return self.cards[self.variables]

    def _before(self) -> Ints:
        """Return how many states the variables before each one have."""
        return offsets(self._states())

    def _starts(self) -> Ints:
        """Return the first key of each first variable, and the number of keys."""
        states, before = self._states(), self._before()
        return offsets(states * (before[-1] - before[1:]))


def _table_gradients(point: Point, pairs: Ints) -> tuple[Floats, Ints, bool]:
    """Return the gradient tables of any pairs, edges or not, and if those of non-edges are exact.

    Shapes: pairs (k, 2) int64.
    """
    layout = point.potentials.layout
    edges = find_edges(layout, pairs)
    absent = edges < 0
    if absent.all():
        return point.pair_gradients(pairs)
    gradients, _, exact = point.pair_gradients(pairs[absent])
    starts = offsets(layout.cards[pairs[:, 0]] * layout.cards[pairs[:, 1]])
    out = np.empty(starts[-1])
    missing = np.repeat(absent, np.diff(starts))
    out[missing] = gradients
    out[~missing] = point.gradient[layout.entries(edges[~absent])]
    return out, starts, exact
