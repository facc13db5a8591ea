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
    s_i, s_j = table.shape
    half = np.empty((s_i, s_j))
    for b in range(s_j):
        if first_size == 0:
            mean = 0.0
            for a in range(s_i):
                mean += table[a, b] / s_i
            for a in range(s_i):
                half[a, b] = table[a, b] - mean
        else:
            half[:, b] = 0.0
            for k in range(first_size):
                along = 0.0
                for a in range(s_i):
                    along += values[first + a * first_size + k] * table[a, b]
                for a in range(s_i):
                    half[a, b] += values[first + a * first_size + k] * along
    out = np.empty((s_i, s_j))
    for a in range(s_i):
        if second_size == 0:
            mean = 0.0
            for b in range(s_j):
                mean += half[a, b] / s_j
            for b in range(s_j):
                out[a, b] = half[a, b] - mean
        else:
            out[a] = 0.0
            for k in range(second_size):
                along = 0.0
                for b in range(s_j):
                    along += values[second + b * second_size + k] * half[a, b]
                for b in range(s_j):
                    out[a, b] += values[second + b * second_size + k] * along
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
