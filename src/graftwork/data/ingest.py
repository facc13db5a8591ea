"""Whatever holds rows and columns becomes a Table here."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from graftwork.data.bins import Bins, check_bins
from graftwork.data.columns import Raw, Unseen, assemble, check_shape, clean_names
from graftwork.data.encode import Coded, encode_block
from graftwork.data.files import file_columns, read_table
from graftwork.data.frames import from_frame, from_series
from graftwork.data.missing import MISSING_STATE, Missing, check_missing, unmark
from graftwork.data.sources import named_after
from graftwork.data.table import Table
from graftwork.data.values import listing, suggestion
from graftwork.errors import DataError

_RESHAPE = (
    "Reshape your data: array.reshape(-1, 1) if it is one variable, "
    "array.reshape(1, -1) if it is one row."
)
_NO_STATE = (
    "missing is not a state of that variable here: drop those rows, impute those cells, or "
    "learn with "
    "missing='state', 'available-case' or 'impute'"
)


def as_table(
    data: Any,
    *,
    states: Mapping[Any, Iterable[Any]] | None = None,
    weights: ArrayLike | None = None,
    names: Iterable[Any] | None = None,
    missing: Missing = "error",
    bins: Bins | None = None,
) -> Table:
    """Return data of any usual container as a Table.

    States are inferred and stand in their natural order (numbers by size, text by code point,
    False before True; several kinds side by side by the kind's name, then by value; values
    without an order as they appear), so that shuffling the rows changes nothing. A categorical
    type of pandas, a polars Enum or an Arrow dictionary declares its own states and their order.
    True and 1 are two states; 1 and 1.0 are one, written as the int if both occur in a column.

    Parameters
    ----------
    data : Table, frame, array, sparse matrix, list, dict or path
        A pandas, polars or Arrow table; an array of shape (n_rows, n_variables), or a sparse one,
        in which cells that are not stored are in the state 0; a list of rows;
        a list of dicts; a dict of name to column; or the path of a file, which `read_table` reads
        (and has options for).
    states : mapping of name to states, optional
        States of some columns in the order wanted, also those that never occur. Numbers match by
        value (1.0 is 1), and bools match 0 and 1 if these are declared; text matches text only.
    weights : array-like of shape (n_rows,), optional
        Weight of each row: finite, at least 0, not all 0. Of a file also the name of a column.
    names : iterable of hashable, optional
        Names for the columns of an array or a list of rows; ``"x0"``, ``"x1"``, ... otherwise.
    missing : {"error", "state"}
        What missing cells are (None, NaN, NaT, pandas NA, masked, absent keys): an error, or one
        more state of their column, the last, called ``"(missing)"``.
    bins : int or mapping of name to int, optional
        Columns of numbers that have more different values than this are grouped into that many bins
        that hold about equally many rows (by weight), fewer where many rows are equal: ordered
        states such as ``"<= 20"``, ``"(20, 35]"``, ``"> 35"``.

    Returns
    -------
    Table
        The table; `data` itself if it is one and nothing else is asked.

    Raises
    ------
    DataError
        If the data are empty, ragged, not two-dimensional or complex; if cells are
        missing, infinite or not hashable; if names repeat; if a state was not declared.

    Warns
    -----
    DataWarning
        If a column of floats looks continuous: over 100 distinct values that are not all whole,
        or that differ in most rows; with `bins`, if a column looks like row numbers.

    Examples
    --------
    >>> table = as_table([["no", 3], ["yes", 1]], names=["smokes", "visits"])
    >>> table.states
    (('no', 'yes'), (1, 3))
    >>> as_table({"a": [1, 0]}, states={"a": [0, 1, 2]}).states
    ((0, 1, 2),)
    >>> as_table({"a": [1, None]}, missing="state").states
    ((1, '(missing)'),)
    >>> as_table({"age": [*range(18, 78)] * 2}, bins=3).states
    (('<= 37', '(37, 57]', '> 57'),)
    """
    check_missing(missing)
    bins = check_bins(bins)
    if isinstance(data, Table) and states is None and names is None and bins is None:
        return data if weights is None else data.with_weights(None).with_weights(weights)
    if _is_path(data):
        if names is not None:
            raise DataError("names is for arrays and lists of rows; a file has names of its own.")
        return read_table(data, states=states, weights=weights, missing=missing, bins=bins)
    raw = take_apart(data, names)
    if weights is None and isinstance(data, Table):
        weights = data.weights
    table = assemble(raw, states=states, weights=weights, missing=missing, bins=bins)
    return _same_order(table, data) if isinstance(data, Table) else table


def _same_order(table: Table, before: Table) -> Table:
    """Return a table made of another with the same variables ordered, and those it has bins of."""
    known = before.ordered
    if table.ordered is None or known is None:
        return table if table.ordered is not None else table.with_order(known)
    scores = {**known.scores, **table.ordered.scores}
    return table.with_order(replace(known, scores=scores))


def align(
    data: Any,
    names: Sequence[Hashable],
    states: Sequence[Sequence[Hashable]],
    *,
    weights: ArrayLike | None = None,
    owner: str = "model",
    remedy: str = _NO_STATE,
    unseen: Unseen = "error",
    absent: Hashable | None = None,
) -> Table:
    """Return new data as a Table with exactly the variables and states given."""
    wanted = clean_names(names)
    listed = tuple(tuple(each) for each in states)
    if isinstance(data, Table) and data.names == wanted and data.states == listed:
        return Table(wanted, listed, data.codes, _either(weights, data), data.ordered)
    if _is_path(data):
        with named_after(Path(data)):
            raw = file_columns(Path(data), dict(zip(wanted, listed, strict=True)))
            raw = _with_absent(raw, wanted, absent)
            return _align(raw, wanted, listed, weights, owner, remedy, unseen, absent)
    raw = _with_absent(take_apart(data), wanted, absent)
    given = _either(weights, data)
    return _align(raw, wanted, listed, given, owner, remedy, unseen, absent)


def _with_absent(raw: Raw, wanted: tuple[Hashable, ...], absent: Hashable | None) -> Raw:
    """Return the columns with one more of missing cells, if the variable that may be absent is."""
    there = absent in raw.names if raw.named else len(raw.names) != len(wanted) - 1
    if absent is None or there:
        return raw
    at = len(raw.names) if raw.named else wanted.index(absent)
    empty = Coded(np.zeros(raw.n_rows, np.uint8), (), np.ones(raw.n_rows, np.bool_), declared=True)

    def column(j: int) -> Any:
        return empty if j == at else raw.column(j - (j > at))

    names = (*raw.names[:at], absent, *raw.names[at:])
    return replace(raw, names=names if raw.named else wanted, column=column)


def _align(
    raw: Raw,
    wanted: tuple[Hashable, ...],
    listed: tuple[tuple[Hashable, ...], ...],
    weights: Any,
    owner: str,
    remedy: str,
    unseen: Unseen,
    absent: Hashable | None,
) -> Table:
    """Return columns as a Table of the variables wanted, with the states listed."""
    if raw.named:
        raw = _select(raw, wanted, absent)
    elif len(raw.names) != len(wanted):
        raise DataError(
            f"X has {len(raw.names)} features, but {owner} is expecting {len(wanted)} features "
            f"as input: {listing(wanted)}."
        )
    declared = dict(zip(wanted, listed, strict=True))
    column = _known_gaps(raw, listed)
    raw = Raw(wanted, raw.n_rows, column, named=True, place=raw.place, remedy=remedy)
    return assemble(
        raw, states=declared, weights=weights, missing="known", unseen=unseen, absent=absent
    )


def _known_gaps(raw: Raw, states: Sequence[Sequence[Hashable]]) -> Callable[[int], Any]:
    """Return the columns; a Table's cells called missing are so where that is no state here."""

    def column(j: int) -> Any:
        found = raw.column(j)
        if isinstance(found, Coded) and MISSING_STATE not in states[j]:
            return unmark(found)
        return found

    return column


