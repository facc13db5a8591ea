"""Networks learned from counts alone: the same as from the rows, or refused."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.datasets import load_mushroom
from graftwork.errors import DataError, ParameterError


def rows_of(n_rows=400, n=7, seed=0, states=3):
    """Rows in which each variable follows the one before."""
    rng = np.random.default_rng(seed)
    cells = [rng.integers(0, states, n_rows)]
    for _ in range(n - 1):
        follow = rng.random(n_rows) < 0.6
        cells.append(np.where(follow, cells[-1], rng.integers(0, states, n_rows)))
    return gw.as_table(np.stack(cells, axis=1))


WEIGHTS = np.random.default_rng(1).integers(1, 5, 400).astype(float)
SETTINGS = {
    "a lambda": {"lam": 0.02},
    "l1, cells": {"lam": 0.02, "penalty": "l1", "method": "grafting"},
    "all unaries": {"lam": 0.02, "penalty_options": {"unary": True}},
    "no penalty": {"penalty": "none", "knowledge": {"candidates": [("x0", "x1"), ("x1", "x2")]}},
    "chow-liu": {"method": "chow-liu"},
    "forced-pruning": {"method": "forced-pruning", "max_edges": 8},
    "priority": {"method": "priority", "lam": 0.05},
    "edge-grafting": {"method": "edge-grafting", "lam": 0.02, "max_edges": 4},
    "ebic": {"criterion": "ebic"},
    "ebic of refits": {"criterion": "ebic-refit"},
    "adaptive": {"criterion": "adaptive"},
    "belief propagation": {"lam": 0.06, "inference": "bp"},
    "tied": {"lam": 0.02, "tie": 3},
    "from a tree": {"lam": 0.02, "method_options": {"start": "chow-liu"}},
    "ordered": {"lam": 0.02, "ordinal": True},
    "known edges": {"lam": 0.02, "knowledge": {"required": [("x0", "x5")]}},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_counts_give_the_network_of_the_rows(settings):
    table = rows_of().with_weights(WEIGHTS)
    net = gw.MarkovNetwork(loss="likelihood", **settings)
    there = net.fit(table)
    objective, model = there.objective_, there.model_
    certificate, lam, method = there.certificate_, there.lam_, there.method_
    here = net.fit(gw.count_pairs(table))
    assert here.model_.edges == model.edges
    assert here.objective_ == pytest.approx(objective, rel=1e-12, abs=1e-12)
    assert here.lam_ == pytest.approx(lam, rel=1e-12)
    assert here.certificate_.stop == certificate.stop
    assert here.certificate_.converged == certificate.converged
    assert here.method_ == method
    np.testing.assert_allclose(here.model_.potentials.weights, model.potentials.weights, atol=1e-6)


def test_counts_of_sampling_weights_give_the_network_of_the_rows_at_a_lambda():
    table = rows_of().with_weights(np.random.default_rng(1).gamma(2.0, size=400))
    net = gw.MarkovNetwork(loss="likelihood", lam=0.02)
    objective, weights = net.fit(table).objective_, net.model_.potentials.weights
    here = net.fit(gw.count_pairs(table))
    assert here.objective_ == pytest.approx(objective, rel=1e-9)
    np.testing.assert_allclose(here.model_.potentials.weights, weights, atol=1e-5)


def test_counts_of_two_hospitals_give_the_network_of_all_rows():
    table = load_mushroom().take_columns(["class", "odor", "bruises", "gill-size", "habitat"])
    first, second = table.split(0.3, 0)
    counts = gw.count_pairs(first) + gw.count_pairs(second)
    net = gw.MarkovNetwork(loss="likelihood", lam=0.01)
    there = net.fit(table)
    objective, weights = there.objective_, there.model_.potentials.weights
    here = net.fit(counts)
    assert here.objective_ == pytest.approx(objective, abs=1e-12)
    unary = here.model_.potentials.layout.n_unary
    seen = np.concatenate(gw.count_pairs(table).state_counts) > 0
    found = here.model_.potentials.weights
    np.testing.assert_allclose(found[:unary][seen], weights[:unary][seen], atol=1e-10)
    np.testing.assert_allclose(found[unary:], weights[unary:], atol=1e-10)


def test_what_follows_a_fit_works(tmp_path):
    counts = gw.count_pairs(rows_of())
    net = gw.MarkovNetwork(loss="likelihood", lam=0.05).fit(counts)
    text = net.summary()
    assert "400 rows of 7 variables" in text
    assert "Learned from counts of pairs of states" in text
    assert net.certificate_.converged
    net.save(tmp_path / "net.gw")
    assert gw.load(tmp_path / "net.gw") == net.model_
    net.plot(tmp_path / "net.png")
    net.explore(tmp_path / "net.html")
    assert len(net.edges_) == net.model_.n_edges
    assert 0 < net.edges_["strength"].max() <= 1
    assert net.data_.n_rows == 400
    assert net.score(rows_of()) < 0
    assert len(net.predictability(rows_of())) == 7
    assert net.communities()["x0"] == 1
    assert net.n_features_in_ == 7
    assert net.names_ == counts.names


def test_a_tree_from_counts_has_the_frequencies_of_the_rows():
    counts = gw.count_pairs(rows_of(n_rows=5000))
    net = gw.MarkovNetwork(method="chow-liu", loss="likelihood", penalty="none").fit(counts)
    assert sorted(net.model_.edges) == [(f"x{i}", f"x{i + 1}") for i in range(6)]
    found = net.model_.marginals(evidence={"x0": 1})["x1"]
    own = counts.table("x0", "x1")[1]
    np.testing.assert_allclose(found, own / own.sum(), atol=1e-5)


def test_missing_may_be_a_state():
    rows = [["a", "x"], ["b", None], ["a", "x"], ["b", "y"]] * 30
    net = gw.MarkovNetwork(loss="likelihood", lam=0.02, missing="state")
    objective = net.fit(rows).objective_
    counts = gw.count_pairs(rows, missing="state")
    for missing in ("state", "error"):
        here = gw.MarkovNetwork(loss="likelihood", lam=0.02, missing=missing).fit(counts)
        assert here.objective_ == pytest.approx(objective, abs=1e-12)
        assert here.missing_.policy == "state"
        assert "Missing is a state of its own, (missing), of 'x1'" in " ".join(
            here.summary().split()
        )
        assert here.score([["b", None]]) == pytest.approx(net.score([["b", None]]), abs=1e-6)


def test_states_that_never_occur_are_unlikely():
    states = {"x1": [0, 1, 2, 7]}
    table = gw.as_table(rows_of(), states=states)
    net = gw.MarkovNetwork(loss="likelihood", lam=0.02)
    there = net.fit(table).model_
    here = net.fit(gw.count_pairs(table)).model_
    assert here.edges == there.edges
    a, b = (model.marginals()["x1"][3] for model in (here, there))
    assert 0.2 * b < a < 5 * b
    assert a < 0.01


ROWS_NEEDED = {
    "the default": ({}, "loss='likelihood'"),
    "pseudo-likelihood": ({"lam": 0.1}, "loss='likelihood'"),
    "tree": ({"method": "chow-liu"}, "loss='likelihood'"),
    "tests": ({"loss": "likelihood"}, "criterion='ebic'"),
    "prediction": ({"loss": "likelihood", "goal": "prediction"}, "criterion='ebic'"),
    "stars": ({"loss": "likelihood", "criterion": "stars"}, "criterion='ebic'"),
    "impute": ({"loss": "likelihood", "lam": 0.1, "missing": "impute"}, "when rows are counted"),
    "drop": ({"loss": "likelihood", "lam": 0.1, "missing": "drop-rows"}, "when rows are counted"),
    "bins": ({"loss": "likelihood", "lam": 0.1, "bins": 3}, "bins to count_pairs"),
    "states": ({"loss": "likelihood", "lam": 0.1, "states": {"x0": [0]}}, "states to count_pairs"),
}


@pytest.mark.parametrize(("settings", "told"), ROWS_NEEDED.values(), ids=ROWS_NEEDED)
def test_what_needs_rows_is_refused(settings, told):
    with pytest.raises(ParameterError, match=told) as refused:
        gw.MarkovNetwork(**settings).fit(gw.count_pairs(rows_of()))
    assert "\n" not in str(refused.value)


def test_calls_that_need_rows_are_refused():
    counts = gw.count_pairs(rows_of())
    net = gw.MarkovNetwork(loss="likelihood", lam=0.1).fit(counts)
    calls = [
        lambda: net.bootstrap(counts, 5),
        lambda: net.score(counts),
        lambda: net.predictability(counts),
        lambda: net.predictability(counts, held_out=3),
        lambda: net.estimate(counts),
        lambda: net.impute(counts),
        lambda: gw.as_table(counts),
        lambda: gw.compare_groups(counts, by="x0"),
    ]
    for call in calls:
        with pytest.raises(DataError, match="counts of pairs hold no rows"):
            call()
    with pytest.raises(ParameterError, match="sample_weight is for rows"):
        net.fit(counts, sample_weight=np.ones(400))
