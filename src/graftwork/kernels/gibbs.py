"""One site given its neighbours, in several columns at once: Gibbs sampling, pseudo-likelihood.

``logs[starts[t] + x_j * s_i :][:s_i]`` is the log table row of slot t for neighbour state x_j, less
its maximum; ``exps`` are the exponentials. The weights of a site are then a product of contiguous
rows: no exponential is taken in the inner loop. `LANES` columns (chains, or rows of data) go in
step, which the compiler turns into vector code.
"""

from __future__ import annotations

import numpy as np
from numba import njit

LANES = 8

#: Below this a product may have lost states to underflow, and is redone in logs.
TINY = 1e-250


@njit(cache=True, nogil=True)
def _widest(offsets):
    """Return the largest number of states."""
    widest = 1
    for i in range(len(offsets) - 1):
        widest = max(widest, offsets[i + 1] - offsets[i])
    return widest


@njit(cache=True, nogil=True)
def _weigh_in_logs(
    i, x, column, indptr, neighbours, starts, offsets, unary_logs, logs, weights, lane
):
    """Fill one lane of ``weights`` with the log weights of site i, less their maximum.

    Return that maximum: -inf (and a lane of -inf) where no state has any weight.
    """
    first, states = offsets[i], offsets[i + 1] - offsets[i]
    peak = -np.inf
    for a in range(states):
        value = unary_logs[first + a]
        for t in range(indptr[i], indptr[i + 1]):
            value += logs[starts[t] + np.int64(x[neighbours[t], column]) * states + a]
        weights[a, lane] = value
        peak = max(peak, value)
    if peak > -np.inf:
        for a in range(states):
            weights[a, lane] -= peak
    return peak


@njit(cache=True, nogil=True, inline="always")
def _weigh(i, x, column, indptr, neighbours, starts, offsets, unary_exps, exps, rows, weights):
    """Fill ``weights`` (states, LANES) with the relative weights of the states of site i."""
    first, states = offsets[i], offsets[i + 1] - offsets[i]
    for a in range(states):
        value = unary_exps[first + a]
        for lane in range(LANES):
            weights[a, lane] = value
    for t in range(indptr[i], indptr[i + 1]):
        j, start = neighbours[t], starts[t]
        for lane in range(LANES):
            rows[lane] = start + np.int64(x[j, column + lane]) * states
        for a in range(states):
            for lane in range(LANES):
                weights[a, lane] *= exps[rows[lane] + a]


@njit(cache=True, nogil=True, inline="always")
def _accumulate(states, weights):
    """Replace weights by their partial sums over the states, lane by lane."""
    for a in range(1, states):
        for lane in range(LANES):
            weights[a, lane] += weights[a - 1, lane]


@njit(cache=True, nogil=True)
def _accumulate_exps(states, weights, lane):
    """Replace one lane of log weights by the partial sums of their exponentials."""
    below = 0.0
    for a in range(states):
        below += np.exp(weights[a, lane])
        weights[a, lane] = below


@njit(cache=True, nogil=True, inline="always")
def _uniforms(state, out):
    """Advance each lane's splitmix64 (Steele, Lea and Flood 2014); fill ``out`` in [0, 1)."""
    for lane in range(LANES):
        state[lane] = state[lane] + np.uint64(0x9E3779B97F4A7C15)
        z = state[lane]
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
        out[lane] = np.float64(np.int64(z >> np.uint64(11))) * (1.0 / 9007199254740992.0)


@njit(cache=True, nogil=True)
def run_chains(
    x, free, state, burn_in, thin,
    indptr, neighbours, starts, offsets, unary_logs, unary_exps, logs, exps, out,
):  # fmt: skip
    """Run LANES chains from ``x`` (n, LANES); write ``out`` (lane, n, draws) every ``thin`` sweeps.

    ``state`` holds one random state per lane, so a chain is the same whatever runs beside it. A
    site whose states all have zero weight stays as it is.
    """
    weights = np.empty((_widest(offsets), LANES))
    rows, chosen = np.empty(LANES, np.int64), np.empty(LANES, np.int64)
    level = np.empty(LANES)
    for sweep in range(burn_in + thin * out.shape[2]):
        for f in range(len(free)):
            i = free[f]
            states = offsets[i + 1] - offsets[i]
            _weigh(i, x, 0, indptr, neighbours, starts, offsets, unary_exps, exps, rows, weights)
            _accumulate(states, weights)
            for lane in range(LANES):
                chosen[lane] = 0
                if weights[states - 1, lane] < TINY:
                    peak = _weigh_in_logs(
                        i, x, lane, indptr, neighbours, starts, offsets,
                        unary_logs, logs, weights, lane,
                    )  # fmt: skip
                    _accumulate_exps(states, weights, lane)
                    chosen[lane] = x[i, lane] if peak == -np.inf else 0
            _uniforms(state, level)
            for lane in range(LANES):
                # No weight at all: a level below every sum keeps the state it has.
                level[lane] = level[lane] * weights[states - 1, lane]
                if weights[states - 1, lane] == 0.0:
                    level[lane] = -1.0
            for a in range(states - 1):
                for lane in range(LANES):
                    chosen[lane] += weights[a, lane] <= level[lane]
            for lane in range(LANES):
                x[i, lane] = chosen[lane]
        kept = sweep - burn_in + 1
        if kept > 0 and kept % thin == 0:
            for lane in range(LANES):
                for i in range(len(x)):
                    out[lane, i, kept // thin - 1] = x[i, lane]


@njit(cache=True, nogil=True)
def sum_conditionals(
    x, indptr, neighbours, starts, offsets, unary_logs, unary_exps, logs, exps, out
):
    """Add sum_i log p(x_i | the others) of each column of ``x`` (n, a multiple of LANES)."""
    weights, rows = np.empty((_widest(offsets), LANES)), np.empty(LANES, np.int64)
    held = np.empty(LANES)
    for column in range(0, x.shape[1], LANES):
        for i in range(len(x)):
            states = offsets[i + 1] - offsets[i]
            _weigh(
                i, x, column, indptr, neighbours, starts, offsets, unary_exps, exps, rows, weights
            )
            for lane in range(LANES):
                held[lane] = weights[x[i, column + lane], lane]
            _accumulate(states, weights)
            for lane in range(LANES):
                if held[lane] > TINY:
                    out[column + lane] += np.log(held[lane] / weights[states - 1, lane])
                    continue
                peak = _weigh_in_logs(
                    i, x, column + lane, indptr, neighbours, starts, offsets,
                    unary_logs, logs, weights, lane,
                )  # fmt: skip
                total = 0.0
                for a in range(states):
                    total += np.exp(weights[a, lane])
                seen = weights[x[i, column + lane], lane]
                out[column + lane] += seen - np.log(total) if peak > -np.inf else -np.inf
