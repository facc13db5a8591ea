"""Odd arguments: one clear sentence of a readable length, never an error of Python."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import graftwork as gw
from graftwork.errors import DataError, DataWarning, GraftworkError, ParameterError

ROWS = {"a": [0, 1] * 50, "b": [0, 1, 1, 0] * 25, "c": [1, 2, 3, 4] * 25}
LONG = "x" * 100_000


@pytest.fixture(scope="module")
def net():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gw.MarkovNetwork(lam=0.001).fit(ROWS | {"d": ROWS["a"][:90] + [0] * 10})


@pytest.mark.parametrize("name", ["lam", "fdr", "tol", "max_seconds", "n_jobs", "penalty", "loss"])
@pytest.mark.parametrize("value", [LONG, "x y " * 50_000, [LONG], 10**400])
def test_messages_do_not_repeat_what_is_long(name, value):
    if (name, value) == ("n_jobs", 10**400):
        return  # as many threads as there are cores
    with pytest.raises(GraftworkError, match=name) as caught:
        gw.MarkovNetwork(**{name: value}).fit(ROWS)
    assert len(str(caught.value)) <= 2000


def test_long_and_harmful_names_in_errors_and_warnings(net):
    for call in (
        lambda: net.model_.marginals({LONG: 1}),
        lambda: net.model_.marginals({"a": LONG}),
        lambda: gw.read_table(LONG),
        lambda: gw.scan(LONG),
        lambda: gw.load(LONG),
        lambda: gw.MarkovNetwork().fit(LONG),
        lambda: gw.as_table(ROWS, states={LONG: [1]}),
    ):
        with pytest.raises(GraftworkError) as caught:
            call()
        assert len(str(caught.value)) < 1000
    with pytest.warns(DataWarning) as seen:
        gw.MarkovNetwork(lam=1).fit({LONG: range(100), "a": ROWS["a"]})
    assert all(len(str(each.message)) <= 2000 for each in seen)
    with pytest.raises(GraftworkError, match=r"^a\\u001b\[31m: ") as caught:
        gw.read_table("a\x1b[31m")
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("meanings", ["x", b"x", 3, ["a"], {"a": 3, "d": 3}])
def test_meanings_that_are_none(net, meanings):
    with pytest.raises(ParameterError, match="meanings must be a dict of variables"):
        net.summary(meanings=meanings)


@pytest.mark.parametrize("title", [b"", b"x", 3, ["a"]])
def test_titles_that_are_none(net, title, tmp_path):
    with pytest.raises(ParameterError, match="title must be a text"):
        net.explore(tmp_path / "page.html", title=title)


def test_ordinal_as_an_array():
    none = gw.MarkovNetwork(lam=0.05, ordinal=np.array([])).fit(ROWS)
    assert none.model_.scores == {}
    named = gw.MarkovNetwork(lam=0.05, ordinal=np.array(["c"])).fit(ROWS)
    assert set(named.model_.scores) == {"c"}
    for odd in (np.array(3), np.array([["c"]])):
        with pytest.raises(ParameterError, match="ordinal must be"):
            gw.MarkovNetwork(lam=0.05, ordinal=odd).fit(ROWS)


def test_whole_numbers_larger_than_any_float():
    rows = {"a": [0, 10**400] * 50, "b": ROWS["b"]}
    assert gw.MarkovNetwork(lam=0.05).fit(rows).model_.states["a"] == (0, 10**400)
    with pytest.raises(ParameterError, match="has the states 0, 1, 2, 1000"):
        gw.MarkovNetwork(lam=0.05, ordinal=["a"]).fit({"a": [0, 1, 10**400, 2], "b": [0, 1, 1, 0]})


def test_arrays_without_rows_or_columns_are_not_scanned():
    for odd in (np.array(3), np.array([3]), np.zeros((2, 2, 2))):
        with pytest.raises(DataError, match="Expected 2D array"):
            gw.scan(odd).store()


@pytest.mark.parametrize("name", ["a\ud800", "a\0b"])
def test_names_that_no_file_can_have(net, name, tmp_path):
    path = f"{tmp_path}/{name}"
    for read in (gw.read_table, gw.scan, gw.as_table, gw.load, gw.MarkovNetwork().fit):
        with pytest.raises(GraftworkError, match="there is no") as caught:
            read(path)
        assert str(caught.value).encode()
    for write in (net.save, lambda each: net.model_.export(each + ".graphml")):
        with pytest.raises(FileNotFoundError, match="No file can have such a name"):
            write(path)


ODD_CALLS = [
    (lambda net: net.model_.sample(3, random_state=0.5), "random_state is 0.5; use"),
    (lambda net: list(net.model_.sample_parts(3, random_state="x")), "random_state is 'x'; use"),
    (lambda net: net.model_.score(net.sample(3), n_jobs=int), "n_jobs must be a whole number"),
    (lambda net: net.model_.score(net.sample(3), missing=np.eye(2)), "missing is array"),
    (lambda net: net.model_.export("x.csv", format=[1]), r"there is no format \[1\]"),
    (lambda net: net.model_.export("x.csv", info="x"), "info must be a dict"),
    (lambda net: net.model_.save("x.gw", info=3), "info must be a dict"),
    (lambda net: net.model_.refit(l2="x"), "l2 must be a number"),
    (lambda net: gw.label_scores(0.5, 0.5), "truth is 0.5; pass a list"),
    (lambda net: gw.label_scores([[[1]]], [[[1]]]), r"truth has \[1\] where a label"),
]


@pytest.mark.parametrize(("call", "words"), ODD_CALLS)
def test_odd_arguments_of_methods(net, call, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GraftworkError, match=words):
        call(net)
    assert not list(tmp_path.iterdir())


def test_what_is_no_template_is_not_saved(tmp_path):
    crf = gw.ChainCRF(lam=0.01).fit([[{"w": 1}, {"v": 1}]], [["A", "B"]])
    with pytest.raises(DataError, match="template must be a graftwork"):
        crf.save(tmp_path / "c.gw", template="x")


@pytest.mark.parametrize("top", [[1], "x", 0.5])
def test_odd_numbers_of_lines_of_a_summary(net, top):
    crf = gw.ChainCRF(lam=0.01).fit([[{"w": 1}, {"v": 1}]], [["A", "B"]])
    for each in (net, crf):
        with pytest.raises(ParameterError, match="top must be a whole number"):
            each.summary(top=top)


def test_a_huge_amount_of_memory_and_an_array_for_a_method(net):
    with pytest.raises(ParameterError, match="table_memory is 1"):
        gw.MarkovNetwork(table_memory=10**400).fit(ROWS)
    with pytest.raises(DataError, match="method is array"):
        net.model_.sample(3, method=np.eye(2))
    with pytest.raises(DataError, match="the name of the file is empty"):
        gw.scan("")
    with pytest.raises(GraftworkError):
        gw.ChainCRF().fit(np.array(3), np.array(3))
