"""Small loops over ragged tables."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def centre_tables(vector, cards, edges, offsets):
    """Subtract from every table its row means and column means, in place."""
    for e in range(len(edges)):
        s_i, s_j, start = cards[edges[e, 0]], cards[edges[e, 1]], offsets[e]
        columns = np.zeros(s_j)
        for a in range(s_i):
            mean = 0.0
            for b in range(s_j):
                mean += vector[start + a * s_j + b]
            mean /= s_j
            for b in range(s_j):
                vector[start + a * s_j + b] -= mean
                columns[b] += vector[start + a * s_j + b]
        for b in range(s_j):
            mean = columns[b] / s_i
            for a in range(s_i):
                vector[start + a * s_j + b] -= mean
