"""Pieces of a source: each can be read for itself, batch by batch, and says where its rows are."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from graftwork.data.encode import Coded
from graftwork.data.files import opened_text, unpacked_bytes
from graftwork.data.scanning.arrow import arrow
from graftwork.data.scanning.batches import Batch
from graftwork.data.scanning.places import Place
from graftwork.data.sources import Source, check_unpacked
from graftwork.data.text import TextColumns
from graftwork.errors import DataError, TooLargeError
from graftwork.text import readable

#: All columns of a batch and where it is; returns the positions of those that are wanted.
Choose = Callable[[Sequence[Any], str], list[int]]
Names = tuple[Hashable, ...]

# Rows of a batch: the most that are read at once, and the fewest whatever the memory.
_MOST_ROWS, _FEWEST_ROWS = 1 << 17, 1 << 10
# Bytes that a cell may take in a batch, and the share of the memory for it.
_CELL_BYTES, _SHARE = 16, 8
#: Rows of a piece of a Parquet file, if its row groups allow it.
PIECE_ROWS = 1 << 20


def batch_rows(memory: int, n_columns: int) -> int:
    """Return how many rows are read at once.

    Examples
    --------
    >>> batch_rows(2 * 10**9, 40), batch_rows(2 * 10**9, 1000), batch_rows(10**7, 1000)
    (131072, 15625, 1024)
    """
    fitting = memory // (_CELL_BYTES * _SHARE * max(n_columns, 1))
    return min(max(fitting, _FEWEST_ROWS), _MOST_ROWS)


class Piece(Protocol):
    """Some rows of a source."""

    @property
    def rows(self) -> int | None:
        """How many, if that is known before they are read."""

    @property
    def titled(self) -> bool:
        """Whether names came with the data."""

    def batches(self, choose: Choose) -> Iterator[Batch]:
        """Yield the rows in their order; `choose` says which columns are read."""


def batch_of(
    record: Any, choose: Choose, place: Place, *, undeclared: frozenset[Hashable] = frozenset()
) -> Batch:
    """Return the columns wanted of an Arrow record batch.

    Examples
    --------
    >>> import pyarrow as pa
    >>> record = pa.RecordBatch.from_pydict({"a": [1], "b": [2]})
    >>> batch_of(record, lambda names, where: [1], Place("t")).names
    ('b',)
    """
    names = record.schema.names
    places = choose(names, place.label)
    listed = tuple(names[at] for at in places)
    columns = [record.column(at) for at in places]
    return Batch(listed, columns, record.num_rows, place, undeclared=undeclared)


@contextmanager
def reading(label: str) -> Iterator[None]:
    """Turn what libraries raise while they read into one error that says where."""
    try:
        yield
    except TooLargeError as error:
        raise TooLargeError(f"{label}: {error}") from error
    except MemoryError:
        raise
    except DataError as error:
        if str(error).startswith(readable(label)):
            raise
        raise DataError(f"{label}: {error}") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{label}: the compressed file is damaged ({error}).") from error
    except Exception as error:  # each library has errors of its own
        words = getattr(error, "strerror", None) or str(error)
        first = (words.splitlines() or [""])[0] or type(error).__name__
        raise DataError(f"{label}: cannot be read ({first.rstrip('.')}).") from error


@dataclass(frozen=True, slots=True)
class ParquetPiece:
    """Some row groups of a Parquet file."""

    path: str  # path, label: the file, and what errors call it
    label: str
    groups: tuple[int, ...]  # the row groups
    starts: tuple[int, ...]  # the number of the first row of each
    rows: int
    memory: int  # bytes that may be used
    titled: bool = True

    def batches(self, choose: Choose) -> Iterator[Batch]:
        """Yield the rows; texts are read with the file's own dictionaries."""
        pa = arrow()
        import pyarrow.parquet as pq

        with ExitStack() as stack:
            with reading(self.label):
                # A file object, so that folders called key=value are not taken for columns.
                stream = stack.enter_context(open(self.path, "rb"))
                schema = pq.read_schema(stream)
                names = schema.names
                places = choose(names, self.label)
                wanted = [names[at] for at in places]
                plain = [
                    name
                    for name in wanted
                    if pa.types.is_string(schema.field(name).type)
                    or pa.types.is_large_string(schema.field(name).type)
                ]
                stream.seek(0)
                file = pq.ParquetFile(stream, read_dictionary=plain, pre_buffer=False)
            undeclared, most = frozenset(plain), batch_rows(self.memory, len(wanted))
            for group, first in zip(self.groups, self.starts, strict=True):
                where, at = f"{self.label}, row group {group}", first
                with reading(where):
                    found = file.iter_batches(most, [group], wanted, use_threads=False)
                while True:
                    with reading(where):
                        record = next(found, None)
                    if record is None:
                        break
                    place = Place(where, at)
                    columns = [record.column(name) for name in wanted]
                    at += record.num_rows
                    yield Batch(
                        tuple(wanted), columns, record.num_rows, place, undeclared=undeclared
                    )


