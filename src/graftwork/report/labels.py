"""Where the labels of a drawn network go: beside their nodes, clear of each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Directions tried, the favourite first: right, left, above, below, then the corners.
_DIRECTIONS = np.array(
    [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)], dtype=float
)
#: Further out by these many label heights when all nearer places are taken.
_RINGS = (0.0, 0.8, 1.8, 3.0)


def place_labels(
    nodes: Floats, radii: Floats, sizes: Floats, segments: Floats, view: Floats | None = None
) -> Floats:
    """Return the middle of each label, beside its node and clear of labels and nodes if possible.

    The first nodes choose first. Covering a label or a node, or leaving the view, is worst, then
    being far from the node, then lying on an edge.

    Parameters
    ----------
    nodes : array, shape (nodes, 2)
        Middles of all nodes; the first ``len(sizes)`` have labels.
    radii : array, shape (nodes,)
        Their radii.
    sizes : array, shape (labels, 2)
        Width and height of each label.
    segments : array, shape (edges, 2, 2)
        The ends of the edges.
    view : array, shape (4,), optional
        The picture's lower left and upper right corner.

    Returns
    -------
    array, shape (labels, 2)
        In the units of `nodes`.

    Examples
    --------
    >>> nodes = np.array([[0.0, 0.0], [8.0, 0.0]])
    >>> place_labels(nodes, np.ones(2), np.array([[8.0, 2.0]]), np.empty((0, 2, 2)))[0].tolist()
    [-5.0, 0.0]
    """
    placed = np.empty((0, 4))
    out = np.empty((len(sizes), 2))
    dots = np.concatenate([nodes - radii[:, None], nodes + radii[:, None]], axis=1)
    samples = _samples(segments)
    whole = np.array([[-np.inf, -np.inf, np.inf, np.inf]]) if view is None else view[None]
    for k, size in enumerate(sizes):
        middles, far = _candidates(nodes[k], radii[k], size)
        boxes = np.concatenate([middles - size / 2, middles + size / 2], axis=1)
        others = np.delete(dots, k, axis=0)
        cost = (
            6.0 * _overlap(boxes, placed) / size.prod()
            + 6.0 * _overlap(boxes, others) / size.prod()
            + 6.0 * (1.0 - _overlap(boxes, whole) / size.prod())
            + 0.25 * far
            + 0.08 * _inside(boxes, samples)
            + 0.01 * np.arange(len(boxes))
        )
        best = int(np.argmin(cost))
        out[k] = middles[best]
        placed = np.concatenate([placed, boxes[best : best + 1]])
    return out


def _candidates(node: Floats, radius: float, size: Floats) -> tuple[Floats, Floats]:
    """Return the middles to try and how many rings out each is."""
    middles, far = [], []
    for ring in _RINGS:
        reach = size / 2 + radius + ring * size[1]
        # Out along one axis a corner needs the full reach there only.
        middles.append(node + _DIRECTIONS * np.where(np.abs(_DIRECTIONS) > 0, reach, 0.0))
        far.append(np.full(len(_DIRECTIONS), ring))
    return np.concatenate(middles), np.concatenate(far)


def _overlap(boxes: Floats, others: Floats) -> Floats:
    """Return the area each box shares with all the others together."""
    if not len(others):
        return np.zeros(len(boxes))
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    total: Floats = np.clip(high - low, 0, None).prod(axis=2).sum(axis=1)
    return total


def _samples(segments: Floats, count: int = 24) -> Floats:
    """Return points along the edges."""
    if not len(segments):
        return np.empty((0, 2))
    t = np.linspace(0.03, 0.97, count)[None, :, None]
    return ((1 - t) * segments[:, None, 0] + t * segments[:, None, 1]).reshape(-1, 2)


def _inside(boxes: Floats, points: Floats) -> Floats:
    """Return how many of the points lie in each box, saturating at a dozen."""
    if not len(points):
        return np.zeros(len(boxes))
    inside = ((points[None] > boxes[:, None, :2]) & (points[None] < boxes[:, None, 2:])).all(axis=2)
    counted: Floats = np.minimum(inside.sum(axis=1), 12).astype(np.float64)
    return counted
