"""Missing cells as one more state, and tables without them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graftwork.data.encode import Coded, small
from graftwork.data.table import Table
from graftwork.data.values import listing, suggestion
from graftwork.errors import DataError
from graftwork.parameters import MissingPolicy

#: What a missing cell is called where it is a state.
MISSING_STATE = "(missing)"
# What becomes of missing cells: an error, a last state of their own, or the state of that name
# where a model has it and else an error.
Missing = Literal["error", "state", "known"]
# Where errors say what is recommended.
RECOMMENDED = "{recommended}"
# A column that lacks more of its cells is mostly empty.
_MOSTLY = 0.5

Bools = NDArray[np.bool_]


def check_missing(missing: str) -> None:
    """Raise unless it says what `as_table` and `read_table` can do; return None.

    Examples
    --------
    >>> check_missing("state")
    """
    choices = ("error", "state")
    if missing not in choices:
        raise DataError(
            f"missing is {missing!r}{suggestion(missing, choices) or '.'} It must be 'error' or "
            "'state'; others are choices of MarkovNetwork: read the table with missing='state', "
            f"and learn with MarkovNetwork(missing={missing!r})."
        )


def recommend(gaps: Mapping[Hashable, int], n_rows: int) -> tuple[MissingPolicy, str]:
    """Return what MarkovNetwork is best told about missing cells, and why, in a clause.

    Examples
    --------
    >>> recommend({"a": 3, "b": 0}, 100)
    ('available-case', 'which learns from every observed cell and leaves out no row')
    """
    empty = [name for name, count in gaps.items() if count > _MOSTLY * n_rows]
    if empty:
        are = "is" if len(empty) == 1 else "are"
        return "state", (
            f"which makes missing a state, since {listing(empty, 3)} {are} mostly empty, and that "
            "a cell is missing may say something there (or leave such columns out)"
        )
    return "available-case", "which learns from every observed cell and leaves out no row"


def advice(gaps: Mapping[Hashable, int], n_rows: int) -> str:
    """Return what is recommended about missing cells, for errors."""
    policy, why = recommend(gaps, n_rows)
    names = [each for each in ("available-case", "state", "drop-rows", "impute") if each != policy]
    first, second, third = names
    return (
        f"recommended is missing={policy!r}, {why}; others are {first!r}, {second!r} and {third!r}"
    )


def settle(coded: Coded, name: Hashable, missing: Missing, place: Callable[[int], str]) -> Coded:
    """Return a column with its missing cells in a state of their own, where that is wanted.

    With "known" only a state that is there is used. Refused are cells that hold the very text that
    is to stand for missing ones.
    """
    listed = MISSING_STATE in coded.states
    if coded.missing is None or missing == "error" or (missing == "known" and not listed):
        return coded
    states = coded.states if listed else (*coded.states, MISSING_STATE)
    code = states.index(MISSING_STATE)
    if listed and missing == "state":
        rows = np.flatnonzero((coded.codes == code) & ~coded.missing)
        if len(rows):
            raise DataError(
                f"column {name!r}, {place(int(rows[0]))}: the text {MISSING_STATE!r} is a state, "
                "but other cells of that column are missing, and missing cells are to be called "
                "so; rename that state, or make those cells missing too."
            )
    codes = small(np.where(coded.missing, code, coded.codes), len(states))
    return Coded(codes, states, declared=coded.declared, ordered=coded.ordered)


def unmark(coded: Coded) -> Coded:
    """Return a column whose cells in the state of missing ones are missing again.

    Examples
    --------
    >>> coded = unmark(Coded(np.array([0, 1]), ("x", "(missing)"), declared=True))
    >>> coded.states, coded.missing.tolist()
    (('x',), [False, True])
    """
    if MISSING_STATE not in coded.states:
        return coded
    code = coded.states.index(MISSING_STATE)
    gone = coded.codes == code
    if coded.missing is not None:
        gone |= coded.missing
    states = tuple(state for state in coded.states if state != MISSING_STATE)
    codes = coded.codes - (coded.codes > code).astype(coded.codes.dtype)
    codes[gone] = 0
    missing = gone if gone.any() else None
    return Coded(codes, states, missing, coded.declared, coded.ordered)


def missing_cells(table: Table) -> Bools:
    """Return which cells are in the state of missing ones, shape (n_variables, n_rows)."""
    out = np.zeros(table.codes.shape, dtype=np.bool_)
    for j, listed in enumerate(table.states):
        if MISSING_STATE in listed:
            out[j] = table.codes[j] == listed.index(MISSING_STATE)
    return out


def missing_last(table: Table) -> Table:
    """Return the table with the state of missing cells last, and only where a cell has it."""
    tidy = [
        listed.index(MISSING_STATE) == len(listed) - 1 and (row == len(listed) - 1).any()
        for listed, row in zip(table.states, table.codes, strict=True)
        if MISSING_STATE in listed
    ]
    return table if all(tidy) else _restated(table, missing_cells(table))


def complete_rows(table: Table) -> Table:
    """Return the rows without a missing cell; missing is no state there."""
    gone = missing_cells(table)
    keep = ~gone.any(axis=0)
    if not keep.any() or (table.weights is not None and not table.weights[keep].any()):
        most = np.argsort(-gone.sum(axis=1), kind="stable")[:3]
        worst = listing([table.names[j] for j in most if gone[j].any()])
        raise DataError(
            f"every one of the {table.n_rows:,} rows (of positive weight) has a missing cell, so "
            f"dropping rows leaves nothing; most are in {worst}: drop such columns, or use "
            "missing='available-case', missing='impute' or missing='state'."
        )
    if not gone.any() and all(MISSING_STATE not in listed for listed in table.states):
        return table
    kept = table.take_rows(keep)
    return _restated(kept, gone[:, keep])


def complete_part(table: Table) -> Table:
    """Return the complete rows of part of a table, perhaps none; missing is no state any more.

    In it missing is the last state of a variable, if it is one.

    Examples
    --------
    >>> complete_part(Table(("a",), (("x", "(missing)"),), [[1, 1]])).n_rows
    0
    """
    states = tuple(tuple(s for s in own if s != MISSING_STATE) for own in table.states)
    return rows_of_part(table, ~missing_cells(table).any(axis=0), states)


def rows_of_part(table: Table, kept: Any, states: Any = None) -> Table:
    """Return some rows of part of a table, perhaps none."""
    codes = np.compress(kept, table.codes, axis=1)
    weights = None if table.weights is None else table.weights[kept]
    squares = None if table.squares is None else table.squares[kept]
    listed = table.states if states is None else states
    return Table.trusted(table.names, listed, codes, weights, table.ordered, (), squares)


def _restated(table: Table, gone: Bools) -> Table:
    """Return the table with the state of missing cells last, or nowhere if no cell has it."""
    states: list[tuple[Hashable, ...]] = []
    codes: NDArray[Any] = table.codes.copy()
    for j, listed in enumerate(table.states):
        if MISSING_STATE not in listed:
            states.append(listed)
            continue
        at = listed.index(MISSING_STATE)
        rest = listed[:at] + listed[at + 1 :]
        codes[j] -= codes[j] > at
        codes[j][gone[j]] = len(rest)
        states.append((*rest, MISSING_STATE) if gone[j].any() else rest)
    weights, squares = table.weights, table.squares
    return Table(table.names, tuple(states), codes, weights, table.ordered, table.notes, squares)
