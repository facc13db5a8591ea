"""What a learner needs of a table: only states that occur, each different row once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graftwork.data.counts import PairCounts
from graftwork.data.table import Table

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Merging equal rows pays once it removes this share of them.
WORTHWHILE_SAVING = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """A table prepared for learning.

    States without any weight are left out: with free unaries their probability is zero at the
    optimum, so learning without them is exact, and nothing has to be infinite.

    Attributes
    ----------
    codes : (n, rows) unsigned integers
        States among the kept ones; equal rows are merged where that saves enough.
    weights : (rows,) float64 or None
        Weight of each (merged) row; None when every one is 1.
    cards : (n,) int64
        Number of kept states.
    declared : (n,) int64
        Number of declared states: what the penalty's scale uses.
    kept : list of (cards[i],) int64
        Which of the declared states are kept.
    total_weight : float
        Sum of all row weights.
    counts : PairCounts
        Pair tables of the kept states.
    """

    codes: NDArray[np.unsignedinteger]
    weights: Floats | None
    cards: Ints
    declared: Ints
    kept: tuple[Ints, ...]
    total_weight: float
    counts: PairCounts

    @property
    def n_rows(self) -> int:
        """Number of (merged) rows."""
        return int(self.codes.shape[1])

    @property
    def frequencies(self) -> Floats:
        """Relative frequency of every kept state, flat over the variables."""
        return np.asarray(self.counts.margins / self.total_weight, dtype=np.float64)


def prepare(
    table: Table,
    *,
    keep_all_states: bool = False,
    merge: bool = True,
    n_jobs: int | None = None,
) -> Sample:
    """Return the table prepared for learning.

    Parameters
    ----------
    keep_all_states : bool
        Keep states that never occur as well (needed when unaries are penalised: their optimum is
        then finite and their probability is not zero).
    merge : bool
        Look for equal rows.

    Examples
    --------
    >>> table = Table(("a",), (("no", "yes", "never"),), np.array([[0, 1, 1]], dtype=np.uint8))
    >>> prepare(table).cards, prepare(table, keep_all_states=True).cards
    (array([2]), array([3]))
    """
    codes, weights = table.codes, table.weights
    if weights is not None:
        present = weights > 0
        codes, weights = codes[:, present], weights[present]
        if (weights == 1.0).all():
            weights = None
    cards, kept, codes = _keep_states(codes, table.cards, keep_all_states)
    counts = PairCounts(codes, cards, weights, n_jobs)
    total = float(codes.shape[1] if weights is None else weights.sum())
    if merge:
        codes, weights = _merge_rows(codes, weights)
    return Sample(codes, weights, cards, table.cards, kept, total, counts)


def _keep_states(
    codes: NDArray[np.unsignedinteger], declared: Ints, keep_all: bool
) -> tuple[Ints, tuple[Ints, ...], NDArray[np.unsignedinteger]]:
    """Return the kept state counts, which states they are, and the rows in their codes."""
    if keep_all:
        return declared, tuple(np.arange(s) for s in declared), np.ascontiguousarray(codes)
    kept = tuple(
        np.flatnonzero(np.bincount(column, minlength=int(s)))
        for column, s in zip(codes, declared, strict=True)
    )
    cards = np.array([len(k) for k in kept], dtype=np.int64)
    result = np.array(codes, order="C", copy=True)
    for i in np.flatnonzero(cards < declared):
        new_code = np.zeros(int(declared[i]), dtype=codes.dtype)
        new_code[kept[i]] = np.arange(cards[i])
        result[i] = new_code[codes[i]]
    return cards, kept, result


def _merge_rows(
    codes: NDArray[np.unsignedinteger], weights: Floats | None
) -> tuple[NDArray[np.unsignedinteger], Floats | None]:
    """Return each different row once with its weight, where that leaves clearly fewer rows."""
    rows = np.ascontiguousarray(codes.T)
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) > (1 - WORTHWHILE_SAVING) * len(keys):
        return codes, weights
    merged = np.bincount(group, weights=weights, minlength=len(first)).astype(np.float64)
    order = np.argsort(first)  # rows stay in the order of the table
    return np.ascontiguousarray(codes[:, first[order]]), merged[order]
