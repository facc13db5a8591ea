"""Graphs of networks: every writer of networkx takes them, and what is read again is the same."""

from __future__ import annotations

import datetime as dt
import itertools
import json

import networkx as nx
import numpy as np
import pytest

import graftwork as gw

from doors.models import MEASURES, centralities


def of_file(write, read, **options):
    def there_and_back(graph, folder):
        write(graph, folder / "graph")
        return read(folder / "graph", **options)

    return there_and_back


def of_json(to_data, to_graph):
    return lambda graph, folder: to_graph(json.loads(json.dumps(to_data(graph))))


FORMATS = {
    "graphml": of_file(nx.write_graphml, nx.read_graphml),
    "graphml by xml": of_file(nx.write_graphml_xml, nx.read_graphml),
    "gexf": of_file(nx.write_gexf, nx.read_gexf),
    "gml": of_file(nx.write_gml, nx.read_gml),
    "node-link": of_json(
        lambda graph: nx.node_link_data(graph, edges="edges"),
        lambda data: nx.node_link_graph(data, edges="edges"),
    ),
    "cytoscape": of_json(nx.cytoscape_data, nx.cytoscape_graph),
    "adjacency": of_json(nx.adjacency_data, nx.adjacency_graph),
}
STATES = {
    "weather": ["sun", "rain & snow", 'the "rest"', "\u00e9\u4e2d"],
    "<wind>": [0, 1],
    "mood \u263a": [True, None, 2.5],
    "day": [dt.date(2020, 2, 29), ("a", 1)],
    "alone": [b"x", "\x01"],
}
NAMES = list(STATES)


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    pairs = {(a, b): rng.normal(size=(len(STATES[a]), len(STATES[b])))
             for a, b in itertools.pairwise(NAMES[:4])}  # fmt: skip
    pairs["weather", "day"] = np.where(np.eye(4, 2), -np.inf, 0.0)
    return gw.PairwiseMRF(STATES, None, pairs)


def edges_of(graph, *more):
    return {
        frozenset(edge[:2]): tuple(edge[2].get(name) for name in ("strength", *more))
        for edge in graph.edges(data=True)
    }


@pytest.mark.parametrize("form", FORMATS)
def test_names_states_and_strengths_come_back(form, model, tmp_path):
    graph = model.to_networkx()
    found = FORMATS[form](graph, tmp_path)
    assert list(found.nodes) == NAMES
    assert edges_of(found) == edges_of(graph)
    assert all(0 < strength <= 1 for (strength,) in edges_of(found).values())
    for name in NAMES[:3]:
        assert json.loads(found.nodes[name]["states"]) == STATES[name]
    assert json.loads(found.nodes["day"]["states"]) == ["2020-02-29", ["a", 1]]


@pytest.mark.parametrize("form", FORMATS)
def test_learned_networks_with_their_tests(form, tmp_path):
    made = gw.datasets.make_bernoulli(8, n_rows=600, random_state=0)
    net = gw.MarkovNetwork().fit(made.data)
    graph, tests = net.graph_, ("p_value", "q_value")
    found = FORMATS[form](graph, tmp_path)
    assert found.number_of_edges() > 2
    there, back = (edges_of(nx.relabel_nodes(g, str), *tests) for g in (graph, found))
    assert back == there


# What networkx makes of names that are no texts, in files: the same texts that str gives.
OTHER_NAMES = {
    "numbers": [0, 1, 2],
    "fractions": [0.5, 1.5, -2.0],
    "pairs": [("a", 1), ("a", 2), ("b", 1)],
    "mixed": ["a", 1, ("b", 2)],
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("names", OTHER_NAMES.values(), ids=OTHER_NAMES)
def test_names_that_are_no_texts(form, names, tmp_path):
    pairs = {(names[0], names[1]): np.eye(2), (names[1], names[2]): 2 * np.eye(2)}
    graph = gw.PairwiseMRF({name: [0, 1] for name in names}, None, pairs).to_networkx()
    assert list(graph.nodes) == names
    if form in ("cytoscape", "adjacency") and any(isinstance(name, tuple) for name in names):
        graph = nx.relabel_nodes(graph, str)  # these two write tuples, but cannot read them
    found = FORMATS[form](graph, tmp_path)
    texts = [str(name).replace(" ", "") for name in names]
    assert [str(node).replace(" ", "") for node in found] == texts
    strengths = sorted(strength for (strength,) in edges_of(found).values())
    # A log odds ratio of w between even binary variables: Yule's Y is tanh(w / 4).
    assert strengths == pytest.approx([np.tanh(0.5), np.tanh(1.0)])


@pytest.mark.parametrize("form", FORMATS)
def test_dates_as_names_once_they_are_texts(form, tmp_path):
    days = [dt.date(2020, 1, day) for day in (1, 2)]
    model = gw.PairwiseMRF({day: [0, 1] for day in days}, None, {tuple(days): np.eye(2)})
    found = FORMATS[form](nx.relabel_nodes(model.to_networkx(), str), tmp_path)
    assert list(found.nodes) == ["2020-01-01", "2020-01-02"]


@pytest.mark.parametrize(("n", "p", "seed"), [(6, 0.6, 0), (12, 0.25, 1), (9, 0.1, 2)])
def test_centralities_are_those_of_networkx(n, p, seed):
    graph = nx.gnp_random_graph(n, p, seed=seed)
    rng = np.random.default_rng(seed)
    for a, b in graph.edges:
        s = float(rng.gamma(1.0))
        sign = float(rng.choice([-1.0, 1.0]))
        graph.edges[a, b].update(strength=s, distance=1 / s, signed=sign * s * s)
    expected = {
        "strength": dict(graph.degree(weight="strength")),
        "expected_influence": dict(graph.degree(weight="signed")),
        "degree": dict(graph.degree()),
        "closeness": nx.closeness_centrality(graph, distance="distance"),
        "betweenness": nx.betweenness_centrality(graph, weight="distance"),
    }
    edges = np.array(graph.edges, dtype=np.int64).reshape(-1, 2)
    strengths, signed = (
        np.array([graph.edges[e][name] for e in graph.edges]) for name in ("strength", "signed")
    )
    found = centralities(n, edges, strengths, signed)
    for m, measure in enumerate(MEASURES):
        np.testing.assert_allclose(found[m], [expected[measure][i] for i in range(n)], atol=1e-12)


def test_without_edges_nobody_is_central():
    none = np.empty((0, 2), dtype=np.int64)
    assert centralities(1, none, np.empty(0)).tolist() == [[0.0]] * 5
    assert not centralities(5, none, np.empty(0)).any()


def test_no_path_leads_over_an_edge_of_strength_zero():
    edges = np.array([[0, 1], [1, 2]])
    found = centralities(3, edges, np.array([2.0, 0.0]))
    assert found[2].tolist() == [1, 2, 1]
    assert found[3, 2] == 0
    assert np.isnan(found[1]).all()  # nothing is known of signs
    assert not found[4].any()
