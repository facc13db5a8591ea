"""graftwork learn --path, and the goals and criteria that choose a lambda."""

import csv

import pytest

from graftwork.models import load, read_info

from doors.cli import NAMES
from doors.estimators import spec

FAST = ["--jobs", "1", "--holdout", "0"]


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_lambda_is_shown_and_drawn(graftwork, chain_csv, tmp_path):
    words = ("--goal", "prediction", "--criterion", "ebic:gamma=0.5", "--path", "--out", tmp_path)
    result = graftwork("learn", chain_csv, *words, *FAST)
    assert result.code == 0, result.err
    assert {"path.csv", "path.png"} <= {path.name for path in tmp_path.iterdir()}
    [chosen] = [row for row in read(tmp_path / "path.csv") if row["chosen"] == "True"]
    [shown] = [line.split() for line in result.out.splitlines() if line.endswith("<- chosen")]
    assert float(shown[0]) == pytest.approx(float(chosen["lam"]), rel=1e-3)
    assert int(shown[1]) == int(chosen["n_edges"]) == load(tmp_path / "model.gw").n_edges
    text = (tmp_path / "summary.txt").read_text()
    assert "smallest EBIC" in " ".join(text.split())
    assert "Lambdas tried" in text
    assert "refits" not in text
    info = read_info(tmp_path / "model.gw")
    assert info["lam"] == pytest.approx(float(chosen["lam"]))
    assert info["settings"]["criterion_options"] == {"gamma": 0.5}


def test_the_path_of_the_structure_is_of_penalised_fits(graftwork, chain_csv, tmp_path):
    result = graftwork("learn", chain_csv, "--path", "--no-plot", "--out", tmp_path, *FAST)
    assert result.code == 0, result.err
    assert not (tmp_path / "path.png").exists()
    assert "penalised fits, before tests and refits" in result.out


def test_without_a_choice_there_is_no_path(graftwork, chain_csv, tmp_path):
    result = graftwork("learn", chain_csv, "--path", "--lam", "0.1", "--out", tmp_path, *FAST)
    assert result.code == 0, result.err
    assert "None: no lambda was chosen." in result.out
    assert not [path.name for path in tmp_path.iterdir() if path.stem == "path"]


def test_every_criterion_is_listed():
    listed = set(NAMES["criteria"].split(", "))
    assert listed == {spec.TESTS, *spec.CRITERIA}
    assert listed == {name for names in spec.GOALS.values() for name in names}
