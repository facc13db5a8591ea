"""Runs a study: steps that are done are not done again; files are written when all is known."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from experiments.engine.pages import write_files
from experiments.engine.study import Context, Found, Report, Step, Study
from graftwork.errors import DataMissingError
from graftwork.grafting.trace import Observer, PassOn
from graftwork.version import __version__

#: Told of each step: the step, its place, how many there are, and what became of it: nothing yet,
#: "known", or "not run".
Tell = Callable[[Step, int, int, str], None]


@dataclass(frozen=True, slots=True)
class Skipped:
    """Steps that were not run for want of a data set, and what to do about it."""

    steps: list[str]
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run of a study gives: its report, the files written, and what was skipped, by data."""

    report: Report
    files: tuple[Path, ...]
    skipped: Mapping[str, Skipped]


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
    for place, step in enumerate(steps):
        path, stamp = kept / f"{step.key}.json", _stamp(step, context)
        record = _read(path, stamp)
        told = partial(tell or _nobody, step, place, len(steps))
        told("" if record is None else "known")
        if record is None:
            before = {key: one["found"] for key, one in records.items()}
            inside = _Inside(context.observer, f"{study.name}: {step.words}", place, len(steps))
            try:
                record = _carry_out(step, replace(context, before=before, observer=inside), stamp)
            except DataMissingError as error:
                skipped.setdefault(error.data, Skipped([], str(error))).steps.append(step.key)
                told("not run")
                continue
            if interrupted():
                raise KeyboardInterrupt
            _write(path, record)
        records[step.key] = record
    report = study.report({key: record["found"] for key, record in records.items()})
    about = _about(study, context, records, skipped)
    files = write_files(study, report, about, out, pictures=pictures)
    return Outcome(report, tuple(files), skipped)


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


def _carry_out(step: Step, context: Context, stamp: str) -> Found:
    wall, cpu = time.perf_counter(), time.process_time()
    found = step.work(context)
    return {
        "stamp": stamp,
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": __version__,
        "found": found,
    }


def _stamp(step: Step, context: Context) -> str:
    """Return what a result depends on, as a short text."""
    whole = {"version": __version__, "key": step.key, "size": context.size, "seed": context.seed}
    settings = {**whole, **step.settings}
    text = json.dumps(settings, sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()[:16]


def _read(path: Path, stamp: str) -> Found | None:
    """Return a kept result, unless it is damaged or of other settings."""
    try:
        record: Found = json.loads(path.read_text(encoding="utf8"))
    except (OSError, ValueError):
        return None
    whole = isinstance(record, dict) and record.get("stamp") == stamp and "found" in record
    return record if whole else None


def _write(path: Path, record: Found) -> None:
    text = json.dumps(record, indent=1)
    whole = path.with_suffix(".part")
    whole.write_text(text, encoding="utf8")
    whole.replace(path)


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
        "steps": {
            key: {name: record[name] for name in ("date", "seconds", "cpu_seconds", "version")}
            for key, record in records.items()
        },
    }
