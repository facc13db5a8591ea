"""Networks as graphs: how central each variable is, and what networkx can hold of states.

networkx is imported when it is needed: that takes a tenth of a second.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from graftwork.inference.layout import Floats, Ints

#: What `centralities` computes, in this order.
MEASURES = ("strength", "degree", "closeness", "betweenness")


def states_text(states: Iterable[Any]) -> str:
    """Return states as one text, a list in JSON, which every graph format can hold.

    What JSON does not know (dates, bytes) is written as text.

    Examples
    --------
    >>> states_text(["no", 2, None])
    '["no", 2, null]'
    """
    return json.dumps(list(states), default=str, ensure_ascii=False)


def is_graph(value: Any) -> bool:
    """Return whether a value is a networkx graph; there is none before networkx is imported.

    Examples
    --------
    >>> is_graph([("a", "b")])
    False
    >>> import networkx
    >>> is_graph(networkx.Graph())
    True
    """
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(value, networkx.Graph)


def centralities(n: int, edges: Ints, strengths: Floats) -> Floats:
    """Return how central each variable is, by four measures.

    The strength of a variable is the sum of its edges' strengths, its degree their number.
    Closeness and betweenness are those of networkx, where an edge of strength s is 1/s long: the
    one is the inverse mean distance to the variables within reach (times the share of variables
    within reach), the other the share of shortest paths between others that lead through it.

    Parameters
    ----------
    n : int
        Number of variables.
    edges : array, shape (edges, 2)
        The variables at their ends.
    strengths : array, shape (edges,)
        At least 0; an edge of strength 0 has a degree, but no path leads over it.

    Returns
    -------
    array, shape (4, n)
        One row for each of `MEASURES`.

    References
    ----------
    Opsahl, Agneessens and Skvoretz, "Node centrality in weighted networks: generalizing degree
    and shortest paths", Social Networks 32, 2010.

    Examples
    --------
    >>> centralities(3, np.array([[0, 1], [1, 2]]), np.array([1.0, 0.5])).round(2).tolist()
    [[1.0, 1.5, 0.5], [1.0, 2.0, 1.0], [0.5, 0.67, 0.4], [0.0, 1.0, 0.0]]
    """
    import networkx as nx

    out = np.zeros((len(MEASURES), n))
    if not len(edges):
        return out
    ends = edges.ravel()
    out[0] = np.bincount(ends, weights=np.repeat(strengths, 2), minlength=n)
    out[1] = np.bincount(ends, minlength=n)
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(
        (i, j, 1.0 / s)
        for (i, j), s in zip(edges.tolist(), strengths.tolist(), strict=True)
        if s > 0
    )
    close = nx.closeness_centrality(graph, distance="weight")
    between = nx.betweenness_centrality(graph, weight="weight")
    out[2] = [close[i] for i in range(n)]
    out[3] = [between[i] for i in range(n)]
    return out
