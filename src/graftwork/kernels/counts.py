"""Pair tables by bitsets: a cell is popcount(state of one variable AND state of the other)."""

from __future__ import annotations

import numpy as np
from numba import njit

from graftwork.kernels.bitwords import common_bits, count_bits, equal_bits

# Above this many free cells a histogram over the rows is cheaper than bitsets: a bitset cell reads
# rows/64 words where a histogram reads every row once (measured; see benchmarks/pair_counts.py).
MOST_BITSET_CELLS = 256

#: Words of bitsets that are counted before the next: eight bitsets of them stay in cache.
WORDS = 2048

#: How many states of second variables are counted together.
MOST_COLUMNS = 512

#: Up to so many states are counted by comparing 64 rows at once, more by a histogram.
MOST_COMPARED = 32


@njit(cache=True, nogil=True)
def pack_states(first, stop, codes, order, bit_offsets, bits):
    """Fill ``bits[bit_offsets[i] + a]`` with the rows where variable ``i`` is in state ``a``.

    For variables ``first`` to ``stop``, the rows in this order (as they are if it is empty).
    """
    ordered = np.empty(len(order), dtype=codes.dtype)
    for i in range(first, stop):
        for r in range(len(order)):
            ordered[r] = codes[i, order[r]]
        values = ordered if len(order) else codes[i]
        for place in range(bit_offsets[i], bit_offsets[i + 1]):
            state = place - bit_offsets[i]
            for w in range(len(values) >> 6):
                bits[place, w] = equal_bits(values, w << 6, state)
            for r in range(len(values) >> 6 << 6, len(values)):
                if values[r] == state:
                    bits[place, r >> 6] |= np.uint64(1) << np.uint64(r & 63)


@njit(cache=True, nogil=True)
def count_states(first, stop, codes, offsets, margins):
    """Count the rows in each state of variables ``first`` to ``stop``."""
    for i in range(first, stop):
        values, start, n_states = codes[i], offsets[i], offsets[i + 1] - offsets[i]
        whole = len(values) >> 6 if n_states <= MOST_COMPARED else 0
        rest = np.uint64(whole << 6)  # in the last state
        for a in range(n_states - 1 if whole else 0):
            total = np.uint64(0)
            for w in range(whole):
                total += count_bits(equal_bits(values, w << 6, a))
            margins[start + a] += total
            rest -= total
        margins[start + n_states - 1] += rest
        for r in range(whole << 6, len(values)):
            margins[start + values[r]] += 1


@njit(cache=True, nogil=True)
def weigh_states_by_digits(first, stop, codes, masks, digits, offsets, margins):
    """Add up whole weights in each state of variables ``first`` to ``stop``.

    Bit r of ``masks[p]`` says whether the weight of row r has the binary digit p.
    """
    n_planes, whole = masks.shape
    all_compared = digits[: whole << 6].sum()
    for i in range(first, stop):
        values, start, n_states = codes[i], offsets[i], offsets[i + 1] - offsets[i]
        compared = whole if n_states <= MOST_COMPARED else 0
        rest = all_compared if compared else 0  # in the last state
        for a in range(n_states - 1 if compared else 0):
            for p in range(n_planes):
                total = np.uint64(0)
                for w in range(compared):
                    total += count_bits(equal_bits(values, w << 6, a) & masks[p, w])
                weight = np.int64(total) << p
                margins[start + a] += weight
                rest -= weight
        margins[start + n_states - 1] += rest
        for r in range(compared << 6, len(values)):
            margins[start + values[r]] += digits[r]


@njit(cache=True, nogil=True)
def weigh_states(first, stop, codes, weights, offsets, margins):
    """Add up the weights of the rows in each state of variables ``first`` to ``stop``."""
    for i in range(first, stop):
        for r in range(codes.shape[1]):
            margins[offsets[i] + codes[i, r]] += weights[r]


