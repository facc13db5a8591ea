"""One site given its neighbours, in several columns at once: Gibbs sampling, pseudo-likelihood.

``logs[starts[t] + x_j * s_i :][:s_i]`` is the log table row of slot t for neighbour state x_j, less
its maximum; ``exps`` are the exponentials. The weights of a site are then a product of contiguous
rows: no exponential is taken in the inner loop. `LANES` columns (chains, or rows of data) go in
step.

Gibbs sampling does the same in float32 and in registers at sites where nothing has more than
`MOST_STATES` states. ``tables`` (slots, states, entries) then holds the exponentials by the own
state first, with zeros for states a variable does not have: see ``lanes.multiply``. Lanes whose
weights are too small for that are redone in float64, and where that is not enough in logs.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from graftwork.kernels.gibbs_lanes import (
    WIDTH,
    any_below,
    choose,
    draw,
    load_codes,
    multiply,
    spread_each,
    store_codes,
)
from graftwork.kernels.vectors import store

LANES = WIDTH

#: The largest tables that are looked up in registers.
MOST_STATES = 16

#: In float32 a total of at least this has lost no state that is more than 1e-8 of it, which is less
#: than the unit of the uniform numbers.
SMALL = np.float32(1e-30)

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


@njit(cache=True, nogil=True)
def _step_wide(
    i, x, column, level, total,
    indptr, neighbours, starts, offsets, unary_logs, unary_exps, logs, exps, rows, weights,
    limits, chosen,
):  # fmt: skip
    """Draw site i in those lanes from ``column`` on whose ``total`` is small.

    ``level`` are uniform numbers. A site whose states all have zero weight stays as it is.
    """
    states = offsets[i + 1] - offsets[i]
    _weigh(i, x, column, indptr, neighbours, starts, offsets, unary_exps, exps, rows, weights)
    _accumulate(states, weights)
    for lane in range(LANES):
        if total[lane] < SMALL and weights[states - 1, lane] < TINY:
            _weigh_in_logs(
                i, x, column + lane, indptr, neighbours, starts, offsets,
                unary_logs, logs, weights, lane,
            )  # fmt: skip
            _accumulate_exps(states, weights, lane)
    for lane in range(LANES):
        limits[lane] = level[lane] * weights[states - 1, lane]
        chosen[lane] = 0
    for a in range(states - 1):
        for lane in range(LANES):
            chosen[lane] += weights[a, lane] <= limits[lane]
    for lane in range(LANES):
        if total[lane] < SMALL and weights[states - 1, lane] > 0.0:
            x[i, column + lane] = chosen[lane]


@njit(cache=True, nogil=True)
def run_chains(
    sizes, x, free, narrow, state, burn_in, thin, unaries, tables,
    indptr, neighbours, starts, offsets, unary_logs, unary_exps, logs, exps, out,
):  # fmt: skip
    """Go on with the chains of ``x`` (n, lanes); write ``out`` (n, draws, lanes).

    The length of ``sizes`` is the number of states in ``unaries`` (n, states) and ``tables``, which
    are right for the sites that are ``narrow``. Column l of ``state`` (4, lanes) is the generator
    of lane l: a chain is the same whatever the other lanes are.
    """
    lanes, stride = x.shape[1], tables.shape[1] * tables.shape[2]
    weights, rows = np.empty((_widest(offsets), LANES)), np.empty(LANES, np.int64)
    level, total = np.empty(LANES, np.float32), np.empty(LANES, np.float32)
    limits, counts = np.empty(LANES), np.empty(LANES, np.int64)
    picked, nothing = np.empty(LANES, x.dtype), np.zeros(LANES, np.float32)
    for sweep in range(burn_in + thin * out.shape[1]):
        for f in range(len(free)):
            i = free[f]
            for column in range(0, lanes, LANES):
                uniform = draw(state, column)
                if narrow[i]:
                    held = spread_each(sizes, unaries, i * len(sizes))
                    for t in range(indptr[i], indptr[i + 1]):
                        codes = load_codes(x, neighbours[t] * lanes + column)
                        held = multiply(held, tables, t * stride, codes)
                    chosen, mass = choose(held, uniform)
                    if not any_below(mass, SMALL):
                        store_codes(chosen, x, i * lanes + column)
                        continue
                    store(mass, total, 0)
                    store_codes(chosen, picked, 0)
                    for lane in range(LANES):
                        if total[lane] >= SMALL:
                            x[i, column + lane] = picked[lane]
                store(uniform, level, 0)
                _step_wide(
                    i, x, column, level, total if narrow[i] else nothing, indptr, neighbours,
                    starts, offsets, unary_logs, unary_exps, logs, exps, rows, weights,
                    limits, counts,
                )  # fmt: skip
        kept = sweep - burn_in + 1
        if kept > 0 and kept % thin == 0:
            for i in range(len(x)):
                out[i, kept // thin - 1] = x[i]


@njit(cache=True, nogil=True)
def uniform_at(seed, first, second):
    """Return a random number in [0, 1) that depends on its arguments alone (SplitMix64)."""
    mixed = np.uint64(seed)
    for part in (first, second):
        mixed += np.uint64(part) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return np.float64(mixed >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True)
def draw_cells(sweep, seed, first_row, rows, starts, cards, offsets, weights, indptr, halves,
               drawn):  # fmt: skip
    """Draw cells, variable by variable, each given the others of its row.

    Those of variable i are in ``rows[starts[i]:starts[i + 1]]``. ``halves[indptr[i]:][t]`` are a
    neighbour, where the table starts, and the strides of i's state and of the neighbour's in it.
    What is drawn depends on the seed, the sweep, the variable and the number of the row
    (``first_row`` more than its place) alone.
    """
    shares = np.empty(cards.max())
    for i in range(len(cards)):
        for c in range(starts[i], starts[i + 1]):
            row, top, total = rows[c], -np.inf, 0.0
            for a in range(cards[i]):
                value = weights[offsets[i] + a]
                for t in range(indptr[i], indptr[i + 1]):
                    other = np.int64(drawn[halves[t, 0], row])
                    value += weights[halves[t, 1] + a * halves[t, 2] + other * halves[t, 3]]
                shares[a] = value
                top = max(top, value)
            for a in range(cards[i]):
                shares[a] = math.exp(shares[a] - top) if top > -np.inf else 1.0
                total += shares[a]
            left = total * uniform_at(seed, first_row + row, sweep * len(cards) + i)
            state = 0
            while state < cards[i] - 1 and left >= shares[state]:
                left -= shares[state]
                state += 1
            while shares[state] == 0.0:  # rounding
                state -= 1
            drawn[i, row] = state


@njit(cache=True, nogil=True)
def deal(part, firsts, ends, out):
    """Write the draws of lane l of ``part`` (n, draws, lanes) to ``out[:, firsts[l]:ends[l]]``.

    Draws beyond the end are left out.
    """
    for i in range(len(part)):
        for lane in range(len(firsts)):
            count = min(part.shape[1], ends[lane] - firsts[lane])
            target = out[i, firsts[lane] : firsts[lane] + count]
            for k in range(len(target)):
                target[k] = part[i, k, lane]


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
