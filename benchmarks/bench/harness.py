"""Run one contender on one problem in a process of its own, with a time limit."""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import graftwork
from bench.measure import MISSING
from bench.runs import Arrays, Entry, Problem, Run, Runs, Size, Source

HERE = Path(__file__).parent
CONTENDERS = HERE / "contenders"
#: Variables that tell libraries how many threads to use.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class Harness:
    """How contenders are run.

    Attributes
    ----------
    size : "full" or "smoke"
    folder : Path or None
        The data sets.
    peers : str or None
        The Python of the peers' environment; graftwork runs under this one.
    limit : float
        No contender gets more seconds than this, whatever its entry says.
    contenders : Path
        The folder of their files.
    checkout : Path or None
        Another checkout, whose graftwork and contenders are run in place of this one's.
    """

    size: Size
    folder: Path | None = None
    peers: str | None = None
    limit: float = math.inf
    contenders: Path = CONTENDERS
    checkout: Path | None = None

    def run(self, problem: Problem) -> Iterator[Run]:
        """Make the problem's data and yield what each contender does with them.

        Raises
        ------
        DataMissingError, DataError
            If a data set is not there, or damaged.
        """
        arrays = problem.make(Source(self.size, self.folder))
        tiny = problem.make(Source("tiny", self.folder))
        done: dict[str, Run] = {}
        with tempfile.TemporaryDirectory(prefix="graftwork-bench-") as name:
            place = Path(name)
            np.savez(place / "data.npz", **arrays)
            np.savez(place / "tiny.npz", **tiny)
            for entry in problem.entries(self.size):
                done[entry.name] = self._run_entry(problem, entry, arrays, place, done)
                yield done[entry.name]

    def _run_entry(
        self, problem: Problem, entry: Entry, arrays: Arrays, place: Path, before: Runs
    ) -> Run:
        who = (problem.name, entry.name, entry.contender)
        python = self._python(entry.contender)
        if python is None:
            return Run(*who, "missing", "no environment of the peers: make peers")
        options = {**entry.options_after(before), "threads": entry.threads}
        (place / "options.json").write_text(json.dumps(options))
        limit = min(entry.limit, self.limit)
        env, contenders = environment(python, entry.threads, self.size), self.contenders
        if self.checkout is not None:
            env["PYTHONPATH"] = str(self.checkout / "src")
            contenders = self.checkout / "benchmarks" / "bench" / "contenders"
        script = contenders / f"{entry.contender}.py"
        measured = run_script(python, script, place, limit, env)
        if "status" in measured:
            return Run(*who, **measured)
        answer = measured.pop("answer")
        notes = {key: measured.pop(key) for key in ("compiled_s", "ended")}
        notes = {key: value for key, value in notes.items() if value}
        scale = answer.pop("scale", 1.0)
        measured["cpu"] *= scale
        measured["wall"] *= scale
        try:
            figures = problem.score(arrays, answer)
        except Exception as error:  # a peer may answer anything
            return Run(*who, "failed", f"the answer makes no sense: {one_line(repr(error))}")
        return Run(*who, "done", **measured, figures={**figures, **notes})

    def _python(self, contender: str) -> str | None:
        """Return who runs it: graftwork's files this Python, all others that of the peers."""
        if contender.startswith("graftwork"):
            return sys.executable
        # Not resolved: the link in an environment is what makes it that environment.
        path = Path(self.peers).absolute() if self.peers else None
        return str(path) if path is not None and path.exists() else None


def run_script(
    python: str, script: Path, place: Path, limit: float, env: dict[str, str]
) -> dict[str, Any]:
    """Return what the process measured, or a status with its reason.

    The process has a group of its own, which is ended as a whole when time is up, or when this
    process is interrupted.
    """
    out, errors = place / "answer.json", place / "errors.txt"
    for left in (out, Path(f"{out}.begun")):
        left.unlink(missing_ok=True)
    files = [place / name for name in ("data.npz", "tiny.npz", "options.json")]
    command = [python, str(HERE / "measure.py"), str(script), *map(str, files), str(out)]
    spent = children_cpu()
    with errors.open("w") as stderr:
        process = subprocess.Popen(
            command,
            env=env,
            cwd=place,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            code = process.wait(limit if math.isfinite(limit) else None)
        except subprocess.TimeoutExpired:
            end_group(process)
            return too_slow(Path(f"{out}.begun"), limit, children_cpu() - spent)
        except BaseException:
            end_group(process)
            raise
    ended = f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    if out.exists():  # whole, whatever happened on the way out
        return {**json.loads(out.read_text()), "ended": ended if code else ""}
    said = errors.read_text(errors="replace").strip().splitlines()
    reason = one_line(said[-1] if said and code > 0 else ended)
    return {"status": "missing" if code == MISSING else "failed", "reason": reason}


def environment(python: str, threads: int, size: Size) -> dict[str, str]:
    """Return the process's environment: so many threads, and this graftwork or, for peers, none.

    One thread makes CPU time the work done: waiting threads of BLAS and OpenMP spin. A small run
    does not measure peers, so what they compile is not optimised: that halves skglm's compilation,
    which it cannot keep.
    """
    env = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    env.pop("PYTHONPATH", None)
    if python == sys.executable:
        env["PYTHONPATH"] = str(Path(graftwork.__file__).parents[1])
    elif size == "smoke":
        env["NUMBA_OPT"] = "0"
    return env


def too_slow(begun: Path, limit: float, cpu: float) -> dict[str, Any]:
    """Return lower bounds of what it would have taken, if the clock had started at all."""
    reason = f"more than {limit:,.0f} s"
    if not begun.exists():
        return {"status": "failed", "reason": f"{reason}, warm-up not over"}
    start = json.loads(begun.read_text())
    wall = time.time() - start["time"]
    return {"status": "too slow", "reason": reason, "cpu": cpu - start["cpu"], "wall": wall}


def end_with_signals() -> None:
    """Let the signals that end this process interrupt it, so that it ends its contender first."""

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt(number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
            signal.signal(number, interrupt)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End the process and all it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def children_cpu() -> float:
    """Return CPU seconds of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def one_line(text: str, most: int = 160) -> str:
    """Return a text short enough for a table."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"
