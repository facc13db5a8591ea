"""Targets as sentences with a verdict, computed from runs. A time-out is a lower bound."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from bench.runs import Results, Run, Target

MET, MISSED, UNKNOWN = "met", "missed", "not measured"
ABSENT = Run("", "", "", "failed", "not run")


def find(results: Results, problem: str, entry: str) -> Run:
    """Return a run, or one that says it was not run."""
    return results.get(problem, {}).get(entry, ABSENT)


def faster(
    problem: str, target: str, ours: Run, theirs: Run, least: float, clock: str = "cpu"
) -> Target:
    """Judge whether they take at least ``least`` times as long as we do."""
    missing = [run for run in (ours, theirs) if not run.timed]
    if missing:
        return Target(problem, target, missing[0].reason or missing[0].status, UNKNOWN)
    mine, other = getattr(ours, clock), getattr(theirs, clock)
    ratio = other / mine if mine > 0 else math.inf
    text = f"{ratio:.3g} times ({other:.3g} s : {mine:.3g} s)"
    if ours.done and theirs.done:
        return Target(problem, target, text, MET if ratio >= least else MISSED)
    if ours.done:  # they would have taken longer still
        return Target(problem, target, f"more than {text}", MET if ratio >= least else UNKNOWN)
    if theirs.done:
        return Target(problem, target, f"less than {text}", MISSED if ratio < least else UNKNOWN)
    return Target(problem, target, "both too slow", UNKNOWN)


def compare(
    problem: str,
    target: str,
    value: float | None,
    relation: Callable[[float, float], bool],
    bound: float | None,
    words: str = "{value:.4g} ({bound:.4g})",
) -> Target:
    """Judge ``relation(value, bound)``; None is a value that nobody measured."""
    if value is None or bound is None:
        return Target(problem, target, "", UNKNOWN)
    text = words.format(value=value, bound=bound)
    return Target(problem, target, text, MET if relation(value, bound) else MISSED)


def figure(run: Run, name: str) -> float | None:
    """Return a figure of a run that is done."""
    value = run.figures.get(name) if run.done else None
    return None if value is None else float(value)


def under(problem: str, target: str, seconds: float | None, most: float) -> Target:
    """Judge whether something took less than so many seconds."""
    return compare(problem, target, seconds, operator.lt, most, "{value:.3g} s")


def run_under(problem: str, target: str, run: Run, most: float, clock: str = "cpu") -> Target:
    """Judge whether a run took less than so many seconds and ended at its optimum."""
    if run.status == "too slow":
        seconds = getattr(run, clock)
        return Target(
            problem, target, f"more than {seconds:.3g} s", MISSED if seconds > most else UNKNOWN
        )
    if not run.done:
        return Target(problem, target, run.reason, UNKNOWN)
    judged = under(problem, target, getattr(run, clock), most)
    if run.figures.get("converged") is False:
        return Target(problem, target, f"{judged.measured}, not converged", MISSED)
    return judged
