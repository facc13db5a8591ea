"""What optimising the weight of one feature of chains alone would bring.

The labels of different positions are taken as independent, each with its present probability of
having the feature's output (a chain's positions are not, but the order of gains hardly depends on
that). The gain of weight d is then

    d seen - sum_t w_t log(1 + p_t (exp(x_t d) - 1)) - lam |d| - l2 d^2.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

STEPS = 50
LARGEST = 30.0


@njit(cache=True, nogil=True)
def _slope_and_curvature(d, shares, values, weights, size, target, l2):
    """Return slope and curvature of the gain at weight d; its toll is in the target."""
    slope, curvature = target - 2.0 * l2 * d, 2.0 * l2
    for t in range(size):
        z = values[t] * d
        if z > 0.0:
            tilted = shares[t] / (shares[t] + (1.0 - shares[t]) * math.exp(-z))
        else:
            tilted = shares[t] * math.exp(z) / (1.0 + shares[t] * math.expm1(z))
        slope -= weights[t] * values[t] * tilted
        curvature += weights[t] * values[t] * values[t] * tilted * (1.0 - tilted)
    return slope, curvature


@njit(cache=True, nogil=True)
def _value(d, shares, values, weights, size, target, l2):
    """Return the gain of weight d."""
    gain = target * d - l2 * d * d
    for t in range(size):
        z = values[t] * d
        if z > 0.0:
            gain -= weights[t] * (z + math.log(shares[t] + (1.0 - shares[t]) * math.exp(-z)))
        else:
            gain -= weights[t] * math.log1p(shares[t] * math.expm1(z))
    return gain


@njit(cache=True, nogil=True)
def _best_gain(shares, values, weights, size, seen, lam, l2):
    """Return the largest gain over all weights: Newton steps kept in a bracket."""
    slope, _ = _slope_and_curvature(0.0, shares, values, weights, size, seen, l2)
    if abs(slope) <= lam:
        return 0.0
    sign = 1.0 if slope > 0.0 else -1.0
    target = seen - lam * sign
    near, far = 0.0, sign
    while abs(far) < LARGEST:
        if _slope_and_curvature(far, shares, values, weights, size, target, l2)[0] * sign <= 0.0:
            break
        near, far = far, 2.0 * far
    d = 0.5 * (near + far)
    for _ in range(STEPS):
        slope, curvature = _slope_and_curvature(d, shares, values, weights, size, target, l2)
        if slope * sign > 0.0:
            near = d
        else:
            far = d
        step = slope / max(curvature, 1e-300)
        if abs(step) < 1e-9 * (1.0 + abs(d)):
            break
        inside = min(near, far) < d + step < max(near, far)
        d = d + step if inside else 0.5 * (near + far)
    return max(0.0, _value(d, shares, values, weights, size, target, l2))


@njit(cache=True, nogil=True)
def vote_gains(first, last, attributes, columns, seen, col_starts, positions, values, marginals,
               weights, lam, l2, out):  # fmt: skip
    """Fill the gains of the features first:last, given the attribute and the output of each.

    ``marginals`` are times the positions' weights; no weights are ones.
    """
    longest = 0
    for f in range(first, last):
        longest = max(longest, col_starts[attributes[f] + 1] - col_starts[attributes[f]])
    shares, here, mass = np.empty(longest), np.ones(longest), np.ones(longest)
    for f in range(first, last):
        size = 0
        for k in range(col_starts[attributes[f]], col_starts[attributes[f] + 1]):
            t = positions[k]
            weight = weights[t] if weights.size else 1.0
            if weight == 0.0:
                continue
            shares[size] = min(1.0, marginals[t, columns[f]] / weight)
            here[size] = values[k] if values.size else 1.0
            mass[size] = weight
            size += 1
        out[f] = _best_gain(shares, here, mass, size, seen[f], lam, l2)


@njit(cache=True, nogil=True)
def move_gains(expected, seen, totals, lam, l2, out):
    """Fill the gains of pairs or triples of labels, as if each move had the same probability."""
    one = np.ones(1)
    share, mass = np.empty(1), np.empty(1)
    for f in range(expected.size):
        share[0], mass[0] = min(1.0, expected[f] / totals[f]), totals[f]
        out[f] = _best_gain(share, one, mass, 1, seen[f], lam, l2)