def _either(weights: Any, data: Any) -> Any:
    """Return the weights given, or else those of a Table."""
    return data.weights if weights is None and isinstance(data, Table) else weights


def _select(raw: Raw, wanted: tuple[Hashable, ...], target: Hashable | None = None) -> Raw:
    """Return only the columns wanted, in that order; the target need not be of the data."""
    position = {name: j for j, name in enumerate(raw.names)}
    absent = [name for name in wanted if name not in position]
    if absent:
        hint = suggestion(absent[0], raw.names)
        given = [name for name in raw.names if name != target]
        has = f"They have {listing(given)}; rename them" if given else "They have no others"
        raise DataError(
            f"the data lack {len(absent)} of {len(wanted)} columns: {listing(absent)}"
            f"{hint or '.'} {has}, or give an array to go by position."
        )
    places = [position[name] for name in wanted]
    return Raw(wanted, raw.n_rows, lambda j: raw.column(places[j]), named=True, place=raw.place)


def take_apart(data: Any, names: Iterable[Any] | None = None) -> Raw:
    """Return a container's names and columns, not encoded yet.

    Examples
    --------
    >>> take_apart([[1, 2]]).names
    ('x0', 'x1')
    """
    _refuse(data)
    raw = _named(data)
    if raw is not None:
        if names is not None:
            raise DataError("names is for arrays and lists of rows; these data name their columns.")
        return raw
    if isinstance(data, list | tuple):
        return _from_rows(data, names)
    if sparse.issparse(data):
        return _from_sparse(data, names)
    # np.matrix has columns of two dimensions; only masks are worth keeping.
    array = data if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
    return _from_array(array, names)


