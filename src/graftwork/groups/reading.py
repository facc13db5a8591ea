"""The rows of a table by group, or the reason why they cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.data.missing import MISSING_STATE
from graftwork.data.oddities import warn_of_columns
from graftwork.data.scores import Ordered
from graftwork.data.values import listing
from graftwork.errors import DataError
from graftwork.estimators.missing import as_far_as_readable, read_rows_to_draw
from graftwork.estimators.ordering import in_order
from graftwork.estimators.spec import FitSpec
from graftwork.inference.layout import Floats
from graftwork.significance.pooling import LEAST_COUNT, MOST_GROUPS

#: A group of fewer rows is refused: no test of an edge means anything there.
LEAST_ROWS = 30
#: A column of more values is no grouping.
MOST_VALUES = 20


@dataclass(frozen=True, slots=True, eq=False)
class GroupedRows:
    """Rows by group."""

    by: Any  # the column of the groups
    groups: tuple[Any, ...]  # its values
    tables: tuple[Table, ...]  # the rows of each group, without that column
    whole: Table  # all rows, with it

    @property
    def names(self) -> tuple[Any, ...]:
        """The variables compared."""
        return self.tables[0].names

    @property
    def sizes(self) -> Floats:
        """Effective rows of each group: their number, or of counts their total weight."""
        return np.array([table.effective_rows for table in self.tables])


def read_groups(spec: FitSpec, X: Any, by: Any, weights: Any) -> GroupedRows:
    """Return the rows of each group; a column that makes no groups is refused.

    Missing cells are in a state of their own; rows to drop are dropped, with a warning. The column
    of the groups is not ordered, whatever is said of others.
    """
    try:
        whole = read_rows_to_draw(replace(spec, ordinal=()), X, weights, warn=True)
    except DataError:
        readable = as_far_as_readable(X)
        if readable is not None:
            readable.index(by)  # a wrong name is quicker to mend than cells
        raise
    if whole.weights is not None and not (whole.weights > 0).all():
        whole = whole.take_rows(whole.weights > 0)
    place = whole.index(by)
    codes, states = whole.codes[place], whole.states[place]
    found = np.unique(codes)
    groups = tuple(states[code] for code in found.tolist())
    if MISSING_STATE in groups:
        lacking = int(np.count_nonzero(codes == states.index(MISSING_STATE)))
        raise DataError(
            f"{lacking:,} row{'s'[: lacking != 1]} {'has' if lacking == 1 else 'have'} no group: "
            f"{by!r} is missing there. Leave "
            "those rows out, or give them a group."
        )
    _check_column(by, groups)
    others = [name for name in whole.names if name != by]
    if len(others) < 2:
        raise DataError(
            f"without {by!r} the table has {len(others)} column{'s'[: len(others) != 1]}; networks "
            "to compare need at least two variables."
        )
    order = _order(spec, whole.take_columns(others), by)
    whole = whole.with_order(order)
    rest = whole.take_columns(others)
    if not isinstance(X, Table | str | PathLike):  # reading a file has warned
        warn_of_columns(rest)
    tables = tuple(rest.take_rows(codes == code) for code in found.tolist())
    grouped = GroupedRows(by, groups, tables, whole)
    _check_sizes(grouped)
    return grouped


def _order(spec: FitSpec, table: Table, by: Any) -> Ordered:
    """Return which of the variables to compare are ordered.

    One with missing cells that count as a state is not: in no group, though some may lack none.
    """
    ordinal = spec.ordinal
    if isinstance(ordinal, Mapping):
        ordinal = {name: value for name, value in ordinal.items() if name != by}
    elif isinstance(ordinal, list | tuple):
        ordinal = [name for name in ordinal if name != by]
    order = in_order(replace(spec, ordinal=ordinal), table).ordered
    assert order is not None
    drawn = spec.missing in ("available-case", "impute")
    seen = {
        name: [state for state, count in zip(states, counts.tolist(), strict=True) if count > 0]
        for name, states, counts in zip(table.names, table.states, table.observed(), strict=True)
    }
    kept = {
        name: scores
        for name, scores in order.scores.items()
        if name in seen
        and all(state in scores or (drawn and state == MISSING_STATE) for state in seen[name])
    }
    return replace(order, scores=kept, taken=order.taken or ())  # nor is the column of the groups


def _check_column(by: Any, groups: tuple[Any, ...]) -> None:
    """Refuse a column that is constant or has too many values."""
    if len(groups) < 2:
        raise DataError(
            f"all rows have {by!r} = {groups[0]!r}; a comparison needs a column with two values at "
            "least."
        )
    if len(groups) > MOST_VALUES:
        raise DataError(
            f"{by!r} has {len(groups):,} values ({listing(groups, 3)}), which looks like an "
            f"identifier or a measurement; groups are given by a column of 2 to {MOST_VALUES} "
            "values. Group its values first, or name another column."
        )


def _check_sizes(rows: GroupedRows) -> None:
    """Refuse groups of a handful of rows."""
    sizes = rows.sizes
    small = int(np.argmin(sizes))
    if sizes[small] < LEAST_ROWS:
        size = int(sizes[small])
        raise DataError(
            f"the group {rows.groups[small]!r} of {rows.by!r} has {size:,} "
            f"{'effective ' * (rows.whole.squares is not None)}row{'s'[: size != 1]}; "
            f"{LEAST_ROWS} is the least that can be tested, and about "
            f"{rows_wanted(rows.whole.take_columns(rows.names)):,} are wanted for variables of so "
            "many states. Leave the group out, join it with another, or collect more rows."
        )


def rows_wanted(table: Table) -> int:
    """Return how many rows a group should have, from the numbers of states.

    So many that the cells of a typical pair's table have about ten rows each. An ordered variable
    counts as one of three states, however many it has: its tables are linear as a rule.

    Examples
    --------
    >>> rows_wanted(Table(("a", "b"), ((0, 1), (0, 1)), [[0, 1], [0, 1]]))
    40
    """
    order = table.ordered
    most = [
        MOST_GROUPS if order is None or name not in order.scores else order.degree + 2
        for name in table.names
    ]
    used = [
        min(int(np.count_nonzero(counts)), limit)
        for counts, limit in zip(table.observed(), most, strict=True)
    ]
    typical = float(np.median(used))
    return int(LEAST_COUNT * typical**2)
