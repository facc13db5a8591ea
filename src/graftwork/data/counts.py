"""Pair counts on demand: batched and cached."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graftwork.data.counting import (
    Bitsets,
    Counter,
    CountsPairs,
    Ints,
    Numbers,
    table_offsets,
)
from graftwork.kernels.counts import MOST_BITSET_CELLS
from graftwork.kernels.slots import add_slots, find_slots
from graftwork.kernels.threads import count_threads

__all__ = ["Numbers", "PairCounts", "table_offsets"]


class PairCounts:
    """Counts of pairs of states, computed the first time they are asked for.

    Shapes: codes (n, rows) unsigned integers; cards (n,) int64; weights (rows,) float64; extended
    (n,) int64; margins (sum of extended,) array; squares (rows,) float64; margins (sum of cards,)
    int64 or float64; extended (n,) int64.
    """

    def __init__(
        self,
        codes: NDArray[np.unsignedinteger],
        cards: Ints,
        weights: NDArray[np.float64] | None = None,
        n_jobs: int | None = None,
        cache_cells: int = 2**25,
        cache_tables: int = 10**6,
        extended: Ints | None = None,
        counter: CountsPairs | None = None,
        margins: Numbers | None = None,
        squares: NDArray[np.float64] | None = None,
    ) -> None:
        self.codes = np.ascontiguousarray(codes)
        self._states = np.ascontiguousarray(cards, dtype=np.int64)
        # Codes of missing cells are counted like states, and tables() leaves them out again.
        if extended is None:
            extended = self._states + (self.codes.max(axis=1, initial=0) >= self._states)
        self.extended: Ints = extended
        self.complete = bool((extended == self._states).all())
        self._cards = self.extended
        self.weights = weights
        self.squares = squares
        self.n_threads = count_threads(n_jobs)
        self._cache_cells = cache_cells
        self._cache_tables = cache_tables
        self._counter: CountsPairs = counter or Counter(
            self.codes, self._cards, weights, self.n_threads
        )
        self._whole = margins is None
        self._kept: Numbers = np.zeros(1024, dtype=self._counter.dtype)
        self._kept_size = 0
        self._slots = SlotIndex()
        self.n_computed = 0
        self._margin_offsets = np.concatenate([[0], np.cumsum(self._cards)]).astype(np.int64)
        self.extended_margins = self._counter.margins if margins is None else margins
        self.margins: Numbers = self.extended_margins[self._seen(np.arange(len(self._cards)))]

    def margin(self, i: int) -> Numbers:
        """Return the counts of the states of variable ``i``."""
        start = self._margin_offsets[i]
        return self.extended_margins[start : start + self._states[i]]

    def tables(self, pairs: Ints) -> tuple[Numbers, Ints]:
        """Return the tables of these pairs, flat one after the other, and where each starts.

        Rows where one of the two is missing are not in them.

        Shapes: pairs (k, 2) int64.
        """
        return self._without_missing(pairs, self.extended_tables(pairs))

    def extended_tables(self, pairs: Ints) -> tuple[Numbers, Ints]:
        """Return the tables with more rows or columns for variables that have missing cells."""
        pairs = np.ascontiguousarray(pairs, dtype=np.int64).reshape(-1, 2)
        keys = pairs[:, 0] * len(self._cards) + pairs[:, 1]
        slots = self._slots.find(keys)
        known, fresh = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
        if len(fresh) == len(pairs):
            counted, starts = self._compute(pairs)
            self._keep(keys, counted, starts)
            return counted, starts
        offsets = table_offsets(self._cards, pairs)
        values = np.empty(int(offsets[-1]), dtype=self._counter.dtype)
        sizes = np.diff(offsets)[known]
        values[_ranges(offsets[known], sizes)] = self._kept[_ranges(slots[known], sizes)]
        if len(fresh):
            counted, starts = self._compute(pairs[fresh])
            values[_ranges(offsets[fresh], np.diff(starts))] = counted
            self._keep(keys[fresh], counted, starts)
        return values, offsets

    @property
    def bitsets(self) -> Bitsets | None:
        """The rows in every state but each variable's last.

        None where rows have weights or some cells are missing, and where variables have many
        states: such tables are counted row by row. None also of rows in parts.
        """
        few = bool((self._cards - 1 <= MOST_BITSET_CELLS).all())
        plain = self.weights is None and self.complete and few and self._whole
        return self._counter.bitsets if plain else None

    def known_pairs(self, most: int) -> Ints:
        """Return the latest pairs whose tables are kept, at most ``most``, shape (k, 2)."""
        return np.stack(np.divmod(self._slots.latest(most), len(self._cards)), axis=1)

    def compute(self, pairs: Ints) -> tuple[Numbers, Ints]:
        """Return the tables of these pairs without looking in the cache or filling it."""
        return self._without_missing(pairs, self._compute(pairs))

    def count_codes(self, pairs: Ints) -> Numbers:
        """Return the tables of these pairs with all codes, neither looked up nor kept."""
        return self._compute(pairs)[0]

    def _without_missing(self, pairs: Ints, found: tuple[Numbers, Ints]) -> tuple[Numbers, Ints]:
        """Return extended tables without their rows and columns of missing cells."""
        if self.complete:
            return found
        pairs = np.ascontiguousarray(pairs, dtype=np.int64).reshape(-1, 2)
        (values, starts), offsets = found, table_offsets(self._states, pairs)
        sizes = np.diff(offsets)
        within = np.arange(int(offsets[-1])) - np.repeat(offsets[:-1], sizes)
        row, column = np.divmod(within, np.repeat(self._states[pairs[:, 1]], sizes))
        width = np.repeat(self._cards[pairs[:, 1]], sizes)
        return values[np.repeat(starts[:-1], sizes) + row * width + column], offsets

    def _seen(self, variables: Ints) -> Ints:
        """Return where the states of these variables lie among the extended margins."""
        return _ranges(self._margin_offsets[variables], self._states[variables])

    def _compute(self, pairs: Ints) -> tuple[Numbers, Ints]:
        self.n_computed += len(pairs)
        return self._counter.count(np.ascontiguousarray(pairs, dtype=np.int64).reshape(-1, 2))

    def _keep(self, keys: Ints, values: Numbers, starts: Ints) -> None:
        full = self._kept_size + len(values) > self._cache_cells
        if full or len(self._slots) + len(keys) > self._cache_tables:
            return
        if self._kept_size + len(values) > len(self._kept):
            room = max(2 * len(self._kept), self._kept_size + len(values))
            self._kept = np.resize(self._kept, room)
        self._kept[self._kept_size : self._kept_size + len(values)] = values
        self._slots.add(keys, self._kept_size + starts[:-1])
        self._kept_size += len(values)


def _ranges(starts: Ints, sizes: Ints) -> Ints:
    """Return the indices ``start, start + 1, ...`` of every range, one after the other."""
    ends = np.cumsum(sizes)
    shift = np.repeat(starts - (ends - sizes), sizes)
    places: Ints = np.arange(int(ends[-1]) if len(ends) else 0) + shift
    return places


class SlotIndex:
    """Slots of keys, both whole numbers of at least 0, in the order in which they came."""

    def __init__(self) -> None:
        self._known, self._slots = np.full(1024, -1), np.zeros(1024, dtype=np.int64)
        self._keys = np.zeros(512, dtype=np.int64)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def find(self, keys: Ints) -> Ints:
        """Return the slot of each key, -1 for those that are not known."""
        found = np.empty(len(keys), dtype=np.int64)
        find_slots(self._known, self._slots, keys, found)
        return found

    def add(self, keys: Ints, slots: Ints) -> None:
        """Remember the slots of keys that are not known yet."""
        if self._size + len(keys) > len(self._keys):
            self._grow(self._size + len(keys))
        self._size = add_slots(self._known, self._slots, keys, slots, self._keys, self._size)

    def latest(self, most: int) -> Ints:
        """Return the latest keys, at most ``most`` of them, the latest first."""
        return self._keys[max(0, self._size - most) : self._size][::-1]

    def _grow(self, size: int) -> None:
        """Make room for ``size`` keys; the table is never more than half full."""
        old = self._keys[: self._size]
        slots, room = self.find(old), 1 << size.bit_length()
        self._keys = np.empty(room, dtype=np.int64)
        self._known, self._slots = np.full(2 * room, -1), np.zeros(2 * room, dtype=np.int64)
        add_slots(self._known, self._slots, old, slots, self._keys, 0)
