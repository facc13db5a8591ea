"""Chains say where they know none of the attributes that they are asked about."""

from __future__ import annotations

import warnings

import pytest

import graftwork as gw
from graftwork.errors import DataWarning
from graftwork.models import ChainModel

WORDS = ["the", "dog", "barks", "loudly"] * 8
X = [[{"w": f"{word}{k}", "first": k == 0} for k, word in enumerate(WORDS)]] * 5
Y = [["D", "N", "V", "A"] * 8] * 5


@pytest.fixture(scope="module")
def model() -> ChainModel:
    return gw.ChainCRF(lam=1e-4).fit(X, Y).model_


@pytest.mark.parametrize("ask", ["predict", "marginals", "predict_marginals", "explain"])
def test_attributes_of_another_template_are_pointed_out(model, ask):
    given = [[f"word[0]={word}"] for word in WORDS]
    with pytest.warns(DataWarning, match=r"none of the 4 attributes has .* 'word\[0\]=the', and"):
        getattr(model, ask)(given if ask == "explain" else [given])


def test_few_new_words_are_new_words(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict([[{"w": "zebra"}], []]) == [["A"], []]
        assert len(model.predict(X)[0]) == 32
        assert model.predict([[[]]]) == [["A"]]


def test_many_new_words_are_pointed_out(model):
    with pytest.warns(DataWarning, match="none of the 32 attributes has a weight in the model"):
        model.predict([[{"w": f"{word.upper()}{k}"} for k, word in enumerate(WORDS)]])


def test_hardly_any_known(model):
    new = [{f"f{j}": f"{k}" for j in range(20)} for k in range(10)]
    with pytest.warns(DataWarning, match="only 1 of the 201 attributes have a weight"):
        model.predict([[{"first": True}, *new]])
    with pytest.warns(DataWarning, match="only 1 of the 201 attributes have a weight"):
        model.predict([[{"w": "the0"}, *new]])


def test_a_sentence_is_labelled_alike_alone_and_with_others():
    """Attributes that the penalty left without a weight are no reason to refuse it."""
    X = [[["t:x", f"w:{k}"], [f"t:{'xy'[k % 2]}", f"w:{k}"]] for k in range(30)]
    crf = gw.ChainCRF(lam=0.05).fit(X, [["A", "AB"[k % 2]] for k in range(30)])
    assert {name[:2] for name in crf.model_.attributes} == {"t:"}
    dropped = [["w:1"], ["w:2"]]
    together = crf.predict([*X, dropped])[-1]
    with pytest.warns(DataWarning, match="none of the 2 attributes has a weight"):
        alone = crf.predict([dropped])
    assert alone == [together]
    with pytest.warns(DataWarning, match="none of the 2 attributes has a weight"):
        found = crf.explain(dropped)
    assert found.predicted == tuple(together)
