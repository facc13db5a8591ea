"""The score of rows that come in parts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graftwork.data.columns import level_of_caller, missing_cells_error, to_states
from graftwork.data.encode import Coded
from graftwork.data.missing import MISSING_STATE, missing_cells
from graftwork.data.placed import PlacedTable
from graftwork.data.placing import placed
from graftwork.data.scanning import Scan, StoredTable, scan
from graftwork.data.table import Table
from graftwork.errors import DataError, DataWarning
from graftwork.models.gaps import REMEDY

if TYPE_CHECKING:
    from graftwork.models.pairwise import PairwiseMRF


def score_parts(
    model: PairwiseMRF,
    X: Any,
    weights: Any = None,
    missing: str | None = None,
    n_jobs: int | None = 1,
    owner: str = "model",
) -> float:
    """Return the mean log pseudo-likelihood of a row, as `PairwiseMRF.score` does."""
    how = model.scoring(missing)
    with placed(
        _columns_of(X, model.names), weights=weights, missing="state", n_jobs=n_jobs
    ) as table:
        _check_states(table, model, how)
        total, weight, left_out = table.over_tables(_score, model, how, n_jobs, owner)
        rows = table.n_rows
    if not weight > 0:
        raise DataError("no row is left to score: every one has a missing cell, or no weight.")
    if left_out:
        warnings.warn(
            f"{left_out:,} of {rows:,} rows were left out of the score because cells are missing.",
            DataWarning,
            stacklevel=level_of_caller(),
        )
    return float(total / weight)


def _columns_of(X: Any, names: Sequence[Any]) -> Any:
    """Return rows without the columns that a network does not have, where nothing was chosen."""
    if not isinstance(X, Scan):
        if isinstance(X, StoredTable | PlacedTable):
            return X
        X = scan(X)
    listed = X.source.names()
    if listed is None or X.options.columns is not None or X.options.drop is not None:
        return X
    wanted = [name for name in listed if name in names]
    return replace(X, options=replace(X.options, columns=wanted or None))


def _check_states(table: PlacedTable, model: PairwiseMRF, how: str) -> None:
    """Refuse states that a network does not have, and missing cells, with where they are."""
    gaps, first, listed = {}, "", model.states
    columns = zip(table.names, table.states, table.row_counts, table.first_seen, strict=False)
    for name, states, rows, where in columns:
        known = listed.get(name)
        if known is None:
            continue
        seen = [k for k in np.flatnonzero(rows).tolist() if states[k] != MISSING_STATE]
        found = Coded(np.arange(len(seen)), tuple(states[k] for k in seen))
        to_states(found, known, name, lambda k, at=where, own=seen: at[own[k]])  # type: ignore[misc]
        lacks = MISSING_STATE in states and MISSING_STATE not in known
        if how == "error" and lacks and rows[-1]:
            gaps[name], first = int(rows[-1]), first or where[-1]
    if gaps:
        raise missing_cells_error(gaps, table.n_rows, first, REMEDY)


def _score(
    table: Table, model: PairwiseMRF, how: str, n_jobs: int | None, owner: str
) -> tuple[float, float, int]:
    """Return the sum of the scores of rows, their weight, and how many were left out."""
    left_out = 0
    if how == "drop-rows":
        kept = ~missing_cells(table).any(axis=0)
        left_out = int((~kept).sum())
        if not kept.any():
            return 0.0, 0.0, left_out
        table = table.take_rows(kept)
    if table.weights is not None and not table.weights.any():
        return 0.0, 0.0, left_out
    rows = model.rows_to_score(table, how, owner=owner)
    values = model.log_conditionals(rows, n_jobs)
    weights = np.ones(len(values)) if rows.weights is None else rows.weights
    return float(weights @ values), float(weights.sum()), left_out
