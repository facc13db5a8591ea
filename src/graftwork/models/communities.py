"""Communities: groups of variables with more and stronger edges inside than between them.

Found by Louvain's algorithm, as networkx has it, which looks for the largest modularity.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graftwork.inference.layout import Floats, Ints

#: Louvain visits variables in a random order; the best of so many runs is kept, of resamples ...
RUNS, RUNS_OF_RESAMPLES = 50, 5
#: ... and of fewer where runs times edges would be more than this, since they take long there.
MOST_VISITS = 5_000
#: The community of a variable without an edge.
NONE = -1


def find_communities(
    n: int,
    edges: Ints,
    strengths: Floats,
    *,
    resolution: float = 1.0,
    seed: int = 0,
    runs: int = RUNS,
) -> Ints:
    """Return the community of each variable, by Louvain's algorithm.

    It is heuristic: there may be a partition of larger modularity. Several runs are made, and the
    one with the largest modularity is kept.

    Shapes: edges (edges, 2); strengths (edges,); returns (n,).

    References
    ----------
    Blondel, Guillaume, Lambiotte and Lefebvre, "Fast unfolding of communities in large networks",
    Journal of Statistical Mechanics, 2008.
    """
    graph = _graph(edges, strengths)
    found = np.full(n, NONE, dtype=np.int64)
    if graph.number_of_edges():
        runs = min(runs, max(1, MOST_VISITS // graph.number_of_edges()))
        parts = [sorted(part) for part in _best_partition(graph, resolution, seed, runs)]
        for number, part in enumerate(sorted(parts, key=lambda part: (-len(part), part[0]))):
            found[part] = number
    return found


def _graph(edges: Ints, strengths: Floats) -> Any:
    """Return the graph of the edges that have a strength; nodes are numbers, in order."""
    import networkx as nx

    kept = [
        (i, j, s) for (i, j), s in zip(edges.tolist(), strengths.tolist(), strict=True) if s > 0
    ]
    graph = nx.Graph()
    graph.add_nodes_from(sorted({i for edge in kept for i in edge[:2]}))
    graph.add_weighted_edges_from(kept)
    return graph


def _best_partition(graph: Any, resolution: float, seed: int, runs: int) -> list[set[int]]:
    """Return the partition of largest modularity that some runs find; of equals the first."""
    import networkx as nx

    found = [
        nx.community.louvain_communities(graph, resolution=resolution, seed=seed + run)
        for run in range(runs)
    ]
    best: list[set[int]] = max(
        found,
        key=lambda parts: round(nx.community.modularity(graph, parts, resolution=resolution), 9),
    )
    return best


def modularity(edges: Ints, strengths: Floats, membership: Ints) -> float:
    """Return the modularity of communities: 0 where they mean nothing, below 1.

    It is the share of the strengths that lies inside communities, less what it would be if edges
    met at random. NaN without edges.
    """
    import networkx as nx

    graph = _graph(edges, strengths)
    if not graph.number_of_edges():
        return float("nan")
    parts: dict[int, set[int]] = {}
    for i in graph:
        parts.setdefault(int(membership[i]), set()).add(i)
    return float(nx.community.modularity(graph, list(parts.values())))


def relabelled(reference: Ints, found: Ints) -> Ints:
    """Return communities with the numbers of those of a reference that they share most with.

    Numbers are dealt out such that as many variables as possible keep theirs. Communities that
    are left over get numbers that the reference does not have.
    """
    from scipy.optimize import linear_sum_assignment  # when it is needed: it is slow to load

    own, theirs = int(reference.max(initial=NONE)) + 1, int(found.max(initial=NONE)) + 1
    both = (reference >= 0) & (found >= 0)
    shared = np.zeros((theirs, max(own, theirs)))
    np.add.at(shared, (found[both], reference[both]), 1.0)
    _, numbers = linear_sum_assignment(-shared)
    # who shares nothing with the community of that number is new
    fresh = shared[np.arange(theirs), numbers] == 0
    numbers = np.where(fresh, own + np.cumsum(fresh) - 1, numbers)
    out = np.full_like(found, NONE)
    out[found >= 0] = numbers[found[found >= 0]]
    return out


def shared_community(found: Ints) -> Floats:
    """Return the share of partitions in which two variables are in one community.

    Shapes: found (partitions, variables); returns (variables, variables).
    """
    count, n = found.shape
    if not count:
        return np.full((n, n), np.nan)
    total: Floats = np.zeros((n, n))
    for part in found:
        total += (part[:, None] == part[None, :]) & (part >= 0)[:, None]
    return total / float(count)
