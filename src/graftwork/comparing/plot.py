"""A comparison as a figure: metrics against clock and counters, or at the end of the runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np

from graftwork.comparing.comparison import COST, Comparison, Metric, Record, Run
from graftwork.comparing.text import sizes_text
from graftwork.report.curves import Floats, draw_curve, dress, head, is_wide
from graftwork.report.figures import INK, colour_of, finish, new_figure

#: Every value of a parameter is a tick while there are no more of them than this.
_MOST_TICKS = 12
#: A y-axis of values at the end spans at least this share of the largest, up and down.
_LEAST_SPAN = 0.02
_COLUMNS = 3


def plot_comparison(
    comparison: Comparison, path: str | PathLike[str] | None, by: Literal["rounds", "runs"]
) -> Any:
    """Return the figure of a comparison; write it if a path is given. No window opens."""
    draw = {"rounds": _over_rounds, "runs": _over_runs}[by]
    figure, handles, labels = draw(comparison)
    title = f"{sizes_text(comparison.sizes)}, lambda {comparison.lam:.4g}"
    head(figure, handles, labels, title)
    return finish(figure, path)


def _over_rounds(comparison: Comparison) -> tuple[Any, Sequence[Any], list[str]]:
    """Draw metrics against costs, one line per run."""
    runs = comparison.runs
    told = [m for m in comparison.metrics if m.drawn and m.name in runs[0].rounds[0]]
    down = [metric for metric in told if metric.table != COST]
    across = [metric for metric in told if metric.table == COST]
    figure = new_figure(1.5 + 3.0 * len(across), 1.2 + 2.5 * len(down))
    axes = figure.subplots(len(down), len(across), sharex="col", sharey="row", squeeze=False)
    for row, metric in zip(axes, down, strict=True):
        for ax, cost in zip(row, across, strict=True):
            for k, run in enumerate(runs):
                draw_curve(ax, k, *line_of(run, cost.name, metric.name))
            dress(ax)
        row[0].set_ylabel(metric.label, color=INK)
    for ax, cost in zip(axes[-1], across, strict=True):
        ax.set_xlabel(cost.label, color=INK)
        _scale_cost(ax, [float(record[cost.name]) for run in runs for record in run.rounds])
    return figure, axes[0, 0].get_lines(), [run.label for run in runs]


def line_of(run: Run, cost: str, metric: str) -> tuple[Floats, Floats]:
    """Return a run's line: the rounds in which the metric is known."""
    known = [(r[cost], r[metric]) for r in run.rounds if r[metric] is not None]
    points = np.array(known, dtype=np.float64).reshape(-1, 2)
    return points[:, 0], points[:, 1]


def _scale_cost(ax: Any, values: Sequence[float]) -> None:
    """Make the x-axis logarithmic where it spans much; zero stays on it, at the left end."""
    if not is_wide(values):
        return
    if min(values) > 0:
        ax.set_xscale("log")
        return
    low = 10.0 ** np.floor(np.log10(min(value for value in values if value > 0)))
    ax.set_xscale("symlog", linthresh=low, linscale=0.8)
    ax.set_xlim(left=-0.15 * low)
    ax.set_xticks([tick for tick in ax.get_xticks() if tick >= 0])


def _over_runs(comparison: Comparison) -> tuple[Any, Sequence[Any], list[str]]:
    """Draw one panel per metric: lines over a parameter where runs differ in it, else bars."""
    panels = [metric for metric in comparison.metrics if metric.drawn]
    height = -(-len(panels) // _COLUMNS)
    figure = new_figure(12.5, 1.2 + 3.0 * height)
    axes = figure.subplots(height, _COLUMNS, squeeze=False).ravel()
    records, lines, parameter = comparison.table(), lines_of(comparison), comparison.parameter
    values = set() if parameter is None else {r[parameter.name] for r in records} - {None}
    handles: list[Any] = []
    for ax, metric in zip(axes, panels, strict=False):
        ax.set_title(metric.label, fontsize=10, color=INK)
        dress(ax)
        if parameter is not None and len(values) > 1:
            handles = _curves(ax, list(lines.values()), metric, parameter, sorted(values))
        else:
            handles = _bars(ax, [record[metric.name] for record in records])
        _scale_metric(ax, [float(record[metric.name]) for record in records])
    for ax in axes[len(panels) :]:
        ax.remove()
    labels = list(lines) if len(values) > 1 else [run.label for run in comparison.runs]
    return figure, handles, labels


def lines_of(comparison: Comparison) -> dict[str, list[Record]]:
    """Return the table's records in lines: those whose labels differ in the parameter only."""
    lines: dict[str, list[Record]] = {}
    if comparison.parameter is None:
        return {record["method"]: [record] for record in comparison.table()}
    name = comparison.parameter.name
    for record in comparison.table():
        lines.setdefault(re.sub(rf":({name}|count)=\d+", "", record["method"]), []).append(record)
    return {
        label: sorted(records, key=lambda record: record[name] or 0)
        for label, records in lines.items()
    }


def _curves(
    ax: Any,
    lines: Sequence[Sequence[Mapping[str, Any]]],
    metric: Metric,
    parameter: Metric,
    values: Sequence[float],
) -> list[Any]:
    """Draw one line per method over the parameter; what has none is the same at all values."""
    handles = []
    for k, records in enumerate(lines):
        x = [record[parameter.name] for record in records]
        y = [float(record[metric.name]) for record in records]
        if x == [None]:
            x, y = [values[0], values[-1]], y * 2
        handles.append(draw_curve(ax, k, np.array(x, dtype=np.float64), np.array(y)))
    ax.set_xlabel(parameter.label, fontsize=9, color=INK)
    if is_wide([float(value) for value in values]):
        ax.set_xscale("log")
    if len(values) <= _MOST_TICKS:
        ax.set_xticks(values, [str(value) for value in values])
        ax.set_xticks([], minor=True)
    return handles


def _bars(ax: Any, values: Sequence[float]) -> list[Any]:
    """Draw one bar per run."""
    bars = ax.bar(range(len(values)), values, color=[colour_of(k) for k in range(len(values))])
    ax.set_xticks([])
    return list(bars)


def _scale_metric(ax: Any, values: Sequence[float]) -> None:
    """Make the y-axis logarithmic where the values span much and none is zero.

    It never spans very little: methods that reach the same look the same.
    """
    if min(values) > 0 and is_wide(values):
        ax.set_yscale("log")
        return
    low, high = ax.get_ylim()
    margin = _LEAST_SPAN * max(values)
    ax.set_ylim(min(low, max(0.0, min(values) - margin)), max(high, max(values) + margin))
    ax.ticklabel_format(axis="y", useOffset=False, style="plain")
