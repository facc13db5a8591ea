"""Frames taken apart: pandas by its own means, the rest through narwhals.

Declared categories are read from each library's own type, because they list states that never
occur and keep ints as ints. None of these libraries is imported here.
"""

from __future__ import annotations

import sys
from typing import Any

import narwhals as nw
import numpy as np

from graftwork.data.columns import Raw, clean_names
from graftwork.data.encode import Coded, arranged, relabelled
from graftwork.data.values import is_missing, key, plain


def from_frame(data: Any) -> Raw | None:
    """Return a frame's names and columns, or None if `data` is not a frame.

    Examples
    --------
    >>> import pandas as pd
    >>> from_frame(pd.DataFrame({"a": [1, 2]})).names
    ('a',)
    >>> from_frame([[1, 2]]) is None
    True
    """
    if nw.dependencies.is_pandas_dataframe(data):
        names = clean_names(data.columns.tolist())
        return Raw(names, len(data), lambda j: _pandas_column(data.iloc[:, j]), named=True)
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(data, arrow.RecordBatch):
        data = arrow.Table.from_batches([data])
    if arrow is not None and isinstance(data, arrow.Table):
        clean_names(data.column_names)  # narwhals would complain in its own words
    frame: Any = nw.from_native(data, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        return None
    return Raw(
        tuple(frame.columns), frame.shape[0], lambda j: _narwhals_column(frame[:, j]), named=True
    )


def from_series(data: Any) -> Any:
    """Return a series as a column that can be encoded, or None if `data` is not one.

    Examples
    --------
    >>> import pandas as pd
    >>> from_series(pd.Categorical([1, 2], categories=[2, 1, 0])).states
    (2, 1, 0)
    """
    pandas = nw.dependencies.get_pandas()
    if pandas is not None and isinstance(data, pandas.Categorical | pandas.Index):
        data = pandas.Series(data)
    if nw.dependencies.is_pandas_series(data):
        return _pandas_column(data)
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(data, arrow.Array):
        data = arrow.chunked_array([data])
    series: Any = nw.from_native(data, pass_through=True, allow_series=True)
    return _narwhals_column(series) if isinstance(series, nw.Series) else None


def _pandas_column(series: Any) -> Any:
    """Return a pandas column coded by its categories, or as an array."""
    if hasattr(series, "cat"):
        return _by_dictionary(series.cat.codes.to_numpy(), series.cat.categories.tolist())
    if isinstance(series.dtype, np.dtype):
        return series.to_numpy()
    if series.dtype.kind == "c":
        return series.to_numpy(dtype=np.complex128)
    try:
        codes, found = series.factorize()
    except (TypeError, NotImplementedError):  # nested Arrow types: let the cells speak
        return series.tolist()
    return arranged(codes, found.tolist())


def _narwhals_column(series: Any) -> Any:
    """Return a column coded by its categories, or as an array or list."""
    native = series.to_native()
    text = series.dtype in (nw.String, nw.Categorical)
    if nw.dependencies.is_polars_series(native) and (text or series.dtype == nw.Enum):
        return _polars_text(native, declared=series.dtype == nw.Enum)
    if nw.dependencies.is_pyarrow_chunked_array(native):
        if hasattr(native.type, "index_type"):
            return _by_dictionary(*_arrow_dictionary(native))
        if text:
            return arranged(*_arrow_dictionary(native.dictionary_encode()))
    if (series.dtype.is_integer() or series.dtype == nw.Boolean) and series.null_count() == 0:
        return _exact(series)
    if series.dtype.is_float():
        return series.to_numpy()
    return series.to_list()


def _exact(series: Any) -> Any:
    """Return whole numbers as an array, or as a list where NumPy has no type for them."""
    array = series.to_numpy()
    return array if array.dtype.kind in "biu" else series.to_list()


def _polars_text(series: Any, *, declared: bool) -> Coded:
    """Return a polars column of text coded by its Enum, or by the texts found in it.

    A polars Categorical declares nothing: its categories are shared by all columns.
    """
    polars = sys.modules["polars"]  # loaded, since its series came in
    if not declared:
        series = series.cast(polars.String)
        series = series.cast(polars.Enum(series.drop_nulls().unique().sort()))
    codes = series.to_physical().cast(polars.Int64).fill_null(-1).to_numpy()
    texts = series.dtype.categories.to_list()
    return _by_dictionary(codes, texts) if declared else arranged(codes, texts)


def _arrow_dictionary(chunks: Any) -> tuple[Any, list[Any]]:
    """Return the codes of an Arrow dictionary column, -1 where missing, and its dictionary."""
    whole = chunks.unify_dictionaries().combine_chunks()
    if hasattr(whole, "chunks"):  # older pyarrow keeps one chunk wrapped
        whole = whole.chunk(0)
    codes = whole.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    return codes, whole.dictionary.to_pylist()


def _by_dictionary(codes: Any, categories: list[Any]) -> Coded:
    """Return a column whose states are its declared categories, in their order."""
    values = [plain(value) for value in categories]
    gone = np.array([is_missing(value) for value in values], dtype=np.bool_)
    states = {key(v): v for v, skip in zip(values, gone, strict=True) if not skip}
    return relabelled(codes, values, gone, tuple(states.values()), declared=True)
