"""A new installation: import, the first fit with compilation, the next process, the command line.

Every step is a process of its own; the cache of compiled kernels is empty at first. It is far from
the package, so an installation that cannot be written to behaves the same. Python keeps its own
bytecode, as it does by default and as installers do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

#: Nothing is to be warm here.
WARM_UP = False

FIT = """
import sys
import numpy as np
import graftwork as gw
codes = np.load(sys.argv[1])
gw.MarkovNetwork(lam=0.05, random_state=0).fit(codes)
"""

COMMAND = "import sys; from graftwork.cli import program; sys.exit(program())"


def prepare(data, options):
    """Return the rows, and whether the cache of kernels is to be empty at first."""
    return data["codes"], options["empty_cache"]


def timed(code: str, cache: str | None, *arguments: str) -> float:
    """Return the wall seconds of a Python process."""
    env = {**os.environ, **({"NUMBA_CACHE_DIR": cache} if cache else {})}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=env,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - began


def solve(problem):
    """Return wall seconds of each step; imports twice, since the first one may read from disk."""
    codes, empty = problem
    with tempfile.TemporaryDirectory() as folder:
        rows = str(Path(folder) / "rows.npy")
        np.save(rows, codes)
        cache = str(Path(folder) / "cache") if empty else None
        imports = [timed("import graftwork", cache) for _ in range(2)]
        python = timed("pass", cache)
        first = timed(FIT, cache, rows)
        second = timed(FIT, cache, rows)
        table = str(Path(folder) / "small.csv")
        names = ",".join(f"item{j}" for j in range(codes.shape[1]))
        np.savetxt(table, codes, fmt="a%d", delimiter=",", header=names, comments="")
        words = ("learn", table, "--out", str(Path(folder) / "out"))
        timed(COMMAND, cache, *words)  # a picture and tests need kernels of their own
        commands = [timed(COMMAND, cache, *words) for _ in range(5)]
    return {
        "import_s": min(imports),
        "python_s": python,
        "first_fit_s": first,
        "next_fit_s": second,
        "command_s": float(np.median(commands)),
    }


def answer(problem, seconds):
    """The seconds."""
    return seconds
