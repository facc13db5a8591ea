"""Rows that come in parts, as learners are given them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graftwork.data.placed import PlacedTable
from graftwork.data.placing import placed
from graftwork.errors import ParameterError
from graftwork.estimators.spec import FitSpec


@contextmanager
def in_parts(spec: FitSpec, X: Any, weights: Any = None) -> Iterator[PlacedTable]:
    """Yield rows that come in parts, read as a specification says; scratch files go at the end."""
    if weights is not None and not isinstance(weights, str):
        raise ParameterError(
            "for rows read in parts, weights must be the name of a column: "
            "gw.scan(..., weights='n')."
        )

    def tell(rows: int, total: int | None) -> None:
        spec.observer.on_stage("reading rows", max(rows - 1, 0), max(rows, total or 0))

    how = "error" if spec.missing == "error" else "state"
    options = {"states": spec.states, "weights": weights, "missing": how, "bins": spec.bins}
    with placed(X, **options, n_jobs=spec.n_jobs, progress=tell) as table:
        yield table
