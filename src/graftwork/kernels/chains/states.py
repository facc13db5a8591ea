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

Rows of outputs are padded so that labels fill whole cache lines. Chains of about the same length go
side by side, one in each lane of vectors (`sides`), so that every number of
labels has the same compiled kernels; a chain that exponentials cannot hold is done in logarithms.

Sums over positions are made chunk by chunk, chunks do not depend on the number of threads.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from graftwork.kernels.chains.logs import pass_over_logs
from graftwork.kernels.chains.sides import (
    SIDE,
    SLACK,
    add_moves,
    exponentiate_scores,
    fill_backward,
    fill_forward,
    fill_scores,
    leave_out,
    sum_logs,
    tile_size,
)
from graftwork.kernels.row_sums import cache_lines

Ints = NDArray[np.int64]
Ints32 = NDArray[np.int32]
Floats = NDArray[np.float64]

#: Probabilities may be this far apart, as logarithms, before only logarithms can hold them.
MOST_APART = 600.0


@njit(cache=True, nogil=True)
def _exponentiate_moves(n_labels, log_moves):
    """Return the exponentials of the moves divided by the largest, their transpose, and two logs.

    Both are flat: (before, group, after) and (group, after, before). The logs are the largest, and
    how far the smallest is below it.
    """
    n, groups = n_labels, log_moves.shape[1]
    moves, moves_back = np.zeros(n * groups * n), np.zeros(groups * n * n)
    largest = smallest = log_moves[0, 0, 0]
    for a in range(n_labels):
        for g in range(groups):
            for c in range(n_labels):
                largest = max(largest, log_moves[a, g, c])
                smallest = min(smallest, log_moves[a, g, c])
    for a in range(n_labels):
        for g in range(groups):
            for c in range(n_labels):
                move = math.exp(log_moves[a, g, c] - largest)
                moves[(a * groups + g) * n + c] = moves_back[(g * n + c) * n + a] = move
    return moves, moves_back, largest, largest - smallest


@njit(cache=True, nogil=True)
def _pass_over_chains(order, n, n_columns, chains, starts, weights, indptr, places, values, rows,
                      pairs, log_moves, marginals, sums, log_partitions,
                      want_marginals):  # fmt: skip
    """Do what `infer_chains` does for chains that exponentials can hold.

    Rows and marginals are flat. The log-partition functions of others are not a number, and
    nothing is done about these.
    """
    w, side = log_moves.shape[2], len(SIDE)
    n_states, groups = n**order, log_moves.shape[1]
    longest = starts[chains[-1] + 1] - starts[chains[-1]]
    scores = cache_lines((longest * n_states + SLACK) * side)
    forward = cache_lines((longest * n_states + SLACK) * side)
    tops, totals = cache_lines(longest * side), cache_lines(longest * side)
    backward, votes = cache_lines(n_states * side), cache_lines(n_columns * side)
    lines = cache_lines(n_columns * side)
    moves, moves_back, largest, move_apart = _exponentiate_moves(n, log_moves)
    tile = tile_size(n)
    padded = (n + tile - 1) // tile * tile
    products = cache_lines(padded * groups * padded * side)
    lengths, begins = np.zeros(side, np.int64), np.zeros(side, np.int64)
    own, apart, logs = np.ones(side), np.empty(side), np.empty(side)
    for first in range(0, len(chains), side):
        count = min(side, len(chains) - first)
        length = np.int64(0)
        for k in range(side):
            lengths[k] = 0
            if k < count:
                chain = chains[first + k]
                begins[k], lengths[k] = starts[chain], starts[chain + 1] - starts[chain]
                own[k] = weights[chain] if weights.size else 1.0
                length = lengths[k]
        fill_scores(order, n, w, n_columns, length, lengths, begins, indptr, places, values, rows,
                    pairs, lines, votes, scores)  # fmt: skip
        exponentiate_scores(length, n_states, n, scores, tops, apart)
        length = np.int64(0)
        for k in range(count):
            # From the most probable state every other is reached in ``order`` moves, so no state
            # ever falls further behind than this: while exponentials can hold it, nothing is lost.
            if order * (move_apart + apart[k]) > MOST_APART:
                log_partitions[chains[first + k]] = np.nan
                leave_out(lengths[k] * n_states, k, scores)
                lengths[k] = 0
            length = max(length, lengths[k])
        if length == 0:
            continue
        fill_forward(order, n, length, scores, moves, forward, totals)
        sum_logs(length, lengths, totals, tops, logs)
        for k in range(count):
            if lengths[k]:
                log_partitions[chains[first + k]] = logs[k] + largest * max(0, lengths[k] - order)
        if want_marginals:
            fill_backward(order, n, w, n_columns, length, lengths, own, begins, scores, moves_back,
                          forward, totals, backward, votes, marginals)  # fmt: skip
            add_moves(order, n, length, forward, scores, products)
    for a in range(n):
        for g in range(groups):
            for c in range(n):
                total, at = 0.0, ((a * groups + g) * padded + c) * side
                for k in range(side):
                    total += products[at + k]
                sums[a, g, c] += total * moves[(a * groups + g) * n + c]


def infer_chains(
    order: int, n_labels: int, chains: Ints, starts: Ints, weights: Floats, indptr: Ints,
    places: Ints32, values: Floats, rows: Floats, pairs: Floats, log_moves: Floats,
    marginals: Floats, sums: Floats, log_partitions: Floats, want_marginals: bool,
) -> None:  # fmt: skip
    """Fill log-partition functions, marginals and expected moves of some chains.

    Shapes: chains (m,) int64; starts (chains + 1,) int64; weights (chains,) or (0,) float64; rows
    (n, outputs) float64; pairs (labels, width) float64; log_moves (reach, groups, width) float64;
    marginals (positions, outputs) float64, out; sums (reach, groups, width) float64, out;
    log_partitions (chains,) float64, out.
    """
    about = starts, weights, indptr, places, values
    _pass_over_chains(
        order, n_labels, rows.shape[1], chains, *about, rows.ravel(), pairs, log_moves,
        marginals.ravel(), sums, log_partitions, want_marginals,
    )  # fmt: skip
    rest = chains[np.isnan(log_partitions[chains])]
    if len(rest):  # hardly ever, and so not compiled before
        pass_over_logs(
            order, n_labels, rest, *about, rows, pairs, log_moves, marginals, sums,
            log_partitions, want_marginals,
        )  # fmt: skip
