"""The table of two variables as a heat map, by matplotlib (an extra)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np

from graftwork.errors import DataError
from graftwork.estimators import MarkovNetwork
from graftwork.models import PairwiseMRF
from graftwork.report.edges import double_centred, the_model
from graftwork.report.figures import (
    INK,
    any_letters,
    check_axes,
    finish,
    new_axes,
    printable,
    shown,
)
from graftwork.report.layout import Floats

PairValues = Literal["log-potentials", "joint", "conditional"]
#: Numbers are written into cells at least this wide, signs into those at least that.
_NUMBER_INCHES, _SIGN_INCHES = 0.42, 0.16
#: A cell, and a whole table, in inches.
_CELL, _LARGEST = 0.62, 9.0
#: Names of states longer than this are cut; letters are about so wide, and lines so high.
_LONGEST, _LETTER, _LINE = 24, 0.075, 0.16
_IMPOSSIBLE = "#b9bec5"


def plot_pair(
    network: PairwiseMRF | MarkovNetwork,
    a: Hashable,
    b: Hashable,
    path: str | PathLike[str] | None = None,
    *,
    values: PairValues = "log-potentials",
    ax: Any = None,
    title: str | None = None,
) -> Any:
    """Return the axes with the table of two variables as a heat map; write it if a path is given.

    Blue cells are pairs of states that go together, red ones avoid each other; numbers, or minus
    signs where there is no room for numbers, tell them apart without colour. Grey cells are
    impossible. A notebook shows the picture where this is the value of a cell. No window opens, and
    pyplot is left alone.

    Parameters
    ----------
    network : PairwiseMRF or MarkovNetwork
    a, b : hashable
        Two variables: the states of ``a`` are the rows, those of ``b`` the columns.
    path : path-like, optional
        Where to write it; the ending says the format (png, pdf, svg).
    values : {"log-potentials", "joint", "conditional"}
        The log-potentials of their edge, less the means of rows and columns; the probabilities of
        both, all edges considered; or the probabilities of ``b`` given ``a``. Probabilities are
        approximate, with a warning, where exact ones cannot be afforded.
    ax : matplotlib Axes, optional
        Where to draw; otherwise on a new figure.
    title : str, optional
        Instead of what is shown; "" for none.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    NotFittedError
        If the estimator has learned nothing yet.
    DataError
        If there is no such variable, no edge between them (for log-potentials), or the ending of
        the path is no format matplotlib writes.

    Examples
    --------
    >>> pair = {("a", "b"): [[1.0, 0.0], [0.0, 1.0]]}
    >>> model = PairwiseMRF({"a": [0, 1], "b": ["x", "y"]}, pairwise=pair)
    >>> plot_pair(model, "a", "b").images[0].get_array().tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    model = the_model(network)
    table, meaning = _table(model, a, b, values)
    rows, columns = ([printable(s, _LONGEST) for s in model.states[name]] for name in (a, b))
    owned = ax is None
    if ax is None:
        ax = _pair_axes(rows, columns)
    check_axes(ax)
    with any_letters():
        image = _draw_cells(ax, table, signed=values == "log-potentials")
        _draw_states(ax, rows, columns)
        ax.set_ylabel(shown(a, 2 * _LONGEST), color=INK)
        ax.set_xlabel(shown(b, 2 * _LONGEST), color=INK)
        head = f"{printable(a, _LONGEST)} - {printable(b, _LONGEST)}" if title is None else title
        ax.set_title(shown(head), fontsize=11, color=INK, pad=8)
        bar = ax.figure.colorbar(image, ax=ax, fraction=0.05, pad=0.03)
        bar.set_label(meaning, color=INK, fontsize=8.5)
        bar.ax.tick_params(labelsize=8, colors=INK)
        bar.outline.set_visible(False)
    return finish(ax, path, tight=owned)


