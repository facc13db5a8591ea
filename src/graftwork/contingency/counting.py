"""count_pairs: rows in, the counts of all pairs of their states out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import add
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from graftwork.contingency.pair_tables import PairTables, check_size
from graftwork.data import Table, as_table
from graftwork.data.bins import Bins
from graftwork.data.counting import Counter, Numbers
from graftwork.data.missing import complete_part, complete_rows
from graftwork.data.placing import comes_in_parts, placed
from graftwork.data.values import suggestion
from graftwork.errors import DataError
from graftwork.kernels.threads import count_threads

#: What missing cells are when pairs are counted.
Missing = Literal["error", "state", "drop-rows"]
_CHOICES = ("error", "state", "drop-rows")


def count_pairs(
    data: Any,
    *,
    states: Mapping[Any, Iterable[Any]] | None = None,
    weights: ArrayLike | None = None,
    names: Iterable[Any] | None = None,
    missing: Missing = "error",
    bins: Bins | None = None,
    n_jobs: int | None = None,
) -> PairTables:
    """Return how often all pairs of states occur in some rows.

    `MarkovNetwork` learns from such counts (with ``loss="likelihood"``), and no row is in them.

    Parameters
    ----------
    data : table, or list of Table
        Whatever `as_table` takes: a Table, frame, array, list of rows or the path of a file. Of
        several Tables the counts are added. Or rows that are read in parts: a `graftwork.scan`, a
        folder, a glob, a lazy frame.
    states, weights, names, bins : optional
        As in `as_table`. Bins are quantiles of these rows: counts of other rows add up only if
        these are given the same bins as `states`.
    missing : {"error", "state", "drop-rows"}
        What missing cells are: an error, one more state of their variable, or a reason to leave
        out their row.
    n_jobs : int, optional
        Threads; default every core.

    Returns
    -------
    PairTables
        Whole numbers without weights, and sums of weights with them.

    Examples
    --------
    >>> here = count_pairs({"rain": ["no", "yes"], "grass": ["dry", "wet"]})
    >>> there = count_pairs({"grass": ["wet", "wet"], "rain": ["yes", "no"]})
    >>> (here + there).table("rain", "grass")
    array([[1, 1],
           [0, 2]])
    """
    if missing not in _CHOICES:
        why = suggestion(missing, _CHOICES) or "."
        if missing in ("available-case", "impute"):
            why = ": all pairs must be counted over the same rows, and counting imputes no cells."
        raise DataError(
            f"missing is {missing!r}{why} It must be 'error', 'state' or 'drop-rows'; to fill "
            "cells first, see MarkovNetwork.impute."
        )
    how: Any = "error" if missing == "error" else "state"
    if comes_in_parts(data):
        options = {"states": states, "weights": weights, "missing": how, "bins": bins}
        with placed(data, **options, n_jobs=n_jobs) as table:
            drop = missing == "drop-rows"
            counted: list[PairTables] = table.over_tables(_count_part, drop, add=_add_parts)
        if not counted:
            raise DataError("every row has a missing cell, so dropping these rows leaves none.")
        return counted[0]
    several = isinstance(data, list | tuple) and len(data) > 0
    tables: Iterable[Table]
    if several and all(isinstance(each, Table) for each in data):
        if weights is not None or names is not None:
            raise DataError("weights and names are for one table; several Tables have their own.")
        tables = (as_table(each, states=states, missing=how, bins=bins) for each in data)
    else:
        tables = [
            as_table(data, states=states, weights=weights, names=names, missing=how, bins=bins)
        ]
    return count_tables(tables, drop_rows=missing == "drop-rows", n_jobs=n_jobs)


def count_tables(
    tables: Iterable[Table], *, drop_rows: bool = False, n_jobs: int | None = None
) -> PairTables:
    """Return the counts of tables of the same variables, one after the other.

    Examples
    --------
    >>> part = Table(("a",), ((0, 1),), [[0, 1, 1]])
    >>> count_tables([part, part]).margin("a")
    array([2, 4])
    """
    parts = (complete_rows(table) if drop_rows else table for table in tables)
    return reduce(add, (_count(part, n_jobs) for part in parts))


def _count_part(table: Table, drop_rows: bool) -> list[PairTables]:
    """Return the counts of part of the rows; none where no row is left."""
    if drop_rows:
        table = complete_part(table)
    return [_count(table, 1)] if table.n_rows else []


def _add_parts(first: list[PairTables], second: list[PairTables]) -> list[PairTables]:
    """Return the counts of two parts together, in a list; an empty one where there are none."""
    return [first[0] + second[0]] if first and second else first or second


def _count(table: Table, n_jobs: int | None) -> PairTables:
    """Return the counts of one table."""
    check_size(table.names, table.states)
    cards, n = table.cards, table.n_variables
    counter = Counter(table.codes, cards, table.weights, count_threads(n_jobs))
    ends = np.cumsum(cards)
    matrix: Numbers = np.zeros((int(ends[-1]),) * 2, dtype=counter.dtype)
    np.fill_diagonal(matrix, counter.margins)
    for i in range(n - 1):
        later = np.arange(i + 1, n)
        values, offsets = counter.count(np.stack([np.full(len(later), i), later], axis=1))
        # tables of i and each later one, side by side
        width = cards[later]
        first = np.repeat(offsets[:-1] - (np.cumsum(width) - width), width)
        across = first + np.arange(int(width.sum()))
        down = np.arange(int(cards[i]))[:, None] * np.repeat(width, width)
        own = slice(int(ends[i] - cards[i]), int(ends[i]))
        matrix[own, ends[i] :] = values[across + down]
        matrix[ends[i] :, own] = matrix[own, ends[i] :].T
    return PairTables(
        table.names, table.states, matrix, table.n_rows, table.total_weight, table.ordered
    )
