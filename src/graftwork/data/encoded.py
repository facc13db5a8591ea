"""What a learner needs of a table: only states that occur, each different row once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.counts import PairCounts
from graftwork.data.encode import small
from graftwork.data.missing import MISSING_STATE, missing_last
from graftwork.data.parts import Parts
from graftwork.data.scores import Scores
from graftwork.data.table import Table
from graftwork.data.values import listing
from graftwork.errors import DataError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Merging equal rows pays once it removes this share of them.
WORTHWHILE_SAVING = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class EncodedRows:
    """A table prepared for learning.

    States without any weight are left out: with free unaries their probability is zero at the
    optimum, so learning without them is exact, and nothing has to be infinite.
    """

    codes: NDArray[np.unsignedinteger]  # (n, rows) unsigned integers: states among the kept ones
    weights: Floats | None  # (rows,) or None: weight of each (merged) row
    cards: Ints  # (n,): number of kept states
    declared: Ints  # (n,): number of declared states: what the penalty's scale uses
    kept: tuple[Ints, ...]  # which of the declared states are kept
    total_weight: float  # sum of all row weights: how many rows of weight 1 say as much
    counts: PairCounts  # pair tables of the kept states, over the rows that have both
    scores: Scores | None = None  # of ordered variables
    parts: Parts | None = None  # where the rows are, if they are not here: then ``codes`` has none
    # (rows,) or None: sums of the squares of the sampling weights that were merged
    squares: Floats | None = None

    @property
    def spreads(self) -> Floats | None:
        """What a row's squared score counts in a variance: a count of equal rows their number.

        A row of sampling weight w counts w^2. None when every one is 1.
        """
        return self.weights if self.squares is None else self.squares

    @property
    def n_rows(self) -> int:
        """Number of (merged) rows that are here."""
        return int(self.codes.shape[1])

    @property
    def n_given(self) -> int:
        """Number of rows before equal ones were merged, wherever they are."""
        return int(self.counts.codes.shape[1]) if self.parts is None else self.parts.n_rows

    @property
    def complete(self) -> bool:
        """Whether no cell is missing."""
        return self.counts.complete

    @property
    def extended(self) -> Ints:
        """Number of codes of each variable: more than ``cards`` where cells are missing.

        One more where a missing cell counts as an average, twice as many where states are drawn.
        """
        extended: Ints = self.counts.extended
        return extended

    @property
    def observed_weight(self) -> Floats:
        """Weight of the rows in which each variable is observed, shape (n,)."""
        if self.complete:
            return np.full(len(self.cards), self.total_weight)
        starts = np.cumsum(self.cards) - self.cards
        margins = np.asarray(self.counts.margins, dtype=np.float64)
        return np.asarray(np.add.reduceat(margins, starts))  # no variable lacks observed cells

    @property
    def frequencies(self) -> Floats:
        """Relative frequency of every kept state among observed cells, flat over the variables."""
        if self.complete:
            return np.asarray(self.counts.margins / self.total_weight, dtype=np.float64)
        return np.asarray(self.counts.margins / np.repeat(self.observed_weight, self.cards))

    def observed(self, i: int) -> Bools:
        """Return in which rows variable ``i`` is observed, shape (rows,)."""
        seen: Bools = self.codes[i] < self.cards[i]
        return seen

    def indicators(self, i: int) -> Floats:
        """Return what each code of variable ``i`` counts as, shape (extended[i], cards[i]).

        A state counts as itself; a missing cell as the state that was drawn in its place, or as
        the frequencies of the observed ones. ``indicators(i)[codes[i]]`` is the variable's part of
        a design matrix, a row for each row.
        """
        s, width = int(self.cards[i]), int(self.extended[i])
        rows = np.eye(s)
        if width == s:
            return rows
        if width == 2 * s:
            return np.vstack([rows, rows])
        start = int(self.cards[:i].sum())
        return np.vstack([rows, self.frequencies[start : start + s]])

    def in_copies(self, times: int) -> EncodedRows:
        """Return the sample with each row that lacks cells so often, each as much lighter."""
        if times == 1:
            return self
        counts = self.counts
        codes, weights = copied_rows(counts.codes, counts.weights, self.cards, times)
        squares = counts.squares
        if squares is not None:
            squares = copied_rows(counts.codes, squares, self.cards, times)[1]
        return self.with_rows(codes, weights, squares)

    def with_drawn(self, states: NDArray[np.integer]) -> EncodedRows:
        """Return the sample with states in place of its missing cells, which stay known as such.

        What is said about observed cells (``frequencies``, ``counts.tables``) is as before.

        Shapes: states (n, rows before merging) integers.
        """
        counts, cards = self.counts, self.cards[:, None]
        extended = np.where(self.extended > self.cards, 2 * self.cards, self.cards)
        cells = np.where(counts.codes < cards, counts.codes, cards + states)
        drawn = PairCounts(
            small(cells, int(extended.max())),
            self.cards,
            counts.weights,
            counts.n_threads,
            extended=extended,
            squares=counts.squares,
        )
        codes, weights, squares = _merge_rows(drawn.codes, counts.weights, counts.squares)
        return replace(self, codes=codes, weights=weights, counts=drawn, squares=squares)

    def with_rows(
        self,
        codes: NDArray[np.unsignedinteger],
        weights: Floats | None,
        squares: Floats | None = None,
    ) -> EncodedRows:
        """Return the sample with other rows, in the same codes, none of them merged."""
        counts = PairCounts(
            codes,
            self.cards,
            weights,
            self.counts.n_threads,
            extended=self.extended,
            squares=squares,
        )
        return replace(
            self, codes=counts.codes, weights=weights, counts=counts, parts=None, squares=squares
        )


def prepare(
    table: Table,
    *,
    keep_all_states: bool = False,
    merge: bool = True,
    missing: bool = False,
    n_jobs: int | None = None,
) -> EncodedRows:
    """Return the table prepared for learning."""
    if missing:
        table = missing_last(table)
    codes, weights, squares = table.codes, table.weights, table.squares
    if weights is not None:
        present = weights > 0
        codes, weights = np.compress(present, codes, axis=1), weights[present]
        if squares is not None and np.array_equal(squares[present], weights):
            squares = None  # lighter copies of rows, which are counts though they are not whole
        elif squares is not None:
            weights, squares = _scaled(weights, squares[present])
        elif (weights == 1.0).all():
            weights = None
    gaps = np.array([missing and MISSING_STATE in listed for listed in table.states])
    declared = table.cards - gaps
    cards, kept, codes = _keep_states(codes, declared, gaps, keep_all_states)
    no_observed_cell(table.names, np.flatnonzero(codes.min(axis=1) >= cards))
    counts = PairCounts(codes, cards, weights, n_jobs, squares=squares)
    total = float(codes.shape[1] if weights is None else weights.sum())
    if merge:
        codes, weights, squares = _merge_rows(codes, weights, squares)
    scores = None
    if table.ordered is not None:
        scores = table.ordered.among(table.names, table.states, kept)
    return EncodedRows(
        codes, weights, cards, declared, kept, total, counts, scores, squares=squares
    )


def copied_rows(
    codes: NDArray[np.unsignedinteger], weights: Floats | None, cards: Ints, times: int
) -> tuple[NDArray[np.unsignedinteger], Floats | None]:
    """Return rows, those that lack cells so often, each as much lighter."""
    if times == 1:
        return codes, weights
    each = np.where((codes >= cards[:, None]).any(axis=0), times, 1)
    places = np.repeat(np.arange(len(each)), each)
    lighter: Floats = (1.0 / each if weights is None else weights / each)[places]
    return np.take(codes, places, axis=1), lighter


def _scaled(weights: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """Return sampling weights whose sum is the effective number of rows, and their squares.

    Then the squares have the same sum: on average a row adds to variances what it adds to sums, as
    a row of weight 1 does.

    >>> [own.round(9).tolist() for own in _scaled(np.array([5.0, 15.0]), np.array([25.0, 225.0]))]
    [[0.4, 1.2], [0.16, 1.44]]
    """
    scale = float(weights.sum()) / float(squares.sum())
    return scale * weights, scale**2 * squares


def _keep_states(
    codes: NDArray[np.unsignedinteger], declared: Ints, gaps: Bools, keep_all: bool
) -> tuple[Ints, tuple[Ints, ...], NDArray[np.unsignedinteger]]:
    """Return the kept state counts, which states they are, and the rows in their codes.

    ``gaps`` says which variables have one more code than states, for missing cells.
    """
    if keep_all:
        return declared, tuple(np.arange(s) for s in declared), np.ascontiguousarray(codes)
    kept = tuple(
        np.flatnonzero(np.bincount(column, minlength=int(s))[: int(s)])
        for column, s in zip(codes, declared, strict=True)
    )
    cards = np.array([len(k) for k in kept], dtype=np.int64)
    result = np.array(codes, order="C", copy=True)
    for i in np.flatnonzero(cards < declared):
        new_code = np.zeros(int(declared[i] + gaps[i]), dtype=codes.dtype)
        new_code[kept[i]] = np.arange(cards[i])
        if gaps[i]:
            new_code[-1] = cards[i]
        result[i] = new_code[codes[i]]
    return cards, kept, result


def no_observed_cell(names: Sequence[Any], empty: Ints) -> None:
    """Raise if there are variables that are missing in every row."""
    if len(empty):
        raise DataError(
            f"{len(empty)} column{'s'[: len(empty) != 1]} without any observed cell (in rows of "
            f"positive weight): {listing([names[i] for i in empty])}; there is nothing to learn "
            "about them, so drop them, or use missing='state'."
        )


def _merge_rows(
    codes: NDArray[np.unsignedinteger], weights: Floats | None, squares: Floats | None
) -> tuple[NDArray[np.unsignedinteger], Floats | None, Floats | None]:
    """Return each different row once with its weight, where that leaves clearly fewer rows."""
    keys, exact = _row_keys(codes)
    if _count_different(keys) > (1 - WORTHWHILE_SAVING) * len(keys):
        return codes, weights, squares
    if not exact:
        rows = np.ascontiguousarray(codes.T)
        whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, group = np.unique(keys if exact else whole, return_index=True, return_inverse=True)
    merged = np.bincount(group, weights=weights, minlength=len(first)).astype(np.float64)
    order = np.argsort(first)  # rows stay in the order of the table
    if squares is not None:
        added = np.bincount(group, weights=squares, minlength=len(first))
        squares = added.astype(np.float64)[order]
    return np.take(codes, first[order], axis=1), merged[order], squares


def _row_keys(codes: NDArray[np.unsignedinteger]) -> tuple[NDArray[np.uint64], bool]:
    """Return a number for each row, and whether different rows have different ones for certain.

    >>> _row_keys(np.array([[0, 1, 1], [2, 0, 2]], dtype=np.uint8))
    (array([2, 3, 5], dtype=uint64), True)
    """
    cards = [int(row.max(initial=0)) + 1 for row in codes]
    exact = prod(cards) <= 2**64
    keys = np.zeros(codes.shape[1], dtype=np.uint64)
    for row, card in zip(codes, cards, strict=True):
        keys *= np.uint64(card if exact else 0x9E3779B97F4A7C15)
        keys += row
    return keys, exact


def _count_different(keys: NDArray[np.uint64]) -> int:
    """Return how many different numbers there are."""
    ordered = np.sort(keys)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + bool(len(keys))
