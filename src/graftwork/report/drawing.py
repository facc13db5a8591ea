"""Edges, nodes, rings and labels of a network, drawn on axes by matplotlib (an extra)."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import networkx as nx
import numpy as np

from graftwork.report.bends import edge_lines
from graftwork.report.figures import INK, PALE, any_letters, printable, shown
from graftwork.report.layout import Floats, place_labels, strays

#: Lines of edges: solid, and dashed for negative weights, in units of their width.
SOLID, DASHED, DOTTED = "solid", (0.0, (2.4, 1.6)), (0.0, (1.0, 1.4))
#: Shapes of nodes, a group each, and how much of a circle's area gives each of them its size.
SHAPES = (
    ("o", 1.0), ("s", 0.8), ("^", 1.15), ("D", 0.62), ("v", 1.15), ("p", 1.2), ("P", 1.0),
    ("h", 1.15),
)  # fmt: skip
#: Nodes of this many points squared, all together, look right; but no less and no more each.
_AREA, _LEAST_AREA, _MOST_AREA = 4000.0, 34.0, 150.0
#: Around smaller nodes than this rings could not be read.
_LEAST_RINGED = 60.0
_RING, _RING_EMPTY = "#323a45", "#d5dae0"
_RING_WIDTH = 3.0
#: Points between a line and a node that is not its end.
_GAP = 1.5
#: A sector larger than this is a full circle.
_FULL = 0.999
#: Longer labels have several lines, and those longer than the second are cut; in the second row
#: among more nodes than in the third.
_LINE, _LONGEST = 22, 44
_SHORT_LINE, _SHORT_LONGEST, _MANY = 16, 30, 24


def set_view(ax: Any, places: Mapping[Any, Floats]) -> None:
    """Set the limits of axes to some places, with room around them for labels; return None.

    Examples
    --------
    >>> from graftwork.report.figures import new_axes
    >>> ax = new_axes(2, 2, (0, 0, 1, 1))
    >>> set_view(ax, {"a": np.array([0.0, 0.0]), "b": np.array([1.0, 1.0])})
    >>> [float(limit) for limit in ax.get_ylim()]
    [-0.1, 1.1]
    """
    ax.set_axis_off()
    points = np.array(list(places.values()))
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.where(high > low, high - low, max(float((high - low).max()), 1.0))
    margin = span * (0.14, 0.1)
    ax.set_xlim(low[0] - margin[0], high[0] + margin[0])
    ax.set_ylim(low[1] - margin[1], high[1] + margin[1])


def draw_edges(
    ax: Any, graph: nx.Graph, places: Mapping[Any, Floats], areas: Mapping[Any, float], top: float
) -> dict[tuple[Any, Any], Floats]:
    """Draw the edges, the weak ones first, thin and pale; return the points of each one's line.

    Lines are straight; bent where they would pass through a node that is not their end.

    Examples
    --------
    >>> from graftwork.report.figures import new_axes
    >>> graph = nx.Graph()
    >>> graph.add_edge("a", "b", strength=1.0, colour="black", line=DASHED)
    >>> ax, places = new_axes(2, 2, (0, 0, 1, 1)), {"a": np.zeros(2), "b": np.ones(2)}
    >>> lines = draw_edges(ax, graph, places, {"a": 9.0, "b": 9.0}, top=1.0)
    >>> lines["a", "b"][[0, -1]].round(6).tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgb

    listed = sorted(
        graph.edges(data=True), key=lambda e: (e[2].get("front", False), e[2]["strength"])
    )
    if not listed:
        return {}
    data = [edge[2] for edge in listed]
    front = np.array([edge.get("front", False) for edge in data])
    dense = len(listed) / graph.number_of_nodes()
    # The denser the network, the more its weak edges step back behind the strong ones.
    share = np.array([edge["strength"] for edge in data]) / max(top, 1e-12)
    share = np.clip(share, 0.0, 1.0) ** min(max(dense / 2, 1.0), 2.0)
    crowd = min(1.0, 2.6 / math.sqrt(dense))
    colours = np.empty((len(listed), 4))
    colours[:, :3] = [to_rgb(edge["colour"]) for edge in data]
    colours[:, 3] = np.where(front, 0.9, (0.3 + 0.65 * share) * crowd)
    widths = (0.8 + 4.4 * share + 0.6 * front) * (1.0 if graph.number_of_nodes() < 80 else 0.75)
    points, bent = _lines(ax, graph, places, areas, [edge[:2] for edge in listed], widths)
    lines = LineCollection(
        [line if curved else line[[0, -1]] for line, curved in zip(points, bent, strict=True)],
        colors=colours,
        linewidths=widths,
        linestyles=[edge["line"] for edge in data],
        zorder=1,
    )
    ax.add_collection(lines, autolim=False)
    return {(a, b): line for (a, b, _), line in zip(listed, points, strict=True)}


