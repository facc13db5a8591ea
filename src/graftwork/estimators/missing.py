"""What becomes of missing cells when a network is learned."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graftwork.data import Table, as_table
from graftwork.data.columns import level_of_caller
from graftwork.data.encoded import EncodedRows
from graftwork.data.missing import (
    MISSING_STATE,
    Missing,
    complete_part,
    complete_rows,
    missing_cells,
    missing_last,
    recommend,
    rows_of_part,
)
from graftwork.data.placed import AnyTable, PlacedTable
from graftwork.data.values import listing
from graftwork.errors import DataError, DataWarning
from graftwork.estimators.imputing import copies_of_rows
from graftwork.estimators.ordering import check_ordinal, in_order
from graftwork.estimators.spec import FitSpec
from graftwork.inference.layout import Floats
from graftwork.parameters import MissingPolicy


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MissingCells:
    """What was missing in the rows a network was learned from, and what was done about it."""

    policy: str  # what `MarkovNetwork.missing` says
    # cells, rows, of_rows: how many cells were missing, in how many rows, and of how many rows
    cells: int
    rows: int
    of_rows: int
    # how often each of the model's states occurs among the observed cells of its variable: what a
    # missing neighbour counts as when rows are scored
    frequencies: tuple[Floats, ...] = ()
    # whether states were drawn in place of missing cells; not so after an early interrupt
    drawn: bool = False
    draws: int = 0  # over how many draws of their states the network's weights are averaged
    # the share of the information about an edge that is missing, compared with that if the drawn
    # cells were observed: the median edge's
    lost: float | None = None

    def __repr__(self) -> str:
        return (
            f"MissingCells(policy={self.policy!r}, cells={self.cells}, rows={self.rows}, "
            f"of_rows={self.of_rows}, drawn={self.drawn})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for files."""
        names = ("policy", "cells", "rows", "of_rows")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Advice:
    """What is recommended about missing cells that nothing was said about."""

    policy: MissingPolicy  # policy, why: what `MarkovNetwork.missing` may say, and a clause
    why: str
    found: MissingCells


def recommended(table: AnyTable, loss: str) -> Advice | None:
    """Return what is recommended about the missing cells of a table; None if there are none."""
    each = [
        int(counts[listed.index(MISSING_STATE)]) if MISSING_STATE in listed else 0
        for counts, listed in zip(table.row_counts, table.states, strict=True)
    ]
    if not any(each):
        return None
    policy, why = recommend(dict(zip(table.names, each, strict=True)), table.n_rows)
    if policy == "available-case" and loss == "likelihood":
        policy, why = "impute", "since the likelihood needs complete rows"
    return Advice(policy, why, _found("error", table))


def _found(policy: str, table: AnyTable) -> MissingCells:
    """Return what is missing."""
    if isinstance(table, PlacedTable):
        return MissingCells(policy, *table.count_missing(), table.n_rows)
    gone = missing_cells(table)
    rows = int(np.count_nonzero(gone.any(axis=0)))
    return MissingCells(policy, int(np.count_nonzero(gone)), rows, gone.shape[1])


def read_rows(spec: FitSpec, X: Any, weights: Any) -> tuple[AnyTable, MissingCells]:
    """Return the rows to learn from, and what was missing in them."""
    table, found = read_cells(spec, X, weights)
    change = _CHANGES.get(spec.missing)
    if change is not None and isinstance(table, PlacedTable):
        table = _changed_parts(table, spec.missing, change, found)
    elif change is not None:
        assert isinstance(table, Table)
        table = change(table)
    if spec.missing == "drop-rows" and found.rows:
        warnings.warn(
            f"{found.rows:,} of {found.of_rows:,} rows were left out: they lack "
            f"{found.cells:,} cell{'s'[: found.cells != 1]}.",
            DataWarning,
            stacklevel=level_of_caller(),
        )
    return table, found


def _copied(table: Table) -> Table:
    return copies_of_rows(missing_last(table))


def _copied_without_empty(table: Table) -> Table:
    empty = missing_cells(table).all(axis=0)  # nothing is known about what to draw there
    return _copied(table if empty.all() or not empty.any() else table.take_rows(~empty))