def _is_path(data: Any) -> bool:
    """Return whether data may be the path of a file: text of one line, say."""
    return isinstance(data, PathLike) or (isinstance(data, str) and "\n" not in data)


def _refuse(data: Any) -> None:
    """Raise for what is no table but might be taken for one."""
    if isinstance(data, str | bytes | PathLike):
        raise DataError(
            f"a table was expected, not {str(data)[:80]!r}; to read a file, pass its path as text, "
            "or use gw.read_table(path)."
        )
    if hasattr(data, "sample_rows") or hasattr(data, "store"):
        raise DataError(
            f"a {type(data).__name__} has its rows in parts, and this needs them in memory: take "
            "some of them, gw.scan(...).store().sample_rows(0.1, seed=0), or read a file that fits "
            "with gw.read_table."
        )
    without = getattr(type(data), "without_rows", None)
    if without is not None:
        raise DataError(str(without))
    if data is None or isinstance(data, Iterator | set | frozenset):
        raise DataError(
            f"a {type(data).__name__} is not a table; pass a frame, a 2-D array, a list of rows, "
            "a list of dicts or a dict of columns."
        )


def _named(data: Any) -> Raw | None:
    """Return the columns of data that name them, or None."""
    if isinstance(data, Table):
        return Raw(
            data.names,
            data.n_rows,
            lambda j: Coded(data.codes[j], data.states[j], declared=True),
            named=True,
        )
    if isinstance(data, Mapping):
        return _from_columns(data)
    if isinstance(data, list | tuple) and data and isinstance(data[0], Mapping):
        return _from_records(data)
    raw = from_frame(data)
    if raw is None and from_series(data) is not None:
        raise DataError(
            f"Expected 2D array, got 1D array instead: a {type(data).__name__} is one column; "
            f"pass a frame, e.g. series.to_frame(). {_RESHAPE}"
        )
    return raw


def _from_columns(data: Mapping[Any, Any]) -> Raw:
    """Return the columns of a dict of name to column."""
    names = clean_names(data)
    columns = [_column(cells, name) for name, cells in zip(names, data.values(), strict=True)]
    check_shape(0 if not columns else 1, len(columns))
    lengths = [len(c.codes) if isinstance(c, Coded) else len(c) for c in columns]
    for name, length in zip(names, lengths, strict=True):
        if length != lengths[0]:
            raise DataError(
                f"column {name!r} has {length} cells, but column {names[0]!r} has {lengths[0]}; "
                "all columns need one cell per row."
            )
    return Raw(names, lengths[0], columns.__getitem__, named=True)


def _column(cells: Any, name: Hashable) -> Any:
    """Return one column of a dict as something that can be encoded."""
    if isinstance(cells, np.ndarray):
        if cells.ndim == 1:
            return cells
    elif isinstance(cells, Coded | list | tuple | range):
        return cells
    elif not isinstance(cells, str | bytes | Mapping):
        series = from_series(cells)
        if series is not None:
            return series
        if hasattr(cells, "__array__") and np.ndim(cells) == 1:
            return np.asarray(cells)
        if isinstance(cells, Sequence):
            return list(cells)
    raise DataError(
        f"column {name!r} must be a list or a 1-D array of cells, not a {type(cells).__name__}."
    )


