"""What the page shows of a comparison of groups: their networks, and where they differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graftwork.errors import DataError
from graftwork.models import PairwiseMRF
from graftwork.report.edges import Tested
from graftwork.report.explorer.networks import (
    model_view,
    network_model,
    places_of,
    state_texts,
    view_of,
)
from graftwork.report.explorer.packing import Record, column


def comparison_view(
    found: Mapping[str, Any],
    models: Sequence[PairwiseMRF],
    tests: Sequence[Tested],
    title: str,
) -> Record:
    """Return what the page shows of a comparison: the differences, then each group's network.

    Parameters
    ----------
    found : mapping
        As `graftwork.report.groups.groups_dict` returns it, and groups.json holds it.
    models : sequence of PairwiseMRF
        The network of each group, of the same variables.
    tests : sequence of mappings
        p- and q-values of each network's edges.
    """
    names = models[0].names
    labels = [str(group["group"]) for group in found["groups"]]
    differences, strengths = _differences(found, labels, [str(name) for name in names])
    pairs = differences["ends"]
    if any(model.states != models[0].states for model in models):
        raise DataError("the networks of the groups differ in their variables or states.")
    views = [
        model_view("Differences", pairs, differences["columns"])
        | {"groups": list(range(1, len(models) + 1))}
    ]
    views += [
        network_model(model, own, label=label)
        for model, own, label in zip(models, tests, labels, strict=True)
    ]
    return view_of(
        title,
        names,
        state_texts(models[0]),
        places_of(len(names), pairs, strengths),
        views,
        words=[found["words"]],
    )


def _differences(
    found: Mapping[str, Any], labels: Sequence[str], names: Sequence[str]
) -> tuple[dict[str, Any], Any]:
    """Return the pairs tested with their columns, and their mean strengths."""
    records, place = found["edges"], {name: i for i, name in enumerate(names)}
    ends = [sorted((place[str(r["first"])], place[str(r["second"])])) for r in records]
    each = np.array(
        [[_number(r[f"strength_{label}"]) for label in labels] for r in records]
    ).reshape(-1, len(labels))
    columns = [
        column("q_value", "q", _values(records, "q_value"),
               "Of the test that all groups have the same table, corrected for all pairs tested."),
        column("p_value", "p", _values(records, "p_value"),
               "Of the test that all groups have the same table."),
    ]  # fmt: skip
    if records and "difference" in records[0]:
        columns.append(
            column("difference", "Difference", _values(records, "difference"),
                   f"The strength in {labels[0]} less that in {labels[1]}.")
        )  # fmt: skip
    for g, label in enumerate(labels):
        columns.append(
            column(f"strength_{g}", f"Strength: {label}", each[:, g], f"Its strength in {label}.")
        )
        weights = _values(records, f"weight_{label}")
        if np.isfinite(weights).any():
            columns.append(
                column(f"weight_{g}", f"Weight: {label}", weights, f"Signed, in {label}.")
            )
    strengths = np.nan_to_num(each).mean(axis=1) if len(each) else np.zeros(0)
    columns.append(column("strength", "Strength", strengths, "The mean of the groups'."))
    columns.append(
        column("differs", "Differs", [float(r["differs"]) for r in records],
               f"At a false discovery rate of {found['fdr']:g}.")
    )  # fmt: skip
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    return {"ends": pairs, "columns": columns}, strengths


def _values(records: Sequence[Mapping[str, Any]], key: str) -> list[float]:
    return [_number(record.get(key)) for record in records]


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
