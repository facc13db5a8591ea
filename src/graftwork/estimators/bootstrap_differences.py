"""Differences between edges, or between variables' centralities, by what resamples say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graftwork.errors import DataError
from graftwork.inference.layout import Floats
from graftwork.models.graphs import MEASURES

if TYPE_CHECKING:
    from graftwork.estimators.bootstrap import Bootstrap

#: What is known of each difference.
DIFFERENCES = ("first", "second", "difference", "low", "high", "differs")
#: What may be compared.
COMPARED = ("edges", *MEASURES)


def compared_values(boot: Bootstrap, of: str) -> tuple[list[Any], Floats, Floats]:
    """Return what is compared, the values in the network, and those in the resamples.

    Edges by their signed weights if all have one, else by their strengths. Where tests chose them
    they are fitted in every resample; otherwise an edge that a resample lacks counts as 0.
    """
    if of not in COMPARED:
        raise DataError(f"of={of!r} is nothing to compare; use one of {', '.join(COMPARED)}.")
    if of != "edges":
        m = MEASURES.index(of)
        known = ~np.isnan(boot.centrality[m])
        names = [name for name, own in zip(boot.names, known.tolist(), strict=True) if own]
        return names, boot.centrality[m, known], boot.centrality_draws[:, m, known]
    own = ~np.isnan(boot.strengths)
    sizes, draws, refits = boot.strengths, boot.draws, boot.refits
    signed = boot.weights is not None and not np.isnan(boot.weights[own]).any()
    if signed and boot.weight_draws is not None and boot.weight_refits is not None:
        assert boot.weights is not None
        sizes, draws, refits = boot.weights, boot.weight_draws, boot.weight_refits
    drawn = np.where(np.isnan(refits), np.nan_to_num(draws), refits)
    edges = [(boot.names[i], boot.names[j]) for i, j in boot.pairs[own].tolist()]
    return edges, sizes[own], drawn[:, own]


def all_differences(
    boot: Bootstrap, of: str, ends: tuple[float, float]
) -> tuple[list[Any], Floats, Floats, Floats]:
    """Return what is compared, largest first, the values, and quantiles of all differences.

    The quantiles of the first less the second are matrices, shape (values, values).
    """
    listed, values, draws = compared_values(boot, of)
    order = np.argsort(-values, kind="stable")
    values, draws = values[order], draws[:, order]
    low, high = np.full((2, len(values), len(values)), np.nan)
    for k in range(len(values)):
        away = draws[:, k : k + 1] - draws
        away = away[~np.isnan(away).any(axis=1)]
        if len(away):
            low[k], high[k] = np.quantile(away, ends, axis=0)
    return [listed[k] for k in order.tolist()], values, low, high


def difference_records(boot: Bootstrap, of: str, ends: tuple[float, float]) -> list[dict[str, Any]]:
    """Return a record for each two that are compared, the larger first."""
    listed, values, low, high = all_differences(boot, of, ends)
    return [
        {
            "first": listed[i],
            "second": listed[j],
            "difference": float(values[i] - values[j]),
            "low": float(low[i, j]),
            "high": float(high[i, j]),
            "differs": bool(low[i, j] > 0 or high[i, j] < 0),
        }
        for i in range(len(listed))
        for j in range(i + 1, len(listed))
    ]
