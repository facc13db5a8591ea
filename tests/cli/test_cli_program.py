import io
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from graftwork.cli import main
from graftwork.models import load
from graftwork.version import __version__

from doors.cli import Aborted, Bar, Interrupts, Lines, Quiet, Stoppable, failures, numbers
from doors.cli import app as program
from doors.grafting import Round

RECORD = Round(1, 2, 2, 2, 0, 2.0, 1.5, 0.1, 0.0, 1e-6, True, 3, 4, 5, 0.1, 0.01)


def test_version_and_help(graftwork):
    assert graftwork("--version").out == f"graftwork {__version__}\n"
    for words in ([], ["--help"], ["-h"]):
        result = graftwork(*words)
        assert result.code == 0
        assert "graftwork query run/model.gw" in result.out
    for command in ("learn", "score", "query", "sample", "show", "crf", "tag"):
        result = graftwork(command, "--help")
        assert result.code == 0
        assert f"graftwork {command}" in result.out
        assert "Examples:" in result.out


def test_typer_runner_knows_the_program():
    result = CliRunner().invoke(program.app, ["--version"])
    assert result.exit_code == 0
    assert __version__ in result.output


def test_unknown_commands_are_refused(graftwork):
    result = graftwork("lern")
    assert result.code == 2
    assert len(result.lines) == 1


def test_unexpected_failures_are_one_sentence(graftwork, model_file, monkeypatch):
    def fail(path):
        raise RuntimeError("boom\nbang")

    monkeypatch.setattr("graftwork.exchange.load", fail)
    result = graftwork("show", model_file)
    assert result.code == 1
    assert result.lines == [
        "error: unexpected RuntimeError: boom bang (set GRAFTWORK_DEBUG=1 to see where)"
    ]
    monkeypatch.setenv("GRAFTWORK_DEBUG", "1")
    assert "Traceback" in graftwork("show", model_file).err


def test_failures_have_codes(capsys):
    assert failures.report_failure(KeyboardInterrupt()) == 130
    assert failures.report_failure(Aborted()) == 130
    assert failures.report_failure(PermissionError(13, "Permission denied", "x.csv")) == 2
    assert "error: 'x.csv': permission denied.\n" in capsys.readouterr().err
    assert failures.report_failure(MemoryError("cannot allocate 2 GB")) == 2
    assert "error: there is too little memory for this; take" in capsys.readouterr().err


def test_importing_the_program_is_light():
    code = (
        "import sys, graftwork.cli; "
        "heavy = {'numba', 'numpy', 'scipy', 'sklearn', 'pandas', 'matplotlib', 'networkx'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env
    )
    assert done.stdout == "[]\n"


def test_python_m_graftwork_is_the_program():
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", "graftwork", "--version"],
        capture_output=True,
        text=True,
        check=True,
        env=env,
    )
    assert done.stdout == f"graftwork {__version__}\n"


