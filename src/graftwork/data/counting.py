"""Counting pairs of states: by bitsets where there are few, and by rows where there are many.

A bitset says which rows are in a state, one bit for each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graftwork.kernels import counts as kernel
from graftwork.kernels.bitwords import WORD_BLOCK
from graftwork.kernels.threads import cut_evenly, run_chunks

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Numbers = NDArray[np.int64 | np.float64]

#: Bytes of bitsets of second variables that stay in cache while first variables go by.
CACHED = 2**19
#: Weights with more binary digits are added up row by row.
MOST_PLANES = 32


def table_offsets(cards: Ints, pairs: Ints) -> Ints:
    """Return where each pair's table starts when tables lie one after the other, shape (k + 1,)."""
    return _offsets_of(cards[pairs[:, 0]] * cards[pairs[:, 1]])


def _offsets_of(sizes: Ints) -> Ints:
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


class CountsPairs(Protocol):
    """What counts pairs of states: of rows that are here, or elsewhere."""

    dtype: type[np.int64] | type[np.float64]

    @property
    def margins(self) -> Numbers:
        """How often each code occurs."""

    @property
    def bitsets(self) -> Bitsets | None:
        """The rows in every state but each variable's last, if they are here."""

    def count(self, pairs: Ints) -> tuple[Numbers, Ints]:
        """Return the tables of these pairs, flat one after the other, and where each starts."""


