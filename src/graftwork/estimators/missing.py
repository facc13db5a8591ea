"""What becomes of missing cells when a network is learned."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from graftwork.data import Table, as_table
from graftwork.data.columns import level_of_caller
from graftwork.data.encoded import EncodedRows
from graftwork.data.missing import (
    Missing,
    complete_rows,
    missing_cells,
    missing_last,
    recommend,
)
from graftwork.data.values import listing
from graftwork.errors import DataWarning
from graftwork.estimators.imputing import copies_of_rows
from graftwork.estimators.ordering import ordered_table
from graftwork.estimators.spec import FitSpec
from graftwork.inference.layout import Floats
from graftwork.models.gaps import Gaps
from graftwork.parameters import MissingPolicy


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MissingCells:
    """What was missing in the rows a network was learned from, and what was done about it.

    Attributes
    ----------
    policy : str
        What `MarkovNetwork.missing` says.
    cells, rows, of_rows : int
        How many cells were missing, in how many rows, and of how many rows.
    frequencies : tuple of (states,) float64
        How often each of the model's states occurs among the observed cells of its variable: what
        a missing neighbour counts as when rows are scored. Empty unless the policy is
        "available-case" or "impute".
    drawn : bool
        Whether states were drawn in place of missing cells; not so after an early interrupt.
    """

    policy: str
    cells: int
    rows: int
    of_rows: int
    frequencies: tuple[Floats, ...] = ()
    drawn: bool = False

    def __repr__(self) -> str:
        return (
            f"MissingCells(policy={self.policy!r}, cells={self.cells}, rows={self.rows}, "
            f"of_rows={self.of_rows}, drawn={self.drawn})"
        )

    def gaps(self) -> Gaps:
        """Return what a network has to know of it to score rows that lack cells."""
        return Gaps(self.policy, self.frequencies)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for files."""
        names = ("policy", "cells", "rows", "of_rows")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Advice:
    """What is recommended about missing cells that nothing was said about.

    Attributes
    ----------
    policy, why : str
        What `MarkovNetwork.missing` may say, and a clause.
    found : MissingCells
    """

    policy: MissingPolicy
    why: str
    found: MissingCells


def recommended(table: Table, loss: str) -> Advice | None:
    """Return what is recommended about the missing cells of a table; None if there are none.

    Examples
    --------
    >>> table = Table(("a",), ((0, 1, "(missing)"),), [[0, 1, 1, 2]])
    >>> recommended(table, "pseudolikelihood").policy, recommended(table, "likelihood").policy
    ('available-case', 'impute')
    """
    gone = missing_cells(table)
    if not gone.any():
        return None
    each = np.count_nonzero(gone, axis=1).tolist()
    policy, why = recommend(dict(zip(table.names, each, strict=True)), table.n_rows)
    if policy == "available-case" and loss == "likelihood":
        policy, why = "impute", "since the likelihood needs complete rows"
    return Advice(policy, why, _found("error", gone))


def _found(policy: str, gone: Any) -> MissingCells:
    """Return what is missing."""
    rows = int(np.count_nonzero(gone.any(axis=0)))
    return MissingCells(policy, int(np.count_nonzero(gone)), rows, gone.shape[1])


def read_rows(spec: FitSpec, X: Any, weights: Any) -> tuple[Table, MissingCells]:
    """Return the rows to learn from, and what was missing in them."""
    table, found = read_cells(spec, X, weights)
    if spec.missing == "drop-rows":
        table = complete_rows(table)
        if found.rows:
            warnings.warn(
                f"{found.rows:,} of {found.of_rows:,} rows were left out: they lack "
                f"{found.cells:,} cell{'s'[: found.cells != 1]}.",
                DataWarning,
                stacklevel=level_of_caller(),
            )
    elif spec.missing == "available-case":
        table = copies_of_rows(missing_last(table))
    elif spec.missing == "impute":
        empty = missing_cells(table).all(axis=0)  # nothing is known about what to draw there
        some = table if empty.all() or not empty.any() else table.take_rows(~empty)
        table = copies_of_rows(missing_last(some))
    return table, found


def read_cells(spec: FitSpec, X: Any, weights: Any) -> tuple[Table, MissingCells]:
    """Return all rows, missing cells in a state of their own, and what is missing in them."""
    how: Missing = "error" if spec.missing == "error" else "state"
    table = as_table(X, states=spec.states, weights=weights, missing=how, bins=spec.bins)
    ordinal = spec.ordinal if spec.ordered else False
    table = ordered_table(table, ordinal, spec.degree, spec.states or ())
    gone = missing_cells(table)
    if spec.missing == "state":
        _warn_of_lost_order(table, gone)
    return table, _found(spec.missing, gone)


def _warn_of_lost_order(table: Table, gone: Any) -> None:
    """Warn of ordered columns in which missing is a state: it has no place in the order."""
    known = () if table.ordered is None else table.ordered.scores
    lost = [
        name for name, some in zip(table.names, gone, strict=True) if name in known and some.any()
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
        return read_rows(spec, X, weights)[0]
    table, _ = read_cells(spec, X, weights)
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
