"""Numbers of summaries against sums over the rows; their words are in golden/."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.data import Table
from graftwork.report import held_out

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
    return gw.PairwiseMRF(states, unary, {("smokes", "coughs"): [[1.1, -1.1], [-1.1, 1.1]]})


def test_held_out_compares_with_counting(train, model):
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


def test_penalised_weights_are_told_with_their_distance():
    table = gw.datasets.load_adhd()
    symptoms = table.take_columns([name for name in table.names if name != "group"])
    net = gw.MarkovNetwork(n_jobs=1, lam=0.005).fit(symptoms)
    found = net.model_.marginals(inference="exact")
    apart = [abs(found[name][1] - np.mean(symptoms[name])) for name in symptoms.names]
    assert max(apart) > 0.05
    text = " ".join(net.summary().split())
    assert f"the largest difference is {100 * max(apart):.1f} points" in text
