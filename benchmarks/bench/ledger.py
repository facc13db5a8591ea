"""What is known so far: runs by problem, kept in results.json after every run."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numba
import numpy as np

import graftwork
from bench.runs import Results, Run


@dataclass(slots=True)
class Ledger:
    """All runs, by problem.

    Attributes
    ----------
    size : str
    words : dict
        What each problem is.
    runs : dict
        Lists of runs by problem.
    complete, skipped : dict
        When a problem was over, and why one was not begun.
    floors : list of dict
        What ``benchmarks/floors.py`` measured.
    machine : dict
        Where this process runs, with versions and the commit.
    origins : dict
        The machine of each problem's runs, and of the floors.
    """

    size: str
    words: dict[str, str] = field(default_factory=dict)
    runs: dict[str, list[Run]] = field(default_factory=dict)
    complete: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    floors: list[dict[str, Any]] = field(default_factory=list)
    machine: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, dict[str, Any]] = field(default_factory=dict)

    def begin(self, problem: str, words: str) -> None:
        """Forget what was known about a problem: its runs belong together."""
        self.words[problem], self.runs[problem] = words, []
        self.origins[problem] = self.machine
        self.complete.pop(problem, None)
        self.skipped.pop(problem, None)

    def skip(self, problem: str, reason: str) -> None:
        """Note why a problem is not run; what an earlier run found stays."""
        if not self.runs.get(problem):
            self.runs.pop(problem, None)
            self.skipped[problem] = reason

    def finish(self, problem: str) -> None:
        """Note that all contenders had their turn."""
        self.complete[problem] = datetime.now(UTC).isoformat(timespec="seconds")

    def results(self) -> Results:
        """Return runs by problem and entry."""
        return {name: {run.entry: run for run in runs} for name, runs in self.runs.items()}

    def every_run(self) -> Iterator[Run]:
        """Yield all runs."""
        for runs in self.runs.values():
            yield from runs


def describe_machine() -> dict[str, Any]:
    """Return what times depend on; no names of people or machines."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        pass
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "graftwork": graftwork.__version__,
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def describe_code(root: Path) -> dict[str, Any]:
    """Return the commit of a checkout, and whether code differs from it; nothing elsewhere."""
    try:
        commit = git(root, "rev-parse", "--short", "HEAD")
        changed = git(root, "status", "--porcelain", "--", "src", "benchmarks/*.py")
    except (OSError, subprocess.CalledProcessError):
        return {}
    return {"commit": f"{commit} and changes" if changed else commit}


def git(root: Path, *arguments: str) -> str:
    """Return what git says."""
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def save(ledger: Ledger, path: Path) -> None:
    """Write everything, in one step so that an interrupt leaves a whole file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(plain(asdict(ledger)), indent=1) + "\n")
    os.replace(part, path)


def read(path: Path, size: str) -> Ledger:
    """Return what an earlier run of the same size left, or an empty ledger."""
    known: Mapping[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    if known.get("size") != size:
        return Ledger(size)
    runs = {
        name: [Run(**{k: math.nan if v is None else v for k, v in run.items()}) for run in listed]
        for name, listed in known["runs"].items()
    }
    origins = known.get("origins", dict.fromkeys(runs, known["machine"]))
    return Ledger(**{**known, "runs": runs, "origins": origins})


def plain(value: Any) -> Any:
    """Return a value that JSON can hold: what is unknown or infinite becomes null."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
