"""The fixed spanning forests: each spans, their mean lies in the spanning tree polytope."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from graftwork.inference import Layout, Potentials

from doors.inference import LEAST_USES, ready, spanning_forests, wire
from doors.kernels import forest_log_partitions, reorder, span
from support.brute import FORESTS, GRAPHS, complete, enumerate_states, grid, random_potentials


def edges_of(layout, forests, k):
    """The edges of forest k, read from the slots that lead upwards."""
    to = wire(layout).slots[:, 0]
    up = forests.up[k]
    return {tuple(sorted((i, int(to[up[i]])))) for i in range(layout.n_variables) if up[i] >= 0}


def graph_of(layout):
    graph = nx.Graph()
    graph.add_nodes_from(range(layout.n_variables))
    graph.add_edges_from(map(tuple, layout.edges.tolist()))
    return graph


@pytest.mark.parametrize("name", GRAPHS)
def test_every_forest_spans_and_shares_are_their_mean(name):
    layout = Layout.of(*GRAPHS[name])
    forests, graph = spanning_forests(layout), graph_of(layout)
    size = layout.n_variables - nx.number_connected_components(graph)
    uses = dict.fromkeys(map(tuple, layout.edges.tolist()), 0)
    for k in range(len(forests.up)):
        chosen = edges_of(layout, forests, k)
        part = nx.Graph(chosen)
        assert len(chosen) == size
        assert not size or nx.is_forest(part)
        for edge in chosen:
            uses[edge] += 1
        place = np.argsort(forests.order[k])
        to = wire(layout).slots[:, 0]
        for i in np.flatnonzero(forests.up[k] >= 0):
            assert place[to[forests.up[k, i]]] < place[i]
    expected = np.array(list(uses.values())) / len(forests.up)
    np.testing.assert_allclose(forests.shares, expected)
    owner = np.repeat(np.arange(layout.n_variables), np.diff(wire(layout).indptr))
    for t, i in enumerate(owner):
        edge = tuple(sorted((int(i), int(wire(layout).slots[t, 0]))))
        assert forests.slot_shares[t] == uses[edge] / len(forests.up)


@pytest.mark.parametrize("name", GRAPHS)
def test_shares_lie_in_the_spanning_tree_polytope(name):
    layout = Layout.of(*GRAPHS[name])
    shares, graph = spanning_forests(layout).shares, graph_of(layout)
    assert ((shares > 0) & (shares <= 1)).all()
    components = nx.number_connected_components(graph)
    assert shares.sum() == pytest.approx(layout.n_variables - components)
    bridges = {tuple(sorted(edge)) for edge in nx.bridges(graph)}
    for (i, j), share in zip(layout.edges.tolist(), shares, strict=True):
        if (i, j) in bridges:
            assert share == 1.0
    for size in range(2, min(layout.n_variables, 8)):
        for some in itertools.combinations(range(min(layout.n_variables, 10)), size):
            inside = np.isin(layout.edges, some).all(axis=1)
            assert shares[inside].sum() <= size - 1 + 1e-12


@pytest.mark.parametrize("name", FORESTS)
def test_a_forest_is_its_own_only_forest(name):
    forests = spanning_forests(Layout.of(*GRAPHS[name]))
    assert len(forests.up) == 1
    assert (forests.shares == 1.0).all()


def test_shares_do_not_depend_on_the_order_of_edges_nor_on_the_call(rng):
    cards, edges = GRAPHS["grid"]
    first = spanning_forests(Layout.of(cards, edges)).shares
    again = spanning_forests(Layout.of(cards, edges))
    assert again is spanning_forests(Layout.of(cards, edges))
    order = rng.permutation(len(edges))
    shuffled = spanning_forests(Layout.of(cards, np.array(edges)[order])).shares
    np.testing.assert_array_equal(shuffled, first[order])


@pytest.mark.parametrize("edges", [complete(30), grid(12, 12)], ids=["complete", "grid"])
def test_edges_are_used_about_equally(edges):
    n = max(map(max, edges)) + 1
    forests = spanning_forests(Layout.of([2] * n, edges))
    uses = forests.shares * len(forests.up)
    assert uses.min() >= LEAST_USES
    assert forests.shares.max() - forests.shares.min() < 0.2


def test_span_is_kruskal(rng):
    edges = np.array(complete(9))
    order = rng.permutation(len(edges))
    chosen = np.empty(8, dtype=np.int64)
    span(9, edges[:, 0], edges[:, 1], order, chosen)
    graph = nx.Graph()
    for rank, e in enumerate(order):
        graph.add_edge(*edges[e], weight=rank)
    expected = {tuple(sorted(edge)) for edge in nx.minimum_spanning_edges(graph, data=False)}
    assert {tuple(edges[e]) for e in chosen} == expected


def test_reorder_is_a_stable_sort(rng):
    order, use = rng.permutation(50), rng.integers(3, 7, size=50)
    expected = order[np.argsort(use[order], kind="stable")]
    reorder(order, use, np.empty(50, dtype=np.int64))
    np.testing.assert_array_equal(order, expected)


def reparameterised(potentials, forests, messages, k):
    """Forest k of the network with these messages, as a network of its own."""
    layout, weights = potentials.layout, potentials.weights
    boxes = wire(layout).message_offsets
    chosen = edges_of(layout, forests, k)
    kept = [e for e, (i, j) in enumerate(layout.edges.tolist()) if (i, j) in chosen]
    part = Layout.of(layout.cards, layout.edges[kept])
    out = part.zeros()
    out[: layout.n_unary] = weights[: layout.n_unary]
    for e, (i, j) in enumerate(layout.edges):
        into_i = messages[boxes[e] : boxes[e] + layout.cards[i]]
        into_j = messages[boxes[e] + layout.cards[i] : boxes[e + 1]]
        layout.unary(out, i)[:] += forests.shares[e] * into_i
        layout.unary(out, j)[:] += forests.shares[e] * into_j
        if e in kept:
            table = layout.table(weights, e) / forests.shares[e]
            part.table(out, kept.index(e))[:] = table - into_i[:, None] - into_j[None, :]
    return Potentials(part, out)


@pytest.mark.parametrize("name", ["tree", "two components", "cycle", "complete", "wheel"])
@pytest.mark.parametrize("scale", [1.0, 400.0])
def test_log_partitions_of_forests_equal_enumeration(name, scale, rng):
    potentials = random_potentials(rng, *GRAPHS[name], scale)
    layout = potentials.layout
    wiring, forests = wire(layout), spanning_forests(layout)
    messages = scale * rng.normal(size=wiring.message_offsets[-1])
    tables = ready(potentials, forests.shares, forests.slot_shares)
    found = np.empty(len(forests.up))
    forest_log_partitions(
        tables.unary, layout.unary_offsets, wiring.indptr, wiring.slots, tables.rho,
        tables.shifted, tables.scaled, messages, forests.order, forests.up, found,
    )  # fmt: skip
    energies = []
    for k, value in enumerate(found):
        part = reparameterised(potentials, forests, messages, k)
        truth = enumerate_states(part)
        chosen = edges_of(layout, forests, k)
        scaled = [
            tables.maxima[e] / forests.shares[e]
            for e, (i, j) in enumerate(layout.edges.tolist())
            if (i, j) in chosen
        ]
        assert value + sum(scaled) == pytest.approx(truth.log_partition, rel=1e-11)
        energies.append(truth.energy)
    # The forests share out the network's own energy exactly.
    np.testing.assert_allclose(
        np.mean(energies, axis=0), enumerate_states(potentials).energy, atol=1e-11 * scale
    )
