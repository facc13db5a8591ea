"""What the page shows of a comparison of groups: their networks, and where they differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graftwork.errors import DataError
from graftwork.models import PairwiseMRF
from graftwork.models.graphs import sizes_in
from graftwork.report.edges import Tested
from graftwork.report.explorer.networks import (
    model_view,
    network_model,
    places_of,
    state_texts,
    view_of,
)
from graftwork.report.explorer.packing import Record, column
from graftwork.text import count, verb

_FITTED = (
    "Numbers under Differences may differ from those of a group's own network. To be compared, the "
    "same pairs, all that are an edge of any group's network or of the network of all rows, are "
    "fitted together in each group, without the sparsity penalty; a group's own network has its "
    "own edges only."
)


def comparison_view(
    found: Mapping[str, Any],
    models: Sequence[PairwiseMRF],
    tests: Sequence[Tested],
    title: str,
) -> Record:
    """Return what the page shows of a comparison: the differences, then each group's network."""
    names = models[0].names
    labels = [str(group["group"]) for group in found["groups"]]
    if any(model.states != models[0].states for model in models):
        raise DataError("the networks of the groups differ in their variables or states.")
    differences, strengths = _differences(found, labels, models)
    pairs = differences["ends"]
    views = [
        model_view("Differences", pairs, differences["columns"])
        | {"groups": list(range(1, len(models) + 1)), "noun": "pair", "tests": _tests(found)}
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
        words=[found["words"], _FITTED],
    )


def _differences(
    found: Mapping[str, Any], labels: Sequence[str], models: Sequence[PairwiseMRF]
) -> tuple[dict[str, Any], Any]:
    """Return the pairs tested with their columns, and their mean strengths."""
    place = {str(name): i for i, name in enumerate(models[0].names)}
    records = found["edges"]
    ends = [sorted((place[str(r["first"])], place[str(r["second"])])) for r in records]
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    sizes = [sizes_in(model, pairs) for model in models]
    each, signs = (np.array(own) for own in zip(*sizes, strict=True))
    columns = [
        column("q_value", "q", _values(records, "q_value"),
               "Of the test that all groups have the same table, corrected for all pairs tested."),
        column("p_value", "p", _values(records, "p_value"),
               "Of the test that all groups have the same table."),
    ]  # fmt: skip
    weights = np.array([_values(records, f"weight_{label}") for label in labels]).T
    weights = weights.reshape(-1, len(labels))
    signed = np.isfinite(weights).all(axis=1)
    columns += _apart(records, labels, signed)
    if signed.any():
        columns += [
            column(f"weight_{g}", f"Weight: {label}", weights[:, g], f"Signed, in {label}.")
            for g, label in enumerate(labels)
        ]
    columns += [
        column(
            f"norm_{g}",
            f"Norm: {label}",
            _values(records, f"norm_{label}"),
            f"Of its table in {label}, less what noise adds.",
        )
        for g, label in enumerate(labels)
    ]
    if signed.any():
        columns.append(
            column("weight", "Weight: mean", weights.mean(axis=1),
                   "The mean of the groups' signed weights.")
        )  # fmt: skip
    columns.append(
        column("change", "Change", _changes(found),
               "The norm of the difference of its tables, the largest of two groups; lines are as "
               "wide.")
    )  # fmt: skip
    strengths = each.mean(axis=0)
    columns.append(
        column("strength", "Strength: mean", strengths,
               "Of the groups' own networks, 0 where one lacks the edge.")
    )  # fmt: skip
    known = np.isfinite(signs)
    if known.any():
        total, count = np.nansum(signs, axis=0), known.sum(axis=0)
        mean = np.divide(total, count, out=np.full(len(total), math.nan), where=count > 0)
        columns.append(
            column("correlation", "Correlation: mean", mean,
                   "Of the groups' own networks that have the edge; lines show its sign.")
        )  # fmt: skip
    columns.append(
        column("differs", "Differs", [float(r["differs"]) for r in records],
               f"At a false discovery rate of {found['fdr']:g}.")
    )  # fmt: skip
    return {"ends": pairs, "columns": columns}, strengths


def _changes(found: Mapping[str, Any]) -> list[float]:
    """Return how far any two groups are apart in each pair tested."""
    largest: dict[tuple[str, str], float] = {}
    for record in found["differences"]:
        pair = (str(record["first"]), str(record["second"]))
        largest[pair] = max(largest.get(pair, 0.0), _number(record["change"]))
    return [largest.get((str(r["first"]), str(r["second"])), 0.0) for r in found["edges"]]


def _tests(found: Mapping[str, Any]) -> list[Record]:
    """Return the three tests of a comparison, for the table that the page begins with."""
    records, permuted = found["edges"], found.get("permutations") or {}
    if not records:
        return []
    all_pairs, sums = found["network_invariance"], found["global_strength_invariance"]
    differ = sum(bool(record["differs"]) for record in records)
    listed = ", ".join(f"{g['group']} {g['global_strength']:.3g}" for g in found["groups"])
    return [
        {
            "about": "All pairs together",
            "p": all_pairs["p_value"],
            "permuted": permuted.get("network_invariance"),
            "finding": "networks differ" if _found(all_pairs, found["fdr"]) else "no difference",
        },
        {
            "about": "Sums of norms",
            "p": sums["p_value"],
            "permuted": permuted.get("global_strength_invariance"),
            "finding": f"sums {'differ' if _found(sums, 0.05) else 'do not differ'}: {listed}",
        },
        {
            "about": "Single pairs",
            "p": None,
            "permuted": None,
            "finding": f"{differ:,} of {count(len(records), 'pair')} "
            f"{verb(differ, 'differs', 'differ')}"
            f" at a false discovery rate of {found['fdr']:g}",
        },
    ]


def _found(test: Mapping[str, Any], level: float) -> bool:
    return test["p_value"] is not None and test["p_value"] <= level


def _apart(
    records: Sequence[Mapping[str, Any]], labels: Sequence[str], signed: Any
) -> list[Record]:
    """Return how far two groups are apart in what was tested: weights if a pair has them."""
    if len(labels) != 2:
        return []
    first, second = labels
    out = []
    if signed.any():
        out.append(
            column("weight_difference", "Difference", _values(records, "weight_difference"),
                   f"The signed weight in {first} less that in {second}, which the test is about.")
        )  # fmt: skip
    if not signed.all():
        norms = np.where(signed, math.nan, _values(records, "difference"))
        label = "Difference of norms" if signed.any() else "Difference"
        about = f"The norm in {first} less that in {second}; the test is of whole tables."
        out.append(column("difference", label, norms, about))
    return out


def _values(records: Sequence[Mapping[str, Any]], key: str) -> list[float]:
    return [_number(record.get(key)) for record in records]


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
