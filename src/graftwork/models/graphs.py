"""Networks as graphs: what is known of their edges, and how central each variable is.

networkx is imported when it is needed: that takes a tenth of a second.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graftwork.inference.layout import Floats, Ints

if TYPE_CHECKING:
    import networkx as nx

    from graftwork.models.pairwise import PairwiseMRF

#: What is known of an edge: ``first``, ``second``, and numbers, NaN where they are not known.
EdgeRecord = dict[str, Any]
#: What is known of an edge's test, and all its numbers, in this order.
TESTS = ("p_value", "q_value", "statistic", "df")
#: Standard error and 95 % interval of its weight; files keep them with the test.
INTERVAL = ("weight_se", "weight_low", "weight_high")
KEPT = (*TESTS, *INTERVAL)
EDGE_NUMBERS = ("strength", "correlation", "weight", "linear_share", *KEPT)

#: What `centralities` computes, in this order.
MEASURES = ("strength", "expected_influence", "degree", "closeness", "betweenness")
#: The one that may be below 0, and that only edges with a sign give.
SIGNED = "expected_influence"
#: What `bridge_centralities` computes, in this order.
BRIDGES = ("bridge_strength", "bridge_closeness", "bridge_betweenness")


def states_text(states: Iterable[Any]) -> str:
    """Return states as one text, a list in JSON, which every graph format can hold.

    What JSON does not know (dates, bytes) is written as text.

    Examples
    --------
    >>> states_text(["no", 2, None])
    '["no", 2, null]'
    """
    return json.dumps(list(states), default=str, ensure_ascii=False)


def edge_numbers(
    model: PairwiseMRF, info: Mapping[str, Any] | None = None
) -> tuple[EdgeRecord, ...]:
    """Return what is known of each edge, in the order of the network.

    Examples
    --------
    >>> from graftwork.models import PairwiseMRF
    >>> model = PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): [[1, 0], [0, 1]]})
    >>> record = edge_numbers(model, {"edge_tests": [[0.001, 0.002]]})[0]
    >>> round(record["correlation"], 3), record["weight"], record["q_value"], record["df"]
    (0.462, 2.0, 0.002, nan)
    """
    given = info or {}
    tests = saved_numbers(given.get("edge_tests"), model.n_edges, len(KEPT)).tolist()
    columns = sizes_of(model)
    return tuple(
        {
            "first": a,
            "second": b,
            **{name: column[place] for name, column in columns.items()},
            **dict(zip(KEPT, tests[place], strict=True)),
        }
        for place, (a, b) in enumerate(model.edges)
    )


def sizes_of(model: PairwiseMRF) -> dict[str, list[float]]:
    """Return the sizes of all edges, in the order of the network: columns of `edge_numbers`."""
    return {
        "strength": model.strengths.tolist(),
        "correlation": model.correlations.tolist(),
        "weight": model.weights.tolist(),
        "linear_share": model.linear_shares.tolist(),
    }


def sizes_in(model: PairwiseMRF, pairs: Ints) -> tuple[Floats, Floats]:
    """Return strength and correlation of pairs of variables, given by number, the smaller first.

    Where the network lacks the edge the strength is 0 and the correlation NaN.

    Examples
    --------
    >>> from graftwork.models import PairwiseMRF
    >>> model = PairwiseMRF({n: [0, 1] for n in "abc"}, None, {("a", "b"): [[0, 1], [1, 0]]})
    >>> strengths, correlations = sizes_in(model, np.array([[0, 1], [1, 2]]))
    >>> strengths.round(3).tolist(), correlations.round(3).tolist()
    ([0.462, 0.0], [-0.462, nan])
    """
    edges = model.potentials.layout.edges.tolist()
    place = {(i, j): k for k, (i, j) in enumerate(edges)}
    k = np.array([place.get((i, j), -1) for i, j in pairs.tolist()], dtype=np.int64)
    strengths, correlations = np.r_[model.strengths, 0.0], np.r_[model.correlations, np.nan]
    return strengths[k], correlations[k]


def saved_numbers(rows: Any, n_edges: int, width: int) -> Floats:
    """Return numbers that a file keeps of each edge; NaN if it keeps none, or something else.

    Files of earlier versions keep fewer of them.

    Examples
    --------
    >>> saved_numbers([[0.1, None]], 1, 3).tolist(), saved_numbers("x", 1, 1).tolist()
    ([[0.1, nan, nan]], [[nan]])
    """
    found = np.full((n_edges, width), np.nan)
    try:
        given = np.array(rows, dtype=np.float64)  # None becomes NaN
    except (TypeError, ValueError):
        return found
    if given.ndim == 2 and len(given) == n_edges and given.shape[1] <= width:
        found[:, : given.shape[1]] = given
    return found


def graph_of(model: PairwiseMRF, edges: Iterable[EdgeRecord]) -> nx.Graph:
    """Return the graph of a network: variables with their states, edges with their numbers.

    What is not known is left out.
    """
    import networkx as nx

    graph = nx.Graph()
    for name, listed in model.states.items():
        graph.add_node(name, states=states_text(listed))
    for edge in edges:
        known = {name: edge[name] for name in EDGE_NUMBERS[1:] if math.isfinite(edge[name])}
        graph.add_edge(edge["first"], edge["second"], strength=edge["strength"], **known)
    return graph


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


def centralities(
    n: int,
    edges: Ints,
    strengths: Floats,
    correlations: Floats | None = None,
    *,
    paths: bool = True,
) -> Floats:
    """Return how central each variable is, by five measures.

    The strength of a variable is the sum of its edges' strengths, its expected influence that of
    their correlations, its degree their number.
    Closeness and betweenness are those of networkx, where an edge of strength s is 1/s long: the
    one is the inverse mean distance to the variables within reach (times the share of variables
    within reach), the other the share of shortest paths between others that lead through it.

    Shapes: edges (edges, 2); strengths (edges,); correlations (edges,); returns (5, n).

    References
    ----------
    Opsahl, Agneessens and Skvoretz, "Node centrality in weighted networks: generalizing degree
    and shortest paths", Social Networks 32, 2010.
    """
    import networkx as nx

    out = np.zeros((len(MEASURES), n))
    if not len(edges):
        return out
    out[0] = summed(n, edges, strengths)
    out[1] = influence(
        n, edges, np.full(len(edges), np.nan) if correlations is None else correlations
    )
    out[2] = summed(n, edges, np.ones(len(edges)))
    if not paths:
        out[3:] = np.nan
        return out
    graph = _distances(n, edges, strengths)
    close = nx.closeness_centrality(graph, distance="weight")
    between = nx.betweenness_centrality(graph, weight="weight")
    out[3] = [close[i] for i in range(n)]
    out[4] = [between[i] for i in range(n)]
    return out


def bridge_centralities(n: int, edges: Ints, strengths: Floats, groups: Sequence[Any]) -> Floats:
    """Return how far each variable links its own group of variables to the others.

    Bridge strength is the sum of the strengths of edges to other groups. Bridge closeness is the
    inverse mean distance to the variables of other groups within reach, times their share within
    reach. Bridge betweenness is the share of shortest paths between two variables of different
    groups (neither of them this one) that lead through it. An edge of strength s is 1/s long, as in
    `centralities`.

    Shapes: returns (3, n).

    References
    ----------
    Jones, Ma and McNally, "Bridge centrality: a network approach to understanding comorbidity",
    Multivariate Behavioral Research 56, 2021.
    """
    listed = list(dict.fromkeys(groups))
    group = np.array([listed.index(each) for each in groups], dtype=np.int64)
    out = np.zeros((len(BRIDGES), n))
    if not len(edges):
        return out
    across = group[edges[:, 0]] != group[edges[:, 1]]
    out[0] = summed(n, edges[across], strengths[across])
    graph = _distances(n, edges, strengths)
    out[1] = _bridge_closeness(graph, group)
    out[2] = _bridge_betweenness(graph, group, len(listed))
    return out


def _bridge_closeness(graph: Any, group: Ints) -> Floats:
    import networkx as nx

    out = np.zeros(len(group))
    for i, lengths in nx.all_pairs_dijkstra_path_length(graph, weight="weight"):
        outside = [length for j, length in lengths.items() if group[j] != group[i]]
        total = sum(outside)
        if total > 0:
            out[i] = len(outside) ** 2 / (total * np.count_nonzero(group != group[i]))
    return out


def _bridge_betweenness(graph: Any, group: Ints, n_groups: int) -> Floats:
    import networkx as nx

    out = np.zeros(len(group))
    for g in range(n_groups):  # each pair is met from both sides, and counts as a half
        inside, outside = np.flatnonzero(group == g), np.flatnonzero(group != g)
        found = nx.betweenness_centrality_subset(
            graph, inside.tolist(), outside.tolist(), weight="weight"
        )
        out += [found[i] for i in range(len(group))]
    sizes = np.bincount(group, minlength=n_groups)
    left = sizes[None, :] - (group[:, None] == np.arange(n_groups))  # without the variable itself
    pairs = (left.sum(axis=1) ** 2 - (left**2).sum(axis=1)) / 2
    shares: Floats = np.divide(out, pairs, out=np.zeros_like(out), where=pairs > 0)
    return shares


def summed(n: int, edges: Ints, values: Floats) -> Floats:
    """Return the sum of the values of each variable's edges, shape (n,)."""
    found = np.bincount(edges.ravel(), weights=np.repeat(values, 2), minlength=n)
    return found.astype(np.float64)


def influence(n: int, edges: Ints, correlations: Floats) -> Floats:
    """Return the sum of the correlations of each variable's edges, those without one left out.

    NaN for variables that have edges, but none with a correlation.
    """
    known = ~np.isnan(correlations)
    found = summed(n, edges[known], correlations[known])
    unknown, there = summed(n, edges, 1.0 - known), summed(n, edges, 1.0 * known)
    found[(unknown > 0) & (there == 0)] = np.nan
    return found


def _distances(n: int, edges: Ints, strengths: Floats) -> Any:
    """Return the graph in which an edge of strength s is 1/s long."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(
        (i, j, 1.0 / s)
        for (i, j), s in zip(edges.tolist(), strengths.tolist(), strict=True)
        if s > 0
    )
    return graph
