"""A bootstrap as a figure: how often edges come back, their strengths, centralities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import numpy as np

from graftwork.errors import DataError
from graftwork.estimators.bootstrap import CORRELATION, PANELS, Bootstrap, Record
from graftwork.models.graphs import MEASURES
from graftwork.report.bootstrap import measure_word
from graftwork.report.curves import draw_curve, dress
from graftwork.report.figures import (
    INK,
    PALE,
    any_letters,
    colour_of,
    finish,
    new_figure,
    shown,
)
from graftwork.text import count

_BAR = "#c3d3e2"
#: How wide each panel is, and what names of edges take beside the first of them, in inches.
_WIDTHS = {"frequencies": 2.0, "intervals": 4.4, "stability": 4.8}
_NAMES_WIDTH, _LETTER, _LEAST_WIDTH = 0.5, 0.068, 4.0
#: Names of edges longer than this are cut.
_LONGEST = 44


def plot_bootstrap(
    boot: Bootstrap,
    path: str | PathLike[str] | None = None,
    *,
    panels: str | Sequence[str] = PANELS,
    top: int = 40,
) -> Any:
    """Return the figure of a bootstrap; `Bootstrap.plot` explains it."""
    chosen = [panels] if isinstance(panels, str) else list(panels)
    if not chosen or any(panel not in PANELS for panel in chosen):
        raise DataError(f"panels is {panels!r}; use one or more of {', '.join(PANELS)}.")
    records = boot.edges()
    drawn = records[:top]
    of_edges = [panel for panel in chosen if panel != "stability"]
    height = min(max(4.5, 1.6 + 0.24 * len(drawn)), 60.0) if of_edges else 4.5
    letters = max((len(text) for text in map(_edge_name, drawn)), default=0) if of_edges else 0
    wide = max(sum(_WIDTHS[panel] for panel in chosen), _LEAST_WIDTH)
    width = wide + _NAMES_WIDTH + _LETTER * letters
    figure = new_figure(width, height)
    ratios = [_WIDTHS[panel] for panel in chosen]
    axes = figure.subplots(1, len(chosen), width_ratios=ratios, squeeze=False)[0]
    with any_letters():
        for panel, ax in zip(chosen, axes, strict=True):
            _DRAW[panel](ax, boot, drawn, len(records))
            if panel in of_edges:
                _name_edges(ax, drawn, named=panel == of_edges[0])
        fits = count(boot.n_done, "resample")
        if boot.shares:
            fits += f", {count(boot.n_subsets, 'subset')}"
        figure.suptitle(fits, fontsize=12, color=INK, y=1 - 0.12 / height, va="top")
        figure.tight_layout(rect=(0, 0, 1, 1 - 0.35 / height))
    return finish(figure, path)


def _edge_name(record: Record) -> str:
    return shown(f"{record['first']} - {record['second']}", _LONGEST)


def _name_edges(ax: Any, records: Sequence[Record], *, named: bool) -> None:
    """Write the names of edges beside axes, the first of them on top."""
    ax.set_yticks(np.arange(len(records)), list(map(_edge_name, records)) if named else [])
    ax.set_ylim(max(len(records), 1) - 0.4, -0.6)
    dress(ax)


def _frequencies(ax: Any, boot: Bootstrap, records: Sequence[Record], n_records: int) -> None:
    """Draw how often each edge was found."""
    shares = [record["frequency"] for record in records]
    ax.barh(np.arange(len(records)), shares, color=_BAR, height=0.75)
    ax.set_xlim(0, 1)
    ax.set_xlabel("share of resamples", color=INK)


def _intervals(ax: Any, boot: Bootstrap, records: Sequence[Record], n_records: int) -> None:
    """Draw intervals of weights, or of strengths where some have no sign; the network as dots."""
    signed = bool(records) and not any(np.isnan(record["weight"]) for record in records)
    size, prefix = ("weight", "weight_") if signed else ("strength", "")
    places = np.arange(len(records))
    ax.hlines(
        places,
        [record[f"{prefix}low"] for record in records],
        [record[f"{prefix}high"] for record in records],
        color=colour_of(0),
        linewidth=2.2,
    )
    means = [record[f"{prefix}mean"] for record in records]
    ax.plot(means, places, "|", color=colour_of(0), markersize=9, label="mean of resamples")
    own = [record[size] or np.nan for record in records]  # no dot where there is no edge
    ax.plot(own, places, "o", color=colour_of(1), markersize=4.5, label="the network")
    if signed:
        ax.axvline(0.0, color=PALE, linewidth=0.9, linestyle=":")
    else:
        ax.set_xlim(left=0)
    left_out = n_records - len(records)
    less = f" ({count(left_out, 'less frequent pair')} not drawn)" if left_out else ""
    ax.set_xlabel(f"{size}{less}", color=INK)
    if records:
        ax.legend(
            frameon=False, fontsize=8.5, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2
        )
    else:
        place = {"transform": ax.transAxes, "ha": "center", "va": "center"}
        ax.text(0.5, 0.5, "no edges", color=PALE, fontsize=12, **place)


def _stability(ax: Any, boot: Bootstrap, records: Sequence[Record], n_records: int) -> None:
    """Draw a line per measure: correlations with all rows against the share dropped."""
    dress(ax)
    ax.set_xlabel("share of rows dropped", color=INK)
    ax.set_ylabel("correlation of centralities with those of all rows", color=INK)
    if not boot.n_subsets:
        place = {"transform": ax.transAxes, "ha": "center", "va": "center"}
        ax.text(0.5, 0.5, "no rows were dropped", color=PALE, fontsize=12, **place)
        return
    found, shares = np.nan_to_num(boot.correlations), np.unique(boot.dropped)
    for m, (measure, cs) in enumerate(zip(MEASURES, boot.cs.values(), strict=True)):
        if not boot.varies(m):
            continue
        groups = [found[boot.dropped == share, m] for share in shares]
        line = draw_curve(ax, m, shares, np.array([group.mean() for group in groups]))
        line.set_label(measure_word(measure) + ("" if cs is None else f" (CS {cs:.2f})"))
        ends = np.array([np.quantile(group, (0.05, 0.95)) for group in groups])
        ax.fill_between(shares, ends[:, 0], ends[:, 1], color=colour_of(m), alpha=0.12, linewidth=0)
    ax.axhline(CORRELATION, color=PALE, linewidth=0.9, linestyle=":")
    ax.set_xlim(0, float(shares.max()) + 0.03)
    ax.set_ylim(top=1.02)
    if ax.get_legend_handles_labels()[0]:
        why = None if boot.enough_subsets else "too few subsets for a verdict"
        ax.legend(frameon=False, fontsize=8.5, loc="lower left", title=why, title_fontsize=8.5)


_DRAW: dict[str, Callable[[Any, Bootstrap, Sequence[Record], int], None]] = {
    "frequencies": _frequencies,
    "intervals": _intervals,
    "stability": _stability,
}
