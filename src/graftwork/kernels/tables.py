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


@njit(cache=True, nogil=True)
def add_mean_rows(vector, cards, edges, offsets, unary_offsets, frequencies, sign):
    """Add to every unary, ``sign`` times, what its tables add to it on average over the data."""
    for e in range(len(edges)):
        i, j = edges[e]
        for a in range(cards[i]):
            for b in range(cards[j]):
                value = sign * vector[offsets[e] + a * cards[j] + b]
                vector[unary_offsets[i] + a] += value * frequencies[unary_offsets[j] + b]
                vector[unary_offsets[j] + b] += value * frequencies[unary_offsets[i] + a]


@njit(cache=True, nogil=True)
def subtract_mean_slopes(gradient, cards, edges, offsets, unary_offsets, frequencies):
    """Change a gradient to one for tables whose unaries follow them (see ``add_mean_rows``)."""
    for e in range(len(edges)):
        i, j = edges[e]
        for a in range(cards[i]):
            for b in range(cards[j]):
                gradient[offsets[e] + a * cards[j] + b] -= (
                    frequencies[unary_offsets[j] + b] * gradient[unary_offsets[i] + a]
                    + frequencies[unary_offsets[i] + a] * gradient[unary_offsets[j] + b]
                )
