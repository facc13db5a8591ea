import io
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from graftwork.version import __version__

from doors.cli import Bar, Lines, failures, numbers
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
