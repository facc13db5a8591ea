"""How long graftwork takes to start: import, first fits of a new installation, the next process.

    python benchmarks/startup.py [--json FILE]

Every line is a process of its own. First fits begin with an empty folder for compiled kernels, as a
new installation does; the next process finds them there. CPU seconds of the whole process and wall
seconds, interpreter included; wall seconds depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from arguments import parser_of

IMPORT = "import graftwork"
SMALL = """
import numpy as np, graftwork as gw
gw.MarkovNetwork(lam=0.05).fit(np.random.default_rng(0).integers(0, 5, (300, 8)))
"""
MUSHROOM = """
import graftwork as gw
gw.MarkovNetwork(lam={lam!r}).fit(gw.datasets.load_mushroom())
"""


@dataclass(frozen=True)
class Start:
    """What one process took, in seconds."""

    what: str
    cpu: float
    wall: float
    target: float


def run(what: str, program: str, cache: str, target: float) -> Start:
    """Return what a new process takes for a program, with kernels kept in this folder."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", program], check=True, env={**os.environ, "NUMBA_CACHE_DIR": cache}
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Start(what, cpu, wall, target)


def measure() -> list[Start]:
    """Return all starts; import and the next process are the better of three."""
    starts = []
    with tempfile.TemporaryDirectory() as cache:
        imports = [run("import graftwork", IMPORT, cache, 1.0) for _ in range(3)]
        starts.append(min(imports, key=lambda start: start.cpu))
        starts.append(run("first fit, 8 variables of 5 states", SMALL, cache, 20.0))
        again = [run("next process, the same fit", SMALL, cache, 2.0) for _ in range(3)]
        starts.append(min(again, key=lambda start: start.cpu))
    for lam in (0.05, "auto"):
        with tempfile.TemporaryDirectory() as cache:
            what = f"first fit, mushroom, lam={lam!r}"
            starts.append(run(what, MUSHROOM.format(lam=lam), cache, 20.0))
            starts.append(run("  the same once compiled", MUSHROOM.format(lam=lam), cache, 20.0))
    return starts


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--json", type=Path, help="write the records to this file")
    return parser.parse_args(arguments)


def main(options: argparse.Namespace) -> None:
    starts = measure()
    print(f"{'':40}{'CPU s':>8}{'wall s':>8}{'target':>8}")
    for start in starts:
        print(f"{start.what:40}{start.cpu:8.2f}{start.wall:8.2f}{start.target:8.0f}")
    if options.json:
        options.json.write_text(json.dumps([asdict(start) for start in starts], indent=1) + "\n")


if __name__ == "__main__":
    main(parse())