@njit(cache=True, nogil=True)
def _count_strip(rows, left, right, first, stop, columns, n_columns, found):
    """Fill ``found`` with the common bits of these rows of ``left`` and columns of ``right``."""
    c = 0
    while c + 4 <= n_columns:
        four = (columns[c], columns[c + 1], columns[c + 2], columns[c + 3])
        counts = common_bits(left, right, rows, four, first, stop)
        for a in range(len(rows)):
            for b in range(4):
                found[a, c + b] = counts[4 * a + b]
        c += 4
    while c < n_columns:
        counts = common_bits(left, right, rows, (columns[c],), first, stop)
        for a in range(len(rows)):
            found[a, c] = counts[a]
        c += 1


@njit(cache=True, nogil=True)
def _add_strip(found, n_rows, place, shift, begin, end, cards, pairs, offsets, tables):
    """Add a strip's counts to tables: its row ``a`` to row ``place + a`` of pairs begin:end."""
    c = 0
    for k in range(begin, end):
        width = cards[pairs[k, 1]]
        for a in range(n_rows):
            start = offsets[k] + (place + a) * width
            for b in range(width - 1):
                tables[start + b] += found[a, c + b] << shift
        c += width - 1


@njit(cache=True, nogil=True)
def count_by_bitsets(left, right, shift, bit_offsets, cards, pairs, offsets, tables):
    """Add the counts of pair ``k``, times ``2**shift``, to its table at ``offsets[k]``, row-major.

    All cells but the last row and column, which ``complete_tables`` fills. The bitsets of first
    variables come from ``left``, of second ones from ``right``; ``left`` may have fewer words.
    """
    columns = np.empty(MOST_COLUMNS, dtype=np.int64)
    found = np.empty((4, MOST_COLUMNS), dtype=np.int64)
    for first in range(0, left.shape[1], WORDS):
        stop = min(first + WORDS, left.shape[1])
        end = np.int64(0)
        while end < len(pairs):
            begin, i, n_columns = end, pairs[end, 0], 0
            while end < len(pairs) and pairs[end, 0] == i:  # these pairs are counted together
                place, count = bit_offsets[pairs[end, 1]], cards[pairs[end, 1]] - 1
                if n_columns + count > MOST_COLUMNS:
                    break
                for c in range(count):
                    columns[n_columns + c] = place + c
                n_columns += count
                end += 1
            row = bit_offsets[i]
            while row < bit_offsets[i + 1]:
                n_rows = 4 if row + 4 <= bit_offsets[i + 1] else 1
                if n_rows == 4:
                    four = (row, row + 1, row + 2, row + 3)
                    _count_strip(four, left, right, first, stop, columns, n_columns, found)
                else:
                    _count_strip((row,), left, right, first, stop, columns, n_columns, found)
                _add_strip(found, n_rows, row - bit_offsets[i], shift, begin, end, cards, pairs,
                           offsets, tables)  # fmt: skip
                row += n_rows


@njit(cache=True, nogil=True)
def complete_tables(cards, margins, margin_offsets, pairs, offsets, tables):
    """Fill the last column and row of every table from the margins."""
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        width, start = cards[j], offsets[k]
        last = start + (cards[i] - 1) * width
        for b in range(width):
            tables[last + b] = margins[margin_offsets[j] + b]
        for a in range(cards[i] - 1):
            cell, rest = start + a * width, margins[margin_offsets[i] + a]
            for b in range(width - 1):
                count = tables[cell + b]
                rest -= count
                tables[last + b] -= count
            tables[cell + width - 1] = rest
            tables[last + width - 1] -= rest


@njit(cache=True, nogil=True)
def convert(whole, numbers):
    """Fill numbers with whole ones, which may be in the same memory."""
    for k in range(len(whole)):
        numbers[k] = whole[k]


@njit(cache=True, nogil=True)
def count_by_rows(codes, cards, weights, pairs, offsets, tables):
    """Fill ``tables`` by a histogram over the rows; ``weights`` is empty for unit weights."""
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        width, start = cards[j], offsets[k]
        for r in range(codes.shape[1]):
            cell = start + np.int64(codes[i, r]) * width + codes[j, r]
            tables[cell] += weights[r] if weights.size else 1
