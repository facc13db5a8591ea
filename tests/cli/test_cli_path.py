import csv
import math

import pytest

from graftwork.models import load, read_info

from doors.cli import NAMES
from doors.estimators import spec
from doors.selection import choice

FAST = ["--jobs", "1"]


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_path_shows_every_lambda_and_writes_the_files(graftwork, chain_csv, tmp_path, monkeypatch):
    monkeypatch.setattr(choice, "ALLOWED", -math.inf)  # that tested edges are no candidate
    out = tmp_path / "out"
    words = ("--goal", "prediction", "--criterion", "hold-out:share=0.3", "--out", out)
    result = graftwork("path", chain_csv, *words, *FAST)
    assert result.code == 0, result.err
    assert {p.name for p in out.iterdir()} == {"path.csv", "path.png", "model.gw"}
    rows = read(out / "path.csv")
    assert [row["chosen"] for row in rows].count("True") == 1
    assert all(float(row["held_out"]) > 0 for row in rows)
    assert all(row["refit_loss"] == "" for row in rows)
    shown = [line for line in result.out.splitlines() if line.endswith("<- chosen")]
    assert len(shown) == 1
    [chosen] = [row for row in rows if row["chosen"] == "True"]
    info = read_info(out / "model.gw")
    assert info["lam"] == pytest.approx(float(chosen["lam"]))
    assert info["settings"]["criterion_options"] == {"share": 0.3}
    assert info["goal"] == "prediction"
    n_edges = load(out / "model.gw").n_edges
    assert n_edges >= 2
    assert int(chosen["n_edges"]) == int(shown[0].split()[1]) == n_edges
    assert "model.gw has" not in result.out


def test_path_says_that_tested_edges_are_taken(graftwork, chain_csv, tmp_path):
    words = ("--goal", "prediction", "--out", tmp_path, "--no-plot")
    result = graftwork("path", chain_csv, *words, *FAST)
    assert result.code == 0, result.err
    assert {row["chosen"] for row in read(tmp_path / "path.csv")} == {"False"}
    text, edges = " ".join(result.out.split()), load(tmp_path / "model.gw").n_edges
    assert "does worse by less than a standard error" in text
    assert f"model.gw has the {edges} edges that tests keep, refitted." in text
    info = read_info(tmp_path / "model.gw")
    assert info["choice"]["path"]["tested"] > info["choice"]["path"]["criterion"]
    assert info["choice"]["tests"]["n_kept"] == edges


def test_path_of_the_structure(graftwork, chain_csv, tmp_path):
    result = graftwork("path", chain_csv, "--out", tmp_path, "--no-plot", *FAST)
    assert result.code == 0, result.err
    assert not (tmp_path / "path.png").exists()
    text = " ".join(result.out.split())
    assert "false discovery rate" in text
    assert f"a short list of {read(tmp_path / 'path.csv')[-1]['n_edges']} pair" in text
    assert f"{load(tmp_path / 'model.gw').n_edges} were kept as edges" in text
    kept = f"model.gw has the {load(tmp_path / 'model.gw').n_edges} edges kept"
    assert f"in the line chosen those of the short list; {kept}" in text


def test_learn_takes_a_goal_and_a_criterion(graftwork, chain_csv, tmp_path):
    words = ("--goal", "prediction", "--criterion", "ebic:gamma=0.5", "--no-plot")
    result = graftwork("learn", chain_csv, *words, "--out", tmp_path, *FAST)
    assert result.code == 0, result.err
    assert "smallest EBIC" in " ".join((tmp_path / "summary.txt").read_text().split())
    assert "refit" not in (tmp_path / "summary.txt").read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--criterion", "k-fold"], "--criterion k-fold does not serve --goal structure"),
        (["--goal", "prediction", "--criterion", "k-fold:folds"], "is not OPTION=VALUE"),
        (["--goal", "prediction", "--criterion", "k-fold:folds=x"], "must be a number"),
        (["--goal", "prediction", "--criterion", "k-fold:gamma=1"], "'gamma' is not known"),
        (["--goal", "truth"], "truth"),
        (["--fdr", "2"], "--fdr must be"),
        (["--method", "chow-liu"], "there is no path"),
    ],
)
def test_nonsense_is_one_sentence(graftwork, chain_csv, tmp_path, words, sentence):
    result = graftwork("path", chain_csv, "--out", tmp_path, "-q", *words)
    assert result.code == 2
    assert sentence in result.err
    assert len(result.lines) == 1


def test_path_takes_missing_cells_and_knowledge(graftwork, chain_csv, tmp_path):
    lines = chain_csv.read_text().splitlines()
    lines[5:300:9] = [line[line.index(",") :] for line in lines[5:300:9]]  # no first cell
    chain_csv.write_text("\n".join(lines) + "\n")
    words = ("--out", tmp_path, "--no-plot", "--missing", "drop-rows", "--required", "a~d")
    result = graftwork("path", chain_csv, *words, "--forbidden", "b~c", *FAST)
    assert result.code == 0, result.err
    edges, info = load(tmp_path / "model.gw").edges, read_info(tmp_path / "model.gw")
    assert ("a", "d") in edges
    assert ("b", "c") not in edges
    assert info["missing"]["policy"] == "drop-rows"
    assert info["rows"] == 300 - info["missing"]["rows"] < 300


def test_every_criterion_is_listed():
    listed = set(NAMES["criteria"].split(", "))
    assert listed == {spec.TESTS, *spec.CRITERIA}
    assert listed == {name for names in spec.GOALS.values() for name in names}
