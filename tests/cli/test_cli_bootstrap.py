import csv
import json
import signal

import pytest

from doors.cli import Bar, Countdown, Interrupts, Lines

FAST = ["--lam", "0.05", "--jobs", "1"]
FILES = {
    "edges.csv", "bootstrap.csv", "bootstrap_centrality.csv", "stability.csv",
    "bootstrap_communities.csv", "comembership.csv",
    "bootstrap.txt", "bootstrap.json", "reference.gw", "bootstrap.png",
}  # fmt: skip


def test_bootstrap_writes_everything(graftwork, chain_csv, tmp_path):
    out = tmp_path / "deep" / "boot"
    result = graftwork("bootstrap", chain_csv, "--n", 5, "--out", out, *FAST)
    assert result.code == 0, result.err
    assert {p.name for p in out.iterdir()} == FILES
    assert (out / "bootstrap.txt").read_text() in result.out
    assert result.lines == [
        f"reading {chain_csv}",
        "learning from 300 rows of 4 variables",
        "the network has 3 edges; learning it again",
        "From fewer than 100 resamples, shares are rough.",
        "Too few subsets to tell whether the order of centralities can be trusted: fewer than 20 "
        "for each share of dropped rows. Set n to 200 or more.",
    ]
    stored = json.loads((out / "bootstrap.json").read_text())
    assert (stored["resamples"], stored["subsets"]) == (5, 5)
    pairs = {(edge["first"], edge["second"]): edge["frequency"] for edge in stored["edges"]}
    assert pairs["a", "b"] == pairs["b", "c"] == 1.0
    with open(out / "edges.csv", newline="", encoding="utf-8") as lines:
        edges = list(csv.DictReader(lines))
    assert len(edges) == 3
    for edge in edges:
        assert float(edge["frequency"]) == pairs[edge["first"], edge["second"]]


def test_differences_are_written_when_asked_for(graftwork, chain_csv, tmp_path):
    words = ["bootstrap", chain_csv, "--n", 5, "--out", tmp_path, "--no-drop", "--differences"]
    result = graftwork(*words, *FAST)
    assert result.code == 0, result.err
    with open(tmp_path / "differences.csv", newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert list(rows[0]) == ["of", "first", "second", "difference", "low", "high", "differs"]
    assert [row["of"] for row in rows].count("edges") == 3  # of three edges
    assert {row["first"] for row in rows if row["of"] == "edges"} <= {"a - b", "b - c", "c - d"}
    for name in ("differences_edges.png", "differences_strength.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
        assert name in result.out + result.err


def test_options_reach_the_learner(graftwork, chain_csv, tmp_path):
    words = ["bootstrap", chain_csv, "--out", tmp_path, "-n", 3, "--no-plot", "-q", "--no-drop"]
    result = graftwork(*words, "--keep-lam", "--max-edges", 1, "--jobs", 2, "--seed", 3)
    assert (result.code, result.out, result.err) == (0, "", "")
    assert {p.name for p in tmp_path.iterdir()} == (
        FILES - {"stability.csv", "bootstrap.png"} | {"chain.csv"}
    )
    stored = json.loads((tmp_path / "bootstrap.json").read_text())
    assert sum(edge["frequency"] for edge in stored["edges"]) == pytest.approx(1.0)
    assert graftwork(*words, "--method", "nothing").code == 2
    assert graftwork("bootstrap", chain_csv, "--n", 0).code == 2
    assert graftwork("bootstrap", tmp_path / "absent.csv").code == 2


def test_same_seed_same_files(graftwork, chain_csv, tmp_path):
    for name, jobs in (("one", 1), ("two", 2)):
        words = ["--out", tmp_path / name, "-n", 3, "--seed", 5, "--lam", "0.05", "--jobs", jobs]
        assert graftwork("bootstrap", chain_csv, *words).code == 0
    for name in FILES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_an_interrupt_writes_what_is_done(graftwork, chain_csv, tmp_path, monkeypatch):
    def stop(self, text, step, steps):
        if step == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Countdown, "on_stage", stop)
    result = graftwork("bootstrap", chain_csv, "--n", 5, "--out", tmp_path, *FAST)
    assert result.code == 130
    assert f"interrupted; what was done by then is in {tmp_path}." in result.err
    assert "10 fits were asked for" in " ".join(result.out.split())
    stored = json.loads((tmp_path / "bootstrap.json").read_text())
    assert (stored["resamples"], stored["subsets"]) == (2, 1)


def test_ctrl_c_reaches_workers(start, chain_csv, tmp_path):
    words = ["bootstrap", chain_csv, "--n", 20_000, "--no-drop", "--lam", "0.05", "--jobs", "2"]
    process = start(*words, "--no-plot", cwd=tmp_path, pause=0.0)
    while "left" not in (line := process.stderr.readline()):
        assert process.poll() is None, line
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    stored = json.loads((tmp_path / "bootstrap" / "bootstrap.json").read_text())
    assert 0 < stored["resamples"] < stored["resamples_asked"]


def test_interrupt_before_anything(graftwork, chain_csv, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("graftwork.cli.bootstrap.read_source", interrupted)
    result = graftwork("bootstrap", chain_csv, "--out", tmp_path / "out")
    assert (result.code, result.lines[-1]) == (130, "interrupted before a resample was done.")


def test_time_left_is_told(capsys):
    now = iter([0.0, 10.0, 22.0, 40.0, 70.0])
    countdown = Countdown(Lines(pause=0.0), Interrupts(), clock=lambda: next(now))
    countdown.on_stage("resamples", 0, 400)
    countdown.on_stage("resamples", 1, 400)  # it began later, and loaded compiled code
    countdown.on_stage("resamples", 1, 400)
    countdown.on_stage("resamples", 100, 400)
    assert capsys.readouterr().err.splitlines() == [
        "0 of 400 done: resamples",
        "1 of 400 done: resamples",
        "1 of 400 done: resamples, about 3.3 h left",
        "100 of 400 done: resamples, about 3 min left",
    ]
    bar = Bar()
    bar.on_count("resamples, about 3 min left", 100, 400)
    assert bar._bar.tasks[0].completed == 100


@pytest.fixture
def gaps_csv(chain_csv, tmp_path):
    lines = chain_csv.read_text().splitlines()
    lines[5:300:9] = [line[line.index(",") :] for line in lines[5:300:9]]  # no first cell
    path = tmp_path / "gaps.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("policy", ["drop-rows", "available-case"])
def test_missing_cells(graftwork, gaps_csv, tmp_path, policy):
    words = ["bootstrap", gaps_csv, "-n", 2, "--out", tmp_path, "--no-plot", "--no-drop", *FAST]
    assert "available-case" in graftwork(*words).err
    result = graftwork(*words, "--missing", policy)
    assert result.code == 0, result.err
    assert result.err.count("warning:") == (policy == "drop-rows")
    assert ("of 300 rows were left out" in result.err) == (policy == "drop-rows")
    stored = json.loads((tmp_path / "bootstrap.json").read_text())
    pairs = {(edge["first"], edge["second"]): edge["frequency"] for edge in stored["edges"]}
    assert pairs["b", "c"] == 1.0
