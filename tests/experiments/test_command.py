"""python -m experiments: names, folders, and what is said where data sets are missing."""

import csv
import json
from types import SimpleNamespace

import pytest

from experiments import PAPERS
from experiments.__main__ import main
from experiments.engine import Report, Step, Study

BAD_INPUT = 2


@pytest.fixture
def run(capsys):
    """Run the command in this process: exit code, stdout and stderr."""

    def call(*words):
        capsys.readouterr()
        code = main([str(word) for word in words])
        said = capsys.readouterr()
        return SimpleNamespace(code=code, out=said.out, err=said.err)

    return call


@pytest.fixture(autouse=True)
def _no_folder(monkeypatch):
    monkeypatch.delenv("GRAFTWORK_DATA", raising=False)


def test_the_list_has_every_study(run):
    done = run("--list")
    assert done.code == 0
    assert all(name in done.out for name in PAPERS)
    assert run().code == BAD_INPUT


@pytest.mark.parametrize("names", [["nosuch"], ["all", "nosuch"], ["priority", "nosuch"]])
def test_names_that_are_none_are_refused_before_anything_runs(run, tmp_path, names):
    done = run(*names, "--quick", "--out", str(tmp_path / "out"))
    assert done.code == BAD_INPUT
    assert "nosuch" in done.err
    assert "forced-pruning" in done.err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_none_is_refused_before_anything_runs(run, tmp_path):
    out = tmp_path / "out"
    done = run("l1-markov", "--quick", "--data", str(tmp_path / "no"), "--out", str(out))
    assert done.code == BAD_INPUT
    assert "there is no folder" in done.err
    assert not out.exists()


@pytest.mark.parametrize("told", ["option", "variable"])
def test_the_folder_may_be_in_the_user_s_own(run, tmp_path, monkeypatch, told):
    (tmp_path / "sets").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    words = ["forced-pruning", "--quick", "--no-plot", "--out", tmp_path / "out"]
    if told == "option":
        words += ["--data", "~/sets"]
    else:
        monkeypatch.setenv("GRAFTWORK_DATA", "~/sets")
    assert f"neither in '{tmp_path}/sets/debd'" in run(*words).err


@pytest.mark.parametrize("setting", [None, ""])
def test_missing_data_are_told_once_with_what_to_do(run, tmp_path, monkeypatch, setting):
    if setting is not None:
        monkeypatch.setenv("GRAFTWORK_DATA", setting)
    done = run("forced-pruning", "--quick", "--out", str(tmp_path))
    assert done.code == BAD_INPUT
    assert "1/28: nltcs: trees (not run)" in done.err
    [told] = [line for line in done.err.splitlines() if "steps need debd" in line]
    assert told.startswith("forced-pruning: 28 steps need debd.")
    assert "no folder was given" in done.err
    assert "Small sizes" in done.out
    assert "--data" in done.err
    place = tmp_path / "forced-pruning-quick"
    with (place / "claims.csv").open() as file:
        assert {line["verdict"] for line in csv.DictReader(file)} == {"not run"}
    whole = json.loads((place / "results.json").read_text())
    assert len(whole["skipped"]["debd"]["steps"]) == 28
    assert "--quick --data DIR" in (place / "page.md").read_text()


def test_what_fails_does_not_stop_the_others_and_is_said(run, tmp_path, monkeypatch):
    def breaks(context):
        raise ValueError("no such parameter")

    def loses(found):
        raise KeyError("gone")

    good, bad = Step("good", "working", lambda context: {}), Step("bad", "breaking", breaks)
    studies = {
        "one": Study("one", "First", lambda size: [bad, good], lambda found: Report([])),
        "two": Study("two", "Second", lambda size: [good], loses),
        "three": Study("three", "Third", lambda size: [good], lambda found: Report([])),
    }
    monkeypatch.setattr("experiments.__main__.PAPERS", dict.fromkeys(studies, ""))
    monkeypatch.setattr("experiments.__main__.find_study", studies.__getitem__)
    done = run("all", "--tiny", "--no-plot", "--out", tmp_path)
    assert done.code == 1
    assert "one: step bad failed. ValueError: no such parameter" in done.err
    assert "two: KeyError: 'gone'" in done.err
    assert "failed: one, two." in done.err
    assert {path.name for path in tmp_path.glob("*/page.md")} == {"page.md"}
    assert (tmp_path / "three-tiny" / "page.md").is_file()
    assert (tmp_path / "one-tiny" / "steps" / "good.json").is_file()


def test_one_size_at_a_time(run, tmp_path):
    done = run("priority", "--tiny", "--quick", "--out", tmp_path / "out")
    assert done.code == BAD_INPUT
    assert not (tmp_path / "out").exists()


def test_quiet_says_only_what_was_not_run(run, tmp_path):
    done = run("forced-pruning", "--quick", "-q", "--out", str(tmp_path))
    assert done.out == ""
    assert "1/21" not in done.err
    assert "need debd" in done.err


def test_the_help_has_every_option_and_examples(run):
    said = run("--help").out
    for option in ("--quick", "--data", "--out", "--fresh", "python -m experiments priority"):
        assert option in said
