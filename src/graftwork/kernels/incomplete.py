"""Sums over rows with missing cells, beside the kernels for complete ones.

Codes from ``cards[i]`` on are missing cells of variable ``i``; ``extended[i]`` is the number of
codes. The half-edge of variable ``i`` to ``j`` has ``cards[i]`` rows and ``extended[j]`` columns:
those after the states are for rows where ``j`` is missing, one for its average or one for each
drawn state. Rows where ``i`` itself is missing are not in its sums; its conditionals are zero
there.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from graftwork.kernels.pseudo import BLOCK, SUMS, complete_table, sum_by_state


@njit(cache=True, nogil=True)
def finish_halves(cards, extended, unary_offsets, indptr, others, half_starts, unary_sums,
                  half_counts, half_sums):  # fmt: skip
    """Complete every half-edge's table of sums; its columns have the totals of the counts."""
    for node in range(len(cards)):
        s = cards[node]
        for k in range(indptr[node], indptr[node + 1]):
            width, start = extended[others[k]], half_starts[k]
            totals = np.zeros(width)
            for c in range(s * width):
                totals[c % width] += half_counts[start + c]
            own = unary_sums[unary_offsets[node] : unary_offsets[node + 1]]
            complete_table(half_sums, start, s, width, own, totals)


@njit(cache=True, nogil=True, fastmath=SUMS)
def sum_pairs(pairs, offsets, slots, codes, cards, extended, unary_offsets, unary_sums,
              frequencies, counts, count_offsets, probabilities, model, data):  # fmt: skip
    """Fill what is compared at each pair: ``model[side]``, sums of conditionals; ``data``, counts.

    ``counts`` are the pairs' extended tables. Columns of drawn states are added to those of the
    states; one of averages is shared out by the frequencies of the other variable's states.
    ``data`` is the mean of both sides. ``slots`` is where each variable's conditionals start, -1
    for a variable without neighbours.
    """
    n_rows = codes.shape[1]
    for k in range(len(pairs)):
        second_width = extended[pairs[k, 1]]
        for side in range(2):
            node, other = pairs[k, side], pairs[k, 1 - side]
            s, s_other, width = cards[node], cards[other], extended[other]
            seen, half, totals = np.zeros(s * width), np.zeros(s * width), np.zeros(width)
            for a in range(s):
                for b in range(width):
                    cell = a * second_width + b if side == 0 else b * second_width + a
                    seen[a * width + b] = counts[count_offsets[k] + cell]
                    totals[b] += seen[a * width + b]
            own = unary_sums[unary_offsets[node] : unary_offsets[node + 1]]
            if slots[node] < 0:
                weight = own.sum()
                for a in range(s):
                    for b in range(width):
                        half[a * width + b] = own[a] * totals[b] / weight
            else:
                for start in range(0, n_rows, BLOCK):
                    states = codes[other, start : min(start + BLOCK, n_rows)]
                    sum_by_state(probabilities, slots[node], s - 1, start, states, width, half, 0)
                complete_table(half, 0, s, width, own, totals)
            for a in range(s):
                for b in range(s_other):
                    place = a * width + b
                    share, more = 0.0, place
                    if width == 2 * s_other:
                        share, more = 1.0, place + s_other
                    elif width > s_other:
                        share, more = frequencies[unary_offsets[other] + b], a * width + s_other
                    cell = offsets[k] + (a * s_other + b if side == 0 else b * s + a)
                    model[side, cell] = half[place] + share * half[more]
                    data[cell] += 0.5 * (seen[place] + share * seen[more])


@njit(cache=True, nogil=True, fastmath=SUMS)
def spread_of_edges(edges, starts, slots, codes, cards, extended, weights, probabilities, halves,
                    spread):  # fmt: skip
    """Add sum_m Var_i[W(., x_j)] + Var_j[W(x_i, .)] under the conditionals to ``spread[e]``.

    ``starts[side, e]`` is where the half-edge of the edge's first or second variable starts in
    ``halves``. The conditionals carry the row weights, without their last state.
    """
    n_rows = codes.shape[1]
    for e in range(len(edges)):
        for side in range(2):
            node, other = edges[e, side], edges[e, 1 - side]
            s, width, start = cards[node], extended[other], starts[side, e]
            found = 0.0
            for r in range(n_rows):
                weight = weights[r] if weights.size else 1.0
                if codes[node, r] >= s or weight <= 0.0:
                    continue
                left, mean, square = weight, 0.0, 0.0
                for a in range(s):
                    p = probabilities[slots[node] + a, r] if a < s - 1 else left
                    left -= p
                    value = halves[start + a * width + codes[other, r]]
                    mean += p * value
                    square += p * value * value
                found += square - mean * mean / weight
            spread[e] += found


@njit(cache=True, nogil=True, fastmath=SUMS)
def removal_sums(edges, starts, slots, codes, cards, extended, weights, probabilities, shrunk,
                 sums):  # fmt: skip
    """Add sum_m log E_i[shrunk(., x_j)] + log E_j[shrunk(x_i, .)] to ``sums[e]``.

    ``shrunk`` holds, for each half-edge, the factors by which its entries' weights change. The
    conditionals carry the row weights, without their last state.
    """
    n_rows = codes.shape[1]
    for e in range(len(edges)):
        for side in range(2):
            node, other = edges[e, side], edges[e, 1 - side]
            s, width, start = cards[node], extended[other], starts[side, e]
            found = 0.0
            for r in range(n_rows):
                weight = weights[r] if weights.size else 1.0
                if codes[node, r] >= s or weight <= 0.0:
                    continue
                left, mean = weight, 0.0
                for a in range(s):
                    p = probabilities[slots[node] + a, r] if a < s - 1 else left
                    left -= p
                    mean += max(p, 0.0) * shrunk[start + a * width + codes[other, r]]
                found += weight * math.log(mean / weight)
            sums[e] += found
