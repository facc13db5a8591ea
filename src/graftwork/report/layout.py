"""Where the nodes of a drawn network go: each connected part on its own, then side by side."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Parts up to this size are laid out by Kamada and Kawai's energy, larger ones by springs.
_KAMADA_KAWAI = 250
#: Space between parts, in units of the distance between neighbours.
_GAP = 0.9
#: How much wider than high the drawing is.
_ASPECT = 1.4
_SPREAD_ROUNDS = 60


def positions(graph: nx.Graph, seed: int = 0) -> dict[Any, Floats]:
    """Return a point for every node: strong edges short, parts side by side, nothing on top.

    Parameters
    ----------
    graph : networkx.Graph
        Edges carry ``strength``, at least 0.
    seed : int
        Where the springs of large parts start.

    Returns
    -------
    dict of node to array of shape (2,)
        In units of about the distance between neighbours; the middle is at (0, 0).

    Examples
    --------
    >>> places = positions(nx.path_graph(3))
    >>> bool(abs(places[0][0] - places[2][0]) > abs(places[0][0] - places[1][0]))
    True
    """
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
    top = max((data.get("strength", 1.0) for _, _, data in graph.edges(data=True)), default=1.0)
    for a, b, data in graph.edges(data=True):
        share = data.get("strength", 1.0) / top if top > 0 else 1.0
        ordered.add_edge(a, b, distance=1.0 / (0.35 + 0.65 * np.sqrt(share)), pull=0.2 + share)
    if n <= _KAMADA_KAWAI:
        placed = nx.kamada_kawai_layout(ordered, weight="distance")
    else:
        placed = nx.spring_layout(ordered, weight="pull", seed=seed, iterations=80)
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
