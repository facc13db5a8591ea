"""Centralities and communities of fitted networks and of networks made by hand."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from scipy.stats import binom
from sklearn.metrics import adjusted_rand_score

import graftwork as gw
from graftwork.errors import DataError, ParameterError

from doors.estimators import centrality_records, communities_of, quick_paths
from doors.models import MEASURES, Gaps, bridge_centralities, centralities

ALIKE, UNLIKE = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])


def network(pairs, cards=None, names="abcdef"):
    states = {name: list(range((cards or {}).get(name, 2))) for name in names}
    return gw.PairwiseMRF(states, None, pairs)


def yule(log_odds):
    """Yule's Y: the correlation of two variables with even margins and these log odds."""
    return np.tanh(np.array(log_odds) / 4)


def test_expected_influence_has_the_signs_of_the_log_odds():
    model = network({("a", "b"): 2 * ALIKE, ("b", "c"): 3 * UNLIKE, ("c", "d"): np.eye(2, 3)},
                    {"d": 3})  # fmt: skip
    records = {record["variable"]: record for record in centrality_records(model)}
    strength = {name: record["strength"] for name, record in records.items()}
    assert strength["b"] == pytest.approx(yule(4.0) + yule(6.0))
    assert strength["c"] > yule(6.0)
    influence = {name: record["expected_influence"] for name, record in records.items()}
    assert influence["a"] == pytest.approx(yule(4.0))
    assert influence["b"] == pytest.approx(yule(4.0) - yule(6.0))
    assert influence["c"] == pytest.approx(-yule(6.0))  # its other edge has no sign: left out
    assert np.isnan(influence["d"])  # its only edge has none
    assert influence["e"] == 0.0


def test_the_table_has_the_centralities_of_the_bootstrap():
    rows = gw.datasets.make_bernoulli(8, mean_degree=2, n_rows=300, random_state=1).data
    net = gw.MarkovNetwork(lam=0.03).fit(rows)
    table, boot = net.centrality(), net.bootstrap(rows, 1, case_dropping=False)
    for m, measure in enumerate(MEASURES):
        assert table[measure].tolist() == boot.centrality[m].tolist()
    signed = dict.fromkeys(net.names_, 0.0)
    share = {name: np.mean(codes) for name, codes in zip(rows.names, rows.codes, strict=True)}
    for a, b, strength in net.graph_.edges(data="strength"):
        phi = phi_of(net.model_.weight(a, b), share[a], share[b])
        assert abs(phi) == pytest.approx(strength)
        signed[a] += phi
        signed[b] += phi
    assert table["expected_influence"].tolist() == pytest.approx(list(signed.values()))


def phi_of(log_odds, p, q):
    """Return the correlation of two binary variables by Plackett's formula for their joint."""
    ratio = np.exp(log_odds)
    s = 1 + (p + q) * (ratio - 1)
    both = (s - np.sqrt(s**2 - 4 * ratio * (ratio - 1) * p * q)) / (2 * (ratio - 1))
    return (both - p * q) / np.sqrt(p * (1 - p) * q * (1 - q))


