"""Counting pairs of states: by bitsets where there are few, and by rows where there are many."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graftwork.data.bitsets import Bitsets, digits_of, pack, plane_words
from graftwork.kernels import counts as kernel
from graftwork.kernels.threads import cut_evenly, run_chunks

Ints = NDArray[np.int64]
Numbers = NDArray[np.int64 | np.float64]

#: Bytes of bitsets of second variables that stay in cache while first variables go by.
CACHED = 2**19


def table_offsets(cards: Ints, pairs: Ints) -> Ints:
    """Return where each pair's table starts when tables lie one after the other, shape (k + 1,).

    Examples
    --------
    >>> table_offsets(np.array([2, 3, 2]), np.array([[0, 1], [0, 2]]))
    array([ 0,  6, 10])
    """
    return _offsets_of(cards[pairs[:, 0]] * cards[pairs[:, 1]])


def _offsets_of(sizes: Ints) -> Ints:
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


class Counter:
    """Counts states and pairs of states, always anew.

    Whole weights are counted like rows, digit by digit, and exactly; sums of other weights are made
    row by row.

    Parameters
    ----------
    codes : (n, rows) unsigned integers, C-contiguous
    cards : (n,) int64
        Number of codes of each variable.
    weights : (rows,) float64 or None
    n_threads : int

    Attributes
    ----------
    dtype : type
        Of counts: integers without weights.
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
    def _bitsets(self) -> Bitsets:
        free = self._cards - 1
        used = np.where(free <= kernel.MOST_BITSET_CELLS, free, 0)
        return pack(self._codes, used, self._digits, self._n_threads)

    @cached_property
    def _margins(self) -> Numbers:
        margins: Numbers = np.zeros(int(self._margin_offsets[-1]), dtype=self._own_dtype)
        last = self._margin_offsets[1:] - 1
        packed = np.diff(self._bitsets.offsets) == self._cards - 1 if self._whole else None
        if packed is not None and packed.all():  # every state but the last has a bitset
            firsts = np.ones(len(margins), dtype=bool)
            firsts[last] = False
            margins[firsts] = self._bitsets.count()
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
        sets, margins = self._bitsets, self._margins
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
