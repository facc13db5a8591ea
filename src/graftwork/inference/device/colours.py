"""Variables that can be updated together: no edge joins two of the same class."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from graftwork.inference.layout import Ints, Layout


def colour_classes(layout: Layout, free: Ints | None = None) -> list[Ints]:
    """Return classes of variables without an edge inside; those of many neighbours come first.

    Shapes: free (k,) int64.
    """
    n = layout.n_variables
    colour = colours(n, layout.edges)
    degree = np.bincount(layout.edges.ravel(), minlength=n)
    chosen = np.arange(n) if free is None else free
    # Long programs start first, so that none is left over at the end.
    chosen = chosen[np.argsort(-degree[chosen], kind="stable")]
    found = (chosen[colour[chosen] == c] for c in range(int(colour.max(initial=-1)) + 1))
    return [members for members in found if len(members)]


def colours(n: int, edges: Ints) -> Ints:
    """Return a colour for each of ``n`` variables, greedily (smallest last).

    The last few answers are remembered.
    """
    return _colours(n, np.ascontiguousarray(edges, dtype=np.int64).tobytes())


@lru_cache(maxsize=8)
def _colours(n: int, edges_bytes: bytes) -> Ints:
    import networkx as nx  # when it is needed: it is slow to load

    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(np.frombuffer(edges_bytes, dtype=np.int64).reshape(-1, 2).tolist())
    found = nx.greedy_color(graph, "smallest_last")
    out = np.array([found[i] for i in range(n)], dtype=np.int64)
    out.flags.writeable = False
    return out
