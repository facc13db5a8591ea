"""Ctrl-C at random moments, and limits on time: every long command ends within two seconds.

Another time, or one command: GRAFTWORK_INTERRUPTS_SEED=7, ``pytest -m slow -k scanned``.
"""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

SEED = int(os.environ.get("GRAFTWORK_INTERRUPTS_SEED", "0"))
#: Seconds from the signal to the end of the process, saved files included.
PROMISED = 2.0
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
    "impute": ["learn", "gaps.csv", "--missing", "impute"],
    "likelihood": ["learn", "t.csv", "--loss", "likelihood", "--lam", "0.003"],
    "trw": ["learn", "t.csv", "--loss", "likelihood", "--inference", "trw", "--lam", "0.003"],
    "edge-grafting": ["learn", "t.csv", "--method", "edge-grafting", "--lam", "0.001"],
    "working-set": ["learn", "t.csv", "--method", "working-set", "--lam", "0.0005"],
    "gauss-seidel": ["learn", "t.csv", "--method", "gauss-seidel", "--lam", "0.002"],
    "grafting-light": ["learn", "t.csv", "--method", "grafting-light", "--lam", "0.0005"],
    "full": ["learn", "t.csv", "--method", "full", "--lam", "0.0005"],
    "exchange": ["learn", "t.csv", "--method", "forced-pruning", "--edges", "100"],
    "bootstrap": ["bootstrap", "t.csv", "--n", "500", "--jobs", "1"],
    "bootstrap-2": ["bootstrap", "t.csv", "--n", "500", "--jobs", "2"],
    "groups": ["compare-groups", "t.csv", "--by", "v0", "--permutations", "500"],
    "scanned": ["learn", "parts/*.parquet", "--memory", "300MB", "--lam", "0.0005"],
    "processes": ["learn", "parts/*.parquet", "--engine", "processes", "--lam", "0.0005"],
    "crf": ["crf", "train.txt", "--lam", "0.00001"],
    "crf-group": ["crf", "train.txt", "--penalty", "group-l1", "--lam", "0.00001"],
    "sample": ["sample", "model.gw", "100000000", "--out", "rows.csv"],
}  # fmt: skip
#: Those that take a limit on time.
LIMITED = [name for name, words in COMMANDS.items() if words[0] in ("learn", "crf")]


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
    """Return a folder with a table, gaps in it, parts of it, sentences and a model."""
    folder, rng = tmp_path_factory.mktemp("interrupts"), np.random.default_rng(1)
    table = made_table(rng)
    table.to_csv(folder / "t.csv", index=False)
    table.mask(rng.random(table.shape) < 0.02).to_csv(folder / "gaps.csv", index=False)
    (folder / "parts").mkdir()
    for k in range(20):
        some = table.sample(frac=1, random_state=k)
        some.to_parquet(folder / "parts" / f"{k}.parquet", index=False)
    (folder / "train.txt").write_text(made_sentences(rng))
    made = [*program(), "learn", "t.csv", "--lam", "0.05", "--no-plot", "--out", "learned"]
    subprocess.run(made, cwd=folder, check=True, capture_output=True)
    (folder / "learned" / "model.gw").rename(folder / "model.gw")
    return folder


def program():
    """Return the words that run the command line."""
    return [sys.executable, "-c", PROGRAM]


def begun(words, place):
    """Return a process that runs a command."""
    if words[0] not in ("sample",):
        words = [*words, "--out", f"out-{time.monotonic_ns()}"]
    return subprocess.Popen(
        [*program(), *words], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_is_obeyed(name, place, record_property):
    rng = np.random.default_rng([SEED, *name.encode()])
    late = {}
    for wait in rng.uniform(FIRST, LAST, 3):
        process = begun(COMMANDS[name], place)
        try:
            process.communicate(timeout=wait)
            break  # this machine is quicker: it was done before
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGINT)
        sent = time.monotonic()
        _, said = process.communicate(timeout=120)
        took = time.monotonic() - sent
        print(f"{name}: after {wait:.1f} s, ended in {took:.2f} s, code {process.returncode}")
        assert process.returncode in (0, 130), said
        assert "Traceback" not in said
        if took > PROMISED:
            late[round(wait, 2)] = round(took, 2)
    assert not late, f"seconds from Ctrl-C to the end, by when it was sent: {late}"


@pytest.mark.slow
@pytest.mark.parametrize("name", LIMITED)
def test_a_limit_on_time_is_kept(name, place):
    """The process ends within what starting, reading and writing take, the limit, and 2 s."""
    words, limit = COMMANDS[name], 4.0
    times = []
    for seconds in (0.01, limit):
        begin = time.monotonic()
        given = [*words, "--max-seconds", str(seconds)]
        if words[0] == "learn":  # another network would have as much time again
            given += ["--holdout", "0", "--no-plot"]
        process = begun(given, place)
        _, said = process.communicate(timeout=120)
        times.append(time.monotonic() - begin)
        assert process.returncode == 0, said
    late = times[1] - times[0] - limit
    print(f"{name}: {times[0]:.2f} s with hardly any time, {late:+.2f} s beyond a limit of 4 s")
    assert late <= PROMISED
