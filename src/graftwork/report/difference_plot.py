"""Which edges, or centralities of variables, differ in a bootstrap: a matrix as a picture."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from graftwork.estimators.bootstrap import Bootstrap, ends_of
from graftwork.estimators.bootstrap_differences import all_differences
from graftwork.report.bootstrap import measure_word
from graftwork.report.figures import INK, PALE, any_letters, finish, new_figure, shown
from graftwork.text import count

_SAME, _OTHER, _OWN = "#e6e8eb", "#33393f", "#ffffff"
#: Inches a cell takes, and the letters of the longest name.
_CELL, _LETTER, _LEAST = 0.3, 0.085, 3.6
_LONGEST = 36


def plot_difference(
    boot: Bootstrap,
    path: str | PathLike[str] | None = None,
    *,
    of: str = "edges",
    level: float = 0.95,
    top: int = 40,
) -> Any:
    """Return the matrix of differences; `Bootstrap.plot_difference` explains it."""
    listed, values, low, high = all_differences(boot, of, ends_of(level))
    chosen = np.sort(np.argsort(-np.abs(values), kind="stable")[: max(top, 0)])
    names = [_name(listed[k], of) for k in chosen.tolist()]
    picked = np.ix_(chosen, chosen)
    differs = (low[picked] > 0) | (high[picked] < 0)
    side = max(_LEAST, _CELL * len(names))
    wide = _LETTER * max(map(len, names), default=0)
    figure = new_figure(side + wide + 0.4, side + wide + 0.9)
    axes = figure.subplots()
    with any_letters():
        _draw(axes, names, values[chosen], differs)
        what = "edges" if of == "edges" else measure_word(of)
        left = len(listed) - len(names)
        less = f"; {left:,} smaller not drawn" if left else ""
        axes.set_title(
            f"Differences of {what}, {count(boot.n_done, 'resample')}{less}\n"
            f"dark: the {level:.0%} interval leaves out 0",
            fontsize=10, color=INK, loc="left",
        )  # fmt: skip
        figure.tight_layout()
    return finish(figure, path)


def _name(what: Any, of: str) -> str:
    return shown(" - ".join(map(str, what)) if of == "edges" else str(what), _LONGEST)


def _draw(axes: Any, names: list[str], values: np.ndarray, differs: np.ndarray) -> None:
    """Fill in the cells: dark where two differ, with the value itself on the diagonal."""
    n = len(names)
    axes.set_xlim(-0.5, max(n, 1) - 0.5)
    axes.set_ylim(max(n, 1) - 0.5, -0.5)
    axes.set_aspect("equal")
    if not n:
        axes.text(0.0, 0.0, "nothing to compare", color=PALE, ha="center", va="center")
    from matplotlib.colors import ListedColormap

    kinds = np.where(np.eye(n, dtype=bool), 2, differs)
    if n:
        axes.imshow(kinds, cmap=ListedColormap([_SAME, _OTHER, _OWN]), vmin=0, vmax=2)
    for k, value in enumerate(values.tolist()):
        axes.text(k, k, f"{value:.2g}", color=INK, fontsize=6.5, ha="center", va="center")
    axes.set_xticks(range(n), names, rotation=90, fontsize=8)
    axes.set_yticks(range(n), names, fontsize=8)
    axes.set_xticks(np.arange(n + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(n + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="#ffffff", linewidth=0.8)
    axes.tick_params(which="both", length=0, colors=INK)
    for spine in axes.spines.values():
        spine.set_visible(False)
