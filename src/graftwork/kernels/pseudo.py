"""One pass of the joint pseudo-likelihood over the rows, node by node.

Half-edges: the table of edge (i, j) appears twice, once for each endpoint, oriented so that the
endpoint's own state is the row. ``half_starts[k]`` says where half-edge ``k`` starts in the flat
vectors ``halves`` (potentials in) and ``half_sums`` (sums of probabilities out).

Rows are processed in blocks that stay in cache, state-major: ``logits[a, r]`` for the rows of the
block. Nothing here depends on the number of threads, since each node is one task.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

BLOCK = 512
# Sums over rows may be reordered (that is what lets them use vector instructions); NaN and
# infinities keep their meaning. A loop that sums writes to no array: the compiler would keep a
# second version of it without vectors, for arrays that might overlap, and which of the two runs,
# and so the last digit, would depend on where the arrays happen to lie in memory.
SUMS = {"contract", "reassoc", "nsz", "arcp"}
# A neighbour with at most this many states is summed by masks, a larger one by scattering.
MOST_MASK_STATES = 6

_LOG2E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_ROUND = 6755399441055744.0  # adding 1.5 * 2**52 leaves the rounded integer in the low bits


@njit(cache=True, nogil=True, fastmath={"contract"})
def _exponentiate(x, size, powers, power_bits):
    """Replace the non-positive ``x[:size]`` by exp(x), to about one unit in the last place.

    exp(x) = 2**k * exp(t) with |t| <= log(2)/2; written so that LLVM vectorises it, which it
    cannot do with a call to the C library. Values below -700 count as -700.
    """
    for r in range(size):
        value = x[r] if x[r] > -700.0 else -700.0
        shifted = value * _LOG2E + _ROUND
        powers[r] = shifted
        k = shifted - _ROUND
        t = value - k * _LN2_HIGH - k * _LN2_LOW
        p = 1.0 / 39916800.0 + t * (1.0 / 479001600.0)
        p = 1.0 / 362880.0 + t * (1.0 / 3628800.0 + t * p)
        p = 1.0 / 5040.0 + t * (1.0 / 40320.0 + t * p)
        p = 1.0 / 120.0 + t * (1.0 / 720.0 + t * p)
        p = 1.0 / 6.0 + t * (1.0 / 24.0 + t * p)
        x[r] = 1.0 + t * (1.0 + t * (0.5 + t * p))
    for r in range(size):
        power_bits[r] = (power_bits[r] + 1023) << 52
    for r in range(size):
        x[r] *= powers[r]


@njit(cache=True, nogil=True, fastmath=SUMS)
def _fill_logits(logits, node, start, size, codes, cards, unary, unary_offsets, indptr, others,
                 halves, half_starts):  # fmt: skip
    """Fill ``logits[a, :size]`` for the rows of one block."""
    s = cards[node]
    for a in range(s):
        value = unary[unary_offsets[node] + a]
        for r in range(size):
            logits[a, r] = value
    for k in range(indptr[node], indptr[node + 1]):
        other = others[k]
        states = codes[other, start : start + size]
        s_other = cards[other]
        for a in range(s):
            row = halves[half_starts[k] + a * s_other : half_starts[k] + (a + 1) * s_other]
            target = logits[a]
            for r in range(size):
                target[r] += row[states[r]]


@njit(cache=True, nogil=True, fastmath=SUMS)
def _normalise(logits, s, size, top, total, powers, power_bits):
    """Turn logits into unnormalised probabilities; fill the row maxima and the normalisers."""
    for r in range(size):
        top[r] = logits[0, r]
        total[r] = 0.0
    for a in range(1, s):
        row = logits[a]
        for r in range(size):
            top[r] = row[r] if row[r] > top[r] else top[r]
    for a in range(s):
        row = logits[a]
        for r in range(size):
            row[r] -= top[r]
        _exponentiate(row, size, powers, power_bits)
        for r in range(size):
            total[r] += row[r]


@njit(cache=True, nogil=True, fastmath=SUMS)
def _sum_logs(total, top, weights, start, size):
    """Return the weighted sum of log-normalisers of a block."""
    result = 0.0
    if weights.size:
        for r in range(size):
            result += weights[start + r] * (top[r] + math.log(total[r]))
        return result
    for r in range(size):
        result += top[r]
    r = 0
    while r + 16 <= size:  # one logarithm for 16 rows: each normaliser lies in [1, s]
        product = 1.0
        for q in range(16):
            product *= total[r + q]
        result += math.log(product)
        r += 16
    while r < size:
        result += math.log(total[r])
        r += 1
    return result


@njit(cache=True, nogil=True, fastmath=SUMS)
def _sum_moments(row, total, weights, start, size):
    """Return the weighted sums of p and p^2 of a block, p being ``row * total``."""
    mass, squares = 0.0, 0.0
    if weights.size:
        for r in range(size):
            p = row[r] * total[r]
            mass += p * weights[start + r]
            squares += p * p * weights[start + r]
    else:
        for r in range(size):
            p = row[r] * total[r]
            mass += p
            squares += p * p
    return mass, squares


@njit(cache=True, nogil=True, fastmath=SUMS)
def _sum_four(p0, p1, p2, p3, states, s_other, table, start):
    """Add four rows of probabilities by the other variable's state: one comparison serves four."""
    for b in range(s_other - 1):
        t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
        for r in range(len(states)):
            here = states[r] == b
            t0 += p0[r] if here else 0.0
            t1 += p1[r] if here else 0.0
            t2 += p2[r] if here else 0.0
            t3 += p3[r] if here else 0.0
        table[start + b] += t0
        table[start + s_other + b] += t1
        table[start + 2 * s_other + b] += t2
        table[start + 3 * s_other + b] += t3


