"""A full disk, a folder that cannot be written, an input that is gone: one sentence, no loss."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

posix = pytest.mark.skipif(os.name != "posix", reason="limits of processes")
#: Commands, with what they read and where they write.
COMMANDS = {
    "learn": ["learn", "t.csv", "--lam", "0.05", "--holdout", "0", "--out", "{out}"],
    "bootstrap": ["bootstrap", "t.csv", "--lam", "0.05", "--n", "3", "--out", "{out}"],
    "compare-groups": ["compare-groups", "t.csv", "--by", "d", "--out", "{out}"],
    "crf": ["crf", "s.txt", "--lam", "0.01", "--out", "{out}"],
    "explore": ["explore", "m.gw", "--out", "{out}/page.html"],
    "convert": ["convert", "m.gw", "{out}/m.uai"],
    "show": ["show", "m.gw", "--edges", "{out}/edges.csv"],
    "sample": ["sample", "m.gw", "2000", "--out", "{out}/rows.csv"],
    "impute": ["impute", "m.gw", "t.csv", "--out", "{out}/filled.csv"],
    "predict": ["predict", "m.gw", "t.csv", "--target", "d", "--out", "{out}/told.csv"],
    "score": ["score", "m.gw", "t.csv", "--per-row", "{out}/scores.csv"],
}
#: The largest file that there is room for: less than each command writes.
FULL = 40


def ran(place, words, full=None):
    """Return how a command ends; no file may be larger than ``full`` bytes."""

    def limited():
        if full is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (full, full))

    return subprocess.run(
        [sys.executable, "-m", "graftwork", *words], cwd=place, capture_output=True, text=True,
        timeout=120, preexec_fn=limited,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "MPLCONFIGDIR": str(place)},
    )  # fmt: skip


def is_one_sentence(done):
    """Require that a command was refused with one sentence."""
    assert done.returncode == 2, (done.returncode, done.stderr)
    assert "unexpected" not in done.stderr
    assert "Traceback" not in done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, done.stderr
    assert done.stderr.splitlines()[-1] == errors[0]


def content(folder):
    """Return what is in a folder, file by file."""
    files = (path for path in Path(folder).iterdir() if path.is_file())  # finished parts stay
    return {path.name: path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with a table, sentences and a model."""
    folder = tmp_path_factory.mktemp("broken")
    lines = [f"{k % 2},{(k // 3) % 2},{k % 3},{'uv'[k % 5 < 2]}" for k in range(200)]
    (folder / "t.csv").write_text("\n".join(["a,b,c,d", *lines]))
    words = [f"w{k % 7} l{k % 3}" if k % 6 else "" for k in range(300)]
    (folder / "s.txt").write_text("\n".join(words))
    done = ran(folder, ["learn", "t.csv", "--lam", "0.05", "--no-plot", "--out", "made"])
    assert done.returncode == 0, done.stderr
    (folder / "made" / "model.gw").rename(folder / "m.gw")
    return folder


def written_to(name, out):
    """Return the words of a command that writes into a folder."""
    return [word.format(out=out) for word in COMMANDS[name]]


@posix
@pytest.mark.parametrize(
    "name",
    [n if n in ("learn", "crf", "sample") else pytest.param(n, marks=pytest.mark.slow)
     for n in COMMANDS],
)  # fmt: skip
def test_a_full_disk(name, place):
    out = place / f"full-{name}"
    out.mkdir()
    assert ran(place, written_to(name, out)).returncode == 0
    earlier = content(out)
    assert earlier
    is_one_sentence(ran(place, written_to(name, out), full=FULL))
    assert content(out) == earlier


@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_that_cannot_be_written_and_an_input_that_is_gone(
    name, place, graftwork, monkeypatch
):
    monkeypatch.chdir(place)
    out = place / f"file-{name}"
    out.write_text("a file, where a folder should be")
    refused(graftwork(*written_to(name, out)))
    assert out.read_text() == "a file, where a folder should be"
    out = place / f"gone-{name}"
    words = [word.replace("t.csv", "gone.csv") for word in written_to(name, out)]
    refused(graftwork(*(w.replace("m.gw", "gone.gw").replace("s.txt", "gone.txt") for w in words)))
    assert not out.exists() or not content(out)


def refused(result):
    assert result.code == 2
    assert [line for line in result.lines if line.startswith("error: ")] == result.lines[-1:]
    assert "unexpected" not in result.err
