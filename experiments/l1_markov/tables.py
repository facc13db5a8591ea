"""Means over networks of what the study of L1-regularised Markov networks found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from experiments.engine.study import Found
from experiments.l1_markov.claims import lines_of
from experiments.l1_markov.differences import Line, difference


def means(
    lines: Iterable[Line], by: Sequence[str], errors: Sequence[str], others: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Return a line for each kind of network: means, some with their standard errors.

    Cells without a number are left out of a mean, and a mean of none is empty.

    Examples
    --------
    >>> means([{"p": "l1", "y": 1.0}, {"p": "l1", "y": 2.0}], ["p"], ["y"])
    [{'p': 'l1', 'networks': 2, 'y': 1.5, 's.e. of y': 0.5}]
    """
    kinds: dict[tuple[Any, ...], list[Line]] = {}
    for line in lines:
        kinds.setdefault(tuple(line.get(name) for name in by), []).append(line)
    out = []
    for kind, some in kinds.items():
        row = dict(zip(by, kind, strict=True)) | {"networks": len(some)}
        for name in (*errors, *others):
            cells = [float(line[name]) for line in some if line.get(name) is not None]
            found = difference(cells)
            row[name] = found.mean if cells else ""
            if name in errors:
                row[f"s.e. of {name}"] = found.error if len(cells) > 1 else ""
        out.append(row)
    return out


def tables(found: Mapping[str, Found]) -> dict[str, list[dict[str, Any]]]:
    """Return all tables."""
    penalties = [_with_hamming(line) for line in lines_of(found, "penalties")]
    annealing = [
        {"data": data, **_with_share(line)}
        for data, kind, part in (
            ("random", "annealing", "lines"),
            ("digits", "digit", "annealing"),
        )
        for line in lines_of(found, kind, part)
    ]
    worth = ("nlpl", "edges", "lam", "exact")
    induction = ("data", "inference", "induction", "features")
    induced = [
        {
            **line,
            "data": data,
            "features": line["features"] or "end",
            "objective at the end": line["objective"],
            "untrusted share of the run": line["untrusted share"],
        }
        for data, kind, part in (
            ("random", "induction", "lines"),
            ("digits", "digit", "induction"),
        )
        for line in map(_with_share, lines_of(found, kind, part))
    ]
    return {
        "penalties": means(
            penalties, ("loss", "n", "degree", "rows", "penalty"), ("cmll", "hamming"),
            ("hamming above 0.05", *worth),
        ),
        "clocks": means(
            lines_of(found, "clocks"), ("n", "whose", "what"), ("seconds",),
            ("evaluations", "rounds", "edges"),
        ),
        "induction": means(
            induced, induction, ("cmll",),
            ("edges", "objective at the end", "exact_objective", "untrusted share of the run",
             "cmll_exact"),
        ),
        "annealing": means(
            annealing, ("data", "arm"), ("untrusted share", "exact_objective", "cmll"),
            ("untrusted", "trusted_end", "edges", "evaluations"),
        ),
        "pair-rules": means(
            lines_of(found, "rules"), ("rule",), ("error", "spurious", "cmll"), ("edges",)
        ),
        "digits": means(lines_of(found, "digit"), ("rows", "penalty"), ("cmll",), worth),
        "edge-lengths": [one["lengths"] for one in found.values() if "lengths" in one],
        "snps": means(lines_of(found, "snps"), ("which", "penalty"), ("cmll",), ("rows", *worth)),
    }  # fmt: skip


def _with_hamming(line: Line) -> Line:
    first, second = line["hamming"][:2]
    return {**line, "hamming": first, "hamming above 0.05": second}


def _with_share(line: Line) -> Line:
    return {**line, "untrusted share": line["untrusted"] / max(line["rounds"], 1)}


def column(lines: Iterable[Mapping[str, Any]], name: str) -> list[float]:
    """Return a column as numbers, NaN where a cell is empty."""
    return [np.nan if line[name] == "" else float(line[name]) for line in lines]
