"""The edges of a learned network by name, with the tests that speak for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graftwork.inference.layout import Floats
from graftwork.models import PairwiseMRF
from graftwork.models.graphs import EDGE_NUMBERS, INTERVAL, KEPT, TESTS, sizes_of
from graftwork.records import Record
from graftwork.records import Records as Records
from graftwork.records import as_frame as as_frame
from graftwork.significance import Evidence
from graftwork.significance.resampled import equivalent
from graftwork.significance.selected import (
    interval_of_shown,
    least_shown,
    needed_statistics,
    shrunk,
)

COLUMNS = ("first", "second", *EDGE_NUMBERS)
NEAR_COLUMNS = ("first", "second", *TESTS)


def edge_records(
    model: PairwiseMRF,
    names: Sequence[Any],
    evidence: Evidence | None,
    frequency: Callable[[Any, Any], float] | None = None,
) -> list[Record]:
    """Return a record for each edge: the surest first, of equally sure ones the strongest.

    Without tests the p-values are NaN, and the strongest edge comes first.
    """
    found = {} if evidence is None else _by_name(model, names, evidence)
    columns, records = sizes_of(model), []
    for place, (first, second) in enumerate(model.edges):
        test = found.get((first, second), found.get((second, first), _UNTESTED))
        sizes = {name: column[place] for name, column in columns.items()}
        if np.isnan(sizes["weight"]):
            test = test | dict.fromkeys(INTERVAL, float("nan"))
        records.append({"first": first, "second": second} | sizes | test)
    records.sort(key=lambda r: (r["log_p"], -r["strength"]))
    told = [{name: record[name] for name in COLUMNS} for record in records]
    if frequency is None:
        return told
    return [each | {"frequency": frequency(each["first"], each["second"])} for each in told]


def tests_in_order(
    model: PairwiseMRF, names: Sequence[Any], evidence: Evidence | None
) -> list[list[float | None]] | None:
    """Return the tests of the edges, as model files keep them; None without tests.

    In the order of the model's edges, of each p-value, q-value, statistic, degrees of freedom, and
    standard error and interval of the weight; None in place of a number that is not finite.
    """
    if evidence is None:
        return None
    found = _by_name(model, names, evidence)
    tests = [found.get((a, b), found.get((b, a), _UNTESTED)) for a, b in model.edges]
    if _UNTESTED in tests:
        return None
    numbers = [[test[name] for name in KEPT] for test in tests]
    return [[x if math.isfinite(x) else None for x in test] for test in numbers]


@dataclass(frozen=True, slots=True, eq=False)
class ShownWeights:
    """The linear parts of tested edges, which are shown because they were large enough."""

    weights: Floats  # weights, errors: (edges,): in the order of the evidence, with standard errors
    errors: Floats
    limits: Floats  # (edges,): the size that each needed to be shown (see `least_shown`)

    @property
    def excess(self) -> float:
        """How much too large they are together, as a share; NaN where nothing is known."""
        sizes = np.abs(self.weights)
        known = np.isfinite(sizes) & np.isfinite(self.errors)
        likely = shrunk(sizes[known], self.errors[known], self.limits[known]).sum()
        return float(sizes[known].sum() / likely - 1.0) if likely > 0.0 else float("nan")


def shown_weights(model: PairwiseMRF, names: Sequence[Any], evidence: Evidence) -> ShownWeights:
    """Return the linear parts of the tested edges of a network, with errors and limits."""
    edges, log_q = evidence.edges, evidence.edge_log_q
    slopes, norms = model.weights.tolist(), model.score_norms.tolist()
    sizes = dict(zip(map(frozenset, model.edges), zip(slopes, norms, strict=True), strict=True))
    nothing = float("nan"), float("nan")
    listed = [sizes.get(frozenset((names[i], names[j])), nothing) for i, j in edges.pairs.tolist()]
    weights, norm = np.array(listed).reshape(-1, 2).T
    errors = np.full(len(weights), np.nan)
    if evidence.errors is not None:
        errors = evidence.errors / norm
    kept = int(np.count_nonzero(log_q <= np.log(evidence.level) + 1e-9))
    needed = needed_statistics(
        np.log(evidence.level * max(kept, 1) / max(evidence.family, 1)), edges.degrees
    )
    return ShownWeights(weights, errors, least_shown(weights, errors, equivalent(edges), needed))


def near_records(names: Sequence[Any], evidence: Evidence | None, count: int) -> list[Record]:
    """Return the pairs that came closest to being edges, the closest first."""
    if evidence is None:
        return []
    others = evidence.others
    order = np.argsort(others.log_p, kind="stable")[:count]
    q = np.exp(evidence.other_log_q[order])
    statistics = equivalent(others)
    return [
        {
            "first": names[others.pairs[k, 0]],
            "second": names[others.pairs[k, 1]],
            "p_value": float(np.exp(others.log_p[k])),
            "q_value": float(q[place]),
            "statistic": float(statistics[k]),
            "df": float(others.degrees[k]),
        }
        for place, k in enumerate(order.tolist())
    ]


_UNTESTED = {
    "p_value": float("nan"),
    "q_value": float("nan"),
    "statistic": float("nan"),
    "df": float("nan"),
    **dict.fromkeys(INTERVAL, float("nan")),
    "log_p": 0.0,
}


def _by_name(
    model: PairwiseMRF, names: Sequence[Any], evidence: Evidence
) -> dict[tuple[Any, Any], Record]:
    edges, q = evidence.edges, np.exp(evidence.edge_log_q)
    statistics = equivalent(edges)
    sizes = shown_weights(model, names, evidence)
    low, high = interval_of_shown(sizes.weights, sizes.errors, sizes.limits)
    return {
        (names[i], names[j]): {
            "p_value": float(np.exp(edges.log_p[k])),
            "q_value": float(q[k]),
            "statistic": float(statistics[k]),
            "df": float(edges.degrees[k]),
            "weight_se": float(sizes.errors[k]),
            "weight_low": float(low[k]),
            "weight_high": float(high[k]),
            "log_p": float(edges.log_p[k]),
        }
        for k, (i, j) in enumerate(edges.pairs.tolist())
    }
