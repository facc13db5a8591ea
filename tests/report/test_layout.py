"""Where nodes, lines and labels go: apart, round others, near their own."""

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from doors.report import edge_lines, large_layout, place_labels, places_of, positions, strays


def test_nodes_are_apart_and_parts_together():
    two = nx.disjoint_union(nx.complete_graph(12), nx.path_graph(5))
    places = positions(two)
    points = np.array([places[node] for node in two])
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2) + 10 * np.eye(len(points))
    assert gaps.min() > 0.3
    first, second = points[:12], points[12:]
    apart = np.maximum(first.min(0) - second.max(0), second.min(0) - first.max(0))
    assert apart.max() > 0
    # An edge of an unfinished network may explain less than nothing.
    nx.set_edge_attributes(two, {edge: (-1) ** edge[0] for edge in two.edges}, "strength")
    assert all(np.isfinite(place).all() for place in positions(two, 0).values())


def test_large_layouts_keep_neighbours_near_and_nodes_apart():
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(20, 20))
    edges = np.array(graph.edges)
    points = large_layout(400, edges, np.ones(len(edges)))
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    assert gaps.min() > 0.15
    near = gaps[edges[:, 0], edges[:, 1]].mean()
    np.fill_diagonal(gaps, 0.0)
    assert near < 0.25 * gaps.mean()
    np.testing.assert_array_equal(points, large_layout(400, edges, np.ones(len(edges))))


def test_communities_of_a_large_network_lie_together():
    graph = nx.planted_partition_graph(4, 100, 0.1, 0.002, seed=1)
    edges = np.array(list(graph.edges))
    places = places_of(400, edges, np.ones(len(edges))).reshape(4, 100, 2)
    middles = places.mean(axis=1)
    inside = np.linalg.norm(places - middles[:, None], axis=2).mean()
    between = np.linalg.norm(middles[:, None] - middles[None], axis=2).sum() / 12
    assert between > 1.5 * inside


def passes(lines, points, ends, clear):
    """How many pairs of line and other node are nearer than they may be, by sampled points."""
    t = np.linspace(0, 1, 2001)
    at = np.linspace(0, 1, lines.shape[1])
    total = 0
    for line, pair in zip(lines, ends, strict=True):
        fine = np.stack([np.interp(t, at, line[:, 0]), np.interp(t, at, line[:, 1])], axis=1)
        others = np.delete(points, pair, axis=0)
        total += int((np.linalg.norm(fine[:, None] - others, axis=2).min(axis=0) < clear).sum())
    return total


def test_edges_are_bent_round_nodes():
    """Of many drawn at random, most that would pass through a node are bent, and clear of it."""
    straight = left = 0
    view = np.array([-30.0, -30.0, 130.0, 130.0])
    for seed in range(20):
        rng = np.random.default_rng(seed)
        points = rng.uniform(0, 100, (14, 2))
        ends = np.array([(i, j) for i in range(14) for j in range(i) if rng.random() < 0.25])
        lines, bent = edge_lines(points, ends, np.full((len(ends), 14), 3.0), view)
        ruled = points[ends[:, :1]] + np.linspace(0, 1, 33)[:, None] * np.diff(points[ends], axis=1)
        assert np.allclose(lines[~bent], ruled[~bent])
        assert np.allclose(lines[:, [0, -1]], points[ends])
        assert (lines >= view[:2]).all()
        assert (lines <= view[2:]).all()
        before = passes(ruled, points, ends, 3.0)
        after = passes(lines, points, ends, 3.0)
        # a line that is bent meets fewer nodes, so all together do
        assert after <= before - bent.sum()
        straight, left = straight + before, left + after
    assert straight > 100
    assert left < 0.2 * straight


def test_the_page_bends_lines_as_pictures_do():
    """The page computes bends itself; a test of its own compares them with the same file."""
    file = Path(__file__).parents[2] / "explorer" / "tests" / "bends.json"
    if not file.exists():
        pytest.skip("the sources of the explorer are not there")
    kept = json.loads(file.read_text(encoding="utf-8"))
    for case in kept["cases"]:
        points, ends = np.array(case["points"]), np.array(case["ends"])
        clear = np.array(case["radii"])[None] + np.array(case["widths"])[:, None] / 2 + kept["gap"]
        lines, bent = edge_lines(points, ends, clear, np.array(case["view"]))
        chord = points[ends[:, 1]] - points[ends[:, 0]]
        normal = np.stack([-chord[:, 1], chord[:, 0]], axis=1) / np.hypot(*chord.T)[:, None]
        middle = (lines[:, 0] + lines[:, -1]) / 2
        bends = ((lines[:, lines.shape[1] // 2] - middle) * normal).sum(axis=1)
        np.testing.assert_allclose(np.where(bent, bends, 0.0), case["bends"], atol=1e-5)


def test_labels_avoid_other_nodes_and_stay_in_the_picture():
    nodes, size = np.array([[0.0, 0.0], [6.0, 0.0], [-6.0, 0.0]]), np.array([[8.0, 2.0]])
    assert abs(place_labels(nodes, np.ones(3), size, np.empty((0, 2, 2)))[0][1]) >= 2.0
    view = np.array([-20.0, -10.0, 4.0, 10.0])
    middle = place_labels(nodes[[0, 2]], np.ones(2), size, np.empty((0, 2, 2)), view)[0]
    assert (middle - size[0] / 2 >= view[:2]).all()
    assert (middle + size[0] / 2 <= view[2:]).all()
    # next to its node, not on it: clipping a place outside would put it there
    assert (np.abs(middle) >= size[0] / 2 + 1).any()


def test_labels_are_nearest_to_their_own_node_or_led_to_it():
    """Of 200 networks with long and short names: the few strays are those that lines lead to."""
    view = np.array([0.0, 0.0, 600.0, 420.0])
    placed = stray = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 24))
        nodes, radii = rng.uniform(30, [570, 390], (n, 2)), rng.uniform(4, 11, n)
        longest = (40, 160)[seed % 2]
        sizes = np.stack([rng.uniform(10, longest, n), rng.choice([15.0, 28.0], n)], axis=1)
        middles = place_labels(nodes, radii, sizes, np.empty((0, 2, 2)), view)
        led = strays(middles, sizes, nodes, radii)
        for k, (middle, size) in enumerate(zip(middles, sizes, strict=True)):
            if np.isnan(middle).any():
                continue
            beyond = np.maximum(np.abs(nodes - middle) - size / 2, 0.0)
            gaps = np.maximum(np.hypot(*beyond.T) - radii, 0.0)
            assert led[k] == (gaps.min() < gaps[k])
        placed, stray = placed + int(np.isfinite(middles[:, 0]).sum()), stray + int(led.sum())
    assert placed > 2000
    assert 0 < stray < 0.04 * placed
