"""Batches of whatever holds rows in memory, or gives them piece by piece."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graftwork.data.columns import Raw
from graftwork.data.frames import from_frame
from graftwork.data.ingest import take_apart
from graftwork.data.scanning.arrow import arrow
from graftwork.data.scanning.batches import Batch, Columns
from graftwork.data.scanning.pieces import Choose, batch_of, batch_rows, reading
from graftwork.data.scanning.places import Place
from graftwork.data.table import Table
from graftwork.errors import DataError

# Rows at once of an Arrow table in memory.
_HELD_ROWS = 1 << 17


def library(data: Any, name: str) -> Any:
    """Return a library if it is imported and the data may be of it, or None."""
    module = type(data).__module__.partition(".")[0]
    return sys.modules.get(name) if module in (name, f"_{name}") else None


def batches_of(data: Any, choose: Choose, label: str = "") -> Iterator[Batch]:
    """Yield the rows of a table in memory: of Arrow, of polars, or of any container.

    Examples
    --------
    >>> batch, = batches_of({"a": [1, 2]}, lambda names, where: [0])
    >>> batch.names, batch.n_rows, batch.place(1)
    (('a',), 2, 'row 1')
    """
    pa = arrow()
    if isinstance(data, pa.RecordBatch):
        yield batch_of(data, choose, Place(label))
        return
    if isinstance(data, pa.Table):
        at, records = 0, data.to_batches(max_chunksize=_HELD_ROWS)
        for record in records or [_no_rows(data.schema)]:
            yield batch_of(record, choose, Place(label, at))
            at += record.num_rows
        return
    if isinstance(data, Table) and not (
        data.weights is None and not (data.ordered and data.ordered.scores)
    ):
        raise DataError(
            "a Table with weights or ordered variables cannot be scanned without losing them; "
            "it is already in memory: use it directly."
        )
    polars = library(data, "polars")
    if polars is not None and isinstance(data, polars.DataFrame):
        yield _of_polars(polars, data, choose, label)
        return
    pandas = library(data, "pandas")
    frame = pandas is not None and isinstance(data, pandas.DataFrame)
    raw = from_frame(data, whole=False) if frame else None
    yield _of_raw(take_apart(data) if raw is None else raw, choose, label, whole=raw is not None)


def _no_rows(schema: Any) -> Any:
    return arrow().RecordBatch.from_pylist([], schema=schema)


def _of_raw(raw: Raw, choose: Choose, label: str, *, whole: bool) -> Batch:
    """Return a container that was taken apart as one batch."""
    places = choose(raw.names, label)
    names = tuple(raw.names[at] for at in places)
    columns = Columns(len(names), lambda j: raw.column(places[j]))
    own = frozenset(names) if whole else frozenset()
    return Batch(names, columns, raw.n_rows, Place(label), whole=own)


def _of_polars(polars: Any, frame: Any, choose: Choose, label: str, at: int = 0) -> Batch:
    """Return a polars frame as one batch; types that Arrow has otherwise are listed by polars."""
    places = choose(frame.columns, label)
    names = tuple(frame.columns[k] for k in places)
    schema = frame.schema
    raw = from_frame(frame)
    assert raw is not None

    def column(j: int) -> Any:
        kind = schema[names[j]]
        simple = kind.is_integer() or kind.is_float() or kind == polars.Boolean
        text = kind in (polars.String, polars.Categorical) or isinstance(kind, polars.Enum)
        if not (simple or text or kind == polars.Date):
            return raw.column(places[j])
        found = frame.get_column(names[j]).rechunk().to_arrow()
        return found.combine_chunks() if hasattr(found, "chunks") else found

    return Batch(
        names,
        Columns(len(names), column),
        frame.height,
        Place(label, at),
        undeclared=frozenset(name for name in names if schema[name] == polars.Categorical),
        unordered=frozenset(name for name in names if isinstance(schema[name], polars.Enum)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class HeldPiece:
    """A table in memory."""

    data: Any
    label: str = ""
    rows: int | None = None
    titled: bool = True

    def batches(self, choose: Choose) -> Iterator[Batch]:
        """Yield the rows."""
        return batches_of(self.data, choose, self.label)


@dataclass(frozen=True, slots=True, eq=False)
class GivenPiece:
    """Batches that something gives one after the other: an iterator, a reader."""

    begin: Callable[[], Iterator[Any]]  # returns the iterator
    rows: int | None = None
    titled: bool = True

    def batches(self, choose: Choose) -> Iterator[Batch]:
        """Yield the rows; errors of the iterator itself are the caller's own, and pass."""
        for number, item in enumerate(self.begin()):
            check_item(item)
            label = f"batch {number}"
            with reading(label):
                yield from batches_of(item, choose, label)


