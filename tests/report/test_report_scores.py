"""Scores of a network, against enumeration, other scores, and hand counts."""

import json

import networkx as nx
import numpy as np
import pytest

import graftwork as gw
from graftwork.datasets import bernoulli_network, scale_free_network
from graftwork.report import EdgeScores, compare_edges, conditional_logs, evaluate, held_out

from doors.report import deal_groups
from support.brute import enumerate_states


def cmll_by_enumeration(model, codes, groups):
    """Mean over variables of log p(x_i | other groups), from the table of all joint states."""
    joint = enumerate_states(model.potentials).joint
    out = np.zeros(codes.shape[1])
    for r, row in enumerate(codes.T):
        for group in groups:
            given = joint[tuple(slice(None) if k in group else c for k, c in enumerate(row))]
            for axis, i in enumerate(group):
                rest = tuple(a for a in range(len(group)) if a != axis)
                line = given.sum(axis=rest)
                out[r] += np.log(line[row[i]] / line.sum())
    return out / len(codes)


@pytest.fixture
def model():
    return bernoulli_network(9, [2, 3, 2, 2, 4, 2, 3, 2, 2], mean_degree=4, random_state=0)


@pytest.fixture
def rows(model):
    return model.sample(25, random_state=1)


@pytest.mark.parametrize("groups", [1, 2, 4, 9, 20])
@pytest.mark.parametrize("seed", [None, 3])
def test_cmll_equals_enumeration(model, rows, groups, seed):
    found = conditional_logs(model, rows, groups=groups, random_state=seed)
    dealt = [group.tolist() for group in found.groups]
    assert sorted(np.concatenate(found.groups).tolist()) == list(range(9))
    assert len(dealt) == min(groups, 9)
    assert found.exact
    expected = cmll_by_enumeration(model, rows.codes, dealt)
    np.testing.assert_allclose(found.rows, expected, atol=1e-10)


def test_cmll_of_single_variables_is_the_pseudo_likelihood(model, rows):
    found = conditional_logs(model, rows, groups=9)
    np.testing.assert_allclose(found.rows, model.log_pseudo_likelihood(rows) / 9, atol=1e-12)


def test_cmll_of_a_forest_and_by_propagation(monkeypatch):
    tree = scale_free_network(10, 3, attach=1, random_state=0)
    rows = tree.sample(20, random_state=0)
    exact = conditional_logs(tree, rows)
    groups = [group.tolist() for group in exact.groups]
    np.testing.assert_allclose(exact.rows, cmll_by_enumeration(tree, rows.codes, groups))
    monkeypatch.setattr("graftwork.inference.hidden.LIMIT_CELLS", 0)
    monkeypatch.setattr("graftwork.inference.hidden.CELLS_PER_WEIGHT", 0)
    other = conditional_logs(tree, rows)
    assert other.exact
    np.testing.assert_allclose(other.rows, exact.rows, atol=1e-9)
    loops = bernoulli_network(8, mean_degree=7, edge_sd=0.3, random_state=0)
    rows = loops.sample(20, random_state=0)
    scores = evaluate(loops, rows, groups=2)
    assert not scores.cmll_exact
    near = cmll_by_enumeration(loops, rows.codes, [[0, 2, 4, 6], [1, 3, 5, 7]])
    assert scores.cmll == pytest.approx(near.mean(), abs=0.01)


def test_groups_are_dealt_evenly():
    for n in (1, 3, 4, 10, 63):
        for seed in (None, 0):
            groups = deal_groups(n, 4, seed)
            assert len(groups) == min(4, n)
            assert max(map(len, groups)) - min(map(len, groups)) <= 1
            assert sorted(np.concatenate(groups).tolist()) == list(range(n))
    assert deal_groups(8, 4)[1].tolist() == [1, 5]
    one, two = deal_groups(40, 4, 1), deal_groups(40, 4, 1)
    assert all((a == b).all() for a, b in zip(one, two, strict=True))
    assert (deal_groups(40, 4, 2)[0] != one[0]).any()


def test_evaluate_gathers_what_the_model_says(model, rows):
    scores = gw.evaluate(model, rows)
    assert scores.nlpl == pytest.approx(-model.log_pseudo_likelihood(rows).mean())
    assert scores.log_likelihood == pytest.approx(model.log_prob(rows).mean())
    assert scores.cmll == pytest.approx(conditional_logs(model, rows).rows.mean())
    assert (scores.n_rows, scores.n_variables, scores.n_edges) == (25, 9, model.n_edges)
    assert scores.f1 is scores.precision is scores.recall is scores.hamming is scores.n_true is None
    assert gw.evaluate(model, rows, groups=None).cmll is None


