import re
from dataclasses import replace

import numpy as np
import pytest

from graftwork.data import Table
from graftwork.estimators import MarkovNetwork
from graftwork.models import PairwiseMRF
from graftwork.report import HeldOut, held_out, summary

from doors.report import network_text

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


SUMMARY = """\
Data
  100 rows of 3 variables, 2 states each. 1 variable never changes: fixed.

Network
  1 edge among 3 variables, 33.3% of all pairs. Not connected to any other: fixed. That
  holds if variables depend in pairs: what only three or more show together, as in an
  exclusive or, is not looked for.

Lambda
  Lambda 0.1 was given.

Prediction
  There were too few rows.

The only edge
  smokes - coughs  strength 0.46, weight +1.99: smokes = yes goes with coughs = often;
    smokes = yes avoids coughs = n

Certificate
  Optimal within 1e-06. No pair was left out. The active edge is stationary to 0.0e-07.
  All these numbers are exact.
"""


def test_a_whole_summary(train):
    net = MarkovNetwork(lam=0.1).fit(train)
    meanings, why = {"coughs": {"y": "often"}}, "There were too few rows."
    for rows in (train, None):
        text = summary(net, rows, meanings=meanings, no_held_out=why)
        assert re.sub(r"\d\.\de-07", "0.0e-07", text) == SUMMARY


def test_features_are_counted(train):
    net = MarkovNetwork("grafting-light", lam=0.05, penalty="l1").fit(train)
    features = np.count_nonzero(net.model_.table("smokes", "coughs"))
    text = " ".join(summary(net, train).split())
    assert f"The edges carry {features} features, single entries of their tables." in text
    net.fit_ = replace(net.fit_, refitted=True)
    assert "carry" not in summary(net, train)


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
    assert network_text(PairwiseMRF({"a": [0, 1]})).startswith("0 edges")
    names = [f"v{i}" for i in range(40)]
    star = PairwiseMRF(
        {name: [0, 1] for name in names},
        None,
        {("v0", name): [[1, 0], [0, 1]] for name in names[1:20]},
    )
    text = network_text(star)
    assert "and 8 more" in text
    assert "Best connected: v0 (19 edges)" in text


def test_no_edge_does_not_exclude_what_only_three_variables_show():
    rng = np.random.default_rng(0)
    first, second, coin = rng.integers(0, 2, (3, 400))
    either = np.stack([first, second, first ^ second, coin, np.where(coin, coin, first)], axis=1)
    said = "That holds if variables depend in pairs: what only three or more show together"
    net = MarkovNetwork().fit(either[:, :3])
    assert net.model_.n_edges == 0
    assert " ".join(net.summary().split()).count(said) == 1
    assert " ".join(MarkovNetwork().fit(either).summary().split()).count(said) == 1
    assert said not in network_text(PairwiseMRF({"a": [0, 1], "b": [0, 1]}))
    pair = {("a", "b"): [[1, 0], [0, 1]], ("b", "c"): [[1, 0], [0, 1]]}
    assert said not in network_text(PairwiseMRF({name: [0, 1] for name in "abc"}, None, pair))


def test_intervals_of_bent_edges_with_few_rows_are_said_to_be_narrow():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 5, 400)
    second = np.clip(np.abs(first - 2) + rng.integers(0, 3, 400), 0, 4)
    rows = np.stack([first, second], axis=1)
    few = MarkovNetwork(ordinal=True, random_state=0).fit(rows)
    many = MarkovNetwork(ordinal=True, random_state=0).fit(np.tile(rows, (4, 1)))
    for net, said in ((few, True), (many, False)):
        assert len(net.evidence_.curved) == 1
        words = "Edges that are not linear have up to 16 numbers each"
        assert (words in " ".join(net.summary().split())) == said
        assert any(words in remark for remark in net.info()["remarks"]) == said