def parquet_pieces(path: str, label: str, memory: int) -> tuple[list[Any], list[ParquetPiece]]:
    """Return the columns of a Parquet file, and its pieces."""
    import pyarrow.parquet as pq

    with reading(label), open(path, "rb") as stream:
        file = pq.ParquetFile(stream)
        check_unpacked(unpacked_bytes(file.metadata), Path(path).stat().st_size)
        sizes = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
        names = file.schema_arrow.names
    starts = np.cumsum([0, *sizes]).tolist()
    pieces, begun = [], 0
    for k in range(len(sizes)):
        if k + 1 == len(sizes) or starts[k + 2] - starts[begun] > PIECE_ROWS:
            groups = tuple(range(begun, k + 1))
            own = tuple(starts[begun : k + 1])
            rows = starts[k + 1] - starts[begun]
            pieces.append(ParquetPiece(path, label, groups, own, rows, memory))
            begun = k + 1
    return names, pieces or [ParquetPiece(path, label, (), (), 0, memory)]


@dataclass(frozen=True, slots=True)
class ArrowPiece:
    """An Arrow IPC file (Feather), or a file of an Arrow stream."""

    path: str
    label: str
    rows: int | None = None
    titled: bool = True

    def batches(self, choose: Choose) -> Iterator[Batch]:
        """Yield the rows."""
        pa = arrow()
        with reading(self.label):
            stream = pa.memory_map(self.path)
        with stream:
            with reading(self.label):
                records = _records(stream)
                choose(next(records), self.label)
            number = at = 0
            while True:
                where = f"{self.label}, record batch {number}"
                with reading(where):
                    record = next(records, None)
                if record is None:
                    return
                yield batch_of(record, choose, Place(where, at))
                number, at = number + 1, at + record.num_rows


def _records(stream: Any) -> Iterator[Any]:
    """Yield the column names of an Arrow file or stream, then its record batches."""
    ipc = arrow().ipc
    if stream.read(6) == b"ARROW1":
        file = ipc.open_file(stream)
        yield file.schema.names
        for k in range(file.num_record_batches):
            yield file.get_batch(k)
    else:
        stream.seek(0)
        with ipc.open_stream(stream) as reader:
            yield reader.schema.names
            yield from reader


def arrow_names(path: str, label: str) -> list[Any]:
    """Return the columns of an Arrow file."""
    with reading(label), arrow().memory_map(path) as stream:
        names: list[Any] = next(_records(stream))
        return names


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A CSV file or one of its cousins, plain or gzipped."""

    path: str
    label: str
    sep: str  # what parts its cells
    header: bool  # whether its first row has titles
    rows: int | None = None

    @property
    def titled(self) -> bool:
        """Whether its first row has titles."""
        return self.header

    def batches(self, choose: Choose) -> Iterator[Batch]:
        """Yield the rows, cells as texts."""
        source = Source.of(Path(self.path))
        with reading(self.label), opened_text(source, self.sep, self.header) as text:
            places = choose(text.titles, self.label)
            names = tuple(text.titles[at] for at in places)
            titles = text.titles if text.header else ()
            for rows, lines in text.chunks:
                columns = TextColumns(len(text.titles), places, titles)
                columns.add(rows, lines)
                cells = [
                    Coded(codes, tuple(book))
                    for codes, book in zip(columns.codes(), columns.books, strict=True)
                ]
                yield Batch(names, cells, len(rows), self._place(lines), texts=True)

    def _place(self, lines: list[int]) -> Place:
        found = np.array(lines, dtype=np.int64)
        follow = bool((np.diff(found) == 1).all())
        return Place(self.label, lines[0], "line", None if follow else found)
