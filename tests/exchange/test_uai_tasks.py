"""Evidence in both dialects, results of PR and MAR."""

from __future__ import annotations

import numpy as np
import pytest

import graftwork as gw
from graftwork.errors import DataError, ModelFileError
from graftwork.exchange import (
    read_evidence,
    read_marginals,
    read_partition,
    write_evidence,
    write_marginals,
    write_partition,
)

from support.made_networks import NETWORKS, enumerate_model

MODEL = gw.PairwiseMRF({"a": ["no", "yes"], "b": [1, 2, 3], "c": [True], "d": [0, 1]})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", [{}]),
        ("1 0", [{}]),
        ("1 1 2", [{"b": 3}]),
        ("2 0 1 1 0", [{"a": "yes", "b": 1}]),
        ("1\n2 0 1 1 0", [{"a": "yes", "b": 1}]),
        ("2\n1 0 1\n1 0 0", [{"a": "yes"}, {"a": "no"}]),
        ("3\n0\n1 2 0\n2 0 0 1 1", [{}, {"c": True}, {"a": "no", "b": 2}]),
    ],
)
def test_both_dialects_are_read(text, expected, tmp_path):
    path = tmp_path / "net.uai.evid"
    path.write_text(text)
    assert read_evidence(path, MODEL) == expected


def test_of_files_that_fit_both_the_newer_dialect_is_taken(tmp_path):
    path = tmp_path / "net.uai.evid"
    path.write_text("2  0  1 3 0")  # two samples, one of them empty; or a = yes, d = 0
    assert read_evidence(path, MODEL) == [{"a": "yes", "d": 0}]
    assert read_evidence(path, MODEL, "2010") == [{}, {"d": 0}]
    assert read_evidence(path, MODEL, "2014") == [{"a": "yes", "d": 0}]
    with pytest.raises(DataError, match="dialect is '2012'"):
        read_evidence(path, MODEL, "2012")


@pytest.mark.parametrize("dialect", [None, "2010", "2014"])
def test_what_is_written_comes_back(dialect, tmp_path):
    path, seen = tmp_path / "net.uai.evid", {"b": 3, "a": "no"}
    write_evidence(path, MODEL, seen, dialect)
    assert path.read_text() == ("1\n" if dialect == "2010" else "") + "2 0 0 1 2\n"
    assert read_evidence(path, MODEL) == read_evidence(path, MODEL, dialect) == [seen]


def test_several_samples(tmp_path):
    path, several = tmp_path / "net.uai.evid", [{"a": "no"}, {"b": 1, "d": 1}, {}]
    write_evidence(path, MODEL, several)
    assert read_evidence(path, MODEL) == several
    with pytest.raises(DataError, match="2014 has one sample, and these are 3"):
        write_evidence(path, MODEL, several, "2014")
    with pytest.raises(DataError, match="'a' has no state 'maybe'"):
        write_evidence(path, MODEL, {"a": "maybe"})


@pytest.mark.parametrize(
    "text", ["", "x", "1", "1 9 0", "1 0 2", "2 0 0 0 1", "1 0 0 5", "-1", "1e5 0 0", "99999999999"]
)
def test_wrong_evidence_is_refused(text, tmp_path):
    path = tmp_path / "net.uai.evid"
    path.write_text(text)
    with pytest.raises(ModelFileError, match=r"net\.uai\.evid"):
        read_evidence(path, MODEL)


@pytest.mark.parametrize("seed", range(8))
def test_results_against_enumeration(seed, tmp_path):
    model = NETWORKS[seed]
    log_z, marginals = enumerate_model(model)
    write_partition(tmp_path / "PR", model.log_partition())
    word, value = (tmp_path / "PR").read_text().split()
    assert word == "PR"
    assert float(value) == pytest.approx(log_z / np.log(10), abs=1e-9)
    assert read_partition(tmp_path / "PR") == [pytest.approx(log_z)]
    write_marginals(tmp_path / "MAR", model, model.marginals())
    words = (tmp_path / "MAR").read_text().split()
    wanted = ["MAR", len(marginals)]
    for each in marginals:
        wanted += [len(each), *each]
    assert words[0] == "MAR"
    assert [float(w) for w in words[1:]] == pytest.approx(wanted[1:], abs=1e-9)
    (back,) = read_marginals(tmp_path / "MAR", model)
    for name, each in zip(model.names, marginals, strict=True):
        np.testing.assert_allclose(back[name], each, atol=1e-9)


def test_results_of_2010(tmp_path):
    path = tmp_path / "result"
    path.write_text("PR\n2\n1.0\n-1.0\n")
    assert read_partition(path) == pytest.approx([np.log(10), -np.log(10)])
    path.write_text("MAR\n2\n2 2 .5 .5 1 1.0\n2 2 0.25 0.75 1 1")
    two = gw.PairwiseMRF({"a": [0, 1], "b": ["x"]})
    found = read_marginals(path, two)
    assert [each["a"].tolist() for each in found] == [[0.5, 0.5], [0.25, 0.75]]


@pytest.mark.parametrize(
    "text",
    ["", "PR", "MAR", "MAR 1", "MAR 2 2 .5 .5 2 1 0", "MAR 2 2 .5 .9 1 1", "MAR 2 2 .5 .5 1 x",
     "MAR 2 2 .5 .5 1 1 7", "MAR 3 2 .5 .5 1 1", "MAR 2 2 -0.5 1.5 1 1"],
)  # fmt: skip
def test_wrong_results_are_refused(text, tmp_path):
    path, two = tmp_path / "result", gw.PairwiseMRF({"a": [0, 1], "b": ["x"]})
    path.write_text(text)
    with pytest.raises(ModelFileError, match="result"):
        read_marginals(path, two)
    path.write_text(text.replace("MAR", "PR 5 x"))
    with pytest.raises(ModelFileError, match="result"):
        read_partition(path)


def test_marginals_must_be_all_there(tmp_path):
    with pytest.raises(DataError, match="marginals of 'a' are not given"):
        write_marginals(tmp_path / "MAR", MODEL, {})