#: What becomes of rows before anything is learned from them.
_CHANGES: dict[str, Callable[[Table], Table]] = {
    "drop-rows": complete_rows,
    "available-case": _copied,
    "impute": _copied_without_empty,
}


def _changed_parts(
    table: PlacedTable, policy: str, change: Callable[[Table], Table], found: MissingCells
) -> PlacedTable:
    """Return rows in parts, changed as those in memory are."""
    if not found.cells:
        return table
    if policy == "drop-rows":
        left = [tuple(s for s in listed if s != MISSING_STATE) for listed in table.states]
        changed = table.changed(complete_part, left)
        if not changed.total_weight > 0:
            change(table.engine.total(table.handles[:1], _itself))  # refuses in one sentence
        return changed
    if policy == "available-case" and not table.weighted:
        return table
    return table.changed(_copied_part if policy == "available-case" else _known_part)


def _known_part(table: Table) -> Table:
    """Return the rows of a part that have any cell, those that count for many in copies."""
    return copies_of_rows(rows_of_part(table, ~missing_cells(table).all(axis=0)))


def _copied_part(table: Table) -> Table:
    return copies_of_rows(table)


def _itself(table: Table) -> Table:
    return table


def read_cells(spec: FitSpec, X: Any, weights: Any) -> tuple[AnyTable, MissingCells]:
    """Return all rows, missing cells in a state of their own, and what is missing in them."""
    table: AnyTable = X
    if not isinstance(X, PlacedTable):
        how: Missing = "error" if spec.missing == "error" else "state"
        try:
            table = as_table(X, states=spec.states, weights=weights, missing=how, bins=spec.bins)
        except DataError:
            whole = as_far_as_readable(X) if spec.ordered else None
            if whole is not None:  # wrong names are quicker to mend than cells
                check_ordinal(spec.ordinal, whole.names)
            raise
    table = in_order(spec, table)
    if spec.missing == "state":
        _warn_of_lost_order(table)
    return table, _found(spec.missing, table)


def as_far_as_readable(X: Any) -> Table | None:
    """Return the table of rows that were refused, if only for missing cells; else None.

    Examples
    --------
    >>> as_far_as_readable([["x", None]]).names
    ('x0', 'x1')
    """
    with warnings.catch_warnings(action="ignore"):
        try:
            return as_table(X, missing="state")
        except DataError:
            return None


def _warn_of_lost_order(table: AnyTable) -> None:
    """Warn of columns said to be ordered in which missing is a state, without a place there."""
    order = table.ordered
    known = () if order is None else set(order.scores) - set(order.taken or ())
    columns = zip(table.names, table.states, table.row_counts, strict=True)
    lost = [
        name
        for name, listed, counts in columns
        if name in known and MISSING_STATE in listed and counts[listed.index(MISSING_STATE)]
    ]
    if lost:
        warnings.warn(
            f"missing='state' gives {listing(lost)} a state without a place in the order, so "
            f"{'it is' if len(lost) == 1 else 'they are'} not taken as ordered; use "
            "missing='available-case' to keep the order.",
            DataWarning,
            stacklevel=level_of_caller(),
        )


def read_rows_to_draw(spec: FitSpec, X: Any, weights: Any, *, warn: bool) -> Table:
    """Return the rows that resamples are drawn from, missing cells in a state of their own.

    Rows to drop are dropped here, so that resamples lack none; with a warning, if asked for.
    """
    if spec.missing == "drop-rows" and warn:
        table, _ = read_rows(spec, X, weights)
        assert isinstance(table, Table)
        return table
    table, _ = read_cells(spec, X, weights)
    assert isinstance(table, Table)
    return complete_rows(table) if spec.missing == "drop-rows" else table


def frequencies_of(sample: EncodedRows) -> tuple[Floats, ...]:
    """Return the frequencies of all declared states of each variable."""
    parts = np.split(sample.frequencies, np.cumsum(sample.cards)[:-1])
    out = []
    for declared, kept, part in zip(sample.declared, sample.kept, parts, strict=True):
        each = np.zeros(int(declared))
        each[kept] = part
        out.append(each)
    return tuple(out)
