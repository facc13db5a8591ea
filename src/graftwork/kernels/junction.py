"""Exact inference on a compiled elimination plan: arrays in, arrays out.

A plan has one table per variable, in elimination order: axis 0 is the variable itself, the rest is
its separator (the neighbours it had when it was eliminated), flattened row-major. Summing out axis
0 gives the message to the parent's table; dividing by it leaves p(variable | separator) in place.
So one array holds potentials, then conditionals, then joint marginals, and hard zeros need no
division.

Row k of ``steps``: 0 unary offset, 1 states, 2 separator cells, 3 first cell, 4 parent (-1 for a
root), 5 outer and 6 inner count of the parent's cells, 7 outer and 8 inner start in ``maps``,
9 offset among all separator cells. Parent cell (o, i) belongs to separator cell
``maps[outer + o] + maps[inner + i]``.

Row r of ``rows`` (a pair table read or written by step k, ``row_ptr[k] <= r < row_ptr[k + 1]``):
0 where the table starts, 1 stride of the step's variable and 2 of the other in it, 3 stride of the
other in the separator, 4 its states.
"""

from __future__ import annotations

import numpy as np
from numba import njit

#: Products below the first, and probabilities below the second, are computed again in logs:
#: what underflow took away is then too small to matter above them.
SAFE, TINY = 1e-100, 1e-150


