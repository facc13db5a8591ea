import networkx as nx
import numpy as np
import pytest

from graftwork.models.graphs import MEASURES, centralities


@pytest.mark.parametrize(("n", "p", "seed"), [(6, 0.6, 0), (12, 0.25, 1), (9, 0.1, 2)])
def test_centralities_are_those_of_networkx(n, p, seed):
    graph = nx.gnp_random_graph(n, p, seed=seed)
    rng = np.random.default_rng(seed)
    for a, b in graph.edges:
        s = float(rng.gamma(1.0))
        graph.edges[a, b].update(strength=s, distance=1 / s)
    expected = {
        "strength": dict(graph.degree(weight="strength")),
        "degree": dict(graph.degree()),
        "closeness": nx.closeness_centrality(graph, distance="distance"),
        "betweenness": nx.betweenness_centrality(graph, weight="distance"),
    }
    edges = np.array(graph.edges, dtype=np.int64).reshape(-1, 2)
    found = centralities(n, edges, np.array([graph.edges[e]["strength"] for e in graph.edges]))
    for m, measure in enumerate(MEASURES):
        np.testing.assert_allclose(found[m], [expected[measure][i] for i in range(n)], atol=1e-12)


def test_without_edges_nobody_is_central():
    none = np.empty((0, 2), dtype=np.int64)
    assert centralities(1, none, np.empty(0)).tolist() == [[0.0]] * 4
    assert not centralities(5, none, np.empty(0)).any()


def test_no_path_leads_over_an_edge_of_strength_zero():
    edges = np.array([[0, 1], [1, 2]])
    found = centralities(3, edges, np.array([2.0, 0.0]))
    assert found[1].tolist() == [1, 2, 1]
    assert found[2, 2] == 0
    assert not found[3].any()
