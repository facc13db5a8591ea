"""The estimator with a given number of edges: sizes, odd tables, weights, losses, seeds."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone

import graftwork as gw
from graftwork.parameters import gather

from support.problems import random_table

TABLE = random_table(3, n=7, rows=250, most=3)


def fit(data=TABLE, **options):
    options = {"max_edges": 6, "random_state": 0, "n_jobs": 1} | options
    return gw.MarkovNetwork("forced-pruning", **gather(options)).fit(data)


def test_it_has_exactly_as_many_edges_as_asked_for_and_says_what_it_did():
    net = fit()
    assert net.model_.n_edges == net.graph_.number_of_edges() == 6
    assert net.lam_ == 0
    assert net.choice_.how == "sized"
    assert not net.refitted_
    assert net.certificate_.stop == "searched"
    assert not net.certificate_.converged
    assert net.exchange_.best <= net.exchange_.first
    assert net.info()["exchange"]["rounds"] == net.exchange_.rounds
    prior = (
        0.5 / TABLE.n_rows * sum((net.model_.table(a, b) ** 2).sum() for a, b in net.model_.edges)
    )
    assert net.objective_ == pytest.approx(-net.score(TABLE) + prior, abs=1e-9)


@pytest.mark.parametrize(
    "loss", [{}, {"loss": "likelihood"}, {"loss": "likelihood", "inference": "bp"}]
)
@pytest.mark.parametrize("rule", ["descent", "greedy", "rejection", "mcmc"])
def test_every_loss_and_rule(rule, loss):
    net = fit(method_options={"delete": rule, "rounds": 2, "exchange": 2}, **loss)
    assert net.model_.n_edges == 6
    assert np.isfinite(net.score(TABLE))


@pytest.mark.some(3)
@pytest.mark.parametrize("penalty", ["group-l1", "l1", "elastic-net", "l2", "none"])
@pytest.mark.parametrize("unary", [False, 0.01])
def test_every_penalty(penalty, unary):
    options = {} if penalty == "none" else {"l2": 0.001, "unary": unary}
    net = fit(penalty=penalty, lam=0.01, **options)
    assert 0 < net.model_.n_edges <= 6
    assert net.lam_ == (0.0 if penalty == "none" else 0.01)


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(4)
    weights = rng.integers(0, 4, TABLE.n_rows)
    repeated = gw.Table(TABLE.names, TABLE.states, np.repeat(TABLE.codes, weights, axis=1))
    alone = gw.MarkovNetwork("forced-pruning", max_edges=6, random_state=0)
    weighted = clone(alone).fit(TABLE, sample_weight=weights)
    plain = clone(alone).fit(repeated)
    assert weighted.model_.edges == plain.model_.edges
    assert weighted.objective_ == pytest.approx(plain.objective_, abs=1e-9)


def test_it_starts_from_what_is_given():
    tree = gw.MarkovNetwork("chow-liu").fit(TABLE)
    names = TABLE.names
    for start in ("chow-liu", tree, tree.model_, [(names[0], names[5]), (names[1], names[2])]):
        net = fit(start=start)
        assert net.model_.n_edges == 6
    unchanged = fit(start=tree, method_options={"rounds": 0})
    assert set(unchanged.model_.edges) == set(tree.model_.edges)
    kept = fit(start=tree, max_edges=None, method_options={"rounds": 0})
    assert set(kept.model_.edges) == set(tree.model_.edges)


def test_rounds_never_make_it_worse():
    values = [
        fit(max_edges=9, method_options={"rounds": rounds}).objective_ for rounds in (0, 1, 4, 50)
    ]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(values))
    assert values[-1] < values[0] - 1e-3


ODD = {
    "one row": np.array([[0, 1, 2]]),
    "two rows": np.array([[0, 1, 2], [1, 1, 0]]),
    "one column": np.array([[0], [1], [1]]),
    "all constant": np.ones((9, 4), dtype=int),
    "a constant column": np.c_[np.ones(40, int), np.arange(120).reshape(40, 3) % 7 % 2],
    "copies": np.repeat(np.random.default_rng(0).integers(0, 2, (50, 2)), 2, axis=1),
    "300 states": np.c_[np.arange(600) % 300, np.arange(600) % 2, np.arange(600) % 3],
    "huge ints": np.random.default_rng(1).choice([10**18, -(10**18), 7], (50, 4)),
}


@pytest.mark.some(3)
@pytest.mark.parametrize("rule", ["descent", "greedy", "rejection", "mcmc"])
@pytest.mark.parametrize("name", ODD)
def test_odd_tables(name, rule):
    rows = ODD[name]
    net = gw.MarkovNetwork(
        "forced-pruning", max_edges=3, random_state=0, n_jobs=1,
        method_options={"delete": rule, "rounds": 3}, tie=3,
    ).fit(rows)  # fmt: skip
    varying = sum(len(set(column)) > 1 for column in rows.T.tolist())
    assert net.model_.n_edges <= min(3, varying * (varying - 1) // 2)
    assert np.isfinite(net.score(rows))
    if name == "copies":
        assert net.model_.n_edges == 3


def test_unicode_names_and_states_stay():
    rng = np.random.default_rng(2)
    data = {"größe": rng.choice(["klein", "groß"], 80), "色": rng.choice(["赤", "青", "緑"], 80)}
    data["☂"] = np.where(data["größe"] == "klein", "ja", "nein")
    net = gw.MarkovNetwork("forced-pruning", max_edges=2, random_state=0).fit(data)
    assert ("größe", "☂") in net.model_.edges
    assert net.model_.n_edges == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method_options": {"delete": "best"}}, "descent, greedy, rejection, mcmc"),
        ({"method_options": {"exchange": 0}}, "exchange"),
        ({"method_options": {"swap": 3}}, "exchange"),
        ({"max_edges": -1}, "max_edges"),
        ({"max_edges": 2.5}, "max_edges"),
    ],
)
def test_what_means_nothing_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        fit(**options)


def test_too_many_edges_are_said():
    net = fit(max_edges=100)
    assert net.model_.n_edges == 21
    assert net.certificate_.converged
    assert (net.exchange_.wanted, net.exchange_.shortfall) == (100, "no-pairs")
    late = fit(max_edges=9, max_seconds=0)
    assert "seconds" in (late.exchange_.ended, late.exchange_.shortfall)
    default = fit(max_edges=None)
    assert (default.exchange_.wanted, default.exchange_.shortfall) == (None, None)
    assert fit(max_edges=6.0).model_.n_edges == 6


def test_unconverged_inference_does_not_win_and_is_told():
    rng = np.random.default_rng(0)
    base = rng.integers(0, 2, 60)
    rows = np.stack([base ^ (rng.random(60) < 0.02) for _ in range(7)], axis=1).astype(int)
    options = {"loss": "likelihood", "inference": "bp", "max_edges": 15}
    with pytest.warns(gw.ConvergenceWarning, match="not solved"):
        net = fit(rows, method_options={"delete": "rejection", "rounds": 3}, **options)
    assert net.model_.n_edges == 15
    assert not net.certificate_.trusted
