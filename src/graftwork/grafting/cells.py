"""The space of all single table cells of all pairs, never held in memory.

A cell is a number: its key. Keys run through the tables of pair (0, 1), (0, 2), ..., each row by
row; what a key means follows from the state counts by arithmetic alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.grafting.sieve import Sieve
from graftwork.grafting.space import BATCH
from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.inference.pairs import find_edges
from graftwork.inference.ragged import offsets
from graftwork.objectives.protocol import Point
from graftwork.objectives.reshaped import table_gradients
from graftwork.penalties.blocks import Bools


@dataclass(frozen=True, slots=True, eq=False)
class CellSpace:
    """All table cells of all pairs among some variables, or those that pass a sieve.

    Attributes
    ----------
    variables : (n,) int64
        The variables that may have edges, ascending.
    cards : (all variables,) int64
        Their numbers of states.
    sieve : Sieve, optional
        Which of the cells may be active, whole tables of them; None is all.

    Examples
    --------
    >>> space = CellSpace(np.array([0, 2]), np.array([2, 9, 3]))
    >>> space.size
    6
    >>> space.pairs(np.array([5])).tolist(), space.cells(np.array([5])).tolist()
    ([[0, 2]], [5])
    """

    variables: Ints
    cards: Ints
    sieve: Sieve | None = None
    unit = "feature"
    whole = False
    batch = BATCH

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(self._starts()[-1]) if self.sieve is None else self.sieve.size

    def spans(self, pairs: Ints) -> tuple[Ints, Ints]:
        """Return where the pairs' cells lie among all, sieve or not: first numbers, how many."""
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
        tables, starts, exact = table_gradients(point, pairs)
        return tables[starts[which] + cells], np.arange(len(keys) + 1), exact

    def scales(self, declared: Ints, keys: Ints) -> Floats:
        """Return d_g of each block: one entry."""
        return np.ones(len(keys))

    def _locate(self, keys: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the ranks of both variables, and the place in their table, of each key."""
        states, before, starts = self._states(), self._before(), self._starts()
        keys = np.asarray(keys, dtype=np.int64)
        keys = keys if self.sieve is None else self.sieve.numbers(keys)
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
        return numbers if self.sieve is None else self.sieve.keys(numbers)

    def _states(self) -> Ints:
        return self.cards[self.variables]

    def _before(self) -> Ints:
        """Return how many states the variables before each one have."""
        return offsets(self._states())

    def _starts(self) -> Ints:
        """Return the first key of each first variable, and the number of keys."""
        states, before = self._states(), self._before()
        return offsets(states * (before[-1] - before[1:]))
