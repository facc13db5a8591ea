"""Codes of a column in few bits each, and back."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def recode(index, low, lookup, out):
    """Fill ``out`` with ``lookup[index - low]`` and return the smallest of them, or 0.

    ``lookup`` is int32, and negative where nothing is known.
    """
    least = np.int32(0)
    for i in range(index.size):
        code = lookup[index[i] - low]
        least = min(least, code)
        out[i] = code
    return least


@njit(cache=True, nogil=True)
def first_rows(index, low, lookup):
    """Return where each entry of ``lookup`` that is negative occurs first, -1 if it does not."""
    first = np.full(lookup.size, -1, np.int64)
    for i in range(index.size):
        k = index[i] - low
        if lookup[k] < 0 and first[k] < 0:
            first[k] = i
    return first


@njit(cache=True, nogil=True)
def pack(codes, bits, out):
    """Write codes below 2**bits into bytes, the first ones into the low bits; bits is 1, 2 or 4."""
    each = 8 // bits
    whole = codes.size // each
    if bits == 1:
        for b in range(whole):
            at = 8 * b
            low = codes[at] | codes[at + 1] << 1 | codes[at + 2] << 2 | codes[at + 3] << 3
            high = codes[at + 4] | codes[at + 5] << 1 | codes[at + 6] << 2 | codes[at + 7] << 3
            out[b] = low | high << 4
    elif bits == 2:
        for b in range(whole):
            at = 4 * b
            out[b] = codes[at] | codes[at + 1] << 2 | codes[at + 2] << 4 | codes[at + 3] << 6
    else:
        for b in range(whole):
            out[b] = codes[2 * b] | codes[2 * b + 1] << 4
    if whole < out.size:
        last = 0
        for i in range(whole * each, codes.size):
            last |= codes[i] << (bits * (i - whole * each))
        out[whole] = last


@njit(cache=True, nogil=True)
def unpack(packed, bits, lookup, out):
    """Fill ``out`` with what ``lookup`` has for the codes in bytes; bits is 1, 2, 4 or 8."""
    n = out.size
    if bits == 8:
        for i in range(n):
            out[i] = lookup[packed[i]]
        return
    each = 8 // bits
    mask = (1 << bits) - 1
    whole = n // each
    if bits == 1:
        zero, one = lookup[0], lookup[1]
        for b in range(whole):
            byte = packed[b]
            for k in range(8):
                out[8 * b + k] = one if byte >> k & 1 else zero
    elif bits == 2:
        for b in range(whole):
            byte = packed[b]
            out[4 * b] = lookup[byte & 3]
            out[4 * b + 1] = lookup[byte >> 2 & 3]
            out[4 * b + 2] = lookup[byte >> 4 & 3]
            out[4 * b + 3] = lookup[byte >> 6]
    else:
        for b in range(whole):
            byte = packed[b]
            out[2 * b] = lookup[byte & 15]
            out[2 * b + 1] = lookup[byte >> 4]
    for i in range(whole * each, n):
        out[i] = lookup[packed[whole] >> (bits * (i - whole * each)) & mask]


@njit(cache=True, nogil=True)
def count_bytes(packed):
    """Return how often each byte occurs, shape (256,)."""
    # Four tables, so that equal bytes side by side do not wait for each other.
    counts = np.zeros((4, 256), np.int64)
    whole = packed.size // 4 * 4
    for i in range(0, whole, 4):
        counts[0, packed[i]] += 1
        counts[1, packed[i + 1]] += 1
        counts[2, packed[i + 2]] += 1
        counts[3, packed[i + 3]] += 1
    for i in range(whole, packed.size):
        counts[0, packed[i]] += 1
    return counts[0] + counts[1] + counts[2] + counts[3]


@njit(cache=True, nogil=True)
def add_weights(codes, weights, sums):
    """Add the weight of every row to the sum of its code, row by row."""
    for i in range(codes.size):
        sums[codes[i]] += weights[i]
