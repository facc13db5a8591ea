from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from graftwork.data import Table
from graftwork.grafting.certificate import Certificate
from graftwork.models import PairwiseMRF
from graftwork.report import HeldOut, held_out, summary
from graftwork.report.summary import network_words

STATES = (("no", "yes"), ("n", "y"), ("k", "l"))


@pytest.fixture
def train():
    rng = np.random.default_rng(0)
    first = rng.integers(2, size=100)
    codes = np.stack([first, np.where(rng.random(100) < 0.9, first, 1 - first), np.zeros(100, int)])
    return Table(("smokes", "coughs", "fixed"), STATES, codes)


@pytest.fixture
def model():
    states = dict(zip(("smokes", "coughs", "fixed"), STATES, strict=True))
    unary = {"fixed": [5.0, -5.0]}
    return PairwiseMRF(states, unary, {("smokes", "coughs"): [[1.1, -1.1], [-1.1, 1.1]]})


def fitted(model, n_edges=1):
    certificate = Certificate(0.0, 1e-7, 1e-6, 1.0, 0.9, 0.1, n_edges, 2, 2, True, True, "optimal")
    return SimpleNamespace(
        model_=model,
        certificate_=certificate,
        penalty="group-l1",
        lam_=0.1,
        lam_words_="lambda 0.1 was given.",
        refitted_=False,
    )


def test_everything_is_said(train, model):
    score = held_out(model, train, train)
    text = summary(fitted(model), train, held_out=score, meanings={"coughs": {"y": "often"}})
    for part in (
        "100 rows of 3 variables, 2 states each",
        "1 variable never changes: fixed",
        "1 edge among 3 variables, 33.3% of all pairs",
        "One is not connected to others: fixed",
        "Lambda 0.1 was given.",
        "100 rows held out",
        "smokes = yes goes with coughs = often",
        "Optimal within 1e-06",
    ):
        assert part in " ".join(text.split()), part
    assert max(map(len, text.splitlines())) <= 88


def test_features_and_no_penalty_are_said(train, model):
    net = fitted(model)
    net.certificate_ = replace(net.certificate_, unit="feature")
    net.trace_ = [SimpleNamespace(blocks=3)]
    net.penalty, net.lam_ = "none", 0.0
    text = " ".join(summary(net, train).split())
    assert "The edges carry 3 features, single entries of their tables." in text
    assert "Penalty There is no penalty." in text
    assert "All 2 features left out were tested" in text
    net.refitted_ = True
    assert "carry" not in summary(net, train)


def test_no_rows_held_out_is_said(train, model):
    assert "too few" in summary(fitted(model), train, no_held_out="There were too few rows.")


def test_held_out_compares_with_counting(train, model):
    score = held_out(model, train, train)
    assert score.independent > score.nlpl
    assert score.nlpl == pytest.approx(-model.log_pseudo_likelihood(train).mean())
    assert "times the probability" in score.words()
    counts = np.array([c + 0.5 for c in train.observed()])
    logs = np.log(counts / counts.sum(axis=1, keepdims=True))
    by_hand = sum(logs[j][train.codes[j]] for j in range(3))
    assert score.independent == pytest.approx(-by_hand.mean())


def test_held_out_uses_weights(train, model):
    weights = np.arange(100) == 3
    one = held_out(model, train, train.with_weights(weights.astype(float)))
    row = train.take_rows([3])
    assert one.nlpl == pytest.approx(-model.log_pseudo_likelihood(row)[0])


def test_worse_and_equal_are_said_too():
    assert "WORSE" in HeldOut(3.0, 2.0, 10, 2).words()
    assert "no better" in HeldOut(2.0, 2.0, 10, 2).words()


def test_networks_in_words(model):
    assert network_words(PairwiseMRF({"a": [0, 1]})).startswith("0 edges")
    names = [f"v{i}" for i in range(40)]
    star = PairwiseMRF(
        {name: [0, 1] for name in names},
        None,
        {("v0", name): [[1, 0], [0, 1]] for name in names[1:20]},
    )
    text = network_words(star)
    assert "and 8 more" in text
    assert "Best connected: v0 (19 edges)" in text
