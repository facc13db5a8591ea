"""Ctrl-C, SIGTERM and limits on time: what is known by then is saved, in words and with a code.

Nothing here measures time: what must not be awaited takes longer than any test is given.
"""

import os
import signal
import subprocess
import sys
import threading
from functools import partial

import pytest

from graftwork.cli import main
from graftwork.models import load

from doors.cli import Interrupts, Quiet, Stoppable
from doors.data import Processes
from support import worker_functions as work

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")
#: Seconds that a test may take, and that a nap takes which nobody must wait for.
LONG, NAP = 120, 300


@pytest.fixture
def interrupts():
    """Interrupts as they are at a terminal, also where the tests run with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Interrupts() as opened:
            yield opened
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupt_saves_the_best_so_far(start, tmp_path, number, code):
    # A network of nearly all pairs, solved to the last digit: long enough to be stopped.
    words = ["learn", "mushroom", "--lam", "0.0005", "--no-plot", "--jobs", "1", "--tol", "1e-9"]
    process = start(*words, cwd=tmp_path, pause=0.0)
    while "0 edges" in (line := process.stderr.readline()) or "edges" not in line:
        assert process.poll() is None
    process.send_signal(number)
    out, err = process.communicate(timeout=LONG)
    assert process.returncode == code, err
    assert "the best network so far is in" in err
    assert out.startswith("Interrupted: this is the best network so far.")
    assert "it was interrupted" in " ".join(out.split())
    assert load(tmp_path / "out" / "model.gw").n_variables == 23


def test_interrupt_while_measuring_leaves_the_network(start, tmp_path):
    process = start("learn", "mushroom", "--lam", "0.002", "--no-plot", cwd=tmp_path, pause=0.0)
    while "measuring" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LONG)
    assert process.returncode == 130, err
    assert "interrupted while measuring; the network in out/model.gw is complete." in err
    assert out.startswith("Data\n  5,644 rows")
    assert "was not measured: that was interrupted." in " ".join(out.split())
    assert "Optimal within" in out
    assert load(tmp_path / "out" / "model.gw").n_edges > 10


def test_interrupt_before_learning(tmp_path, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("graftwork.cli.learn.read_source", interrupted)
    assert main(["learn", "mushroom"]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_the_first_interrupt_waits_for_a_safe_point_and_the_second_does_not(interrupts):
    watched = Stoppable(Quiet(), interrupts)
    interrupts.waits = True
    watched.on_step(1)
    signal.raise_signal(signal.SIGINT)
    assert interrupts.seen
    for safe_point in (
        partial(watched.on_step, 1),
        partial(watched.on_search, 1, 2),
        watched.check,
    ):
        with pytest.raises(KeyboardInterrupt):
            safe_point()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert not Interrupts.terminated


def test_without_anything_to_keep_the_first_interrupt_does_not_wait(interrupts):
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_second_sigterm_changes_nothing(interrupts):
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGTERM)
    assert interrupts.seen
    assert Interrupts.terminated


def test_what_a_result_can_do_without_is_ended_at_once_and_not_begun_again(interrupts):
    def picture():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ValueError("Invalid bounding box") from None  # as matplotlib does

    interrupts.waits = True
    with pytest.raises(ZeroDivisionError):
        interrupts.optional(lambda: 1 / 0)
    assert interrupts.optional(lambda: "done") == "done"
    assert interrupts.waits
    assert interrupts.optional(picture) is None
    assert interrupts.optional(lambda: "not begun") is None
    assert interrupts.seen


def test_who_waits_for_processes_is_interrupted_and_they_keep_what_they_hold(interrupts):
    interrupts.waits = True
    with Processes(2, interrupts.check) as engine:
        handles = engine.place([partial(int, text) for text in "12345678"])
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            engine.total(handles, work.nap, NAP)
        interrupts.seen = False
        assert engine.total(handles, work.same) == 36


STAGES = {
    "predict_each": "graftwork.cli.learn",
    "write_centrality": "graftwork.report.centrality",
    "plot_network": "graftwork.report",
}


@pytest.mark.parametrize("stage", STAGES)
def test_after_learning_what_takes_long_is_left_out(stage, chain_csv, tmp_path):
    """The network and its edges are written."""
    code = (
        "import signal, sys, time; signal.signal(signal.SIGINT, signal.default_int_handler); "
        f"from graftwork.cli import main; import {STAGES[stage]} as module; "
        f"wait = lambda *_, **__: (print('now', file=sys.stderr, flush=True), time.sleep({NAP})); "
        f"module.{stage} = wait; sys.exit(main())"
    )
    words = ["learn", str(chain_csv), "--lam", "0.05", "--holdout", "0", "--out", "out"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    try:
        while "now" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=LONG)
    finally:
        process.kill()
    assert process.returncode == 130, told
    assert "interrupted after learning; the network in" in told.splitlines()[-1]
    done = {"model.gw", "summary.txt", "edges.csv", "trace.jsonl"}
    done |= {"predictability.csv"} if stage != "predict_each" else set()
    done |= {"centrality.csv"} if stage == "plot_network" else set()
    assert {path.name for path in (tmp_path / "out").iterdir()} == done


def test_when_the_time_is_up_what_a_result_can_do_without_is_left_out(
    graftwork, chain_csv, tmp_path
):
    words = ["learn", chain_csv, "--holdout", 0, "--out", tmp_path, "--max-seconds"]
    result = graftwork(*words, 1e-9)
    assert result.code == 0
    assert "note: the time was up, so predictability, centralities" in result.lines[-1]
    files = {path.name for path in tmp_path.iterdir()}
    assert {"model.gw", "edges.csv"} <= files
    assert not {"predictability.csv", "centrality.csv", "network.png"} & files
    result = graftwork(*words, 10**6)
    assert "the time was up" not in result.err
    assert (tmp_path / "network.png").exists()


#: The command line where every look at a part of the rows takes a while.
SLOWLY = (
    "import signal, sys, time; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from graftwork.cli import main, parts; told = parts._told; "
    "parts._told = lambda *words: (time.sleep(0.1), told(*words))[1]; sys.exit(main())"
)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_leave_no_scratch_files(number, code, chain_csv, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    words = ["learn", chain_csv, "--memory", "1MB", "--jobs", "1", "--lam", "1e-6", "--tol",
             "1e-10", "--no-plot", "--out", tmp_path / "out"]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-c", SLOWLY, *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(scratch)},
    )  # fmt: skip
    while "learning from" not in process.stderr.readline():
        assert process.poll() is None
    assert list(scratch.iterdir()) != []
    process.send_signal(number)
    _, told = process.communicate(timeout=LONG)
    assert process.returncode == code, told
    assert told.splitlines()[-1].startswith("interrupted")
    assert list(scratch.iterdir()) == []


def test_an_interrupted_bootstrap_goes_on(start, chain_csv, tmp_path, graftwork, monkeypatch):
    words = ["bootstrap", chain_csv, "--n", "15", "--jobs", "2", "--no-plot", "--out"]
    process = start(*words, "out", cwd=tmp_path, pause=0.0)
    while "of 30 done" not in (line := process.stderr.readline()) or line.startswith("0 of"):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=LONG)
    assert process.returncode == 130, told
    assert "The same command goes on." in told
    assert any((tmp_path / "out" / "parts").iterdir())
    monkeypatch.chdir(tmp_path)
    assert graftwork(*words, "out").code == graftwork(*words, "quiet").code == 0
    one, other = (
        {path.name: path.read_bytes() for path in (tmp_path / name).glob("*.csv")}
        for name in ("out", "quiet")
    )
    assert one == other
