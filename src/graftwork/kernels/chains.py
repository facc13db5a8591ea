"""Forward-backward over many label chains in flat arrays.

A chain's *outputs* are what its attributes may vote for: the label at a position and, in chains of
second order, the pair (label before, label) at it. Weights of an attribute are one row of outputs:
``labels`` first, then pairs ``g * width + c``, each block padded to ``width``.

States: of first order a state is the label c; of second order it is the pair (g, c) of the label
before and the label, so that a chain of second order is one of first order with more states. Both
are ``g * width + c`` (with g = 0 alone in first order), and

    forward[g, c] = sum_a before[a * step + g] * moves[a, g, c] * scores[g, c]

with step = 1 in first order (the state before is a) and step = width in second (it is (a, g)). The
first position of a chain of second order has a label only; it is kept in the states (0, c).

Labels are padded to ``width``, a multiple of ``len(lanes)``, with scores of zero probability. That
length is known when a kernel is compiled, so that the inner loops become vector instructions; there
are few different ones (`ChainShape.lanes`), so that little is ever compiled.

Sums over positions are made chunk by chunk, chunks do not depend on the number of threads.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from graftwork.kernels.chain_logs import NEVER, pass_in_logs, write_marginals
from graftwork.kernels.pseudo import SUMS, _exponentiate
from graftwork.kernels.row_sums import add_row, sum_rows

#: Probabilities may be this far apart, as logarithms, before only logarithms can hold them.
MOST_APART = 600.0


@njit(cache=True, nogil=True, fastmath=SUMS)
def fill_rows(lanes, first, last, indptr, indices, values, slots, rows, out):
    """Fill ``out[t]`` with the summed weights of the active attributes at positions first + t."""
    for t in range(last - first):
        for b in range(rows.shape[1]):
            target = out[t, b]
            for lane in range(len(lanes)):
                target[lane] = 0.0
        for k in range(indptr[first + t], indptr[first + t + 1]):
            slot = slots[indices[k]]
            if slot < 0:
                continue
            value = values[k] if values.size else 1.0
            for b in range(rows.shape[1]):
                add_row(lanes, value, rows, slot * rows.shape[1] + b, out, t * rows.shape[1] + b)


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


@njit(cache=True, nogil=True, fastmath=SUMS)
def _subtract_largest(length, states, tops):
    """Subtract each position's largest score, and keep it; return how far scores are apart."""
    apart = 0.0
    for t in range(length):
        top = states[t, 0]
        for s in range(1, states.shape[1]):
            top = states[t, s] if states[t, s] > top else top
        tops[t], low = top, top
        for s in range(states.shape[1]):
            value = states[t, s]
            low = value if NEVER * 0.5 < value < low else low
        apart = max(apart, top - low)
        for s in range(states.shape[1]):
            states[t, s] -= top
    return apart


@njit(cache=True, nogil=True, fastmath=SUMS)
def _move(lanes, w, order, n_labels, before, moves, after):
    """Fill ``after`` with the sum over states before, times the moves to each state."""
    step = 1 if order == 1 else w
    groups, n_blocks = moves.shape[1], moves.shape[2]
    for g in range(1 if order == 1 else n_labels):
        for b in range(n_blocks):
            row = g * n_blocks + b
            sum_rows(lanes, before, g, step, moves, row, groups * n_blocks, n_labels, after, row)


@njit(cache=True, nogil=True, fastmath=SUMS)
def _normalise(vector, scores):
    """Multiply by the scores and scale to sum 1; return the sum."""
    total = 0.0
    for s in range(vector.size):
        total += vector[s] * scores[s]
    scale = 1.0 / total if total > 0.0 else 0.0
    for s in range(vector.size):
        vector[s] = vector[s] * scores[s] * scale
    return total


