"""Sums over rows of products of moments of variables' conditionals, by configurations.

A *configuration* is what a variable's conditional depends on; rows that share it are looked at
once. The moments in one are a line of numbers, padded to whole lanes (see ``kernels.vectors``).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from graftwork.kernels.neighbourhoods import SUMS
from graftwork.kernels.row_sums import cache_lines
from graftwork.kernels.vectors import add_scaled, load, store

# Neighbours that share one pass over the configurations: their sums stay in the nearest cache.
TOGETHER = 8
# With more sums than this for one neighbour they do not, and each has a pass of its own.
MOST_SHARED = 2**20
# With at most this many combinations of two variables' configurations, those are counted first.
MOST_COMBINATIONS = 2**14


@njit(cache=True, nogil=True)
def _add(lanes, target, at, source, start, scale):
    """Add ``scale`` times a line of ``source`` to one of ``target``."""
    store(add_scaled(load(lanes, target, at), scale, source, start), target, at)


@njit(cache=True, nogil=True)
def sum_hessian(lanes, basis, conditionals, stride, masses, codes, columns, rows, halves, cards,
                seen, starts, block):  # fmt: skip
    """Fill a variable's part of the Hessian: the sum of S (x) z z' over its configurations.

    S is the covariance of its conditional, in contrasts, and z is 1 and what its neighbours count
    as there. ``conditionals`` (flat) has a line of ``stride`` numbers for each configuration,
    ``masses`` what each weighs (empty: 1), and ``rows`` a row of ``codes`` in which it occurs;
    ``columns`` say which variable of ``codes`` each neighbour is.
    Columns of ``halves``, a row for each neighbour: 0 the neighbour u, 1 where its table begins in
    ``block``, 2 stride of the own and 3 of the neighbour's differences in it, 4 and 5 how many of
    both it has. Of u there are ``cards[u]`` codes; they count as the first numbers of the rows of
    ``seen`` from ``starts[u]`` on.
    """
    size, count, n_lines = basis.shape[1], len(rows), 1 + len(halves)
    width = -(-(size * (size + 1) // 2) // len(lanes)) * len(lanes)
    # Neighbours of straight tables first; then the constant 1, a neighbour that has one code.
    straight = (halves[:, 4] == 1) & (halves[:, 5] == 1)
    n_straight = straight.sum()
    ends = np.zeros((n_lines, halves.shape[1]), dtype=halves.dtype)
    ends[:n_straight] = halves[straight]
    ends[n_straight, 2], ends[n_straight, 4], ends[n_straight, 5] = 1, size, 1
    ends[n_straight + 1 :] = halves[~straight]
    names = np.full(n_lines, -1)
    names[:n_straight], names[n_straight + 1 :] = columns[straight], columns[~straight]
    own, n_codes = np.zeros((n_lines, count), dtype=codes.dtype), np.ones(n_lines, dtype=np.int64)
    for u in range(n_lines):
        if u != n_straight:
            n_codes[u] = cards[ends[u, 0]]
            for c in range(count):
                own[u, c] = codes[names[u], rows[c]]
    if n_straight > 0:
        _add_straight(
            basis, conditionals, stride, masses, own, seen, starts, ends[:n_straight], block
        )
        if n_straight == n_lines - 1:
            return
    lines = cache_lines(count * width)
    _fill_spreads(basis, conditionals, stride, masses, width, lines)
    largest = n_codes.max()
    together = TOGETHER if largest * largest * width <= MOST_SHARED else 1
    sums = cache_lines(together * largest * largest * width)
    half, line = np.empty(seen.shape[1] * largest * width), np.empty(width)
    one = np.ones((1, 2))[:, :1]  # typed as parts of others are
    for u in range(n_lines):
        left, begin = one, starts[ends[u, 0]]
        if u != n_straight:
            left = seen[begin : begin + n_codes[u], : ends[u, 5]]
        for first in range(u if u >= n_straight else n_straight + 1, n_lines, together):
            last = min(first + together, n_lines)
            sums[: (last - first) * largest * largest * width] = 0.0
            centre, others = own[u], own[first:last]
            for q in range(0, width, len(lanes)):
                for c in range(count):
                    row = np.int64(centre[c]) * largest
                    added = load(lanes, lines, c * width + q)
                    for v in range(last - first):
                        place = (v * largest * largest + row + others[v, c]) * width + q
                        store(add_scaled(added, 1.0, sums, place), sums, place)
            for v in range(first, last):
                right, begin = one, starts[ends[v, 0]]
                if v != n_straight:
                    right = seen[begin : begin + n_codes[v], : ends[v, 5]]
                cells = sums[(v - first) * largest * largest * width :]
                _project(size, width, largest, left, right, cells, half, line, ends[u], ends[v],
                         block)  # fmt: skip


@njit(cache=True, nogil=True)
def _add_straight(basis, conditionals, stride, masses, own, seen, starts, ends, block):
    """Fill what neighbours have whose tables have one number each, and what the variable has.

    They are products of what the neighbours count as: no sums by codes are needed.
    """
    (states, size), (n_straight, count) = basis.shape, (len(ends), own.shape[1])
    values = np.empty((n_straight, count))
    for u in range(n_straight):
        begin = starts[ends[u, 0]]
        for c in range(count):
            values[u, c] = seen[begin + np.int64(own[u, c]), 0]
    p = conditionals[: count * stride].reshape((count, stride))[:, :states].copy()
    means, first = np.dot(p, basis), np.dot(p, basis * basis[:, :1])
    heavy, sums = np.empty_like(means), np.zeros(states)
    for c in range(count):
        mass = masses[c] if masses.size else 1.0
        for a in range(size):
            first[c, a] = mass * (first[c, a] - means[c, 0] * means[c, a])
            heavy[c, a] = mass * means[c, a]
        for k in range(states):
            sums[k] += mass * p[c, k]
    together = np.dot(heavy.T, means)
    for a in range(size):
        for b in range(a, size):
            value = -together[a, b]
            for k in range(states):
                value += sums[k] * basis[k, a] * basis[k, b]
            block[a, b] = block[b, a] = value
    alone = np.dot(values, first)
    both = np.dot(values * first[:, 0], values.T)
    for u in range(n_straight):
        at = ends[u, 1]
        for a in range(size):
            block[at, a] = block[a, at] = alone[u, a]
        for v in range(u, n_straight):
            other = ends[v, 1]
            block[at, other] = block[other, at] = both[u, v]


@njit(cache=True, nogil=True)
def _products(basis):
    """Return the products of every two columns of a basis, in the order of an upper triangle."""
    states, size = basis.shape
    products, t = np.empty((size * (size + 1) // 2, states)), 0
    for a in range(size):
        for b in range(a, size):
            for k in range(states):
                products[t, k] = basis[k, a] * basis[k, b]
            t += 1
    return products


@njit(cache=True, nogil=True)
def _fill_spreads(basis, conditionals, stride, masses, width, out):
    """Fill in the upper triangles of K' (diag(p) - p p') K of conditionals p, times their masses.

    ``out`` (flat) has a line of ``width`` numbers for each.
    """
    states, size = basis.shape
    products, means = _products(basis), np.empty(size)
    for c in range(len(out) // width):
        p, line = conditionals[c * stride : c * stride + states], out[c * width : (c + 1) * width]
        mass = masses[c] if masses.size else 1.0
        for a in range(size):
            value = 0.0
            for k in range(states):
                value += basis[k, a] * p[k]
            means[a] = value
        t = 0
        for a in range(size):
            for b in range(a, size):
                value = 0.0
                for k in range(states):
                    value += products[t, k] * p[k]
                line[t] = mass * (value - means[a] * means[b])
                t += 1


@njit(cache=True, nogil=True)
def _project(size, width, largest, left, right, sums, half, line, first, second, block):
    """Turn the sums by two neighbours' codes into sums by what their codes count as.

    ``first`` and ``second`` are their rows of ``halves``; see `sum_hessian`.
    """
    for x in range(left.shape[1]):
        for y in range(len(right)):
            out = half[(x * largest + y) * width : (x * largest + y + 1) * width]
            for q in range(width):
                out[q] = 0.0
            for code in range(len(left)):
                factor, place = left[code, x], (code * largest + y) * width
                for q in range(width):
                    out[q] += factor * sums[place + q]
    for x in range(left.shape[1]):
        for y in range(right.shape[1]):
            for q in range(width):
                line[q] = 0.0
            for code in range(len(right)):
                factor, place = right[code, y], (x * largest + code) * width
                for q in range(width):
                    line[q] += factor * half[place + q]
            row, column = first[1] + x * first[3], second[1] + y * second[3]
            t = 0
            for a in range(size):
                for b in range(a, size):
                    if a < first[4] and b < second[4]:
                        i, j = row + a * first[2], column + b * second[2]
                        block[i, j] = block[j, i] = line[t]
                    if b < first[4] and a < second[4]:
                        i, j = row + b * first[2], column + a * second[2]
                        block[i, j] = block[j, i] = line[t]
                    t += 1


@njit(cache=True, nogil=True)
def sum_products(
    lanes, pairs, ids, counts, sizes, widths, lines, starts, weights, totals, places, sums
):
    """Fill the sums over rows of S_i M_j' + M_i S_j' of each pair.

    ``ids[i]`` is the configuration of variable i in each row, ``counts[i]`` how many there are.
    From ``starts[i]`` on ``lines`` has ``widths[i]`` numbers of each: ``sizes[i]`` of S, as many
    of M, and zeros; ``totals`` has their sum over the rows from ``places[i]`` on. ``weights`` are
    the rows', or empty.
    """
    for k in range(len(pairs)):
        i, j = pairs[k]
        few, many = (i, j) if counts[i] <= counts[j] else (j, i)
        n_few, n_many, height, width = counts[few], counts[many], sizes[few], sizes[many]
        own = lines[starts[few] : starts[few + 1]]
        other = lines[starts[many] : starts[many + 1]]
        if n_few == 1:
            gathered = totals[places[many] : places[many] + widths[many] + len(lanes)]
        elif n_few * n_many <= MOST_COMBINATIONS:
            gathered = _count_and_gather(
                lanes, widths[many], ids[few], n_few, ids[many], n_many, other, weights
            )
        else:
            gathered = _gather(lanes, widths[many], ids[few], n_few, ids[many], other, weights)
        across = -(-width // len(lanes)) * len(lanes)
        out = cache_lines(height * across)
        for c in range(n_few):
            source, place = widths[few] * c, widths[many] * c
            for a in range(height):
                spread, moment = own[source + a], own[source + height + a]
                for q in range(0, across, len(lanes)):
                    at = a * across + q  # lanes may end in the next numbers: those are not used
                    _add(lanes, out, at, gathered, place + width + q, spread)
                    _add(lanes, out, at, gathered, place + q, moment)
        for a in range(height):
            for b in range(width):
                if few == i:
                    sums[k, a, b] = out[a * across + b]
                else:
                    sums[k, b, a] = out[a * across + b]


@njit(cache=True, nogil=True)
def sum_lines(lanes, variables, ids, counts, widths, lines, starts, weights, places, totals):
    """Fill the sums over rows of some variables' lines (see ``sum_products``)."""
    none = np.zeros(ids.shape[1], dtype=ids.dtype)
    for i in variables:
        own = lines[starts[i] : starts[i + 1]]
        found = _count_and_gather(lanes, widths[i], none, 1, ids[i], counts[i], own, weights)
        totals[places[i] : places[i] + widths[i]] = found[: widths[i]]


