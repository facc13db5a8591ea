"""Frames taken apart through narwhals: pandas, polars, Arrow, Dask and others.

Codes of text and of categories are read where pandas and Arrow keep them, since narwhals does not
give them: docs/decisions/frames.md. None of these libraries is imported here.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from graftwork.data.columns import Raw, clean_names
from graftwork.data.encode import Coded, arranged, relabelled
from graftwork.data.values import is_missing, key, plain

#: Larger floats need not be the integers they were made of.
LARGEST_WHOLE = 2.0**53


def from_frame(data: Any, *, whole: bool = True) -> Raw | None:
    """Return a frame's names and columns, or None if `data` is not a frame.

    Lazy frames are collected; columns are converted one at a time when asked for. Floats of pandas
    become integers if all are whole, unless `whole` is False.

    Examples
    --------
    >>> import pandas as pd
    >>> from_frame(pd.DataFrame({"a": [1, 2]})).names
    ('a',)
    >>> from_frame([[1, 2]]) is None
    True
    """
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(data, arrow.RecordBatch):
        data = arrow.Table.from_batches([data])
    try:
        frame: Any = nw.from_native(data, pass_through=True)
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        if not isinstance(frame, nw.DataFrame):
            return None
        names = clean_names(frame.columns)
    except nw.exceptions.DuplicateError:
        names = clean_names(getattr(data, "column_names", None) or data.columns)  # refuses them
        raise
    return Raw(names, frame.shape[0], lambda j: _column(frame[:, j], whole), named=True)


def from_series(data: Any) -> Any:
    """Return a series as a column that can be encoded, or None if `data` is not one.

    Examples
    --------
    >>> import pandas as pd
    >>> from_series(pd.Categorical([1, 2], categories=[2, 1, 0])).states
    (2, 1, 0)
    """
    pandas, arrow = nw.dependencies.get_pandas(), sys.modules.get("pyarrow")
    if pandas is not None and isinstance(data, pandas.Categorical | pandas.Index):
        data = pandas.Series(data)
    if arrow is not None and isinstance(data, arrow.Array):
        data = arrow.chunked_array([data])
    series: Any = nw.from_native(data, pass_through=True, allow_series=True)
    return _column(series) if isinstance(series, nw.Series) else None


def _column(series: Any, whole: bool = True) -> Any:
    """Return a column coded by its categories or texts, or as an array or list."""
    dtype, native = series.dtype, series.to_native()
    if isinstance(getattr(native, "dtype", None), np.dtype):
        return _whole(native.to_numpy()) if whole else native.to_numpy()
    if dtype in (nw.String, nw.Categorical) or dtype == nw.Enum:
        return _by_codes(series)
    if dtype.is_float():
        return series.to_numpy()
    if (dtype.is_integer() or dtype == nw.Boolean) and series.null_count() == 0:
        array = series.to_numpy()
        return array if array.dtype.kind in "biu" else series.to_list()
    return series.to_list()


def _whole(column: Any) -> Any:
    """Return floats of pandas as integers if they are whole, missing ones masked.

    pandas has no missing integers: a gap makes floats of the whole column, and 1 becomes 1.0. A
    file with the same cells has 1.

    Examples
    --------
    >>> _whole(np.array([1.0, np.nan])).tolist(), _whole(np.array([1.5, 2.0])).tolist()
    ([1, None], [1.5, 2.0])
    """
    if column.dtype.kind != "f":
        return column
    gone = np.isnan(column)
    values = np.where(gone, 0.0, column)
    if gone.all() or not (np.abs(values) <= LARGEST_WHOLE).all() or (values % 1.0).any():
        return column
    whole = values.astype(np.int64)
    return np.ma.MaskedArray(whole, gone) if gone.any() else whole


def _by_codes(series: Any) -> Coded:
    """Return a column of text or categories, coded by its library."""
    native = series.to_native()
    if hasattr(native, "cat") and hasattr(native.cat, "codes"):
        codes, listed = native.cat.codes.to_numpy(), native.cat.categories.tolist()
        return by_categories(codes, listed, bool(getattr(native.cat, "ordered", False)))
    if hasattr(native, "factorize"):
        codes, found = native.factorize()
        return arranged(codes, found.tolist())
    if nw.dependencies.is_pyarrow_chunked_array(native):
        if hasattr(native.type, "index_type"):
            return by_categories(*_arrow_dictionary(native), bool(native.type.ordered))
        return arranged(*_arrow_dictionary(native.dictionary_encode()))
    # A polars Categorical declares nothing: its categories are shared by all columns.
    declared = series.dtype == nw.Enum
    texts = list(series.dtype.categories if declared else series.drop_nulls().unique())
    numbers = series.replace_strict(texts, list(range(len(texts))), return_dtype=nw.Int64)
    codes = numbers.fill_null(-1).to_numpy()
    return by_categories(codes, texts) if declared else arranged(codes, texts)


def _arrow_dictionary(chunks: Any) -> tuple[Any, list[Any]]:
    """Return the codes of an Arrow dictionary column, -1 where missing, and its dictionary."""
    whole = chunks.unify_dictionaries().combine_chunks()
    if hasattr(whole, "chunks"):  # older pyarrow keeps one chunk wrapped
        whole = whole.chunk(0)
    codes = whole.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    return codes, whole.dictionary.to_pylist()


def by_categories(codes: Any, categories: list[Any], ordered: bool = False) -> Coded:
    """Return a column whose states are its declared categories, in their order.

    Examples
    --------
    >>> by_categories(np.array([1, -1]), ["b", "a"]).states
    ('b', 'a')
    """
    values = [plain(value) for value in categories]
    gone = np.array([is_missing(value) for value in values], dtype=np.bool_)
    states = {key(v): v for v, skip in zip(values, gone, strict=True) if not skip}
    found = relabelled(codes, values, gone, tuple(states.values()), declared=True)
    return replace(found, ordered=ordered)
