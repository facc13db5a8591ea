"""How much of a true structure a network has found."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx

from graftwork.errors import DataError
from graftwork.models.inputs import find, number

#: An edge as the positions of its two variables, the smaller first.
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Recovery:
    """How a network's edges compare with the true ones; NaN where there is nothing to divide by.

    Attributes
    ----------
    recall : float
        Share of the true edges that were found.
    precision : float
        Share of the edges found that are true.
    f1 : float
        Their harmonic mean: twice the true edges found, over all found and all true.
    """

    recall: float
    precision: float
    f1: float


def true_edges(truth: Any, names: Sequence[Any]) -> frozenset[Pair]:
    """Return the edges of a true structure as pairs of positions.

    Parameters
    ----------
    truth : networkx.Graph, PairwiseMRF, fitted MarkovNetwork, or iterable of pairs of names
        The structure. Its directions do not matter.
    names : sequence
        The variables of the data.

    Raises
    ------
    DataError
        If an edge is no pair, joins a variable to itself, or names a variable the data lack.

    Examples
    --------
    >>> sorted(true_edges([("c", "a"), ("a", "b"), ("b", "a")], ["a", "b", "c"]))
    [(0, 1), (0, 2)]
    """
    index = number(names)
    found = set()
    for edge in _edges(truth):
        if isinstance(edge, str) or not isinstance(edge, Iterable) or len(ends := [*edge]) != 2:
            raise DataError(f"truth: {edge!r} is no edge; write pairs of names (a, b).")
        try:
            i, j = (find(name, tuple(names), index) for name in ends)
        except DataError as error:
            raise DataError(f"truth: {error}") from None
        if i == j:
            raise DataError(f"truth: the edge {edge!r} joins a variable to itself.")
        found.add((min(i, j), max(i, j)))
    return frozenset(found)


def _edges(truth: Any) -> Iterable[Any]:
    """Return the edges of anything that has some."""
    model = getattr(truth, "model_", truth)
    if isinstance(model, nx.Graph):
        return list(model.edges())
    edges = getattr(model, "edges", model)
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise DataError(
            f"truth is a {type(truth).__name__}; use a graph, a model, or pairs of names (a, b)."
        )
    return edges


def recovery(found: Collection[Pair], true: Collection[Pair]) -> Recovery:
    """Return recall, precision and F1 of the edges found.

    Examples
    --------
    >>> recovery({(0, 1), (1, 2)}, {(0, 1), (0, 2), (0, 3), (0, 4)})
    Recovery(recall=0.25, precision=0.5, f1=0.3333333333333333)
    """
    both = len(set(found) & set(true))
    return Recovery(
        _share(both, len(true)), _share(both, len(found)), _share(2 * both, len(found) + len(true))
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