@njit(cache=True, nogil=True)
def _count_and_gather(lanes, width, ids, count, others, n_others, lines, weights):
    """Return the sum of the other variable's lines in each configuration: by counting both."""
    combinations = np.zeros(count * n_others)
    for r in range(len(ids)):
        weight = weights[r] if weights.size else 1.0
        combinations[np.int64(ids[r]) * n_others + others[r]] += weight
    gathered = cache_lines(width * count + len(lanes))
    for c in range(count):
        for d in range(n_others):
            weight = combinations[c * n_others + d]
            if weight != 0.0:
                for q in range(0, width, len(lanes)):
                    _add(lanes, gathered, width * c + q, lines, width * d + q, weight)
    return gathered


@njit(cache=True, nogil=True)
def _gather(lanes, width, ids, count, others, lines, weights):
    """Return the sum of the other variable's lines in each configuration, row by row."""
    gathered = cache_lines(width * count + len(lanes))
    for r in range(len(ids)):
        weight = weights[r] if weights.size else 1.0
        target, place = width * np.int64(ids[r]), width * np.int64(others[r])
        for q in range(0, width, len(lanes)):
            _add(lanes, gathered, target + q, lines, place + q, weight)
    return gathered


@njit(cache=True, nogil=True)
def fill_scores(first, last, halves, places, start, indicators, residuals, out):
    """Fill in r_a and r_a z_b + z_a r_b of some rows, for lines a of a variable and b of others.

    ``halves`` say where the latter are in ``out``, shape (parameters, rows), as in `sum_hessian`;
    the lines of variable u are from ``places[u]`` on. The rows from ``start`` on.
    """
    stop = start + out.shape[1]
    for a in range(first, last):
        own_seen, own_left = indicators[a, start:stop], residuals[a, start:stop]
        own = out[a - first]
        for m in range(len(own)):
            own[m] = own_left[m]
        for h in range(len(halves)):
            if a - first >= halves[h, 4]:
                continue
            for b in range(halves[h, 5]):
                at = places[halves[h, 0]] + b
                seen, left = indicators[at, start:stop], residuals[at, start:stop]
                target = out[halves[h, 1] + (a - first) * halves[h, 2] + b * halves[h, 3]]
                for m in range(len(target)):
                    target[m] = own_left[m] * seen[m] + own_seen[m] * left[m]


