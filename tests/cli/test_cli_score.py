"""graftwork score: truth files, every score, JSON."""

import json

import numpy as np
import pytest

from graftwork.models import PairwiseMRF
from graftwork.report import evaluate, write_edges


@pytest.fixture
def rows_file(model, tmp_path):
    path = tmp_path / "rows.csv"
    model.sample(40, None, 1).write_csv(path)
    return path


def lines_of(result):
    assert result.code == 0, result.err
    return dict(line.split(None, 1) for line in result.out.splitlines())


def test_all_scores_as_text_json_and_files(graftwork, model, model_file, rows_file, tmp_path):
    truth = tmp_path / "truth.csv"
    truth.write_text("a,b\nvisits,rain\nwet,visits\n")
    out, per_row = tmp_path / "scores.json", tmp_path / "per_row.csv"
    words = ["score", model_file, rows_file, "--all", "--truth", truth]
    result = graftwork(*words, "--out", out, "--per-row", per_row)
    expected = evaluate(model, model.sample(40, None, 1), [("rain", "visits"), ("visits", "wet")])
    shown = lines_of(result)
    assert shown["NLPL"].startswith(f"{expected.nlpl:.6f} nats per row")
    assert shown["log-likelihood"] == f"{expected.log_likelihood:.6f} nats per row, exact"
    assert shown["CMLL"] == f"{expected.cmll:.6f} nats per variable, exact"
    assert shown["edges"] == "2 found, 2 true, 1 both"
    assert shown["F1"] == "0.500000"
    assert shown["Hamming"] == "2"
    assert result.lines == ["note: truth.csv: line 1 (a, b) was read as a header."]
    saved = json.loads(out.read_text())
    assert saved == pytest.approx(expected.to_dict())
    assert json.loads(graftwork(*words, "--json").out) == saved
    table = np.genfromtxt(per_row, delimiter=",", names=True)
    assert table.dtype.names == ("row", "nlpl", "log_likelihood", "cmll")
    assert table["cmll"].mean() == pytest.approx(expected.cmll)


def test_only_what_is_asked_for(graftwork, model_file, rows_file):
    assert list(lines_of(graftwork("score", model_file, rows_file))) == ["rows", "NLPL"]
    shown = lines_of(graftwork("score", model_file, rows_file, "--cmll"))
    assert list(shown) == ["rows", "NLPL", "CMLL"]


def test_truth_from_a_model_and_from_its_edges(graftwork, model, model_file, rows_file, tmp_path):
    edges = tmp_path / "edges.csv"
    write_edges(edges, model)
    for truth in (model_file, edges):
        result = graftwork("score", model_file, rows_file, "--truth", truth)
        assert lines_of(result)["F1"] == "1.000000"
        assert result.err == ""


@pytest.mark.parametrize(
    ("text", "both"),
    [
        ("rain,visits\nrain,wet\n", 2),  # no header
        ("from\tto\nrain\twet\n", 1),
        ("\ufefffirst,second\n\nvisits , rain\n", 1),
        ('"rain";"wet"\n"wet";"rain"\n', 1),
    ],
)
def test_truth_files_of_many_kinds(graftwork, model_file, rows_file, tmp_path, text, both):
    truth = tmp_path / "truth.txt"
    truth.write_text(text, encoding="utf-8")
    result = graftwork("score", model_file, rows_file, "--truth", truth)
    assert lines_of(result)["edges"] == f"2 found, {both} true, {both} both"


def test_no_edges_on_either_side(graftwork, model, rows_file, model_file, tmp_path):
    empty = tmp_path / "empty.gw"
    PairwiseMRF(model.states).save(empty)
    edges = tmp_path / "edges.csv"
    write_edges(edges, PairwiseMRF(model.states))
    for truth in (empty, edges):
        shown = lines_of(graftwork("score", empty, rows_file, "--truth", truth))
        assert (shown["F1"], shown["Hamming"]) == ("1.000000", "0")
        shown = lines_of(graftwork("score", model_file, rows_file, "--truth", truth))
        assert (shown["F1"], shown["Hamming"]) == ("0.000000", "2")
    shown = lines_of(graftwork("score", empty, rows_file, "--truth", model_file))
    assert (shown["F1"], shown["recall"]) == ("0.000000", "0.000000")


def test_variables_called_like_the_header(graftwork, tmp_path):
    pair = {("first", "second"): [[1, 0], [0, 1]]}
    model = PairwiseMRF({"first": [0, 1], "second": [0, 1]}, pairwise=pair)
    model.save(tmp_path / "m.gw")
    write_edges(tmp_path / "edges.csv", model)
    model.sample(5, None, 0).write_csv(tmp_path / "rows.csv")
    words = ["score", tmp_path / "m.gw", tmp_path / "rows.csv", "--truth", tmp_path / "edges.csv"]
    assert lines_of(graftwork(*words))["edges"] == "1 found, 1 true, 1 both"


def test_impossible_rows_become_null(graftwork, model, tmp_path):
    hard = PairwiseMRF({"a": [0, 1]}, {"a": [0.0, -np.inf]})
    hard.save(tmp_path / "hard.gw")
    (tmp_path / "rows.csv").write_text("a\n1\n0\n")
    result = graftwork("score", tmp_path / "hard.gw", tmp_path / "rows.csv", "--all", "--json")
    answer = json.loads(result.out)
    assert answer["nlpl"] is None
    assert answer["cmll"] is None
