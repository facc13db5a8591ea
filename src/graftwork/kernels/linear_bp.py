"""Sum-product messages themselves in place of their logarithms, where nothing is extreme.

Inference as in ``kernels.bp`` with shares of 1, for few states: each message lies padded in one
vector, scaled to a largest number of 1, next to its reciprocals, so that a sweep takes one division
of vectors a message, and neither logarithm nor exponential. The length of ``sizes`` is that of the
vectors. ``fields`` (n, lanes) are unaries as exponentials, zero beyond the states; ``inbox`` and
``inverse`` (slots, lanes) hold the messages into the owner of each slot, 1 beyond its states;
row a of slot t's table, padded with zeros, is row ``rows[t] + a`` of ``tables``.

Where a message spreads over more than `SPREAD` the kernels give up, and logarithms are needed.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from graftwork.kernels.vectors import (
    add_scaled,
    greater,
    join_exponents,
    largest,
    load,
    over,
    part_exponents,
    plus,
    root,
    same,
    scale,
    smaller,
    smallest,
    store,
    times,
    total,
)

#: The smallest number of a message, or of exp(unary), over its largest one.
SPREAD = 1e-40

#: A message whose largest number is below this before scaling may have lost others.
TINY = 1e-250

#: As many messages are multiplied before exponents are taken out: SPREAD**5 is no underflow.
STRETCH = 4

LOG_TWO = np.log(2.0)


@njit(cache=True, nogil=True)
def fill_tables(indptr, states, slots, scaled, rows, out):
    """Fill ``out`` (rows, lanes) with each slot's table, a row for each of the owner's states."""
    for i in range(len(indptr) - 1):
        for t in range(indptr[i], indptr[i + 1]):
            own, other, targets = slots[t, 2], slots[t, 3], states[slots[t, 0]]
            for a in range(states[i]):
                row, source = rows[t] + a, slots[t, 1] + a * own
                for b in range(targets):
                    out[row, b] = scaled[source + b * other]
                for b in range(targets, out.shape[1]):
                    out[row, b] = 0.0


@njit(cache=True, nogil=True)
def fill_boxes(sizes, indptr, states, slots, messages, inbox, inverse):
    """Write messages (numbers, not logs) to the slots of who gets them, with their reciprocals."""
    for i in range(len(indptr) - 1):
        for t in range(indptr[i], indptr[i + 1]):
            for a in range(len(sizes)):
                inbox[t, a] = messages[slots[t, 4] + a] if a < states[i] else 1.0
                inverse[t, a] = 1.0 / inbox[t, a]


@njit(cache=True, nogil=True)
def empty_boxes(indptr, states, slots, inbox, messages):
    """Write the messages of all slots where they lie in the flat vector."""
    for i in range(len(indptr) - 1):
        for t in range(indptr[i], indptr[i + 1]):
            for a in range(states[i]):
                messages[slots[t, 4] + a] = inbox[t, a]


@njit(cache=True, nogil=True, forceinline=True)
def _multiply(sizes, field, first, last, inbox):
    """Return a product of messages, short enough to be no underflow."""
    for t in range(first, last):
        field = times(field, load(sizes, inbox, t * len(sizes)))
    return field


@njit(cache=True, nogil=True)
def _multiply_long(sizes, states, field, first, last, inbox, exponents):
    """Return a product of many messages over 2 to a power, and that power.

    States below 2**-1000 of the largest one count as that.
    """
    for a in range(len(sizes)):
        exponents[a] = 0 if a < states else -(2**40)
    for start in range(first, last, STRETCH):
        field = _multiply(sizes, field, start, min(last, start + STRETCH), inbox)
        field = part_exponents(field, exponents, 0)
    top = exponents[0]
    for a in range(1, states):
        top = max(top, exponents[a])
    return join_exponents(field, exponents, 0, top), top


@njit(cache=True, nogil=True)
def plan_sends(order, position, indptr, others):
    """Return the slots that send in a sweep, in turn, and where those of each step start.

    Backward through ``order`` to earlier variables, then forward to later ones.
    """
    n = len(order)
    sends, starts = np.empty(len(others), np.int64), np.zeros(2 * n + 1, np.int64)
    count = 0
    for step in range(2 * n):
        i = order[n - 1 - step] if step < n else order[step - n]
        for t in range(indptr[i], indptr[i + 1]):
            if (position[others[t]] < position[i]) == (step < n):
                sends[count] = t
                count += 1
        starts[step + 1] = count
    return sends, starts


@njit(cache=True, nogil=True)
def propagate_linear(
    sizes, fields, states, indptr, others, reverse, rows, tables, order, position,
    inbox, inverse, sweeps, tol, halved,
):  # fmt: skip
    """Update ``inbox`` and ``inverse`` in place; return sweeps done and the last change.

    Sweeps and change are those of ``bp.propagate``: the largest change of a message's logarithm.
    With ``halved`` the new logarithm is the mean of old and new. A change of -1 says that some
    message was too extreme for these kernels.
    """
    n, lanes = len(order), len(sizes)
    cavity, exponents = np.empty(lanes), np.empty(lanes, np.int64)
    padding = np.zeros((lanes + 1, lanes))
    for k in range(lanes + 1):
        padding[k, k:] = 1.0
    sends, ptr = plan_sends(order, position, indptr, others)
    one = same(sizes, 1.0)
    change = 0.0
    for sweep in range(sweeps):
        above, below, lowest = one, one, one
        for step in range(2 * n):
            if ptr[step] == ptr[step + 1]:
                continue
            i = order[n - 1 - step] if step < n else order[step - n]
            field = load(sizes, fields, i * lanes)
            if indptr[i + 1] - indptr[i] <= STRETCH:
                field = _multiply(sizes, field, indptr[i], indptr[i + 1], inbox)
            else:
                field, _ = _multiply_long(
                    sizes, states[i], field, indptr[i], indptr[i + 1], inbox, exponents
                )
            for k in range(ptr[step], ptr[step + 1]):
                t = sends[k]
                store(times(field, load(sizes, inverse, t * lanes)), cavity, 0)
                fresh = same(sizes, 0.0)
                for a in range(states[i]):
                    fresh = add_scaled(fresh, cavity[a], tables, (rows[t] + a) * lanes)
                peak = largest(fresh)
                if not TINY < peak < 1.0 / TINY:
                    return sweep, -1.0
                pad = load(sizes, padding, states[others[t]] * lanes)
                fresh = plus(scale(fresh, 1.0 / peak), pad)
                box = reverse[t] * lanes
                ratio = times(fresh, load(sizes, inverse, box))
                above, below = greater(above, ratio), smaller(below, ratio)
                lowest = smaller(lowest, fresh)
                if halved:
                    fresh = root(times(fresh, load(sizes, inbox, box)))
                store(fresh, inbox, box)
                store(over(one, fresh), inverse, box)
        if not smallest(lowest) >= SPREAD:
            return sweep, -1.0
        change = max(np.log(largest(above)), -np.log(smallest(below)))
        if change <= tol:
            return sweep + 1, change
    return sweeps, change


@njit(cache=True, nogil=True)
def read_linear(
    sizes, fields, states, offsets, indptr, slots, reverse, rows, tables, inbox, inverse, out
):
    """Fill ``out`` with unary and edge beliefs; return the Bethe log Z, as ``bp.read_beliefs``."""
    n, lanes = len(states), len(sizes)
    held, exponents = np.empty((n, lanes)), np.empty(lanes, np.int64)
    cells, line = np.empty((lanes, lanes)), np.empty(lanes)
    log_partition = 0.0
    for i in range(n):
        field, top = _multiply_long(
            sizes, states[i], load(sizes, fields, i * lanes), indptr[i], indptr[i + 1],
            inbox, exponents,
        )  # fmt: skip
        store(field, held, i * lanes)
        weight = held[i, : states[i]].sum()
        store(scale(field, 1.0 / weight), held, i * lanes)
        for a in range(states[i]):
            out[offsets[i] + a] = held[i, a]
        log_partition += np.log(weight) + top * LOG_TWO
    for i in range(n):
        for t in range(indptr[i], indptr[i + 1]):
            j = slots[t, 0]
            if j < i:
                continue
            store(times(load(sizes, held, i * lanes), load(sizes, inverse, t * lanes)), line, 0)
            right = times(load(sizes, held, j * lanes), load(sizes, inverse, reverse[t] * lanes))
            joint = same(sizes, 0.0)
            for a in range(states[i]):
                row = times(right, load(sizes, tables, (rows[t] + a) * lanes))
                row = scale(row, line[a])
                joint = plus(joint, row)
                store(row, cells, a * lanes)
            weight = total(joint)
            log_partition += np.log(weight)
            first = offsets[n] + slots[t, 1]
            for a in range(states[i]):
                for b in range(states[j]):
                    out[first + a * states[j] + b] = cells[a, b] / weight
    return log_partition
