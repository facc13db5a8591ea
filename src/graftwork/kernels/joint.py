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


@njit(cache=True, nogil=True)
def conditional_hessian(weights, codes, masses, cards, edges, unary_offsets, edge_offsets):
    """Return the Hessian of the summed log-normalisers of all conditionals, shape (size, size).

    Shapes: weights (size,) float64; codes (n, rows) int64; masses (rows,) float64.
    """
    n, m, size = len(cards), len(edges), len(weights)
    found, places = np.zeros((size, size)), np.empty((cards.max(), m + 1), dtype=np.int64)
    scores = np.empty(cards.max())
    for i in range(n):
        for row in range(codes.shape[1]):
            count, states = 1, cards[i]
            for a in range(states):
                places[a, 0] = unary_offsets[i] + a
                scores[a] = weights[places[a, 0]]
            for e in range(m):
                first, second = edges[e]
                if i != first and i != second:
                    continue
                for a in range(states):
                    if i == first:
                        at = edge_offsets[e] + a * cards[second] + codes[second, row]
                    else:
                        at = edge_offsets[e] + codes[first, row] * cards[second] + a
                    places[a, count] = at
                    scores[a] += weights[at]
                count += 1
            chances = np.exp(scores[:states] - scores[:states].max())
            chances /= chances.sum()
            for a in range(states):
                for b in range(states):
                    both = (chances[a] if a == b else 0.0) - chances[a] * chances[b]
                    for k in range(count):
                        for j in range(count):
                            found[places[a, k], places[b, j]] += masses[row] * both
    return found
