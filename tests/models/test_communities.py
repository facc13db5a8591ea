"""Communities as arrays: numbers, matching, how often two variables share one."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from doors.models import find_communities, modularity, relabelled, shared_community


def best_match(reference, found):
    """Return how many variables can keep their number, by trying all ways to deal numbers."""
    k = max(reference.max(), found.max()) + 1
    return max(
        sum(f >= 0 and deal[f] == r for f, r in zip(found, reference, strict=True))
        for deal in itertools.permutations(range(k))
    )


@pytest.mark.parametrize("seed", range(20))
def test_numbers_are_matched_as_well_as_possible(seed):
    rng = np.random.default_rng(seed)
    reference = rng.integers(-1, rng.integers(1, 4), 9)
    found = rng.integers(-1, rng.integers(1, 4), 9)
    again = relabelled(reference, found)
    assert ((again >= 0) & (again == reference)).sum() == best_match(reference, found)
    assert ((again < 0) == (found < 0)).all()
    for i, j in itertools.combinations(range(9), 2):  # the same partition
        assert (again[i] == again[j]) == (found[i] == found[j])


def test_matching_without_communities():
    none = np.full(3, -1)
    assert relabelled(none, none).tolist() == [-1, -1, -1]
    assert relabelled(none, np.array([0, 0, 1])).tolist() == [0, 0, 1]
    assert relabelled(np.array([0, 0, 1]), none).tolist() == [-1, -1, -1]


def test_shares_of_partitions():
    draws = np.array([[0, 0, 1, 1], [0, 0, 0, -1], [2, 1, 1, -1]])
    expected = np.array([[3, 2, 1, 0], [2, 3, 2, 0], [1, 2, 3, 1], [0, 0, 1, 1]]) / 3
    np.testing.assert_allclose(shared_community(draws), expected)
    assert np.isnan(shared_community(np.empty((0, 2), dtype=np.int64))).all()


def test_modularity_is_that_of_networkx():
    graph = nx.gnp_random_graph(12, 0.3, seed=2)
    edges = np.array(graph.edges)
    strengths = np.linspace(0.2, 2.0, len(edges))
    for (i, j), s in zip(edges.tolist(), strengths, strict=True):
        graph.edges[i, j]["weight"] = s
    found = find_communities(12, edges, strengths)
    parts = [set(np.flatnonzero(found == k).tolist()) for k in range(found.max() + 1)]
    parts += [{i} for i in np.flatnonzero(found < 0).tolist()]
    assert modularity(edges, strengths, found) == pytest.approx(
        nx.community.modularity(graph, parts)
    )
    assert np.isnan(modularity(np.empty((0, 2), dtype=np.int64), np.empty(0), np.full(2, -1)))
