"""Figures of several panels: criteria of methods against a number they were run with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graftwork.report.curves import draw_curve, dress, head, is_wide
from graftwork.report.figures import INK

#: Numbers below a logarithmic axis are at least this factor apart.
_APART = 1.5

Records = Sequence[Mapping[str, Any]]


def draw_criteria(
    canvas: Any,
    lines: Mapping[str, Records],
    panels: Sequence[tuple[str, str]],
    *,
    across: str,
    label: str,
    title: str,
    columns: int = 3,
    ticks: Mapping[float, str] | None = None,
) -> None:
    """Draw one panel a criterion, one line a method, and return None.

    Parameters
    ----------
    canvas : matplotlib.figure.Figure
    lines : mapping of name to records
        Each record holds what is across and the criteria. A line whose only record has None
        across is the same everywhere.
    panels : sequence of (key, title)
    across, label : str
        The key of what is across, and what it is called.
    ticks : mapping, optional
        What places are called.
    """
    places = sorted({r[across] for records in lines.values() for r in records} - {None})
    axes = canvas.subplots(-(-len(panels) // columns), columns, squeeze=False)
    handles: list[Any] = []
    for ax, (key, words) in zip(axes.flat, panels, strict=False):
        ax.set_title(words, fontsize=10, color=INK)
        dress(ax)
        handles = [
            _line(ax, k, records, key, across, places) for k, records in enumerate(lines.values())
        ]
        ax.set_xlabel(label, fontsize=9, color=INK)
        values = [float(r[key]) for records in lines.values() for r in records]
        if values and min(values) > 0 and is_wide(values):
            ax.set_yscale("log")
        else:
            ax.ticklabel_format(axis="y", useOffset=False)
        if ticks is not None:
            ax.set_xticks(list(ticks), list(ticks.values()))
        elif places and is_wide(places):
            ax.set_xscale("log")
            shown = apart(places)
            ax.set_xticks(shown, [str(place) for place in shown], fontsize=7)
            ax.set_xticks([], minor=True)
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    head(canvas, handles, list(lines), title)


def apart(places: Sequence[float]) -> list[float]:
    """Return the places whose numbers do not run into each other on a logarithmic axis.

    Examples
    --------
    >>> apart([1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110])
    [1, 10, 20, 40, 70, 110]
    """
    shown: list[float] = []
    for place in reversed(places):
        if not shown or place <= shown[-1] / _APART:
            shown.append(place)
    return shown[::-1]


def _line(ax: Any, k: int, records: Records, key: str, across: str, places: Sequence[float]) -> Any:
    x = [record[across] for record in records]
    y = [float(record[key]) for record in records]
    if x == [None]:
        ends = [places[0], places[-1]] if places else [0.0, 1.0]
        x, y = ends, y * 2
    return draw_curve(ax, k, np.array(x, dtype=np.float64), np.array(y))
