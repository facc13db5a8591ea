"""Lists of edges as CSV, for Gephi and for qgraph."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from graftwork.data.atomic import write_lines
from graftwork.exchange.format import Content, Format, Written
from graftwork.exchange.graphs import losses, node_texts, sign
from graftwork.models.graphs import EDGE_NUMBERS
from graftwork.text import count, guarded, verb


def gephi() -> Format:
    """Return a list of edges for Gephi: Source, Target, Type, Weight (strength), Sign, numbers."""
    return Format(write=_write_gephi)


def qgraph() -> Format:
    """Return a list of edges for R's qgraph: Source, Target, Weight (the signed correlation).

    Edges without a sign have their strength, on the same scale. It has no other columns, since
    qgraph refuses a list of edges with more than three.
    """
    return Format(write=_write_qgraph)


def _write_gephi(path: Path, content: Content) -> Written:
    numbers = [name for name in EDGE_NUMBERS if name != "strength"]
    texts = _texts(content)
    rows = (
        [texts[edge["first"]], texts[edge["second"]], "Undirected", edge["strength"],
         sign(edge) or "", *(_known(edge[name]) for name in numbers)]
        for edge in content.edges
    )  # fmt: skip
    # Gephi takes a column called weight, whatever its case, for Weight.
    titles = ["signed_weight" if name == "weight" else name for name in numbers]
    _write(path, ["Source", "Target", "Type", "Weight", "Sign", *titles], rows)
    return Written(lost=("names of states", *losses(content), *_lonely(content)))


def _write_qgraph(path: Path, content: Content) -> Written:
    texts = _texts(content)
    unsigned = sum(math.isnan(edge["correlation"]) for edge in content.edges)
    rows = (
        [texts[edge["first"]], texts[edge["second"]],
         edge["strength"] if math.isnan(edge["correlation"]) else edge["correlation"]]
        for edge in content.edges
    )  # fmt: skip
    _write(path, ["Source", "Target", "Weight"], rows)
    lost = ["p-values and other numbers", "names of states", *losses(content), *_lonely(content)]
    if unsigned:
        has = verb(unsigned, "has", "have")
        lost.append(
            f"a sign, which {count(unsigned, 'edge')} {has} not: their Weight is the strength, "
            "above 0"
        )
    return Written(lost=tuple(lost))


def _texts(content: Content) -> dict[Any, str]:
    names = content.network.names
    return dict(zip(names, node_texts(names), strict=True))


def _known(value: float) -> float | str:
    return value if math.isfinite(value) else ""


def _write(path: Path, titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    page = io.StringIO(newline="")
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows([guarded(cell) for cell in row] for row in rows)
    write_lines(path, [page.getvalue()])


def _lonely(content: Content) -> list[str]:
    """Return that variables without an edge are not in a list of edges, if there are any."""
    linked = {name for edge in content.network.edges for name in edge}
    n = content.network.n_variables - len(linked)
    return [f"{count(n, 'variable')} without an edge"] if n else []