@njit(cache=True, nogil=True, fastmath=SUMS)
def sum_by_state(probabilities, first, count, column, states, s_other, table, start):
    """Add rows ``first`` to ``first + count`` of the probabilities by the other variable's state.

    Row ``first + a`` goes to ``table[start + a * s_other:]``. For few states the last column is
    left out: ``complete_table`` fills it.
    """
    stop = column + len(states)
    if s_other > MOST_MASK_STATES:
        for a in range(count):
            row = probabilities[first + a, column:stop]
            sums = table[start + a * s_other : start + (a + 1) * s_other]
            for r in range(len(states)):
                sums[states[r]] += row[r]
        return
    a = 0
    while a + 4 <= count:
        _sum_four(
            probabilities[first + a, column:stop],
            probabilities[first + a + 1, column:stop],
            probabilities[first + a + 2, column:stop],
            probabilities[first + a + 3, column:stop],
            states,
            s_other,
            table,
            start + a * s_other,
        )
        a += 4
    while a < count:
        row = probabilities[first + a, column:stop]
        for b in range(s_other - 1):
            subtotal = 0.0
            for r in range(len(states)):
                subtotal += row[r] if states[r] == b else 0.0
            table[start + a * s_other + b] += subtotal
        a += 1


@njit(cache=True, nogil=True, fastmath=SUMS)
def pass_nodes(nodes, codes, cards, weights, unary, unary_offsets, indptr, others, halves,
               half_starts, log_sums, unary_sums, square_sums, half_sums):  # fmt: skip
    """Fill the sums of these nodes over all rows.

    ``log_sums[i]``: weighted sum of log-normalisers. ``unary_sums``, ``square_sums``: of p and p^2
    for each state. ``half_sums``: of p(own state) by the neighbour's state, without the last row
    (and, for few states, without the last column): the caller completes them.
    """
    n_rows = codes.shape[1]
    powers = np.empty(BLOCK)
    power_bits = powers.view(np.int64)
    top, total = np.empty(BLOCK), np.empty(BLOCK)
    for node in nodes:
        s = cards[node]
        logits = np.empty((s, BLOCK))
        for start in range(0, n_rows, BLOCK):
            size = min(BLOCK, n_rows - start)
            _fill_logits(logits, node, start, size, codes, cards, unary, unary_offsets, indptr,
                         others, halves, half_starts)  # fmt: skip
            _normalise(logits, s, size, top, total, powers, power_bits)
            log_sums[node] += _sum_logs(total, top, weights, start, size)
            for r in range(size):
                total[r] = 1.0 / total[r]
            for a in range(s):
                row = logits[a]
                mass, squares = _sum_moments(row, total, weights, start, size)
                unary_sums[unary_offsets[node] + a] += mass
                square_sums[unary_offsets[node] + a] += squares
                for r in range(size):
                    row[r] *= total[r]
                if weights.size:
                    for r in range(size):
                        row[r] *= weights[start + r]
            for k in range(indptr[node], indptr[node + 1]):
                other = others[k]
                s_other = cards[other]
                states = codes[other, start : start + size]
                sum_by_state(logits, 0, s - 1, 0, states, s_other, half_sums, half_starts[k])


@njit(cache=True, nogil=True)
def complete_table(table, start, s, s_other, row_totals, column_totals):
    """Fill the last column and row of a table of sums from its totals."""
    if s_other <= MOST_MASK_STATES:
        for a in range(s - 1):
            rest = row_totals[a]
            for b in range(s_other - 1):
                rest -= table[start + a * s_other + b]
            table[start + a * s_other + s_other - 1] = rest
    for b in range(s_other):
        rest = column_totals[b]
        for a in range(s - 1):
            rest -= table[start + a * s_other + b]
        table[start + (s - 1) * s_other + b] = rest


