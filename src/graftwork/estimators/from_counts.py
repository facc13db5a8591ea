"""Counts in place of rows: what can be learned from them, and what they are prepared as."""

from __future__ import annotations

from typing import Any

import numpy as np

from graftwork.contingency import PairTables
from graftwork.contingency.encoding import prepare_counts
from graftwork.data.encode import are_whole
from graftwork.data.encoded import EncodedRows
from graftwork.data.missing import MISSING_STATE
from graftwork.data.oddities import order_remarks
from graftwork.data.placed import AnyTable
from graftwork.data.values import listing
from graftwork.errors import ParameterError
from graftwork.estimators.learned_from import LearnedFrom
from graftwork.estimators.missing import MissingCells
from graftwork.estimators.ordering import in_order
from graftwork.estimators.spec import FitSpec
from graftwork.selection.criteria.information import Ebic


def read_counts(
    spec: FitSpec, counts: PairTables, weights: Any = None
) -> tuple[AnyTable, EncodedRows, MissingCells, LearnedFrom]:
    """Return counts prepared for learning, and what is said of the rows behind them.

    Whatever needs rows is refused first.

    Examples
    --------
    >>> from graftwork.contingency import count_pairs
    >>> counts = count_pairs([["sun", "dry"], ["rain", "wet"]] * 50)
    >>> read_counts(FitSpec.of({"lam": 0.1, "loss": "likelihood"}), counts)[1].total_weight
    100.0
    """
    _refuse_rows(spec, weights)
    if spec.chooses and counts.weighted and not are_whole(np.concatenate(counts.state_counts)):
        raise ParameterError(
            "these counts are sums of sampling weights (not whole numbers), which do not say how "
            "many rows they are worth, as the choice of lambda must know; give a number for lam."
        )
    table = in_order(spec, counts.outline())
    ordered = counts.with_order(table.ordered)
    sample = prepare_counts(ordered, keep_all_states=bool(spec.unary), n_jobs=spec.n_jobs)
    remarks = ["Learned from counts of pairs of states: no rows were looked at."]
    lacking = [
        name
        for name, states, own in zip(counts.names, counts.states, counts.state_counts, strict=True)
        if MISSING_STATE in states and own[states.index(MISSING_STATE)] > 0
    ]
    if lacking:
        remarks.append(f"Missing is a state of its own, {MISSING_STATE}, of {listing(lacking, 5)}.")
    if spec.ordinal is None and spec.ordered:
        remarks += order_remarks(table)
    data = LearnedFrom(
        counts.names,
        counts.states,
        counts.state_counts,
        counts.n_rows,
        counts.weighted,
        counts.total_weight,
        counts.total_weight,
        tuple(remarks),
    )
    missing = MissingCells("state" if lacking else "error", 0, 0, counts.n_rows)
    return table, sample, missing, data


def _refuse_rows(spec: FitSpec, weights: Any) -> None:
    """Refuse what cannot be done without rows."""
    if weights is not None:
        raise ParameterError(
            "sample_weight is for rows; counts are sums of weights already. Leave it out."
        )
    if spec.loss != "likelihood":
        raise ParameterError(
            f"loss={spec.loss!r} needs rows, and counts of pairs hold none; use loss='likelihood', "
            "with a number for lam, with criterion='ebic', or with method='chow-liu'."
        )
    if spec.chooses and not isinstance(spec.criterion, Ebic):
        raise ParameterError(
            "counts of pairs hold no rows to test edges with or to hold out, as lam='auto' does "
            "here; give a number for lam, or use criterion='ebic'."
        )
    if spec.missing not in ("error", "state"):
        raise ParameterError(
            f"missing={spec.missing!r} needs rows, and counts of pairs hold none; say what missing "
            "cells are when rows are counted, and leave missing out here."
        )
    for name, value in (("states", spec.states), ("bins", spec.bins)):
        if value is not None:
            raise ParameterError(
                f"{name}={value!r} is for rows; give {name} to count_pairs, and leave it out here."
            )
