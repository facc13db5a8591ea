"""What becomes of missing cells when a network is learned."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graftwork.data import Table, as_table
from graftwork.data.columns import level_of_caller
from graftwork.data.compact import Sample, prepare
from graftwork.data.missing import (
    Missing,
    complete_rows,
    missing_cells,
    missing_last,
    recommend,
)
from graftwork.errors import DataWarning
from graftwork.estimators.imputing import completed, copies_of_rows, draw_missing
from graftwork.estimators.parts import ParameterError, known
from graftwork.inference.layout import Floats
from graftwork.models.gaps import Gaps

POLICIES = ("error", "state", "drop-rows", "available-case", "impute")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MissingCells:
    """What was missing in the rows a network was learned from, and what was done about it.

    Attributes
    ----------
    policy : str
        One of `POLICIES`.
    cells, rows, of_rows : int
        How many cells were missing, in how many rows, and of how many rows.
    frequencies : tuple of (states,) float64
        How often each of the model's states occurs among the observed cells of its variable: what
        a missing neighbour counts as when rows are scored. Empty unless the policy is
        "available-case" or "impute".
    drawn : bool
        Whether states were drawn in place of missing cells; not so after an early interrupt.
    seconds : float
        How long drawing them took.

    Examples
    --------
    >>> MissingCells("drop-rows", 3, 2, 10)
    MissingCells(policy='drop-rows', cells=3, rows=2, of_rows=10, drawn=False)
    """

    policy: str
    cells: int
    rows: int
    of_rows: int
    frequencies: tuple[Floats, ...] = ()
    drawn: bool = False
    seconds: float = 0.0

    def __repr__(self) -> str:
        return (
            f"MissingCells(policy={self.policy!r}, cells={self.cells}, rows={self.rows}, "
            f"of_rows={self.of_rows}, drawn={self.drawn})"
        )

    def as_drawn(self, drawn: bool) -> MissingCells:
        """Return the same, with or without states drawn in place of missing cells."""
        return replace(self, drawn=drawn)

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
        One of `POLICIES`, and a clause.
    found : MissingCells
    """

    policy: str
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


def check_policy(net: Any) -> None:
    """Refuse a policy that is not known, or that the loss cannot follow; return None."""
    known("missing", net.missing, POLICIES)
    if net.missing == "available-case" and net.loss != "pseudolikelihood":
        raise ParameterError(
            f"missing='available-case' goes with loss='pseudolikelihood', got loss={net.loss!r}: "
            "pair counts of different rows need not fit one network. Use the pseudo-likelihood, or "
            "missing='impute', missing='state' or missing='drop-rows'."
        )


def read_rows(net: Any, X: Any, weights: Any) -> tuple[Table, MissingCells]:
    """Return the rows to learn from, and what was missing in them.

    Parameters
    ----------
    net : MarkovNetwork
        What its parameters ``missing`` and ``states`` say is done.
    """
    table, found = read_cells(net, X, weights)
    if net.missing == "drop-rows":
        table = complete_rows(table)
        if found.rows:
            warnings.warn(
                f"{found.rows:,} of {found.of_rows:,} rows were left out: they lack "
                f"{found.cells:,} cell{'s'[: found.cells != 1]}.",
                DataWarning,
                stacklevel=level_of_caller(),
            )
    elif net.missing == "available-case":
        table = copies_of_rows(missing_last(table))
    elif net.missing == "impute":
        empty = missing_cells(table).all(axis=0)  # nothing is known about what to draw there
        some = table if empty.all() or not empty.any() else table.take_rows(~empty)
        table = copies_of_rows(missing_last(some))
    return table, found


def read_cells(net: Any, X: Any, weights: Any) -> tuple[Table, MissingCells]:
    """Return all rows, missing cells in a state of their own, and what is missing in them."""
    check_policy(net)
    how: Missing = "error" if net.missing == "error" else "state"
    table = as_table(X, states=net.states, weights=weights, missing=how)
    return table, _found(net.missing, missing_cells(table))


def read_rows_to_draw(net: Any, X: Any, weights: Any, *, warn: bool) -> Table:
    """Return the rows that resamples are drawn from, missing cells in a state of their own.

    Rows to drop are dropped here, so that resamples lack none; with a warning, if asked for.
    """
    if net.missing == "drop-rows" and warn:
        return read_rows(net, X, weights)[0]
    table, _ = read_cells(net, X, weights)
    return complete_rows(table) if net.missing == "drop-rows" else table


def prepare_rows(net: Any, table: Table, rng: np.random.Generator) -> tuple[Table, Sample]:
    """Return the rows as they are learned from, and prepared; missing cells are drawn.

    Parameters
    ----------
    net : MarkovNetwork
        Its ``missing_`` is what `read_rows` found, and says afterwards what was drawn.
    rng : numpy.random.Generator
        Draws missing cells, where that is the policy.
    """
    draws = net.missing in ("available-case", "impute")
    options = {"keep_all_states": bool(net.penalize_unary), "n_jobs": net.n_jobs}
    sample = prepare(table, missing=draws, **options)
    if not draws:
        return table, sample
    begun = time.monotonic()
    net.missing_ = replace(net.missing_, frequencies=frequencies_of(sample))
    drawn = draw_missing(net, table, sample, rng)
    seconds = time.monotonic() - begun
    net.missing_ = replace(net.missing_, drawn=not sample.complete, seconds=seconds)
    if net.missing == "available-case":
        return table, drawn
    whole = completed(table, drawn)
    return whole, prepare(whole, **options)


def frequencies_of(sample: Sample) -> tuple[Floats, ...]:
    """Return the frequencies of all declared states of each variable."""
    parts = np.split(sample.frequencies, np.cumsum(sample.cards)[:-1])
    out = []
    for declared, kept, part in zip(sample.declared, sample.kept, parts, strict=True):
        each = np.zeros(int(declared))
        each[kept] = part
        out.append(each)
    return tuple(out)
