"""Numbers on a line, put into few groups."""

from __future__ import annotations

import numpy as np

from graftwork.inference.layout import Floats, Ints
from graftwork.kernels.kmeans import cut_into_clusters

# The exact way needs a table of numbers times groups; larger ones are not built.
MOST_CELLS = 2**24
LLOYD_ROUNDS = 100


def cluster(values: Floats, weights: Floats, count: int) -> tuple[Ints, Floats]:
    """Return the group of each number, and the weighted mean of each group.

    The groups minimise the weighted squares of the distances to their means: exactly, or where
    numbers times groups exceed ``MOST_CELLS`` nearly (Lloyd's iteration).

    Parameters
    ----------
    values, weights : (m,) float64
        Weights are positive.
    count : int
        From 1 to m.

    Examples
    --------
    >>> cluster(np.array([5.0, 1.0, 2.0, 6.0]), np.array([3.0, 1.0, 1.0, 1.0]), 2)
    (array([1, 0, 0, 1]), array([1.5 , 5.25]))
    """
    order = np.argsort(values, kind="stable")
    x, w = np.ascontiguousarray(values[order]), np.ascontiguousarray(weights[order])
    cut = cut_into_clusters if count * len(x) <= MOST_CELLS else _cut_nearly
    labels = np.empty(len(x), dtype=np.int64)
    labels[order] = np.repeat(np.arange(count), np.diff(cut(x, w, count)))
    mass = np.bincount(labels, weights, minlength=count)
    return labels, np.bincount(labels, weights * values, minlength=count) / mass


def _cut_nearly(values: Floats, weights: Floats, count: int) -> Ints:
    """Return where groups of sorted numbers start, by Lloyd's iteration; none is empty.

    It starts from groups as wide as suits the density, to the power of one third (Panter and Dite,
    1951): gaps count by their power of two thirds.
    """
    gaps = (0.5 * (weights[1:] + weights[:-1])) ** (1 / 3) * np.diff(values) ** (2 / 3)
    along = np.concatenate([[0.0], np.cumsum(gaps)])
    starts = _apart(np.searchsorted(along, along[-1] * np.arange(1, count) / count), len(values))
    for _ in range(LLOYD_ROUNDS):
        mass = np.add.reduceat(weights, starts[:-1])
        centres = np.add.reduceat(weights * values, starts[:-1]) / mass
        after = _apart(np.searchsorted(values, 0.5 * (centres[1:] + centres[:-1])), len(values))
        if np.array_equal(after, starts):
            break
        starts = after
    return starts


def _apart(inner: Ints, size: int) -> Ints:
    """Return where groups start and end, moved as little as leaves none empty."""
    steps = np.arange(1, len(inner) + 1)
    inner = np.maximum.accumulate(inner - steps) + steps
    inner = np.clip(inner, steps, size - steps[::-1])
    return np.concatenate([[0], inner, [size]])
