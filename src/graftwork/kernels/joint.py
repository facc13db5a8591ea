"""All configurations of a small network, one after the other."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def joint_hessian(weights, cards, edges, unary_offsets, edge_offsets):
    """Return the Hessian of log Z: the covariance of all indicators, shape (size, size).

    Shapes: weights (size,) float64; cards (n,) int64; edges (m, 2) int64; unary_offsets (n +
    1,) int64; edge_offsets (m + 1,) int64.
    """
    n, m, size = len(cards), len(edges), len(weights)
    total = 1
    for i in range(n):
        total *= cards[i]
    scores, active = np.empty(total), np.empty((total, n + m), dtype=np.int64)
    states = np.zeros(n, dtype=np.int64)
    for k in range(total):
        score = 0.0
        for i in range(n):
            active[k, i] = unary_offsets[i] + states[i]
        for e in range(m):
            i, j = edges[e]
            active[k, n + e] = edge_offsets[e] + states[i] * cards[j] + states[j]
        for a in range(n + m):
            score += weights[active[k, a]]
        scores[k] = score
        for i in range(n):
            states[i] += 1
            if states[i] < cards[i]:
                break
            states[i] = 0
    chances = np.exp(scores - scores.max())
    chances /= chances.sum()
    found, means = np.zeros((size, size)), np.zeros(size)
    for k in range(total):
        for a in range(n + m):
            means[active[k, a]] += chances[k]
            for b in range(n + m):
                found[active[k, a], active[k, b]] += chances[k]
    for a in range(size):
        for b in range(size):
            found[a, b] -= means[a] * means[b]
    return found