@njit(cache=True, nogil=True, fastmath=SUMS)
def multiply_blocks(starts, places, blocks, vector, out):
    """Add the products of symmetric matrices, each in some coordinates, with a vector.

    Matrix ``k`` is in the coordinates ``places[starts[k] : starts[k + 1]]``; ``blocks`` has one
    after the other, flat. Only what is above their diagonals is read: memory is what takes time.
    """
    longest = 0
    for k in range(len(starts) - 1):
        longest = max(longest, starts[k + 1] - starts[k])
    sums, factors, first = np.empty(longest), np.empty(longest), 0
    for k in range(len(starts) - 1):
        own = places[starts[k] : starts[k + 1]]
        size = len(own)
        for a in range(size):
            factors[a] = vector[own[a]]
            sums[a] = 0.0
        for a in range(size):
            row = blocks[first + a * size + a : first + (a + 1) * size]
            factor, total, others, found = factors[a], 0.0, factors[a:size], sums[a:size]
            diagonal = row[0]
            for b in range(len(row)):
                found[b] += factor * row[b]
                total += others[b] * row[b]
            found[0] += total - factor * diagonal
        for a in range(size):
            out[own[a]] += sums[a]
        first += size * size


@njit(cache=True, nogil=True)
def fill_moments(basis, conditionals, stride, ids, missing, average, averaged, width, count, out):
    """Fill in the upper triangles of K' S K and of K' (m m' + 2 S) K of ``count`` conditionals p.

    S = diag(p) - p p' and m = p - f; ``average`` is K' f. Where the variable is ``missing`` (empty:
    nowhere), the first is zero, and the second K' (m m' + S) K, or zero if it is ``averaged``.
    ``conditionals`` (flat) has lines of ``stride`` numbers, and ``ids`` say which are meant (empty:
    one after the other); ``out`` (flat) has a line of ``width`` numbers for each.
    """
    states, size = basis.shape
    triangle = size * (size + 1) // 2
    products, means = _products(basis), np.empty(size)
    for c in range(count):
        first = (np.int64(ids[c]) if ids.size else c) * stride
        p, line = conditionals[first : first + states], out[c * width : (c + 1) * width]
        gone = missing.size > 0 and missing[c]
        for a in range(size):
            value = 0.0
            for k in range(states):
                value += basis[k, a] * p[k]
            means[a] = value
        t = 0
        for a in range(size):
            for b in range(a, size):
                value = 0.0
                for k in range(states):
                    value += products[t, k] * p[k]
                value -= means[a] * means[b]
                off = (means[a] - average[a]) * (means[b] - average[b])
                line[t] = 0.0 if gone else value
                if gone:
                    line[triangle + t] = 0.0 if averaged else off + value
                else:
                    line[triangle + t] = off + 2.0 * value
                t += 1