def _table(model: PairwiseMRF, a: Hashable, b: Hashable, values: str) -> tuple[Floats, str]:
    """Return what is drawn, and what it is."""
    if values == "log-potentials":
        return double_centred(model.table(a, b)), "log-potential"
    if values == "joint":
        return model.pair_marginal(a, b), "probability"
    if values == "conditional":
        joint = model.pair_marginal(a, b)
        total = joint.sum(axis=1, keepdims=True)
        given = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0)
        return given, "probability given the row"
    raise DataError(f'values is {values!r}; use "log-potentials", "joint" or "conditional".')


def _pair_axes(rows: Sequence[str], columns: Sequence[str]) -> Any:
    """Return axes on a figure of their own, as large as the table asks for."""
    # Wide enough for the names below the columns, unless they are long.
    cell = max(_CELL, min(_LETTER * (max(map(len, columns)) + 2), 2 * _CELL))
    high, wide = (
        min(max(each * len(states), 1.6), _LARGEST)
        for each, states in ((_CELL, rows), (cell, columns))
    )
    left, below = 0.6 + _LETTER * max(map(len, rows)), 0.6 + _LETTER * max(map(len, columns))
    width, height = left + wide + 1.3, below + high + 0.5
    return new_axes(width, height, (left / width, below / height, (wide + 0.5) / width,
                                    high / height))  # fmt: skip


def _draw_cells(ax: Any, table: Floats, *, signed: bool) -> Any:
    """Draw the cells with what is in them, and return the image."""
    from matplotlib import colormaps

    finite = table[np.isfinite(table)]
    top = max(float(np.abs(finite).max(initial=0.0)), 1e-12)
    colours = colormaps["RdBu" if signed else "Blues"].with_extremes(bad=_IMPOSSIBLE)
    image = ax.imshow(
        np.ma.masked_invalid(table),
        cmap=colours,
        vmin=-top if signed else 0.0,
        vmax=top,
        aspect="auto",
    )
    box = ax.get_window_extent()
    side = min(box.width / table.shape[1], box.height / table.shape[0] * 1.6) / ax.figure.dpi
    for (r, c), value in np.ndenumerate(table):
        text = _cell_text(float(value), side)
        if text:
            # Dark cells have light letters.
            red, green, blue, _ = (
                image.cmap(image.norm(value)) if np.isfinite(value) else (1.0,) * 4
            )
            light = 0.3 * red + 0.59 * green + 0.11 * blue < 0.5
            ax.text(c, r, text, ha="center", va="center", fontsize=8.5,
                    color="white" if light else INK)  # fmt: skip
    return image


def _cell_text(value: float, inches: float) -> str:
    """Return what is written into a cell that is so wide.

    Examples
    --------
    >>> _cell_text(0.5, 1.0), _cell_text(-0.5, 0.2), _cell_text(-0.5, 0.1)
    ('0.50', '\u2212', '')
    """
    if inches < _SIGN_INCHES:
        return ""
    if not np.isfinite(value):
        return "\u2212\u221e"
    if inches < _NUMBER_INCHES:
        return "\u2212" if value < 0 else ""
    text = f"{value:.2f}"
    return "0.00" if float(text) == 0 else text.replace("-", "\u2212")


def _draw_states(ax: Any, rows: Sequence[str], columns: Sequence[str]) -> None:
    """Name the states beside the cells, as many as there is room for."""
    box, dpi = ax.get_window_extent(), ax.figure.dpi
    step = max(1, int(np.ceil(_LINE * len(rows) / (box.height / dpi))))
    ax.set_yticks(range(0, len(rows), step), [shown(text) for text in rows[::step]])
    room = box.width / dpi / len(columns)
    turned = _LETTER * max(map(len, columns)) > room
    step = max(1, int(np.ceil(_LINE / room))) if turned else 1
    ax.set_xticks(range(0, len(columns), step), [shown(text) for text in columns[::step]],
                  rotation=90 if turned else 0)  # fmt: skip
    ax.tick_params(labelsize=8.5, colors=INK, length=0)
    ax.spines[:].set_visible(False)