def check_item(item: Any) -> None:
    """Raise if an item of an iterable is a row rather than a table of rows; return None.

    Examples
    --------
    >>> check_item({"a": [1, 2]})
    >>> check_item({"a": 1})
    Traceback (most recent call last):
    graftwork.errors.DataError: expected a batch of several rows, but got a single row: ...
    """
    cells = list(item.values()) if isinstance(item, Mapping) else None
    if isinstance(item, list | tuple):
        cells = [cell for cell in item if not isinstance(cell, list | tuple | Mapping)][:1]
    if cells and all(cell is None or isinstance(cell, str | int | float) for cell in cells):
        raise DataError(
            "expected a batch of several rows, but got a single row: pass record batches, frames "
            "or dicts of columns; gw.as_table reads a list of rows."
        )


@dataclass(frozen=True, slots=True, eq=False)
class LazyPiece:
    """A lazy frame of polars, collected in batches."""

    frame: Any
    memory: int
    rows: int | None = None
    titled: bool = True

    def batches(self, choose: Choose) -> Iterator[Batch]:
        """Yield the rows; only the columns wanted are collected."""
        polars, frame = sys.modules["polars"], self.frame
        with reading("the lazy frame"):
            names = frame.collect_schema().names()
        places = choose(names, "the lazy frame")
        wanted = frame.select([names[at] for at in places])
        most, at = batch_rows(self.memory, len(places)), 0
        with reading("the lazy frame"):
            for number, part in enumerate(_collected(wanted, most)):
                yield _of_polars(polars, part, choose, f"batch {number}", at)
                at += part.height


def _collected(frame: Any, rows: int) -> Iterator[Any]:
    """Yield frames of a lazy one of about so many rows, in their order."""
    if hasattr(frame, "collect_batches"):
        yield from frame.collect_batches(chunk_size=rows, maintain_order=True)
    else:
        yield from frame.collect(engine="streaming").iter_slices(rows)


@dataclass(frozen=True, slots=True, eq=False)
class RelationPiece:
    """A relation of DuckDB."""

    relation: Any
    memory: int
    rows: int | None = None
    titled: bool = True

    def batches(self, choose: Choose) -> Iterator[Batch]:
        """Yield the rows; only the columns wanted are computed."""
        names = list(self.relation.columns)
        wanted = [names[at] for at in choose(names, "the relation")]
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in wanted)
        with reading("the relation"):
            chosen = self.relation.project(quoted)
            read = getattr(chosen, "to_arrow_reader", None) or chosen.fetch_arrow_reader
            records = read(batch_rows(self.memory, len(wanted)))
        yield from _of_reader(records, choose)


def _of_reader(records: Any, choose: Choose) -> Iterator[Batch]:
    """Yield the rows of an Arrow record batch reader."""
    number = at = 0
    while True:
        with reading(f"batch {number}"):
            record = next(records, None)
        if record is None:
            return
        yield batch_of(record, choose, Place(f"batch {number}", at))
        number, at = number + 1, at + record.num_rows


@dataclass(frozen=True, slots=True, eq=False)
class ReaderPiece:
    """Record batches of Arrow that can be read once."""

    reader: Any
    rows: int | None = None
    titled: bool = True

    def batches(self, choose: Choose) -> Iterator[Batch]:
        """Yield the rows."""
        choose(self.reader.schema.names, "the reader")
        return _of_reader(iter(self.reader), choose)


@dataclass(frozen=True, slots=True, eq=False)
class FragmentPiece:
    """A fragment of an Arrow data set: a file, or part of one."""

    fragment: Any
    schema: Any
    label: str
    memory: int
    rows: int | None = None
    titled: bool = True

    def batches(self, choose: Choose) -> Iterator[Batch]:
        """Yield the rows; only the columns wanted are read."""
        names = self.schema.names
        wanted = [names[at] for at in choose(names, self.label)]
        most, at = batch_rows(self.memory, len(wanted)), 0
        with reading(self.label):
            found = self.fragment.to_batches(
                schema=self.schema, columns=wanted, batch_size=most, use_threads=False
            )
            for record in found:
                yield batch_of(record, choose, Place(self.label, at))
                at += record.num_rows


@dataclass(frozen=True, slots=True, eq=False)
class PartitionPiece:
    """A partition of a Dask frame."""

    frame: Any
    number: int
    rows: int | None = None
    titled: bool = True

    def batches(self, choose: Choose) -> Iterator[Batch]:
        """Yield the rows; only the columns wanted are computed."""
        label = f"partition {self.number}"
        names: Sequence[Hashable] = list(self.frame.columns)
        wanted = [names[at] for at in choose(names, label)]
        with reading(label):
            part = self.frame[wanted].partitions[self.number].compute(scheduler="synchronous")
        yield from batches_of(part, choose, label)
