"""The networks of groups side by side, on one layout, with their differences marked."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from os import PathLike
from typing import Any

import networkx as nx
import numpy as np

from graftwork.errors import DataError
from graftwork.groups import GroupComparison
from graftwork.models.graphs import sizes_in
from graftwork.report.drawing import (
    DOTTED,
    draw_edges,
    draw_labels,
    draw_nodes,
    set_view,
)
from graftwork.report.figures import INK, PALE, PALETTE, any_letters, finish, new_figure, shown
from graftwork.report.layout import Floats, check_layout, positions
from graftwork.report.plot import sign_style
from graftwork.text import count, names

#: Panels in a row.
_MOST_COLUMNS = 3
_DIFFERS = "#d55e00"
_MOST_LABELS = 80
#: Weights are written beside no more edges than this.
_MOST_NUMBERS = 20
#: About what such a number takes, in points squared.
_NUMBER_AREA = 440.0


def plot_groups(
    found: GroupComparison,
    path: str | PathLike[str] | None = None,
    *,
    groups: Any = None,
    layout: Mapping[Any, Any] | None = None,
) -> Any:
    """Return the figure of a comparison of groups; `GroupComparison.plot` explains it."""
    sizes = [sizes_in(net.model_, found.pairs) for net in found.networks.values()]
    strengths, correlations = (np.array(each) for each in zip(*sizes, strict=True))
    graph = _union(found, strengths)
    shown_groups = _chosen(found, groups)
    columns = 2 if len(shown_groups) == 4 else min(len(shown_groups), _MOST_COLUMNS)
    lines = -(-len(shown_groups) // columns)
    side = min(max(3.6 + 0.55 * math.sqrt(max(graph.number_of_nodes(), 1)), 5.0), 9.0)
    figure = new_figure(side * columns, (0.85 * side + 0.5) * lines + 0.3)
    axes = np.atleast_1d(figure.subplots(lines, columns, squeeze=False)).ravel()
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.1 / lines, top=1 - 0.09 / lines,
                           wspace=0.03, hspace=0.16)  # fmt: skip
    places = positions(graph) if layout is None else check_layout(layout, graph)
    with any_letters():
        for ax in axes:
            ax.set_axis_off()
        lost: dict[Any, None] = {}
        for g, ax in zip(shown_groups, axes, strict=False):
            own = strengths[g], correlations[g], float(strengths.max(initial=0.0))
            lost |= dict.fromkeys(_panel(ax, found, g, graph, places, *own))
        reading = _reading(found, graph, correlations)
        reading += [f"No room to name, in one group at least: {names(list(lost))}."] if lost else []
        words = textwrap.wrap(" ".join(reading), int(14 * side * columns))
        text = "\n".join(map(shown, words))
        figure.text(0.5, 0.02, text, color=PALE, fontsize=8.5, ha="center", va="bottom")
    return finish(figure, path)


def _chosen(found: GroupComparison, groups: Any) -> list[int]:
    """Return the places of the groups to draw."""
    if groups is None:
        return list(range(len(found.groups)))
    asked = groups if isinstance(groups, list | tuple) else [groups]
    for group in asked:
        if group not in found.groups:
            raise DataError(
                f"there is no group {group!r} of {found.by!r}; use {names(found.groups)}."
            )
    return [found.groups.index(group) for group in asked]


def _union(found: GroupComparison, strengths: Floats) -> nx.Graph:
    """Return all pairs that are drawn in some group, with their mean strengths."""
    inside = np.array([found.has_edge(g) for g in range(len(found.groups))])
    drawn = found.different | (inside.any(axis=0) if inside.size else False)
    graph = nx.Graph()
    ends = [(found.names[i], found.names[j]) for i, j in found.pairs.tolist()]
    used = {name for k, pair in enumerate(ends) if drawn[k] for name in pair}
    graph.add_nodes_from(name for name in found.names if name in used)
    for k, (a, b) in enumerate(ends):
        if drawn[k]:
            graph.add_edge(a, b, strength=float(strengths[:, k].mean()), place=k)
    return graph


def _panel(
    ax: Any,
    found: GroupComparison,
    g: int,
    graph: nx.Graph,
    places: dict[Any, Floats],
    strengths: Floats,
    correlations: Floats,
    widest: float,
) -> list[Any]:
    """Draw one group's network; return the names that there is no room for."""
    own, weights = found.has_edge(g), found.weights.values[g]
    size = f"{found.sizes[g]:,.0f} rows, {count(int(own.sum()), 'edge')}"
    title = f"{shown(f'{found.by} = {found.groups[g]}', 60)}\n{size}"
    ax.set_title(title, fontsize=11, color=INK)
    if not len(graph):
        place = {"transform": ax.transAxes, "ha": "center", "va": "center"}
        ax.text(0.5, 0.5, "no edges", color=PALE, fontsize=12, **place)
        return []
    mine = _network_of(found, graph, own, strengths, correlations)
    nodes = list(graph)
    points = np.array([places[node] for node in nodes])
    set_view(ax, places)
    sizes, style = np.full(len(nodes), 0.5), (PALETTE[0], 0)
    area = draw_nodes(ax, points, sizes, [style] * len(nodes), [None] * len(nodes))
    areas = dict(zip(nodes, area.tolist(), strict=True))
    lines = draw_edges(ax, mine, places, areas, widest)
    middles = []
    if int(found.different.sum()) <= _MOST_NUMBERS:
        for (a, b), line in lines.items():
            k = mine.edges[a, b]["place"]
            if found.different[k]:
                middles.append(line[len(line) // 2])
                _write_weight(ax, middles[-1], float(weights[k]))
    # Labels keep clear of the numbers as of nodes.
    points = np.concatenate([points, np.reshape(middles, (-1, 2))])
    area = np.concatenate([area, np.full(len(middles), _NUMBER_AREA)])
    return draw_labels(ax, nodes[:_MOST_LABELS], points, area, list(lines.values()))


def _network_of(
    found: GroupComparison,
    graph: nx.Graph,
    own: np.ndarray[Any, Any],
    strengths: Floats,
    correlations: Floats,
) -> nx.Graph:
    """Return what is drawn of a group: its own edges, and those that differ between groups."""
    mine = nx.Graph()
    mine.add_nodes_from(graph)
    for a, b, k in graph.edges(data="place"):
        differs = bool(found.different[k])
        if own[k] or differs:
            colour, line = sign_style(float(correlations[k]))
            if differs:
                colour = _DIFFERS
            if not own[k]:
                line = DOTTED
            strength = float(strengths[k])
            mine.add_edge(a, b, place=k, strength=strength, colour=colour, line=line, front=differs)
    return mine


def _write_weight(ax: Any, place: Floats, weight: float) -> None:
    """Write a weight on the middle of an edge that differs; a sign where it has none."""
    text = "\u2260" if np.isnan(weight) else f"{weight:.2f}".replace("-", "\u2212")
    box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    style = {"fontsize": 8, "ha": "center", "va": "center", "zorder": 4, "bbox": box}
    ax.text(place[0], place[1], text, color=INK, **style)


def _reading(found: GroupComparison, graph: nx.Graph, correlations: Floats) -> list[str]:
    """Return how to read the picture, in sentences."""
    out = []
    if graph.number_of_edges():
        out.append("Wider edges are stronger, on one scale for all groups.")
    drawn = [k for _, _, k in graph.edges(data="place")]
    inside = np.array([found.has_edge(g) for g in range(len(found.groups))])[:, drawn]
    signed = np.isfinite(correlations[:, drawn])
    if signed.any():
        grey = "" if signed[inside].all() else "; grey: without a sign"
        out.append(f"Blue: positive; red and dashed: negative{grey}.")
    if found.different.any():
        out.append(
            "Orange, with a number or \u2260: differs between groups (false discovery rate "
            f"{found.fdr:.3g}); dotted where the group's network lacks the edge."
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
