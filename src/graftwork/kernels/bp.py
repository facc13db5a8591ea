"""Belief propagation on flat ragged messages: arrays in, arrays out.

With rho the share of an edge (1 for sum-product, less for tree-reweighted), the log-message to x_j
is log sum_a exp(field_i(a) - message_ji(a) + table(a, x_j) / rho), where the field of a variable is
its unary plus rho times each message into it.

Columns of ``slots`` (one row per directed edge, grouped by variable through ``indptr``): 0 the
neighbour, 1 where the edge's table starts, 2 stride of the own and 3 of the neighbour's state in
it, 4 where the message into the variable lies, 5 where the message to the neighbour lies.
``shifted`` are log tables over rho minus their maxima, ``scaled`` their exponentials, ``rho`` the
shares, one per slot.
"""

from __future__ import annotations

import numpy as np
from numba import njit

#: Below this a sum of products may have lost terms to underflow, and is redone in logs.
TINY = 1e-280


@njit(cache=True, nogil=True)
def breadth_first(indptr, neighbours):
    """Return the variables breadth-first, component after component, and their components."""
    n = len(indptr) - 1
    order, component = np.empty(n, np.int64), np.full(n, -1, np.int64)
    count = found = 0
    for root in range(n):
        if component[root] >= 0:
            continue
        component[root] = found
        order[count] = root
        head, count = count, count + 1
        while head < count:
            i = order[head]
            head += 1
            for t in range(indptr[i], indptr[i + 1]):
                j = neighbours[t]
                if component[j] < 0:
                    component[j] = found
                    order[count] = j
                    count += 1
        found += 1
    return order, component


@njit(cache=True, nogil=True)
def collect(i, unary, offsets, indptr, slots, rho, messages, total, zeros):
    """Sum the finite logs that meet at variable i, and count the infinite ones, state by state."""
    first = offsets[i]
    states = offsets[i + 1] - first
    for a in range(states):
        zeros[a] = unary[first + a] == -np.inf
        total[a] = 0.0 if zeros[a] else unary[first + a]
    for t in range(indptr[i], indptr[i + 1]):
        box, share = slots[t, 4], rho[t]
        for a in range(states):
            if messages[box + a] == -np.inf:
                zeros[a] += 1
            else:
                total[a] += share * messages[box + a]
    return states


@njit(cache=True, nogil=True)
def take_away(t, states, slots, messages, total, zeros, cavity):
    """Fill ``cavity`` with the log belief without slot t, less its peak; return the peak.

    Counting hard zeros apart from the sums lets one message be taken away again in constant time.
    """
    box = slots[t, 4]
    peak = -np.inf
    for a in range(states):
        message = messages[box + a]
        if message > -np.inf:
            cavity[a] = total[a] - message if zeros[a] == 0 else -np.inf
        else:
            cavity[a] = total[a] if zeros[a] == 1 else -np.inf
        peak = max(peak, cavity[a])
    if peak > -np.inf:
        for a in range(states):
            cavity[a] -= peak
    return peak


@njit(cache=True, nogil=True)
def log_entry(b, t, states, slots, shifted, cavity):
    """Return log sum_a exp(cavity[a] + table[a, b]), safe from underflow."""
    start = slots[t, 1] + b * slots[t, 3]
    peak = -np.inf
    for a in range(states):
        peak = max(peak, cavity[a] + shifted[start + a * slots[t, 2]])
    if peak == -np.inf:
        return peak
    total = 0.0
    for a in range(states):
        total += np.exp(cavity[a] + shifted[start + a * slots[t, 2]] - peak)
    return peak + np.log(total)


@njit(cache=True, nogil=True)
def _send(t, states, targets, slots, shifted, scaled, damping, cavity, linear, fresh, messages):
    """Replace the message of slot t; return its largest change."""
    for a in range(states):
        linear[a] = np.exp(cavity[a])
    start, own, other = slots[t, 1], slots[t, 2], slots[t, 3]
    peak = -np.inf
    for b in range(targets):
        # One running sum: for few states this beats accumulating rows in memory.
        at = start + b * other
        value = 0.0
        for a in range(states):
            value += linear[a] * scaled[at]
            at += own
        if value > TINY:
            fresh[b] = np.log(value)
        else:
            fresh[b] = log_entry(b, t, states, slots, shifted, cavity)
        peak = max(peak, fresh[b])
    change = 0.0
    box = slots[t, 5]
    for b in range(targets):
        value = fresh[b] - peak if peak > -np.inf else 0.0
        old = messages[box + b]
        if value != old:
            change = max(change, abs(value - old))
            if damping > 0.0 and value > -np.inf and old > -np.inf:
                value = (1.0 - damping) * value + damping * old
            messages[box + b] = value
    return change


