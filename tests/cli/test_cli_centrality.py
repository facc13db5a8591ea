"""Predictability, centralities and communities on the command line."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from graftwork.data import read_table
from graftwork.estimators import MarkovNetwork
from graftwork.models import load

from doors.cli import hold_out

FAST = ["--lam", "0.05", "--jobs", "1"]


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def column(rows, name):
    return [float(row[name] or "nan") for row in rows]


def test_learn_writes_what_the_library_says(graftwork, chain_csv, tmp_path):
    result = graftwork("learn", chain_csv, "--out", tmp_path, "--no-plot", *FAST)
    assert result.code == 0, result.err
    table = read_table(chain_csv)
    net = MarkovNetwork(lam=0.05, random_state=0).fit(table)
    train, test, _ = hold_out(table, 0.1, 0)
    inside = net.predictability(table)
    outside = MarkovNetwork(lam=0.05, random_state=0).fit(train).predictability(test)
    rows = read(tmp_path / "predictability.csv")
    assert [row["variable"] for row in rows] == list("abcd")
    for name in ("accuracy", "normalised_accuracy", "explained_deviance", "n"):
        np.testing.assert_allclose(column(rows, name), inside[name])
        np.testing.assert_allclose(column(rows, f"held_out_{name}"), outside[name])
    found = net.centrality()
    rows = read(tmp_path / "centrality.csv")
    for name in ("strength", "expected_influence", "closeness"):
        np.testing.assert_allclose(column(rows, name), found[name])
    words = " ".join((tmp_path / "summary.txt").read_text().split())
    mean = inside["normalised_accuracy"].mean()
    assert "Predictability In sample (300 rows)" in words
    assert f"Mean normalised accuracy {mean:.2f}" in words
    assert "Held out (30 rows)" in words
    assert "With 30 rows, accuracies are rough" in words
    assert "Communities" not in words
    assert not (tmp_path / "communities.csv").exists()


def test_without_rows_held_out_there_are_in_sample_numbers(graftwork, chain_csv, tmp_path):
    graftwork("learn", chain_csv, "--out", tmp_path, "--no-plot", "--holdout", 0, *FAST)
    assert "held_out_accuracy" not in read(tmp_path / "predictability.csv")[0]
    assert "so this is optimistic" in " ".join((tmp_path / "summary.txt").read_text().split())


def test_communities_are_written_when_asked_for(graftwork, chain_csv, tmp_path):
    words = ["learn", chain_csv, "--out", tmp_path, "--holdout", 0, *FAST]
    assert graftwork(*words, "--communities").code == 0
    found = {row["variable"]: row["community"] for row in read(tmp_path / "communities.csv")}
    assert found["a"] == found["b"] == found["c"] == "1"
    assert "found by Louvain's algorithm" in (tmp_path / "summary.txt").read_text()
    graftwork(*words, "--no-plot")
    assert not (tmp_path / "communities.csv").exists()  # it would not be of this run


@pytest.mark.parametrize("missing", ["available-case", "drop-rows"])
def test_missing_cells_are_what_they_were_in_learning(graftwork, chain_csv, tmp_path, missing):
    lines = chain_csv.read_text().splitlines()
    lines[5] = "?" + lines[5][lines[5].index(",") :]
    (tmp_path / "gaps.csv").write_text("\n".join(lines))
    words = ["--missing", missing, "--missing-values", "?", "--holdout", 0.5, "--no-plot"]
    result = graftwork("learn", tmp_path / "gaps.csv", "--out", tmp_path, *words, *FAST)
    assert result.code == 0, result.err
    rows = read(tmp_path / "predictability.csv")
    gone = {"available-case": [299, 300], "drop-rows": [299, 299], "state": [300, 300]}[missing]
    assert column(rows, "n")[:2] == gone
    assert result.err.count("left out") <= 1  # told of once


def test_score_writes_predictability(graftwork, chain_csv, tmp_path):
    graftwork("learn", chain_csv, "--out", tmp_path, "--no-plot", *FAST)
    inside = read(tmp_path / "predictability.csv")
    there = tmp_path / "scored.csv"
    result = graftwork("score", tmp_path / "model.gw", chain_csv, "--predictability", there)
    assert result.code == 0, result.err
    # the rows that it was learned from: marginals are the same
    for name in ("accuracy", "explained_deviance"):
        np.testing.assert_allclose(column(read(there), name), column(inside, name))


def test_show_has_tables_of_centralities(graftwork, chain_csv, tmp_path):
    graftwork("learn", chain_csv, "--out", tmp_path, "--no-plot", "--communities", *FAST)
    model = tmp_path / "model.gw"
    text = graftwork("show", model, "--top", 0, "--centrality", "--communities").out
    assert "exp. influence" in text
    assert "br. closeness" not in text
    assert "Communities" in text
    lines = text[text.index("exp. influence") :].splitlines()[1:5]
    strengths = [float(line.split()[1]) for line in lines]
    assert strengths == sorted(strengths, reverse=True)
    assert len(lines) == load(model).n_variables
    groups = tmp_path / "groups.csv"
    groups.write_text("variable,group\na,x\nb,x\nc,y\nd,\n")
    bridges = graftwork("show", model, "--groups", groups).out
    assert "br. closeness" in bridges
    assert graftwork("show", model, "--groups", groups, "--plot", tmp_path / "n.svg").code == 0
    assert "<svg" in (tmp_path / "n.svg").read_text(encoding="utf-8")
    again = graftwork("show", model, "--groups", tmp_path / "communities.csv")
    assert again.code == 0, again.err
