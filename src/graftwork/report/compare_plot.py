"""A comparison as a figure: what was reached against the clock and against counters."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from graftwork.report.curves import INK, Floats, draw_curve, dress, finish, head, is_wide
from graftwork.report.plot import new_figure
from graftwork.text import count

if TYPE_CHECKING:
    from graftwork.report.comparison import Comparison, MethodRun

_ACROSS = (
    ("seconds", "seconds"),
    ("evaluations", "gradient evaluations"),
    ("blocks_scored", "blocks scored"),
    ("tables_counted", "pair tables counted"),
)


def plot_comparison(comparison: Comparison, path: str | PathLike[str] | None = None) -> Any:
    """Return the figure of a comparison; write it if a path is given.

    No window opens, and pyplot is left alone.

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
    down = _down(comparison)
    figure = new_figure(13.5, 1.2 + 2.5 * len(down))
    axes = figure.subplots(len(down), len(_ACROSS), sharex="col", sharey="row", squeeze=False)
    for row, (key, title) in zip(axes, down, strict=True):
        for ax, (counter, _) in zip(row, _ACROSS, strict=True):
            _panel(ax, comparison.runs, counter, key)
        row[0].set_ylabel(title, color=INK)
    for ax, (counter, title) in zip(axes[-1], _ACROSS, strict=True):
        ax.set_xlabel(title, color=INK)
        _scale(ax, comparison.runs, counter)
    rows, variables = comparison.n_rows, comparison.n_variables
    title = f"{count(rows, 'row')}, {count(variables, 'variable')}, lambda {comparison.lam:.4g}"
    head(figure, axes[0, 0].get_lines(), [run.label for run in comparison.runs], title)
    return finish(figure, path)


def _down(comparison: Comparison) -> list[tuple[str, str]]:
    """Return what the rows of panels show."""
    down = [
        ("objective", "objective"),
        ("nlpl", "NLPL of the rows learned from"),
        ("edges", "edges"),
    ]
    if comparison.n_test is not None:
        down[1] = ("test_nlpl", "held-out NLPL")
    if comparison.n_true is not None:
        down.append(("recall", "recall of true edges"))
    return down


def _panel(ax: Any, runs: Sequence[MethodRun], counter: str, key: str) -> None:
    """Draw one line a method."""
    for k, run in enumerate(runs):
        draw_curve(ax, k, *line_of(run, counter, key))
    dress(ax)


def line_of(run: MethodRun, counter: str, key: str) -> tuple[Floats, Floats]:
    """Return a run's line: the rounds in which the quantity is known."""
    known = [(r[counter], r[key]) for r in run.rounds if r[key] is not None]
    points = np.array(known, dtype=np.float64).reshape(-1, 2)
    return points[:, 0], points[:, 1]


def _scale(ax: Any, runs: Sequence[MethodRun], counter: str) -> None:
    """Make the axis logarithmic where it spans much; zero stays on it, at the left end."""
    values = [float(record[counter]) for run in runs for record in run.rounds]
    if is_wide(values):
        if min(values) > 0:
            ax.set_xscale("log")
        else:
            low = 10.0 ** np.floor(np.log10(min(value for value in values if value > 0)))
            ax.set_xscale("symlog", linthresh=low, linscale=0.8)
            ax.set_xlim(left=-0.15 * low)
            ax.set_xticks([tick for tick in ax.get_xticks() if tick >= 0])