@njit(cache=True, nogil=True)
def propagate(
    unary, offsets, indptr, slots, rho, shifted, scaled, order, position,
    messages, sweeps, tol, damping,
):  # fmt: skip
    """Update ``messages`` in place; return the number of sweeps done and the last change.

    A sweep goes backward through ``order`` (each variable sends to earlier ones), then forward: on
    a forest in breadth-first order the first sweep is exact.
    """
    n = len(order)
    widest = 1
    for i in range(n):
        widest = max(widest, offsets[i + 1] - offsets[i])
    total, zeros, cavity = np.empty(widest), np.empty(widest, np.int64), np.empty(widest)
    linear, fresh = np.empty(widest), np.empty(widest)
    change = 0.0
    for sweep in range(sweeps):
        change = 0.0
        for step in range(2 * n):
            backward = step < n
            i = order[n - 1 - step] if backward else order[step - n]
            states = -1
            for t in range(indptr[i], indptr[i + 1]):
                j = slots[t, 0]
                if (position[j] < position[i]) != backward:
                    continue
                if states < 0:
                    states = collect(i, unary, offsets, indptr, slots, rho, messages, total, zeros)
                take_away(t, states, slots, messages, total, zeros, cavity)
                moved = _send(
                    t, states, offsets[j + 1] - offsets[j],
                    slots, shifted, scaled, damping, cavity, linear, fresh, messages,
                )  # fmt: skip
                change = max(change, moved)
        if change <= tol:
            return sweep + 1, change
    return sweeps, change


@njit(cache=True, nogil=True)
def normalise(logs, size, out):
    """Fill ``out`` with the distribution of these logs; return the log of their sum."""
    peak = -np.inf
    for a in range(size):
        peak = max(peak, logs[a])
    if peak == -np.inf:
        out[:size] = 0.0
        return peak
    total = 0.0
    for a in range(size):
        out[a] = np.exp(logs[a] - peak)
        total += out[a]
    for a in range(size):
        out[a] /= total
    return peak + np.log(total)


@njit(cache=True, nogil=True)
def _edge_belief(t, s_i, s_j, slots, shifted, scaled, left, right, linear, out):
    """Fill ``out`` with the joint belief from two cavities; return its log normaliser."""
    start = slots[t, 1]
    total = 0.0
    for b in range(s_j):
        linear[b] = np.exp(right[b])
    for a in range(s_i):
        lead = np.exp(left[a])
        for b in range(s_j):
            out[a * s_j + b] = lead * linear[b] * scaled[start + a * s_j + b]
            total += out[a * s_j + b]
    if total > TINY:
        for c in range(s_i * s_j):
            out[c] /= total
        return np.log(total)
    for a in range(s_i):
        for b in range(s_j):
            out[a * s_j + b] = left[a] + right[b] + shifted[start + a * s_j + b]
    return normalise(out, s_i * s_j, out)


@njit(cache=True, nogil=True)
def read_beliefs(unary, offsets, indptr, slots, rho, shifted, scaled, reverse, messages, out):
    """Fill ``out`` with unary and edge beliefs; return the Bethe log Z less the tables' maxima.

    log Z = sum_i log z_i + sum_ij rho_ij log(z_ij / (z_i z_j)), where z_i and z_ij normalise the
    beliefs as the messages give them: stationary at a fixed point, and free of 0 log 0.
    """
    n = len(offsets) - 1
    widest = 1
    for i in range(n):
        widest = max(widest, offsets[i + 1] - offsets[i])
    left, right, linear = np.empty(widest), np.empty(widest), np.empty(widest)
    total, zeros, mass = np.empty(offsets[n]), np.empty(offsets[n], np.int64), np.empty(n)
    log_partition = 0.0
    for i in range(n):
        at = offsets[i]
        states = collect(i, unary, offsets, indptr, slots, rho, messages, total[at:], zeros[at:])
        for a in range(states):
            out[at + a] = -np.inf if zeros[at + a] else total[at + a]
        mass[i] = normalise(out[at:], states, out[at:])
        log_partition += mass[i]
    if log_partition == -np.inf:
        return log_partition
    for i in range(n):
        s_i, at_i = offsets[i + 1] - offsets[i], offsets[i]
        for t in range(indptr[i], indptr[i + 1]):
            j = slots[t, 0]
            if j < i:
                continue
            s_j, at_j = offsets[j + 1] - offsets[j], offsets[j]
            top = take_away(t, s_i, slots, messages, total[at_i:], zeros[at_i:], left)
            top_j = take_away(reverse[t], s_j, slots, messages, total[at_j:], zeros[at_j:], right)
            cells = out[offsets[n] + slots[t, 1] :]
            joint = _edge_belief(t, s_i, s_j, slots, shifted, scaled, left, right, linear, cells)
            # Differences first: the parts grow with the degree, the ratio does not.
            log_partition += rho[t] * (joint - ((mass[i] - top) + (mass[j] - top_j)))
    return log_partition