def _lines(
    ax: Any,
    graph: nx.Graph,
    places: Mapping[Any, Floats],
    areas: Mapping[Any, float],
    edges: Sequence[tuple[Any, Any]],
    widths: Floats,
) -> tuple[Floats, Any]:
    """Return points of edges, (edges, points, 2), that keep clear of nodes; which are bent."""
    per_point = ax.figure.dpi / 72.0
    at = {node: k for k, node in enumerate(graph)}
    nodes = ax.transData.transform(np.array([places[node] for node in graph]))
    radii = np.sqrt([areas[node] for node in graph]) / 2
    clear = (radii[None] + widths[:, None] / 2 + _GAP) * per_point
    view = ax.get_window_extent()
    ends = np.array([(at[a], at[b]) for a, b in edges], dtype=np.int64)
    lines, bent = edge_lines(nodes, ends, clear, np.concatenate([view.min, view.max]))
    back = ax.transData.inverted().transform(lines.reshape(-1, 2))
    return np.asarray(back, dtype=np.float64).reshape(lines.shape), bent


def draw_nodes(
    ax: Any,
    points: Floats,
    sizes: Floats,
    styles: Sequence[tuple[str, int]],
    rings: Sequence[float | None],
) -> Floats:
    """Draw nodes, with a ring around those that have a share; return their areas, rings included.

    Shapes: points (nodes, 2); sizes (nodes,).

    Examples
    --------
    >>> from graftwork.report.figures import new_axes
    >>> ax, points = new_axes(2, 2, (0, 0, 1, 1)), np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> plain, ringed = draw_nodes(ax, points, np.ones(2), [("black", 0)] * 2, [None, 0.5])
    >>> bool(plain < ringed)
    True
    """
    area = np.clip(_AREA / max(len(points), 1), _LEAST_AREA, _MOST_AREA) * (0.6 + 0.6 * sizes)
    known = np.array([share is not None for share in rings], dtype=bool)
    if known.any():
        area = np.maximum(area, _LEAST_RINGED)
    outer = np.where(known, (np.sqrt(area) + 2 * _RING_WIDTH) ** 2, area)
    if known.any():
        _draw_rings(ax, points, area, outer, rings)
    shapes = np.array([shape for _, shape in styles], dtype=int)
    for number in sorted(set(shapes.tolist())):
        marker, scale = SHAPES[number]
        mine = shapes == number
        ax.scatter(
            *points[mine].T,
            s=scale * area[mine],
            c=[style[0] for style, own in zip(styles, mine, strict=True) if own],
            marker=marker,
            edgecolors="white",
            linewidths=0.8,
            zorder=3,
        )
    return np.asarray(outer, dtype=np.float64)


