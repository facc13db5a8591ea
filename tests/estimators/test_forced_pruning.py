"""The estimator with a given number of edges: sizes, odd tables, weights, losses, seeds."""

from itertools import pairwise

import numpy as np
import pytest

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
    ("rule", "loss"),
    [("descent", {"loss": "likelihood"}), ("greedy", {"loss": "likelihood", "inference": "bp"}),
     ("rejection", {}), ("mcmc", {"loss": "likelihood"})],
)  # fmt: skip
def test_every_loss_and_rule(rule, loss):
    net = fit(method_options={"delete": rule, "rounds": 2, "exchange": 2}, **loss)
    assert net.model_.n_edges == 6
    assert np.isfinite(net.score(TABLE))


@pytest.mark.parametrize("penalty", ["group-l1", "l1", "l2", "none"])
def test_every_penalty(penalty):
    options = {} if penalty == "none" else {"l2": 0.001, "unary": 0.01}
    net = fit(penalty=penalty, lam=0.01, **options)
    assert 0 < net.model_.n_edges <= 6
    assert net.lam_ == (0.0 if penalty == "none" else 0.01)


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
