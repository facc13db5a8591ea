"""Loops over tables that have a linear part and a rest (see ``data.scores``)."""

from __future__ import annotations

import numpy as np
from numba import njit

# Parts of a table below this share of the other are rounding errors.
ROUNDING = 1e-12


@njit(cache=True, nogil=True)
def linear_part(table, values, first, first_size, second, second_size):
    """Return B_i B_i' table B_j B_j', a variable without columns being centred instead.

    ``values`` holds columns row by row; those of both variables start at ``first`` and ``second``.
    """
    height, width = table.shape
    if first_size == 1 and second_size == 1:  # most often: a number
        out, theta = np.empty((height, width)), 0.0
        for a in range(height):
            for b in range(width):
                theta += values[first + a] * table[a, b] * values[second + b]
        for a in range(height):
            for b in range(width):
                out[a, b] = theta * values[first + a] * values[second + b]
        return out
    half = _along_scores(table, values, first, first_size)
    return _along_scores(half.T.copy(), values, second, second_size).T.copy()


@njit(cache=True, nogil=True)
def _along_scores(table, values, start, size):
    """Return the columns of a table projected on a variable's scores, or centred."""
    height, width = table.shape
    out = np.zeros((height, width))
    if size == 0:
        for b in range(width):
            mean = 0.0
            for a in range(height):
                mean += table[a, b] / height
            for a in range(height):
                out[a, b] = table[a, b] - mean
        return out
    for b in range(width):
        for k in range(size):
            along = 0.0
            for a in range(height):
                along += values[start + a * size + k] * table[a, b]
            for a in range(height):
                out[a, b] += values[start + a * size + k] * along
    return out


@njit(cache=True, nogil=True)
def part_norms(vector, starts, pairs, cards, values, places, sizes):
    """Return the norm of the linear part of each table, and that of the rest, shape (tables, 2).

    A part that is small beside the other is a rounding error, and has the norm zero.
    """
    norms = np.zeros((len(pairs), 2))
    for t in range(len(pairs)):
        i, j = pairs[t]
        size = cards[i] * cards[j]
        table = vector[starts[t] : starts[t] + size].reshape((cards[i], cards[j]))
        line = linear_part(table, values, places[i], sizes[i], places[j], sizes[j])
        for a in range(cards[i]):
            for b in range(cards[j]):
                norms[t, 0] += line[a, b] ** 2
                norms[t, 1] += (table[a, b] - line[a, b]) ** 2
        for k in range(2):
            if norms[t, k] <= ROUNDING**2 * norms[t, 1 - k]:
                norms[t, k] = 0.0
    return np.sqrt(norms)


@njit(cache=True, nogil=True)
def scale_parts(vector, starts, pairs, cards, values, places, sizes, factors):
    """Multiply both parts of each table by factors of shape (tables, 2), in place."""
    for t in range(len(pairs)):
        i, j = pairs[t]
        size = cards[i] * cards[j]
        table = vector[starts[t] : starts[t] + size].reshape((cards[i], cards[j]))
        line = linear_part(table, values, places[i], sizes[i], places[j], sizes[j])
        for a in range(cards[i]):
            for b in range(cards[j]):
                rest = table[a, b] - line[a, b]
                table[a, b] = factors[t, 0] * line[a, b] + factors[t, 1] * rest
