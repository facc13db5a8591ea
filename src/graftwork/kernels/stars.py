"""One pass of the joint pseudo-likelihood, variable by variable, over neighbour configurations.

The conditional of a variable depends on its neighbours alone, so rows with the same states there
(a *configuration*) are looked at once. A variable's neighbours are taken in *groups*: the states of
a group together are one code, and the sum of its tables is looked up as one row, so a row costs as
many look-ups as there are groups, not neighbours. What is looked up are exponentials, made once for
each code: the weights of the states are products of table rows, and no exponential is taken in the
loop over the rows. Where products might underflow, sums of logarithms are used instead.

Columns of ``halves`` (one row for each variable and neighbour, grouped by variable): 0 the
neighbour's number of states, 1 where the edge's table starts, 2 stride of the own and 3 of the
neighbour's state in it, 4 which end of the edge the variable is (0 or 1).
Columns of ``groups``: 0 first and 1 last half-edge, 2 number of codes, 3 where its codes start.
Columns of ``stars`` (one row for each variable): 0 first and 1 last group, 2 number of
configurations, 3 where their weights start, or -1 where each is one row of the sample.

States are padded to whole lanes: inner loops run over ``len(lanes)`` of them, the length of a
tuple, so that the compiler knows it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from graftwork.kernels.pseudo import SUMS, _exponentiate
from graftwork.kernels.vectors import add_scaled, load, minus, plus, scale, store, times, total

BLOCK = 256
# Products of exponentials stay above exp(-this): below, logarithms are used.
MOST_SPREAD = 600.0
# Sixteen normalisers above this have a product that does not underflow.
LEAST_FACTOR = 1e-18


@njit(cache=True, nogil=True)
def refine(ids, n_ids, codes, card, places, fresh):
    """Split the classes of rows by one more variable; return how many classes there are.

    ``ids`` are the classes so far, ``fresh`` the new ones, numbered as they appear; ``places`` is
    scratch of at least ``n_ids * card``.
    """
    places[: n_ids * card] = -1
    count = 0
    for r in range(len(ids)):
        key = np.int64(ids[r]) * card + np.int64(codes[r])
        found = places[key]
        if found < 0:
            found = count
            places[key] = found
            count += 1
        fresh[r] = found
    return count


@njit(cache=True, nogil=True)
def gather_classes(ids, weights, representatives, totals):
    """Fill the first row and the total weight of each class."""
    totals[:] = 0.0
    representatives[:] = -1
    for r in range(len(ids)):
        if representatives[ids[r]] < 0:
            representatives[ids[r]] = r
        totals[ids[r]] += weights[r] if weights.size else 1.0


@njit(cache=True, nogil=True)
def _build_table(s, width, unary, group, halves, tables, logs, tops):
    """Fill the log weights of a group's codes, each less its largest; return the lowest of them.

    ``unary`` is added (it is empty for all groups but the first); ``tops`` gets what was taken off.
    """
    n_codes = 1
    for a in range(s):
        logs[a] = unary[a] if unary.size else 0.0
    for k in range(group[0], group[1]):
        card, start, own, other = halves[k, 0], halves[k, 1], halves[k, 2], halves[k, 3]
        for c in range(n_codes - 1, -1, -1):
            for b in range(card - 1, -1, -1):
                place = (c * card + b) * width
                for a in range(s):
                    logs[place + a] = logs[c * width + a] + tables[start + a * own + b * other]
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
def _prepare(width, node, cards, unary, unary_offsets, tables, halves, groups, stars):
    """Return the look-up tables of a variable's groups, what was taken off their logarithms, and
    whether they still hold logarithms, since products might underflow."""
    s, none, n_codes = cards[node], np.zeros(0), 0
    for g in range(stars[node, 0], stars[node, 1]):
        n_codes += groups[g, 2]
    looked_up, tops = np.empty(n_codes * width), np.empty(n_codes)
    base, spread = 0, 0.0
    for g in range(stars[node, 0], stars[node, 1]):
        own = unary[unary_offsets[node] : unary_offsets[node + 1]]
        stop = base + groups[g, 2]
        spread -= _build_table(
            s, width, own if g == stars[node, 0] else none, groups[g], halves, tables,
            looked_up[base * width : stop * width], tops[base:stop],
        )  # fmt: skip
        base = stop
    if spread > MOST_SPREAD:
        return looked_up, tops, True
    powers = np.empty(len(looked_up))
    _exponentiate(looked_up, len(looked_up), powers, powers.view(np.int64))
    for c in range(n_codes):
        for a in range(s, width):
            looked_up[c * width + a] = 0.0
    return looked_up, tops, False


@njit(cache=True, nogil=True)
def _weigh(lanes, width, looked_up, in_logs, star, groups, codes, start, size, weights, peaks):
    """Fill ``weights`` with the relative weights of the states, ``size`` rows from ``start`` on."""
    for r in range(size):
        for q in range(0, width, len(lanes)):
            place = np.int64(codes[groups[star[0], 3] + start + r]) * width
            held, base = load(lanes, looked_up, place + q), 0
            for g in range(star[0] + 1, star[1]):
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
def _scatter(lanes, width, weights, size, star, groups, codes, start, sums):
    """Add the rows of ``weights`` to the sums of their codes, in every group."""
    base = 0
    for g in range(star[0], star[1]):
        own = codes[groups[g, 3] + start : groups[g, 3] + start + size]
        for r in range(size):
            for q in range(0, width, len(lanes)):
                place = base + np.int64(own[r]) * width + q
                line = load(lanes, weights, r * width + q)
                store(plus(load(lanes, sums, place), line), sums, place)
        base += groups[g, 2] * width


@njit(cache=True, nogil=True)
def _spread_sums(s, width, group, halves, sums, pair_sums):
    """Add the sums of a group's codes up to those of each of its neighbours' states."""
    after = group[2]
    for k in range(group[0], group[1]):
        card, start, own, other, side = halves[k]
        after //= card
        for b in range(card):
            for a in range(s):
                pair_sums[side, start + a * own + b * other] = 0.0
        for c in range(group[2]):
            b = c // after % card
            for a in range(s):
                pair_sums[side, start + a * own + b * other] += sums[c * width + a]


@njit(cache=True, nogil=True)
def pass_stars(lanes, nodes, cards, unary, unary_offsets, tables, halves, groups, stars, codes,
               masses, log_sums, unary_sums, square_sums, pair_sums):  # fmt: skip
    """Fill the sums of these variables over all rows.

    ``masses`` are the weights of configurations, and from 0 on those of rows if there are any.
    ``log_sums[i]``: weighted sum of log-normalisers. ``unary_sums``, ``square_sums``: of p and p^2
    for each state. ``pair_sums[side]``: of p(own state) by the neighbour's state.
    """
    peaks, totals, none = np.empty(BLOCK), np.empty(BLOCK), np.zeros(0)
    for node in nodes:
        s, star = cards[node], stars[node]
        width = -(-s // len(lanes)) * len(lanes)
        looked_up, tops, in_logs = _prepare(
            width, node, cards, unary, unary_offsets, tables, halves, groups, stars
        )
        weights, squares = np.empty(BLOCK * width), np.zeros(width)
        sums = np.zeros(len(looked_up))
        found = 0.0
        for start in range(0, star[2], BLOCK):
            size = min(BLOCK, star[2] - start)
            here = none if star[3] < 0 else masses[star[3] + start : star[3] + start + size]
            _weigh(
                lanes, width, looked_up, in_logs, star, groups, codes, start, size, weights, peaks
            )
            _normalise(lanes, width, weights, size, here, totals, squares)
            found += _sum_logs(totals, size, here)
            if in_logs:
                for r in range(size):
                    found += peaks[r] * (here[r] if here.size else 1.0)
            _scatter(lanes, width, weights, size, star, groups, codes, start, sums)
        base = 0
        for g in range(star[0], star[1]):
            stop = base + groups[g, 2]
            own = sums[base * width : stop * width]
            _spread_sums(s, width, groups[g], halves, own, pair_sums)
            for c in range(base, stop):  # what was taken off the logarithms
                mass = 0.0
                for a in range(s):
                    mass += sums[c * width + a]
                    if g == star[0] and c == 0:
                        unary_sums[unary_offsets[node] + a] = 0.0
                    if g == star[0]:
                        unary_sums[unary_offsets[node] + a] += sums[c * width + a]
                found += tops[c] * mass
            base = stop
        log_sums[node] = found
        for a in range(s):  # assigning a slice would take three seconds to compile
            square_sums[unary_offsets[node] + a] = squares[a]


@njit(cache=True, nogil=True)
def fill_stars(lanes, nodes, slots, cards, unary, unary_offsets, tables, halves, groups, stars,
               codes, ids, id_starts, masses, out):  # fmt: skip
    """Write the conditionals of these variables in every row, all states but the last.

    Variable ``nodes[t]`` fills ``out[slots[t] : slots[t] + s - 1]``. ``ids`` from ``id_starts[t]``
    on say which configuration each row has (-1: the rows themselves are the configurations);
    ``masses`` are the rows' weights, which the conditionals are multiplied by, or empty.
    """
    peaks, totals = np.empty(BLOCK), np.empty(BLOCK)
    n_rows, none = out.shape[1], np.zeros(0)
    for t in range(len(nodes)):
        node = nodes[t]
        s, star = cards[node], stars[node]
        width = -(-s // len(lanes)) * len(lanes)
        looked_up, _, in_logs = _prepare(
            width, node, cards, unary, unary_offsets, tables, halves, groups, stars
        )
        weights, squares = np.empty(BLOCK * width), np.zeros(width)
        merged = id_starts[t] >= 0
        target = out[slots[t] : slots[t] + s - 1]
        if merged:
            target = np.empty((s - 1, star[2]), out.dtype)
        for start in range(0, star[2], BLOCK):
            size = min(BLOCK, star[2] - start)
            _weigh(
                lanes, width, looked_up, in_logs, star, groups, codes, start, size, weights, peaks
            )
            _normalise(lanes, width, weights, size, none, totals, squares)
            for a in range(s - 1):
                for r in range(size):
                    target[a, start + r] = weights[r * width + a]
        if merged:
            own = ids[id_starts[t] : id_starts[t] + n_rows]
            for a in range(s - 1):
                row, goal = target[a], out[slots[t] + a]
                for r in range(n_rows):
                    goal[r] = row[own[r]]
        if masses.size:
            for a in range(s - 1):
                for r in range(n_rows):
                    out[slots[t] + a, r] *= masses[r]


@njit(cache=True, nogil=True)
def fill_configurations(lanes, node, cards, unary, unary_offsets, tables, halves, groups, stars,
                        codes, first, out):  # fmt: skip
    """Write a variable's conditionals in its configurations from ``first`` on, in whole lanes."""
    peaks, totals, star = np.empty(BLOCK), np.empty(BLOCK), stars[node]
    width = -(-cards[node] // len(lanes)) * len(lanes)
    looked_up, _, in_logs = _prepare(
        width, node, cards, unary, unary_offsets, tables, halves, groups, stars
    )
    none, squares = np.zeros(0), np.zeros(width)
    count = len(out) // width
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        rows, place = out[start * width : (start + size) * width], first + start
        _weigh(lanes, width, looked_up, in_logs, star, groups, codes, place, size, rows, peaks)
        _normalise(lanes, width, rows, size, none, totals, squares)


@njit(cache=True, nogil=True)
def sum_by_others(lanes, conditionals, s, ids, masses, others, codes, cards, starts, own_strides,
                  other_strides, out):  # fmt: skip
    """Fill sum_m p(own state) [x_j = b] for one variable and each other one ``j`` given.

    ``conditionals`` are those of its configurations, ``ids`` which of them each row has (empty:
    rows are the configurations), ``masses`` the rows' weights or empty.
    """
    width, n_rows = -(-s // len(lanes)) * len(lanes), codes.shape[1]
    n_configurations = len(conditionals) // width
    for t in range(len(others)):
        card, column = cards[others[t]], codes[others[t]]
        sums = np.zeros(card * width)
        if ids.size:
            counts = np.zeros(n_configurations * card)
            for r in range(n_rows):
                cell = np.int64(ids[r]) * card + np.int64(column[r])
                counts[cell] += masses[r] if masses.size else 1.0
            for c in range(n_configurations):
                for b in range(card):
                    mass = counts[c * card + b]
                    if mass != 0.0:
                        for q in range(0, width, len(lanes)):
                            held = load(lanes, sums, b * width + q)
                            held = add_scaled(held, mass, conditionals, c * width + q)
                            store(held, sums, b * width + q)
        else:
            for r in range(n_rows):
                mass = masses[r] if masses.size else 1.0
                for q in range(0, width, len(lanes)):
                    place = np.int64(column[r]) * width + q
                    held = add_scaled(load(lanes, sums, place), mass, conditionals, r * width + q)
                    store(held, sums, place)
        for b in range(card):
            for a in range(s):
                place = starts[t] + a * own_strides[t] + b * other_strides[t]
                out[place] = sums[b * width + a]


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
