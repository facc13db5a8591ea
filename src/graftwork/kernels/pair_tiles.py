"""Gradient tables of all pairs between two lists of variables, from sums of residuals.

With r = x - p the residual of a variable's conditional, the gradient of the table of a pair is
minus the sum over rows of ``r_i(a) [x_j = b] + [x_i = a] r_j(b)``, over the total weight. The sums
of an owner's residuals by another variable's states are in arrays ``(lines // lanes, columns,
lanes)``: a line for each state of the owner but its last, a column for each state of the other.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from graftwork.kernels.counts import _count_strip


@njit(cache=True, nogil=True)
def take_residuals(width, first, last, conditionals, ids, masses, codes, start, place, lanes, out):
    """Write some states' residuals, times the rows' weights, to ``out[:, place:]``.

    ``ids`` say which configuration each row has; where they are empty, rows from ``start`` on are
    the configurations. ``codes`` are the variable's own. ``out`` is flat.
    """
    for r in range(len(out) // lanes):
        row = start + r
        source = (np.int64(ids[row]) if ids.size else row) * width
        mass = masses[row] if masses.size else 1.0
        for a in range(first, last):
            seen = 1.0 if codes[row] == a else 0.0
            out[r * lanes + place + a - first] = mass * (seen - conditionals[source + a])


@njit(cache=True, nogil=True)
def place_counts(owners, others, lines, columns, cards, bits, bit_offsets, margins, starts, shares,
                 values):  # fmt: skip
    """Fill the sums of owners whose conditional is the same in all rows, from counts of pairs.

    ``bits`` are the bitsets of all states but each variable's last; ``shares`` the probability of
    each state, ``margins`` how often it occurs, those of variable i from ``starts[i]`` on.
    """
    lanes, n_columns = values.shape[2], 0
    for j in others:
        n_columns += cards[j] - 1
    sets = np.empty(n_columns, dtype=np.int64)
    c = 0
    for j in others:
        for b in range(cards[j] - 1):
            sets[c] = bit_offsets[j] + b
            c += 1
    n_rows = 0
    for i in owners:
        n_rows += cards[i] - 1
    rows = np.empty((n_rows, 2), dtype=np.int64)
    r = 0
    for i in owners:
        for a in range(cards[i] - 1):
            rows[r, 0], rows[r, 1] = i, a
            r += 1
    found = np.empty((4, n_columns), dtype=np.int64)
    r = 0
    while r < n_rows:
        tile = 4 if r + 4 <= n_rows else 1
        one = bit_offsets[rows[r, 0]] + rows[r, 1]
        if tile == 4:
            four = (one, bit_offsets[rows[r + 1, 0]] + rows[r + 1, 1],
                    bit_offsets[rows[r + 2, 0]] + rows[r + 2, 1],
                    bit_offsets[rows[r + 3, 0]] + rows[r + 3, 1])  # fmt: skip
            _count_strip(four, bits, bits, 0, bits.shape[1], sets, n_columns, found)
        else:
            _count_strip((one,), bits, bits, 0, bits.shape[1], sets, n_columns, found)
        for x in range(tile):
            i, a = rows[r + x]
            line, share, c = lines[i] + a, shares[starts[i] + a], 0
            for j in others:
                rest, at = margins[starts[i] + a], starts[j]
                for b in range(cards[j] - 1):
                    count = found[x, c]
                    rest -= count
                    values[line // lanes, columns[j] + b, line % lanes] = (
                        count - share * margins[at + b]
                    )
                    c += 1
                b = cards[j] - 1
                values[line // lanes, columns[j] + b, line % lanes] = rest - share * margins[at + b]
        r += tile


@njit(cache=True, nogil=True)
def _fill_table(i, j, cards, lines, columns, forth, back_lines, back_columns, back, table):
    """Fill ``table`` with the sum of residuals of both variables of a pair, row-major."""
    lanes, s, t = forth.shape[2], cards[i], cards[j]
    own, column, their, row = lines[i], columns[j], back_lines[j], back_columns[i]
    if s == 2 and t == 2:
        first = forth[own // lanes, column, own % lanes]
        last = forth[own // lanes, column + 1, own % lanes]
        above = back[their // lanes, row, their % lanes]
        below = back[their // lanes, row + 1, their % lanes]
        table[0], table[1] = first + above, last - above
        table[2], table[3] = below - first, -last - below
        return
    for b in range(t):
        rest = 0.0
        for a in range(s - 1):
            value = forth[(own + a) // lanes, column + b, (own + a) % lanes]
            table[a * t + b] = value
            rest -= value
        table[(s - 1) * t + b] = rest
    for a in range(s):
        rest = 0.0
        for b in range(t - 1):
            value = back[(their + b) // lanes, row + a, (their + b) % lanes]
            table[a * t + b] += value
            rest -= value
        table[a * t + t - 1] += rest


@njit(cache=True, nogil=True)
def list_tables(lines_of_pairs, columns_of_pairs, first, second, cards, lines, columns, forth,
                back_lines, back_columns, back, starts, out):  # fmt: skip
    """Write the tables of some pairs (first[x], second[y]) one after the other, from ``starts``."""
    for k in range(len(lines_of_pairs)):
        i, j = first[lines_of_pairs[k]], second[columns_of_pairs[k]]
        _fill_table(i, j, cards, lines, columns, forth, back_lines, back_columns, back,
                    out[starts[k] : starts[k + 1]])  # fmt: skip


@njit(cache=True, nogil=True)
def _largest_table(begin, end, first, second, triangle, cards):
    """Return the cells of the largest table of the pairs (first[x], second[y]) to look at."""
    most = np.int64(0)
    for x in range(begin, end):
        for y in range(x + 1 if triangle else 0, len(second)):
            most = max(most, cards[first[x]] * cards[second[y]])
    return most


@njit(cache=True, nogil=True)
def score_tables(begin, end, first, second, triangle, cards, lines, columns, forth, back_lines,
                 back_columns, back, roots, largest, total, out):  # fmt: skip
    """Fill ``out[x, y]`` with the score of the pair (first[x], second[y]), x from begin to end.

    The norm of the gradient over both ``roots``, or its largest absolute entry. Of a ``triangle``
    (both lists the same) only y > x.
    """
    table = np.zeros(_largest_table(begin, end, first, second, triangle, cards))
    for x in range(begin, end):
        i = first[x]
        for y in range(x + 1 if triangle else 0, len(second)):
            j = second[y]
            _fill_table(i, j, cards, lines, columns, forth, back_lines, back_columns, back, table)
            found = 0.0
            for k in range(cards[i] * cards[j]):
                value = table[k]
                found = max(found, abs(value)) if largest else found + value * value
            if largest:
                out[x, y] = found / total
            else:
                out[x, y] = np.sqrt(found) / (total * roots[i] * roots[j])


@njit(cache=True, nogil=True)
def quick_statistics(begin, end, first, second, triangle, cards, lines, columns, forth, back_lines,
                     back_columns, back, axes, axis_starts, sizes, curvatures, starts,
                     out):  # fmt: skip
    """Fill ``out[x, y]`` with the statistic of a pair in coordinates of both variables' own.

    With A the ``axes`` of a variable, (states, sizes) from ``axis_starts`` on, the squares of
    ``A_i' T A_j`` are divided by the sums of both variables' ``curvatures``, and added.
    """
    most = _largest_table(begin, end, first, second, triangle, cards)
    table, half = np.zeros(most), np.zeros(most)
    for x in range(begin, end):
        i = first[x]
        s, k = cards[i], sizes[i]
        for y in range(x + 1 if triangle else 0, len(second)):
            j = second[y]
            t, m = cards[j], sizes[j]
            _fill_table(i, j, cards, lines, columns, forth, back_lines, back_columns, back, table)
            for p in range(k):
                for b in range(t):
                    value = 0.0
                    for a in range(s):
                        value += axes[axis_starts[i] + a * k + p] * table[a * t + b]
                    half[p * t + b] = value
            found = 0.0
            for p in range(k):
                for q in range(m):
                    slope = 0.0
                    for b in range(t):
                        slope += half[p * t + b] * axes[axis_starts[j] + b * m + q]
                    found += slope * slope / (curvatures[starts[i] + p] + curvatures[starts[j] + q])
            out[x, y] = found


@njit(cache=True, nogil=True)
def find_doubtful(scores, drift, spread, scales, limit, most, found):
    """Write the keys of pairs that may score above a limit; return how many, and how many known.

    Scores are those of all pairs of ``range(n)``, first by first, at an earlier point; infinite
    ones are not known. They have changed by at most ``(drift_i spread_j + spread_i drift_j)`` over
    both ``scales``. After ``most`` known ones, or when ``found`` is full, it gives up.
    """
    n, key, count, known = len(drift), 0, 0, 0
    for i in range(n):
        for j in range(i + 1, n):
            moved = (drift[i] * spread[j] + spread[i] * drift[j]) / (scales[i] * scales[j])
            if not scores[key] + moved <= limit:
                if np.isfinite(scores[key]):
                    known += 1
                if known > most or count == len(found):
                    return count, most + 1
                found[count] = key
                count += 1
            key += 1
    return count, known
