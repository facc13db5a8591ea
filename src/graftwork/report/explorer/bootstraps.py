"""What the page shows of a bootstrap: how often edges come back, intervals, stability."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graftwork.inference.layout import Floats
from graftwork.models import PairwiseMRF
from graftwork.report.explorer.networks import (
    COMMUNITY,
    Meanings,
    grouping,
    model_view,
    places_of,
    state_texts,
    view_of,
)
from graftwork.report.explorer.packing import Record, column

_OFTEN = "The share of resamples whose own network has the edge."
_LOW = "The lower end of the interval of its strength (95 %)."
_HIGH = "The upper end of the interval of its strength (95 %)."


def resampled_columns(found: Mapping[str, Any], pairs: Sequence[tuple[str, str]]) -> list[Record]:
    """Return columns of pairs: the edge's frequency in resamples, its strength's interval."""
    records = {frozenset((str(r["first"]), str(r["second"]))): r for r in found["edges"]}
    empty = {"frequency": 0.0 if found["resamples"] else None, "low": None, "high": None}
    own = [records.get(frozenset(pair), empty) for pair in pairs]
    return [
        column("frequency", "Resamples", [_number(r["frequency"]) for r in own], _OFTEN),
        column("low", "Low", [_number(r["low"]) for r in own], _LOW),
        column("high", "High", [_number(r["high"]) for r in own], _HIGH),
    ]


def variable_columns(found: Mapping[str, Any], names: Sequence[str]) -> list[Record]:
    """Return columns of variables: the interval of their strength, stability of communities."""
    central = {str(r["variable"]): r for r in found["centrality"] if r["measure"] == "strength"}
    kept = {str(r["variable"]): r["stability"] for r in found["communities"]}
    out = [
        column(
            f"strength_{end}", f"{end.capitalize()}",
            [_number(central.get(name, {}).get(end)) for name in names],
            f"The {word} end of the interval of the sum of its strengths (95 %).",
        )
        for end, word in (("low", "lower"), ("high", "upper"))
    ]  # fmt: skip
    if kept:
        out.append(
            column(
                "stability", "Stays", [_number(kept.get(name)) for name in names],
                "The share of resamples in which it is in its community.",
            )
        )  # fmt: skip
    return out


def bootstrap_view(
    found: Mapping[str, Any],
    names: Sequence[Any],
    model: PairwiseMRF | None,
    title: str,
    meanings: Meanings | None = None,
) -> Record:
    """Return what the page shows of a bootstrap: all pairs that are an edge anywhere."""
    named = [str(name) for name in names]
    place = {name: i for i, name in enumerate(named)}
    records = found["edges"]
    ends = [(str(r["first"]), str(r["second"])) for r in records]
    pairs = np.array([sorted((place[a], place[b])) for a, b in ends], dtype=np.int64).reshape(-1, 2)
    strengths = np.array([_number(r["strength"]) for r in records], dtype=np.float64)
    columns = [
        *resampled_columns(found, ends),
        column("strength", "Strength", strengths, "In the network of all rows; 0 without an edge."),
        column("edge", "In network", (strengths > 0).astype(float),
               "Whether the network of all rows has the edge; others are edges of resamples only."),
    ]  # fmt: skip
    if model is not None:
        weights = _weights(model, names, pairs)
        if np.isfinite(weights).any():
            columns.append(
                column("weight", "Weight", weights, "Signed, in the network of all rows.")
            )
    own = strengths > 0
    communities = {str(r["variable"]): r["community"] for r in found["communities"]}
    groups = [grouping(COMMUNITY, [communities.get(name) for name in named])] if communities else []
    return view_of(
        title,
        names,
        [[] for _ in names] if model is None else state_texts(model, meanings),
        places_of(len(named), pairs[own], strengths[own]),
        [model_view("Bootstrap", pairs, columns, model, names) | {"noun": "pair"}],
        groupings=groups,
        columns=variable_columns(found, named),
        words=[found["words"]],
    )


def _weights(model: PairwiseMRF, names: Sequence[Any], pairs: Any) -> Floats:
    """Return the signed weights of pairs; NaN where they are no edges or have none."""
    edges = {frozenset(edge) for edge in model.edges}
    listed = [(names[i], names[j]) for i, j in pairs.tolist()]
    known = [model.weight(a, b) if frozenset((a, b)) in edges else math.nan for a, b in listed]
    return np.array(known, dtype=np.float64)


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
