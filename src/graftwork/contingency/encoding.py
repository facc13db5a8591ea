"""Counts prepared for learning: what learners ask of rows, as far as counts can tell it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.contingency.pair_tables import PairTables
from graftwork.data.counting import Bitsets, table_offsets
from graftwork.data.counts import Numbers, PairCounts
from graftwork.data.encoded import EncodedRows
from graftwork.data.parts import Add, Handle, Operation, Parts
from graftwork.errors import DataError

Ints = NDArray[np.int64]


class Nowhere:
    """The engine of rows behind counts, which nobody has (see `Engine`)."""

    n_threads = 1

    def place(
        self, makers: Sequence[Callable[[], Any]], tell: Callable[[int], object] | None = None
    ) -> list[Handle]:
        """Raise: there is nothing to look at."""
        raise DataError(PairTables.without_rows)

    def map(
        self, handles: Sequence[Handle], function: Operation, *more: Any, **options: Any
    ) -> Any:
        """Raise: there is nothing to look at."""
        raise DataError(PairTables.without_rows)

    def total(
        self, handles: Sequence[Handle], function: Operation, *more: Any, add: Add | None = None
    ) -> Any:
        """Raise: there is nothing to look at."""
        raise DataError(PairTables.without_rows)

    def close(self) -> None:
        """Nothing is held."""


class LooksUp:
    """Finds the tables of pairs in a matrix of counts (see `CountsPairs`).

    Shapes: matrix (states, states) int64 or float64; cards (n,) int64.
    """

    def __init__(self, matrix: Numbers, cards: Ints) -> None:
        self._matrix, self._cards = matrix, cards
        self._starts = np.cumsum(cards) - cards
        self.dtype: type[np.int64] | type[np.float64] = (
            np.int64 if matrix.dtype == np.int64 else np.float64
        )

    @property
    def margins(self) -> Numbers:
        """How often each state occurs."""
        return np.diagonal(self._matrix).copy()

    @property
    def bitsets(self) -> Bitsets | None:
        """None: there are no rows."""
        return None

    def count(self, pairs: Ints) -> tuple[Numbers, Ints]:
        """Return the tables of these pairs, flat one after the other, and where each starts."""
        offsets, (i, j) = table_offsets(self._cards, pairs), pairs.T
        sizes = np.diff(offsets)
        within = np.arange(int(offsets[-1])) - np.repeat(offsets[:-1], sizes)
        row, column = np.divmod(within, np.repeat(self._cards[j], sizes))
        row += np.repeat(self._starts[i], sizes)
        column += np.repeat(self._starts[j], sizes)
        return self._matrix[row, column], offsets


def prepare_counts(
    counts: PairTables, *, keep_all_states: bool = False, n_jobs: int | None = None
) -> EncodedRows:
    """Return counts prepared for learning, as `prepare` does it with rows.

    Examples
    --------
    >>> from graftwork.contingency import count_pairs
    >>> counts = count_pairs({"a": [0, 1, 1], "b": ["x", "x", "y"]}, states={"a": [0, 1, 2]})
    >>> sample = prepare_counts(counts)
    >>> sample.cards, sample.counts.tables(np.array([[0, 1]]))[0]
    (array([2, 2]), array([1, 0, 1, 1]))
    """
    declared = counts.cards
    kept = tuple(
        np.arange(len(own)) if keep_all_states else np.flatnonzero(own)
        for own in counts.state_counts
    )
    cards = np.array([len(own) for own in kept], dtype=np.int64)
    matrix = counts.matrix
    if (cards < declared).any():
        starts = np.cumsum(declared) - declared
        places = np.concatenate([start + own for start, own in zip(starts, kept, strict=True)])
        matrix = matrix[np.ix_(places, places)]
    nothing = np.zeros((len(cards), 0), dtype=np.uint8)
    scores = None
    if counts.ordered is not None:
        scores = counts.ordered.among(counts.names, counts.states, kept)
    found = PairCounts(nothing, cards, None, n_jobs, extended=cards, counter=LooksUp(matrix, cards))
    return EncodedRows(
        nothing, None, cards, declared, kept, counts.total_weight, found, scores,
        Parts(Nowhere(), [], counts.n_rows, 0),
    )  # fmt: skip


def has_rows(sample: EncodedRows) -> bool:
    """Return whether there are rows behind a sample, here or elsewhere."""
    return sample.parts is None or not isinstance(sample.parts.engine, Nowhere)
