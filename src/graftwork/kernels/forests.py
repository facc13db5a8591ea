"""Spanning forests of a graph, and log Z of a network on each: arrays in, arrays out.

The graph is the compiled one of ``kernels.bp``: slots grouped by variable through ``indptr``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from graftwork.kernels.bp import TINY, collect, log_entry, normalise, take_away


@njit(cache=True, nogil=True)
def _root(parent, i):
    """Return the representative of i, halving the way to it."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit(cache=True, nogil=True)
def span(n, first, second, order, chosen):
    """Fill ``chosen`` with the edges of the spanning forest that prefers those early in ``order``.

    ``chosen`` is as long as a spanning forest of the graph has edges.
    """
    parent = np.arange(n)
    found = 0
    for e in order:
        if found == len(chosen):
            return
        a, b = _root(parent, first[e]), _root(parent, second[e])
        if a != b:
            parent[a] = b
            chosen[found] = e
            found += 1


@njit(cache=True, nogil=True)
def reorder(order, use, spare):
    """Sort ``order`` by ``use``, keeping the order of equals: the least used edges come first."""
    least, most = use.min(), use.max()
    start = np.zeros(most - least + 2, np.int64)
    for e in order:
        start[use[e] - least + 1] += 1
    for level in range(1, len(start)):
        start[level] += start[level - 1]
    for e in order:
        spare[start[use[e] - least]] = e
        start[use[e] - least] += 1
    for e in range(len(order)):  # a slice takes seconds to compile
        order[e] = spare[e]


@njit(cache=True, nogil=True)
def _gather(n, first, second, forward, backward, chosen):
    """Return a list of (neighbour, its slot back) by variable: where each starts, and the list."""
    start = np.zeros(n + 1, np.int64)
    for e in chosen:
        start[first[e] + 1] += 1
        start[second[e] + 1] += 1
    start = np.cumsum(start)
    place, near = start[:-1].copy(), np.empty((2 * len(chosen), 2), np.int64)
    for e in chosen:
        i, j = first[e], second[e]
        near[place[i], 0], near[place[i], 1] = j, backward[e]
        near[place[j], 0], near[place[j], 1] = i, forward[e]
        place[i] += 1
        place[j] += 1
    return start, near


@njit(cache=True, nogil=True)
def hang(first, second, forward, backward, chosen, order, up):
    """Fill ``order`` with the variables, parents first, and ``up`` with their slots upwards.

    ``forward`` and ``backward`` are the slots of each edge at its first and its second variable.
    A root has -1 in ``up``.
    """
    n = len(order)
    start, near = _gather(n, first, second, forward, backward, chosen)
    seen = np.zeros(n, np.bool_)
    count = 0
    for root in range(n):
        if seen[root]:
            continue
        seen[root] = True
        up[root] = -1
        order[count] = root
        head, count = count, count + 1
        while head < count:
            i = order[head]
            head += 1
            for t in range(start[i], start[i + 1]):
                j = near[t, 0]
                if not seen[j]:
                    seen[j] = True
                    up[j] = near[t, 1]
                    order[count] = j
                    count += 1


@njit(cache=True, nogil=True)
def _lift(t, states, targets, slots, shifted, scaled, cavity, linear, messages, above):
    """Add to ``above`` a subtree's message to its parent, less the message already counted."""
    for a in range(states):
        linear[a] = np.exp(cavity[a])
    start, own, other = slots[t, 1], slots[t, 2], slots[t, 3]
    box = slots[t, 5]
    for b in range(targets):
        # A state the message rules out has no field: nothing is to be added to it.
        if messages[box + b] == -np.inf:
            continue
        value = 0.0
        for a in range(states):
            value += linear[a] * scaled[start + a * own + b * other]
        fresh = np.log(value) if value > TINY else log_entry(b, t, states, slots, shifted, cavity)
        above[b] += fresh - messages[box + b]


@njit(cache=True, nogil=True)
def _climb(
    offsets, slots, shifted, scaled, messages, total, zeros, order, up, below, cavity, linear
):
    """Return log Z of one forest, from its leaves to its roots; ``below`` is overwritten."""
    below[:] = 0.0
    log_partition = 0.0
    for v in range(len(order) - 1, -1, -1):
        i = order[v]
        at, states, t = offsets[i], offsets[i + 1] - offsets[i], up[i]
        if t < 0:
            for a in range(states):
                cavity[a] = -np.inf if zeros[at + a] else total[at + a] + below[at + a]
            log_partition += normalise(cavity, states, linear)
            continue
        log_partition += take_away(t, states, slots, messages, total[at:], zeros[at:], cavity)
        top = -np.inf
        for a in range(states):
            cavity[a] += below[at + a]
            top = max(top, cavity[a])
        if top == -np.inf:
            return top
        log_partition += top
        for a in range(states):
            cavity[a] -= top
        j = slots[t, 0]
        above = below[offsets[j] : offsets[j + 1]]
        _lift(t, states, len(above), slots, shifted, scaled, cavity, linear, messages, above)
    return log_partition


@njit(cache=True, nogil=True)
def forest_log_partitions(
    unary, offsets, indptr, slots, rho, shifted, scaled, messages, order, up, out
):
    """Fill ``out`` with log Z of each spanning forest of the reparameterised network.

    Forest T has the fields of all variables, and for its edges the terms
    table / rho - message_ij - message_ji. The mean of these energies over forests that hold each
    edge in a share rho of them is the network's own energy, whatever the messages are.
    """
    n = len(offsets) - 1
    widest = 1
    for i in range(n):
        widest = max(widest, offsets[i + 1] - offsets[i])
    cavity, linear, below = np.empty(widest), np.empty(widest), np.empty(offsets[n])
    total, zeros = np.empty(offsets[n]), np.empty(offsets[n], np.int64)
    for i in range(n):
        at = offsets[i]
        collect(i, unary, offsets, indptr, slots, rho, messages, total[at:], zeros[at:])
    for k in range(len(out)):
        out[k] = _climb(
            offsets, slots, shifted, scaled, messages, total, zeros, order[k], up[k],
            below, cavity, linear,
        )  # fmt: skip
