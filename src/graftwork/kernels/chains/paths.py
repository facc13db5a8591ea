"""The most probable labels of chains (Viterbi).

States and outputs are those of `graftwork.kernels.chains.states`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from graftwork.kernels.chains.logs import NEVER, fill_rows, fill_states, reached


@njit(cache=True, nogil=True)
def best_paths(order, n_labels, chains, starts, indptr, places, values, rows, pairs,
               log_moves, preferred, labels, scores):  # fmt: skip
    """Fill the most probable labels of some chains, and their scores (Viterbi).

    Of equally good labels the first in ``preferred`` wins: all labels, (n_labels,) int64. Ties are
    broken at the last position first.
    """
    reach, _, w = log_moves.shape
    n_states = w if order == 1 else reach * w
    longest = 0
    for k in chains:
        longest = max(longest, starts[k + 1] - starts[k])
    outputs, states = np.empty((longest, rows.shape[1])), np.full((longest, n_states), NEVER)
    best, came = np.empty((longest, n_states)), np.zeros((longest, n_states), dtype=np.int32)
    for k in chains:
        start, length = starts[k], starts[k + 1] - starts[k]
        fill_rows(start, start + length, indptr, places, values, rows, outputs)
        fill_states(w, order, n_labels, length, outputs, pairs, states)
        for s in range(n_states):
            best[0, s] = states[0, s]
        for t in range(1, length):
            for s in range(n_states):
                best[t, s] = NEVER
                if s % w >= n_labels or s // w >= n_labels:
                    continue
                top, origin = -np.inf, 0
                for a in preferred:
                    before = reached(w, order, t, s, a)
                    if before < 0:
                        continue
                    move = 0.0 if t < order else log_moves[a, s // w, s % w]
                    if best[t - 1, before] + move > top:
                        top, origin = best[t - 1, before] + move, before
                best[t, s], came[t, s] = top + states[t, s], origin
        top, state = -np.inf, 0
        for c in preferred:
            for g in preferred[: 1 if order == 1 else n_labels]:
                s = c if order == 1 else g * w + c
                if best[length - 1, s] > top:
                    top, state = best[length - 1, s], s
        scores[k] = top
        for t in range(length - 1, -1, -1):
            labels[start + t] = state % w
            state = came[t, state]