@njit(cache=True, nogil=True, fastmath=SUMS)
def fill_probabilities(nodes, slots, codes, cards, weights, unary, unary_offsets, indptr, others,
                       halves, half_starts, probabilities):  # fmt: skip
    """Write the weighted conditionals of these nodes, all states but the last, state-major.

    Node ``nodes[t]`` fills ``probabilities[slots[t] : slots[t] + s - 1]``, shape (s - 1, rows).
    """
    n_rows = codes.shape[1]
    powers = np.empty(BLOCK)
    power_bits = powers.view(np.int64)
    top, total = np.empty(BLOCK), np.empty(BLOCK)
    for t in range(len(nodes)):
        node = nodes[t]
        s = cards[node]
        logits = np.empty((s, BLOCK))
        for start in range(0, n_rows, BLOCK):
            size = min(BLOCK, n_rows - start)
            _fill_logits(logits, node, start, size, codes, cards, unary, unary_offsets, indptr,
                         others, halves, half_starts)  # fmt: skip
            _normalise(logits, s, size, top, total, powers, power_bits)
            for r in range(size):
                weight = weights[start + r] if weights.size else 1.0
                total[r] = weight / total[r]
            for a in range(s - 1):
                target = probabilities[slots[t] + a]
                for r in range(size):
                    target[start + r] = logits[a, r] * total[r]


@njit(cache=True, nogil=True, fastmath=SUMS)
def spread_of_edges(edges, offsets, slots, codes, cards, weights, probabilities, tables, spread):
    """Fill ``spread[e]`` with sum_m Var_i[W(., x_j)] + Var_j[W(x_i, .)] under the conditionals.

    That is w' H w for edge ``e``'s own weights and its own block H of the loss's Hessian (as a sum
    over rows). The conditionals carry the row weights, without their last state.
    """
    n_rows = codes.shape[1]
    for e in range(len(edges)):
        s_j = cards[edges[e, 1]]
        for side in range(2):
            node, other = edges[e, side], edges[e, 1 - side]
            s = cards[node]
            own, step = (s_j, 1) if side == 0 else (1, s_j)
            found = 0.0
            for r in range(n_rows):
                weight = weights[r] if weights.size else 1.0
                start = offsets[e] + codes[other, r] * step
                left, mean, square = weight, 0.0, 0.0
                for a in range(s):
                    p = probabilities[slots[node] + a, r] if a < s - 1 else left
                    left -= p
                    value = tables[start + a * own]
                    mean += p * value
                    square += p * value * value
                if weight > 0.0:
                    found += square - mean * mean / weight
            spread[e] += found


@njit(cache=True, nogil=True, fastmath=SUMS)
def removal_sums(edges, offsets, slots, codes, cards, weights, probabilities, shrunk, sums):
    """Fill ``sums[e]`` with sum_m log E_i[shrunk(., x_j)] + log E_j[shrunk(x_i, .)].

    The expectations are under the conditionals of the edge's two variables; ``shrunk[side]`` holds
    the factors by which each table entry's weight changes for that variable. The conditionals carry
    the row weights, without their last state.
    """
    n_rows = codes.shape[1]
    for e in range(len(edges)):
        s_j = cards[edges[e, 1]]
        for side in range(2):
            node, other = edges[e, side], edges[e, 1 - side]
            s = cards[node]
            own, step = (s_j, 1) if side == 0 else (1, s_j)
            factors = shrunk[side]
            found = 0.0
            for r in range(n_rows):
                weight = weights[r] if weights.size else 1.0
                start = offsets[e] + codes[other, r] * step
                left, mean = weight, 0.0
                for a in range(s):
                    p = probabilities[slots[node] + a, r] if a < s - 1 else left
                    left -= p
                    mean += max(p, 0.0) * factors[start + a * own]
                if weight > 0.0:
                    found += weight * math.log(mean / weight)
            sums[e] += found


@njit(cache=True, nogil=True)
def sum_alone(pairs, offsets, degrees, cards, unary_offsets, unary_sums, margins, tables):
    """Fill ``tables`` of each pair for variables without neighbours: no row need be looked at."""
    for k in range(len(pairs)):
        for side in range(2):
            node, other = pairs[k, side], pairs[k, 1 - side]
            if degrees[node] > 0:
                continue
            s, s_other = cards[node], cards[other]
            column_totals = margins[unary_offsets[other] : unary_offsets[other + 1]]
            weight = 0.0
            for b in range(s_other):
                weight += column_totals[b]
            for a in range(s):
                share = unary_sums[unary_offsets[node] + a] / weight
                for b in range(s_other):
                    cell = a * s_other + b if side == 0 else b * s + a
                    tables[side, offsets[k] + cell] = share * column_totals[b]


@njit(cache=True, nogil=True)
def place_products(pairs, side, offsets, degrees, lines, columns, products, cards, unary_offsets,
                   margins, tables):  # fmt: skip
    """Fill ``tables[side]`` of each pair from products of conditionals with others' states.

    ``lines`` and ``columns`` say where each variable's conditionals (all states but the last) and
    states start among them; variables without neighbours are left out. ``products`` has some lines
    together for each column.
    """
    lanes = products.shape[2]
    for k in range(len(pairs)):
        node, other = pairs[k, side], pairs[k, 1 - side]
        if degrees[node] == 0:
            continue
        s, s_other, start = cards[node], cards[other], offsets[k]
        for b in range(s_other):
            rest = margins[unary_offsets[other] + b]
            for a in range(s):
                line, value = lines[node] + a, rest
                if a < s - 1:
                    value = products[line // lanes, columns[other] + b, line % lanes]
                rest -= value
                cell = a * s_other + b if side == 0 else b * s + a
                tables[side, start + cell] = value
