"""The networks of groups side by side, on one layout, with their differences marked."""

from __future__ import annotations

import math
import textwrap
from os import PathLike
from typing import Any

import networkx as nx
import numpy as np

from graftwork.groups import GroupComparison
from graftwork.report.drawing import draw_labels
from graftwork.report.figures import INK, NEGATIVE, POSITIVE, finish, new_figure
from graftwork.report.layout import Floats, positions
from graftwork.text import count, names

#: Panels in a row.
_MOST_COLUMNS = 3
_EDGE, _OTHER, _NODE, _PALE = "#5f6b7a", "#d55e00", "#4c78a8", "#6b7280"
_MOST_LABELS = 45
#: Weights are written beside no more edges than this.
_MOST_NUMBERS = 20


def plot_groups(found: GroupComparison, path: str | PathLike[str] | None = None) -> Any:
    """Return the figure of a comparison of groups; write it if a path is given.

    A panel for each group, with the variables at the same places. Blue and red edges, of positive
    and negative weights, and grey ones without a sign, are those of the group's network that do not
    differ. Orange ones differ between the groups, with their weights beside them: dotted in a group
    whose network lacks the edge. Edges are as wide as they are strong, on one scale. No window
    opens, and pyplot is left alone.

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
    graph = _union(found)
    columns = 2 if len(found.groups) == 4 else min(len(found.groups), _MOST_COLUMNS)
    lines = -(-len(found.groups) // columns)
    side = min(max(3.6 + 0.55 * math.sqrt(max(graph.number_of_nodes(), 1)), 5.0), 9.0)
    figure = new_figure(side * columns, (0.85 * side + 0.5) * lines + 0.3)
    axes = np.atleast_1d(figure.subplots(lines, columns, squeeze=False)).ravel()
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.1 / lines, top=1 - 0.09 / lines,
                           wspace=0.03, hspace=0.16)  # fmt: skip
    places = positions(graph)
    for g, ax in enumerate(axes):
        ax.set_axis_off()
        if g < len(found.groups):
            _panel(ax, found, g, graph, places)
    words = textwrap.fill(" ".join(_reading(found, graph)), int(14 * side * columns))
    figure.text(0.5, 0.02, words, color=_PALE, fontsize=8.5, ha="center", va="bottom")
    return finish(figure, path)


def _union(found: GroupComparison) -> nx.Graph:
    """Return all pairs that are drawn in some group, with their mean strengths."""
    inside = np.array([found.has_edge(g) for g in range(len(found.groups))])
    drawn = found.different | (inside.any(axis=0) if inside.size else False)
    graph = nx.Graph()
    ends = [(found.names[i], found.names[j]) for i, j in found.pairs.tolist()]
    used = {name for k, pair in enumerate(ends) if drawn[k] for name in pair}
    graph.add_nodes_from(name for name in found.names if name in used)
    for k, (a, b) in enumerate(ends):
        if drawn[k]:
            graph.add_edge(a, b, strength=float(found.strengths.values[:, k].mean()), place=k)
    return graph


def _panel(
    ax: Any, found: GroupComparison, g: int, graph: nx.Graph, places: dict[Any, Floats]
) -> None:
    """Draw one group's network."""
    own, strengths = found.has_edge(g), found.strengths.values[g]
    weights, numbered = found.weights.values[g], int(found.different.sum()) <= _MOST_NUMBERS
    size = f"{found.sizes[g]:,.0f} rows, {count(int(own.sum()), 'edge')}"
    ax.set_title(f"{found.by} = {found.groups[g]}\n{size}".replace("$", r"\$"), fontsize=11,
                 color=INK)  # fmt: skip
    if not places:
        place = {"transform": ax.transAxes, "ha": "center", "va": "center"}
        ax.text(0.5, 0.5, "no edges", color=_PALE, fontsize=12, **place)
        return
    nodes = list(graph)
    points = np.array([places[node] for node in nodes])
    low, high = points.min(axis=0), points.max(axis=0)
    margin = (high - low) * (0.14, 0.08) + 0.25
    ax.set_xlim(low[0] - margin[0], high[0] + margin[0])
    ax.set_ylim(low[1] - margin[1], high[1] + margin[1])
    top = max(float(found.strengths.values.max()), 1e-12)
    for a, b, k in sorted(graph.edges(data="place"), key=lambda edge: found.different[edge[2]]):
        differs = bool(found.different[k])
        if not (own[k] or differs):
            continue
        share = float(strengths[k]) / top
        ends = np.stack([places[a], places[b]])
        ax.plot(
            ends[:, 0],
            ends[:, 1],
            color=_OTHER if differs else _colour(float(weights[k])),
            linewidth=(1.4 if differs else 0.8) + 5.0 * share,
            linestyle="-" if own[k] else ":",
            alpha=0.9 if differs else 0.3 + 0.5 * share,
            solid_capstyle="round",
            zorder=2 if differs else 1,
        )
        if differs and numbered and np.isfinite(weights[k]):
            _write_weight(ax, ends.mean(axis=0), float(weights[k]))
    area = np.full(len(nodes), float(np.clip(1600.0 / len(nodes), 24.0, 80.0)))
    ax.scatter(points[:, 0], points[:, 1], s=area, c=_NODE, edgecolors="white", linewidths=0.8,
               zorder=3)  # fmt: skip
    segments = np.array([(places[a], places[b]) for a, b in graph.edges]).reshape(-1, 2, 2)
    draw_labels(ax, nodes[:_MOST_LABELS], points, area, segments)


def _colour(weight: float) -> str:
    """Return the colour of an edge of a weight; of one without, NaN, grey."""
    return _EDGE if np.isnan(weight) else POSITIVE if weight > 0 else NEGATIVE


def _write_weight(ax: Any, place: Floats, weight: float) -> None:
    """Write a weight on the middle of an edge."""
    box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    ax.text(place[0], place[1], f"{weight:.2f}".replace("-", "\u2212"), color=_OTHER, fontsize=8,
            ha="center", va="center", zorder=4, bbox=box)  # fmt: skip


def _reading(found: GroupComparison, graph: nx.Graph) -> list[str]:
    """Return how to read the picture, in sentences."""
    out = []
    if graph.number_of_edges():
        out.append("Wider edges are stronger, on one scale for all groups.")
    signed = found.weights.known[[k for _, _, k in graph.edges(data="place")]]
    if signed.any():
        grey = "" if signed.all() else "; grey: without a sign"
        out.append(f"Blue: positive; red: negative{grey}.")
    if found.different.any():
        out.append(
            f"Orange: differs between groups (false discovery rate {found.fdr:.3g}); dotted where "
            "the group's network lacks the edge."
            + (" Numbers are signed weights." if found.weights.known[found.different].any() else "")
            + (
                ""
                if found.weights.known[found.different].all()
                else " Equally strong edges may differ in which states go together."
            )
        )
    elif graph.number_of_edges():
        out.append("No edge differs significantly between the groups.")
    loose = [name for name in found.names if name not in graph]
    if loose:
        out.append(f"Without an edge: {names(loose)}.")
    return out