def _from_records(data: Sequence[Any]) -> Raw:
    """Return the columns of a list of dicts; an absent key is a missing cell."""
    keys: dict[Any, None] = {}
    for row, record in enumerate(data):
        if not isinstance(record, Mapping):
            raise DataError(f"row {row} is a {type(record).__name__}, but the first is a dict.")
        keys.update(dict.fromkeys(record))
    listed = list(keys)
    return Raw(
        clean_names(listed),
        len(data),
        lambda j: [record.get(listed[j]) for record in data],
        named=True,
    )


def _from_rows(data: Sequence[Any], names: Iterable[Any] | None) -> Raw:
    """Return the columns of a list of rows."""
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in data]
    for i, row in enumerate(rows):
        if not isinstance(row, list | tuple):
            if i == 0:
                raise DataError(
                    f"Expected 2D array, got 1D array instead: a list whose first entry is "
                    f"{row!r}, not a row. {_RESHAPE}"
                )
            raise DataError(f"row {i} is a {type(row).__name__}, not a list of cells.")
        if len(row) != len(rows[0]):
            raise DataError(
                f"row {i} has {len(row)} cells, expected {len(rows[0])} as in row 0; "
                "all rows need one cell per column."
            )
    check_shape(len(rows), len(rows[0]) if rows else 1)
    columns = list(zip(*rows, strict=True))
    return Raw(_given(names, len(columns)), len(rows), columns.__getitem__, named=False)


def _from_array(array: NDArray[Any], names: Iterable[Any] | None) -> Raw:
    """Return the columns of a two-dimensional array."""
    if array.dtype.names is not None:
        raise DataError(
            "structured arrays are not supported; pass the columns by name: "
            "{name: array[name] for name in array.dtype.names}."
        )
    if array.ndim == 0 and array.dtype.kind == "O":
        raise DataError(
            f"a {type(array.item()).__name__} is not a table; pass a frame, a 2-D array, a list "
            "of rows, a list of dicts or a dict of columns."
        )
    if array.ndim != 2:
        shape = f"{array.ndim}D" if array.ndim else "scalar"
        reshape = _RESHAPE if array.ndim < 2 else "Reshape your data to one row per observation."
        raise DataError(
            f"Expected 2D array, got {shape} array instead (shape {array.shape}). {reshape}"
        )
    if array.dtype.kind == "c":
        raise DataError("Complex data not supported; pass real numbers or states as text.")
    check_shape(*array.shape)
    listed = _given(names, array.shape[1])
    masked = isinstance(array, np.ma.MaskedArray)
    block = encode_block(array) if array.dtype.kind in "biu" and not masked else None
    if block is not None:
        return Raw(listed, len(array), block.__getitem__, named=False)
    return Raw(listed, len(array), lambda j: array[:, j], named=False)


def _from_sparse(data: Any, names: Iterable[Any] | None) -> Raw:
    """Return the columns of a sparse matrix, one at a time: cells that are not stored are 0."""
    if data.ndim != 2:
        raise DataError(f"Expected 2D array, got {data.ndim}D array instead. {_RESHAPE}")
    if data.dtype.kind == "c":
        raise DataError("Complex data not supported; pass real numbers or states as text.")
    columns = sparse.csc_array(data)
    columns.sum_duplicates()
    check_shape(*columns.shape)

    def column(j: int) -> NDArray[Any]:
        part = slice(columns.indptr[j], columns.indptr[j + 1])
        cells = np.zeros(columns.shape[0], dtype=columns.dtype)
        cells[columns.indices[part]] = columns.data[part]
        return cells

    return Raw(_given(names, columns.shape[1]), columns.shape[0], column, named=False)


def _given(names: Iterable[Any] | None, count: int) -> tuple[Hashable, ...]:
    """Return the names given for unnamed columns, or x0, x1, ..."""
    if names is None:
        return tuple(f"x{j}" for j in range(count))
    listed = clean_names(names)
    if len(listed) != count:
        raise DataError(f"{len(listed)} names were given for {count} columns: {listing(listed)}.")
    return listed