def test_bridges_by_hand():
    """Two triangles, joined by c - d."""
    pairs = dict.fromkeys(
        [("a", "b"), ("b", "c"), ("a", "c"), ("d", "e"), ("e", "f"), ("d", "f")],
        2 * np.arctanh(0.8) * ALIKE,  # strengths of .8, and of .4
    )
    model = network({**pairs, ("c", "d"): 2 * np.arctanh(0.4) * UNLIKE})
    groups = dict(zip("abcdef", "xxxyyy", strict=True))
    records = centrality_records(model, groups)
    by_name = {record["variable"]: record for record in records}
    assert [record["group"] for record in records] == list("xxxyyy")
    assert [record["bridge_strength"] for record in records] == pytest.approx(
        [0, 0, 0.4, 0.4, 0, 0]
    )
    influence = [record["bridge_expected_influence"] for record in records]
    assert influence == pytest.approx([0, 0, -0.4, -0.4, 0, 0])
    # in units of 1 / .8: from a, c is 1 away, d 2 more, e and f one more
    assert by_name["a"]["bridge_closeness"] == pytest.approx(0.8 * 3 / (3 + 4 + 4))
    assert by_name["c"]["bridge_closeness"] == pytest.approx(0.8 * 3 / (2 + 3 + 3))
    # of 6 pairs across that do not have c (a, b with d, e, f) all go through it
    assert by_name["c"]["bridge_betweenness"] == pytest.approx(1.0)
    assert by_name["a"]["bridge_betweenness"] == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_bridges_are_sums_over_shortest_paths_of_networkx(seed):
    rng = np.random.default_rng(seed)
    n = 12
    graph = nx.gnp_random_graph(n, 0.25, seed=seed)
    edges = np.array(graph.edges, dtype=np.int64).reshape(-1, 2)
    strengths = rng.choice([0.5, 1.0, 2.0], len(edges))  # ties among paths
    group = rng.integers(0, 3, n)
    for (i, j), s in zip(edges.tolist(), strengths, strict=True):
        graph.edges[i, j]["length"] = 1 / s
    close, between = np.zeros(n), np.zeros(n)
    lengths = dict(nx.all_pairs_dijkstra_path_length(graph, weight="length"))
    for v in range(n):
        outside = [u for u in range(n) if group[u] != group[v]]
        reached = [lengths[v][u] for u in outside if u in lengths[v]]
        if reached:
            close[v] = 1 / np.mean(reached) * len(reached) / len(outside)
        pairs = [(s, t) for s, t in itertools.combinations(range(n), 2)
                 if group[s] != group[t] and v not in (s, t)]  # fmt: skip
        for s, t in pairs:
            if t in lengths[s]:
                paths = list(nx.all_shortest_paths(graph, s, t, weight="length"))
                between[v] += np.mean([v in path for path in paths]) / len(pairs)
    found = bridge_centralities(n, edges, strengths, group.tolist())
    np.testing.assert_allclose(found[1], close, atol=1e-12)
    np.testing.assert_allclose(found[2], between, atol=1e-12)


def test_with_a_group_of_its_own_for_each_variable_bridges_are_the_usual_centralities():
    graph = nx.gnp_random_graph(10, 0.3, seed=1)
    edges = np.array(graph.edges, dtype=np.int64)
    strengths = np.linspace(0.5, 2.0, len(edges))
    usual = centralities(10, edges, strengths)
    found = bridge_centralities(10, edges, strengths, list(range(10)))
    np.testing.assert_allclose(found, usual[[0, 3, 4]])
    one = bridge_centralities(10, edges, strengths, ["all"] * 10)
    assert not one.any()


def test_communities_can_be_the_groups():
    pairs = dict.fromkeys([("a", "b"), ("b", "c"), ("d", "e")], ALIKE)
    model = network(pairs)
    records = centrality_records(model, communities_of(model))
    assert [record["group"] for record in records] == [1, 1, 1, 2, 2, None]
    assert all(record["bridge_strength"] == 0 for record in records)
    alone = centrality_records(model, dict.fromkeys("abcdef"))  # None: a group each
    own = yule(2.0) * np.array([1, 2, 1, 1, 1, 0])
    assert [record["bridge_strength"] for record in alone] == pytest.approx(own)


def test_groups_must_name_every_variable():
    model = network({("a", "b"): ALIKE}, names="abc")
    with pytest.raises(DataError, match=r"group of every variable; not so of c"):
        centrality_records(model, {"a": 1, "b": 2})
    with pytest.raises(DataError, match="no variable 'd'"):
        centrality_records(model, {"a": 1, "b": 2, "d": 2})
    with pytest.raises(ParameterError, match="dict"):
        centrality_records(model, ["x", "y", "z"])


