"""Sums over rows by the codes of sparse variables: only rows with rare codes are looked at."""

from __future__ import annotations

import numpy as np
from numba import njit

from graftwork.kernels.row_sums import cache_lines
from graftwork.kernels.vectors import load, plus, store


@njit(cache=True, nogil=True)
def count_rare(codes, cards, chosen):
    """Return the commonest code of each chosen variable, and how many rows have others."""
    commonest, rare = np.zeros(len(codes), dtype=np.int64), np.zeros(len(codes), dtype=np.int64)
    for i in range(len(codes)):
        if not chosen[i]:
            continue
        counts = np.zeros(max(1, cards[i]), dtype=np.int64)
        for code in codes[i]:
            counts[code] += 1
        commonest[i] = np.argmax(counts)
        rare[i] = codes.shape[1] - counts[commonest[i]]
    return commonest, rare


@njit(cache=True, nogil=True)
def list_rare(codes, chosen, commonest, starts, rows, own):
    """Write the rows in which chosen variables have other codes than the commonest, and these."""
    for i in range(len(codes)):
        if not chosen[i]:
            continue
        place = starts[i]
        for r in range(codes.shape[1]):
            if codes[i, r] != commonest[i]:
                rows[place], own[place] = r, codes[i, r]
                place += 1


@njit(cache=True, nogil=True)
def add_rare(lanes, own, first_row, firsts, lasts, rows, codes, commonest, columns, out):
    """Add the numbers of each row to those of the codes of each variable, block by block.

    A block is what the lanes hold: ``own`` has one line for each, for rows from ``first_row`` on,
    ``out`` one table. The rare codes of variable v are those from ``firsts[v]`` to ``lasts[v]``,
    its columns start at ``columns[v]``.
    """
    width, left = len(lanes), cache_lines(2 * len(lanes))
    for b in range(len(own)):
        line, table = own[b], out[b].ravel()
        total = load(lanes, line, 0)
        for r in range(1, len(line) // width):
            total = plus(total, load(lanes, line, r * width))
        store(total, left, 0)
        for v in range(len(firsts)):
            store(load(lanes, left, 0), left, width)
            for k in range(firsts[v], lasts[v]):
                source, at = (rows[k] - first_row) * width, (columns[v] + codes[k]) * width
                for q in range(width):
                    table[at + q] += line[source + q]
                    left[width + q] -= line[source + q]
            at = (columns[v] + commonest[v]) * width
            for q in range(width):
                table[at + q] += left[width + q]


@njit(cache=True, nogil=True)
def sum_by_rare(width, conditionals, s, ids, masses, others, starts, rows, codes, commonest, cards,
                goals, own_strides, other_strides, out):  # fmt: skip
    """Fill sum_m p(own state) [x_j = b] for one variable and each sparse one ``j`` given.

    As ``pair_sums.sum_by_others``.
    """
    n_rows = len(ids) if ids.size else len(conditionals) // width
    total, left = np.zeros(s), np.empty(s)
    for r in range(n_rows):
        source = (np.int64(ids[r]) if ids.size else r) * width
        mass = masses[r] if masses.size else 1.0
        for a in range(s):
            total[a] += mass * conditionals[source + a]
    for t in range(len(others)):
        j, goal = others[t], goals[t]
        for b in range(cards[j]):
            for a in range(s):
                out[goal + a * own_strides[t] + b * other_strides[t]] = 0.0
        left[:] = total
        for k in range(starts[j], starts[j + 1]):
            r = rows[k]
            source = (np.int64(ids[r]) if ids.size else r) * width
            mass = masses[r] if masses.size else 1.0
            place = goal + codes[k] * other_strides[t]
            for a in range(s):
                value = mass * conditionals[source + a]
                out[place + a * own_strides[t]] += value
                left[a] -= value
        place = goal + commonest[j] * other_strides[t]
        for a in range(s):
            out[place + a * own_strides[t]] = max(0.0, left[a])
