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


@njit(cache=True, nogil=True)
def symmetric_products(first, second, cards, pairs, unary_offsets):
    """Return f_i(a) g_j(b) + g_i(a) f_j(b) for all entries (a, b) of the pairs' tables."""
    size = 0
    for e in range(len(pairs)):
        size += cards[pairs[e, 0]] * cards[pairs[e, 1]]
    out, place = np.empty(size), 0
    for e in range(len(pairs)):
        i, j = pairs[e]
        for a in range(unary_offsets[i], unary_offsets[i + 1]):
            for b in range(unary_offsets[j], unary_offsets[j + 1]):
                out[place] = first[a] * second[b] + second[a] * first[b]
                place += 1
    return out


@njit(cache=True, nogil=True)
def tables_apart(tables, cards, edges, unary_offsets, frequencies):
    """Return tables less their mean columns, and less their mean rows, over the data."""
    out, start = np.empty((2, len(tables))), 0
    for e in range(len(edges)):
        i, j = edges[e]
        own, other = unary_offsets[i], unary_offsets[j]
        for a in range(cards[i]):
            mean = 0.0
            for b in range(cards[j]):
                mean += tables[start + a * cards[j] + b] * frequencies[other + b]
            for b in range(cards[j]):
                out[0, start + a * cards[j] + b] = tables[start + a * cards[j] + b] - mean
        for b in range(cards[j]):
            mean = 0.0
            for a in range(cards[i]):
                mean += tables[start + a * cards[j] + b] * frequencies[own + a]
            for a in range(cards[i]):
                out[1, start + a * cards[j] + b] = tables[start + a * cards[j] + b] - mean
        start += cards[i] * cards[j]
    return out