def test_networks_without_edges_have_no_centre_and_no_communities():
    model = network({})
    assert all(
        record["closeness"] == 0 for record in centrality_records(model, dict.fromkeys("abcdef", 1))
    )
    assert set(communities_of(model).values()) == {None}


def test_large_networks_are_told_apart():
    names = [f"x{i}" for i in range(1200)]
    pairs = dict.fromkeys(itertools.pairwise(names), ALIKE)
    model = network(pairs, names=names)
    assert not quick_paths(model)
    records = centrality_records(model, paths=False)
    assert records[5]["degree"] == 2.0
    assert np.isnan(records[5]["betweenness"])


def test_communities_are_those_of_louvain():
    graph = nx.planted_partition_graph(4, 8, 0.8, 0.05, seed=3)
    names = [f"v{i}" for i in graph]
    model = network({(names[a], names[b]): ALIKE for a, b in graph.edges}, names=names)
    found = communities_of(model)
    parts = [set(np.flatnonzero([found[name] == k for name in names]).tolist())
             for k in range(1, 1 + max(found.values()))]  # fmt: skip
    best = max(
        nx.community.modularity(graph, nx.community.louvain_communities(graph, seed=seed))
        for seed in range(20)
    )
    assert nx.community.modularity(graph, parts) == pytest.approx(best)
    assert [len(part) for part in parts] == sorted(map(len, parts), reverse=True)
    assert communities_of(model) == found  # whatever the hashes of names
    assert max(communities_of(model, resolution=4.0).values()) > len(parts)


def test_strengths_count_those_of_impossible_states_too():
    weak, strong = 0.1 * ALIKE, 3 * ALIKE
    pairs = {("a", "b"): strong, ("c", "d"): strong, ("b", "c"): weak, ("a", "d"): weak}
    assert communities_of(network(pairs, names="abcd")) == {"a": 1, "b": 1, "c": 2, "d": 2}
    never = np.array([[0.0, -np.inf], [0.0, 0.0]])
    assert communities_of(network({("a", "b"): never}, names="abc")) == {"a": 1, "b": 1, "c": None}


def five_scales(seed, rows=1000):
    """Return five scales of five items: straight edges inside, weak ones between, many bent.

    What makes them bent is what whole tables have in so many rows: noise, large in rare cells.
    """
    rng = np.random.default_rng(seed)
    names, scores = [f"item{i}" for i in range(25)], np.arange(6.0)
    shares = [binom.pmf(range(6), 5, p) for p in rng.uniform(0.3, 0.75, 25)]
    pairs = {}
    for i, j in itertools.combinations(range(25), 2):
        same = i // 5 == j // 5
        if rng.random() < (0.8 if same else 0.25):
            table = rng.choice([-1, 1]) * (0.25 if same else 0.08) * np.outer(scores, scores)
            if rng.random() < (0.2 if same else 0.8):
                expected = rows * np.outer(shares[i], shares[j])
                table += np.clip(rng.normal(size=(6, 6)) / np.sqrt(expected), -2, 2)
            pairs[names[i], names[j]] = table
    plain = gw.PairwiseMRF({name: range(6) for name in names}, None, pairs)
    return gw.PairwiseMRF.from_flat(
        names, [range(6)] * 25, plain.potentials, Gaps(frequencies=tuple(shares)),
        dict.fromkeys(names, range(6)),
    )  # fmt: skip


