"""Exact weighted k-means of numbers on a line, by dynamic programming.

On a line the best clusters are intervals of the sorted numbers, so the best clustering of the first
``j`` numbers into ``k`` clusters is a best one of the first ``i`` into ``k - 1`` plus the cluster
``i..j``. The best ``i`` never falls as ``j`` grows, so each of the ``K`` layers can be filled by
divide and conquer in O(m log m).

The library kmeans1d computes the same, but is a compiled extension with wheels for few systems;
numba is needed here anyway.

References
----------
Wu (1991), Optimal quantization by matrix searching. Groenlund, Larsen, Mathiasen, Nielsen,
Schneider and Song (2017), Fast exact k-means, k-medians and Bregman divergence clustering in 1D.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def cut_into_clusters(values, weights, count):
    """Return where each of the ``count`` best clusters of sorted numbers starts, and the end.

    Shapes: values (m,) float64; weights (m,) float64; returns (count + 1,) int64.
    """
    size = len(values)
    mass, moment, square = _prefix_sums(values, weights)
    best = np.empty(size)
    for j in range(size):
        best[j] = _spread(mass, moment, square, 0, j)
    origins = np.zeros((count, size), dtype=np.int32)
    for k in range(1, count):
        best = _next_layer(best, mass, moment, square, k, origins[k])
    starts = np.empty(count + 1, dtype=np.int64)
    starts[count] = size
    for k in range(count - 1, -1, -1):
        starts[k] = origins[k, starts[k + 1] - 1] if k else 0
    return starts


@njit(cache=True, nogil=True)
def _prefix_sums(values, weights):
    """Return the running sums of weight, weight x and weight x^2, x being taken from the mean."""
    size = len(values)
    centre = (values * weights).sum() / weights.sum()
    mass, moment, square = np.zeros(size + 1), np.zeros(size + 1), np.zeros(size + 1)
    for j in range(size):
        x = values[j] - centre
        mass[j + 1] = mass[j] + weights[j]
        moment[j + 1] = moment[j] + weights[j] * x
        square[j + 1] = square[j] + weights[j] * x * x
    return mass, moment, square


@njit(cache=True, nogil=True)
def _spread(mass, moment, square, i, j):
    """Return the weighted squared distances of numbers i to j (both included) to their mean."""
    total = moment[j + 1] - moment[i]
    return max(0.0, square[j + 1] - square[i] - total * total / (mass[j + 1] - mass[i]))


@njit(cache=True, nogil=True)
def _next_layer(before, mass, moment, square, k, origin):
    """Return the cost of the best k + 1 clusters of each prefix; fill where the last one starts.

    The ranges still to do are on a stack: prefixes from ``first`` to ``last``, whose last cluster
    starts between ``low`` and ``high``.
    """
    size = len(before)
    best = np.full(size, np.inf)
    stack = [(k, size - 1, k, size - 1)]
    while len(stack) > 0:
        first, last, low, high = stack.pop()
        if first > last:
            continue
        j = (first + last) // 2
        place = low
        for i in range(low, min(high, j) + 1):
            cost = before[i - 1] + _spread(mass, moment, square, i, j)
            if cost < best[j]:
                best[j], place = cost, i
        origin[j] = place
        stack.append((first, j - 1, low, place))
        stack.append((j + 1, last, place, high))
    return best
