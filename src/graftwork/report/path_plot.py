"""The lambdas tried: a table, and a picture by matplotlib (an extra)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from graftwork.errors import DataError
from graftwork.report.columns import Column, aligned, decimals, whole
from graftwork.report.curves import INK, colour_of, draw_curve, dress
from graftwork.report.plot import new_axes, save_figure
from graftwork.report.summary import count

_DIGITS = decimals(4)
_COLUMNS: tuple[Column, ...] = (
    ("lam", "lambda", lambda value: f"{value:.4g}"),
    ("n_edges", "edges", whole),
    ("objective", "objective", _DIGITS),
    ("refit_loss", "refit loss", _DIGITS),
    ("criterion", "criterion", _DIGITS),
    ("held_out", "held out", _DIGITS),
    ("chosen", "", lambda chosen: "<- chosen" if chosen else ""),
)


def path_table(points: Sequence[Any]) -> str:
    """Return the lambdas tried as lines of text, the chosen one marked.

    Parameters
    ----------
    points : sequence of PathPoint
        What `MarkovNetwork.path_` holds. Columns of which nothing is known are left out.

    Examples
    --------
    >>> from graftwork.tuning import PathPoint
    >>> print(path_table([PathPoint(0.5, 0, 3.0, 3.0), PathPoint(0.25, 2, 2.5, 2.75, chosen=True)]))
      lambda  edges  objective
      0.5         0     3.0000
      0.25        2     2.7500  <- chosen
    """
    if not points:
        return "  (no path: lambda was given)"
    records = [{key: getattr(point, key) for key, _, _ in _COLUMNS} for point in points]
    known = [
        column
        for column in _COLUMNS
        if not all(_unknown(record[column[0]]) for record in records)
    ]  # fmt: skip
    return aligned(records, known)


def plot_path(
    network: Any, path: str | PathLike[str] | None = None, *, ax: Any = None, title: str = ""
) -> Any:
    """Return the axes with the lambdas tried; write the picture if a path is given.

    The criterion (or the objective, where nothing was minimised) and the number of edges against
    lambda, from large to small; a line marks the one chosen. A notebook shows the picture where
    this is the value of a cell. No window opens, and pyplot is left alone.

    Parameters
    ----------
    network : MarkovNetwork, or a sequence of PathPoint
    path : path-like, optional
        Where to write it; the ending says the format (png, pdf, svg).
    ax : matplotlib Axes, optional
        Where to draw; otherwise on a new figure.
    title : str
        Instead of the lambda chosen.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    DataError
        If there is no path, because lambda was given.

    Examples
    --------
    >>> from graftwork.tuning import PathPoint
    >>> points = [PathPoint(0.5, 0, 3.0, 3.0), PathPoint(0.25, 2, 2.5, 2.75, chosen=True)]
    >>> plot_path(points).get_title()
    'lambda 0.25, 2 edges'
    """
    points = list(getattr(network, "path_", network))
    if not points:
        raise DataError('there is no path to draw: lambda was given; use lam="auto".')
    owned = ax is None
    if ax is None:
        ax = new_axes(7.0, 4.2, (0.11, 0.14, 0.77, 0.75))
    lams = np.array([point.lam for point in points])
    name, values = _followed(points)
    line = draw_curve(ax, 0, lams, values)
    line.set_markevery(1)
    dress(ax)
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.set_xlabel("lambda", color=INK)
    ax.set_ylabel(name, color=colour_of(0))
    other = ax.twinx()
    other.plot(lams, [p.n_edges for p in points], color=colour_of(1), linestyle="--", linewidth=1.2)
    other.set_ylabel("edges", color=colour_of(1))
    other.spines["top"].set_visible(False)
    other.tick_params(labelsize=8, colors=INK)
    chosen = next((point for point in points if point.chosen), None)
    if chosen is not None:
        ax.axvline(chosen.lam, color=INK, linewidth=0.9, linestyle=":")
        # Of the network itself, where there is one: a path may hold means over parts of the rows.
        kept = getattr(getattr(network, "model_", chosen), "n_edges", chosen.n_edges)
        title = title or f"lambda {chosen.lam:.4g}, {count(kept, 'edge')}"
    ax.set_title(title, fontsize=11, color=INK)
    if path is not None:
        save_figure(ax.figure, Path(path), tight=owned)
    return ax


def _followed(points: Sequence[Any]) -> tuple[str, Any]:
    """Return what the path was followed by, and its values."""
    for key, name in (("held_out", "held-out NLPL (nats a row)"), ("criterion", "criterion")):
        values = np.array([getattr(point, key) for point in points], dtype=np.float64)
        if np.isfinite(values).any():
            return name, values
    return "objective", np.array([point.objective for point in points])


def _unknown(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
