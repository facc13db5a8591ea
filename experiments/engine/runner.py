"""Runs a study: steps that are done are not done again; files are written when all is known."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from experiments.engine.claims import Claim
from experiments.engine.pages import write_files
from experiments.engine.study import Context, Found, Report, Step, Study
from graftwork.errors import DataMissingError
from graftwork.finished import read_part, stamp_of, write_part
from graftwork.grafting.trace import Observer, PassOn
from graftwork.version import __version__

#: What is written of each step.
TOLD = ("date", "seconds", "cpu_seconds", "version", "commit")
#: Told of each step: the step, its place, how many there are, and what became of it: nothing yet,
#: "known", "not run" or "failed".
Tell = Callable[[Step, int, int, str], None]


@dataclass(frozen=True, slots=True)
class Skipped:
    """Steps that were not run for want of a data set, and what to do about it."""

    steps: list[str]
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run of a study gives: its report, and the files written.

    Attributes
    ----------
    skipped : mapping
        Steps that were not run for want of data, by data set.
    failed : mapping
        What went wrong in steps that failed, by key.
    """

    report: Report
    files: tuple[Path, ...]
    skipped: Mapping[str, Skipped]
    failed: Mapping[str, str]


def reproduce(
    study: Study,
    out: Path,
    context: Context,
    *,
    fresh: bool = False,
    tell: Tell | None = None,
    interrupted: Callable[[], bool] = lambda: False,
    pictures: bool = True,
) -> Outcome:
    """Run a study's steps, or go on with them, and write what was found.

    Each result is kept as its step ends. A step that fails does not stop the others.

    Parameters
    ----------
    out : Path
        A folder of its own for each study and size; ``steps`` in it keeps results.
    fresh : bool
        Forget earlier results.
    tell : function, optional
        Told before each step.
    interrupted : function
        Says whether there was a Ctrl-C that a learner took for the end of its own run: then the
        step does not count.
    pictures : bool
        Draw the figures.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C; the steps done are kept.
    """
    steps = list(study.steps(context.size))
    kept = out / "steps"
    kept.mkdir(parents=True, exist_ok=True)
    if fresh:
        for old in kept.glob("*.json"):
            old.unlink()
    records: dict[str, Found] = {}
    skipped: dict[str, Skipped] = {}
    failed: dict[str, str] = {}
    for place, step in enumerate(steps):
        path, stamp = kept / f"{step.key}.json", _stamp(step, context)
        record = read_part(path, stamp)
        told = partial(tell or _nobody, step, place, len(steps))
        told("" if record is None else "known")
        if record is None:
            before = {key: one["found"] for key, one in records.items()}
            inside = _Inside(context.observer, f"{study.name}: {step.words}", place, len(steps))
            try:
                record = _carry_out(step, replace(context, before=before, observer=inside))
            except DataMissingError as error:
                skipped.setdefault(error.data, Skipped([], str(error))).steps.append(step.key)
                told("not run")
                continue
            except Exception as error:  # a study of hours is not lost with one of its steps
                failed[step.key] = f"{type(error).__name__}: {error}"
                told("failed")
                continue
            if interrupted():
                raise KeyboardInterrupt
            write_part(path, stamp, record)
        records[step.key] = record
    report = study.report({key: record["found"] for key, record in records.items()})
    if context.size == "tiny":
        report = replace(report, claims=[_of_made_rows(claim) for claim in report.claims])
    about = _about(study, context, records, skipped) | {"failed": failed}
    files = write_files(study, report, about, out, pictures=pictures)
    return Outcome(report, tuple(files), skipped, failed)


def _of_made_rows(claim: Claim) -> Claim:
    """Return a claim without a verdict on the paper."""
    if claim.verdict == "not run":
        return claim
    return replace(claim, verdict="not comparable", because="these are tiny sizes, on made rows")


def _nobody(step: Step, place: int, steps: int, state: str) -> None:
    """Tell nobody."""


class _Inside(PassOn):
    """Tells the stages within a step as parts of it: what is done are steps of the study."""

    def __init__(self, inner: Observer, words: str, place: int, steps: int) -> None:
        super().__init__(inner)
        self._words, self._place, self._steps = words, place, steps
        inner.on_stage(words, place, steps)

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Tell where the step is."""
        del step, steps
        told = self._words if text in self._words else f"{self._words}, {text}"
        self._inner.on_stage(told, self._place, self._steps)


def _carry_out(step: Step, context: Context) -> Found:
    wall, cpu = time.perf_counter(), time.process_time()
    found = step.work(context)
    return {
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": __version__,
        "commit": _commit(),
        "found": found,
    }


def _commit() -> str:
    """Return the commit of this checkout, marked where files differ from it; else nothing."""
    here = str(Path(__file__).parent)
    ask = ["git", "-C", here, "describe", "--always", "--dirty", "--exclude=*"]
    try:
        return subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def settings_of(steps: Sequence[Step]) -> dict[str, Any]:
    """Return the settings of steps by key, as a file holds them.

    Examples
    --------
    >>> settings_of([Step("a", "counting", dict, {"k": (1, 2)})])
    {'a': {'k': [1, 2]}}
    """
    plain = {step.key: dict(step.settings) for step in steps}
    found: dict[str, Any] = json.loads(json.dumps(plain, sort_keys=True, default=str))
    return found


def _stamp(step: Step, context: Context) -> str:
    """Return what a result depends on, as a short text."""
    return stamp_of(context.size, context.seed, settings_of([step]))


def _about(
    study: Study, context: Context, records: Mapping[str, Found], skipped: Mapping[str, Skipped]
) -> dict[str, Any]:
    """Return where, when and with what the results were made."""
    packages = {name: version(name) for name in ("numpy", "scipy", "numba")}
    return {
        "study": study.name,
        "paper": study.paper,
        "size": context.size,
        "seed": context.seed,
        "graftwork": __version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "jobs": context.n_jobs,
        **packages,
        "seconds": sum(record["seconds"] for record in records.values()),
        "skipped": {data: asdict(each) for data, each in skipped.items()},
        "steps": {key: {name: record[name] for name in TOLD} for key, record in records.items()},
        "settings": settings_of(study.steps(context.size)),
    }
