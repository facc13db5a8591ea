"""Ctrl-C at random moments: every long command ends in words, and leaves no half-written file.

Another time, or one command: GRAFTWORK_INTERRUPTS_SEED=7, ``pytest -m slow -s -k scanned``; it
prints how long the answers took, which nothing asserts: that depends on what else is running.
"""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from graftwork.models import load

SEED = int(os.environ.get("GRAFTWORK_INTERRUPTS_SEED", "0"))
#: The program is ready for signals once it is imported; later it works for this long or longer.
FIRST, LAST = 2.5, 12.0
ROWS, COLUMNS, SENTENCES = 60_000, 80, 6_000

#: A shell that runs tests in the background lets what they start ignore Ctrl-C.
PROGRAM = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from graftwork.cli.app import program; sys.exit(program())"
)

COMMANDS = {
    "structure": ["learn", "t.csv"],
    "prediction": ["learn", "t.csv", "--goal", "prediction"],
    "tying": ["learn", "t.csv", "--lam", "0.002", "--tie", "4"],
    "available-case": ["learn", "gaps.csv", "--missing", "available-case"],
    "likelihood": ["learn", "t.csv", "--loss", "likelihood", "--lam", "0.003"],
    "gauss-seidel": ["learn", "t.csv", "--method", "gauss-seidel", "--lam", "0.002"],
    "full": ["learn", "t.csv", "--method", "full", "--lam", "0.0005"],
    "exchange": ["learn", "t.csv", "--method", "forced-pruning", "--edges", "100"],
    "bootstrap": ["bootstrap", "t.csv", "--n", "500", "--jobs", "2"],
    "groups": ["compare-groups", "t.csv", "--by", "v0", "--permutations", "500"],
    "scanned": ["learn", "parts/*.parquet", "--memory", "300MB", "--lam", "0.0005"],
    "processes": ["learn", "parts/*.parquet", "--engine", "processes", "--lam", "0.0005"],
    "crf": ["crf", "train.txt", "--lam", "0.00001"],
}  # fmt: skip


def made_table(rng):
    """Return columns of 2 to 4 states, each following the one before."""
    codes = np.empty((ROWS, COLUMNS), dtype=np.int64)
    codes[:, 0] = rng.integers(0, 2, ROWS)
    for k in range(1, COLUMNS):
        own = 2 + k % 3
        drawn = rng.random(ROWS) < 0.6
        codes[:, k] = np.where(drawn, rng.integers(0, own, ROWS), codes[:, k - 1] % own)
    return pd.DataFrame(codes, columns=[f"v{k}" for k in range(COLUMNS)])


def made_sentences(rng):
    """Return words and labels in columns."""
    words = rng.zipf(1.3, size=(SENTENCES, 15)) % 5000
    lines = []
    for sentence in words.tolist():
        lines += [f"w{word} t{word % 7} l{(word + 3) % 5}" for word in sentence]
        lines.append("")
    return "\n".join(lines)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with a table, gaps in it, parts of it, and sentences."""
    folder, rng = tmp_path_factory.mktemp("interrupts"), np.random.default_rng(1)
    table = made_table(rng)
    table.to_csv(folder / "t.csv", index=False)
    table.mask(rng.random(table.shape) < 0.02).to_csv(folder / "gaps.csv", index=False)
    (folder / "parts").mkdir()
    for k in range(20):
        some = table.sample(frac=1, random_state=k)
        some.to_parquet(folder / "parts" / f"{k}.parquet", index=False)
    (folder / "train.txt").write_text(made_sentences(rng))
    return folder


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_is_obeyed(name, place):
    rng = np.random.default_rng([SEED, *name.encode()])
    for turn, wait in enumerate(rng.uniform(FIRST, LAST, 3)):
        out = place / f"out-{name}-{turn}"
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *COMMANDS[name], "--out", str(out)], cwd=place,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        try:
            process.communicate(timeout=wait)
            break  # this machine is quicker: it was done before
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGINT)
        sent = time.monotonic()
        _, said = process.communicate(timeout=120)
        print(f"{name}: after {wait:.1f} s, ended in {time.monotonic() - sent:.2f} s")
        assert process.returncode == 130, said
        assert "Traceback" not in said
        assert said.splitlines()[-1].startswith("interrupted")
        assert not list(place.rglob("*.part*"))
        for model in out.glob("*.gw") if out.exists() else ():
            load(model)
