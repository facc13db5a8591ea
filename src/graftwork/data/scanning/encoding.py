"""Batches become packed parts with provisional codes, while states are found."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.columns import missing_cells_error
from graftwork.data.encode import check_each_weight, encode
from graftwork.data.files import column_weights, text_remedy, text_values
from graftwork.data.scanning.arrow import arrow
from graftwork.data.scanning.batches import Batch
from graftwork.data.scanning.books import Book
from graftwork.data.scanning.options import ScanOptions
from graftwork.data.scanning.packed import PackedPart, packed, weigh
from graftwork.data.scanning.pieces import Piece
from graftwork.data.scanning.places import Place, Places
from graftwork.data.values import listing
from graftwork.errors import DataError

#: Called with the rows read so far, and with how many there are where that is known.
Progress = Callable[[int, int | None], object]


@dataclass
class Running:
    """What is known of a source, or of one of its pieces, while it is read."""

    options: ScanOptions
    names: tuple[Hashable, ...] = ()  # the variables; empty before the first batch
    columns: tuple[Hashable, ...] = ()  # all columns there are, whether they are read or not
    where: str = ""  # where these were seen
    books: list[Book] = field(default_factory=list)  # the states so far, in the order of the names
    places: Places = field(default_factory=Places)  # the batches so far
    weight: float = 0.0  # the sum of the weights of rows so far; their number if there are none
    titled: bool = True  # whether text files have titles in their first line

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return self.places.n_rows

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.options.weights is not None

    def choose(self, columns: Sequence[Any], where: str) -> list[int]:
        """Return the positions of the columns to read; refuse columns that differ from before."""
        listed = tuple(columns)
        if not self.names:
            try:
                places = self.options.chosen(listed)
            except DataError as error:
                raise DataError(f"{where}: {error}" if where else str(error)) from error
            read = [listed[place] for place in places]
            self.names = tuple(name for name in read if name != self.options.weights)
            self.columns, self.where = listed, where
            self.books = [Book(name, self.options) for name in self.names]
            return places
        wanted = self.names + ((self.options.weights,) if self.weighted else ())
        self._check_columns(listed, wanted, where)
        return [listed.index(name) for name in wanted]

    def _check_columns(
        self, listed: tuple[Hashable, ...], wanted: tuple[Hashable, ...], where: str
    ) -> None:
        """Raise if columns are absent, or more than there were; others than these may differ."""
        absent = [name for name in wanted if name not in listed]
        if absent:
            raise DataError(
                f"{where}: column{'s'[: len(absent) > 1]} {listing(absent)} "
                f"{'are' if len(absent) > 1 else 'is'} missing, but present in {self.where}; all "
                f"files need the same columns: add {'them' if len(absent) > 1 else 'it'} here, or "
                f"drop {'them' if len(absent) > 1 else 'it'} everywhere (drop={absent!r})."
            )
        if self.options.columns is not None:
            return
        drop = self.options.drop
        dropped = set(drop) if drop is not None and not callable(drop) else set()
        extra = [name for name in listed if name not in self.columns and name not in dropped]
        if extra:
            raise DataError(
                f"{where}: column{'s'[: len(extra) > 1]} {listing(extra)} "
                f"{'are' if len(extra) > 1 else 'is'} missing in {self.where}; all files need the "
                f"same columns: add {'them' if len(extra) > 1 else 'it'} there, or list the "
                "columns to read (columns=[...])."
            )


@dataclass(frozen=True, slots=True, eq=False)
class EncodedPiece:
    """A piece of a source as packed parts with provisional codes."""

    running: Running  # the states that these codes stand for
    parts: tuple[PackedPart, ...]  # the rows; empty where they were given to an encoder


class Encoder:
    """Takes batches, cuts or joins them to parts, and hands these on."""

    def __init__(
        self,
        options: ScanOptions,
        keep: Callable[[PackedPart], object],
        progress: Progress | None = None,
        total: int | None = None,
    ) -> None:
        self.running = Running(options)
        self._keep = keep
        self._progress = progress
        self._total = total
        self._columns: list[list[NDArray[Any]]] = []
        self._weights: list[NDArray[np.float64]] = []
        self._waiting = 0

    def add(self, batch: Batch) -> None:
        """Encode a batch; hand on the parts that it fills."""
        running = self.running
        weights = _weights_of(batch) if running.weighted else None
        start = running.n_rows
        running.places.add(batch.place, batch.n_rows)
        if not self._columns:
            self._columns = [[] for _ in running.books]
        codes = [book.add(batch.columns[j], batch, start) for j, book in enumerate(running.books)]
        if batch.n_rows:
            self._take(codes, weights, batch.n_rows)
        if self._progress is not None:
            self._progress(running.n_rows, self._total)

    def _take(
        self, codes: list[NDArray[Any]], weights: NDArray[np.float64] | None, n_rows: int
    ) -> None:
        """Put rows behind those that wait, and hand on what is enough for a part."""
        rows_of_part = self.running.options.rows_of_part(len(codes))
        at = 0
        while at < n_rows:
            stop = min(n_rows, at + rows_of_part - self._waiting)
            for waiting, column in zip(self._columns, codes, strict=True):
                waiting.append(column[at:stop])
            if weights is not None:
                self._weights.append(weights[at:stop])
            self._waiting += stop - at
            at = stop
            if self._waiting == rows_of_part:
                self.flush()

    def flush(self) -> None:
        """Hand on the rows that wait, as a part."""
        if not self._waiting:
            return
        running = self.running
        columns = [np.concatenate(waiting) for waiting in self._columns]
        weights = np.concatenate(self._weights) if running.weighted else None
        part, rows = packed(columns, [max(len(b.values), 1) for b in running.books], weights)
        for book, codes, own in zip(running.books, columns, rows, strict=True):
            book.count(own)
            if weights is not None:
                weigh(codes, weights, book.grown_sums())
        running.weight += part.n_rows if weights is None else float(weights.sum())
        self._columns = [[] for _ in running.books]
        self._weights, self._waiting = [], 0
        if running.options.missing == "error":
            refuse_missing(running)
        self._keep(part)


def encode_piece(
    piece: Piece, options: ScanOptions, encoder: Encoder | None = None
) -> EncodedPiece:
    """Return a piece of a source as packed parts with provisional codes, and the states found.

    Each machine of a cluster can encode its own pieces; `unite` then says what the codes of each
    stand for. With an `encoder` it is that which gets the rows, and continues with its own states.
    """
    parts: list[PackedPart] = []
    own = Encoder(options, parts.append) if encoder is None else encoder
    own.running.titled &= piece.titled
    for batch in piece.batches(own.running.choose):
        own.add(batch)
    if encoder is None:
        own.flush()
    return EncodedPiece(own.running, tuple(parts))


def refuse_missing(running: Running) -> None:
    """Raise if cells that were counted are missing, with where the first is; return None."""
    gaps, rows = {}, {}
    for book in running.books:
        code = book.codes.get(None)
        if code is not None and code < len(book.rows) and book.rows[code]:
            rows[book.name] = int(book.firsts[code])
            gaps[book.name] = int(book.rows[code])
    if not gaps:
        return
    first = min(rows, key=rows.__getitem__)
    where = running.places(rows[first])
    if any(book.texts for book in running.books):
        remedy = text_remedy(running.options.gaps, titled=running.titled)
        raise missing_cells_error(gaps, running.n_rows, where, remedy, first)
    raise missing_cells_error(gaps, running.n_rows, where, first=first)


def _weights_of(batch: Batch) -> NDArray[np.float64]:
    """Return the weights of a batch, which are its last column."""
    column, name, place = batch.columns[-1], batch.names[-1], batch.place
    pa = arrow()
    if isinstance(column, pa.Array):
        numbers = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if numbers and not column.null_count:
            given = column.to_numpy(zero_copy_only=False).astype(np.float64)
            return _checked(given, place)
        column = column.to_pylist()
    coded = encode(column, name, place)
    if batch.texts:
        coded = replace(coded, states=tuple(text_values([str(s) for s in coded.states], True)))
    return _checked(column_weights(coded, name, place), place)


def _checked(given: NDArray[np.float64], place: Place) -> NDArray[np.float64]:
    check_each_weight(given, place)
    return given
