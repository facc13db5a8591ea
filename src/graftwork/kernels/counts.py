"""Pair tables by bitsets: a cell is popcount(state of one variable AND state of the other)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

# Above this many free cells a histogram over the rows is cheaper than bitsets: a bitset cell reads
# rows/64 words where a histogram reads every row once (measured; see benchmarks/pair_counts.py).
MOST_BITSET_CELLS = 256


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:
    """Return the number of set bits of a 64-bit word (one instruction, vectorised by LLVM)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@njit(cache=True, nogil=True)
def pack_states(first, stop, codes, cards, bit_offsets, bits):
    """Fill ``bits[bit_offsets[i] + a]`` with the rows where variable ``i`` is in state ``a``.

    For variables ``first`` to ``stop``. The last state of each is left out: its cells follow from
    the margins.
    """
    n_rows = codes.shape[1]
    for i in range(first, stop):
        last = cards[i] - 1
        for r in range(n_rows):
            state = codes[i, r]
            if state < last:
                bits[bit_offsets[i] + state, r >> 6] |= np.uint64(1) << np.uint64(r & 63)


@njit(cache=True, nogil=True)
def count_states(first, stop, codes, weights, offsets, margins):
    """Add up the rows (or their weights) of each state of variables ``first`` to ``stop``."""
    for i in range(first, stop):
        for r in range(codes.shape[1]):
            if weights.size:
                margins[offsets[i] + codes[i, r]] += weights[r]
            else:
                margins[offsets[i] + codes[i, r]] += 1


@njit(cache=True, nogil=True)
def count_by_bitsets(bits, bit_offsets, cards, margins, margin_offsets, pairs, offsets, tables):
    """Fill ``tables[offsets[k]:]`` with the counts of pair ``k``, row-major, all cells."""
    n_words = bits.shape[1]
    for k in range(pairs.shape[0]):
        i, j = pairs[k, 0], pairs[k, 1]
        s_i, s_j, start = cards[i], cards[j], offsets[k]
        for a in range(s_i - 1):
            row = bits[bit_offsets[i] + a]
            rest = margins[margin_offsets[i] + a]
            b = 0
            while b + 4 <= s_j - 1:  # a word of the row serves four columns
                place = bit_offsets[j] + b
                t0, t1, t2, t3 = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
                for w in range(n_words):
                    word = row[w]
                    t0 += _popcount(word & bits[place, w])
                    t1 += _popcount(word & bits[place + 1, w])
                    t2 += _popcount(word & bits[place + 2, w])
                    t3 += _popcount(word & bits[place + 3, w])
                cell = start + a * s_j + b
                tables[cell], tables[cell + 1] = t0, t1
                tables[cell + 2], tables[cell + 3] = t2, t3
                rest -= np.int64(t0 + t1 + t2 + t3)
                b += 4
            while b < s_j - 1:
                column = bits[bit_offsets[j] + b]
                total = np.uint64(0)
                for w in range(n_words):
                    total += _popcount(row[w] & column[w])
                tables[start + a * s_j + b] = total
                rest -= np.int64(total)
                b += 1
            tables[start + a * s_j + s_j - 1] = rest
        for b in range(s_j):
            rest = margins[margin_offsets[j] + b]
            for a in range(s_i - 1):
                rest -= tables[start + a * s_j + b]
            tables[start + (s_i - 1) * s_j + b] = rest


@njit(cache=True, nogil=True)
def count_by_rows(codes, cards, weights, pairs, offsets, tables):
    """Fill ``tables`` by a histogram over the rows; ``weights`` is empty for unit weights."""
    n_rows = codes.shape[1]
    for k in range(pairs.shape[0]):
        i, j = pairs[k, 0], pairs[k, 1]
        s_j, start = cards[j], offsets[k]
        for r in range(n_rows):
            cell = start + np.int64(codes[i, r]) * s_j + codes[j, r]
            if weights.size:
                tables[cell] += weights[r]
            else:
                tables[cell] += 1
