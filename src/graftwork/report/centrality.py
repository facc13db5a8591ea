"""Centralities as a table in text and as a file, with what is not known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from graftwork.estimators.centrality import centrality_records, quick_paths
from graftwork.models import PairwiseMRF
from graftwork.report.trace import write_records
from graftwork.text import Column, aligned, count, decimals, section

Record = Mapping[str, Any]

_COLUMNS: tuple[Column, ...] = (
    ("variable", "variable", str),
    ("strength", "strength", decimals(2)),
    ("expected_influence", "exp. influence", decimals(2)),
    ("degree", "degree", decimals(0)),
    ("closeness", "closeness", decimals(2)),
    ("betweenness", "betweenness", decimals(2)),
    ("group", "group", lambda group: "-" if group is None else str(group)),
    ("bridge_strength", "bridge strength", decimals(2)),
    ("bridge_expected_influence", "br. exp. influence", decimals(2)),
    ("bridge_closeness", "br. closeness", decimals(2)),
    ("bridge_betweenness", "br. betweenness", decimals(2)),
)


def centrality_text(model: PairwiseMRF, groups: Mapping[Any, Any] | None = None) -> str:
    """Return the centralities of a network as a table in text, the strongest variable first.

    Examples
    --------
    >>> alike = [[1.0, 0.0], [0.0, 1.0]]
    >>> print(centrality_text(PairwiseMRF({"a": [0, 1], "b": [0, 1]}, None, {("a", "b"): alike})))
    Centrality
      variable  strength  exp. influence  degree  closeness  betweenness
      a             0.46            0.46       1       0.46         0.00
      b             0.46            0.46       1       0.46         0.00
    ...
    """
    records = centrality_records(model, groups, paths=quick_paths(model))
    ranked = sorted(records, key=lambda record: -record["strength"])
    return f"Centrality\n{aligned(ranked, _COLUMNS)}\n\n{section('Note', _notes(model, records))}"


def _notes(model: PairwiseMRF, records: Sequence[Record]) -> str:
    """Return what is not known of centralities, in sentences."""
    parts = []
    unsigned = int(np.isnan(model.correlations).sum())
    if unsigned:
        parts.append(
            f"Expected influence leaves out {count(unsigned, 'edge')} without a sign: only edges "
            "between binary or ordered variables have one."
        )
    if any(np.isnan(record["closeness"]) for record in records):
        parts.append(
            "Closeness and betweenness are left out: in so large a network they take long "
            "(net.centrality() computes them)."
        )
    parts.append(
        "A bootstrap shows whether the order of variables can be trusted (graftwork bootstrap)."
    )
    return " ".join(parts)


def write_centrality(path: str | PathLike[str], model: PairwiseMRF) -> None:
    """Write the centralities of a network as CSV, and return None; what is unknown stays empty.

    Closeness and betweenness are left out of networks so large that they take long.
    """
    write_records(path, centrality_records(model, paths=quick_paths(model)))
