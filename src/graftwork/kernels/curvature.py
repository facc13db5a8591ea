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
# With at most this many combinations of two variables' configurations, those are counted first.
MOST_COMBINATIONS = 2**14


@njit(cache=True, nogil=True)
def _add(lanes, target, at, source, start, scale):
    """Add ``scale`` times a line of ``source`` to one of ``target``."""
    store(add_scaled(load(lanes, target, at), scale, source, start), target, at)


@njit(cache=True, nogil=True)
def sum_hessian(lanes, width, codes, cards, lines, seen, starts, total):
    """Fill sum_c s_c z_u z_v' of all neighbours u and v of a variable: its part of the Hessian.

    ``codes[u]`` are the codes of neighbour u in each configuration, ``lines`` (flat) the ``width``
    numbers s_c, and z_u the row ``seen[starts[u, 0] + code]``, of which the first columns count:
    those of u are ``starts[u, 1]`` to ``starts[u + 1, 1]`` of ``total``, shape (q, q, width).
    """
    largest = cards[0]
    for card in cards[1:]:
        largest = max(largest, card)
    sums = cache_lines(TOGETHER * largest * largest * width)
    half = np.empty(seen.shape[1] * largest * width)
    for u in range(len(codes)):
        for first in range(u, len(codes), TOGETHER):
            last = min(first + TOGETHER, len(codes))
            sums[:] = 0.0
            centre, others = codes[u], codes[first:last]
            for q in range(0, width, len(lanes)):
                for c in range(codes.shape[1]):
                    own = np.int64(centre[c]) * largest
                    line = load(lanes, lines, c * width + q)
                    for v in range(last - first):
                        place = (v * largest * largest + own + others[v, c]) * width + q
                        store(add_scaled(line, 1.0, sums, place), sums, place)
            for v in range(first, last):
                base = (v - first) * largest * largest * width
                _project(u, v, width, largest, cards, seen, starts, sums[base:], half, total)


@njit(cache=True, nogil=True)
def _project(u, v, width, largest, cards, seen, starts, sums, half, total):
    """Turn the sums by two neighbours' codes into sums by what their codes count as."""
    n_u, n_v = starts[u + 1, 1] - starts[u, 1], starts[v + 1, 1] - starts[v, 1]
    for a in range(n_u):
        for y in range(cards[v]):
            for q in range(width):
                value = 0.0
                for x in range(cards[u]):
                    value += seen[starts[u, 0] + x, a] * sums[(x * largest + y) * width + q]
                half[(a * largest + y) * width + q] = value
    for a in range(n_u):
        for b in range(n_v):
            row, column = starts[u, 1] + a, starts[v, 1] + b
            for q in range(width):
                value = 0.0
                for y in range(cards[v]):
                    value += seen[starts[v, 0] + y, b] * half[(a * largest + y) * width + q]
                total[row, column, q] = value
                total[column, row, q] = value


@njit(cache=True, nogil=True)
def sum_products(lanes, pairs, ids, counts, sizes, widths, lines, starts, weights, sums):
    """Fill the sums over rows of S_i M_j' + M_i S_j' of each pair.

    ``ids[i]`` is the configuration of variable i in each row, ``counts[i]`` how many there are.
    From ``starts[i]`` on ``lines`` has ``widths[i]`` numbers of each: ``sizes[i]`` of S, as many
    of M, and zeros. ``weights`` are the rows', or empty.
    """
    for k in range(len(pairs)):
        i, j = pairs[k]
        few, many = (i, j) if counts[i] <= counts[j] else (j, i)
        n_few, n_many, height, width = counts[few], counts[many], sizes[few], sizes[many]
        own = lines[starts[few] : starts[few + 1]]
        other = lines[starts[many] : starts[many + 1]]
        if n_few * n_many <= MOST_COMBINATIONS:
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
def fill_scores(first, last, others, start, indicators, residuals, out):
    """Fill in r_a and r_a z_b + z_a r_b of some rows, for lines a of a variable and b of others.

    ``out`` has shape (last - first, 1 + others, rows), the rows from ``start`` on.
    """
    stop = start + out.shape[2]
    for a in range(first, last):
        own_seen, own_left = indicators[a, start:stop], residuals[a, start:stop]
        for m in range(stop - start):
            out[a - first, 0, m] = own_left[m]
        for k in range(len(others)):
            seen, left = indicators[others[k], start:stop], residuals[others[k], start:stop]
            target = out[a - first, k + 1]
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
    products, means = np.empty((triangle, states)), np.empty(size)
    t = 0
    for a in range(size):
        for b in range(a, size):
            for k in range(states):
                products[t, k] = basis[k, a] * basis[k, b]
            t += 1
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
