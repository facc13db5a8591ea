"""Commands that are killed: the same command goes on, and its answer is that of a quiet run."""

import json
import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

from graftwork import journal
from graftwork.cli import main
from graftwork.models import load

# Progress is written after every piece; the process kills itself at the n-th writing.
KILLED = (
    "import os, signal, sys; from graftwork import journal; from graftwork.cli import main; "
    "journal.PAUSE = 0.0; left = [int(sys.argv.pop(1))]; write = journal.Journal.write\n"
    "def then_die(self):\n"
    "    write(self); left[0] -= 1\n"
    "    if not left[0]: os.kill(os.getpid(), signal.SIGKILL)\n"
    "journal.Journal.write = then_die; sys.exit(main())"
)
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")


def killed(at, *words, cwd):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(at), *map(str, words)],
        cwd=cwd, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr
    left = sorted(path.name for path in (cwd / "out").iterdir())
    assert left == ["progress.gwp"]  # nothing half-written
    return done.stderr


def numbers(folder, *, but=()):
    """Return the files of a folder that hold no time."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.suffix == ".csv" and path.name not in but
    }


WORDS = {
    "learn": ["--no-plot", "--holdout", "0"],
    "bootstrap": ["--n", "6", "--no-plot", "--jobs", "1"],
    "compare-groups": ["--by", "d", "--permutations", "6", "--no-plot", "--jobs", "1"],
}


@pytest.mark.parametrize("command", WORDS)
def test_a_killed_command_goes_on(command, chain_csv, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = [command, str(chain_csv), *WORDS[command], "--out"]
    assert main([*words, "quiet"]) == 0
    # twice: the other process has loaded no module that this one has
    said = [killed(at, *words, "out", cwd=tmp_path) for at in (4, 3)]
    assert "going on from out/progress.gwp" in said[1]
    capsys.readouterr()
    assert main([*words, "out"]) == 0
    assert "going on from out/progress.gwp" in capsys.readouterr().err
    assert not (tmp_path / "out" / "progress.gwp").exists()
    same_numbers(tmp_path / "quiet", tmp_path / "out")


def same_numbers(one_folder, other_folder):
    """Require the same tables; a fit that goes on half-way may differ in the last digits."""
    quiet, again = numbers(one_folder), numbers(other_folder)
    assert quiet
    assert set(again) == set(quiet)
    for name in quiet:
        one, other = (text.decode().splitlines() for text in (quiet[name], again[name]))
        for line, same in zip(one, other, strict=True):
            for cell, also in zip(line.split(","), same.split(","), strict=True):
                assert cell == also or np.isclose(float(cell), float(also), rtol=1e-4, atol=1e-6)


def sentences(path, n, seed=0):
    """Write labelled sentences, with words that tell most labels."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        words = rng.integers(0, 40, 6)
        lines += [f"w{w} l{w % 3 if rng.random() < 0.8 else rng.integers(3)}" for w in words]
        lines.append("")
    path.write_text("\n".join(lines))
    return path


def test_a_killed_chain_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = [
        "crf",
        str(sentences(tmp_path / "s.txt", 60)),
        "--lam",
        "0.002",
        "--tol",
        "1e-8",
        "--out",
    ]
    assert main([*words, "quiet"]) == 0
    said = [killed(at, *words, "out", cwd=tmp_path) for at in (3, 2)]
    assert "going on from out/progress.gwp" in said[1]
    capsys.readouterr()
    assert main([*words, "out"]) == 0
    assert "going on from out/progress.gwp" in capsys.readouterr().err
    same_chain(tmp_path / "quiet", tmp_path / "out")


def same_chain(one_folder, other_folder):
    """Require the same objective and the same labels: the best weights need not be unique."""
    found = []
    for folder in (one_folder, other_folder):
        tagged = folder / "tagged.txt"
        text = folder.parent / "s.txt"
        assert main(["tag", str(folder / "model.gw"), str(text), "--out", str(tagged)]) == 0
        last = (folder / "trace.jsonl").read_text().splitlines()[-1]
        found.append((json.loads(last)["objective"], tagged.read_text()))
    assert np.isclose(found[0][0], found[1][0], rtol=1e-6)
    assert found[0][1] == found[1][1]


#: Rows, columns and states, and further words, such that a command takes from six seconds on.
LONG, SHORT = (30_000, 48, 4), (4_000, 12, 3)
MORE = {"bootstrap": ["--n", "60"], "compare-groups": ["--permutations", "300"]}


