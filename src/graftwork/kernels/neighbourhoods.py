"""Sums over rows of the conditionals of variables, by the states of their neighbours.

The conditional of a variable depends on its neighbours alone, so rows with the same states there
(a *configuration*) are looked at once. A variable's neighbours are taken in *groups*: the states of
a group together are one code, and the sum of its tables is looked up as one row, so a row costs as
many look-ups as there are groups, not neighbours. What is looked up are exponentials, made once for
each code: the weights of the states are products of table rows, and no exponential is taken in the
loop over the rows. Where products might underflow, sums of logarithms are used instead.

Neighbours may be missing: codes from the number of states on say so (see `states_of_code`). Tables
are expanded to all codes before the rows are looked at, and sums by codes are folded to states
afterwards, so that no loop over rows knows of it. Rows in which the variable itself is missing have
no mass.

Columns of ``halves`` (one row for each variable and neighbour, grouped by variable): 0 the
neighbour's number of codes, 1 where the edge's table starts, 2 stride of the own and 3 of the
neighbour's state in it, 4 which end of the edge the variable is (0 or 1), 5 the neighbour's number
of states, 6 where its frequencies start.
Columns of ``groups``: 0 first and 1 last half-edge, 2 number of codes, 3 where its codes start.
Columns of ``spans`` (one row for each variable): 0 first and 1 last group, 2 number of
configurations, 3 where their masses start, or -1 where each is one row of the sample.

States are padded to whole lanes: inner loops run over ``len(lanes)`` of them, the length of a
tuple, so that the compiler knows it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from graftwork.kernels.vectors import (
    exponential,
    load,
    minus,
    plus,
    scale,
    store,
    times,
    total,
)

BLOCK = 256
# Products of exponentials stay above exp(-this): below, logarithms are used.
MOST_SPREAD = 600.0
# Sixteen normalisers above this have a product that does not underflow.
LEAST_FACTOR = 1e-18
# Sums over rows may be reordered (that is what lets them use vector instructions); NaN and
# infinities keep their meaning. A loop that sums writes to no array: the compiler would keep a
# second version of it without vectors, for arrays that might overlap, and which of the two runs,
# and so the last digit, would depend on where the arrays happen to lie in memory.
SUMS = {"contract", "reassoc", "nsz", "arcp"}


@njit(cache=True, nogil=True)
def states_of_code(code, n_states, n_codes):
    """Return the range of states that a code of a variable counts as.

    A state counts as itself. A missing cell counts as the state drawn in its place, if there is a
    code for each, or else as all states, by their frequencies.
    """
    if code < n_states:
        return code, code + 1
    if n_codes == 2 * n_states:
        return code - n_states, code - n_states + 1
    return 0, n_states


@njit(cache=True, nogil=True)
def extend_keys(keys, codes, card):
    """Add the code of one more variable to the keys of the rows, as their last digit."""
    for r in range(len(keys)):
        keys[r] = keys[r] * card + codes[r]


@njit(cache=True, nogil=True)
def renumber(keys, numbers):
    """Replace keys by their numbers."""
    for r in range(len(keys)):
        keys[r] = numbers[keys[r]]


@njit(cache=True, nogil=True)
def find_keys(codes, others, cards, start, keys):
    """Write the states of some variables together as one number, for rows from ``start`` on."""
    keys[:] = 0
    for j in others:
        card, own = cards[j], codes[j]
        for r in range(len(keys)):
            keys[r] = keys[r] * card + own[start + r]


@njit(cache=True, nogil=True)
def count_keys(keys, masses, counts):
    """Add the masses of rows to the counts of their keys; empty masses are 1."""
    for r in range(len(keys)):
        counts[keys[r]] += masses[r] if masses.size else 1


@njit(cache=True, nogil=True)
def _expand(s, width, half, tables, frequencies, out):
    """Fill ``out[code * width + a]`` with a table's entry of own state a and a neighbour's code."""
    n_codes, start, own, other, n_states = half[0], half[1], half[2], half[3], half[5]
    for code in range(n_codes):
        first, last = states_of_code(code, n_states, n_codes)
        for a in range(s):
            value = tables[start + a * own + first * other]
            if last > first + 1:
                value *= frequencies[half[6] + first]
                for b in range(first + 1, last):
                    value += frequencies[half[6] + b] * tables[start + a * own + b * other]
            out[code * width + a] = value


@njit(cache=True, nogil=True)
def _fold(s, half, sums, frequencies, pair_sums):
    """Set a table's sums by states from ``sums[code * s + a]``: the transpose of `_expand`."""
    n_codes, start, own, other, side = half[0], half[1], half[2], half[3], half[4]
    n_states = half[5]
    for code in range(n_codes):
        first, last = states_of_code(code, n_states, n_codes)
        for b in range(first, last):
            share = 1.0 if last == first + 1 else frequencies[half[6] + b]
            for a in range(s):
                place = start + a * own + b * other
                before = 0.0 if code < n_states else pair_sums[side, place]
                pair_sums[side, place] = before + share * sums[code * s + a]


