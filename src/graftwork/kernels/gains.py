"""Gains of single cells and single tables: what optimising them alone would bring.

A loss compares k distributions of a pair's cells with the data. Each distribution falls into slices
(all cells; the cells of one row; the cells of one column) of fixed mass.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

NEWTON_STEPS = 100
TABLE_STEPS = 200
# Frequencies closer than this to 0 or 1 are kept away from them.
EDGE = 1e-12


@njit(cache=True, nogil=True)
def slice_mass(model, k, given, start, s_first, s_second, cell):
    """Return the mass of the slice of distribution ``k`` that holds a cell."""
    mass = 0.0
    if given == 0:
        for c in range(s_first * s_second):
            mass += model[k, start + c]
    elif given == 1:
        row = cell // s_second * s_second
        for b in range(s_second):
            mass += model[k, start + row + b]
    else:
        for a in range(s_first):
            mass += model[k, start + a * s_second + cell % s_second]
    return mass


@njit(cache=True, nogil=True)
def slope_and_curvature(a, shares, masses, target, l2):
    """Return slope and curvature of the gain at weight ``a``, its sign's toll in ``target``."""
    slope, curvature = target - 2.0 * l2 * a, 2.0 * l2
    for k in range(len(shares)):
        tilted = shares[k] * math.exp(a) / (1.0 + shares[k] * math.expm1(a))
        slope -= masses[k] * tilted
        curvature += masses[k] * tilted * (1.0 - tilted)
    return slope, curvature


@njit(cache=True, nogil=True)
def best_weight(shares, masses, wanted, lam, l2):
    """Return the weight a of one indicator that gains most.

    gain(a) = wanted a - sum_k mass_k log(1 + p_k (e^a - 1)) - lam |a| - l2 a^2, with p_k the share
    of distribution k's slice that has the indicator. With one distribution and no l2 it is a closed
    form (Lee et al.); otherwise the root of the slope, by Newton steps kept in a bracket.
    """
    total, hits = masses.sum(), masses @ shares
    sign = 1.0 if wanted > hits else -1.0
    target = min(max(wanted - lam * sign, EDGE * total), (1.0 - EDGE) * total)
    if (target - hits) * sign <= 0.0:
        return 0.0
    if len(shares) == 1 and l2 == 0.0:
        p, q = shares[0], target / total
        return math.log(q * (1.0 - p) / (p * (1.0 - q)))
    near, far = 0.0, sign
    while slope_and_curvature(far, shares, masses, target, l2)[0] * sign > 0.0 and abs(far) < 64.0:
        near, far = far, 2.0 * far
    a = 0.5 * (near + far)
    for _ in range(NEWTON_STEPS):
        slope, curvature = slope_and_curvature(a, shares, masses, target, l2)
        if slope * sign > 0.0:
            near = a
        else:
            far = a
        step = slope / curvature
        inside = min(near, far) < a + step < max(near, far)
        a = a + step if inside else 0.5 * (near + far)
        if abs(near - far) < 1e-15 or (inside and abs(step) < 1e-15):
            break
    return a


@njit(cache=True, nogil=True)
def cell_gains(which, cells, widths, offsets, model, given, data, lams, l2):
    """Return the gain of each cell ``cells[t]`` of table ``which[t]``, with ``lams[t]`` on it."""
    gains = np.zeros(len(which))
    shares, masses = np.empty(len(given)), np.empty(len(given))
    for t in range(len(which)):
        start, width = offsets[which[t]], widths[which[t]]
        height = (offsets[which[t] + 1] - start) // width
        for k in range(len(given)):
            masses[k] = slice_mass(model, k, given[k], start, height, width, cells[t])
            share = model[k, start + cells[t]] / masses[k] if masses[k] > 0.0 else 0.0
            shares[k] = min(max(share, EDGE), 1.0 - EDGE)
        wanted = len(given) * data[start + cells[t]]
        a = best_weight(shares, masses, wanted, lams[t], l2)
        gains[t] = wanted * a - lams[t] * abs(a) - l2 * a * a
        for k in range(len(given)):
            gains[t] -= masses[k] * math.log1p(shares[k] * math.expm1(a))
    return gains


@njit(cache=True, nogil=True)
def table_loss(weights, start, s_first, s_second, model, given, data, gradient):
    """Return the change of the loss when a table is added, and fill its gradient."""
    size = s_first * s_second
    value = 0.0
    for c in range(size):
        gradient[c] = -len(given) * data[start + c]
        value -= len(given) * data[start + c] * weights[c]
    for k in range(len(given)):
        n_slices = 1 if given[k] == 0 else (s_first if given[k] == 1 else s_second)
        length = size // n_slices
        for t in range(n_slices):
            begin = t * s_second if given[k] == 1 else t
            stride = s_second if given[k] == 2 else 1
            mass, tilted = 0.0, 0.0
            for u in range(length):
                c = begin + u * stride
                mass += model[k, start + c]
                tilted += model[k, start + c] * math.exp(weights[c])
            if mass <= 0.0:
                continue
            value += mass * math.log(tilted / mass)
            for u in range(length):
                c = begin + u * stride
                gradient[c] += mass * model[k, start + c] * math.exp(weights[c]) / tilted
    return value


@njit(cache=True, nogil=True)
def shrink(weights, size, by, separable):
    """Apply the proximal step of the norm in place."""
    if separable:
        for c in range(size):
            weights[c] = math.copysign(max(0.0, abs(weights[c]) - by), weights[c])
        return
    norm = 0.0
    for c in range(size):
        norm += weights[c] * weights[c]
    norm = math.sqrt(norm)
    for c in range(size):
        weights[c] *= max(0.0, 1.0 - by / norm) if norm > 0.0 else 0.0


@njit(cache=True, nogil=True)
def table_gains(heights, widths, offsets, model, given, data, tolls, l2, separable):
    """Return the gain of each table, by accelerated proximal steps on it alone.

    ``tolls`` weigh on the tables' norms, or where the penalty is separable on each of the entries.
    Any iterate gives a lower bound, so few steps do.
    """
    gains = np.zeros(len(heights))
    for t in range(len(heights)):
        start, size = offsets[t], heights[t] * widths[t]
        weights, ahead, gradient = np.zeros(size), np.zeros(size), np.zeros(size)
        before = np.zeros(size)
        toll = tolls[t]
        curvature = 0.5 * len(given) + 2.0 * l2  # of a sum of log-sum-exp of at most unit mass each
        momentum = 1.0
        for _ in range(TABLE_STEPS):
            table_loss(ahead, start, heights[t], widths[t], model, given, data, gradient)
            moved = 0.0
            for c in range(size):
                before[c] = weights[c]
                weights[c] = ahead[c] - (gradient[c] + 2.0 * l2 * ahead[c]) / curvature
            shrink(weights, size, toll / curvature, separable)
            longer = 0.5 + math.sqrt(0.25 + momentum * momentum)
            for c in range(size):
                moved = max(moved, abs(weights[c] - before[c]))
                ahead[c] = weights[c] + (momentum - 1.0) / longer * (weights[c] - before[c])
            momentum = longer
            if moved < 1e-6:
                break
        value = table_loss(weights, start, heights[t], widths[t], model, given, data, gradient)
        norm = 0.0
        for c in range(size):
            norm += abs(weights[c]) if separable else weights[c] * weights[c]
            value += l2 * weights[c] * weights[c]
        gains[t] = -(value + toll * (norm if separable else math.sqrt(norm)))
    return gains