@njit(cache=True, nogil=True, fastmath=SUMS)
def _forward(lanes, w, order, n_labels, length, scores, moves, forward, totals):
    """Fill the scaled forward vectors; return the log of the product of scales."""
    result = 0.0
    n_states = scores.shape[1]
    blocks = forward.reshape(forward.shape[0], n_states // len(lanes), len(lanes))
    for s in range(n_states):
        forward[0, s] = 1.0
    totals[0] = _normalise(forward[0], scores[0])
    for t in range(1, length):
        if order == 2 and t == 1:
            for g in range(n_labels):
                for c in range(w):
                    forward[1, g * w + c] = forward[0, g]
        else:
            _move(lanes, w, order, n_labels, forward[t - 1], moves, blocks[t])
        totals[t] = _normalise(forward[t], scores[t])
    for t in range(length):
        result += math.log(totals[t])
    return result


@njit(cache=True, nogil=True, fastmath=SUMS)
def _move_back(lanes, w, order, n_labels, after, moves_back, before, column):
    """Fill ``before`` with the sum over states after, times the moves to them."""
    n_blocks = moves_back.shape[2]
    if order == 1:
        for b in range(n_blocks):
            sum_rows(lanes, after, 0, 1, moves_back, b, n_blocks, n_labels, before, b)
        return
    for g in range(n_labels):
        for b in range(n_blocks):
            sum_rows(lanes, after, g * w, 1, moves_back, g * w * n_blocks + b, n_blocks, n_labels,
                     column, 0)  # fmt: skip
            for lane in range(len(lanes)):
                before[(b * len(lanes) + lane) * w + g] = column[lane]


@njit(cache=True, nogil=True, fastmath=SUMS)
def _add_moves(lanes, w, order, n_labels, weight, before, after, sums):
    """Add the products of states before and after to the sums of moves."""
    step = 1 if order == 1 else w
    groups, n_blocks = sums.shape[1], sums.shape[2]
    for a in range(n_labels):
        for g in range(1 if order == 1 else n_labels):
            x = weight * before[a * step + g]
            for b in range(n_blocks):
                row = g * n_blocks + b
                add_row(lanes, x, after, row, sums, a * groups * n_blocks + row)


@njit(cache=True, nogil=True, fastmath=SUMS)
def _backward(lanes, w, order, n_labels, length, weight, scores, moves_back, forward, totals,
              backward, after, column, marginals, sums):  # fmt: skip
    """Fill the marginals of a chain's outputs, and add its moves to the sums."""
    blocks = after.reshape(after.size // len(lanes), len(lanes))
    for s in range(backward.size):
        backward[s] = 1.0
    for t in range(length - 1, -1, -1):
        write_marginals(w, order, n_labels, weight, t == 0, forward[t], backward, marginals[t])
        if t == 0:
            return
        scale = 1.0 / totals[t]
        for s in range(backward.size):
            after[s] = scores[t, s] * backward[s] * scale
        if order == 2 and t == 1:
            for s in range(backward.size):
                backward[s] = 0.0
            for g in range(n_labels):
                total = 0.0
                for c in range(w):
                    total += after[g * w + c]
                backward[g] = total
        else:
            _add_moves(lanes, w, order, n_labels, weight, forward[t - 1], blocks, sums)
            _move_back(lanes, w, order, n_labels, after, moves_back, backward, column)


@njit(cache=True, nogil=True)
def _exponentiate_moves(n_labels, log_moves):
    """Return the exponentials of the moves divided by the largest, their transpose, and two logs.

    The logs are the largest, and how far the smallest is below it.
    """
    reach, groups, w = log_moves.shape
    moves, moves_back = np.zeros((reach, groups, w)), np.zeros((groups, w, reach))
    largest = smallest = log_moves[0, 0, 0]
    for a in range(n_labels):
        for g in range(groups):
            for c in range(n_labels):
                largest = max(largest, log_moves[a, g, c])
                smallest = min(smallest, log_moves[a, g, c])
    for a in range(n_labels):
        for g in range(groups):
            for c in range(n_labels):
                moves[a, g, c] = math.exp(log_moves[a, g, c] - largest)
                moves_back[g, c, a] = moves[a, g, c]
    return moves, moves_back, largest, largest - smallest


@njit(cache=True, nogil=True)
def pass_over_chains(lanes, order, n_labels, first, last, starts, weights, indptr, indices,
                     values, slots, rows, pairs, log_moves, marginals, sums, log_partitions,
                     want_marginals):  # fmt: skip
    """Fill log-partition functions, marginals and expected moves of the chains first:last.

    Parameters
    ----------
    starts : (chains + 1,) int64
        Chain k has the positions starts[k]:starts[k + 1].
    weights : (chains,) or (0,) float64
        Of chains; none are ones.
    indptr, indices, values
        Attributes of positions in compressed rows; no values are ones.
    slots : (attributes,) int32
        Which row of weights each attribute has, -1 for none.
    rows : (n, outputs) float64
    pairs : (labels, width) float64
        Weights of pairs of labels, in second order; empty in first.
    log_moves : (reach, groups, width) float64
        Weights of moves; reach is the padded number of labels.
    marginals : (positions, outputs) float64, out
        Probabilities of outputs times the chain's weight.
    sums : (reach, groups, width) float64, out
        Expected moves, weighted, are added.
    log_partitions : (chains,) float64, out
        Not weighted.
    """
    reach, groups, w = log_moves.shape
    n_states = w if order == 1 else reach * w
    longest = 0
    for k in range(first, last):
        longest = max(longest, starts[k + 1] - starts[k])
    n_columns, n_blocks = rows.shape[1], w // len(lanes)
    outputs = np.empty((longest, n_columns))
    states = np.full((longest, n_states), NEVER)
    forward = np.zeros((longest, n_states))
    tops, totals = np.empty(longest), np.empty(longest)
    backward, after, column = np.empty(n_states), np.zeros(n_states), np.empty(len(lanes))
    powers = np.empty(longest * n_states)
    moves, moves_back, largest, move_apart = _exponentiate_moves(n_labels, log_moves)
    products = np.zeros(log_moves.shape)
    # The same arrays in blocks of lanes: inner loops run over one block with a single index.
    row_blocks = rows.reshape(rows.shape[0], n_columns // len(lanes), len(lanes))
    output_blocks = outputs.reshape(longest, n_columns // len(lanes), len(lanes))
    move_blocks = moves.reshape(reach, groups, n_blocks, len(lanes))
    back_blocks = moves_back.reshape(groups, w, n_blocks, len(lanes))
    product_blocks = products.reshape(reach, groups, n_blocks, len(lanes))
    for k in range(first, last):
        start, stop = starts[k], starts[k + 1]
        length = stop - start
        weight = weights[k] if weights.size else 1.0
        fill_rows(lanes, start, stop, indptr, indices, values, slots, row_blocks, output_blocks)
        fill_states(w, order, n_labels, length, outputs, pairs, states)
        apart = _subtract_largest(length, states, tops)
        # From the most probable state every other is reached in ``order`` moves, so that no state
        # ever falls further behind than this: while exponentials can hold it, nothing is lost.
        if order * (move_apart + apart) > MOST_APART:
            fill_states(w, order, n_labels, length, outputs, pairs, states)
            log_partitions[k] = pass_in_logs(
                w, order, n_labels, length, weight, states, log_moves, forward,
                np.empty((length, n_states)), marginals[start:stop], sums, want_marginals,
            )  # fmt: skip
            continue
        _exponentiate(states.ravel(), length * n_states, powers, powers.view(np.int64))
        value = _forward(lanes, w, order, n_labels, length, states, move_blocks, forward, totals)
        for t in range(length):
            value += tops[t]
        log_partitions[k] = value + largest * max(0, length - order)
        if want_marginals:
            _backward(lanes, w, order, n_labels, length, weight, states, back_blocks, forward,
                      totals, backward, after, column, marginals[start:stop],
                      product_blocks)  # fmt: skip
    for a in range(n_labels):
        for g in range(groups):
            for c in range(n_labels):
                sums[a, g, c] += products[a, g, c] * moves[a, g, c]