def test_more_groups_show_more_of_a_row_and_score_higher(model):
    rows = model.sample(3000, random_state=0)
    values = [gw.evaluate(model, rows, groups=groups).cmll for groups in (1, 2, 4, 9)]
    assert values == sorted(values)
    assert values[-1] - values[0] > 0.05


def test_evaluate_with_a_truth(model, rows):
    edges = model.edges
    wrong = [pair for pair in nx.complete_graph(model.names).edges if pair not in edges][:3]
    truth = [*edges[2:], *wrong]
    scores = gw.evaluate(model, rows, truth)
    hits = len(edges) - 2
    assert scores.precision == pytest.approx(hits / len(edges))
    assert scores.recall == pytest.approx(hits / (hits + 3))
    assert scores.f1 == pytest.approx(2 * hits / (len(edges) + hits + 3))
    assert scores.hamming == 5
    assert scores.n_true == hits + 3
    written = json.loads(json.dumps(scores.to_dict()))
    assert written["hamming"] == 5
    assert written["cmll"] == scores.cmll


def test_weights_count_as_repeated_rows(model, rows):
    weights = np.arange(25) % 3
    repeated = rows.take_rows(np.repeat(np.arange(25), weights))
    once, more = gw.evaluate(model, rows, sample_weight=weights), gw.evaluate(model, repeated)
    for name in ("nlpl", "log_likelihood", "cmll"):
        assert getattr(once, name) == pytest.approx(getattr(more, name))
    assert gw.evaluate(model, rows.with_weights(weights)) == once


def test_scores_do_not_depend_on_threads_or_the_kind_of_table(model, rows):
    one = gw.evaluate(model, rows)
    assert gw.evaluate(model, rows, n_jobs=2) == one
    assert gw.evaluate(model, rows.to_pandas()) == one


def test_evaluate_takes_an_estimator():
    data = [["sun", "dry"], ["rain", "wet"]] * 30
    net = gw.MarkovNetwork(lam=0.01).fit(data)
    scores = gw.evaluate(net, data, truth=net)
    assert scores.f1 == 1.0
    assert scores.nlpl == pytest.approx(-net.score(data))


@pytest.mark.parametrize(
    ("found", "true", "hits", "expected"),
    [
        (0, 0, 0, (1.0, 1.0, 1.0, 0)),
        (0, 3, 0, (0.0, 0.0, 0.0, 3)),
        (3, 0, 0, (0.0, 0.0, 0.0, 3)),
        (2, 2, 0, (0.0, 0.0, 0.0, 4)),
        (2, 2, 2, (1.0, 1.0, 1.0, 0)),
        (4, 2, 1, (0.25, 0.5, 1 / 3, 4)),
    ],
)
def test_edge_scores(found, true, hits, expected):
    scores = EdgeScores(found, true, hits)
    got = (scores.precision, scores.recall, scores.f1, scores.hamming)
    assert got == pytest.approx(expected)


def test_every_kind_of_truth_means_the_same(model):
    edges = model.edges
    graph = model.to_networkx()
    kinds = [
        model, graph, nx.DiGraph(graph), nx.MultiGraph([*edges, *edges]), edges,
        [(b, a) for a, b in edges] + edges, {frozenset(pair) for pair in edges},
        dict.fromkeys(edges), np.array(edges), (pair for pair in edges),
    ]  # fmt: skip
    for truth in kinds:
        assert compare_edges(model, truth) == EdgeScores(len(edges), len(edges), len(edges))
    names = gw.PairwiseMRF({1: [0, 1], "1": [0, 1]})  # they keep their types
    assert compare_edges(names, [(1, "1")]).n_true == 1


def test_held_out_compares_with_counting():
    rng = np.random.default_rng(0)
    first = rng.integers(2, size=100)
    codes = np.stack([first, np.where(rng.random(100) < 0.9, first, 1 - first), np.zeros(100, int)])
    states = (("no", "yes"), ("n", "y"), ("k", "l"))
    train = gw.Table(("smokes", "coughs", "fixed"), states, codes)
    model = gw.PairwiseMRF(
        dict(zip(train.names, states, strict=True)),
        {"fixed": [5.0, -5.0]},
        {("smokes", "coughs"): [[1.1, -1.1], [-1.1, 1.1]]},
    )
    score = held_out(model, train, train)
    assert score.independent > score.nlpl
    assert score.nlpl == pytest.approx(-model.log_pseudo_likelihood(train).mean())
    counts = np.array([c + 0.5 for c in train.observed()])
    logs = np.log(counts / counts.sum(axis=1, keepdims=True))
    by_hand = sum(logs[j][train.codes[j]] for j in range(3))
    assert score.independent == pytest.approx(-by_hand.mean())
    weights = np.arange(100) == 3
    one = held_out(model, train, train.with_weights(weights.astype(float)))
    assert one.nlpl == pytest.approx(-model.log_pseudo_likelihood(train.take_rows([3]))[0])
