"""Chains say where they know none of the attributes that they are asked about."""

from __future__ import annotations

import warnings

import pytest

import graftwork as gw
from graftwork.errors import DataError, DataWarning
from graftwork.models import ChainModel

WORDS = ["the", "dog", "barks", "loudly"] * 8
X = [[{"w": f"{word}{k}", "first": k == 0} for k, word in enumerate(WORDS)]] * 5
Y = [["D", "N", "V", "A"] * 8] * 5


@pytest.fixture(scope="module")
def model() -> ChainModel:
    return gw.ChainCRF(lam=1e-4).fit(X, Y).model_


@pytest.mark.parametrize("ask", ["predict", "marginals", "predict_marginals", "explain"])
def test_attributes_of_another_template_are_refused(model, ask):
    given = [[f"word[0]={word}"] for word in WORDS]
    with pytest.raises(DataError, match=r"none of the 4 attributes is .* 'word\[0\]=the', but the"):
        getattr(model, ask)(given if ask == "explain" else [given])


def test_few_new_words_are_new_words(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict([[{"w": "zebra"}], []]) == [["A"], []]
        assert len(model.predict(X)[0]) == 32
        assert model.predict([[[]]]) == [["A"]]


def test_many_new_words_are_told(model):
    with pytest.warns(DataWarning, match="none of the 32 attributes is known to the model"):
        model.predict([[{"w": f"{word.upper()}{k}"} for k, word in enumerate(WORDS)]])


def test_hardly_any_known(model):
    new = [{f"f{j}": f"{k}" for j in range(20)} for k in range(10)]
    with pytest.raises(DataError, match="only 1 of the 201 attributes are known"):
        model.predict([[{"first": True}, *new]])
    with pytest.warns(DataWarning, match="only 1 of the 201 attributes are known"):
        model.predict([[{"w": "the0"}, *new]])
