"""Lines of edges that are bent where a straight one would pass through another node."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graftwork.report.layout import Floats

Ints = NDArray[np.int64]

#: Points of a line, its ends included.
POINTS = 33
#: A line this far from its chord, as a share of the chord's length, is bent most.
_MOST = 0.25
#: Bent lines keep this many times the distance that straight ones must.
_ROOM = 1.5
#: Bends tried for one edge.
_TRIED = 48
#: Networks of more edges times nodes are too crowded for bends to be seen.
_CROWDED = 100_000
_ALONG = np.linspace(0.0, 1.0, POINTS)


def edge_lines(
    points: Floats, ends: Ints, clear: Floats, view: Floats
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return a line for each edge, bent as little as keeps it clear of other nodes; which are bent.

    Where no bend is clear of all of them, it is the one that meets fewest, a straight one first.
    All are straight in networks of more than 100,000 edges times nodes.

    Shapes: points (nodes, 2); ends (edges, 2); clear (edges, nodes); view (4,); lines (edges,
    POINTS, 2); bent (edges,).
    """
    first, second = points[ends[:, 0]], points[ends[:, 1]]
    lines = first[:, None] + _ALONG[:, None] * (second - first)[:, None]
    bent = np.zeros(len(ends), dtype=bool)
    for k, pair in enumerate(ends if clear.size <= _CROWDED else ()):
        nodes = np.delete(np.arange(len(points)), pair)
        if (_distances(lines[k, [0, -1]], points[nodes]) < clear[k, nodes]).any():
            around = _around(lines[k], points[nodes], clear[k, nodes], view)
            if around is not None:
                lines[k], bent[k] = around, True
    return lines, bent


def _around(straight: Floats, nodes: Floats, clear: Floats, view: Floats) -> Floats | None:
    """Return the line bent least among those that meet fewest nodes; None for the straight one."""
    chord = straight[-1] - straight[0]
    length = float(np.hypot(*chord))
    if length == 0.0:
        return None
    normal = np.array([-chord[1], chord[0]]) / length
    near = _distances(straight[[0, -1]], nodes) < _MOST * length + _ROOM * clear
    nodes, clear = nodes[near], clear[near]
    shape = 4.0 * _ALONG * (1.0 - _ALONG)
    best, fewest = None, int((_distances(straight, nodes) < clear).sum())
    for bend in _bends(straight[0], chord / length, nodes, _ROOM * clear, length):
        line = straight + (bend * shape)[:, None] * normal
        if (line < view[:2]).any() or (line > view[2:]).any():
            continue
        gaps = _distances(line, nodes)
        met = int((gaps < clear).sum())
        if met < fewest:
            best, fewest = line, met
        if met == 0:
            break
    return best


def _bends(start: Floats, along: Floats, nodes: Floats, room: Floats, length: float) -> Floats:
    """Return how far the middles of lines may be from the chord, the least first.

    Of those that pass a node just with its room, on one side or the other.
    """
    reach = nodes - start
    place = reach @ along / length
    side = reach @ np.array([-along[1], along[0]])
    inside = (place > 0.0) & (place < 1.0)
    share = 4.0 * place[inside] * (1.0 - place[inside])
    bends = np.concatenate([(side[inside] + way * room[inside]) / share for way in (-1.0, 1.0)])
    # Where a line is slanted, it comes nearer to a node than it is beside it.
    bends = np.concatenate([bends, 1.25 * bends])
    bends = bends[np.abs(bends) <= _MOST * length]
    return np.asarray(bends[np.argsort(np.abs(bends), kind="stable")][:_TRIED])


def _distances(line: Floats, nodes: Floats) -> Floats:
    """Return the distance of each node from a line of points."""
    steps = np.diff(line, axis=0)
    squares = np.maximum((steps**2).sum(axis=1), 1e-300)
    reach = nodes[:, None] - line[None, :-1]
    along = np.clip((reach * steps).sum(axis=2) / squares, 0.0, 1.0)
    gaps = reach - along[:, :, None] * steps
    found: Floats = np.sqrt((gaps**2).sum(axis=2)).min(axis=1)
    return found
