"""Many joint states of a network at once: their log weights, and means of their conditionals."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def add_log_weights(x, cards, edges, starts, weights, out):
    """Add the entries of all tables at each column of ``x`` (n, columns) to ``out`` (columns,).

    The table of edge e is row-major and starts at ``starts[e]`` of ``weights``.
    """
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        start, width = starts[e], cards[j]
        for c in range(x.shape[1]):
            out[c] += weights[start + np.int64(x[i, c]) * width + np.int64(x[j, c])]


@njit(cache=True, nogil=True)
def mean_conditionals(x, groups, variables, indptr, neighbours, starts, offsets, unary, logs, out):
    """Fill ``out`` (groups, states of all variables) with means of p(x_i | the others).

    The columns of ``x`` (n, columns) are in ``groups`` blocks of one length, and a mean is that of
    a block. Only the ``variables`` are looked at. Tables are as in `graftwork.kernels.gibbs`.
    """
    each = x.shape[1] // groups
    widest = 1
    for i in variables:
        widest = max(widest, offsets[i + 1] - offsets[i])
    weights = np.empty(widest)
    for i in variables:
        first, states = offsets[i], offsets[i + 1] - offsets[i]
        for c in range(groups * each):
            peak = -np.inf
            for a in range(states):
                value = unary[first + a]
                for t in range(indptr[i], indptr[i + 1]):
                    value += logs[starts[t] + np.int64(x[neighbours[t], c]) * states + a]
                weights[a] = value
                peak = max(peak, value)
            if peak == -np.inf:
                continue
            total = 0.0
            for a in range(states):
                weights[a] = np.exp(weights[a] - peak)
                total += weights[a]
            for a in range(states):
                out[c // each, first + a] += weights[a] / (total * each)


@njit(cache=True, nogil=True)
def covary(x, offsets, vector, out):
    """Fill ``out`` (states,) with the covariances of all states with a combination of them.

    The combination is ``vector``; a column of ``x`` (n, columns) has the states
    ``offsets[i] + x[i]``.
    """
    columns = x.shape[1]
    sums = np.zeros(columns)
    for i in range(len(x)):
        first = offsets[i]
        for c in range(columns):
            sums[c] += vector[first + np.int64(x[i, c])]
    sums -= sums.mean()
    out[:] = 0.0
    for i in range(len(x)):
        first = offsets[i]
        for c in range(columns):
            out[first + np.int64(x[i, c])] += sums[c]
    out /= columns
