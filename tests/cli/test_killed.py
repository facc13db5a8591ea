"""Commands that are killed: what they leave behind, and how the next one goes on from it."""

import os
import signal
import subprocess
import sys

import pytest

from graftwork.cli import main
from graftwork.models import load

from doors.cli import learn
from doors.data import write_lines

#: A function of a module is called, and the process kills itself when it has returned n times.
KILLED = (
    "import importlib, os, signal, sys; from graftwork.cli import learn, main\n"
    "learn.PAUSE = 0.0\n"
    "left, (place, name) = [int(sys.argv.pop(1))], sys.argv.pop(1).split(':')\n"
    "owner = importlib.import_module(place) if place != 'Keeper' else learn.Keeper\n"
    "whole = getattr(owner, name)\n"
    "def then_die(*given):\n"
    "    whole(*given); left[0] -= 1\n"
    "    if not left[0]: os.kill(os.getpid(), signal.SIGKILL)\n"
    "setattr(owner, name, then_die); sys.exit(main())"
)
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")

WORDS = {
    "bootstrap": ["--n", "6", "--no-plot", "--jobs", "1"],
    "compare-groups": ["--by", "d", "--permutations", "6", "--no-plot", "--jobs", "1"],
}


def killed(at, function, *words, cwd):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(at), function, *map(str, words)],
        cwd=cwd, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr


def tables(folder):
    found = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".csv"}
    assert found
    return found


@pytest.mark.parametrize("command", WORDS)
def test_finished_parts_are_not_done_again(command, chain_csv, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = [command, str(chain_csv), *WORDS[command], "--out"]
    killed(3, "graftwork.finished:write_part", *words, "out", cwd=tmp_path)
    left = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(left) == 3  # nothing half-written
    assert {path.parent.name for path in left} == {"parts"}
    killed(2, "graftwork.finished:write_part", *words, "out", cwd=tmp_path)
    assert len(list((tmp_path / "out" / "parts").iterdir())) == 5
    capsys.readouterr()
    assert main([*words, "out"]) == 0
    assert "has parts of a run that was stopped" in capsys.readouterr().err
    assert not (tmp_path / "out" / "parts").exists()
    assert main([*words, "quiet"]) == 0
    assert tables(tmp_path / "out") == tables(tmp_path / "quiet")


def test_parts_of_other_rows_are_not_used(chain_csv, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["bootstrap", str(chain_csv), *WORDS["bootstrap"], "--out"]
    killed(5, "graftwork.finished:write_part", *words, "out", cwd=tmp_path)
    chain_csv.write_text(chain_csv.read_text() + "no,1,True,0\n" * 50)
    assert main([*words, "out"]) == 0
    assert main([*words, "quiet"]) == 0
    assert tables(tmp_path / "out") == tables(tmp_path / "quiet")


WRITER = """
import os, signal, sys
from pathlib import Path
from graftwork.data.atomic import replacing, replacing_together
folder = Path(sys.argv[1])
one, both = replacing(folder / "one.txt"), replacing_together(folder)
one.__enter__().write(b"half")
(both.__enter__() / "two.txt").write_text("half")
if sys.argv[2] == "die":
    os.kill(os.getpid(), signal.SIGKILL)
print("writing", flush=True)
sys.stdin.read()
"""


def test_half_written_files_of_the_dead_are_removed_and_those_of_the_living_stay(tmp_path):
    pytest.importorskip("fcntl")
    start = [sys.executable, "-c", WRITER, str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([*start, "live"], env=env, **pipes) as living:
        assert living.stdout.readline() == b"writing\n"
        kept = set(tmp_path.iterdir())
        assert subprocess.run([*start, "die"], env=env).returncode == -signal.SIGKILL
        assert len(set(tmp_path.iterdir()) - kept) == 2
        (tmp_path / ".mine.part").write_text("of somebody else")
        write_lines(tmp_path / "done.txt", ["done"])
        assert set(tmp_path.iterdir()) == kept | {tmp_path / "done.txt", tmp_path / ".mine.part"}
        living.kill()
    write_lines(tmp_path / "done.txt", ["again"])
    assert {path.name for path in tmp_path.iterdir()} == {"done.txt", ".mine.part"}


def test_a_killed_fit_leaves_a_network_to_start_from(chain_csv, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["learn", str(chain_csv), "--lam", "0.02", "--tol", "1e-10", "--no-plot"]
    words += ["--holdout", "0", "--out"]
    assert main([*words, "quiet"]) == 0
    killed(3, "Keeper:on_model", *words, "out", cwd=tmp_path)
    so_far = tmp_path / "out" / learn.SO_FAR
    assert [path.name for path in so_far.parent.iterdir()] == [so_far.name]
    assert load(so_far).names == load(tmp_path / "quiet" / "model.gw").names
    capsys.readouterr()
    assert main([*words, "out", "--start", str(so_far)]) == 0
    assert "is the network so far of a run that was killed" in capsys.readouterr().err
    assert not so_far.exists()
    model, quiet = load(tmp_path / "out" / "model.gw"), load(tmp_path / "quiet" / "model.gw")
    assert model.edges == quiet.edges
    assert model.weights == pytest.approx(quiet.weights, abs=1e-6)


def test_learning_goes_on_where_the_network_so_far_cannot_be_written(
    graftwork, chain_csv, tmp_path, monkeypatch
):
    monkeypatch.setattr(learn, "PAUSE", 0.0)
    (tmp_path / "out" / learn.SO_FAR / "in-the-way").mkdir(parents=True)
    words = ["learn", chain_csv, "--lam", "0.02", "--no-plot", "--holdout", "0"]
    result = graftwork(*words, "--out", tmp_path / "out")
    assert "note: the network so far was not kept:" in result.err
