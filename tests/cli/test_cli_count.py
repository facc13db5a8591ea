"""graftwork count, and graftwork learn from counts."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import graftwork as gw


def write(path, n_rows, seed, offset=0):
    """Rows of three binary columns and an age, as CSV."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n_rows)
    b = np.where(rng.random(n_rows) < 0.9, a, 1 - a)
    age = rng.integers(18, 60, n_rows) + offset
    cells = zip(a, b, rng.integers(0, 2, n_rows), age, strict=True)
    lines = ["a,b,c,age", *(",".join(map(str, row)) for row in cells)]
    path.write_text("\n".join(lines))
    return path


def assert_quiet(result):
    assert result.code == 0
    assert "warning" not in result.err


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "north.csv", 200, 0), write(tmp_path / "south.csv", 300, 1, 20)


def test_counts_of_files_are_added(graftwork, files, tmp_path):
    for name, own in zip(("north", "south"), files, strict=True):
        result = graftwork("count", own, "--out", f"{name}.gwc", "--drop", "age")
        assert_quiet(result)
    assert "300 rows of 3 variables with 6 states in all." in result.out
    assert "Written: south.gwc" in result.out
    assert graftwork("count", "north.gwc", "south.gwc", "--out", "both.gwc", "-q").out == ""
    assert graftwork("count", "north.gwc", files[1], "--drop", "age").code == 0
    both = gw.PairTables.load(tmp_path / "both.gwc")
    tables = [gw.read_table(own, drop=["age"]) for own in files]
    assert both == gw.count_pairs(tables) == gw.PairTables.load("counts.gwc")


def test_bins_are_those_of_the_first_file(graftwork, files):
    result = graftwork("count", *files, "--bins", "age:3")
    assert_quiet(result)
    counts = gw.PairTables.load("counts.gwc")
    first = gw.read_table(files[0], bins={"age": 3})
    assert counts.states[3] == first.states[3]
    ages = [*gw.read_table(files[0])["age"], *gw.read_table(files[1])["age"]]
    own = gw.as_table({"age": ages}, states={"age": first.states[3]})
    assert counts.margin("age").tolist() == own.observed()[0].tolist()


def test_small_counts_and_screening(graftwork, files):
    result = graftwork("count", files[0], "--min-count", 20, "--drop", "age")
    assert result.code == 2
    assert "below --min-count 20" in result.err
    assert [line.startswith("error: ") for line in result.lines].index(True) == len(
        result.lines
    ) - 1
    result = graftwork("count", files[0], "--screen", "pairs.csv", "--drop", "age")
    assert result.code == 0
    assert "below 5" in result.out
    with open("pairs.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert (rows[0]["first"], rows[0]["second"], len(rows)) == ("a", "b", 3)
    assert float(rows[0]["q_value"]) < 1e-9


def test_missing_cells(graftwork, tmp_path):
    (tmp_path / "gaps.csv").write_text("a,b\n1,x\n,y\n2,x\n")
    out = tmp_path / "gaps.gwc"
    assert graftwork("count", tmp_path / "gaps.csv", "--out", out).code == 2
    assert graftwork("count", tmp_path / "gaps.csv", "--out", out, "--missing", "state").code == 0
    assert gw.PairTables.load(out).states[0] == (1, 2, "(missing)")
    result = graftwork("count", tmp_path / "gaps.csv", "--out", out, "--missing", "drop-rows")
    assert result.code == 0
    assert gw.PairTables.load(out).n_rows == 2


def test_other_variables_are_refused(graftwork, files, tmp_path):
    (tmp_path / "other.csv").write_text("a,b,z,age\n1,1,1,30\n")
    result = graftwork("count", files[0], tmp_path / "other.csv")
    assert result.code == 2
    assert "other.csv: counts of different variables" in result.err


def test_numbers_and_texts_are_told(graftwork, files, tmp_path):
    (tmp_path / "text.csv").write_text("a,b,c,age\n1,1,no,30\n1,1,1,40\n")
    result = graftwork("count", files[0], tmp_path / "text.csv")
    assert result.code == 0
    assert "warning: 'c' has 1 on one side and the text '1' on the other" in result.err


def test_a_network_is_learned_from_counts(graftwork, files):
    assert graftwork("count", *files, "--bins", "3").code == 0
    words = ("--loss", "likelihood", "--lam", "0.02", "--out", "run")
    result = graftwork("learn", "counts.gwc", *words)
    assert_quiet(result)
    assert "Learned from counts of pairs of states" in result.out
    assert "predictability.csv" not in result.out
    assert ("a", "b") in gw.load("run/model.gw").edges
    result = graftwork("learn", "counts.gwc", "--loss", "likelihood", "--criterion", "ebic")
    assert result.code == 0
    result = graftwork("learn", "counts.gwc", "--method", "chow-liu", "--loss", "likelihood")
    assert result.code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["learn", "counts.gwc"], "use --loss likelihood, with a number for lam"),
        (["learn", "counts.gwc", "--loss", "likelihood"], "or use --criterion ebic"),
        (["learn", "counts.gwc", "--lam", "0.1", "--sep", ";"], "read as they are"),
        (["learn", "counts.gwc", "--dry-run"], "estimated from rows"),
        (["path", "counts.gwc"], "rows are needed here"),
        (["count", "model.gw"], "holds a network, where counts of pairs are wanted"),
        (["count", "none.csv"], "none.csv"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(graftwork, files, words, told):
    gw.count_pairs(files[0]).save("counts.gwc")
    gw.PairwiseMRF({"coin": ["head", "tail"]}).save("model.gw")
    result = graftwork(*words)
    assert result.code == 2
    assert told in result.err
    assert [line.startswith("error: ") for line in result.lines].index(True) == len(
        result.lines
    ) - 1