@njit(cache=True, nogil=True)
def _log_belief(i, state, unary, offsets, indptr, slots, rho, messages, total, zeros):
    """Return the log belief that variable i is in a state."""
    states = collect(i, unary, offsets, indptr, slots, rho, messages, total, zeros)
    peak = -np.inf
    for a in range(states):
        if zeros[a] == 0:
            peak = max(peak, total[a])
    if zeros[state] > 0 or peak == -np.inf:
        return -np.inf
    mass = 0.0
    for a in range(states):
        if zeros[a] == 0:
            mass += np.exp(total[a] - peak)
    return total[state] - peak - np.log(mass)


@njit(cache=True, nogil=True)
def log_beliefs_seen(
    unaries, row_starts, offsets, codes, indptr, slots, rho, shifted, scaled, order, position,
    messages, second, sweeps, tol, damping, out,
):  # fmt: skip
    """Fill ``out`` (variables, columns) with log beliefs in the states of ``codes``.

    Line g of ``unaries`` holds for columns ``row_starts[g]`` to ``row_starts[g + 1]``. A line that
    does not converge is tried again with damping. Return how many lines did not converge.
    """
    n = len(offsets) - 1
    widest = 1
    for i in range(n):
        widest = max(widest, offsets[i + 1] - offsets[i])
    total, zeros = np.empty(widest), np.empty(widest, np.int64)
    failures = 0
    for g in range(len(unaries)):
        unary = unaries[g]
        messages[:] = 0.0
        _, change = propagate(
            unary, offsets, indptr, slots, rho, shifted, scaled, order, position,
            messages, sweeps, tol, 0.0,
        )  # fmt: skip
        if change > tol:
            second[:] = 0.0
            _, rest = propagate(
                unary, offsets, indptr, slots, rho, shifted, scaled, order, position,
                second, sweeps, tol, damping,
            )  # fmt: skip
            if rest < change:
                for k in range(len(messages)):  # a slice takes seconds to compile
                    messages[k] = second[k]
                change = rest
        failures += change > tol
        for r in range(row_starts[g], row_starts[g + 1]):
            for i in range(n):
                out[i, r] = _log_belief(
                    i, codes[i, r], unary, offsets, indptr, slots, rho, messages, total, zeros
                )
    return failures


@njit(cache=True, nogil=True)
def _tree_to(i, targets, indptr, slots, stamp, parent, seen, mark, queue):
    """Grow a breadth-first tree from i until it holds all targets; list what they need.

    ``parent`` holds the slot (in the parent's list) each variable was reached by. Returns the
    number of variables to visit, left in ``queue[1:count]`` in breadth-first order.
    """
    seen[i] = stamp
    queue[0] = i
    head, count, open_targets = 0, 1, len(targets)
    for j in targets:
        mark[j] = stamp
    while head < count and open_targets > 0:
        k = queue[head]
        head += 1
        for t in range(indptr[k], indptr[k + 1]):
            j = slots[t, 0]
            if seen[j] != stamp:
                seen[j] = stamp
                parent[j, 0], parent[j, 1] = k, t
                queue[count] = j
                count += 1
                if mark[j] == stamp:
                    open_targets -= 1
    kept = 1
    for v in range(count - 1, 0, -1):
        if mark[queue[v]] == stamp:
            mark[parent[queue[v], 0]] = stamp
    for v in range(1, count):
        if mark[queue[v]] == stamp:
            queue[kept] = queue[v]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def path_tables(beliefs, offsets, indptr, slots, sources, targets, target_ptr, places, out):
    """Fill joint tables by chaining p(x_k | x_parent) along the shortest path from each source.

    Row t of ``places``: where the table of target t starts, strides of source and target in it.
    """
    n = len(offsets) - 1
    tables = offsets[n]
    parent = np.empty((n, 2), np.int64)
    seen, mark = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    queue, flow = np.empty(n, np.int64), np.empty(tables)
    for g in range(len(sources)):
        i = sources[g]
        first, last = target_ptr[g], target_ptr[g + 1]
        count = _tree_to(i, targets[first:last], indptr, slots, g, parent, seen, mark, queue)
        for state in range(offsets[i + 1] - offsets[i]):
            flow[offsets[i] : offsets[i + 1]] = 0.0
            flow[offsets[i] + state] = beliefs[offsets[i] + state]
            for v in range(1, count):
                k = queue[v]
                p, t = parent[k, 0], parent[k, 1]
                start = tables + slots[t, 1]
                flow[offsets[k] : offsets[k + 1]] = 0.0
                for a in range(offsets[p + 1] - offsets[p]):
                    if flow[offsets[p] + a] == 0.0:
                        continue
                    ratio = flow[offsets[p] + a] / beliefs[offsets[p] + a]
                    row = start + a * slots[t, 2]
                    for b in range(offsets[k + 1] - offsets[k]):
                        flow[offsets[k] + b] += ratio * beliefs[row + b * slots[t, 3]]
            for t in range(first, last):
                k = targets[t]
                place = places[t, 0] + state * places[t, 1]
                for b in range(offsets[k + 1] - offsets[k]):
                    out[place + b * places[t, 2]] = flow[offsets[k] + b]
