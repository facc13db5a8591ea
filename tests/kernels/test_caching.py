"""Where compiled code is kept, with real processes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import graftwork

FIT = (
    "import numpy as np, graftwork as gw; rows = np.arange(80).reshape(40, 2) // 7 % 2; "
    "print(gw.MarkovNetwork(lam=0.01).fit(rows).objective_.hex())"
)


def start(where, **environment):
    """Start a process that learns from a few rows, with a copy of the package or this one."""
    return subprocess.Popen(
        [sys.executable, "-c", FIT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(where), **environment},
    )  # fmt: skip


SOURCE = Path(graftwork.__file__).parent


@pytest.mark.slow
def test_no_place_to_cache_is_said_once(tmp_path):
    copy = tmp_path / "src" / "graftwork"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("no folder can be made here, not even by root")
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME"), "/dev/null/none")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = start(copy.parent, **places, NUMBA_CACHE_DIR="", TMPDIR=str(temporary))
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert err.count("compiled code cannot be kept") == 1
    assert list(temporary.iterdir()) == []
    usual, _ = start(SOURCE.parent).communicate(timeout=300)
    assert out == usual


@pytest.mark.slow
def test_many_processes_with_an_empty_cache(tmp_path):
    """All compile at once into the same folder; all answer, and what they leave is whole."""
    given = {"NUMBA_CACHE_DIR": str(tmp_path)}
    processes = [start(SOURCE.parent, **given) for _ in range(8)]
    found = [process.communicate(timeout=600) for process in processes]
    assert [process.returncode for process in processes] == [0] * 8, found
    assert len({out for out, _ in found}) == 1
    assert {err for _, err in found} == {""}
    assert list(tmp_path.rglob("*.nbi"))
    assert start(SOURCE.parent, **given).communicate(timeout=300) == found[0]
