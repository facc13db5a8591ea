"""Starts and trees as users write them."""

import networkx as nx
import numpy as np
import pytest

import graftwork as gw
from graftwork.data import Table
from graftwork.grafting import chow_liu_edges
from graftwork.parameters import gather
from graftwork.recipes import RECIPES

from doors.data import prepare
from doors.estimators import carry_over, edges_among
from support.problems import random_table

SEARCHES = [name for name, factory in RECIPES.items() if not factory().sized]


@pytest.fixture(scope="module")
def table():
    return random_table(71, n=6, rows=400, most=3)


@pytest.fixture(scope="module")
def tree(table):
    edges, _ = chow_liu_edges(prepare(table))
    return sorted((table.names[i], table.names[j]) for i, j in edges)


@pytest.fixture(scope="module")
def starts(table):
    """One start of every kind."""
    net = gw.MarkovNetwork(lam=0.05).fit(table)
    pairs = [("v3", "v0"), ("v1", "v2"), ("v2", "v1")]
    return {
        "tree": "chow-liu",
        "graph": nx.Graph(pairs),
        "pairs": pairs,
        "array": np.array(pairs),
        "model": net.model_,
        "network": net,
    }


@pytest.mark.parametrize("loss", ["pseudolikelihood", "likelihood"])
def test_the_method_gives_exactly_the_tree(table, tree, loss):
    net = gw.MarkovNetwork("chow-liu", loss=loss).fit(table)
    assert sorted(net.model_.edges) == tree
    assert len(tree) == 5
    assert (net.lam_, net.refitted_, len(net.path_)) == (0.0, False, 0)
    assert net.choice_.how == "sized"
    assert not net.certificate_.converged
    assert net.certificate_.stop == "given"
    assert net.certificate_.stationarity <= 1e-6
    assert net.info()["start"] is None
    rows = gw.MarkovNetwork("chow-liu", loss=loss).fit(table.to_pandas()).model_
    assert rows.edges == net.model_.edges


def test_likelihood_weights_have_the_pair_frequencies_of_the_data(table, tree):
    net = gw.MarkovNetwork("chow-liu", loss="likelihood", penalty="none").fit(table)
    assert net.choice_.how == "none"
    for a, b in tree:
        joint = net.model_.pair_marginal(a, b)
        i, j = table.names.index(a), table.names.index(b)
        counts = np.zeros_like(joint)
        np.add.at(counts, (table.codes[i], table.codes[j]), 1 / 400)
        assert np.allclose(joint, counts, atol=1e-5)


def test_without_a_lambda_the_weights_are_those_of_a_refit_with_the_same_prior(table, tree):
    given = gw.MarkovNetwork("chow-liu", penalty="l2", lam=0.5 / 400, tol=1e-8).fit(table)
    for penalty in ("group-l1", "l1", "elastic-net", "l2"):
        net = gw.MarkovNetwork("chow-liu", penalty=penalty, tol=1e-8).fit(table)
        assert sorted(net.model_.edges) == tree
        assert np.isclose(net.objective_, given.objective_, rtol=1e-10)
        assert np.isclose(net.score(table), given.score(table), rtol=1e-7)
    more = gw.MarkovNetwork("chow-liu", penalty_options={"l2": 0.1}).fit(table)
    assert more.model_.strength(*tree[0]) < 0.9 * given.model_.strength(*tree[0])


@pytest.mark.parametrize("unary", [True, 0.02])
def test_penalised_unaries_stay_so_without_a_lambda(unary):
    table = random_table(72, n=4, rows=100, most=3)
    table = Table(table.names, tuple((*s, 9) for s in table.states), table.codes)
    net = gw.MarkovNetwork("chow-liu", penalty_options={"unary": unary}).fit(table)
    free = gw.MarkovNetwork("chow-liu").fit(table)
    assert all(np.isfinite(net.model_.unary(name)).all() for name in table.names)
    assert net.certificate_.stationarity <= 1e-6
    gap = {n: abs(np.ptp(m.model_.unary("v0"))) for n, m in (("net", net), ("free", free))}
    assert gap["net"] != gap["free"]


def test_a_penalty_with_a_number_shrinks_the_tree(table):
    strengths, edges = [], []
    for lam in (0.01, 0.1, 0.6):
        net = gw.MarkovNetwork("chow-liu", lam=lam).fit(table)
        assert net.lam_ == lam
        strengths.append(sum(net.model_.strength(*e) for e in net.model_.edges))
        edges.append(net.model_.n_edges)
    assert strengths[0] > strengths[1] > strengths[2]
    assert edges[0] == 5 > edges[2]


