"""Minimise a quadratic model plus a penalty: all inner steps of a proximal solver at once."""

from __future__ import annotations

import numpy as np
from numba import njit

from graftwork.kernels.tables import centre_tables


@njit(cache=True, nogil=True)
def minimise_model(gradient, centre, diagonal, factors, middle, curvature, offsets, free,
                   by_entry, lam, l2, centred, cards, edges, edge_offsets, tolerance,
                   most_steps):  # fmt: skip
    """Return weights that nearly minimise the model, and whether it bends upwards on the way.

    Accelerated proximal steps; if the model bends downwards, what is returned is of no use.

    Parameters
    ----------
    gradient, centre : (size,) float64
        Of the loss, and where.
    diagonal : (size,) float64; factors : (k, size) float64; middle : (k, k) float64
        The Hessian, ``diag(diagonal) - factors' middle factors``.
    curvature : (blocks,) float64
        The metric of each block.
    offsets, free
        As `Blocks` has them.
    by_entry : bool
        Whether single entries are shrunk, or norms of blocks.
    lam, l2 : (blocks,) float64
        The penalty of a norm or entry, and of its square.
    centred : bool; cards, edges, edge_offsets
        Whether tables stay double-centred, and where they are.
    """
    size = len(centre)
    metric = np.empty(size)
    for g in range(len(curvature)):
        metric[offsets[g] : offsets[g + 1]] = curvature[g]
    scale, momentum, factor = 1.0, 1.0, 0.0
    weights, bent = centre.copy(), np.zeros(size)
    previous, bent_before = centre.copy(), np.zeros(size)
    ahead, bent_ahead, after, step = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    for _ in range(most_steps):
        for k in range(size):
            ahead[k] = weights[k] + factor * (weights[k] - previous[k])
            bent_ahead[k] = bent[k] + factor * (bent[k] - bent_before[k])
            after[k] = ahead[k] - (gradient[k] + bent_ahead[k]) / (scale * metric[k])
        _shrink(after, offsets, by_entry, lam, l2, scale, curvature)
        for k in range(size):
            if not free[k]:
                after[k] = ahead[k]
            step[k] = after[k] - centre[k]
        bent_after = diagonal * step
        if len(factors):
            bent_after -= np.dot(np.dot(middle, np.dot(factors, step)), factors)
        if centred:
            centre_tables(bent_after, cards, edges, edge_offsets)
        else:
            for k in range(size):
                if not free[k]:
                    bent_after[k] = 0.0
        length, gain, bends, uphill, worst = 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(size):
            move = after[k] - ahead[k]
            length += move * metric[k] * move
            gain += move * (bent_after[k] - bent_ahead[k])
            bends += step[k] * bent_after[k]
            uphill += move * metric[k] * (after[k] - weights[k])
            worst = max(worst, abs(scale * metric[k] * move))
        if bends < 0:
            return centre, False
        ratio = gain / max(length, 1e-300)
        if ratio > scale:  # the step was too bold for the model's curvature
            scale, momentum, factor = 1.5 * ratio, 1.0, 0.0
            continue
        if worst <= tolerance:
            return after, True
        if uphill < 0:  # momentum points uphill: start it anew
            momentum = 1.0
        longer = 0.5 + np.sqrt(0.25 + momentum * momentum)
        factor, momentum = (momentum - 1.0) / longer, longer
        previous, weights, after = weights, after, previous
        bent_before, bent = bent, bent_after
    return weights, True


@njit(cache=True, nogil=True)
def _shrink(weights, offsets, by_entry, lam, l2, scale, curvature):
    """Shrink entries, or blocks by their norms, in place."""
    for g in range(len(lam)):
        bound = lam[g] / (scale * curvature[g])
        less = 1.0 + 2.0 * l2[g] / (scale * curvature[g])
        start, end = offsets[g], offsets[g + 1]
        if by_entry:
            for k in range(start, end):
                kept = max(0.0, abs(weights[k]) - bound) / less
                weights[k] = kept if weights[k] > 0 else -kept
        else:
            total = 0.0
            for k in range(start, end):
                total += weights[k] * weights[k]
            share = max(0.0, 1.0 - bound / max(np.sqrt(total), 1e-300)) / less
            for k in range(start, end):
                weights[k] *= share
