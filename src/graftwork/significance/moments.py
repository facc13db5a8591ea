"""Symmetric matrices kept as their upper triangles."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from graftwork.inference.layout import Ints
from graftwork.objectives import neighbourhoods

ONE = (0,)


@lru_cache(maxsize=64)
def unfold(size: int) -> Ints:
    """Return where each entry of a symmetric matrix stands in its upper triangle.

    Examples
    --------
    >>> unfold(2).tolist()
    [[0, 1], [1, 2]]
    """
    places = np.zeros((size, size), dtype=np.int64)
    upper = np.triu_indices(size)
    places[upper] = places[upper[::-1]] = np.arange(len(upper[0]))
    places.flags.writeable = False
    return places


def lanes_for(size: int) -> tuple[int, ...]:
    """Return how many numbers of a triangle to add at once."""
    return ONE if size <= 1 else neighbourhoods.lanes_for(size)
