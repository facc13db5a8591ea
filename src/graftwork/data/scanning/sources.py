"""What `scan` is given: files, frames, relations, readers and iterables, as lists of pieces."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graftwork.data.frames import from_frame
from graftwork.data.scanning.arrow import arrow
from graftwork.data.scanning.containers import (
    FragmentPiece,
    GivenPiece,
    HeldPiece,
    LazyPiece,
    PartitionPiece,
    ReaderPiece,
    RelationPiece,
    check_item,
    library,
)
from graftwork.data.scanning.options import ScanOptions
from graftwork.data.scanning.paths import FileSource
from graftwork.data.scanning.pieces import Piece
from graftwork.data.table import Table
from graftwork.errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Rows that are not in files of their own."""

    columns: list[Any] | None  # all columns, if they are known before reading
    # returns the pieces; it is given the bytes of memory that may be used
    make: Callable[[int], Sequence[Piece]]
    what: str  # A word for it
    notes: tuple[str, ...] = ()

    def names(self) -> list[Any] | None:
        """Return all columns, if they are known before reading."""
        return self.columns

    def pieces(self, options: ScanOptions) -> list[Piece]:
        """Return the pieces."""
        return list(self.make(options.memory))

    def fingerprint(self) -> Any:
        """Return None: another run cannot know whether the rows are the same."""
        return None


def source_of(data: Any, sep: str | None, header: Any) -> Source | FileSource:
    """Return a source for anything that `scan` takes.

    Examples
    --------
    >>> source_of({"a": [1, 2]}, None, "auto").names()
    ['a']
    """
    pa = arrow()
    if isinstance(data, str | os.PathLike) or _are_paths(data):
        return FileSource.of(data, sep, header)
    if isinstance(data, pa.Table | pa.RecordBatch):
        return Source(data.schema.names, lambda _: [HeldPiece(data, rows=data.num_rows)], "table")
    if isinstance(data, pa.RecordBatchReader):
        return _once(data, data.schema.names, ReaderPiece, "reader")
    for name, make in (("polars", _of_polars), ("duckdb", _of_duckdb), ("pyarrow", _of_dataset)):
        if library(data, name) is not None:
            found = make(data)
            if found is not None:
                return found
    if is_dask(data):
        return Source(
            list(data.columns),
            lambda _: [PartitionPiece(data, k) for k in range(data.npartitions)],
            "Dask frame",
        )
    if isinstance(data, Table | Mapping | np.ndarray) or library(data, "pandas") is not None:
        return _held(data)
    if isinstance(data, Iterable) and not isinstance(data, bytes):
        return _of_iterable(data)
    if callable(data):
        return Source(None, lambda _: [GivenPiece(lambda: iter(data()))], "function")
    if from_frame(data) is not None:
        return _held(data)
    raise DataError(
        f"a {type(data).__name__} cannot be scanned; pass a path, a glob, a folder, a frame, a "
        "relation, a reader or an iterable of record batches, frames or dicts of columns."
    )


def _are_paths(data: Any) -> bool:
    listed = isinstance(data, list | tuple) and len(data) > 0
    return listed and all(isinstance(each, str | os.PathLike) for each in data)


def _held(data: Any) -> Source:
    """Return a source for a table in memory."""
    names = list(data.names) if isinstance(data, Table) else None
    if isinstance(data, Mapping):
        check_item(data)
        names = list(data)
    elif hasattr(data, "columns") and names is None:
        names = list(data.columns)
    shape = getattr(data, "shape", None)
    rows = int(shape[0]) if shape else None
    return Source(names, lambda _: [HeldPiece(data, rows=rows)], "table")


def _of_polars(data: Any) -> Source | None:
    polars = library(data, "polars")
    if isinstance(data, polars.LazyFrame):
        return Source(
            data.collect_schema().names(), lambda memory: [LazyPiece(data, memory)], "lazy frame"
        )
    if isinstance(data, polars.DataFrame):
        return Source(data.columns, lambda _: [HeldPiece(data, rows=data.height)], "frame")
    return None


def _of_duckdb(data: Any) -> Source | None:
    if not hasattr(data, "project") or not hasattr(data, "columns"):
        return None
    return Source(list(data.columns), lambda memory: [RelationPiece(data, memory)], "relation")


def _of_dataset(data: Any) -> Source | None:
    if not hasattr(data, "get_fragments"):
        return None

    def pieces(memory: int) -> list[Piece]:
        found = enumerate(data.get_fragments())
        return [
            FragmentPiece(each, data.schema, getattr(each, "path", "") or f"fragment {k}", memory)
            for k, each in found
        ]

    return Source(data.schema.names, pieces, "data set")


def is_dask(data: Any) -> bool:
    """Return whether data are a Dask frame."""
    module = type(data).__module__.partition(".")[0]
    return module in ("dask", "dask_expr") and hasattr(data, "npartitions")


def _of_iterable(data: Iterable[Any]) -> Source:
    if isinstance(data, list | tuple):
        for item in data[:1]:
            check_item(item)
        return Source(
            None,
            lambda _: [HeldPiece(item, f"batch {k}") for k, item in enumerate(data)],
            "list",
        )
    if isinstance(data, Iterator):
        return _once(data, None, lambda given: GivenPiece(lambda: iter(given)), "iterator")
    return Source(None, lambda _: [GivenPiece(lambda: iter(data))], "iterable")


def _once(data: Any, names: list[Any] | None, make: Callable[[Any], Piece], what: str) -> Source:
    """Return a source for something that can be read once only."""
    left = [data]

    def pieces(_memory: int) -> list[Piece]:
        if not left:
            raise DataError(
                f"the {what} has already been read and yields its rows only once; create a new "
                "one, or pass a function that returns one."
            )
        return [make(left.pop())]

    return Source(names, pieces, what)
