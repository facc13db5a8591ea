"""Chains in logarithms throughout: slow, for scores that exponentials cannot hold.

States and outputs are those of `graftwork.kernels.chains.states`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from graftwork.kernels.row_sums import sum_rows

#: Log-scores of labels that only pad: their probability is zero.
NEVER = -1e30


@njit(cache=True, nogil=True)
def fill_rows(first, last, indptr, places, values, rows, out):
    """Fill ``out[t]`` with the summed weights of the active attributes at positions first + t."""
    for t in range(last - first):
        sum_rows(rows.shape[1], indptr[first + t], indptr[first + t + 1], places, values,
                 rows.ravel(), out.ravel(), t * rows.shape[1])  # fmt: skip


@njit(cache=True, nogil=True)
def fill_states(w, order, n_labels, length, outputs, pairs, states):
    """Fill the log-scores of states from those of outputs and the weights of pairs (g, c)."""
    for t in range(length):
        if order == 1:
            for c in range(w):
                states[t, c] = outputs[t, c] if c < n_labels else NEVER
            continue
        for g in range(states.shape[1] // w):
            for c in range(w):
                if c >= n_labels or g >= n_labels or (t == 0 and g > 0):
                    states[t, g * w + c] = NEVER
                elif t == 0:
                    states[t, c] = outputs[t, c]
                else:
                    states[t, g * w + c] = outputs[t, c] + outputs[t, (1 + g) * w + c] + pairs[g, c]


@njit(cache=True, nogil=True)
def write_marginals(w, order, n_labels, weight, first, forward, backward, out):
    """Fill one position's weighted probabilities of outputs from its states."""
    if order == 1:
        for c in range(w):
            out[c] = weight * forward[c] * backward[c]
        return
    for o in range(out.size):
        out[o] = 0.0
    for g in range(1 if first else n_labels):
        for c in range(w):
            share = weight * forward[g * w + c] * backward[g * w + c]
            out[c] += share
            if not first:
                out[(1 + g) * w + c] = share


@njit(cache=True, nogil=True)
def _log_sum(values, count):
    """Return log(sum(exp(values[:count])))."""
    top = values[0]
    for s in range(1, count):
        top = max(top, values[s])
    total = 0.0
    for s in range(count):
        total += math.exp(values[s] - top)
    return top + math.log(total)


@njit(cache=True, nogil=True)
def reached(w, order, t, s, a):
    """Return which state before, by its label a, leads to state s at position t, or -1."""
    if order == 1:
        return a
    g = s // w
    if t == 1:  # the first position has labels only
        return g if a == 0 else -1
    return a * w + g


@njit(cache=True, nogil=True)
def pass_in_logs(w, order, n_labels, length, weight, states, log_moves, forward, backward,
             marginals, sums, want_marginals):  # fmt: skip
    """Do the same for one chain with logarithms throughout: slow, for scores that underflow.

    ``states`` are log-scores; ``forward`` and ``backward`` are filled with logarithms.
    """
    n_states = states.shape[1]
    terms = np.empty(max(n_states, n_labels))
    for s in range(n_states):
        forward[0, s] = states[0, s]
        backward[length - 1, s] = 0.0
    for t in range(1, length):
        for s in range(n_states):
            for a in range(n_labels):
                before = reached(w, order, t, s, a)
                terms[a] = NEVER
                if before >= 0 and s % w < n_labels and s // w < n_labels:
                    move = 0.0 if t < order else log_moves[a, s // w, s % w]
                    terms[a] = forward[t - 1, before] + move
            forward[t, s] = max(NEVER, _log_sum(terms, n_labels) + states[t, s])
    value = _log_sum(forward[length - 1], n_states)
    if not want_marginals:
        return value
    for t in range(length - 1, 0, -1):
        for s in range(n_states):
            backward[t - 1, s] = NEVER
        for s in range(n_states):
            if s % w >= n_labels or s // w >= n_labels:
                continue
            for a in range(n_labels):
                before = reached(w, order, t, s, a)
                if before < 0:
                    continue
                move = 0.0 if t < order else log_moves[a, s // w, s % w]
                term = move + states[t, s] + backward[t, s]
                high = max(backward[t - 1, before], term)
                low = min(backward[t - 1, before], term)
                backward[t - 1, before] = high + math.log1p(math.exp(low - high))
                if t >= order:
                    sums[a, s // w, s % w] += weight * math.exp(
                        forward[t - 1, before] + term - value
                    )
    one = np.ones(n_states)
    shares = np.empty(n_states)
    for t in range(length):
        for s in range(n_states):
            shares[s] = math.exp(forward[t, s] + backward[t, s] - value)
        write_marginals(w, order, n_labels, weight, t == 0, shares, one, marginals[t])
    return value


@njit(cache=True, nogil=True)
def pass_over_logs(order, n_labels, chains, starts, weights, indptr, places, values, rows, pairs,
                   log_moves, marginals, sums, log_partitions, want_marginals):  # fmt: skip
    """Do what `graftwork.kernels.chains.infer_chains` does, with logarithms throughout."""
    reach, _, w = log_moves.shape
    n_states = w if order == 1 else reach * w
    for k in chains:
        start, stop = starts[k], starts[k + 1]
        outputs = np.empty((stop - start, rows.shape[1]))
        states = np.full((stop - start, n_states), NEVER)
        forward, backward = np.zeros(states.shape), np.empty(states.shape)
        fill_rows(start, stop, indptr, places, values, rows, outputs)
        fill_states(w, order, n_labels, stop - start, outputs, pairs, states)
        log_partitions[k] = pass_in_logs(
            w, order, n_labels, stop - start, weights[k] if weights.size else 1.0, states,
            log_moves, forward, backward, marginals[start:stop], sums, want_marginals,
        )  # fmt: skip
