"""The distribution of each pair of variables that has an edge's odds ratios and given margins."""

from __future__ import annotations

import numpy as np
from numba import njit

#: Margins this close to those asked for are met; near-copies come close slowly.
CLOSE, MOST_ROUNDS = 1e-9, 2_000


@njit(cache=True, nogil=True)
def pair_joints(weights, cards, edges, starts, margins, places):
    """Return exp of some edges' tables (flat), rows and columns scaled until they have the margins.

    Where no scaling has these margins, because of impossible cells, the closest one found.
    """
    size = 0
    for e in range(len(edges)):
        size += cards[edges[e, 0]] * cards[edges[e, 1]]
    out, end = np.empty(size), 0
    for e in range(len(edges)):
        s_i, s_j = cards[edges[e, 0]], cards[edges[e, 1]]
        first, begin, end = starts[e], end, end + s_i * s_j
        p = margins[places[edges[e, 0]] : places[edges[e, 0]] + s_i]
        q = margins[places[edges[e, 1]] : places[edges[e, 1]] + s_j]
        joint = out[begin:end].reshape(s_i, s_j)
        _raise(weights[first : first + s_i * s_j].reshape(s_i, s_j), joint)
        _scale(joint, p, q)
    return out


@njit(cache=True, nogil=True)
def _raise(table, joint):
    """Write exp(table), the largest entry of each row 1."""
    for a in range(len(table)):
        most = -np.inf
        for b in range(table.shape[1]):
            most = max(most, table[a, b])
        for b in range(table.shape[1]):
            joint[a, b] = np.exp(table[a, b] - most) if most > -np.inf else 0.0


@njit(cache=True, nogil=True)
def _scale(joint, p, q):
    """Scale rows and columns in turns (Sinkhorn), in place; rows have their margin at the end."""
    for _ in range(MOST_ROUNDS):
        for b in range(len(q)):
            total = joint[:, b].sum()
            joint[:, b] *= q[b] / total if total > 0.0 else 0.0
        away = 0.0
        for a in range(len(p)):
            total = joint[a].sum()
            away += abs(total - p[a])
            joint[a] *= p[a] / total if total > 0.0 else 0.0
        if away < CLOSE:
            break
    whole = joint.sum()  # less than 1 where all of a row is impossible
    if whole > 0.0:
        joint /= whole
