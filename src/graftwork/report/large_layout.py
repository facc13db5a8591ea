"""Points for large connected graphs: distances to a few pivots, then forces between neighbours."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from graftwork.inference.layout import Floats, Ints

_PIVOTS = 60
_ROUNDS = 120
#: Points further apart than this do not push each other; neighbours want a distance of 1.
_REACH = 2.5


def large_layout(n: int, edges: Ints, lengths: Floats, seed: int = 0) -> Floats:
    """Return a point for every node of a connected graph.

    Distances along edges to a few pivots give the shape (pivot multidimensional scaling); forces
    then spread the nodes out. Time grows about linearly with nodes and edges.

    Shapes: edges (edges, 2); lengths (edges,); returns (n, 2).

    References
    ----------
    Brandes and Pich, "Eigensolver methods for progressive multidimensional scaling of large data",
    Graph Drawing 2006. Fruchterman and Reingold, "Graph drawing by force-directed placement", 1991.
    """
    points = _pivot_scaling(n, edges, lengths, seed % n)
    # A few pivots at the ends of long arms must not set the scale.
    far = np.maximum(2.2 * points.std(axis=0), 1e-9)
    points = np.clip(points, -far, far)
    gaps = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    points /= max(float(np.median(gaps)), 1e-9)
    # Room for every node: the forces act nearby only and could not make it.
    spread = np.sqrt(n) * 0.55 / max(float(points.std()), 1e-9)
    points *= max(spread, 1.0)
    # Nodes with the same distances to all pivots lie on one point: part them along a spiral.
    turn = np.arange(n) * 2.399963
    points += 0.05 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    points = _forces(points, edges, lengths)
    apart = np.asarray(cKDTree(points).query(points, k=2)[0])[:, 1]
    scaled: Floats = (points - points.mean(axis=0)) * (0.6 / max(float(np.median(apart)), 1e-9))
    return scaled


def _pivot_scaling(n: int, edges: Ints, lengths: Floats, pivot: int) -> Floats:
    """Return the two leading coordinates of the distances to pivots far from each other."""
    graph = csr_array((lengths, (edges[:, 0], edges[:, 1])), shape=(n, n))
    rows: list[Floats] = []
    nearest = np.full(n, np.inf)
    for _ in range(min(_PIVOTS, n)):
        found = dijkstra(graph, directed=False, indices=[pivot])[0]
        rows.append(found)
        nearest = np.minimum(nearest, found)
        pivot = int(nearest.argmax())
    squares = np.array(rows).T ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    points: Floats = centred @ axes[:2].T
    if points.shape[1] < 2:
        points = np.concatenate([points, np.zeros((n, 2 - points.shape[1]))], axis=1)
    scaled: Floats = points / np.maximum(np.sqrt(np.abs(points).max(axis=0)), 1e-12)
    return scaled


def _forces(points: Floats, edges: Ints, lengths: Floats) -> Floats:
    """Return the points after some rounds of pulls along edges and pushes between neighbours."""
    i, j = edges[:, 0], edges[:, 1]
    degree = np.bincount(edges.ravel(), minlength=len(points)).astype(np.float64)
    # A hub is pulled by the mean of its edges rather than by their sum.
    weight = 1.0 / np.sqrt(np.minimum(degree[i], degree[j]))
    for step in range(_ROUNDS):
        force = np.zeros_like(points)
        along = points[i] - points[j]
        away = np.maximum(np.linalg.norm(along, axis=1), 1e-9)
        pull = (0.35 * weight * (away - lengths) / away)[:, None] * along
        np.add.at(force, i, -pull)
        np.add.at(force, j, pull)
        pairs = cKDTree(points).query_pairs(_REACH, output_type="ndarray")
        between = points[pairs[:, 0]] - points[pairs[:, 1]]
        gap = np.maximum(np.linalg.norm(between, axis=1), 1e-6)
        push = (0.6 * (1.0 - gap / _REACH) / gap**2)[:, None] * between
        np.add.at(force, pairs[:, 0], push)
        np.add.at(force, pairs[:, 1], -push)
        size = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-9)
        most = 1.0 - 0.95 * step / _ROUNDS
        points = points + force * np.minimum(1.0, most / size)
    return points
