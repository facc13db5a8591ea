"""Rows that are elsewhere, prepared for learning: what is known of all of them, and each part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.counting import Bitsets, table_offsets
from graftwork.data.counts import Numbers, PairCounts
from graftwork.data.encode import small
from graftwork.data.encoded import EncodedRows, copied_rows, no_observed_cell, prepare
from graftwork.data.missing import MISSING_STATE
from graftwork.data.parts import Parts, RowPart, join
from graftwork.data.placed import AnyTable, PlacedTable
from graftwork.data.scores import Ordered, Scores
from graftwork.data.table import Table

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Codes = NDArray[np.unsignedinteger]

# All pairs are counted at once if their tables have at most this many cells.
MOST_CELLS = 2**25
# A part and what is derived of it may take this share of the memory.
SHARE = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """How parts of a table are encoded for learning, and what is known of all rows."""

    cards: Ints  # cards, declared, extended: (n,)
    declared: Ints
    extended: Ints
    kept: tuple[Ints, ...]  # as in `EncodedRows`
    margins: Numbers  # (sum of extended,) or: how often each code occurs
    total_weight: float
    scores: Scores | None

    @staticmethod
    def of(
        source: PlacedTable, *, keep_all_states: bool = False, missing: bool = False
    ) -> Encoding:
        """Return the encoding of a table whose states have been counted."""
        gaps = np.array([missing and MISSING_STATE in listed for listed in source.states])
        declared = np.array([len(listed) for listed in source.states], dtype=np.int64) - gaps
        kept, margins = [], []
        for counts, size, gap in zip(source.state_counts, declared.tolist(), gaps, strict=True):
            own = np.arange(size) if keep_all_states else np.flatnonzero(counts[:size])
            kept.append(own)
            margins.append(np.append(counts[:size][own], counts[size:] if gap else []))
        cards = np.array([len(own) for own in kept], dtype=np.int64)
        no_observed_cell(source.names, np.flatnonzero(cards == 0))
        lacking = gaps & np.array([own[-1] > 0 for own in margins])
        joined = np.concatenate(
            [own if gap else own[:s] for own, gap, s in zip(margins, lacking, cards, strict=True)]
        )
        scores = None
        if source.ordered is not None:
            scores = source.ordered.among(source.names, source.states, tuple(kept))
        return Encoding(
            cards, declared, cards + lacking, tuple(kept),
            joined if source.weighted else joined.astype(np.int64), source.total_weight, scores,
        )  # fmt: skip

    def encode(self, table: Table) -> EncodedRows:
        """Return part of the rows, encoded."""
        codes, weights = table.codes, table.weights
        if weights is not None and not (weights > 0).all():
            codes, weights = np.compress(weights > 0, codes, axis=1), weights[weights > 0]
        changed = np.flatnonzero((self.cards < self.declared) | (table.cards > self.declared))
        if len(changed):
            codes = np.array(codes, order="C", copy=True)
        for i in changed.tolist():
            new_code = np.zeros(max(len(table.states[i]), 1), dtype=codes.dtype)
            new_code[self.kept[i]] = np.arange(self.cards[i])
            new_code[self.declared[i] :] = self.cards[i]
            codes[i] = new_code[codes[i]]
        return self.rows(np.ascontiguousarray(codes), weights)

    def rows(self, codes: Codes, weights: Floats | None) -> EncodedRows:
        """Return part of the rows from their codes."""
        counts = PairCounts(
            codes, self.cards, weights, 1, extended=self.extended, margins=self.margins
        )
        return EncodedRows(
            codes, weights, self.cards, self.declared, self.kept, self.total_weight, counts,
            self.scores,
        )  # fmt: skip

    def whole(self, parts: Parts) -> EncodedRows:
        """Return all rows, which are in the parts."""
        nothing = np.zeros((len(self.cards), 0), dtype=np.uint8)
        if int(self.extended.max(initial=0)) > 256:
            nothing = nothing.astype(np.uint16)
        counter = PartsCounter(parts, self.extended, self.margins)
        counts = PairCounts(nothing, self.cards, None, 1, extended=self.extended, counter=counter)
        return EncodedRows(
            nothing, None, self.cards, self.declared, self.kept, self.total_weight, counts,
            self.scores, parts,
        )  # fmt: skip


class PartsCounter:
    """Counts pairs of states in rows that are in parts.

    A pass over the rows takes as long for many pairs as for few: where all tables fit in memory,
    all are counted in the first.
    """

    def __init__(self, parts: Parts, cards: Ints, margins: Numbers) -> None:
        self._parts, self._cards, self._margins = parts, cards, margins
        self.dtype: type[np.int64] | type[np.float64] = (
            np.int64 if margins.dtype == np.int64 else np.float64
        )

    @property
    def margins(self) -> Numbers:
        """How often each code occurs."""
        return self._margins

    @property
    def bitsets(self) -> Bitsets | None:
        """None: the rows are not here."""
        return None

    def count(self, pairs: Ints) -> tuple[Numbers, Ints]:
        """Return the tables of these pairs, flat one after the other, and where each starts."""
        offsets = table_offsets(self._cards, pairs)
        if not len(pairs):
            return np.zeros(0, dtype=self.dtype), offsets
        if self._n_cells > MOST_CELLS:
            found: Numbers = self._parts.total(count_pairs, pairs)
            return found.astype(self.dtype, copy=False), offsets
        values, starts = self._all
        n, (i, j) = len(self._cards), pairs.T
        places = starts[i * n - i * (i + 1) // 2 + j - i - 1]
        sizes = np.diff(offsets)
        within = np.arange(int(offsets[-1])) - np.repeat(offsets[:-1], sizes)
        return values[np.repeat(places, sizes) + within], offsets

    @property
    def _n_cells(self) -> int:
        return int((self._cards.sum() ** 2 - (self._cards**2).sum()) // 2)

    @cached_property
    def _all(self) -> tuple[Numbers, Ints]:
        pairs = np.stack(np.triu_indices(len(self._cards), 1), axis=1).astype(np.int64)
        found: Numbers = self._parts.total(count_pairs, pairs)
        return found.astype(self.dtype, copy=False), table_offsets(self._cards, pairs)


def count_pairs(part: RowPart, pairs: Ints) -> Numbers:
    """Return the tables of pairs in part of the rows, all codes counted."""
    return part.sample.counts.count_codes(pairs)


def prepare_rows(
    table: AnyTable,
    *,
    keep_all_states: bool = False,
    missing: bool = False,
    n_jobs: int | None = None,
) -> EncodedRows:
    """Return a table prepared for learning, wherever its rows are (see `prepare`)."""
    options = {"keep_all_states": keep_all_states, "missing": missing}
    if isinstance(table, PlacedTable):
        return prepare_parts(table, **options)
    return prepare(table, **options, n_jobs=n_jobs)


def prepare_parts(
    table: PlacedTable, *, keep_all_states: bool = False, missing: bool = False
) -> EncodedRows:
    """Return a table whose rows are in parts, prepared for learning (see `prepare`)."""
    encoding = Encoding.of(table, keep_all_states=keep_all_states, missing=missing)
    memory = int(SHARE * table.memory)
    handles = table.engine.map(
        table.handles, _row_part, encoding, table.engine.n_threads, memory,
        own=[(k,) for k in range(len(table.handles))],
    )  # fmt: skip
    return encoding.whole(Parts(table.engine, handles, sum(table.part_rows), memory))


def with_drawn_parts(
    sample: EncodedRows, copies: int, draw: Callable[..., Codes], *arguments: Any
) -> EncodedRows:
    """Return a sample with states in place of its missing cells (see `EncodedRows.with_drawn`)."""
    parts = sample.parts
    assert parts is not None
    engine, cards = parts.engine, sample.cards
    extended = np.where(sample.extended > cards, 2 * cards, cards)
    rows = parts.total(_row_numbers, cards, copies, add=join)
    starts = np.cumsum([0, *rows])[:-1].tolist()
    arrays = engine.map(
        parts.handles,
        _drawn,
        draw,
        cards,
        copies,
        *arguments,
        own=[(start,) for start in starts],
        keep=True,
    )
    margins = engine.total(arrays, _margins, extended)
    dtype = sample.counts.margins.dtype if copies == 1 else np.dtype(np.float64)
    encoding = Encoding(
        cards, sample.declared, extended, sample.kept,
        np.concatenate(margins).astype(dtype), sample.total_weight,
        sample.scores,
    )  # fmt: skip
    handles = engine.map(
        arrays, _part_of_arrays, encoding, engine.n_threads, parts.memory,
        own=[(k,) for k in range(len(arrays))],
    )  # fmt: skip
    return encoding.whole(Parts(engine, handles, sum(rows), parts.memory))


def rows_at(sample: EncodedRows, places: Ints) -> tuple[Codes, Floats]:
    """Return the rows of these numbers, ascending, and their weights, wherever the rows are."""
    if sample.parts is None:
        codes, weights = sample.counts.codes, sample.counts.weights
        own = np.ones(len(places)) if weights is None else weights[places]
        return np.take(codes, places, axis=1), own
    rows = sample.parts.total(_row_numbers, sample.cards, 1, add=join)
    found: list[tuple[Codes, Floats]] = sample.parts.total(
        _rows_at, np.cumsum([0, *rows]), places, add=join
    )
    return np.concatenate([c for c, _ in found], axis=1), np.concatenate([w for _, w in found])


def completed_parts(table: PlacedTable, sample: EncodedRows) -> PlacedTable:
    """Return the rows of a sample with the states that were drawn, as if they were observed."""
    assert sample.parts is not None
    states = tuple(
        listed[:s] for listed, s in zip(table.states, sample.declared.tolist(), strict=True)
    )
    handles = sample.parts.engine.map(
        sample.parts.handles, _completed, table.names, states, table.ordered
    )
    weighted = sample.counts.margins.dtype != np.int64  # by copies of rows, if not by weights
    return replace(
        table, handles=handles, states=states, first_seen=(), weighted=weighted
    ).counted()


def decoded(sample: EncodedRows) -> Codes:
    """Return the declared states of rows in which missing cells were drawn, shape (n, rows)."""
    rows = zip(sample.counts.codes.astype(np.int64), sample.cards, sample.kept, strict=True)
    return np.stack([kept[np.where(row < s, row, row - s)] for row, s, kept in rows])


def _completed(
    part: RowPart,
    names: tuple[Any, ...],
    states: tuple[tuple[Any, ...], ...],
    ordered: Ordered | None,
) -> Table:
    codes = small(decoded(part.sample), max(map(len, states)))
    return Table.trusted(names, states, codes, part.sample.weights, ordered)


def _row_numbers(part: RowPart, cards: Ints, copies: int) -> list[int]:
    codes, weights = part.sample.codes, part.sample.weights
    return [copied_rows(codes, weights, cards, copies)[0].shape[1]]


def _rows_at(part: RowPart, starts: Ints, places: Ints) -> list[tuple[Codes, Floats]]:
    first, last = np.searchsorted(places, starts[part.number : part.number + 2])
    own, weights = places[first:last] - starts[part.number], part.sample.weights
    codes = np.take(part.sample.codes, own, axis=1)
    return [(codes, np.ones(len(own)) if weights is None else weights[own])]


def _drawn(
    part: RowPart, start: int, draw: Callable[..., Codes], cards: Ints, copies: int, *arguments: Any
) -> tuple[Codes, Floats | None]:
    """Return the codes of a part with drawn states, which stay known as such, and its weights."""
    codes, weights = copied_rows(part.sample.codes, part.sample.weights, cards, copies)
    states = draw(codes, start, *arguments)
    drawn = np.where(codes < cards[:, None], codes, cards[:, None] + states)
    return small(drawn, int(2 * cards.max())), weights


def _margins(arrays: tuple[Codes, Floats | None], extended: Ints) -> list[Floats]:
    codes, weights = arrays[0], arrays[1] if len(arrays) > 1 else None
    pairs = zip(codes, extended.tolist(), strict=True)
    return [np.bincount(row, weights, count).astype(np.float64) for row, count in pairs]


def _part_of_arrays(
    arrays: tuple[Codes, Floats | None],
    number: int,
    encoding: Encoding,
    n_threads: int,
    memory: int,
) -> RowPart:
    rows = encoding.rows(np.ascontiguousarray(arrays[0]), arrays[1] if len(arrays) > 1 else None)
    return RowPart(rows, number, n_threads, memory)


def _row_part(
    table: Table, number: int, encoding: Encoding, n_threads: int, memory: int
) -> RowPart:
    return RowPart(encoding.encode(table), number, n_threads, memory)
