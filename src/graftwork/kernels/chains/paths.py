"""The most probable labels of chains (Viterbi).

States and outputs are those of `graftwork.kernels.chains.states`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from graftwork.kernels.chains.logs import NEVER
from graftwork.kernels.row_sums import cache_lines, sum_rows


@njit(cache=True, nogil=True)
def best_paths(order, n_labels, chains, starts, indptr, places, values, rows, pairs,
               log_moves, preferred, labels, scores):  # fmt: skip
    """Fill the most probable labels of some chains, and their scores (Viterbi).

    Of equally good labels the first in ``preferred`` wins: all labels, (n_labels,) int64. Ties are
    broken at the last position first. Only the best scores are kept on the way forward; where they
    came from is looked up on the way back, for one state of each position.
    """
    _, groups, w = log_moves.shape
    n_states, n_columns = groups * w, rows.shape[1]
    longest = 0
    for k in chains:
        longest = max(longest, starts[k + 1] - starts[k])
    votes, weights = cache_lines(n_columns), rows.ravel()
    best = cache_lines(longest * n_states)
    for k in chains:
        start, length = starts[k], starts[k + 1] - starts[k]
        for t in range(length):
            sum_rows(n_columns, indptr[start + t], indptr[start + t + 1], places, values, weights,
                     votes, np.int64(0))  # fmt: skip
            here = t * n_states
            if t == 0:  # labels only, in the states (0, c)
                for s in range(n_states):
                    best[s] = votes[s] if s < w else NEVER
                continue
            for g in range(groups):
                _fill_best(order, n_labels, n_states, g, t, log_moves, best)
                for c in range(w):
                    best[here + g * w + c] += votes[c]
                if order == 2:
                    for c in range(w):
                        best[here + g * w + c] += votes[(1 + g) * w + c] + pairs[g, c]
        top, group, label = -np.inf, 0, 0
        for c in preferred:
            for g in preferred[:groups]:
                if best[(length - 1) * n_states + g * w * (order - 1) + c] > top:
                    top = best[(length - 1) * n_states + g * w * (order - 1) + c]
                    group, label = g * (order - 1), c
        scores[k] = top
        for t in range(length - 1, -1, -1):
            labels[start + t] = label
            if t >= order:
                origin = _origin(order, n_states, group, label, t, log_moves, preferred, best)
                group, label = (0, origin) if order == 1 else (origin, group)
            else:  # in second order, the label before is the group, and there is none before it
                group, label = 0, group


@njit(cache=True, nogil=True)
def _fill_best(order, n_labels, n_states, g, t, log_moves, best):
    """Fill the scores of the best ways to the states (g, c) at t, without what they add there."""
    w = log_moves.shape[2]
    here, before = t * n_states + g * w, (t - 1) * n_states
    if t < order:  # the first position has labels only, and no moves end at the second
        for c in range(w):
            best[here + c] = best[before + g]
        return
    step = 1 if order == 1 else w
    for c in range(w):
        best[here + c] = best[before + g] + log_moves[0, g, c]
    for a in range(1, n_labels):
        score = best[before + a * step + g]
        for c in range(w):
            value = score + log_moves[a, g, c]
            best[here + c] = value if value > best[here + c] else best[here + c]


@njit(cache=True, nogil=True)
def _origin(order, n_states, g, c, t, log_moves, preferred, best):
    """Return the label before (g, c) on the best way there, the most preferred of equals."""
    step = 1 if order == 1 else log_moves.shape[2]
    top, origin = -np.inf, preferred[0]
    for a in preferred:
        value = best[(t - 1) * n_states + a * step + g] + log_moves[a, g, c]
        if value > top:
            top, origin = value, a
    return origin
