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

#: At most this many bitsets of first variables are gathered, to be counted four at once.
MOST_ROWS = 32

#: How many states of second variables are counted together.
MOST_COLUMNS = 512


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
def count_sets(bits, shift, counts):
    """Add the number of bits of each bitset, times ``2**shift``, to ``counts``."""
    for k in range(len(bits)):
        total = np.uint64(0)
        for w in range(bits.shape[1]):
            total += count_bits(bits[k, w])
        counts[k] += np.int64(total) << shift


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
def _add_row(found, skip, line, shift, begin, end, cards, pairs, offsets, tables):
    """Add counts, from column ``skip`` on, to row ``line`` of the tables of pairs begin:end."""
    c = skip
    for k in range(begin, end):
        width = cards[pairs[k, 1]]
        start = offsets[k] + line * width
        for b in range(width - 1):
            tables[start + b] += found[c + b] << shift
        c += width - 1


@njit(cache=True, nogil=True)
def _share_columns(pairs, begin, end, other, stop):
    """Return whether pairs other:stop have the second variables with which pairs begin:end end.

    Most of them, that is: some columns are counted that not all need.
    """
    missing = (end - begin) - (stop - other)
    if missing < 0 or 8 * missing > end - begin:
        return False
    k = 0
    while k < stop - other and pairs[other + k, 1] == pairs[begin + missing + k, 1]:
        k += 1
    return k == stop - other


@njit(cache=True, nogil=True)
def _run_of(pairs, begin):
    """Return where the pairs with the same first variable end."""
    end = begin
    while end < len(pairs) and pairs[end, 0] == pairs[begin, 0]:
        end += 1
    return end


@njit(cache=True, nogil=True)
def _add_rows(rows, n_rows, begin, end, skip, pairs, bit_offsets):
    """Note the bitsets of a first variable: place, row of the tables, its pairs, first column."""
    i = pairs[begin, 0]
    for line in range(bit_offsets[i + 1] - bit_offsets[i]):
        rows[n_rows, 0], rows[n_rows, 1] = bit_offsets[i] + line, line
        rows[n_rows, 2], rows[n_rows, 3], rows[n_rows, 4] = begin, end, skip
        n_rows += 1
    return n_rows


@njit(cache=True, nogil=True)
def count_by_bitsets(left, right, shift, bit_offsets, cards, pairs, offsets, tables):
    """Add the counts of pair ``k``, times ``2**shift``, to its table at ``offsets[k]``, row-major.

    All cells but the last row and column, which ``complete_tables`` fills. The bitsets of first
    variables come from ``left``, of second ones from ``right``; ``left`` may have fewer words.
    Four rows of bitsets are counted at once: of one first variable, or of several that follow
    each other with the same second ones.
    """
    columns = np.empty(MOST_COLUMNS, dtype=np.int64)
    found = np.empty((4, MOST_COLUMNS), dtype=np.int64)
    rows = np.empty((MOST_ROWS + MOST_BITSET_CELLS, 5), dtype=np.int64)
    for first in range(0, left.shape[1], WORDS):
        stop = min(first + WORDS, left.shape[1])
        end = np.int64(0)
        while end < len(pairs):
            begin, n_columns, all_fit = end, np.int64(0), True
            i = pairs[begin, 0]
            if bit_offsets[i] == bit_offsets[i + 1]:  # one state: nothing to count
                end = _run_of(pairs, begin)
                continue
            while end < len(pairs) and pairs[end, 0] == pairs[begin, 0]:
                place, count = bit_offsets[pairs[end, 1]], cards[pairs[end, 1]] - 1
                if n_columns + count > MOST_COLUMNS:
                    all_fit = False
                    break
                for c in range(count):
                    columns[n_columns + c] = place + c
                n_columns += count
                end += 1
            none = np.int64(0)
            n_rows = _add_rows(rows, none, begin, end, none, pairs, bit_offsets)
            last = end
            while all_fit and last < len(pairs) and n_rows % 4 and n_rows < MOST_ROWS:
                after = _run_of(pairs, last)
                if not _share_columns(pairs, begin, end, last, after):
                    break
                skip = none
                for k in range(begin, end - (after - last)):
                    skip += cards[pairs[k, 1]] - 1
                n_rows = _add_rows(rows, n_rows, last, after, skip, pairs, bit_offsets)
                last = after
            r = 0
            while r < n_rows:
                tile = 4 if r + 4 <= n_rows else 1
                if tile == 4:
                    four = (rows[r, 0], rows[r + 1, 0], rows[r + 2, 0], rows[r + 3, 0])
                    _count_strip(four, left, right, first, stop, columns, n_columns, found)
                else:
                    one = (rows[r, 0],)
                    _count_strip(one, left, right, first, stop, columns, n_columns, found)
                for a in range(tile):
                    _add_row(found[a], rows[r + a, 4], rows[r + a, 1], shift, rows[r + a, 2],
                             rows[r + a, 3], cards, pairs, offsets, tables)  # fmt: skip
                r += tile
            end = last


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
