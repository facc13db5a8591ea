"""Where the nodes of a drawn network go, part by part, and their labels, clear of each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from graftwork.errors import DataError
from graftwork.estimators import MarkovNetwork
from graftwork.models import PairwiseMRF
from graftwork.report.edges import the_model
from graftwork.report.large_layout import large_layout
from graftwork.text import names

Floats = NDArray[np.float64]

#: Parts up to this size are laid out by Kamada and Kawai's energy, larger ones by forces.
_KAMADA_KAWAI = 250
#: Space between parts, in units of the distance between neighbours.
_GAP = 0.9
#: How much wider than high the drawing is.
_ASPECT = 1.4
_SPREAD_ROUNDS = 60
#: Areas and lengths below this are rounding.
_TOUCHING = 1e-6
#: Directions of labels tried, the favourites first: beside the node, above, below, then slantwise.
_DIRECTIONS = np.array(
    [
        (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1),
        (1, 0.5), (-1, 0.5), (1, -0.5), (-1, -0.5), (0.5, 1), (-0.5, 1), (0.5, -1), (-0.5, -1),
    ],
    dtype=float,
)  # fmt: skip
#: Further out by these many label heights when all nearer places are taken.
_RINGS = (0.0, 0.4, 0.8, 1.3, 1.8, 2.4, 3.0, 4.0)
#: A label reads as that of another node within this many label heights of the way to its own, and
#: what that costs, in rings; more where it is nearer to the other node.
_COMFORT, _CLOSE, _STRANGE = 0.3, 1.0, 3.0


def as_graph(network: nx.Graph | PairwiseMRF | MarkovNetwork) -> nx.Graph:
    """Return the graph of a model or a fitted estimator; a graph comes back as it is.

    Examples
    --------
    >>> as_graph(nx.path_graph(3)).number_of_edges()
    2
    """
    if isinstance(network, nx.Graph):
        return network
    return the_model(network).to_networkx()


def network_layout(
    *networks: nx.Graph | PairwiseMRF | MarkovNetwork, seed: int = 0
) -> dict[Any, tuple[float, float]]:
    """Return a place for each variable that has an edge in any of some networks.

    To be kept, or given to `plot_network` so that pictures of several networks have each variable
    in one place. The layout is that of the networks laid on top of each other, with strengths added
    up. Equal networks give equal layouts.

    Parameters
    ----------
    *networks : networkx.Graph, PairwiseMRF or MarkovNetwork
        Edges of a graph carry ``strength``; 1 where they do not.
    seed : int
        Where the layout of large networks starts.

    Returns
    -------
    dict of variable to (x, y)
        Numbers only, so that it can be written as JSON where names are texts.

    Examples
    --------
    >>> places = network_layout(nx.path_graph(["a", "b"]), nx.path_graph(["b", "c", "d"]))
    >>> sorted(places)
    ['a', 'b', 'c', 'd']
    """
    union = nx.Graph()
    for graph in map(as_graph, networks):
        union.add_nodes_from(node for node in graph if graph.degree(node))
        for a, b, strength in graph.edges(data="strength", default=1.0):
            before = union.edges[a, b]["strength"] if union.has_edge(a, b) else 0.0
            union.add_edge(a, b, strength=before + float(strength))
    return {node: (float(x), float(y)) for node, (x, y) in positions(union, seed).items()}


def check_layout(layout: Mapping[Any, Any], graph: nx.Graph) -> dict[Any, Floats]:
    """Return the places that a layout gives to the variables of a graph, checked.

    Examples
    --------
    >>> check_layout({"a": (0, 1)}, nx.empty_graph(["a", "b"]))
    {'a': array([0., 1.])}
    """
    if not isinstance(layout, Mapping):
        what = repr(layout) if isinstance(layout, str) else f"a {type(layout).__name__}"
        raise DataError(
            f"layout is {what}, and layouts have no names: leave it out, or give a mapping of "
            "variable to (x, y), such as graftwork.network_layout(net) or "
            "networkx.spring_layout(graph) return."
        )
    places = {}
    for node in graph:
        if node in layout:
            try:
                place = np.asarray(layout[node], dtype=np.float64)
            except (TypeError, ValueError):
                place = np.empty(0)
            if place.shape != (2,) or not np.isfinite(place).all():
                raise DataError(f"layout has {layout[node]!r} for {node!r}; give two numbers x, y.")
            places[node] = place
    lost = [node for node in graph if graph.degree(node) and node not in places]
    if lost:
        raise DataError(
            f"layout has no place for {names(lost, 5)}; network_layout(a, b) makes one of several "
            "networks."
        )
    return places


def positions(graph: nx.Graph, seed: int = 0) -> dict[Any, Floats]:
    """Return a point for every node: strong edges short, parts side by side, nothing on top."""
    parts = sorted(nx.connected_components(graph), key=len, reverse=True)
    boxes = []
    for part in parts:
        # In the order of the graph: sets of text differ from run to run.
        nodes = [node for node in graph if node in part]
        boxes.append((nodes, _part(graph.subgraph(part), nodes, seed)))
    return _pack(boxes)


def _part(graph: nx.Graph, nodes: list[Any], seed: int) -> Floats:
    """Return the points of one connected part, shape (nodes, 2), wider than high."""
    n = len(nodes)
    if n == 1:
        return np.zeros((1, 2))
    ordered = nx.Graph()
    ordered.add_nodes_from(nodes)
    strengths = [data.get("strength", 1.0) for _, _, data in graph.edges(data=True)]
    top = max(filter(math.isfinite, strengths), default=1.0)
    for a, b, data in graph.edges(data=True):
        # What an edge of a network that is not yet solved explains may be below zero.
        share = min(max(data.get("strength", 1.0) / top, 0.0), 1.0) if top > 0 else 1.0
        ordered.add_edge(a, b, distance=1.0 / (0.35 + 0.65 * np.sqrt(share)))
    if n > _KAMADA_KAWAI:
        wanted = np.array([data["distance"] for _, _, data in ordered.edges(data=True)])
        ends = np.array(_index_edges(ordered, nodes), dtype=np.int64)
        return _turned(large_layout(n, ends, wanted, seed))
    placed = nx.kamada_kawai_layout(ordered, weight="distance")
    points = np.array([placed[node] for node in nodes])
    points = _turned(points - points.mean(axis=0))
    lengths = [np.linalg.norm(points[i] - points[j]) for i, j in _index_edges(ordered, nodes)]
    return _spread(points / max(float(np.median(lengths)), 1e-9))


def _index_edges(graph: nx.Graph, nodes: list[Any]) -> list[tuple[int, int]]:
    place = {node: i for i, node in enumerate(nodes)}
    return [(place[a], place[b]) for a, b in graph.edges]


def _turned(points: Floats) -> Floats:
    """Return the points turned so that they reach furthest from left to right."""
    _, _, axes = np.linalg.svd(points, full_matrices=False)
    if len(axes) < 2:
        return points
    # Signs of singular vectors are arbitrary: fix them.
    axes = axes * np.where(axes[:, :1] + 1e-12 * axes[:, 1:] < 0, -1.0, 1.0)
    turned: Floats = points @ axes.T
    return turned


def _spread(points: Floats, least: float = 0.5) -> Floats:
    """Return the points, pushed apart where two are closer than `least`."""
    points = points.copy()
    for _ in range(_SPREAD_ROUNDS):
        gaps = points[:, None, :] - points[None, :, :]
        apart = np.sqrt((gaps**2).sum(axis=2))
        np.fill_diagonal(apart, np.inf)
        if apart.min() >= least:
            break
        # Points in one place part along fixed, different directions.
        turn = np.arange(len(points)) * 2.399963
        nudge = np.stack([np.cos(turn), np.sin(turn)], axis=1) * 1e-3
        gaps = np.where((apart < 1e-6)[:, :, None], nudge[:, None, :] - nudge[None, :, :], gaps)
        apart = np.maximum(apart, 1e-6)
        push = np.clip(least / apart - 1.0, 0.0, None)
        points += 0.3 * (gaps * push[:, :, None]).sum(axis=1)
    return points


def _pack(boxes: list[tuple[list[Any], Floats]]) -> dict[Any, Floats]:
    """Return all points, the parts set out in rows from the top."""
    sizes = [np.ptp(points, axis=0) + _GAP for _, points in boxes]
    width = max(
        np.sqrt(_ASPECT * sum(w * h for w, h in sizes)), max((w for w, _ in sizes), default=0.0)
    )
    out: dict[Any, Floats] = {}
    x = y = row = 0.0
    for (nodes, points), (w, h) in zip(boxes, sizes, strict=True):
        if x > 0 and x + w > width * 1.01:
            x, y, row = 0.0, y - row, 0.0
        corner = np.array([x + _GAP / 2, y - h + _GAP / 2])
        out.update(zip(nodes, points - points.min(axis=0) + corner, strict=True))
        x, row = x + w, max(row, h)
    if out:
        every = np.array(list(out.values()))
        middle = (every.min(axis=0) + every.max(axis=0)) / 2
        out = {node: point - middle for node, point in out.items()}
    return out


def place_labels(
    nodes: Floats, radii: Floats, sizes: Floats, lines: Floats, view: Floats | None = None
) -> Floats:
    """Return the middle of each label, beside its node, clear of all nodes and other labels.

    The first nodes choose first, among places near them the one that lies on fewest edges. Where
    all those are taken it is the nearest free place anywhere in the view.

    Shapes: nodes (nodes, 2); radii (nodes,); sizes (labels, 2); lines (edges, points, 2); view
    (4,); returns (labels, 2).
    """
    taken = np.concatenate([nodes - radii[:, None], nodes + radii[:, None]], axis=1)
    out = np.full((len(sizes), 2), np.nan)
    samples = _samples(lines)
    for k, size in enumerate(sizes):
        middles, far = _candidates(nodes[k], radii[k], size)
        boxes = np.concatenate([middles - size / 2, middles + size / 2], axis=1)
        cost = 0.25 * far + 0.08 * _inside(boxes, samples)
        own, other = _gaps(middles, size, nodes, radii, k)
        cost += 0.25 * _CLOSE * (other < own + _COMFORT * size[1])
        cost += 0.25 * _STRANGE * (other < own)
        cost += 0.01 * (np.arange(len(boxes)) % len(_DIRECTIONS))
        free = _free(boxes, taken, view)
        if not free.any() and view is not None:
            middles = _grid(size, view)
            boxes = np.concatenate([middles - size / 2, middles + size / 2], axis=1)
            cost, free = np.linalg.norm(middles - nodes[k], axis=1), _free(boxes, taken, view)
        if not free.any():
            continue
        best = int(np.argmin(np.where(free, cost, np.inf)))
        out[k] = middles[best]
        taken = np.concatenate([taken, boxes[best : best + 1]])
    return out


def strays(middles: Floats, sizes: Floats, nodes: Floats, radii: Floats) -> NDArray[np.bool_]:
    """Return which labels are nearer to another node than to their own."""
    found = np.zeros(len(middles), dtype=bool)
    for k in np.flatnonzero(np.isfinite(middles).all(axis=1)).tolist():
        own, other = _gaps(middles[k : k + 1], sizes[k], nodes, radii, k)
        found[k] = other[0] < own[0]
    return found


def _gaps(
    middles: Floats, size: Floats, nodes: Floats, radii: Floats, own: int
) -> tuple[Floats, Floats]:
    """Return how far labels of one size are from their own node, and from the nearest other."""
    beyond = np.maximum(np.abs(middles[:, None] - nodes[None]) - size / 2, 0.0)
    gaps = np.maximum(np.hypot(beyond[..., 0], beyond[..., 1]) - radii, 0.0)
    mine = gaps[:, own].copy()
    gaps[:, own] = np.inf
    return mine, gaps.min(axis=1)


def _candidates(node: Floats, radius: float, size: Floats) -> tuple[Floats, Floats]:
    """Return the middles to try and how many rings out each is."""
    middles, far = [], []
    for ring in _RINGS:
        reach = size / 2 + radius + ring * size[1]
        middles.append(node + _DIRECTIONS * reach)
        far.append(np.full(len(_DIRECTIONS), ring))
    return np.concatenate(middles), np.concatenate(far)


def _grid(size: Floats, view: Floats) -> Floats:
    """Return middles all over the view, half a label apart."""
    sides = [
        np.arange(low + side / 2, high - side / 2, side / 2)
        for low, high, side in zip(view[:2], view[2:], size, strict=True)
    ]
    return np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)


def _free(boxes: Floats, taken: Floats, view: Floats | None) -> NDArray[np.bool_]:
    """Return which boxes share no area with any of those taken, and lie in the view."""
    free: NDArray[np.bool_] = _overlap(boxes, taken) <= _TOUCHING
    if view is not None:
        inside = (boxes[:, :2] >= view[:2] - _TOUCHING) & (boxes[:, 2:] <= view[2:] + _TOUCHING)
        free &= inside.all(axis=1)
    return free


def _overlap(boxes: Floats, others: Floats) -> Floats:
    """Return the area each box shares with all the others together."""
    if not len(others):
        return np.zeros(len(boxes))
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    total: Floats = np.clip(high - low, 0, None).prod(axis=2).sum(axis=1)
    return total


def _samples(lines: Floats, count: int = 24) -> Floats:
    """Return points along the edges."""
    if not len(lines):
        return np.empty((0, 2))
    t = np.linspace(0.03, 0.97, count) * (lines.shape[1] - 1)
    before = t.astype(np.int64)
    part = (t - before)[None, :, None]
    between: Floats = (1 - part) * lines[:, before] + part * lines[:, before + 1]
    return between.reshape(-1, 2)


def _inside(boxes: Floats, points: Floats) -> Floats:
    """Return how many of the points lie in each box, saturating at a dozen."""
    near = (points > boxes[:, :2].min(axis=0)) & (points < boxes[:, 2:].max(axis=0))
    points = points[near.all(axis=1)]
    inside = ((points[None] > boxes[:, None, :2]) & (points[None] < boxes[:, None, 2:])).all(axis=2)
    counted: Floats = np.minimum(inside.sum(axis=1), 12).astype(np.float64)
    return counted
