"""The lambdas tried: a table, and a picture by matplotlib (an extra)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from graftwork.errors import DataError
from graftwork.estimators import MarkovNetwork
from graftwork.report.curves import draw_curve, dress
from graftwork.report.figures import INK, check_axes, colour_of, finish, new_axes, shown
from graftwork.selection import PathPoint
from graftwork.text import Column, aligned, count, decimals, whole

_DIGITS = decimals(4)
#: Inches that a number below an axis takes, with some room.
_TICK_INCHES = 0.7
#: First digits of round numbers, the roundest first.
_ROUND = ("1", "13", "125", ("1", "1.5", "2", "3", "5", "7"), [f"{k / 10}" for k in range(10, 100)])
_COLUMNS: tuple[Column, ...] = (
    ("lam", "lambda", lambda value: f"{value:.4g}"),
    ("n_edges", "edges", whole),
    ("objective", "objective", _DIGITS),
    ("refit_loss", "refit loss", _DIGITS),
    ("criterion", "criterion", _DIGITS),
    ("held_out", "held out", _DIGITS),
    ("chosen", "", lambda chosen: "<- chosen" if chosen else ""),
)


def path_table(points: Sequence[PathPoint]) -> str:
    """Return the lambdas tried as lines of text, the chosen one marked."""
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
    network: MarkovNetwork | Sequence[PathPoint],
    path: str | PathLike[str] | None = None,
    *,
    ax: Any = None,
    title: str = "",
) -> Any:
    """Return the axes with the lambdas tried; write the picture if a path is given.

    The criterion (or the objective, where nothing was minimised) and the number of edges against
    lambda, from large to small; a line marks the one chosen, and a dot the edges that are left
    where tests had the last word (goal="structure"). Where rows were held out a level line is what
    the network of tested edges does. A notebook shows the picture where
    this is the value of a cell. No window opens, and pyplot is left alone.
    """
    fitted = network if isinstance(network, MarkovNetwork) else None
    points = list(network.path_ if isinstance(network, MarkovNetwork) else network)
    if not points:
        raise DataError('there is no path to draw: lambda was given; use lam="auto".')
    owned = ax is None
    if ax is None:
        ax = new_axes(7.0, 4.2, (0.11, 0.14, 0.77, 0.75))
    check_axes(ax)
    name, values = _followed(points)
    line = draw_curve(ax, 0, np.array([point.lam for point in points]), values)
    line.set_markevery(1)
    dress(ax)
    ax.set_xlabel("lambda", color=INK)
    ax.set_ylabel(name, color=colour_of(0))
    ax.ticklabel_format(axis="y", useOffset=False)
    chosen = next((point for point in points if point.chosen), None)
    kept = fitted.model_.n_edges if fitted else chosen.n_edges if chosen else None
    judged = fitted.choice_.path.tested if fitted and fitted.choice_.path else None
    if judged is not None:
        line = ax.axhline(judged, color=colour_of(0), linewidth=0.9, linestyle="-.")
        ax.legend([line], ["the tested edges"], loc="upper left", frameon=False, fontsize=8)
    _draw_edges(ax, points, chosen, kept)
    _scale(ax, [point.lam for point in points])
    if chosen is not None:
        ax.axvline(chosen.lam, color=INK, linewidth=0.9, linestyle=":")
    ax.set_title(shown(title) or _title(chosen, kept), fontsize=11, color=INK)
    return finish(ax, path, tight=owned)


def _title(chosen: PathPoint | None, kept: int | None) -> str:
    """Return the lambda chosen and its edges; those of the network where tests changed them."""
    if chosen is None:
        return "" if kept is None else f"the tested edges predict best: {count(kept, 'edge')}"
    if kept is None or kept == chosen.n_edges:
        return f"lambda {chosen.lam:.4g}, {count(chosen.n_edges, 'edge')}"
    listed = f"a short list of {count(chosen.n_edges, 'pair')}"
    return f"lambda {chosen.lam:.4g}: {listed}; the network has {count(kept, 'edge')}"


def _draw_edges(
    ax: Any, points: Sequence[PathPoint], chosen: PathPoint | None, kept: int | None
) -> None:
    """Draw the number of edges on an axis of its own, and that of the network where it differs."""
    other = ax.twinx()
    lams, edges = [point.lam for point in points], [point.n_edges for point in points]
    other.plot(lams, edges, color=colour_of(1), linestyle="--", linewidth=1.2)
    if chosen is not None and kept != chosen.n_edges:
        dot = other.plot([chosen.lam], [kept], "o", color=colour_of(1), clip_on=False)
        other.legend(dot, ["the network"], loc="center left", frameon=False, fontsize=8)
    other.set_ylabel("edges", color=colour_of(1))
    other.set_ylim(0, 1.06 * max(1, kept or 0, *edges))
    other.yaxis.get_major_locator().set_params(integer=True)
    other.spines["top"].set_visible(False)
    other.tick_params(labelsize=8, colors=INK)


def _scale(ax: Any, lams: Sequence[float]) -> None:
    """Make the axis of lambda logarithmic, from large to small, with numbers that have room."""
    ax.set_xscale("log")
    ax.invert_xaxis()
    inches = ax.get_window_extent().width / ax.figure.dpi
    ticks = round_values(min(lams), max(lams), max(2, int(inches / _TICK_INCHES)))
    ax.set_xticks(ticks, [f"{tick:.4g}" for tick in ticks])
    ax.tick_params(axis="x", which="minor", labelbottom=False)


def round_values(low: float, high: float, most: int) -> list[float]:
    """Return round numbers between two, ``most`` at most, about evenly spaced as logarithms.

    Where there are not two round ones between them, the ends themselves.

    Examples
    --------
    >>> round_values(2e-5, 0.3, 6), round_values(0.06, 0.4, 6)
    ([0.0001, 0.001, 0.01, 0.1], [0.07, 0.1, 0.15, 0.2, 0.3])
    >>> round_values(0.1001, 0.1002, 6)
    [0.1001, 0.1002]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for digits in _ROUND:
        every = [float(f"{digit}e{power}") for power in powers for digit in digits]
        more = [value for value in every if low <= value <= high]
        if len(more) > most:
            found = found or more[:: -(-len(more) // most)]
            break
        found = more
    return found if len(found) > 1 else sorted({low, high})


def _followed(points: Sequence[PathPoint]) -> tuple[str, Any]:
    """Return what the path was followed by, and its values."""
    for key, name in (("held_out", "held-out NLPL (nats per row)"), ("criterion", "criterion")):
        values = np.array([getattr(point, key) for point in points], dtype=np.float64)
        if np.isfinite(values).any():
            return name, values
    return "objective", np.array([point.objective for point in points])


def _unknown(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
