"""What an explanation adds up to, against sums of weights written down plainly."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import graftwork as gw
from graftwork.errors import DataError
from graftwork.models import ChainModel

LABELS = ("D", "N", 3)
NAMES = ("the", "dog", "x", "never")


def random_chain(seed, order):
    rng = np.random.default_rng(seed)
    n = len(LABELS)
    n_outputs = n if order == 1 else n + n * n
    places = rng.choice(len(NAMES) * n_outputs, size=min(15, len(NAMES) * n_outputs), replace=False)
    shape = (n, n, n) if order == 2 else (0, 0, 0)
    votes = places // n_outputs, places % n_outputs, rng.normal(size=len(places))
    return ChainModel(LABELS, NAMES, order, *votes, rng.normal(size=(n, n)), rng.normal(size=shape))


def total(model, items, codes):
    """The sum of all weights of a labelling, straight from the definition of a chain."""
    n, out = len(model.labels), 0.0
    votes = {(a, o): w for a, o, w in zip(model.vote_attributes, model.vote_outputs,
                                          model.vote_weights, strict=True)}  # fmt: skip
    for t, item in enumerate(items):
        for name, value in item.items():
            a = NAMES.index(name) if name in NAMES else -1
            out += votes.get((a, codes[t]), 0.0) * value
            if t > 0:
                out += votes.get((a, n + codes[t - 1] * n + codes[t]), 0.0) * value
        if t > 0:
            out += model.pairs[codes[t - 1], codes[t]]
        if t > 1 and model.order == 2:
            out += model.triples[codes[t - 2], codes[t - 1], codes[t]]
    return out


def random_items(seed, length):
    rng = np.random.default_rng(seed)
    return [
        {str(name): float(value) for name, value in zip(NAMES[:3], rng.normal(size=3), strict=True)
         if rng.random() < 0.7}
        for _ in range(length)
    ]  # fmt: skip


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("length", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_scores_are_what_changing_one_label_changes(seed, length, order):
    model, items = random_chain(seed, order), random_items(seed + 9, length)
    found = model.explain(items)
    every = list(itertools.product(range(3), repeat=length))
    best = max(every, key=lambda codes: total(model, items, codes))
    assert found.predicted == tuple(LABELS[c] for c in best)
    for t in range(length):
        changed = [total(model, items, (*best[:t], c, *best[t + 1 :])) for c in range(3)]
        np.testing.assert_allclose(np.diff(found.scores[t]), np.diff(changed), atol=1e-12)
    weights = np.exp([total(model, items, codes) for codes in every])
    for t, c in itertools.product(range(length), range(3)):
        share = sum(w for w, codes in zip(weights, every, strict=True) if codes[t] == c)
        assert found.probabilities[t, c] == pytest.approx(share / weights.sum())


@pytest.mark.parametrize("order", [1, 2])
def test_contributions_add_up_and_are_in_order(order):
    model, items = random_chain(1, order), random_items(3, 4)
    found = model.explain(items)
    sums = np.zeros_like(found.scores)
    for record in found.records():
        sums[record["position"], LABELS.index(record["label"])] += record["contribution"]
        assert record["contribution"] == record["weight"] * record["value"] != 0
        assert record["predicted"] == (record["label"] == found.predicted[record["position"]])
    np.testing.assert_allclose(sums, found.scores)
    for t, label in itertools.product(range(4), LABELS):
        sizes = [abs(c.contribution) for c in found.of(t, label)]
        assert sizes == sorted(sizes, reverse=True)
    frame = found.to_frame()
    assert len(frame) == len(found.contributions)
    assert frame["contribution"].dtype == float
    looked = {(len(c.after), len(c.before)) for c in found.contributions}
    assert looked == {(0, 0), (1, 0), (0, 1)} | ({(2, 0), (1, 1), (0, 2)} if order == 2 else set())


def test_matrices_unknown_attributes_and_empty_sequences():
    X, y = [[[1.0, 0.0], [0.0, 1.0]]] * 9, [["A", "B"]] * 9
    crf = gw.ChainCRF(lam=0.01).fit([np.array(x) for x in X], y)
    assert crf.explain(np.array(X[0])).predicted == ("A", "B")
    model = random_chain(0, 1)
    assert model.explain([]).contributions == ()
    assert str(model.explain([])) == "The sequence is empty."
    assert all(c.attribute is None for c in model.explain([{"new": 1.0}, {}]).contributions)


def test_labels_that_python_takes_for_equal():
    votes = np.array([0, 0]), np.array([0, 1]), np.array([1.0, 3.0])
    model = ChainModel((1, True), ("a",), 1, *votes, np.zeros((2, 2)), np.zeros((0, 0, 0)))
    found = model.explain([["a"]])
    assert found.predicted[0] is True
    assert found.scores.tolist() == [[1.0, 3.0]]


def test_what_is_no_sequence_is_refused():
    model = random_chain(0, 1)
    with pytest.raises(DataError, match="there are 1 words for 2 positions"):
        model.explain([["the"], ["dog"]], words=["the"])
    with pytest.raises(DataError):
        model.explain([[{"the": 1.0}, {"dog": 1.0}]])
    with pytest.raises(DataError):
        model.explain(7)