def _draw_rings(
    ax: Any, points: Floats, area: Floats, outer: Floats, shares: Sequence[float | None]
) -> None:
    """Draw a ring around each node that has a share, filled clockwise from the top.

    Discs behind the nodes: a pale one, the filled part as a sector of a dark one, and a white one
    for the node to lie on.
    """
    from matplotlib.path import Path as Outline

    known = np.array([share is not None for share in shares])
    place = {"linewidths": 0.0, "zorder": 2.5}
    # White below all: edges end at the ring.
    back = (np.sqrt(outer) + 1.2) ** 2
    ax.scatter(*points[known].T, s=back[known], c="white", **place)
    ax.scatter(*points[known].T, s=outer[known], c=_RING_EMPTY, **place)
    for point, size, share in zip(points, outer, shares, strict=True):
        if share:
            sector = Outline.wedge(90.0 - 360.0 * share, 90.0)
            if share > _FULL:
                sector = Outline.unit_circle()
            ax.scatter(*point, s=size, marker=sector, c=_RING, **place)
    ax.scatter(*points[known].T, s=area[known], c="white", **place)


def draw_labels(
    ax: Any, labelled: Sequence[Any], points: Floats, area: Floats, lines: Sequence[Floats]
) -> list[Any]:
    """Draw labels that cover no node and no other label, with a hairline where that is needed.

    It leads to a node that is far, or farther than another node.
    """
    with any_letters():
        return _draw_labels(ax, labelled, points, area, lines)


def _draw_labels(
    ax: Any, labelled: Sequence[Any], points: Floats, area: Floats, lines: Sequence[Floats]
) -> list[Any]:
    per_point = ax.figure.dpi / 72.0
    size = 10.0 if len(points) <= 12 else 9.0 if len(points) <= 60 else 8.0
    box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.82}
    style = {"fontsize": size, "color": INK, "ha": "center", "va": "center", "zorder": 5}
    style |= {"linespacing": 1.0}
    labels = label_texts(labelled, len(points))
    texts = [ax.text(0, 0, label, bbox=box, **style) for label in labels]
    extents = [text.get_window_extent() for text in texts]
    sizes = np.array([(e.width, e.height) for e in extents]).reshape(-1, 2) + 4.0 * per_point
    to_pixels = ax.transData
    pixels = to_pixels.transform(points)
    radii = (np.sqrt(area) / 2 + 0.5) * per_point
    drawn = np.array([to_pixels.transform(line) for line in lines])
    view = ax.get_window_extent()
    middles = place_labels(pixels, radii, sizes, drawn, np.concatenate([view.min, view.max]))
    spots = to_pixels.inverted().transform(middles)
    strange = strays(middles, sizes, pixels, radii)
    no_room = []
    for k, (text, spot) in enumerate(zip(texts, spots, strict=True)):
        if np.isnan(spot).any():
            text.remove()
            no_room.append(labelled[k])
            continue
        text.set_position(spot)
        gap = np.abs(middles[k] - pixels[k]) - sizes[k] / 2 - radii[k]
        if strange[k] or gap.max() > size * per_point * 0.6:
            ends = np.stack([points[k], spot])
            ax.plot(ends[:, 0], ends[:, 1], color=PALE, linewidth=0.5, zorder=2)
    return no_room


def label_texts(labelled: Sequence[Any], n_nodes: int) -> list[str]:
    """Return names as their labels show them: in several lines if long, cut if very long.

    They are cut at their end; in the middle, or at the beginning, where that leaves more of them
    different from each other.

    Examples
    --------
    >>> print(*label_texts(["how often one wakes up at night", "mood"], 2), sep="\\n")
    how often one wakes up
    at night
    mood
    """
    line, longest = (_LINE, _LONGEST) if n_nodes <= _MANY else (_SHORT_LINE, _SHORT_LONGEST)
    cuts = [[printable(name, longest, end) for name in labelled] for end in (0.0, 0.5, 1.0)]
    best = max(cuts, key=lambda texts: len(set(texts)))
    wrapped = (textwrap.wrap(text, line) if len(text) > line + 2 else [text] for text in best)
    return ["\n".join(map(shown, lines)) for lines in wrapped]
