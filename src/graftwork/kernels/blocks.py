"""Products of sums of small matrices with vectors."""

from __future__ import annotations

import numpy as np
from numba import njit

from graftwork.kernels.neighbourhoods import SUMS


@njit(cache=True, nogil=True, fastmath=SUMS)
def multiply_blocks(starts, places, blocks, vector, out):
    """Add the products of symmetric matrices, each in some coordinates, with a vector.

    Matrix ``k`` is in the coordinates ``places[starts[k] : starts[k + 1]]``; ``blocks`` has one
    after the other, flat. Only what is above their diagonals is read: memory is what takes time.
    """
    longest = 0
    for k in range(len(starts) - 1):
        longest = max(longest, starts[k + 1] - starts[k])
    sums, factors, first = np.empty(longest), np.empty(longest), 0
    for k in range(len(starts) - 1):
        own = places[starts[k] : starts[k + 1]]
        size = len(own)
        for a in range(size):
            factors[a] = vector[own[a]]
            sums[a] = 0.0
        for a in range(size):
            row = blocks[first + a * size + a : first + (a + 1) * size]
            factor, total, others, found = factors[a], 0.0, factors[a:size], sums[a:size]
            diagonal = row[0]
            for b in range(len(row)):
                found[b] += factor * row[b]
                total += others[b] * row[b]
            found[0] += total - factor * diagonal
        for a in range(size):
            out[own[a]] += sums[a]
        first += size * size
