"""How lines of a comparison are drawn: told apart by colour, dashes and markers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.report.figures import INK, colour_of, shown

Floats = NDArray[np.float64]

_LINES: tuple[Any, ...] = ("-", "--", "-.", (0, (1, 1.2)), (0, (5, 1, 1, 1, 1, 1)))
_MARKERS = "osD^vPX*<>"
_GRID = "#d9dde2"
#: Markers on a line, so that lines lying on top of each other can be told apart.
_MARKS = 9
#: An axis that spans more than this factor is logarithmic.
_WIDE = 20.0
#: About what a mark and a letter of the names above the panels take, in inches.
_MARK_INCHES, _LETTER_INCHES = 0.75, 0.075


def draw_curve(ax: Any, k: int, x: Floats, y: Floats) -> Any:
    """Draw line k on axes, and return it."""
    [line] = ax.plot(
        x,
        y,
        color=colour_of(k),
        linestyle=_LINES[k % len(_LINES)],
        marker=_MARKERS[k % len(_MARKERS)],
        markevery=_marks(len(x), k),
        markersize=4.5,
        linewidth=1.5,
        alpha=0.9,
    )
    return line


def _marks(size: int, k: int) -> list[int]:
    """Return where on a line its markers are: both ends and some between, shifted for each line."""
    inner = np.linspace(0, size - 1, _MARKS) + (k % 3) * size / (3 * _MARKS)
    return sorted({0, size - 1, *np.clip(inner.round(), 0, size - 1).astype(int)} - {-1})


def dress(ax: Any) -> None:
    """Give axes a quiet grid and small labels, and return None."""
    ax.grid(color=_GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8, colors=INK)


def is_wide(values: Sequence[float]) -> bool:
    """Return whether an axis of these values wants to be logarithmic.

    Examples
    --------
    >>> is_wide([1.0, 50.0]), is_wide([0.0, 3.0, 5.0])
    (True, False)
    """
    positive = [value for value in values if value > 0]
    return bool(positive) and max(positive) > _WIDE * min(positive)


def fitting_columns(lengths: Sequence[int], width: float) -> int:
    """Return in how many columns labels of these lengths fit into inches, filled from above.

    Examples
    --------
    >>> fitting_columns([10, 10, 10, 10], 8.0), fitting_columns([25, 25, 25, 25], 8.0)
    (4, 3)
    """
    for columns in range(min(len(lengths), 5), 1, -1):
        lines = -(-len(lengths) // columns)
        widest = [max(lengths[k : k + lines]) for k in range(0, len(lengths), lines)]
        if sum(_MARK_INCHES + _LETTER_INCHES * each for each in widest) <= width:
            return columns
    return 1


def head(figure: Any, handles: Sequence[Any], labels: Sequence[str], title: str) -> None:
    """Write the title and the names of the lines above the panels, and return None."""
    columns = fitting_columns([len(label) for label in labels], figure.get_figwidth())
    lines = -(-len(labels) // columns)
    height = figure.get_figheight()
    figure.legend(
        handles,
        [legend_text(label) for label in labels],
        loc="upper center",
        bbox_to_anchor=(0.5, 1 - 0.38 / height),
        ncols=columns,
        frameon=False,
        fontsize=9.5,
        handlelength=3.2,
    )
    figure.suptitle(title, fontsize=12, color=INK, y=1 - 0.12 / height, va="top")
    figure.tight_layout(rect=(0, 0, 1, 1 - (0.4 + 0.2 * lines) / height))


def legend_text(label: Any) -> str:
    """Return a label as legends show it: never hidden, though it begins with an underscore.

    Examples
    --------
    >>> legend_text("_x"), legend_text("x")
    (' _x', 'x')
    """
    text = shown(label)
    return f" {text}" if text.startswith("_") else text
