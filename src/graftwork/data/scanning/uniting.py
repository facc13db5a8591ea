"""Running states of one or several pieces become final ones, and codes of all pieces theirs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.bins import binned, counts_rows
from graftwork.data.columns import (
    check_counts,
    check_finite,
    check_shape,
    notes_on_codes,
    order_of,
    to_states,
    warn_of_counting,
)
from graftwork.data.encode import Coded, arranged, small
from graftwork.data.files import text_values
from graftwork.data.frames import LARGEST_WHOLE, by_categories
from graftwork.data.missing import MISSING_STATE, settle
from graftwork.data.oddities import HEAVY, lone_by_counts, warn_of_lone
from graftwork.data.scanning.books import Book, other_kind
from graftwork.data.scanning.encoding import Running, refuse_missing
from graftwork.data.scanning.options import ScanOptions
from graftwork.data.scanning.places import Place, Places
from graftwork.data.scores import Ordered
from graftwork.data.values import key, prefers
from graftwork.errors import DataError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class United:
    """The states of a whole source, and what the codes of its pieces stand for."""

    names: tuple[Hashable, ...]  # names, states, ordered, notes: as in `Table`
    states: tuple[tuple[Hashable, ...], ...]
    ordered: Ordered | None
    notes: tuple[str, ...]
    n_rows: int
    total_weight: float  # the sum of the weights; the number of rows if there are none
    row_counts: tuple[Ints, ...]  # how many rows each state has
    state_counts: tuple[Floats, ...]  # their weight
    # for each piece, and each variable, the final codes of provisional ones
    lookups: tuple[tuple[NDArray[Any], ...], ...]
    # where each state was met first: file, row group and row; empty for one that never occurs
    first_seen: tuple[tuple[str, ...], ...]


def unite(pieces: Sequence[Running], options: ScanOptions) -> United:
    """Return the states of a source from those of its pieces, and each piece's codes.

    States are as `as_table` has them for all rows at once.
    """
    whole, codes = _together(pieces, options)
    if not whole.names:
        raise DataError("there are no rows to read: the source is empty.")
    if options.missing == "error":
        refuse_missing(whole)
    check_shape(whole.n_rows, len(whole.names))
    if whole.weighted and whole.weight <= 0:
        raise DataError("all weights are zero; at least one must be positive.")
    columns, counting, notes = [], [], []
    for book in whole.books:
        coded, counts, remarks = _finished(book, whole, options)
        columns.append(coded)
        counting += [book.name] * counts
        notes += remarks
    check_counts(columns, whole.names, whole.n_rows)
    warn_of_counting(counting)
    columns = [_missing_last(coded) for coded in columns]
    pairs = list(zip(whole.books, columns, strict=True))
    rows = tuple(_totals(book.rows, coded) for book, coded in pairs)
    masses = tuple(_totals(_mass(book, whole), coded) for book, coded in pairs)
    states = tuple(coded.states for coded in columns)
    if whole.weight <= HEAVY * whole.n_rows:
        lone = lone_by_counts(whole.names, states, map(_observed, states, rows))
        warn_of_lone(lone, whole.names, states)
    return United(
        whole.names,
        states,
        order_of(columns, whole.names),
        tuple(notes),
        whole.n_rows,
        whole.weight,
        tuple(own.astype(np.int64) for own in rows),
        masses,
        tuple(_lookups(own, columns) for own in codes),
        tuple(_first_seen(book, coded, whole.places) for book, coded in pairs),
    )


def _first_seen(book: Book, coded: Coded, places: Places) -> tuple[str, ...]:
    """Return where each final state was met first; an empty text for one that was not."""
    rows = np.full(len(coded.states), places.n_rows)
    np.minimum.at(rows, coded.codes, np.array(book.firsts, dtype=np.int64))
    return tuple(places(row) if row < places.n_rows else "" for row in rows.tolist())


def _lookups(codes: Sequence[Ints] | None, columns: Sequence[Coded]) -> tuple[NDArray[Any], ...]:
    """Return what the provisional codes of a piece stand for."""
    if codes is None:
        return tuple(small(coded.codes, len(coded.states)) for coded in columns)
    pairs = zip(codes, columns, strict=bool(codes))
    return tuple(small(coded.codes, len(coded.states))[own] for own, coded in pairs)


def _mass(book: Book, whole: Running) -> NDArray[Any]:
    return book.sums if whole.weighted else book.rows


def _totals(counts: NDArray[Any], coded: Coded) -> Floats:
    """Return sums by final state of sums by provisional code."""
    full = np.zeros(len(coded.codes))
    full[: len(counts)] = counts
    return np.bincount(coded.codes, full, len(coded.states)).astype(np.float64)


def _observed(states: Sequence[Hashable], rows: Floats) -> Floats:
    """Return how many rows each state has, that of missing cells left out."""
    out = rows.copy()
    if MISSING_STATE in states:
        out[list(states).index(MISSING_STATE)] = 0
    return out


def _finished(book: Book, whole: Running, options: ScanOptions) -> tuple[Coded, bool, list[str]]:
    """Return a column whose rows are its values: their final codes and states, and remarks.

    It is what `graftwork.data.columns.assemble` does with a column of all rows.
    """
    name, bins, notes, counts = book.name, options.bins, [], False

    def place(code: int) -> str:
        return whole.places(book.firsts[code])

    coded = _by_states(book, options)
    wanted = options.states.get(name)
    if wanted is not None:
        coded = to_states(coded, wanted, name, place)
    check_finite(coded, name, place)
    if bins is not None and wanted is None:
        if not isinstance(bins, Mapping):
            counts = counts_rows(coded, whole.n_rows)
        mass = np.zeros(len(book.values))
        mass[: len(book.rows)] = _mass(book, whole)[: len(book.rows)]
        fine, coded = coded, binned(coded, name, bins, mass)
        notes = [] if coded is fine else notes_on_codes(fine, name)
    return settle(coded, name, options.missing, place), counts, notes


def _by_states(book: Book, options: ScanOptions) -> Coded:
    """Return a column whose rows are its values, by states in their natural or declared order."""
    values = book.values
    if book.texts:
        values = text_values(values, options.converts(book.name))
    elif book.whole and book.kind == "numbers":
        values = _whole(values)
    codes = np.arange(len(values))
    if book.declared:
        listed = list((book.categories or {}).values())
        places = {key(value): code for code, value in enumerate(listed)}
        found = [-1 if value is None else places[key(value)] for value in values]
        return by_categories(np.array(found, dtype=np.int64), listed, book.ordered)
    return arranged(codes, values)


def _whole(values: list[Any]) -> list[Any]:
    """Return numbers of pandas as integers if all are whole, and else as floats.

    Examples
    --------
    >>> _whole([1.0, None, 2]), _whole([1, 2.5])
    ([1, None, 2], [1.0, 2.5])
    """
    present = [value for value in values if value is not None]
    if not any(isinstance(value, float) for value in present):
        return values
    if all(abs(value) <= LARGEST_WHOLE and value == int(value) for value in present):
        return [None if value is None else int(value) for value in values]
    return [None if value is None else float(value) for value in values]


def _missing_last(coded: Coded) -> Coded:
    """Return a column with the state of missing cells behind all others.

    Examples
    --------
    >>> _missing_last(Coded(np.array([0, 1, 2]), ("a", "(missing)", "b"))).codes.tolist()
    [0, 2, 1]
    """
    if MISSING_STATE not in coded.states[:-1]:
        return coded
    at, last = coded.states.index(MISSING_STATE), len(coded.states) - 1
    states = (*coded.states[:at], *coded.states[at + 1 :], MISSING_STATE)
    codes = coded.codes.astype(np.int64)
    moved = np.where(codes == at, last, codes - (codes > at))
    return replace(coded, codes=small(moved, len(states)), states=states)


def _together(
    pieces: Sequence[Running], options: ScanOptions
) -> tuple[Running, list[list[Ints] | None]]:
    """Return several pieces as one, and of each piece the codes that its own have there.

    They are None for the only piece, which needs no others, and empty for one that gave no batch.
    """
    if len(pieces) == 1:
        return pieces[0], [None]
    whole = Running(options, titled=all(piece.titled for piece in pieces))
    codes: list[list[Ints] | None] = []
    for piece in pieces:
        if not piece.names:
            codes.append([])
            continue
        whole.choose(piece.columns, piece.where)
        start = whole.n_rows
        for rows, place in _batches(piece.places):
            whole.places.add(place, rows)
        own = {book.name: book for book in piece.books}
        codes.append([_merge(book, own[book.name], start) for book in whole.books])
        whole.weight += piece.weight
    return whole, codes


def _batches(places: Places) -> list[tuple[int, Place]]:
    ends = [*places.starts, places.n_rows][1:]
    sizes = [end - start for start, end in zip(places.starts, ends, strict=True)]
    return list(zip(sizes, places.batches, strict=True))


def _merge(book: Book, other: Book, start: int) -> Ints:
    """Add another piece's states to a book, and return the codes that its own have there."""
    if other.kind and book.kind and other.kind != book.kind:
        raise other_kind(book, other.kind, other.type, other.where)
    if other.kind and not book.kind:
        book.kind, book.type, book.where = other.kind, other.type, other.where
    book.texts |= other.texts
    book.whole |= other.whole
    book.declare_as(other)
    codes = np.empty(len(other.values), dtype=np.int64)
    for k, value in enumerate(other.values):
        code = book.codes.get(key(value))
        if code is None:
            code = book.codes[key(value)] = len(book.values)
            book.values.append(value)
            book.firsts.append(start + other.firsts[k])
        elif type(value) is not type(book.values[code]) and prefers(value, book.values[code]):
            book.values[code] = value
        codes[k] = code
    book.count(np.bincount(codes[: len(other.rows)], other.rows, len(book.values)).astype(np.int64))
    if len(other.sums):
        sums = book.grown_sums()
        sums += np.bincount(codes[: len(other.sums)], other.sums, len(book.values))
    book.check_number()
    return codes