@pytest.mark.parametrize("seed", [0, 2, 4, 7])
def test_bent_tables_do_not_hide_the_scales(seed):
    found = communities_of(five_scales(seed))
    scales = [i // 5 for i in range(25)]
    assert adjusted_rand_score(scales, [found[f"item{i}"] for i in range(25)]) >= 0.9


def test_signs_of_edges_are_those_of_their_straight_part():
    model = five_scales(0)
    bent = model.linear_shares < 0.999
    assert bent.sum() > 20
    # A pair's own frequencies and odds, by the same law from which they were drawn: recompute it.
    for e, (a, b) in enumerate(model.edges):
        p, q = (model.gaps.frequencies[model.names.index(name)] for name in (a, b))
        joint = np.exp(model.table(a, b))
        for _ in range(200):
            joint *= (p / joint.sum(axis=1))[:, None]
            joint *= q / joint.sum(axis=0)
        x = np.arange(6)
        covariance = x @ joint @ x - (x @ p) * (x @ q)
        spread = np.sqrt((x**2 @ p - (x @ p) ** 2) * (x**2 @ q - (x @ q) ** 2))
        assert model.correlations[e] == pytest.approx(covariance / spread, abs=1e-7)
    assert np.mean(np.sign(model.weights) == np.sign(model.correlations)) >= 0.99
    influence = [record["expected_influence"] for record in centrality_records(model)]
    assert np.isfinite(influence).all()


def test_communities_refuse_what_means_nothing():
    net = gw.MarkovNetwork(lam=0.1).fit([["a", "x"], ["b", "y"]] * 20)
    with pytest.raises(ParameterError, match="resolution"):
        net.communities(resolution=0)
    with pytest.raises(ParameterError, match="random_state"):
        net.communities(random_state=-1)


def planted_blocks(n_blocks, size, inside, between, seed, cards=2):
    """A network of blocks: each variable has edges to most of its block, few to others."""
    rng = np.random.default_rng(seed)
    n = n_blocks * size
    block = np.repeat(np.arange(n_blocks), size)
    pairs = {}
    for i, j in itertools.combinations(range(n), 2):
        same = block[i] == block[j]
        if rng.random() < (0.7 if same else 0.04):
            pairs[f"x{i}", f"x{j}"] = (inside if same else between) * np.eye(cards)
    states = {f"x{i}": list(range(cards)) for i in range(n)}
    return gw.PairwiseMRF(states, None, pairs), block


@pytest.mark.slow
@pytest.mark.parametrize(("blocks", "size", "cards"), [(3, 5, 2), (4, 5, 2), (3, 5, 3)])
def test_planted_blocks_come_back_at_1000_rows(blocks, size, cards):
    scores = []
    for seed in range(3):
        model, block = planted_blocks(blocks, size, 0.9, 0.3, seed, cards)
        rows = model.sample(1000, random_state=seed, method="gibbs")
        found = gw.MarkovNetwork(random_state=0).fit(rows).communities()
        scores.append(adjusted_rand_score(block, [found[name] or 0 for name in model.names]))
    assert np.mean(scores) >= 0.9, scores


def test_a_bootstrap_tells_how_stable_communities_are():
    model, block = planted_blocks(2, 4, 1.2, 0.0, 0)
    rows = model.sample(600, random_state=0)
    boot = gw.MarkovNetwork(lam=0.03).bootstrap(rows, 12, case_dropping=False, random_state=0)
    records = boot.communities()
    assert [record["variable"] for record in records] == list(model.names)
    assert adjusted_rand_score(block, [record["community"] for record in records]) == 1
    assert all(record["stability"] == 1 for record in records)
    np.testing.assert_array_equal(boot.comembership, np.equal.outer(block, block))
    pairs = boot.comembers()
    assert len(pairs) == 2 * 6
    assert all(pair["together"] and pair["share"] == 1 for pair in pairs)
    words = gw.describe(boot)
    assert "The network has 2 communities; 100% of the resamples have as many." in words
    assert "Every variable with an edge is in its community" in words


def test_communities_of_noise_are_not_stable():
    noise = np.random.default_rng(0).integers(0, 2, (100, 8))
    boot = gw.MarkovNetwork(lam=0.02).bootstrap(noise, 20, case_dropping=False, random_state=0)
    assert min(record["stability"] for record in boot.communities()) < 0.75
    assert "Do not rely on their place." in gw.describe(boot)
    shares = boot.comembership
    assert ((shares >= 0) & (shares <= 1)).all()
    np.testing.assert_array_equal(shares, shares.T)
    assert boot.to_dict()["comembership"][0]["share"] == np.triu(shares, 1).max()
