"""GraphML, as networkx writes it."""

from __future__ import annotations

import io
from pathlib import Path

from graftwork.data.atomic import replacing
from graftwork.exchange.format import Content, Format, Written
from graftwork.exchange.graphs import losses, text_graph


def graphml() -> Format:
    """Return GraphML, for Gephi, Cytoscape, yEd, igraph, networkx: edges with all numbers."""
    return Format(write=_write)


def _write(path: Path, content: Content) -> Written:
    import networkx as nx

    page = io.BytesIO()
    nx.write_graphml_xml(text_graph(content), page, infer_numeric_types=True)
    with replacing(path) as file:
        file.write(page.getvalue())
    return Written(lost=losses(content))
