"""Columns of very many states: refused within little memory, by every way in."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import graftwork as gw
from graftwork.errors import TooLargeError

from doors.estimators import table_bytes

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc"
)
# Runs statements one after the other: the megabytes that each added to the peak, and its error.
CHILD = """
import sys, warnings
import graftwork as gw
from graftwork.cli.app import main
warnings.simplefilter("ignore")
path = sys.argv[1]
gw.MarkovNetwork(lam=0.1, n_jobs=1).fit({"a": [0, 1] * 20, "b": [0, 0, 1, 1] * 10})
def peak():  # what getrusage tells begins with the peak of the process that started this one
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000
before = peak()
for statement in sys.argv[2:]:
    try:
        text = str(eval(statement))
    except gw.GraftworkError as error:
        text = f"{type(error).__name__}: {error}"
    print(peak() - before, text, flush=True)
"""
WAYS = {
    "fit": "gw.MarkovNetwork(n_jobs=1).fit(path)",
    "lam": "gw.MarkovNetwork(n_jobs=1, lam=0.01).fit(path)",
    "likelihood": "gw.MarkovNetwork(n_jobs=1, lam=0.01, loss='likelihood').fit(path)",
    "parts": "gw.MarkovNetwork(n_jobs=1).fit(gw.scan(path))",
    "estimate": "gw.MarkovNetwork(n_jobs=1).estimate(path)",
    "estimate of parts": "gw.MarkovNetwork(n_jobs=1).estimate(gw.scan(path))",
    "count": "gw.count_pairs(path)",
    "count of parts": "gw.count_pairs(gw.scan(path))",
}
COMMANDS = [
    ["learn", "--jobs", "1"],
    ["learn", "--jobs", "1", "--memory", "1GB"],
    ["learn", "--dry-run", "--jobs", "1"],
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """50,000 rows with an identifier of 40,000 states."""
    rng = np.random.default_rng(0)
    rows = {f"x{j}": rng.integers(0, 3, 50_000) for j in range(5)}
    path = tmp_path_factory.mktemp("ids") / "ids.parquet"
    pd.DataFrame(rows | {"id": np.arange(50_000) % 40_000}).to_parquet(path)
    return path


def run(path: Path, *statements: str) -> tuple[float, list[str]]:
    """Return the megabytes that the statements took, and what each of them said."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), *statements],
        capture_output=True, text=True, check=True, cwd=path.parent,
    )  # fmt: skip
    told = [line.split(" ", 1) for line in done.stdout.splitlines() if line[0].isdigit()]
    return float(told[-1][0]), [text for _, text in told] + [done.stderr]


def test_identifiers_are_refused_by_every_way_in(file: Path) -> None:
    megabytes, told = run(file, *WAYS.values())
    for way, text in zip(WAYS, told[:-1], strict=True):
        assert text.startswith("TooLargeError: column 'id' has 40,000 states"), text
        if "count" in way:
            assert "at most 4,096" in text
        else:
            assert "limit of 4.0 GB" in text
            assert "table_memory='" in text
        assert text.count(". ") == 0  # one sentence
    assert megabytes < 700  # Python and its libraries take up to 300


def test_commands_refuse_identifiers(file: Path) -> None:
    calls = [f"main({[command, str(file), *options]!r})" for command, *options in COMMANDS]
    megabytes, told = run(file, *calls)
    assert told[:-1] == ["2"] * 3  # the exit codes
    assert told[-1].count("column 'id' has 40,000 states") == 3
    assert told[-1].count("--table-memory ") == 3
    assert megabytes < 700


def test_more_states_than_any_table_has_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "more.parquet"
    pd.DataFrame({"x": [0, 1] * 40_000, "id": np.arange(80_000) % 70_000}).to_parquet(path)
    ways = ("fit", "parts", "count", "count of parts")
    megabytes, told = run(path, *(WAYS[way] for way in ways))
    for text in told[:-1]:
        assert "column 'id' has " in text
        assert "65,535" in text
    assert len(told) == 5
    assert megabytes < 700


def test_the_limit_is_on_bytes_and_can_be_raised() -> None:
    rng = np.random.default_rng(0)
    rows = {"a": rng.integers(0, 3, 4000), "b": np.arange(4000) % 400}
    needed = 8 * 4 * 400**2  # three products of two contrasts, padded to four
    assert table_bytes(np.array([3, 400]), True) == needed
    with pytest.raises(TooLargeError, match=r"column 'b' has 400 states.*5.1 MB.*limit of 4.0 MB"):
        gw.MarkovNetwork(table_memory=4_000_000).fit(rows)
    assert gw.MarkovNetwork(table_memory=needed).fit(rows).model_.names == ("a", "b")
    # without tests less is needed
    assert gw.MarkovNetwork(table_memory=4_000_000, lam=0.1).fit(rows).model_.names == ("a", "b")
    with pytest.raises(gw.GraftworkError, match="table_memory is 'much', but it must be"):
        gw.MarkovNetwork(table_memory="much").fit(rows)


def test_what_is_estimated_is_what_is_taken(tmp_path: Path) -> None:
    """An edge of 3,000 states: learning takes as much as was said, within a factor of two."""
    rng = np.random.default_rng(0)
    many = np.arange(60_000) % 3000
    few = np.where(rng.random(60_000) < 0.5, many % 3, rng.integers(0, 3, 60_000))
    path = tmp_path / "edge.parquet"
    pd.DataFrame({"many": many, "few": few}).to_parquet(path)
    known = "knowledge={'required': [('many', 'few')]}"  # no test of so rare states finds it
    megabytes, told = run(path, f"gw.MarkovNetwork(n_jobs=1, {known}).fit(path).model_.edges")
    assert "many" in told[0]
    said = table_bytes(np.array([3000, 3]), True) / 1e6
    assert 0.5 * said < megabytes < 2 * said


def test_counts_of_parts_are_added_as_they_come() -> None:
    """Counts of 40 parts never lie beside each other in memory."""
    import tracemalloc

    rng = np.random.default_rng(0)
    rows = {"a": rng.integers(0, 1000, 20_000), "b": rng.integers(0, 3, 20_000)}
    with gw.scan(rows, part_rows=500).store() as stored:
        assert stored.n_parts == 40
        tracemalloc.start()
        counts = gw.count_pairs(stored, n_jobs=1)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert counts == gw.count_pairs(rows)
    assert peak < 20 * counts.matrix.nbytes
