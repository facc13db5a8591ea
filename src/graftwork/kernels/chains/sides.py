"""Scaled forward-backward of several label chains side by side, one in each lane of vectors.

States are those of `states`, without padding: ``g * labels + c``. Scores, forward
and backward vectors are flat arrays of (positions, states, lanes). A chain that is shorter than the
longest of them has all scores 1 at positions it lacks. They change nothing: what is behind a
chain's end is not counted, and backward vectors get its weight there, and are zero before.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numba.core.registry import cpu_target

from graftwork.kernels.row_sums import cache_lines, sum_rows
from graftwork.kernels.side_by_side import BLOCKS, add_products, mix, turn
from graftwork.kernels.vectors import (
    exponential,
    greater,
    load,
    minus,
    over,
    part_exponents,
    plus,
    same,
    smaller,
    store,
    times,
)

_WIDE = "+avx512f" in cpu_target.target_context.codegen().magic_tuple()[2].split(",")

#: As many chains go side by side as a register has numbers: the length of this tuple.
SIDE = (0,) * (8 if _WIDE else 4)

#: Kernels may read and write this many vectors after the last state; they mean nothing.
SLACK = 8

_LOG_TWO = math.log(2.0)


@njit(cache=True, nogil=True)
def fill_scores(order, n, w, n_columns, length, lengths, starts, indptr, places, values, rows,
                pairs, lines, votes, scores):  # fmt: skip
    """Fill log-scores of states: sums of the rows of a position's attributes, of all chains.

    ``lines`` (lanes, columns) and ``votes`` (columns, lanes) are room for one position's outputs.
    """
    lanes = len(SIDE)
    for t in range(length):
        for k in range(lanes):
            if t < lengths[k]:
                here = starts[k] + t
                sum_rows(n_columns, indptr[here], indptr[here + 1], places, values, rows, lines,
                         k * n_columns)  # fmt: skip
            else:
                for c in range(k * n_columns, (k + 1) * n_columns):
                    lines[c] = 0.0
        if order == 1:  # what is behind the last label is written over by the next position
            _turn_lines(n_columns, lines, scores, t * n * lanes)
            continue
        _turn_lines(n_columns, lines, votes, np.int64(0))
        for g in range(n):
            for c in range(n):
                score = load(SIDE, votes, c * lanes)
                if t > 0:
                    pair = load(SIDE, votes, ((1 + g) * w + c) * lanes)
                    score = plus(plus(score, pair), same(SIDE, pairs[g, c]))
                store(score, scores, ((t * n + g) * n + c) * lanes)
    for k in range(lanes):
        if order == 2 and lengths[k] < length:  # pairs have weights at all positions
            for s in range(lengths[k] * n * n, length * n * n):
                scores[s * lanes + k] = 0.0


@njit(inline="always")
def _turn_lines(n_columns, lines, out, place):
    lanes = len(SIDE)
    for c in range(0, n_columns, lanes):
        turn(SIDE, lines, c, n_columns, out, place + c * lanes, lanes)


@njit(cache=True, nogil=True)
def leave_out(count, k, scores):
    """Set the scores of a chain's first states to 1."""
    for s in range(count):
        scores[s * len(SIDE) + k] = 1.0


@njit(cache=True, nogil=True)
def exponentiate_scores(length, n_states, n_first, scores, tops, apart):
    """Replace log-scores by exponentials over each position's largest, whose log is kept.

    ``apart`` is filled with how far scores of a position are apart in each chain, at most. The
    first position has ``n_first`` states.
    """
    lanes = len(SIDE)
    widest = same(SIDE, 0.0)
    for t in range(length):
        start, count = t * n_states * lanes, n_first if t == 0 else n_states
        low = high = load(SIDE, scores, start)
        for s in range(1, count):
            here = load(SIDE, scores, start + s * lanes)
            high, low = greater(high, here), smaller(low, here)
        widest = greater(widest, minus(high, low))
        store(high, tops, t * lanes)
        for s in range(count):
            at = start + s * lanes
            store(exponential(minus(load(SIDE, scores, at), high)), scores, at)
    store(widest, apart, 0)