@pytest.mark.skipif(os.name != "posix", reason="a shell")
def test_closed_streams(model_file, chain_csv, tmp_path):
    """Of a daemon, say: Python then has no stream at all."""
    words = f"{sys.executable} -c 'from graftwork.cli.app import program; exit(program())'"

    def run(command, closed):
        done = subprocess.run(
            f"{words} {command} {closed}", shell=True, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        return done.returncode, done.stderr

    assert run(f"query {model_file}", "2>&-") == (0, "")
    for command in ("query", "show"):
        code, said = run(f"{command} {model_file}", ">&-")
        assert (code, said) == (2, "error: standard output is closed, so nothing can be printed.\n")
    # what is learned is in files
    code, said = run(f"learn {chain_csv} --lam .1 --no-plot --out {tmp_path / 'run'}", ">&- 2>&-")
    assert (code, said) == (0, "")
    assert (tmp_path / "run" / "model.gw").exists()


def test_streams_are_apart_and_plain(start, chain_csv, tmp_path):
    process = start("learn", chain_csv, "--lam", "0.02", "--no-plot", cwd=tmp_path)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "\x1b" not in out + err
    assert out.startswith("Data\n")
    assert err.splitlines() == [
        f"reading {chain_csv}",
        "learning from 300 rows of 4 variables",
        "measuring: learning once more from 270 rows, to predict 30 others",
    ]
    process = start("show", "absent.gw", cwd=tmp_path)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (2, "")
    assert err.count("\n") == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupt_saves_the_best_so_far(start, tmp_path, number, code):
    # A network of nearly all pairs, solved to the last digit: long enough to be stopped.
    words = ["learn", "mushroom", "--lam", "0.0005", "--no-plot", "--jobs", "1", "--tol", "1e-9"]
    process = start(*words, cwd=tmp_path, pause=0.0)
    while "0 edges" in (line := process.stderr.readline()) or "edges" not in line:
        assert process.poll() is None
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
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
    out, err = process.communicate(timeout=60)
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


def test_second_interrupt_aborts(monkeypatch):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Interrupts() as interrupts:
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            assert interrupts.seen
            watched = Stoppable(Quiet(), interrupts)
            with pytest.raises(KeyboardInterrupt):
                watched.on_round(RECORD)
            with pytest.raises(Aborted):
                signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_a_result_can_do_without_ends_soon_after_an_interrupt(monkeypatch):
    monkeypatch.setattr("graftwork.cli.interrupts.GRACE", 0.3)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Interrupts() as interrupts:
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            assert interrupts.attempt(lambda: "quick") == "quick"
            assert interrupts.attempt(lambda: time.sleep(30) or "slow") is None
            assert interrupts.late
            assert interrupts.attempt(lambda: "not begun") is None
    finally:
        signal.signal(signal.SIGINT, before)


def test_when_the_time_is_up_what_a_result_can_do_without_ends_soon_and_nothing_was_interrupted(
    monkeypatch,
):
    monkeypatch.setattr("graftwork.cli.interrupts.GRACE", 0.3)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Interrupts() as interrupts:
            interrupts.press()
            assert interrupts.attempt(lambda: "quick") == "quick"
            assert interrupts.attempt(lambda: time.sleep(30) or "slow") is None
            assert interrupts.attempt(lambda: "not begun") is None
            assert not interrupts.late
            assert not interrupts.seen
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_ends_within_its_grace_leaves_no_alarm_behind(monkeypatch):
    """The clock that ended it afterwards looked like a signal: exit 130 after --max-seconds."""
    monkeypatch.setattr("graftwork.cli.interrupts.GRACE", 0.1)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Interrupts() as interrupts:
            interrupts.finishing = True
            interrupts.press()
            assert interrupts.attempt(lambda: "quick") == "quick"
            assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
            signal.raise_signal(signal.SIGALRM)  # one that came in between
            assert not interrupts.late
            signal.raise_signal(signal.SIGINT)
            assert interrupts.late
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_that_waits_when_an_action_ends_is_not_forgotten(monkeypatch):
    monkeypatch.setattr("graftwork.cli.interrupts._is_delicate", lambda frame: True)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Interrupts() as interrupts:
            interrupts.finishing = True
            assert (
                interrupts.attempt(lambda: signal.raise_signal(signal.SIGINT) or "done") == "done"
            )
            assert interrupts.late
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_that_compiled_code_turns_into_another_error_is_one_all_the_same():
    def picture():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ValueError("Invalid bounding box") from None  # as matplotlib does

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Interrupts() as interrupts:
            with pytest.raises(ZeroDivisionError):
                interrupts.attempt(lambda: 1 / 0)
            assert interrupts.attempt(picture) is None
            assert interrupts.late
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_second_sigterm_changes_nothing():
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    with Interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        assert interrupts.seen
        assert Interrupts.terminated
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    with Interrupts():
        assert not Interrupts.terminated


def test_lines_are_few(capsys):
    now_and_then = Lines(pause=1000.0)
    always = Lines(pause=0.0)
    for lines in (now_and_then, always):
        with lines:
            lines.on_stage("lambda 0.1", 0, 3)
            lines.on_search(5, 10)
            lines.on_round(RECORD)
    told = capsys.readouterr().err.splitlines()
    assert told == ["lambda 0.1 (stage 1 of 3): 2 edges, objective 2, worst violation 0.1"]
    features = replace(RECORD, edges=1, blocks=1200)
    assert numbers(features) == "1 edge (1,200 features), objective 2, worst violation 0.1"
    assert numbers(RECORD, "feature") == "2 features, objective 2, worst violation 0.1"


def test_bar_shows_the_numbers():
    from rich.console import Console

    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)
    with Bar(console) as bar:
        bar.note("reading [x]")
        bar.on_stage("lambda 0.1", 1, 3)
        bar.on_round(RECORD)
        bar.on_search(7, 10)
        bar._bar.refresh()
    shown = screen.getvalue()
    for part in ("reading [x]", "lambda 0.1", "2 edges", "objective 2", "7 candidates tested"):
        assert part in shown