@njit(cache=True, nogil=True)
def _build_table(s, width, unary, group, halves, tables, frequencies, logs, tops):
    """Fill the log weights of a group's codes, each less its largest; return the lowest of them.

    ``unary`` is added (it is empty for all groups but the first); ``tops`` gets what was taken off.
    """
    n_codes = 1
    for a in range(s):
        logs[a] = unary[a] if unary.size else 0.0
    for k in range(group[0], group[1]):
        card = halves[k, 0]
        added = np.empty(card * s)
        _expand(s, s, halves[k], tables, frequencies, added)
        for c in range(n_codes - 1, -1, -1):
            for b in range(card - 1, -1, -1):
                place = (c * card + b) * width
                for a in range(s):
                    logs[place + a] = logs[c * width + a] + added[b * s + a]
        n_codes *= card
    lowest = 0.0
    for c in range(n_codes):
        top = -np.inf
        for a in range(s):
            top = max(top, logs[c * width + a])
        tops[c] = top
        for a in range(s):
            logs[c * width + a] -= top
            lowest = min(lowest, logs[c * width + a])
        for a in range(s, width):
            logs[c * width + a] = -np.inf
    return lowest


@njit(cache=True, nogil=True)
def _prepare(lanes, node, cards, unary, unary_offsets, tables, frequencies, halves, groups, spans):
    """Return the look-up tables of a variable's groups, what was taken off their logarithms, and
    whether they still hold logarithms, since products might underflow."""
    s, none, n_codes = cards[node], np.zeros(0), 0
    width = -(-s // len(lanes)) * len(lanes)
    for g in range(spans[node, 0], spans[node, 1]):
        n_codes += groups[g, 2]
    looked_up, tops = np.empty(n_codes * width), np.empty(n_codes)
    base, spread = 0, 0.0
    for g in range(spans[node, 0], spans[node, 1]):
        own = unary[unary_offsets[node] : unary_offsets[node + 1]]
        stop = base + groups[g, 2]
        spread -= _build_table(
            s, width, own if g == spans[node, 0] else none, groups[g], halves, tables, frequencies,
            looked_up[base * width : stop * width], tops[base:stop],
        )  # fmt: skip
        base = stop
    if spread > MOST_SPREAD:
        return looked_up, tops, True
    for place in range(0, len(looked_up), len(lanes)):
        store(exponential(load(lanes, looked_up, place)), looked_up, place)
    for c in range(n_codes):
        for a in range(s, width):
            looked_up[c * width + a] = 0.0
    return looked_up, tops, False


@njit(cache=True, nogil=True)
def _weigh(lanes, width, looked_up, in_logs, span, groups, codes, start, size, weights, peaks):
    """Fill ``weights`` with the relative weights of the states, ``size`` rows from ``start`` on."""
    for r in range(size):
        for q in range(0, width, len(lanes)):
            place = np.int64(codes[groups[span[0], 3] + start + r]) * width
            held, base = load(lanes, looked_up, place + q), 0
            for g in range(span[0] + 1, span[1]):
                base += groups[g - 1, 2] * width
                place = base + np.int64(codes[groups[g, 3] + start + r]) * width
                line = load(lanes, looked_up, place + q)
                held = plus(held, line) if in_logs else times(held, line)
            store(held, weights, r * width + q)
    if in_logs:
        for r in range(size):
            peaks[r] = weights[r * width]
            for a in range(1, width):
                peaks[r] = max(peaks[r], weights[r * width + a])
            for a in range(width):
                weights[r * width + a] = math.exp(weights[r * width + a] - peaks[r])


@njit(cache=True, nogil=True, fastmath=SUMS)
def _sum_logs(totals, size, masses):
    """Return the sum of logarithms of the normalisers, each times its mass (if there are any)."""
    result = 0.0
    if masses.size:
        for r in range(size):
            result += masses[r] * math.log(totals[r])
        return result
    r = 0
    while r + 16 <= size:  # one logarithm for 16 rows
        product, least = 1.0, np.inf
        for t in range(16):
            product *= totals[r + t]
            least = min(least, totals[r + t])
        if least > LEAST_FACTOR:
            result += math.log(product)
        else:
            for t in range(16):
                result += math.log(totals[r + t])
        r += 16
    while r < size:
        result += math.log(totals[r])
        r += 1
    return result


@njit(cache=True, nogil=True)
def _normalise(lanes, width, weights, size, masses, totals, squares):
    """Divide by the totals, add up squares, and multiply by the masses (if there are any)."""
    for r in range(size):
        sum_of_weights = 0.0
        for q in range(0, width, len(lanes)):
            sum_of_weights += total(load(lanes, weights, r * width + q))
        totals[r] = sum_of_weights
    for q in range(0, width, len(lanes)):
        added = load(lanes, squares, q)
        for r in range(size):
            p = scale(load(lanes, weights, r * width + q), 1.0 / totals[r])
            heavy = scale(p, masses[r]) if masses.size else p
            added = plus(added, times(p, heavy))
            store(heavy, weights, r * width + q)
        store(added, squares, q)


@njit(cache=True, nogil=True)
def _scatter(lanes, width, weights, size, span, groups, codes, start, sums):
    """Add the rows of ``weights`` to the sums of their codes, in every group."""
    base = 0
    for g in range(span[0], span[1]):
        own = codes[groups[g, 3] + start : groups[g, 3] + start + size]
        for r in range(size):
            for q in range(0, width, len(lanes)):
                place = base + np.int64(own[r]) * width + q
                line = load(lanes, weights, r * width + q)
                store(plus(load(lanes, sums, place), line), sums, place)
        base += groups[g, 2] * width


@njit(cache=True, nogil=True)
def _spread_sums(s, width, group, halves, sums, frequencies, pair_sums):
    """Add the sums of a group's codes up to those of each of its neighbours' states."""
    after = group[2]
    for k in range(group[0], group[1]):
        card = halves[k, 0]
        after //= card
        by_code = np.zeros(card * s)
        for c in range(group[2]):
            place = c // after % card * s
            for a in range(s):
                by_code[place + a] += sums[c * width + a]
        _fold(s, halves[k], by_code, frequencies, pair_sums)


@njit(cache=True, nogil=True)
def sum_conditionals(lanes, nodes, cards, unary, unary_offsets, tables, frequencies, halves, groups,
                     spans, codes, masses, log_sums, unary_sums, square_sums,
                     pair_sums):  # fmt: skip
    """Fill the sums of these variables over all rows.

    ``masses`` are the weights of configurations, and from 0 on those of rows if there are any.
    ``log_sums[i]``: weighted sum of log-normalisers. ``unary_sums``, ``square_sums``: of p and p^2
    for each state. ``pair_sums[side]``: of p(own state) by the neighbour's state.
    """
    peaks, totals, none = np.empty(BLOCK), np.empty(BLOCK), np.zeros(0)
    for node in nodes:
        s, span = cards[node], spans[node]
        width = -(-s // len(lanes)) * len(lanes)
        looked_up, tops, in_logs = _prepare(
            lanes, node, cards, unary, unary_offsets, tables, frequencies, halves, groups, spans
        )
        weights, squares = np.empty(BLOCK * width), np.zeros(width)
        sums = np.zeros(len(looked_up))
        found = 0.0
        for start in range(0, span[2], BLOCK):
            size = min(BLOCK, span[2] - start)
            here = none if span[3] < 0 else masses[span[3] + start : span[3] + start + size]
            _weigh(
                lanes, width, looked_up, in_logs, span, groups, codes, start, size, weights, peaks
            )
            _normalise(lanes, width, weights, size, here, totals, squares)
            found += _sum_logs(totals, size, here)
            if in_logs:
                for r in range(size):
                    found += peaks[r] * (here[r] if here.size else 1.0)
            _scatter(lanes, width, weights, size, span, groups, codes, start, sums)
        base = 0
        for g in range(span[0], span[1]):
            stop = base + groups[g, 2]
            own = sums[base * width : stop * width]
            _spread_sums(s, width, groups[g], halves, own, frequencies, pair_sums)
            for c in range(base, stop):  # what was taken off the logarithms
                mass = 0.0
                for a in range(s):
                    mass += sums[c * width + a]
                    if g == span[0] and c == 0:
                        unary_sums[unary_offsets[node] + a] = 0.0
                    if g == span[0]:
                        unary_sums[unary_offsets[node] + a] += sums[c * width + a]
                found += tops[c] * mass
            base = stop
        log_sums[node] = found
        for a in range(s):  # assigning a slice would take three seconds to compile
            square_sums[unary_offsets[node] + a] = squares[a]


@njit(cache=True, nogil=True)
def sum_over_edges(lanes, nodes, cards, unary, unary_offsets, tables, frequencies, halves, groups,
                   spans, codes, masses, changes, out):  # fmt: skip
    """Fill, for every half-edge of these variables, a sum over all rows of log E[exp(-c)].

    c is the column of ``changes[side]`` at the neighbour's state, the expectation is under the
    variable's conditional.
    """
    peaks, totals, none = np.empty(BLOCK), np.empty(BLOCK), np.zeros(0)
    for node in nodes:
        s, span = cards[node], spans[node]
        width = -(-s // len(lanes)) * len(lanes)
        looked_up, _, in_logs = _prepare(
            lanes, node, cards, unary, unary_offsets, tables, frequencies, halves, groups, spans
        )
        columns, places = _columns(s, width, span, halves, groups, changes, frequencies)
        weights, squares = np.empty(BLOCK * width), np.zeros(width)
        for start in range(0, span[2], BLOCK):
            size = min(BLOCK, span[2] - start)
            here = none if span[3] < 0 else masses[span[3] + start : span[3] + start + size]
            _weigh(
                lanes, width, looked_up, in_logs, span, groups, codes, start, size, weights, peaks
            )
            _normalise(lanes, width, weights, size, none, totals, squares)
            at = 0
            for g in range(span[0], span[1]):
                own = codes[groups[g, 3] + start : groups[g, 3] + start + size]
                for k in range(groups[g, 0], groups[g, 1]):
                    where = places[at : at + groups[g, 2]]
                    before = 0.0 if start == 0 else out[k]
                    out[k] = before + _sum_changes(lanes, width, weights, here, own, where, columns)
                    at += groups[g, 2]


@njit(cache=True, nogil=True)
def _columns(s, width, span, halves, groups, changes, frequencies):
    """Return exp(-c) of each half-edge by the neighbour's code, and where each group code's column
    starts, one half-edge after the other."""
    n_columns, n_places = 0, 0
    for g in range(span[0], span[1]):
        n_places += groups[g, 2] * (groups[g, 1] - groups[g, 0])
        for k in range(groups[g, 0], groups[g, 1]):
            n_columns += halves[k, 0]
    columns, places = np.zeros(n_columns * width), np.empty(n_places, dtype=np.int64)
    base, at = 0, 0
    for g in range(span[0], span[1]):
        after = groups[g, 2]
        for k in range(groups[g, 0], groups[g, 1]):
            card = halves[k, 0]
            after //= card
            own = columns[base : base + card * width]
            _expand(s, width, halves[k], changes[halves[k, 4]], frequencies, own)
            for code in range(card):
                for a in range(s):
                    own[code * width + a] = math.exp(-own[code * width + a])
            for c in range(groups[g, 2]):
                places[at + c] = base + c // after % card * width
            base += card * width
            at += groups[g, 2]
    return columns, places


@njit(cache=True, nogil=True)
def _sum_changes(lanes, width, conditionals, masses, codes, places, columns):
    """Return the sum of log means of columns under conditionals."""
    found = 0.0
    for r in range(len(codes)):
        place, mean = places[codes[r]], 0.0
        for q in range(0, width, len(lanes)):
            column = load(lanes, columns, place + q)
            mean += total(times(load(lanes, conditionals, r * width + q), column))
        value = math.log(mean)
        found += masses[r] * value if masses.size else value
    return found


@njit(cache=True, nogil=True)
def fill_conditionals(lanes, node, cards, unary, unary_offsets, tables, frequencies, halves, groups,
                      spans, codes, first, out):  # fmt: skip
    """Write a variable's conditionals in its configurations from ``first`` on, in whole lanes."""
    peaks, totals, span = np.empty(BLOCK), np.empty(BLOCK), spans[node]
    width = -(-cards[node] // len(lanes)) * len(lanes)
    looked_up, _, in_logs = _prepare(
        lanes, node, cards, unary, unary_offsets, tables, frequencies, halves, groups, spans
    )
    none, squares = np.zeros(0), np.zeros(width)
    count = len(out) // width
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        rows, place = out[start * width : (start + size) * width], first + start
        _weigh(lanes, width, looked_up, in_logs, span, groups, codes, place, size, rows, peaks)
        _normalise(lanes, width, rows, size, none, totals, squares)


@njit(cache=True, nogil=True)
def squared_distance(lanes, width, now, now_ids, before, before_ids, masses, n_rows):
    """Return the weighted sum, over the rows, of squared differences of two conditionals.

    ``ids`` say which configuration each row has; where they are empty, rows are configurations.
    """
    found = 0.0
    for r in range(n_rows):
        place = (np.int64(now_ids[r]) if now_ids.size else r) * width
        other = (np.int64(before_ids[r]) if before_ids.size else r) * width
        mass = masses[r] if masses.size else 1.0
        for q in range(0, width, len(lanes)):
            away = minus(load(lanes, now, place + q), load(lanes, before, other + q))
            found += mass * total(times(away, away))
    return found
