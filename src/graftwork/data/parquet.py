"""Parquet files, by whichever library is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graftwork.data.columns import Raw
from graftwork.data.frames import from_frame
from graftwork.data.sources import Source
from graftwork.errors import DataError

#: All names of a file, and the positions of those that are read.
Choose = Callable[[Sequence[Any]], list[int]]


def read_parquet(source: Source, choose: Choose) -> Raw:
    """Return the columns of a Parquet file; others than those chosen are not read.

    pyarrow reads it, or polars, or pandas (which needs fastparquet then).

    Raises
    ------
    DataError
        If none of them is installed, or the file cannot be read.
    """
    for read in (_by_pyarrow, _by_polars, _by_pandas):
        try:
            raw = from_frame(read(source, choose))
        except ImportError:
            continue
        except (DataError, MemoryError):
            raise
        except Exception as error:  # each library has errors of its own
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise DataError(f"cannot be read as Parquet ({first}).") from error
        assert raw is not None
        return raw
    raise DataError(
        "reading Parquet needs pyarrow or polars: pip install 'graftwork[parquet]' brings pyarrow; "
        "or save the table as CSV."
    )


def _by_pyarrow(source: Source, choose: Choose) -> Any:
    import pyarrow.parquet as pq

    # A file object, so that folders called key=value are not taken for columns.
    with source.open() as stream, pq.ParquetFile(stream) as file:
        names = file.schema_arrow.names
        places = choose(names)
        table = file.read(columns=sorted({names[j] for j in places}))
        if len(set(names)) < len(names):  # refused in our words
            return table
        return table.select([names[j] for j in places])


def _by_polars(source: Source, choose: Choose) -> Any:
    import polars as pl

    with source.open() as stream:
        names = list(pl.read_parquet_schema(stream))
        stream.seek(0)
        return pl.read_parquet(stream, columns=[names[j] for j in choose(names)])


def _by_pandas(source: Source, choose: Choose) -> Any:
    import pandas as pd

    with source.open() as stream:
        frame = pd.read_parquet(stream)
    return frame.iloc[:, choose(frame.columns.tolist())]
