"""What formats of graphs share: names as texts, edges with all their numbers and signs."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graftwork.errors import DataError
from graftwork.exchange.format import Content
from graftwork.models.graphs import EdgeRecord, graph_of
from graftwork.text import count, verb

if TYPE_CHECKING:
    import networkx as nx

# What XML 1.0 cannot hold, escaped or not.
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def node_texts(names: Sequence[Any]) -> list[str]:
    """Return names as texts, or refuse names that are one text.

    Examples
    --------
    >>> node_texts(["a", 1])
    ['a', '1']
    """
    texts = [str(name) for name in names]
    seen: dict[str, Any] = {}
    for name, text in zip(names, texts, strict=True):
        if text in seen:
            raise DataError(
                f"the variables {seen[text]!r} and {name!r} are the same text, and nodes are told "
                "apart by their texts; rename one."
            )
        seen[text] = name
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise DataError(f"{name!r} is not a text that a file can hold; rename it.")
    return texts


def text_graph(content: Content) -> nx.Graph:
    """Return the graph of a network, its nodes called by texts, its edges with signs.

    Characters that XML cannot hold are refused.
    """
    import networkx as nx

    graph = graph_of(content.network, content.edges)
    for edge in content.edges:
        data = graph.edges[edge["first"], edge["second"]]
        if sign(edge):
            data["sign"] = sign(edge)
    texts = dict(zip(content.network.names, node_texts(content.network.names), strict=True))
    for name, text in texts.items():
        if _NOT_IN_XML.search(text) or _NOT_IN_XML.search(graph.nodes[name]["states"]):
            raise DataError(
                f"the variable {name!r} has a name or a state with a character that XML cannot "
                "hold; rename it, or write Cytoscape JSON (.cyjs)."
            )
    return nx.relabel_nodes(graph, texts)


def sign(edge: EdgeRecord) -> int:
    """Return the sign of an edge's correlation; 0 where it has none."""
    signed = float(edge["correlation"])
    return (signed > 0) - (signed < 0)


def losses(content: Content) -> tuple[str, ...]:
    """Return what a graph does not hold of a network, in phrases."""
    infinite = sum(math.isinf(edge["weight"]) for edge in content.edges)
    lost = ["the tables of edges and the unaries of variables"]
    if infinite:
        which = f"{count(infinite, 'edge')} with impossible states"
        lost.append(f"the weight of {which}, which {verb(infinite)} infinite")
    return (*lost, *(["penalty and certificate"] if content.info else []))
