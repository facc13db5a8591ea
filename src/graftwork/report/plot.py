"""A picture of a network, by matplotlib (an extra)."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from graftwork.data.atomic import replacing
from graftwork.errors import DataError
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.edges import sized_by
from graftwork.models import PairwiseMRF
from graftwork.models.communities import find_communities
from graftwork.report.edges import the_model
from graftwork.report.layout import Floats, place_labels, positions
from graftwork.report.predictability import ring_shares
from graftwork.text import count, names

_PALETTE = ("#4c78a8", "#e8963e", "#54a270", "#b6638f", "#8a6db1", "#c7a22f", "#5ba5b5", "#9d7660")
_REST, _EDGE, _INK, _PALE = "#9aa0a6", "#5f6b7a", "#222831", "#6b7280"
#: Edges with a sign: above and below zero.
POSITIVE, NEGATIVE = "#2b6cb0", "#c0392b"
_RING, _RING_EMPTY = "#323a45", "#d5dae0"
_OTHERS = "others"
#: Rings are drawn around no more nodes than this; around smaller nodes they could not be read.
MOST_RINGS = 150
_LEAST_RINGED = 45.0
_RING_WIDTH = 3.0
#: A sector larger than this is a full circle.
_FULL = 0.999


def plot_network(
    network: nx.Graph | PairwiseMRF | MarkovNetwork,
    path: str | PathLike[str] | None = None,
    *,
    ax: Any = None,
    title: str | None = None,
    max_labels: int = 45,
    max_nodes: int = 500,
    min_strength: float = 0.0,
    seed: int = 0,
    communities: bool | Mapping[Any, Any] = False,
    predictability: Any = None,
) -> Any:
    """Return the axes with a network drawn on them; write the picture if a path is given.

    Edges are as wide and dark as they are strong, or, where tables have different sizes and it is
    known (of a `MarkovNetwork`), as they explain their variables. Colours mark the largest
    communities, groups of closely connected variables. Variables without an edge are named below
    the picture. A notebook shows the picture where this is the value of a cell. No window opens,
    and pyplot is left alone.

    Parameters
    ----------
    network : networkx.Graph, PairwiseMRF or MarkovNetwork
        A graph's edges carry ``strength``; 1 where they do not.
    path : path-like, optional
        Where to write it; the ending says the format (png, pdf, svg).
    ax : matplotlib Axes, optional
        Where to draw; otherwise on a new figure.
    title : str, optional
        Instead of the number of edges and variables.
    max_labels : int
        At most this many variables, the best connected, are named.
    max_nodes : int
        Only the strongest edges are drawn in a network with more connected variables than this.
    min_strength : float
        Weaker edges are left out.
    seed : int
        Where the layout of large networks starts.
    communities : bool or mapping of variable to group
        True for a legend with the numbers of the communities, as `MarkovNetwork.communities` has
        them; a mapping for colours, and a legend, of groups of your own.
    predictability : table, Predictability or mapping of variable to share, optional
        What `MarkovNetwork.predictability` returns (or ``predictability_``): each variable gets a
        ring, filled as far as its normalised accuracy goes. A mapping has shares of your own.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; its ``figure`` can be saved again.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    NotFittedError
        If the estimator has learned nothing yet.
    DataError
        If the ending of the path is no format matplotlib writes, or there is no network.

    Examples
    --------
    >>> plot_network(nx.path_graph(["a", "b", "c"])).get_title()
    '2 edges among 3 variables'
    """
    whole = as_graph(network)
    drawn, notes = _select(whole, min_strength, max_nodes)
    owned = ax is None
    if ax is None:
        ax = _network_axes(drawn.number_of_nodes())
    places = positions(drawn, seed)
    groups = groups_of(whole) if isinstance(communities, bool) else dict(communities)
    colours, legend = _colours(drawn, groups)
    rings, meaning = ({}, "") if predictability is None else ring_shares(predictability)
    if len(places) > MOST_RINGS and rings:
        rings, meaning = {}, f"No rings are drawn around more than {MOST_RINGS} variables."
    _draw(ax, drawn, places, colours, max_labels, rings)
    named = bool(communities) and bool(places)
    if named:
        _draw_legend(ax, legend, "" if isinstance(communities, Mapping) else "community ")
    ax.set_title(title or _title(whole), fontsize=13, color=_INK, pad=28 if named else 10)
    reading = _reading(drawn, colours, max_labels, communities)
    _footnote(ax, [*reading, *([meaning] if meaning and places else []), *notes])
    if path is not None:
        save_figure(ax.figure, Path(path), tight=owned)
    return ax


def as_graph(network: nx.Graph | PairwiseMRF | MarkovNetwork) -> nx.Graph:
    """Return the graph of a model or a fitted estimator; a graph comes back as it is.

    Examples
    --------
    >>> as_graph(nx.path_graph(3)).number_of_edges()
    2
    """
    if isinstance(network, nx.Graph):
        return network
    fitted = getattr(network, "fit_", None)
    return with_explained(the_model(network), () if fitted is None else fitted.explained)


def with_explained(model: PairwiseMRF, explained: Sequence[float]) -> nx.Graph:
    """Return the graph of a network, with what its edges explain, and which size lines show.

    Examples
    --------
    >>> pair = {("a", "b"): [[1, 0], [0, 1]]}
    >>> with_explained(PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, pair), [0.1]).edges(data=True)
    EdgeDataView([('a', 'b', {'strength': 1.0, 'weight': 2.0, 'explained': 0.1})])
    """
    graph = model.to_networkx()
    graph.graph["size"] = sized_by(model, explained)
    if explained:
        nx.set_edge_attributes(graph, dict(zip(model.edges, explained, strict=True)), "explained")
    return graph


def _select(whole: nx.Graph, least: float, max_nodes: int) -> tuple[nx.Graph, list[str]]:
    """Return the edges to draw with finite strengths, and what was left out, in words."""
    size = _size(whole)
    edges = [(a, b, float(d.get(size, 1.0))) for a, b, d in whole.edges(data=True)]
    finite = [s for _, _, s in edges if math.isfinite(s)]
    cap = max(finite, default=1.0)
    edges.sort(key=lambda edge: -edge[2])
    notes = []
    kept: dict[Any, None] = {}
    drawn = []
    for a, b, strength in edges:
        strong = whole.edges[a, b].get("strength", 1.0) >= least
        if strong and len(kept.keys() | {a, b}) <= max_nodes:
            kept.update({a: None, b: None})
            drawn.append((a, b, min(strength, cap)))
    if len(drawn) < len(edges):
        notes.append(f"{count(len(edges) - len(drawn), 'weaker edge')} not drawn.")
    graph = nx.Graph(size=size)
    graph.add_nodes_from(node for node in whole if node in kept)
    signs = {True: POSITIVE, False: NEGATIVE}
    for a, b, strength in drawn:
        weight = whole.edges[a, b].get("weight")
        graph.add_edge(a, b, strength=strength, colour=signs[weight > 0] if weight else _EDGE)
    loose = [node for node in whole if whole.degree(node) == 0]
    if loose:
        notes.append(f"Without an edge: {names(loose)}.")
    return graph, notes


def _size(graph: nx.Graph) -> str:
    """Return what makes lines wide: strengths unless a network's graph says otherwise."""
    return str(graph.graph.get("size", "strength"))


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure of a size in inches, which pyplot does not know of.

    Examples
    --------
    >>> float(new_figure(4, 3).get_figwidth())
    4.0
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        from graftwork.report.pictures import Picture
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'graftwork[plot]'") from error
    figure = Picture(figsize=(width, height), dpi=130, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def new_axes(width: float, height: float, place: tuple[float, float, float, float]) -> Any:
    """Return axes at a place (left, bottom, width, height) of a new figure, as its shares.

    Examples
    --------
    >>> new_axes(4, 3, (0.1, 0.1, 0.8, 0.8))._repr_png_()[1:4]
    b'PNG'
    """
    figure = new_figure(width, height)
    from graftwork.report.pictures import PictureAxes

    return figure.add_axes(place, axes_class=PictureAxes)


def _network_axes(n: int) -> Any:
    """Return axes on a figure of their own, larger for more nodes."""
    width = min(max(5.0 + 1.15 * math.sqrt(n), 7.0), 17.0)
    return new_axes(width, width * 0.72, (0.02, 0.07, 0.96, 0.86))


def _title(graph: nx.Graph) -> str:
    edges, nodes = graph.number_of_edges(), graph.number_of_nodes()
    return f"{count(edges, 'edge')} among {count(nodes, 'variable')}"


def _draw(
    ax: Any,
    graph: nx.Graph,
    places: dict[Any, Floats],
    colours: dict[Any, str],
    max_labels: int,
    rings: Mapping[Any, float],
) -> None:
    """Draw edges, nodes and labels; the best connected nodes choose their label's place first."""
    ax.set_axis_off()
    if not places:
        ax.text(0.5, 0.5, "no edges", ha="center", va="center", color=_PALE, fontsize=13)
        return
    weight = dict(graph.degree(weight="strength"))
    nodes = sorted(graph, key=lambda node: -weight[node])
    points = np.array([places[node] for node in nodes])
    low, high = points.min(axis=0), points.max(axis=0)
    margin = (high - low) * (0.1, 0.05) + 0.2
    ax.set_xlim(low[0] - margin[0], high[0] + margin[0])
    ax.set_ylim(low[1] - margin[1], high[1] + margin[1])
    segments = _draw_edges(ax, graph, places)
    area = float(np.clip(2400.0 / len(nodes), 26.0, 100.0)) * (
        0.6 + 0.8 * np.array([weight[node] for node in nodes]) / max(max(weight.values()), 1e-12)
    )
    if rings:
        area = np.maximum(area, _LEAST_RINGED)
    ax.scatter(
        points[:, 0],
        points[:, 1],
        s=area,
        c=[colours[node] for node in nodes],
        edgecolors="white",
        linewidths=0.8,
        zorder=3,
    )
    if rings:
        area = _draw_rings(ax, points, area, [rings.get(node) for node in nodes])
    draw_labels(ax, nodes[:max_labels], points, area, segments)


def _draw_rings(ax: Any, points: Floats, area: Floats, shares: list[float | None]) -> Floats:
    """Draw a ring around each node, filled clockwise from the top; return their areas.

    Discs behind the nodes: a pale one, and the filled part as a sector of a dark one.
    """
    from matplotlib.path import Path as Outline

    known = np.array([share is not None for share in shares])
    outer = np.where(known, (np.sqrt(area) + 2 * _RING_WIDTH) ** 2, area)
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
    return np.asarray(outer, dtype=np.float64)


def _draw_edges(ax: Any, graph: nx.Graph, places: dict[Any, Floats]) -> Floats:
    """Draw the edges, the weak ones first, thin and pale; return their ends."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgb

    listed = sorted(graph.edges(data=True), key=lambda edge: edge[2]["strength"])
    edges = [(a, b, data["strength"]) for a, b, data in listed]
    strengths = np.array([strength for _, _, strength in edges])
    dense = len(edges) / graph.number_of_nodes()
    # The denser the network, the more its weak edges step back behind the strong ones.
    share = (strengths / max(float(strengths.max()), 1e-12)) ** min(max(dense / 2, 1.0), 2.0)
    crowd = min(1.0, 2.6 / math.sqrt(dense))
    colours = np.empty((len(edges), 4))
    colours[:, :3] = [to_rgb(data["colour"]) for _, _, data in listed]
    colours[:, 3] = (0.18 + 0.72 * share) * crowd
    segments = np.array([(places[a], places[b]) for a, b, _ in edges])
    widths = (0.7 + 4.2 * share) * (1.0 if graph.number_of_nodes() < 80 else 0.75)
    ax.add_collection(
        LineCollection(
            list(segments), colors=colours, linewidths=widths, capstyle="round", zorder=1
        ),
        autolim=False,
    )
    return segments


def groups_of(graph: nx.Graph) -> dict[Any, int | None]:
    """Return the community of each node: 1 for the largest, None for nodes without an edge.

    Examples
    --------
    >>> groups_of(nx.Graph([("a", "b")]))
    {'a': 1, 'b': 1}
    """
    place = {node: i for i, node in enumerate(graph)}
    edges = [sorted((place[a], place[b])) for a, b in graph.edges if a != b]
    strengths = [d.get("strength", 1.0) for a, b, d in graph.edges(data=True) if a != b]
    found = find_communities(
        len(place),
        np.array(edges, dtype=np.int64).reshape(-1, 2),
        np.array(strengths, dtype=np.float64),
    )
    return {node: None if k < 0 else k + 1 for node, k in zip(graph, found.tolist(), strict=True)}


def _colours(graph: nx.Graph, groups: Mapping[Any, Any]) -> tuple[dict[Any, str], dict[Any, str]]:
    """Return a colour a node, and one a group: the largest have one of their own."""
    drawn: dict[Any, int] = {}
    for node in graph:
        group = groups.get(node)
        if group is not None:
            drawn[group] = drawn.get(group, 0) + 1
    largest = sorted(drawn, key=lambda group: -drawn[group])[: len(_PALETTE)]
    # In the order in which the groups are named.
    known = [group for group in dict.fromkeys(groups.values()) if group in set(largest)]
    known.sort(key=lambda group: group if isinstance(group, int) else 0)
    legend = dict(zip(known, _PALETTE, strict=False))
    colours = {node: legend.get(groups.get(node), _REST) for node in graph}
    if any(group not in legend for group in drawn):
        legend[_OTHERS] = _REST
    return colours, legend


def _draw_legend(ax: Any, legend: Mapping[Any, str], noun: str) -> None:
    """Draw which colour is which group, in a line between title and network."""
    from matplotlib.lines import Line2D

    dot: dict[str, Any] = {
        "marker": "o",
        "linestyle": "",
        "markersize": 6.5,
        "markeredgecolor": "white",
    }
    handles = [
        Line2D([], [], color=colour, label=group if group == _OTHERS else f"{noun}{group}", **dot)
        for group, colour in legend.items()
    ]
    width = sum(len(str(handle.get_label())) + 6 for handle in handles)
    room = ax.get_window_extent().width / ax.figure.dpi * 14
    ax.legend(
        handles=handles,
        loc="lower center",
        bbox_to_anchor=(0.5, 0.995),
        ncols=max(1, len(handles) // max(1, math.ceil(width / room))),
        frameon=False,
        fontsize=8.5,
        labelcolor=_PALE,
        handletextpad=0.1,
        columnspacing=1.2,
    )


def draw_labels(ax: Any, labelled: list[Any], points: Floats, area: Any, segments: Floats) -> None:
    """Draw the labels where they cover least, with a hairline to nodes that are far."""
    figure = ax.figure
    per_point = figure.dpi / 72.0
    size = 10.0 if len(points) <= 12 else 9.0 if len(points) <= 60 else 8.0
    box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.82}
    style = {"fontsize": size, "color": _INK, "ha": "center", "va": "center", "zorder": 5}
    texts = [ax.text(0, 0, str(node), bbox=box, **style) for node in labelled]
    extents = [text.get_window_extent() for text in texts]
    sizes = np.array([(e.width, e.height) for e in extents]).reshape(-1, 2) + 5.0 * per_point
    to_pixels = ax.transData
    pixels = to_pixels.transform(points)
    radii = (np.sqrt(area) / 2 + 0.5) * per_point
    lines = to_pixels.transform(segments.reshape(-1, 2)).reshape(-1, 2, 2)
    view = ax.get_window_extent()
    middles = place_labels(pixels, radii, sizes, lines, np.concatenate([view.min, view.max]))
    half = sizes / 2
    middles = np.clip(middles, view.min + half, view.max - half)
    spots = to_pixels.inverted().transform(middles)
    for k, (text, spot) in enumerate(zip(texts, spots, strict=True)):
        text.set_position(spot)
        gap = np.abs(middles[k] - pixels[k]) - half[k] - radii[k]
        if gap.max() > 0.5 * sizes[k, 1]:
            ends = np.stack([points[k], spot])
            ax.plot(ends[:, 0], ends[:, 1], color=_PALE, linewidth=0.5, zorder=2)


def _reading(
    graph: nx.Graph, colours: dict[Any, str], max_labels: int, communities: Any
) -> list[str]:
    """Return how to read the picture, in sentences."""
    parts = []
    if graph.number_of_edges():
        explains = graph.graph.get("size") == "explained"
        more = "explain more of their variables" if explains else "are stronger"
        parts.append(f"Wider, darker edges {more}.")
        if {POSITIVE, NEGATIVE} & {colour for _, _, colour in graph.edges(data="colour")}:
            parts.append("Blue edges have weights above zero, red ones below.")
    if len(set(colours.values())) > 1 and not isinstance(communities, Mapping):
        parts.append("Colours of nodes mark communities, closely connected groups.")
    if graph.number_of_nodes() > max_labels:
        parts.append(f"Named: the {max_labels} best connected.")
    return parts


def _footnote(ax: Any, sentences: list[str]) -> None:
    """Write sentences below the picture, in lines that fit its width."""
    figure = ax.figure
    inches = ax.get_window_extent().width / figure.dpi
    words = textwrap.fill(" ".join(sentences), max(int(inches * 14), 20))
    place = {"transform": ax.transAxes, "ha": "center", "va": "top"}
    ax.text(0.5, -0.01, words, color=_PALE, fontsize=8.5, **place)


def save_figure(figure: Any, path: Path, *, tight: bool) -> None:
    """Write a figure, and return None; the file appears whole or not.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "empty.png")
    >>> save_figure(new_figure(1, 1), path, tight=False)
    >>> path.read_bytes()[1:4]
    b'PNG'
    """
    from graftwork.report.pictures import rendered

    kind = path.suffix.lstrip(".").lower() or "png"
    known = figure.canvas.get_supported_filetypes()
    if kind not in known:
        raise DataError(f"cannot draw a {path.suffix!r} file; use one of {', '.join(known)}.")
    drawn = rendered(figure, kind, tight=tight)
    with replacing(path) as file:
        file.write(drawn)
