"""What all claims of the Grafting-Light study share: runs side by side, ratios, trends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from experiments.engine import Found
from experiments.engine.observers import first_below
from experiments.grafting_light.chain import FULL, GRAFTING, LIGHT, SEIDEL

#: "Much faster" is at least this factor in gradients, and this one in CPU time, which is noisy.
MUCH, MUCH_TIME = 2.0, 1.5
#: What falls with M has at most this rank correlation with it, over all select units.
FALLING = -0.8
#: A trend needs so many points.
POINTS = 3
NAMES = {LIGHT: "Grafting-Light", GRAFTING: "Grafting", SEIDEL: "Gauss-Seidel", FULL: "Full-Opt-L1"}
#: How a run ends that the limit of evaluations stopped.
LIMIT = "evaluations"

Values = dict[str, Any]
Lines = Mapping[str, Sequence[Found]]
Pair = tuple[Found, Found]


def paired(lines: Lines, other: str) -> list[Pair]:
    """Return the runs of Grafting-Light and those of another method at the same select unit."""
    rivals = {run["select"]: run for run in lines.get(other, [])}
    return [
        (light, rivals[light["select"]])
        for light in lines.get(LIGHT, [])
        if light["select"] in rivals
    ]


def stopped(runs: Sequence[Found]) -> str | None:
    """Return which runs have no optimum, in words; None if none."""
    names: dict[str, list[str]] = {}
    for run in runs:
        if not run["converged"]:
            unit = f" at M = {run['select']:,}" if run.get("select") else ""
            names.setdefault(run["stop"], []).append(NAMES[run["method"]] + unit)
    parts = [
        f"the limit of evaluations ended {', '.join(dict.fromkeys(ended))}"
        if stop == LIMIT
        else f"{', '.join(dict.fromkeys(ended))} ended before the optimum ({stop})"
        for stop, ended in names.items()
    ]
    return " and ".join(parts) or None


def at_least(rival: str) -> str:
    """Return why ratios below a threshold say nothing."""
    return f"the limit of evaluations ended {rival}, so that it took at least this, and maybe more"


def gap_of(run: Found, other: Found) -> float:
    """Return how far objectives are apart, as a share."""
    return float(abs(run["objective"] / (other["objective"] or 1.0) - 1))


def ratio(pair: Pair, name: str) -> float:
    """Return how many times as much the other has."""
    return float(pair[1][name] / max(pair[0][name], 1e-9))


def gradients(pair: Pair) -> float:
    """Return how many times the gradients the other took, until the objective it reached.

    That is the optimum, unless the limit of evaluations ended it.
    """
    light, other = pair
    if other["converged"]:
        return ratio(pair, "evaluations")
    k = first_below(light["curve"], "objective", other["objective"])
    needed = light["evaluations"] if k is None else light["curve"]["evaluations"][k]
    return float(other["evaluations"] / max(needed, 1))


def correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Return the rank correlation of all points, None for too few; 0 if one of both is constant.

    Examples
    --------
    >>> correlation([1, 10, 20], [5.0, 4.0, 3.0]), correlation([1, 10], [5.0, 4.0])
    (-1.0, None)
    """
    if len(x) < POINTS:
        return None
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    return float(np.round(spearmanr(x, y).statistic, 12))


def series(pairs: Sequence[tuple[int, Any]], form: str = "") -> str:
    """Return values by select unit, in words.

    Examples
    --------
    >>> series([(1, 3.14), (10, 2.0)], ".1f")
    '3.1 at M = 1, 2.0 at 10'
    """
    units = [f"M = {unit:,}" if k == 0 else f"{unit:,}" for k, (unit, _) in enumerate(pairs)]
    both = zip(units, pairs, strict=True)
    return ", ".join(f"{value:{form}} at {unit}" for unit, (_, value) in both)
