"""Solve one problem with one contender in this process, and write what it cost.

    python measure.py CONTENDER.py DATA.npz TINY.npz OPTIONS.json ANSWER.json

A contender is a file with three functions, and the clock runs in the second one only:

    prepare(data, options) -> problem    arrays into what the library takes
    solve(problem) -> solution           what is measured
    answer(problem, solution) -> dict    edges, objective, counters: plain values

The tiny problem is solved first, outside the clock (unless the file says ``WARM_UP = False``).
This file and contenders of peers run in the peers' environment: standard library, NumPy and the
peer, never graftwork.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np

MISSING = 3  # exit code: the library is not installed


def load(path: str):
    """Return the contender's module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cpu_seconds() -> float:
    """Return CPU seconds so far of this process, its threads and its ended children."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def memory_mb(field: str) -> float:
    """Return a line of this process's status in MB: VmHWM (the most so far) or VmRSS (now).

    ru_maxrss would count the process that started this one.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return float("nan")
    sizes = [line.split()[1] for line in lines if line.startswith(field + ":")]
    return int(sizes[0]) / 1024 if sizes else float("nan")


def watch_compiler(stack: ExitStack) -> list[float]:
    """Return a list that will hold the seconds numba compiles from now on: none, it is hoped."""
    spent: list[float] = []
    if "numba" in sys.modules:
        from numba.core import event

        stack.enter_context(event.install_timer("numba:compile", spent.append))
    return spent


def main(contender: str, data: str, tiny: str, options: str, out: str) -> None:
    """Warm up, solve, write."""
    chosen = json.loads(Path(options).read_text())
    try:
        module = load(contender)
    except ImportError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(MISSING)
    if getattr(module, "WARM_UP", True):
        with np.load(tiny) as arrays:
            small = module.prepare(dict(arrays), chosen)
        module.answer(small, module.solve(small))
        del small
    with np.load(data) as arrays:
        problem = module.prepare(dict(arrays), chosen)
    before = memory_mb("VmRSS")
    with ExitStack() as stack:
        compiled = watch_compiler(stack)
        Path(out + ".begun").write_text(json.dumps({"cpu": cpu_seconds(), "time": time.time()}))
        busy, began = cpu_seconds(), time.perf_counter()
        solution = module.solve(problem)
        wall, cpu = time.perf_counter() - began, cpu_seconds() - busy
    peak = memory_mb("VmHWM")
    answer = module.answer(problem, solution)
    measured = {"cpu": cpu, "wall": wall, "peak_mb": peak, "before_mb": before}
    measured |= {"compiled_s": sum(compiled), "answer": answer}
    Path(out + ".part").write_text(json.dumps(measured))
    os.replace(out + ".part", out)


if __name__ == "__main__":
    main(*sys.argv[1:])
