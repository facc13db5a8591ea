"""The picture of the forced pruning study."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from experiments.engine import Figure, Found
from experiments.forced_pruning.claims import MORE, NAMES, PRINTED, Cell, bound_of, ours_of
from graftwork.report.curves import draw_curve, dress, head

Line = dict[int, float]


def figures(found: Mapping[str, Found]) -> list[Figure]:
    """Return the picture, if there is anything to draw."""
    names = [name for name in NAMES if f"{name}-trees" in found]
    if not names:
        return []
    caption = (
        "Test NLPL by the number of edges beyond the Chow-Liu tree's, ten edges exchanged at once: "
        "printed, the paper's rules here, tied, and our untied default. Below the dotted line "
        "there is no pairwise network of that size."
    )
    draw = partial(_draw, found, names)
    return [Figure("sizes", caption, draw, (4.6 * len(names), 5.0))]


def _draw(found: Mapping[str, Found], names: list[str], canvas: Any) -> None:
    panels = canvas.subplots(1, len(names), squeeze=False)[0]
    handles: dict[str, Any] = {}
    for ax, name in zip(panels, names, strict=True):
        for k, (label, line) in enumerate(_lines(name, found).items()):
            if line:
                x, y = np.array(sorted(line.items()), dtype=float).T
                handles[label] = draw_curve(ax, k, x, y)
        bounds = {more: bound_of(name, more, found) for more in MORE}
        places = [more for more in MORE if bounds[more]]
        if places:
            [handles["no pairwise network below"]] = ax.plot(
                places, [bounds[more] for more in places], color="black", linestyle=":"
            )
        ax.set_xlabel("edges beyond the Chow-Liu tree's")
        ax.set_ylabel("test NLPL (nats a row)")
        ax.set_title(name, fontsize=10)
        dress(ax)
    head(canvas, list(handles.values()), list(handles), "Networks of a given size")


def _lines(name: str, found: Mapping[str, Found]) -> dict[str, Line]:
    """Return the lines of a panel: always the same ones, empty where nothing was run."""
    added = found[f"{name}-trees"].get("added", {})
    lines: dict[str, Line] = {
        f"printed, {rule}": {more: PRINTED[Cell(rule, name, more, 10)] for more in MORE}
        for rule in ("greedy", "rejection")
    }
    for rule in ("greedy", "rejection"):
        cells = {more: ours_of(Cell(rule, name, more, 10), found) for more in MORE}
        lines[f"{rule}, k=10, tied"] = {m: value for m, value in cells.items() if value is not None}
    for label, rule in (("our default", "descent"), ("mcmc", "mcmc")):
        lines[label] = {
            more: found[f"{name}-{rule}-{more}"]["nll"]
            for more in MORE
            if f"{name}-{rule}-{more}" in found
        }
    lines["tree and best gains"] = {int(more): run["nll"] for more, run in added.items()}
    return lines
