"""The values that flow through a run: problems, entries, measurements, targets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

Arrays = dict[str, np.ndarray]
Options = Mapping[str, Any]
Status = Literal["done", "failed", "too slow", "missing"]
Size = Literal["full", "smoke", "tiny"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where data come from: how large the problem is to be, and the ``folder`` for loaders."""

    size: Size
    folder: Path | None


@dataclass(frozen=True, slots=True)
class Run:
    """What one contender did with one problem.

    Attributes
    ----------
    problem, entry, contender : str
    status : "done", "failed", "too slow" or "missing"
    reason : str
        Why it is not done, in one line.
    cpu, wall : float
        Seconds of the solve, warm-up outside; CPU time of all threads and child processes. Where a
        sample of the nodes was solved, scaled to all of them. Lower bounds where it was too slow.
    peak_mb, before_mb : float
        Memory: the most the process ever held, and what it held when the clock started.
    figures : dict
        Quality and counters: numbers and short texts.
    """

    problem: str
    entry: str
    contender: str
    status: Status
    reason: str = ""
    cpu: float = float("nan")
    wall: float = float("nan")
    peak_mb: float = float("nan")
    before_mb: float = float("nan")
    figures: dict[str, Any] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        """Whether there is an answer."""
        return self.status == "done"

    @property
    def timed(self) -> bool:
        """Whether its times mean something: exactly, or as lower bounds."""
        return self.status in ("done", "too slow")


Runs = Mapping[str, Run]  # by entry
Results = Mapping[str, Runs]  # by problem


@dataclass(frozen=True, slots=True)
class Target:
    """One line of the table of targets.

    ``verdict`` is "met", "missed" or "not measured".
    """

    problem: str
    target: str
    measured: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A contender with its options, under the name it has in the tables.

    ``options`` may be a function of the runs before it (a target objective, for instance).
    ``threads`` is for contenders that are judged on several cores.
    """

    name: str
    contender: str
    options: Options | Callable[[Runs], Options] = field(default_factory=dict)
    limit: float = 1800.0
    threads: int = 1

    def options_after(self, runs: Runs) -> dict[str, Any]:
        """Return the options, now that these runs are over."""
        return dict(self.options(runs) if callable(self.options) else self.options)


def no_targets(results: Results) -> list[Target]:
    """Return none: for problems that only inform."""
    return []


@dataclass(frozen=True, slots=True)
class Problem:
    """Data, who solves them, how answers are scored, and what is expected.

    Attributes
    ----------
    name, words : str
    make : function of Source -> arrays
        Made once; contenders get the arrays as a file. Size "tiny" is what they warm up with.
    entries : function of Size -> tuple of Entry
    score : function of (arrays, answer) -> dict
        The figures of an answer: numbers that stay, in place of edges and marginals.
    targets : function of the runs of all problems -> list of Target
        Asked after full runs only; what has not been run is "not measured".
    """

    name: str
    words: str
    make: Callable[[Source], Arrays]
    entries: Callable[[Size], tuple[Entry, ...]]
    score: Callable[[Arrays, dict[str, Any]], dict[str, Any]]
    targets: Callable[[Results], list[Target]] = no_targets
