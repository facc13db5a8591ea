"""A comparison as a figure: what was reached against the clock and against counters."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graftwork.report.plot import new_figure, save_figure
from graftwork.report.summary import count

if TYPE_CHECKING:
    from graftwork.report.comparison import Comparison, MethodRun

Floats = NDArray[np.float64]

#: Okabe and Ito's colours, told apart with any colour vision, the pale yellow last.
_COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#b8a800",
)  # fmt: skip
_LINES: tuple[Any, ...] = ("-", "--", "-.", (0, (1, 1.2)), (0, (5, 1, 1, 1, 1, 1)))
_MARKERS = "osD^vPX*<>"
_INK, _GRID = "#222831", "#d9dde2"
#: Markers on a line, so that lines lying on top of each other can be told apart.
_MARKS = 9
#: An axis that spans more than this factor is logarithmic.
_WIDE = 20.0

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
        row[0].set_ylabel(title, color=_INK)
    for ax, (counter, title) in zip(axes[-1], _ACROSS, strict=True):
        ax.set_xlabel(title, color=_INK)
        _scale(ax, comparison.runs, counter)
    _legend(figure, axes[0, 0], comparison)
    with warnings.catch_warnings():  # a font without a label's letters shows boxes instead
        warnings.filterwarnings("ignore", message="Glyph")
        figure.canvas.draw()
        if path is not None:
            save_figure(figure, Path(path), tight=True)
    return figure


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
        x, y = line_of(run, counter, key)
        ax.plot(
            x,
            y,
            color=_COLOURS[k % len(_COLOURS)],
            linestyle=_LINES[k % len(_LINES)],
            marker=_MARKERS[k % len(_MARKERS)],
            markevery=_marks(len(x), k),
            markersize=4.5,
            linewidth=1.5,
            alpha=0.9,
        )
    ax.grid(color=_GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8, colors=_INK)


def line_of(run: MethodRun, counter: str, key: str) -> tuple[Floats, Floats]:
    """Return a run's line: the rounds in which the quantity is known."""
    known = [(r[counter], r[key]) for r in run.rounds if r[key] is not None]
    points = np.array(known, dtype=np.float64).reshape(-1, 2)
    return points[:, 0], points[:, 1]


def _marks(size: int, k: int) -> list[int]:
    """Return where on a line its markers are: both ends and some between, shifted for each line."""
    inner = np.linspace(0, size - 1, _MARKS) + (k % 3) * size / (3 * _MARKS)
    return sorted({0, size - 1, *np.clip(inner.round(), 0, size - 1).astype(int)} - {-1})


def _scale(ax: Any, runs: Sequence[MethodRun], counter: str) -> None:
    """Make the axis logarithmic where it spans much; zero stays on it, at the left end."""
    values = [float(record[counter]) for run in runs for record in run.rounds]
    positive = [value for value in values if value > 0]
    if positive and max(positive) > _WIDE * min(positive):
        if min(values) > 0:
            ax.set_xscale("log")
        else:
            low = 10.0 ** np.floor(np.log10(min(positive)))
            ax.set_xscale("symlog", linthresh=low, linscale=0.8)
            ax.set_xlim(left=-0.15 * low)
            ax.set_xticks([tick for tick in ax.get_xticks() if tick >= 0])


def _legend(figure: Any, ax: Any, comparison: Comparison) -> None:
    """Name the methods above the panels, and say what they were run on."""
    labels = [_shown(run.label) for run in comparison.runs]
    columns = min(len(labels), 5)
    lines = -(-len(labels) // columns)
    height = figure.get_figheight()
    figure.legend(
        ax.get_lines(),
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, 1 - 0.38 / height),
        ncols=columns,
        frameon=False,
        fontsize=9.5,
        handlelength=3.2,
    )
    rows, variables = comparison.n_rows, comparison.n_variables
    title = f"{count(rows, 'row')}, {count(variables, 'variable')}, lambda {comparison.lam:.4g}"
    figure.suptitle(title, fontsize=12, color=_INK, y=1 - 0.12 / height, va="top")
    figure.tight_layout(rect=(0, 0, 1, 1 - (0.4 + 0.2 * lines) / height))


def _shown(label: str) -> str:
    """Return a label that matplotlib takes as it is: no mathematics, and never hidden."""
    text = label.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