class Counter:
    """Counts states and pairs of states, always anew.

    Whole weights are counted like rows, digit by digit, and exactly; sums of other weights are made
    row by row.

    Shapes: codes (n, rows) unsigned integers, C-contiguous; cards (n,) int64; weights (rows,)
    float64 or None.
    """

    def __init__(
        self,
        codes: NDArray[np.unsignedinteger],
        cards: Ints,
        weights: NDArray[np.float64] | None,
        n_threads: int,
    ) -> None:
        self._codes, self._cards, self._n_threads = codes, cards, n_threads
        self._weights = np.zeros(0) if weights is None else weights
        self._digits = None if weights is None else digits_of(weights)
        self._whole = weights is None or self._digits is not None
        self.dtype: type[np.int64] | type[np.float64] = np.int64 if weights is None else np.float64
        self._own_dtype = np.int64 if self._whole else np.float64
        self._margin_offsets = np.concatenate([[0], np.cumsum(cards)]).astype(np.int64)

    @cached_property
    def margins(self) -> Numbers:
        """How often each state occurs."""
        return self._margins.astype(self.dtype, copy=False)

    def count(self, pairs: Ints) -> tuple[Numbers, Ints]:
        """Return the tables of these pairs, flat one after the other, and where each starts."""
        rows, columns = self._cards[pairs].T
        offsets = _offsets_of(rows * columns)
        values: Numbers = np.zeros(int(offsets[-1]), dtype=self._own_dtype)
        free_cells = (rows - 1) * (columns - 1)
        if not self._whole:
            self._count_by_rows(pairs, offsets[:-1], values)
        elif free_cells.max(initial=0) * self._price <= kernel.MOST_BITSET_CELLS:
            self._count_by_bitsets(pairs, offsets[:-1], free_cells, values)
        else:
            many = free_cells * self._price > kernel.MOST_BITSET_CELLS
            self._count_by_rows(pairs[many], offsets[:-1][many], values)
            few = ~many
            self._count_by_bitsets(pairs[few], offsets[:-1][few], free_cells[few], values)
        if self.dtype is not self._own_dtype:
            whole, values = values, values.view(self.dtype)
            kernel.convert(whole, values)
        return values, offsets

    @cached_property
    def _price(self) -> float:
        """Words to look at for a cell, relative to those of rows without weights; at least 1."""
        if self._digits is None:
            return 1.0
        return max(1.0, 64 * float(plane_words(self._digits).sum()) / len(self._digits))

    @cached_property
    def bitsets(self) -> Bitsets:
        """The rows in every state but each variable's last; none of variables of many states."""
        free = self._cards - 1
        used = np.where(free <= kernel.MOST_BITSET_CELLS, free, 0)
        return pack(self._codes, used, self._digits, self._n_threads)

    @cached_property
    def _margins(self) -> Numbers:
        margins: Numbers = np.zeros(int(self._margin_offsets[-1]), dtype=self._own_dtype)
        last = self._margin_offsets[1:] - 1
        packed = np.diff(self.bitsets.offsets) == self._cards - 1 if self._whole else None
        if packed is not None and packed.all():  # every state but the last has a bitset
            firsts = np.ones(len(margins), dtype=bool)
            firsts[last] = False
            margins[firsts] = self.bitsets.count()
            total = self._codes.shape[1] if self._digits is None else int(self._digits.sum())
            margins[last] = total - np.add.reduceat(margins, self._margin_offsets[:-1])
            return margins
        weights = self._digits if self._digits is not None else self._weights

        def count(part: slice) -> None:
            for i in range(part.start, part.stop):
                first, stop = self._margin_offsets[i : i + 2]
                given = weights if weights.size else None
                margins[first:stop] = np.bincount(self._codes[i], given, stop - first)

        self._run(count, np.ones(len(self._cards)))
        return margins

    def _count_by_rows(self, pairs: Ints, starts: Ints, values: Numbers) -> None:
        def count(part: slice) -> None:
            kernel.count_by_rows(
                self._codes, self._cards, self._weights, pairs[part], starts[part], values
            )

        self._run(count, np.ones(len(pairs)))

    def _count_by_bitsets(
        self, pairs: Ints, starts: Ints, free_cells: Ints, values: Numbers
    ) -> None:
        sets, margins = self.bitsets, self._margins
        order = _cache_order(sets, pairs)
        if order is not None:
            pairs, starts, free_cells = pairs[order], starts[order], free_cells[order]

        def count(part: slice) -> None:
            some = pairs[part], starts[part], values
            for plane in sets.planes:
                kernel.count_by_bitsets(
                    plane.bits, sets.bits, plane.shift, sets.offsets, self._cards, *some
                )
            kernel.complete_tables(self._cards, margins, self._margin_offsets, *some)

        self._run(count, np.asarray(free_cells + 1, dtype=np.float64))

    def _run(self, count: Callable[[slice], None], costs: NDArray[np.float64]) -> None:
        run_chunks(count, cut_evenly(costs, self._n_threads), self._n_threads)


def _cache_order(sets: Bitsets, pairs: Ints) -> NDArray[np.int64] | None:
    """Return an order of pairs in which bitsets of second variables stay in cache, if needed."""
    width = 8 * min(sets.bits.shape[1], kernel.WORDS)
    if len(sets.bits) * width <= 2 * CACHED:
        return None
    group = sets.offsets[:-1] * width // CACHED
    return np.argsort(group[pairs[:, 1]].astype(np.uint16), kind="stable")


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """The rows whose weight has a certain binary digit."""

    bits: Words  # (states, words) uint64: of each state, such rows that are in it
    shift: int  # the digit: these rows count ``2**shift``


@dataclass(frozen=True, slots=True, eq=False)
class Bitsets:
    """Bitsets of all states of all variables but each one's last."""

    bits: Words  # (states, words) uint64
    offsets: Ints  # (n + 1,): variable ``i`` has the rows ``offsets[i]:offsets[i + 1]`` of `bits`
    # A weighted count is the sum over planes of common bits times ``2**shift``; without weights
    # there is one plane, the bitsets themselves
    planes: tuple[Plane, ...]

    def count(self) -> Ints:
        """Return the weight of each bitset's rows."""
        counts = np.zeros(len(self.bits), dtype=np.int64)
        for plane in self.planes:
            kernel.count_sets(plane.bits, plane.shift, counts)
        return counts


