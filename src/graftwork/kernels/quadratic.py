"""Minimise a quadratic model plus a penalty: all inner steps of a proximal solver at once."""

from __future__ import annotations

import numpy as np
from numba import njit

from graftwork.kernels.parts import part_norms, scale_parts
from graftwork.kernels.tables import centre_tables


@njit(cache=True, nogil=True)
def minimise_model(gradient, centre, diagonal, factors, middle, curvature, offsets, free,
                   by_entry, lam, l2, centred, cards, edges, edge_offsets, parts, places, rests,
                   tolerance, most_steps):  # fmt: skip
    """Return weights that nearly minimise the model, and whether it bends upwards on the way.

    Accelerated proximal steps; if the model bends downwards, what is returned is of no use.

    Shapes: gradient, centre (size,) float64; diagonal (size,) float64; factors (k, size)
    float64; middle (k, k) float64; curvature (blocks,) float64; lam, l2 (blocks,) float64;
    places, rests (tables,) int64.
    """
    size = len(centre)
    kept = np.ones((len(places), 2))
    for t in range(len(places)):
        kept[t, 1] = 1.0 if rests[t] >= 0 else 0.0
    lines_alone = kept[:, 1].sum() < len(places)
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
        _shrink(after, offsets, by_entry, lam, l2, scale, curvature, parts, places, rests)
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
        if lines_alone:
            scale_parts(bent_after, *parts, kept)
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
def _shrink(weights, offsets, by_entry, lam, l2, scale, curvature, parts, places, rests):
    """Shrink entries, or blocks or their parts by their norms, in place."""
    whole = np.ones(len(curvature), dtype=np.bool_)
    if len(places) and not by_entry:
        whole[places] = False
        factors = part_norms(weights, *parts)
        for t in range(len(places)):
            metric = scale * curvature[places[t]]
            factors[t, 0] = _share(factors[t, 0], lam[places[t]], l2[places[t]], metric)
            rest = rests[t]
            factors[t, 1] = _share(factors[t, 1], lam[rest], l2[rest], metric) if rest >= 0 else 0.0
        scale_parts(weights, *parts, factors)
    for g in range(len(curvature)):
        if not whole[g]:
            continue
        start, end = offsets[g], offsets[g + 1]
        if by_entry:
            bound = lam[g] / (scale * curvature[g])
            less = 1.0 + 2.0 * l2[g] / (scale * curvature[g])
            for k in range(start, end):
                kept = max(0.0, abs(weights[k]) - bound) / less
                weights[k] = kept if weights[k] > 0 else -kept
        else:
            total = 0.0
            for k in range(start, end):
                total += weights[k] * weights[k]
            share = _share(np.sqrt(total), lam[g], l2[g], scale * curvature[g])
            for k in range(start, end):
                weights[k] *= share


@njit(cache=True, nogil=True)
def _share(norm, lam, l2, metric):
    """Return what is left of weights with this norm, as a share."""
    return max(0.0, 1.0 - lam / metric / max(norm, 1e-300)) / (1.0 + 2.0 * l2 / metric)
