"""From anything whose rows come in parts to a PlacedTable, by the engine asked for."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from graftwork.data.engines import Here, Processes
from graftwork.data.engines.dask import DaskEngine
from graftwork.data.parts import Engine, join
from graftwork.data.placed import PlacedTable
from graftwork.data.scanning import Scan, StoredTable, scan
from graftwork.data.scanning.containers import (
    GivenPiece,
    HeldPiece,
    LazyPiece,
    PartitionPiece,
    ReaderPiece,
    RelationPiece,
)
from graftwork.data.scanning.encoding import EncodedPiece, Running, encode_piece
from graftwork.data.scanning.options import ScanOptions
from graftwork.data.scanning.stored import small_lookups
from graftwork.data.scanning.uniting import unite
from graftwork.data.scores import Ordered
from graftwork.data.table import Table
from graftwork.errors import ParameterError

#: Called with the rows read so far, and all of them if their number is known.
Progress = Callable[[int, int | None], None]
# Modules whose objects hold rows that are not in memory, and the names of their classes.
LAZY = {"dask", "dask_expr", "duckdb", "_duckdb"}
LAZY_CLASSES = {"LazyFrame", "Dataset", "FileSystemDataset", "RecordBatchReader"}
# Pieces that cannot be read by another process.
BOUND = (GivenPiece, LazyPiece, ReaderPiece, RelationPiece)


def comes_in_parts(data: Any) -> bool:
    """Return whether rows are read in parts: those of scans, globs, folders and lazy frames.

    Examples
    --------
    >>> comes_in_parts("sales/*.parquet"), comes_in_parts("sales.csv"), comes_in_parts([[1, 2]])
    (True, False, False)
    """
    if isinstance(data, Scan | StoredTable | PlacedTable | Iterator):
        return True
    if isinstance(data, list | tuple) and data:
        return all(isinstance(each, str | os.PathLike) and _is_table(each) for each in data)
    if isinstance(data, str | os.PathLike):
        text = os.fspath(data)
        return "\n" not in text and (
            (glob.has_magic(text) and not os.path.exists(text)) or os.path.isdir(text)
        )
    kind = type(data)
    return kind.__module__.partition(".")[0] in LAZY or (
        kind.__name__ in LAZY_CLASSES and kind.__module__.startswith(("polars", "pyarrow"))
    )


def _is_table(path: str | os.PathLike[str]) -> bool:
    """Return whether a text in a list is the path of a file, or a glob."""
    text = os.fspath(path)
    return "\n" not in text and (Path(text).is_file() or comes_in_parts(text))


@contextmanager
def placed(
    data: Any,
    *,
    states: Any = None,
    weights: Any = None,
    missing: Any = "error",
    bins: Any = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Iterator[PlacedTable]:
    """Yield the rows in parts; scratch files and processes go when the block ends."""
    if isinstance(data, PlacedTable):
        yield data
        return
    if isinstance(data, StoredTable):
        engine: Engine = Here(n_jobs)
        try:
            yield PlacedTable.of(data, engine)
        finally:
            engine.close()
        return
    source = data if isinstance(data, Scan) else scan(data)
    engine = engine_of(source, n_jobs)
    told: dict[str, Any] = {"states": states, "weights": weights, "missing": missing, "bins": bins}
    try:
        if isinstance(engine, Here | Processes):
            with source.store(**told, progress=progress) as stored:
                yield PlacedTable.of(stored, engine)
        else:
            yield place_pieces(source, engine, progress=progress, **told)
    finally:
        if engine is not source.engine:
            engine.close()


def engine_of(source: Scan, n_jobs: int | None = None) -> Engine:
    """Return the engine that a scan asks for.

    Examples
    --------
    >>> type(engine_of(scan({"a": [1]}))).__name__
    'Here'
    """
    asked = source.engine
    if asked is None:
        return Here(n_jobs, source.workdir)
    if not isinstance(asked, str):
        found: Engine = asked
        return found
    if asked == "processes":
        return Processes(n_jobs)
    if asked == "dask":
        return DaskEngine(source.client)
    raise ParameterError(f"engine is {asked!r}, but it must be 'processes', 'dask' or an Engine.")


def place_pieces(
    source: Scan, engine: Engine, progress: Progress | None = None, **told: Any
) -> PlacedTable:
    """Return a scan's rows, each piece encoded where the engine has it."""
    options = source.options_for(**told)
    pieces = source.source.pieces(options)
    bound = [piece for piece in pieces if isinstance(piece, BOUND)]
    if bound:
        raise ParameterError(
            f"a {getattr(source.source, 'what', 'file')} can only be read in this process, not by "
            "the workers of a cluster: leave engine out, or write the rows to Parquet files and "
            "scan those."
        )
    sizes = [piece.rows for piece in pieces]

    def tell(done: int) -> None:
        if progress is not None:
            known = None if None in sizes else sum(size or 0 for size in sizes)
            progress((known or 0) * done // max(len(pieces), 1), known)

    if isinstance(engine, DaskEngine) and isinstance(pieces[0], PartitionPiece):
        frame = pieces[0].frame
        listed = [frame.columns[at] for at in options.chosen(list(frame.columns))]
        encoded = engine.place_frame(frame[listed], _encode_partition, options)
    else:
        makers = [partial(encode_piece, piece, options) for piece in pieces]
        encoded = engine.place(makers, tell)
    running: list[Running] = engine.total(encoded, _running, add=join)
    united = unite(running, options)
    if progress is not None:
        progress(united.n_rows, united.n_rows)
    lookups = [(small_lookups(own, united.states),) for own in united.lookups]
    tables = engine.map(
        encoded, _finished, united.names, united.states, united.ordered, own=lookups
    )
    notes = (*source.source.notes, *united.notes)
    return PlacedTable(
        united.names, united.states, united.ordered, notes, united.state_counts,
        united.row_counts, tuple(one.n_rows for one in running), united.total_weight,
        any(one.weighted for one in running), options.memory, engine, tables,
        first_seen=united.first_seen,
    )  # fmt: skip


def _encode_partition(partition: Any, number: int, options: ScanOptions) -> EncodedPiece:
    return encode_piece(HeldPiece(partition, f"partition {number}"), options)


def _running(piece: EncodedPiece) -> list[Running]:
    return [piece.running]


def _finished(
    piece: EncodedPiece,
    lookups: tuple[Any, ...],
    names: tuple[Any, ...],
    states: tuple[tuple[Any, ...], ...],
    ordered: Ordered | None,
) -> Table:
    """Return the rows of a piece with the states of the whole source."""
    nothing = np.zeros((len(names), 0), dtype=np.uint8)
    codes = np.concatenate([nothing, *(part.unpacked(lookups) for part in piece.parts)], axis=1)
    weights = [part.weights for part in piece.parts if part.weights is not None]
    given = np.concatenate(weights) if weights else None
    return Table.trusted(names, states, np.ascontiguousarray(codes), given, ordered)
