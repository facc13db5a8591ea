"""GEXF, as networkx writes it."""

from __future__ import annotations

import io
from pathlib import Path

from graftwork.data.atomic import replacing
from graftwork.exchange.format import Content, Format, Written
from graftwork.exchange.graphs import losses, text_graph


def gexf() -> Format:
    """Return GEXF, for Gephi: edges with all numbers."""
    return Format(write=_write)


def _write(path: Path, content: Content) -> Written:
    import networkx as nx

    page = io.BytesIO()
    nx.write_gexf(text_graph(content), page)
    with replacing(path) as file:
        file.write(page.getvalue())
    return Written(lost=losses(content))
