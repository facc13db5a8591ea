"""Every study from its first step to its page, in tiny size: no parameter may break one."""

import csv
import json

import pytest

from experiments import PAPERS, find_study
from experiments.__main__ import main


@pytest.mark.parametrize("paper", PAPERS)
def test_a_tiny_study_runs_whole(paper, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("GRAFTWORK_DATA", raising=False)  # it needs no data set from a folder
    code = main([paper, "--tiny", "--jobs", "1", "--out", str(tmp_path)])
    said = capsys.readouterr()
    assert code == 0, said.err
    place = tmp_path / f"{paper}-tiny"
    whole = json.loads((place / "results.json").read_text())
    assert not whole["failed"]
    assert not whole["skipped"]
    assert set(whole["steps"]) == {step.key for step in find_study(paper).steps("tiny")}
    with (place / "claims.csv").open() as file:
        claims = list(csv.DictReader(file))
    assert "not run" not in {claim["verdict"] for claim in claims}
    assert all(claim["threshold"] for claim in claims)
    page = (place / "page.md").read_text()
    assert page.count("![") == len(list(place.glob("*.png"))) > 0


@pytest.mark.parametrize("paper", PAPERS)
def test_a_tiny_study_has_every_kind_of_step_that_the_full_one_has(paper):
    """Functions that do the work, not names: sizes may leave out lambdas or data sets."""
    works = {
        size: {getattr(step.work, "func", step.work) for step in find_study(paper).steps(size)}
        for size in ("full", "tiny")
    }
    assert works["tiny"] == works["full"]
