"""A comparison of chains as a figure: six criteria, against the select unit or as bars."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from graftwork.report.curves import INK, colour_of, draw_curve, dress, finish, head, is_wide
from graftwork.report.plot import new_figure
from graftwork.text import count

if TYPE_CHECKING:
    from graftwork.report.chain_comparison import ChainComparison

Lines = dict[str, list[dict[str, Any]]]

_PANELS = (
    ("seconds", "training time (seconds)"),
    ("nll", "negative log-likelihood (training)"),
    ("test_error", "error rate (test)"),
    ("features", "features in the end"),
    ("selected", "features selected on the way"),
    ("evaluations", "gradient evaluations"),
)
#: Every select unit is on the axis while there are no more than so many.
_MOST_TICKS = 12
#: The upright axis spans at least this share of the largest value, up and down.
_LEAST_SPAN = 0.02
_SELECT = re.compile(r":(select|count)=\d+")


def plot_chains(comparison: ChainComparison, path: str | PathLike[str] | None = None) -> Any:
    """Return the figure of a comparison of chains; write it if a path is given.

    Parameters
    ----------
    path : path-like, optional
        Where to write it; the ending says the format (png, pdf, svg).

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    DataError
        If the ending of the path is no format matplotlib writes.
    """
    figure = new_figure(12.5, 7.2)
    axes = figure.subplots(2, 3)
    lines = lines_of(comparison)
    units = {record["select"] for records in lines.values() for record in records} - {None}
    across = len(units) > 1
    labels = list(lines) if across else [run.label for run in comparison.runs]
    handles: list[Any] = []
    for ax, (key, title) in zip(axes.flat, _PANELS, strict=True):
        ax.set_title(title, fontsize=10, color=INK)
        dress(ax)
        if key == "test_error" and comparison.n_test is None:
            ax.text(0.5, 0.5, "nothing to test on", ha="center", color=INK, fontsize=9)
            ax.set_axis_off()
        elif across:
            handles = _curves(ax, lines, key, sorted(units))
        else:
            handles = _bars(ax, [record[key] for record in comparison.table()])
    sequences = count(comparison.n_sequences, "sequence")
    title = (
        f"{sequences}, {count(comparison.n_attributes, 'attribute')}, lambda {comparison.lam:.4g}"
    )
    head(figure, handles, labels, title)
    return finish(figure, path)


def lines_of(comparison: ChainComparison) -> Lines:
    """Return the table's records in lines: those whose labels differ in the select unit only."""
    lines: Lines = {}
    for record in comparison.table():
        lines.setdefault(_SELECT.sub("", record["method"]), []).append(record)
    return {
        name: sorted(records, key=lambda record: record["select"] or 0)
        for name, records in lines.items()
    }


def _curves(ax: Any, lines: Lines, key: str, units: Sequence[int]) -> list[Any]:
    """Draw one line a method over the select units; what takes none is the same at all of them."""
    handles = []
    for k, records in enumerate(lines.values()):
        x = [record["select"] for record in records]
        y = [float(record[key]) for record in records]
        if x == [None]:
            x, y = [units[0], units[-1]], y * 2
        handles.append(draw_curve(ax, k, np.array(x, dtype=np.float64), np.array(y)))
    ax.set_xlabel("features a round (M)", fontsize=9, color=INK)
    if is_wide([float(unit) for unit in units]):
        ax.set_xscale("log")
    if len(units) <= _MOST_TICKS:
        ax.set_xticks(units, [str(unit) for unit in units])
        ax.set_xticks([], minor=True)
    _scale(ax, [float(record[key]) for records in lines.values() for record in records])
    return handles


def _bars(ax: Any, values: Sequence[float]) -> list[Any]:
    """Draw one bar a method."""
    colours = [colour_of(k) for k in range(len(values))]
    bars = ax.bar(range(len(values)), values, color=colours)
    ax.set_xticks([])
    _scale(ax, values)
    return list(bars)


def _scale(ax: Any, values: Sequence[float]) -> None:
    """Make the upright axis logarithmic where the values span much and none is zero.

    It never spans very little: methods that reach the same look the same.
    """
    if min(values) > 0 and is_wide(values):
        ax.set_yscale("log")
        return
    low, high = ax.get_ylim()
    margin = _LEAST_SPAN * max(values)
    ax.set_ylim(min(low, max(0.0, min(values) - margin)), max(high, max(values) + margin))
    ax.ticklabel_format(axis="y", useOffset=False, style="plain")