@pytest.mark.parametrize(
    ("kind", "method", "penalty"),
    [("tree", "grafting", "l1"), ("graph", "best-choice", "group-l1"),
     ("pairs", "grafting", "group-l1"), ("array", "best-choice", "l1"),
     ("model", "grafting", "l1"), ("network", "best-choice", "group-l1")],
)  # fmt: skip
def test_every_kind_of_start_ends_at_the_same_optimum(table, starts, kind, method, penalty):
    start = starts[kind]
    options = {"method": method, "penalty": penalty, "lam": 0.02, "random_state": 0, "tol": 1e-7}
    cold = gw.MarkovNetwork(**gather(options)).fit(table)
    warm = gw.MarkovNetwork(**gather({**options, "start": start})).fit(table)
    assert warm.certificate_.converged
    assert np.isclose(warm.objective_, cold.objective_, rtol=1e-7)
    assert warm.model_.edges == cold.model_.edges
    assert warm.trace_[0].edges >= 1
    assert cold.trace_[0].edges == 0


@pytest.mark.some(3)
@pytest.mark.parametrize("method", SEARCHES)
def test_every_method_may_start_from_the_tree(table, method):
    cold = gw.MarkovNetwork(method, lam=0.03).fit(table)
    warm = gw.MarkovNetwork(method, lam=0.03, method_options={"start": "chow-liu"}).fit(table)
    assert warm.certificate_.converged
    assert abs(warm.objective_ - cold.objective_) < 1e-6
    assert warm.trace_[0].edges > 0
    assert warm.trace_[0].evaluations > 0
    assert warm.info()["start"] == "chow-liu"


def test_the_weights_of_a_graph_can_be_fitted_alone(table):
    pairs = [("v0", "v5"), ("v4", "v1")]
    net = gw.MarkovNetwork("chow-liu", method_options={"start": nx.Graph(pairs)}).fit(table)
    assert net.model_.edges == [("v0", "v5"), ("v1", "v4")]
    assert net.info()["start"] == "2 given edges"


@pytest.mark.parametrize("kind", ["tree", "graph", "model"])
def test_an_edge_budget_keeps_the_strongest(table, starts, kind):
    start = starts[kind]
    net = gw.MarkovNetwork(
        "edge-grafting", lam=1e-3, method_options={"start": start}, max_edges=1
    ).fit(table)
    assert net.model_.n_edges == 1
    assert net.certificate_.stop == "edges"
    if kind == "model":
        model = start
        assert net.model_.edges[0] == max(model.edges, key=lambda e: model.strength(*e))


def test_a_model_is_carried_over_by_names_and_values():
    table = Table(
        ("b", "a", "c", "k"),
        (("x", "y", "z"), (0, 1, 2), (True, False), ("one",)),
        [[0, 1, 2, 0], [0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 0, 0]],
    )
    model = gw.PairwiseMRF(
        {"a": [1, 0, 7], "b": ["z", "x"], "k": ["one", "two"], "gone": [0, 1]},
        unary={"a": [0.5, -0.25, 3.0], "b": [2.0, -np.inf]},
        pairwise={
            ("a", "b"): [[1.0, -np.inf], [3.0, 4.0], [5.0, 6.0]],
            ("a", "gone"): np.ones((3, 2)),
            ("b", "k"): np.ones((2, 2)),
        },
    )
    sample = prepare(table)
    start = carry_over(model, table, sample)
    assert start.layout.edges.tolist() == [[0, 1]]  # b and a; "gone" and the constant are left out
    # b: x lifted from -inf to 20 below z, y with the data's frequency relative to both
    x, y, z = start.layout.unary(start.weights, 0)
    assert (x, z) == (-18.0, 2.0)
    assert np.isclose(np.exp(y) / (np.exp(x) + np.exp(z)), 1 / 3)
    assert start.layout.unary(start.weights, 1).tolist() == [-0.25, 0.5]
    assert np.allclose(np.exp(start.layout.unary(start.weights, 2)), [0.5, 0.5])
    # rows b = x, y, z; columns a = 0, 1
    assert start.layout.table(start.weights, 0).tolist() == [[4.0, -16.0], [0, 0], [3.0, 1.0]]
    assert (
        gw.MarkovNetwork(lam=0.1, method_options={"start": model}).fit(table).certificate_.converged
    )


def test_a_learned_model_comes_back_as_it_was(table):
    net = gw.MarkovNetwork(lam=0.02, tol=1e-7).fit(table)
    start = carry_over(net.model_, table, prepare(table))
    again = gw.MarkovNetwork(lam=0.02, tol=1e-6, method_options={"start": net}).fit(table)
    assert np.allclose(start.weights, net.model_.potentials.weights)
    assert again.trace_[-1].evaluations <= 3
    assert np.isclose(again.objective_, net.objective_, rtol=1e-10)


def test_edges_are_found_by_name_once_each_and_not_at_constants(table):
    codes = np.concatenate([table.codes, np.zeros((1, 400), dtype=np.uint8)])
    wide = Table((*table.names, ("k", 1)), (*table.states, (5,)), codes)
    pairs = [("v1", "v0"), ["v0", "v1"], (("k", 1), "v2"), ("v4", "v5")]
    assert edges_among(pairs, wide, prepare(wide)).tolist() == [[0, 1], [4, 5]]
