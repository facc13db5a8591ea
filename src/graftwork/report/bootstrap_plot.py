"""A bootstrap as a figure: intervals of edges, and what dropping rows does to centralities."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from graftwork.estimators.bootstrap import CORRELATION, Bootstrap, Record
from graftwork.models.graphs import MEASURES
from graftwork.report.curves import INK, colour_of, draw_curve, dress, finish
from graftwork.report.plot import new_figure
from graftwork.report.summary import count

_PALE, _BAR = "#6b7280", "#d7e3ee"


def plot_bootstrap(
    boot: Bootstrap, path: str | PathLike[str] | None = None, *, top: int = 40
) -> Any:
    """Return the figure of a bootstrap; write it if a path is given.

    On the left the edges, the most frequent first: bars are how often each was found, lines the
    intervals of its strength (absent as 0), dots the network itself. On the right how centralities
    of subsets correlate with those of all rows, with the middle 90 % of the subsets as a band.
    No window opens, and pyplot is left alone.

    Parameters
    ----------
    path : path-like, optional
        Where to write it; the ending says the format (png, pdf, svg).
    top : int
        How many edges to draw.

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
    records = boot.edges()
    shown = records[:top]
    figure = new_figure(12.5, min(max(4.5, 1.6 + 0.24 * len(shown)), 60.0))
    often, edges, curves = figure.subplots(1, 3, width_ratios=(1.0, 2.6, 2.8))
    _frequencies(often, shown)
    _intervals(edges, shown)
    left_out = len(records) - len(shown)
    if left_out > 0:
        edges.set_xlabel(f"strength ({count(left_out, 'less frequent pair')} not drawn)", color=INK)
    _stability(curves, boot)
    fits = count(boot.n_done, "resample")
    if boot.shares:
        fits += f", {count(boot.n_subsets, 'subset')}"
    height = figure.get_figheight()
    figure.suptitle(fits, fontsize=12, color=INK, y=1 - 0.12 / height, va="top")
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.35 / height))
    return finish(figure, path)


def _frequencies(ax: Any, records: list[Record]) -> None:
    """Draw how often each edge was found, with the names of its ends."""
    places = np.arange(len(records))
    ax.barh(places, [record["frequency"] for record in records], color=_BAR, height=0.75)
    names = [f"{record['first']} - {record['second']}" for record in records]
    ax.set_yticks(places, [name.replace("$", r"\$") for name in names])
    ax.set_xlim(0, 1)
    ax.set_ylim(max(len(records), 1) - 0.4, -0.6)
    ax.set_xlabel("share of resamples", color=INK)
    dress(ax)


def _intervals(ax: Any, records: list[Record]) -> None:
    """Draw the interval of each strength, and the network's own as a dot."""
    places = np.arange(len(records))
    ax.hlines(
        places,
        [record["low"] for record in records],
        [record["high"] for record in records],
        color=colour_of(0),
        linewidth=2.2,
    )
    means = [record["mean"] for record in records]
    ax.plot(means, places, "|", color=colour_of(0), markersize=9, label="mean of resamples")
    own = [record["strength"] or np.nan for record in records]  # no dot where there is no edge
    ax.plot(own, places, "o", color=colour_of(1), markersize=4.5, label="the network")
    ax.set_yticks(places, [])
    ax.set_ylim(max(len(records), 1) - 0.4, -0.6)
    ax.set_xlim(left=0)
    ax.set_xlabel("strength", color=INK)
    dress(ax)
    if records:
        ax.legend(frameon=False, fontsize=8.5, loc="lower right")
    else:
        place = {"transform": ax.transAxes, "ha": "center", "va": "center"}
        ax.text(0.5, 0.5, "no edges", color=_PALE, fontsize=12, **place)


def _stability(ax: Any, boot: Bootstrap) -> None:
    """Draw a line a measure: correlations with all rows against the share dropped."""
    dress(ax)
    ax.set_xlabel("share of rows dropped", color=INK)
    ax.set_ylabel("correlation of centralities with those of all rows", color=INK)
    if not boot.n_subsets:
        place = {"transform": ax.transAxes, "ha": "center", "va": "center"}
        ax.text(0.5, 0.5, "no rows were dropped", color=_PALE, fontsize=12, **place)
        return
    found, shares = np.nan_to_num(boot.correlations), np.unique(boot.dropped)
    for m, (measure, cs) in enumerate(zip(MEASURES, boot.cs.values(), strict=True)):
        if cs is None:
            continue
        groups = [found[boot.dropped == share, m] for share in shares]
        line = draw_curve(ax, m, shares, np.array([group.mean() for group in groups]))
        line.set_label(f"{measure} (CS {cs:.2f})")
        ends = np.array([np.quantile(group, (0.05, 0.95)) for group in groups])
        ax.fill_between(shares, ends[:, 0], ends[:, 1], color=colour_of(m), alpha=0.12, linewidth=0)
    ax.axhline(CORRELATION, color=_PALE, linewidth=0.9, linestyle=":")
    ax.set_xlim(0, float(shares.max()) + 0.03)
    ax.set_ylim(top=1.02)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize=8.5, loc="lower left")