def digits_of(weights: NDArray[np.float64]) -> Ints | None:
    """Return whole weights as integers, or None where they are not whole or too large.

    Examples
    --------
    >>> digits_of(np.array([2.0, 0.0, 1.0]))
    array([2, 0, 1])
    >>> digits_of(np.array([0.5])) is None
    True
    """
    if not len(weights) or not 0 <= weights.min() <= weights.max() < 2**MOST_PLANES:
        return None
    whole = weights.astype(np.int64)
    return whole if np.array_equal(whole, weights) else None


def plane_words(digits: Ints) -> Ints:
    """Return how many words each plane has when rows lie in the order of falling weights.

    Examples
    --------
    >>> plane_words(np.repeat([3, 1, 0], [64, 6400, 1000]))
    array([104,   8])
    """
    ordered = np.sort(digits)[::-1]
    n_planes = int(digits.max(initial=0)).bit_length()
    return np.array([_stop(ordered, p) for p in range(n_planes)], dtype=np.int64)


def _stop(ordered: Ints, plane: int) -> int:
    """Return the number of words up to the last row of a plane."""
    rows = np.flatnonzero(ordered >> plane & 1)
    return _words(int(rows[-1]) + 1 if len(rows) else 0)


def _words(n_rows: int) -> int:
    """Return how many words hold the rows, as a multiple of what kernels want."""
    return -(-n_rows // (64 * WORD_BLOCK)) * WORD_BLOCK


def pack(
    codes: NDArray[np.unsignedinteger], counts: Ints, digits: Ints | None, n_threads: int
) -> Bitsets:
    """Return the bitsets of the first ``counts[i]`` states of every variable.

    Shapes: codes (n, rows) unsigned integers; counts (n,) int64; digits (rows,) int64 or None.
    """
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    order = np.zeros(0, dtype=np.int64)
    n_rows = codes.shape[1]
    if digits is not None:
        n_rows = int(np.count_nonzero(digits))
        order = _falling(digits)[:n_rows]
    bits = _aligned(int(offsets[-1]), _words(n_rows))

    def run(part: slice) -> None:
        kernel.pack_states(part.start, part.stop, codes, order, offsets, bits)

    if n_rows:  # an empty order would mean all rows as they are, and there is no room for them
        run_chunks(run, cut_evenly(np.ones(len(counts)), n_threads), n_threads)
    if digits is None:
        return Bitsets(bits, offsets, (Plane(bits, 0),))
    ordered = digits[order]
    words = plane_words(ordered)
    planes = [_plane(bits, ordered, p, int(n)) for p, n in enumerate(words) if n]
    return Bitsets(bits, offsets, tuple(planes))


def _falling(digits: Ints) -> Ints:
    """Return the order of falling weights; numpy is quick with keys of 16 bits."""
    keys = digits.max(initial=0) - digits
    return np.argsort(
        keys.astype(np.uint16) if keys.max(initial=0) < 2**16 else keys, kind="stable"
    )


def _plane(bits: Words, ordered: Ints, shift: int, n_words: int) -> Plane:
    """Return the bitsets of rows whose weight has a digit."""
    rows = np.zeros(64 * n_words, dtype=np.uint8)
    rows[: len(ordered)] = (ordered >> shift & 1)[: len(rows)]
    mask = np.packbits(rows, bitorder="little").view("<u8").astype(np.uint64)
    chosen = _aligned(len(bits), n_words)
    np.bitwise_and(bits[:, :n_words], mask, out=chosen)
    return Plane(chosen, shift)


def _aligned(n_sets: int, n_words: int) -> Words:
    """Return empty bitsets that begin where registers like to load from."""
    size = n_sets * n_words
    room = np.zeros(size + WORD_BLOCK, dtype=np.uint64)
    shift = -(room.ctypes.data // 8) % WORD_BLOCK
    return room[shift : shift + size].reshape(n_sets, n_words)
