"""Spanning forests against sets, and log Z of each against enumeration."""

import numpy as np

from doors.inference import ready, wire
from doors.kernels import forests as kernel
from support.brute import GRAPHS, complete, enumerate_states, random_potentials


def slots_of(layout):
    """The slot of each edge at its first and at its second variable."""
    wiring = wire(layout)
    owner = np.repeat(np.arange(layout.n_variables), np.diff(wiring.indptr))
    return (
        np.array([
            int(np.flatnonzero((owner == pair[side]) & (wiring.neighbours == pair[1 - side]))[0])
            for pair in layout.edges
        ])
        for side in (0, 1)
    )  # fmt: skip


def test_a_forest_takes_early_edges_that_close_no_cycle():
    edges = np.array(complete(5))
    order, chosen = np.random.default_rng(0).permutation(10), np.full(4, -1)
    kernel.span(5, edges[:, 0].copy(), edges[:, 1].copy(), order, chosen)
    parts, wanted = [{i} for i in range(5)], []
    for e in order.tolist():
        here, there = (next(part for part in parts if i in part) for i in edges[e])
        if here is not there:
            parts.remove(there)
            here |= there
            wanted.append(e)
    assert chosen.tolist() == wanted


def test_the_least_used_come_first_and_equals_stay():
    use, order = np.array([3, 1, 2, 1, 3, 2]), np.array([5, 4, 3, 2, 1, 0])
    kernel.reorder(order, use, np.empty(6, np.int64))
    assert order.tolist() == [3, 1, 5, 2, 4, 0]


def hung(layout, chosen):
    order, up = np.empty((2, layout.n_variables), np.int64)
    first, second = (layout.edges[:, side].copy() for side in (0, 1))
    kernel.hang(first, second, *slots_of(layout), chosen, order, up)
    return order, up


def test_a_forest_hangs_from_its_roots():
    layout = random_potentials(np.random.default_rng(0), *GRAPHS["two components"]).layout
    order, up = hung(layout, np.array([0, 1, 3]))
    neighbours, seen = wire(layout).neighbours, []
    for i in order.tolist():
        assert up[i] < 0 or neighbours[up[i]] in seen
        seen.append(i)
    assert sorted(seen) == list(range(6))
    assert (up < 0).sum() == 3  # two trees, and a variable without edges in the forest


def test_log_partitions_of_forests_are_exact():
    """A forest's network has the fields of all variables, and its edges' terms alone."""
    rng = np.random.default_rng(1)
    potentials = random_potentials(rng, *GRAPHS["two components"])
    layout, wiring, tables = potentials.layout, wire(potentials.layout), ready(potentials)
    messages, out = np.zeros(int(wiring.message_offsets[-1])), np.zeros(2)
    forests = [np.array([0, 1, 3]), np.array([1, 2, 3])]
    order, up = (np.stack(both) for both in zip(*(hung(layout, f) for f in forests), strict=True))
    kernel.forest_log_partitions(
        tables.unary, layout.unary_offsets, wiring.indptr, wiring.slots, tables.rho,
        tables.shifted, tables.scaled, messages, order, up, out,
    )  # fmt: skip
    for found, chosen in zip(out, forests, strict=True):
        weights = potentials.weights.copy()
        for e in set(range(layout.n_edges)) - set(chosen.tolist()):
            layout.table(weights, e)[:] = 0.0
        wanted = enumerate_states(type(potentials)(layout, weights)).log_partition
        assert np.isclose(found + tables.maxima[chosen].sum(), wanted, rtol=1e-12)
