"""Answers about rows in the container that the rows came in: frames, arrays, lists."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from graftwork.data.encode import palette
from graftwork.data.values import is_missing

Codes = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Filled:
    """A column whose missing cells were filled."""

    place: int  # where the column stands among those of a container without names
    name: Hashable
    rows: NDArray[np.int64]  # (cells,): rows to fill
    states: NDArray[Any]  # (rows of the table,) array: the states of all rows, filled ones included
    # whether the cells that were there are to be replaced by their states too: bins of numbers
    whole: bool

    def cells(self, before: Sequence[Any]) -> list[Any]:
        """Return the cells of a column with the missing ones filled."""
        if self.whole:
            return list(self.states.tolist())
        out = list(before)
        for row in self.rows.tolist():
            if is_missing(out[row]):  # others are states that the model has never seen
                out[row] = self.states[row : row + 1].tolist()[0]
        return out


def as_labels(X: Any, name: Hashable, states: tuple[Hashable, ...], codes: Codes) -> Any:
    """Return a state for each row: a series for a frame, a list for lists, else an array.

    Examples
    --------
    >>> as_labels([["x"], ["y"]], "a", ("no", "yes"), np.array([1, 0]))
    ['yes', 'no']
    """
    cells = palette(states)[codes]
    if nw.dependencies.is_pandas_dataframe(X):
        pandas = nw.dependencies.get_pandas()
        kind = getattr(X.get(name), "dtype", None)
        same = isinstance(kind, pandas.CategoricalDtype) and set(states) <= set(kind.categories)
        return pandas.Series(cells, index=X.index, name=name, dtype=kind if same else None)
    if nw.dependencies.is_polars_dataframe(X) or nw.dependencies.is_polars_lazyframe(X):
        return nw.dependencies.get_polars().Series(str(name), cells.tolist())
    return cells.tolist() if isinstance(X, list | tuple | Mapping) else cells


def as_columns(X: Any, states: tuple[Hashable, ...], values: NDArray[np.float64]) -> Any:
    """Return a number for each row and state: a frame for a frame, lists for lists, else an array.

    Examples
    --------
    >>> as_columns([["x"]], ("no", "yes"), np.array([[0.25, 0.75]]))
    [[0.25, 0.75]]
    """
    if nw.dependencies.is_pandas_dataframe(X):
        pandas = nw.dependencies.get_pandas()
        columns = pandas.Index(states, tupleize_cols=False)
        return pandas.DataFrame(values, index=X.index, columns=columns)
    if nw.dependencies.is_polars_dataframe(X) or nw.dependencies.is_polars_lazyframe(X):
        listed = {str(state): values[:, k] for k, state in enumerate(states)}
        return nw.dependencies.get_polars().DataFrame(listed)
    return values.tolist() if isinstance(X, list | tuple | Mapping) else values


def refilled(X: Any, columns: Sequence[Filled]) -> Any:
    """Return a copy of a container with the missing cells of some columns filled.

    Examples
    --------
    >>> column = Filled(1, "x1", np.array([0]), np.array([7, 5]), False)
    >>> refilled([[1, None], [2, 5]], [column])
    [[1, 7], [2, 5]]
    """
    if nw.dependencies.is_pandas_dataframe(X):
        return _pandas(X, columns)
    if nw.dependencies.is_polars_lazyframe(X):
        X = X.collect()
    if nw.dependencies.is_polars_dataframe(X):
        return X.with_columns([_polars(X, column) for column in columns])
    if isinstance(X, Mapping):
        out = dict(X)
        return out | {each.name: each.cells(list(X[each.name])) for each in columns}
    if isinstance(X, list | tuple):
        return _lists(X, columns)
    return _array(X, columns)


def _pandas(X: Any, columns: Sequence[Filled]) -> Any:
    """Return a frame of pandas with columns filled; types stay where they can hold the states."""
    pandas = nw.dependencies.get_pandas()
    out = X.copy()
    for each in columns:
        before = X[each.name]
        cells = each.cells(before.tolist())
        plain = isinstance(before.dtype, np.dtype)
        found = None
        if not plain and not each.whole:  # categories, nullable numbers, text
            try:
                found = pandas.Series(cells, index=X.index, name=each.name, dtype=before.dtype)
            except (TypeError, ValueError):
                found = None
            if found is not None and found.isna().sum() > sum(map(is_missing, cells)):
                found = None  # a state that is no category
        if found is None:
            found = pandas.Series(cells, index=X.index, name=each.name)
        integers = each.states.dtype.kind == "i" and found.dtype.kind == "f"
        out[each.name] = found.astype("int64") if integers and found.notna().all() else found
    return out


def _polars(X: Any, each: Filled) -> Any:
    """Return a column of polars, filled; its type stays where it can hold the states."""
    polars = nw.dependencies.get_polars()
    before = X.get_column(each.name)
    cells = each.cells(before.to_list())
    if not each.whole:
        try:
            return polars.Series(each.name, cells, dtype=before.dtype, strict=True)
        except (TypeError, ValueError, OverflowError, polars.exceptions.PolarsError):
            pass
    return polars.Series(each.name, cells, strict=False)


def _lists(X: Sequence[Any], columns: Sequence[Filled]) -> list[Any]:
    """Return lists of rows, or of dicts, with columns filled."""
    if X and isinstance(X[0], Mapping):
        records = [dict(row) for row in X]
        for each in columns:
            for row, cell in enumerate(each.cells([record.get(each.name) for record in X])):
                records[row][each.name] = cell
        return records
    rows = [list(row) for row in X]
    for each in columns:
        for row, cell in enumerate(each.cells([row[each.place] for row in rows])):
            rows[row][each.place] = cell
    return rows


def _array(X: Any, columns: Sequence[Filled]) -> NDArray[Any]:
    """Return an array with columns filled; of objects where it cannot hold the states."""
    dense = X.toarray() if hasattr(X, "toarray") else X  # of a sparse matrix
    gaps = np.ma.getmaskarray(dense) if isinstance(dense, np.ma.MaskedArray) else None
    out = np.array(dense)
    if gaps is not None and gaps.any():
        out = out.astype(object)
        out[gaps] = None
    for each in columns:
        cells = each.cells(out[:, each.place].tolist())
        numbers = each.states.dtype.kind in "if" and not each.whole
        if out.dtype.kind != "O" and not (numbers and out.dtype.kind == "f"):
            out = out.astype(object)
        out[:, each.place] = cells
    return out
