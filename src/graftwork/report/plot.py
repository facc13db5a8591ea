"""A picture of a network, by matplotlib (an extra)."""

from __future__ import annotations

import math
import textwrap
from os import PathLike
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from graftwork.data.atomic import replacing
from graftwork.errors import DataError
from graftwork.estimators import MarkovNetwork
from graftwork.models import PairwiseMRF
from graftwork.report.edges import the_model
from graftwork.report.layout import Floats, place_labels, positions
from graftwork.text import count, names

_PALETTE = ("#4c78a8", "#e8963e", "#54a270", "#b6638f", "#8a6db1", "#c7a22f", "#5ba5b5", "#9d7660")
_REST, _EDGE, _INK, _PALE = "#9aa0a6", "#5f6b7a", "#222831", "#6b7280"


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
) -> Any:
    """Return the axes with a network drawn on them; write the picture if a path is given.

    Edges are as wide and dark as they are strong, and colours mark groups of closely connected
    variables. Variables without an edge are named below the picture. A notebook shows the picture
    where this is the value of a cell. No window opens, and pyplot is left alone.

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
    colours = _colours(drawn)
    _draw(ax, drawn, places, colours, max_labels)
    ax.set_title(title or _title(whole), fontsize=13, color=_INK, pad=10)
    _footnote(ax, _reading(drawn, colours, max_labels) + notes)
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
    return network if isinstance(network, nx.Graph) else the_model(network).to_networkx()


def _select(whole: nx.Graph, least: float, max_nodes: int) -> tuple[nx.Graph, list[str]]:
    """Return the edges to draw with finite strengths, and what was left out, in words."""
    edges = [(a, b, float(d.get("strength", 1.0))) for a, b, d in whole.edges(data=True)]
    finite = [s for _, _, s in edges if math.isfinite(s)]
    cap = max(finite, default=1.0)
    edges.sort(key=lambda edge: -edge[2])
    notes = []
    kept: dict[Any, None] = {}
    drawn = []
    for a, b, strength in edges:
        if strength >= least and len(kept.keys() | {a, b}) <= max_nodes:
            kept.update({a: None, b: None})
            drawn.append((a, b, min(strength, cap)))
    if len(drawn) < len(edges):
        notes.append(f"{count(len(edges) - len(drawn), 'weaker edge')} not drawn.")
    graph = nx.Graph()
    graph.add_nodes_from(node for node in whole if node in kept)
    graph.add_edges_from((a, b, {"strength": s}) for a, b, s in drawn)
    loose = [node for node in whole if whole.degree(node) == 0]
    if loose:
        notes.append(f"Without an edge: {names(loose)}.")
    return graph, notes


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
    ax: Any, graph: nx.Graph, places: dict[Any, Floats], colours: dict[Any, str], max_labels: int
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
    ax.scatter(
        points[:, 0],
        points[:, 1],
        s=area,
        c=[colours[node] for node in nodes],
        edgecolors="white",
        linewidths=0.8,
        zorder=3,
    )
    _draw_labels(ax, nodes[:max_labels], points, area, segments)


def _draw_edges(ax: Any, graph: nx.Graph, places: dict[Any, Floats]) -> Floats:
    """Draw the edges, the weak ones first, thin and pale; return their ends."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgb

    edges = sorted(graph.edges(data="strength"), key=lambda edge: edge[2])
    strengths = np.array([strength for _, _, strength in edges])
    dense = len(edges) / graph.number_of_nodes()
    # The denser the network, the more its weak edges step back behind the strong ones.
    share = (strengths / max(float(strengths.max()), 1e-12)) ** min(max(dense / 2, 1.0), 2.0)
    crowd = min(1.0, 2.6 / math.sqrt(dense))
    colours = np.empty((len(edges), 4))
    colours[:, :3] = to_rgb(_EDGE)
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


def _colours(graph: nx.Graph) -> dict[Any, str]:
    """Return a colour a node: one for each of the largest groups of closely connected nodes."""
    out = dict.fromkeys(graph, _REST)
    if not graph.number_of_edges():
        return out
    groups = nx.community.greedy_modularity_communities(graph, weight="strength")
    place = {node: i for i, node in enumerate(graph)}
    groups = sorted(groups, key=lambda group: (-len(group), min(place[node] for node in group)))
    for colour, group in zip(_PALETTE, groups, strict=False):
        if len(group) > 1:
            out.update(dict.fromkeys(group, colour))
    return out


def _draw_labels(ax: Any, labelled: list[Any], points: Floats, area: Any, segments: Floats) -> None:
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


def _reading(graph: nx.Graph, colours: dict[Any, str], max_labels: int) -> list[str]:
    """Return how to read the picture, in sentences."""
    parts = []
    if graph.number_of_edges():
        parts.append("Wider, darker edges are stronger.")
    if len(set(colours.values())) > 1:
        parts.append("Colours mark closely connected groups.")
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
