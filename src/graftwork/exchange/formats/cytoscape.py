"""Cytoscape JSON (.cyjs), which Cytoscape, cytoscape.js and networkx read."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from graftwork.data.atomic import write_lines
from graftwork.exchange.format import Content, Format, Written
from graftwork.exchange.graphs import losses, node_texts, sign
from graftwork.models.graphs import EDGE_NUMBERS, states_text
from graftwork.version import __version__


def cytoscape() -> Format:
    """Return Cytoscape JSON, for Cytoscape and cytoscape.js: edges with all numbers."""
    return Format(write=_write)


def _write(path: Path, content: Content) -> Written:
    name = path.stem
    page = {
        "format_version": "1.0",
        "generated_by": f"graftwork-{__version__}",
        "target_cytoscapejs_version": "~2.1",
        "data": {"name": name, "shared_name": name},
        "directed": False,
        "multigraph": False,
        "elements": _elements(content),
    }
    write_lines(path, [json.dumps(page, indent=1, ensure_ascii=False, allow_nan=False), "\n"])
    return Written(lost=losses(content))


def _elements(content: Content) -> dict[str, list[Any]]:
    states = content.network.states
    texts = dict(zip(states, node_texts(list(states)), strict=True))
    # "value" is what networkx takes for the node.
    nodes = [
        {
            "id": text,
            "name": text,
            "shared_name": text,
            "value": text,
            "states": states_text(states[name]),
        }
        for name, text in texts.items()
    ]
    edges = []
    for place, edge in enumerate(content.edges):
        a, b = texts[edge["first"]], texts[edge["second"]]
        called = {"name": f"{a} (with) {b}", "interaction": "with"}
        numbers = {key: edge[key] for key in EDGE_NUMBERS if math.isfinite(edge[key])}
        signed = {"sign": sign(edge)} if sign(edge) else {}
        ends = {"id": f"edge {place + 1}", "source": a, "target": b}
        edges.append(ends | called | numbers | signed)
    return {
        "nodes": [{"data": data} for data in nodes],
        "edges": [{"data": data} for data in edges],
    }