@njit(cache=True, nogil=True)
def _block_size(count):
    """Return how many of ``count`` sums are made at once: few blocks that hardly overlap.

    Fewer than eight at once wait for each other.
    """
    best, least = 1, 8 * count
    for size in BLOCKS:
        cost = (count + size - 1) // size * max(8, size + 1)
        if size <= count and cost <= least:
            best, least = size, cost
    return best


@njit(inline="always")
def _mix_all(size, table, entry, row_step, source, first, step, count, out, place, out_step):
    """Do ``mix`` for as many vectors as source vectors, ``size`` at a time."""
    for b in range((count + size - 1) // size):
        j = min(b * size, count - size)  # the last two may overlap
        mix(SIDE, size, table, entry + j, row_step, source, first, step, count, out,
            place + j * out_step, out_step)  # fmt: skip


@njit(inline="always")
def _normalise(n_states, scores, forward, start):
    """Multiply a position's vectors by its scores and scale them to sum 1; return the sums."""
    lanes = len(SIDE)
    even = odd = same(SIDE, 0.0)
    for s in range(0, n_states - 1, 2):
        at = (start + s) * lanes
        one = times(load(SIDE, forward, at), load(SIDE, scores, at))
        two = times(load(SIDE, forward, at + lanes), load(SIDE, scores, at + lanes))
        store(one, forward, at)
        store(two, forward, at + lanes)
        even, odd = plus(even, one), plus(odd, two)
    if n_states % 2:
        at = (start + n_states - 1) * lanes
        one = times(load(SIDE, forward, at), load(SIDE, scores, at))
        store(one, forward, at)
        even = plus(even, one)
    total = plus(even, odd)
    scale = over(same(SIDE, 1.0), total)
    for s in range(n_states):
        at = (start + s) * lanes
        store(times(load(SIDE, forward, at), scale), forward, at)
    return total


@njit(cache=True, nogil=True)
def fill_forward(order, n, length, scores, moves, forward, totals):
    """Fill the scaled forward vectors and their sums before scaling, for ``n`` labels."""
    lanes, n_states, groups = len(SIDE), n**order, n ** (order - 1)
    # Numbers that are written out would be types of their own, with kernels of their own.
    size, nothing, zero, one = _block_size(n), same(SIDE, 0.0), np.int64(0), np.int64(1)
    for s in range(n_states):
        store(same(SIDE, 1.0) if s < n else nothing, forward, s * lanes)
    store(_normalise(n, scores, forward, zero), totals, 0)
    for t in range(1, length):
        here = t * n_states
        if order == 2 and t == 1:
            for g in range(n):
                for c in range(n):
                    store(load(SIDE, forward, g * lanes), forward, (here + g * n + c) * lanes)
        else:
            for g in range(groups):
                _mix_all(size, moves, g * n, groups * n, forward, here - n_states + g, groups, n,
                         forward, here + g * n, one)  # fmt: skip
        store(_normalise(n_states, scores, forward, here), totals, t * lanes)


@njit(cache=True, nogil=True)
def sum_logs(length, lengths, totals, tops, out):
    """Fill the sums of the logs of each chain's totals and of its tops."""
    lanes = len(SIDE)
    exponents, rests = np.zeros(lanes, np.int64), np.empty(lanes)
    for k in range(lanes):
        for t in range(lengths[k], length):
            totals[t * lanes + k], tops[t * lanes + k] = 1.0, 0.0
    rest, high = same(SIDE, 1.0), same(SIDE, 0.0)
    for t in range(length):
        rest = part_exponents(times(rest, load(SIDE, totals, t * lanes)), exponents, 0)
        high = plus(high, load(SIDE, tops, t * lanes))
    store(rest, rests, 0)
    store(high, out, 0)
    for k in range(lanes):
        out[k] += math.log(rests[k]) + _LOG_TWO * exponents[k]


@njit(cache=True, nogil=True)
def fill_backward(order, n, w, n_columns, length, lengths, weights, starts, scores, moves_back,
                  forward, totals, backward, votes, marginals):  # fmt: skip
    """Fill the marginals of outputs; scores become what moves are multiplied with.

    These are the scores times backward vectors, over totals and times weights: with the forward
    vectors of the position before and the moves they make the probabilities of moves.
    """
    lanes, n_states, groups = len(SIDE), n**order, n ** (order - 1)
    size, one, square = _block_size(n), np.int64(1), cache_lines(lanes * lanes)
    for s in range(n_states):
        store(same(SIDE, 0.0), backward, s * lanes)
    for t in range(length - 1, -1, -1):
        here = t * n_states
        for k in range(lanes):
            if lengths[k] == t + 1:
                for s in range(n_states):
                    backward[s * lanes + k] = weights[k]
        _fill_votes(order, n, w, t == 0, here, forward, backward, votes)
        _write_votes(n_columns, t, lengths, starts, votes, square, marginals)
        if t == 0:
            return
        scale = over(same(SIDE, 1.0), load(SIDE, totals, t * lanes))
        for s in range(n_states):
            at = (here + s) * lanes
            after = times(times(load(SIDE, scores, at), load(SIDE, backward, s * lanes)), scale)
            store(after, scores, at)
        if order == 2 and t == 1:
            for g in range(n):
                total = same(SIDE, 0.0)
                for c in range(n):
                    total = plus(total, load(SIDE, scores, (here + g * n + c) * lanes))
                store(total, backward, g * lanes)
            continue
        for g in range(groups):
            _mix_all(size, moves_back, g * n * n, n, scores, here + g * n, one, n, backward, g,
                     groups)  # fmt: skip


@njit(inline="always")
def _fill_votes(order, n, w, first, here, forward, backward, votes):
    """Fill one position's probabilities of outputs from its states."""
    lanes = len(SIDE)
    for c in range(n):
        total = same(SIDE, 0.0)
        for g in range(n if order == 2 and not first else 1):
            s = (g * n + c) * lanes
            share = times(load(SIDE, forward, here * lanes + s), load(SIDE, backward, s))
            total = plus(total, share)
            if order == 2 and not first:
                store(share, votes, ((1 + g) * w + c) * lanes)
        store(total, votes, c * lanes)
    if order == 2 and first:
        for at in range(w * lanes, votes.size):
            votes[at] = 0.0


@njit(inline="always")
def _write_votes(n_columns, t, lengths, starts, votes, square, marginals):
    """Write the outputs of one position to the row of each chain that has it."""
    lanes = len(SIDE)
    for c in range(0, n_columns, lanes):
        turn(SIDE, votes, c * lanes, lanes, square, 0, lanes)
        for k in range(lanes):
            if t < lengths[k]:
                at = (starts[k] + t) * n_columns + c
                store(load(SIDE, square, k * lanes), marginals, at)


@njit(cache=True, nogil=True)
def tile_size(n):
    """Return of how many before, and as many after, moves are summed at once."""
    if n < 4:
        return n
    return 4 if len(SIDE) == 8 and n not in (5, 6, 9) else 3


@njit(cache=True, nogil=True)
def add_moves(order, n, length, forward, after, products):
    """Add to ``products``, (before, group, after, lanes), what multiplies each move's weight.

    Labels are padded to whole tiles there; sums beyond them mean nothing.
    """
    n_states, groups, size = n**order, n ** (order - 1), tile_size(n)
    padded = (n + size - 1) // size * size
    for g in range(groups):
        for a in range(0, n, size):
            for c in range(0, n, size):
                add_products(
                    SIDE, size, length - order, forward, (order - 1) * n_states + a * groups + g,
                    groups, n_states, after, order * n_states + g * n + c, n_states, products,
                    (a * groups + g) * padded + c, groups * padded,
                )  # fmt: skip