@pytest.mark.slow
@pytest.mark.parametrize("command", [*WORDS, "crf"])
def test_kills_at_random_moments(command, tmp_path, monkeypatch):
    """Killed five times whenever it happens to be, the same command ends as a quiet run does."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng([int(os.environ.get("GRAFTWORK_KILLS_SEED", "7")), len(command)])
    rows, columns, states = LONG if command == "learn" else SHORT
    table = rng.integers(0, states, (rows, columns))
    drawn = rng.random((rows, columns - 1)) < 0.5
    table[:, 1:] = np.where(drawn, table[:, :-1], table[:, 1:])
    names = [chr(ord("a") + k % 26) * (1 + k // 26) for k in range(columns)]
    lines = [",".join(names), *(",".join(map(str, row)) for row in table.tolist())]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    if command == "crf":
        words = [
            "crf",
            str(sentences(tmp_path / "s.txt", 1500)),
            "--lam",
            "0.00002",
            "--tol",
            "1e-7",
            "--out",
        ]
    else:
        words = [command, "t.csv", *WORDS[command], *MORE.get(command, []), "--out"]
    assert main([*words, "quiet"]) == 0
    program = (
        "import sys; from graftwork import journal; from graftwork.cli import main; "
        "journal.PAUSE = 0.1; sys.exit(main())"
    )
    kills = had_progress = 0
    for wait in rng.uniform(1.5, 12.0, 40):
        process = subprocess.Popen(
            [sys.executable, "-c", program, *words, "out"], cwd=tmp_path,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        try:
            process.wait(timeout=wait)
            assert process.returncode == 0
            shutil.rmtree(tmp_path / "out")  # it was done before: another try, sooner or later
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
            had_progress += (tmp_path / "out" / "progress.gwp").exists()
            if kills == 5:
                break
    print(f"{command}: killed {kills} times, {had_progress} of them with progress kept")
    assert had_progress
    assert main([*words, "out"]) == 0
    assert [path.name for path in (tmp_path / "out").glob("progress*")] == []
    (same_chain if command == "crf" else same_numbers)(tmp_path / "quiet", tmp_path / "out")


def test_finished_fits_are_the_same_to_the_last_bit(chain_csv, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["learn", str(chain_csv), "--lam", "0.02", "--no-plot", "--out"]
    assert main([*words, "quiet"]) == 0
    monkeypatch.setattr(journal, "PAUSE", 0.0)
    remove = journal.Journal.close
    monkeypatch.setattr(
        journal.Journal, "close", lambda self, finished: remove(self, finished=False)
    )
    assert main([*words, "out"]) == 0
    assert (tmp_path / "out" / "progress.gwp").exists()
    assert main([*words, "out"]) == 0
    models = [load(tmp_path / folder / "model.gw") for folder in ("quiet", "out")]
    assert models[0].edges == models[1].edges
    assert np.array_equal(models[0].potentials.weights, models[1].potentials.weights)


def test_progress_is_read_by_a_process_that_has_loaded_nothing(chain_csv, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(journal, "PAUSE", 0.0)
    remove = journal.Journal.close
    monkeypatch.setattr(
        journal.Journal, "close", lambda self, finished: remove(self, finished=False)
    )
    assert main(["bootstrap", str(chain_csv), *WORDS["bootstrap"], "--out", "out"]) == 0
    with np.load(tmp_path / "out" / "progress.gwp") as file:
        fingerprint = json.loads(file["header"].tobytes())["fingerprint"]
    program = (
        "import sys; from pathlib import Path; from graftwork.journal import Journal; "
        "Journal(Path(sys.argv[1]), sys.argv[2], print)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "out/progress.gwp", fingerprint],
        capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.stdout.startswith("going on from")


def test_progress_of_other_data_is_not_used(chain_csv, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["learn", str(chain_csv), "--lam", "0.02", "--no-plot", "--out", "out"]
    killed(2, *words, cwd=tmp_path)
    chain_csv.write_text(chain_csv.read_text() + "no,1,True,0\n")
    assert main(words) == 0
    assert "is of another run, or of other data: begun anew" in capsys.readouterr().err
    killed_file = tmp_path / "out" / "progress.gwp"
    assert not killed_file.exists()
    killed_file.write_bytes(b"PK half of a file")
    assert main(words) == 0
    assert "cannot be read: begun anew" in capsys.readouterr().err


def test_a_disk_that_is_full_ends_nothing(tmp_path):
    said = []
    kept = journal.Journal(tmp_path / "absent" / "progress.gwp", "same", said.append)
    kept.keep("fit 0", (np.arange(3), float("nan")))
    kept.write()
    kept.write()
    assert len(said) == 1
    assert "progress cannot be kept" in said[0]