@njit(cache=True, nogil=True)
def _assemble(k, weights, steps, rows, row_ptr, table):
    card, sep, cell = steps[k, 1], steps[k, 2], steps[k, 3]
    for a in range(card):
        value = weights[steps[k, 0] + a]
        for c in range(cell + a * sep, cell + (a + 1) * sep):
            table[c] += value
    for r in range(row_ptr[k], row_ptr[k + 1]):
        stride, states = rows[r, 3], rows[r, 4]
        c = cell
        for a in range(card):
            for _ in range(sep // (stride * states)):
                for b in range(states):
                    value = weights[rows[r, 0] + a * rows[r, 1] + b * rows[r, 2]]
                    for _ in range(stride):
                        table[c] += value
                        c += 1


@njit(cache=True, nogil=True)
def _send(k, steps, maps, message, table):
    """Add the message, less its peak, to the parent's table; return the peak."""
    peak = -np.inf
    for c in range(steps[k, 2]):
        peak = max(peak, message[c])
    if steps[k, 4] < 0 or peak == -np.inf:
        return peak
    cell = steps[steps[k, 4], 3]
    for o in range(steps[k, 5]):
        base = maps[steps[k, 7] + o]
        for i in range(steps[k, 6]):
            table[cell] += message[base + maps[steps[k, 8] + i]] - peak
            cell += 1
    return peak


@njit(cache=True, nogil=True)
def eliminate_sum(weights, steps, rows, row_ptr, maps, table, message, mass):
    """Fill ``table`` with p(variable | separator) and return log Z (-inf: no mass anywhere)."""
    table[:] = 0.0
    log_partition = 0.0
    for k in range(len(steps)):
        _assemble(k, weights, steps, rows, row_ptr, table)
        card, sep, cell = steps[k, 1], steps[k, 2], steps[k, 3]
        message[:sep] = -np.inf
        mass[:sep] = 0.0
        for a in range(card):
            for c in range(sep):
                message[c] = max(message[c], table[cell + a * sep + c])
        for a in range(card):
            for c in range(sep):
                at = cell + a * sep + c
                table[at] = np.exp(table[at] - message[c]) if message[c] > -np.inf else 0.0
                mass[c] += table[at]
        for a in range(card):
            for c in range(sep):
                if mass[c] > 0.0:
                    table[cell + a * sep + c] /= mass[c]
        for c in range(sep):
            if mass[c] > 0.0:
                message[c] += np.log(mass[c])
        peak = _send(k, steps, maps, message, table)
        if peak == -np.inf:
            return peak
        log_partition += peak
    return log_partition


@njit(cache=True, nogil=True)
def _restrict(k, steps, maps, table, mass):
    """Fill ``mass`` with the marginal of step k's separator, from its parent's joint table."""
    if steps[k, 4] < 0:
        mass[0] = 1.0
        return
    mass[: steps[k, 2]] = 0.0
    cell = steps[steps[k, 4], 3]
    for o in range(steps[k, 5]):
        base = maps[steps[k, 7] + o]
        for i in range(steps[k, 6]):
            mass[base + maps[steps[k, 8] + i]] += table[cell]
            cell += 1


@njit(cache=True, nogil=True)
def distribute(steps, rows, row_ptr, maps, table, mass, out):
    """Turn conditionals into joint marginals, and add unary and pair marginals into ``out``."""
    for k in range(len(steps) - 1, -1, -1):
        card, sep, cell = steps[k, 1], steps[k, 2], steps[k, 3]
        _restrict(k, steps, maps, table, mass)
        for a in range(card):
            total = 0.0
            for c in range(sep):
                at = cell + a * sep + c
                table[at] *= mass[c]
                total += table[at]
            out[steps[k, 0] + a] += total
        for r in range(row_ptr[k], row_ptr[k + 1]):
            stride, states = rows[r, 3], rows[r, 4]
            c = cell
            for a in range(card):
                for _ in range(sep // (stride * states)):
                    for b in range(states):
                        total = 0.0
                        for _ in range(stride):
                            total += table[c]
                            c += 1
                        out[rows[r, 0] + a * rows[r, 1] + b * rows[r, 2]] += total


@njit(cache=True, nogil=True)
def _condition(source, state, steps, maps, table, work, mass, lift):
    """Put p(variable | separator, source = state) of the source and its ancestors in ``work``.

    Return p(source = state). Only ratios of probabilities occur: no logs, nothing can overflow.
    """
    k = source
    card, sep, cell = steps[k, 1], steps[k, 2], steps[k, 3]
    for c in range(cell, cell + card * sep):
        work[c] = 0.0
    for c in range(sep):
        work[cell + state * sep + c] = 1.0
        lift[c] = table[cell + state * sep + c]
    while steps[k, 4] >= 0:
        p = steps[k, 4]
        card, sep, cell = steps[p, 1], steps[p, 2], steps[p, 3]
        at = cell
        for o in range(steps[k, 5]):
            base = maps[steps[k, 7] + o]
            for i in range(steps[k, 6]):
                work[at] = table[at] * lift[base + maps[steps[k, 8] + i]]
                at += 1
        mass[:sep] = 0.0
        for a in range(card):
            for c in range(sep):
                mass[c] += work[cell + a * sep + c]
        for a in range(card):
            for c in range(sep):
                if mass[c] > 0.0:
                    work[cell + a * sep + c] /= mass[c]
        for c in range(sep):
            lift[c] = mass[c]
        k = p
    return lift[0]


@njit(cache=True, nogil=True)
def _needed(source, targets, first, last, steps, mark, visit):
    """List the ancestors of the targets, roots first, marking those of the source with 2."""
    mark[:] = 0
    for t in range(first, last):
        k = targets[t]
        while k >= 0 and mark[k] == 0:
            mark[k] = 1
            k = steps[k, 4]
    k = source
    while k >= 0:
        mark[k] = 2 if mark[k] else 3
        k = steps[k, 4]
    count = 0
    for k in range(len(steps) - 1, -1, -1):
        if mark[k] == 1 or mark[k] == 2:
            visit[count] = k
            count += 1
    return count


@njit(cache=True, nogil=True)
def _descend(visit, count, mark, steps, maps, table, work, mass):
    """Turn conditionals into joint tables in ``work``, along the steps to visit."""
    for v in range(count):
        k = visit[v]
        _restrict(k, steps, maps, work, mass)
        card, sep, cell = steps[k, 1], steps[k, 2], steps[k, 3]
        if mark[k] != 2:
            for c in range(cell, cell + card * sep):
                work[c] = table[c]
        for a in range(card):
            for c in range(sep):
                work[cell + a * sep + c] *= mass[c]


@njit(cache=True, nogil=True)
def _write(state, weight, target, place, steps, work, out):
    """Write one row (or column) of a pair table: the marginal of a target, times a weight."""
    sep, cell = steps[target, 2], steps[target, 3]
    for b in range(steps[target, 1]):
        total = 0.0
        for c in range(cell + b * sep, cell + (b + 1) * sep):
            total += work[c]
        out[place[0] + state * place[1] + b * place[2]] = weight * total


@njit(cache=True, nogil=True)
def joint_tables(steps, maps, table, sources, targets, target_ptr, places, out, work, mass, lift):
    """Fill the joint tables of each source with its targets (all given as steps).

    ``table`` holds conditionals. For each state of a source its path to the root is conditioned,
    then the marginals flow down, only where a target needs them. Row t of ``places``: where the
    table starts, stride of the source and of the target in it.
    """
    mark, visit = np.empty(len(steps), np.uint8), np.empty(len(steps), np.int64)
    for g in range(len(sources)):
        first, last = target_ptr[g], target_ptr[g + 1]
        count = _needed(sources[g], targets, first, last, steps, mark, visit)
        for state in range(steps[sources[g], 1]):
            weight = _condition(sources[g], state, steps, maps, table, work, mass, lift)
            _descend(visit, count, mark, steps, maps, table, work, mass)
            for t in range(first, last):
                _write(state, weight, targets[t], places[t], steps, work, out)


@njit(cache=True, nogil=True)
def eliminate_max(weights, steps, rows, row_ptr, maps, table, message, choice):
    """Fill ``choice`` with the best state per separator cell; return the largest log weight."""
    table[:] = 0.0
    best = 0.0
    for k in range(len(steps)):
        _assemble(k, weights, steps, rows, row_ptr, table)
        sep, cell, first = steps[k, 2], steps[k, 3], steps[k, 9]
        message[:sep] = -np.inf
        choice[first : first + sep] = 0
        for a in range(steps[k, 1]):
            for c in range(sep):
                if table[cell + a * sep + c] > message[c]:
                    message[c] = table[cell + a * sep + c]
                    choice[first + c] = a
        peak = _send(k, steps, maps, message, table)
        if peak == -np.inf:
            return peak
        best += peak
    return best


@njit(cache=True, nogil=True)
def scale_tables(weights, steps, rows, row_ptr, out):
    """Fill ``out`` with the exponentials of each step's pair tables, their largest product 1."""
    out[:] = 0.0
    for k in range(len(steps)):
        _assemble(k, weights, steps, rows, row_ptr, out)
        cells = out[steps[k, 3] : steps[k, 3] + steps[k, 1] * steps[k, 2]]
        peak = cells.max()
        for c in range(len(cells)):
            cells[c] = np.exp(cells[c] - peak) if peak > -np.inf else 0.0


@njit(cache=True, nogil=True)
def _scale_unaries(unary, offsets, out):
    """Fill ``out`` with the exponentials of unaries, the largest of each variable 1."""
    for i in range(len(offsets) - 1):
        peak = unary[offsets[i] : offsets[i + 1]].max()
        for a in range(offsets[i], offsets[i + 1]):
            out[a] = np.exp(unary[a] - peak) if peak > -np.inf else 0.0


@njit(cache=True, nogil=True)
def _multiply_up(unary, scaled, steps, maps, table, mass):
    """Fill ``table`` with p(variable | separator) by products; return False where they underflow.

    Without logs and exponentials this is several times faster than `eliminate_sum`.
    """
    for cell in range(len(table)):  # a slice takes seconds to compile
        table[cell] = scaled[cell]
    for k in range(len(steps)):
        card, sep, cell = steps[k, 1], steps[k, 2], steps[k, 3]
        mass[:sep] = 0.0
        for a in range(card):
            value = unary[steps[k, 0] + a]
            for c in range(sep):
                table[cell + a * sep + c] *= value
                mass[c] += table[cell + a * sep + c]
        peak, low = 0.0, np.inf
        for c in range(sep):
            peak, low = max(peak, mass[c]), min(low, mass[c])
        if low < SAFE:
            return False
        for a in range(card):
            for c in range(sep):
                table[cell + a * sep + c] /= mass[c]
        if steps[k, 4] >= 0:
            at = steps[steps[k, 4], 3]
            for o in range(steps[k, 5]):
                base = maps[steps[k, 7] + o]
                for i in range(steps[k, 6]):
                    table[at] *= mass[base + maps[steps[k, 8] + i]] / peak
                    at += 1
    return True


@njit(cache=True, nogil=True)
def log_marginals_seen(
    unaries, row_starts, offsets, codes, weights, scaled, steps, rows, row_ptr, maps,
    table, message, mass, values, out,
):  # fmt: skip
    """Fill ``out`` (variables, columns) with log p(state in ``codes``) of every variable.

    Line g of ``unaries`` holds for columns ``row_starts[g]`` to ``row_starts[g + 1]`` of ``codes``
    and ``out``; the tables in ``weights``, behind the unaries, hold for all, and ``scaled`` is what
    `scale_tables` made of them. -inf everywhere in the columns of a line without any mass.
    """
    n = len(offsets) - 1
    no_rows, no_pairs = rows[:0], np.zeros_like(row_ptr)
    for g in range(len(unaries)):
        weights[: offsets[n]] = unaries[g]
        _scale_unaries(unaries[g], offsets, values)
        top = np.nan
        if not _multiply_up(values, scaled, steps, maps, table, mass):
            top = eliminate_sum(weights, steps, rows, row_ptr, maps, table, message, mass)
        if top == -np.inf:
            out[:, row_starts[g] : row_starts[g + 1]] = -np.inf
            continue
        values[:] = 0.0
        distribute(steps, no_rows, no_pairs, maps, table, mass, values)
        for r in range(row_starts[g], row_starts[g + 1]):
            for i in range(n):
                seen = offsets[i] + codes[i, r]
                if values[seen] > TINY:
                    out[i, r] = np.log(values[seen])
                    continue
                if np.isnan(top):
                    top = eliminate_sum(weights, steps, rows, row_ptr, maps, table, message, mass)
                weights[offsets[i] : offsets[i + 1]] = -np.inf
                weights[seen] = unaries[g, seen]
                clamped = eliminate_sum(weights, steps, rows, row_ptr, maps, table, message, mass)
                out[i, r] = clamped - top
                weights[offsets[i] : offsets[i + 1]] = unaries[g, offsets[i] : offsets[i + 1]]
