"""Some of the rows, where all would take too long and need not be looked at.

Rows have *marks*, numbers that depend on what is in them alone and look random; those with the
least marks are taken. So equal rows are taken together, weights equal repeated rows, and it does
not matter which rows are in which part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from graftwork.data.counts import PairCounts
from graftwork.data.encoded import EncodedRows
from graftwork.data.parts import RowPart
from graftwork.inference.layout import Floats, Ints

Marks = NDArray[np.uint64]
Codes = NDArray[np.unsignedinteger]
#: Marks, ascending and different, the rows that have them, shape (n, k), and their weights, with
#: the squares of sampling weights below, shape (1 or 2, k).
Taken = tuple[Marks, Codes, Floats]


def some_rows(sample: EncodedRows, most: int) -> EncodedRows | None:
    """Return ``most`` different rows with the weights they have, or all where there are fewer.

    None where that is the sample itself. Margins and frequencies are those of all rows.
    """
    if sample.parts is None:
        if sample.n_rows <= most:
            return None
        found = _take(sample, most + 1)
    else:
        found = sample.parts.total(_take_part, most + 1, add=partial(_merge, most + 1))
    if sample.parts is None and len(found[0]) <= most:
        return None
    codes, masses = np.ascontiguousarray(found[1][:, :most]), found[2][:, :most]
    weights, squares = masses[0], masses[1] if len(masses) > 1 else None
    counts = PairCounts(
        codes, sample.cards, weights, 1,
        extended=sample.extended, margins=sample.counts.extended_margins,
    )  # fmt: skip
    return replace(sample, codes=codes, weights=weights, counts=counts, parts=None, squares=squares)


def _take_part(part: RowPart, most: int) -> Taken:
    return _take(part.sample, most)


def _take(sample: EncodedRows, most: int) -> Taken:
    return take_least(sample, marks_of(sample), most)


def take_least(
    sample: EncodedRows, marks: Marks, most: int, columns: Callable[[Ints], Codes] | None = None
) -> Taken:
    """Return the rows with the least marks."""
    few = np.arange(len(marks))
    if len(marks) > 16 * most:  # mostly they are among these
        few = np.flatnonzero(marks < np.uint64(2**64 * (4 * most / len(marks))))
        if len(np.unique(marks[few])) < most:
            few = np.arange(len(marks))
    least, first, which = np.unique(marks[few], return_index=True, return_inverse=True)
    masses = np.ones((1, len(few)))
    if sample.weights is not None:
        every = [sample.weights] if sample.squares is None else [sample.weights, sample.squares]
        masses = np.array([own[few] for own in every])
    totals = _added(which, masses, len(least))
    rows = few[first[:most]]
    codes = np.take(sample.codes, rows, axis=1) if columns is None else columns(rows)
    return least[:most], codes, totals[:, :most]


def _added(which: Ints, masses: Floats, count: int) -> Floats:
    """Return the sums of equal rows' masses, shape (., count)."""
    return np.array([np.bincount(which, own, count) for own in masses], dtype=np.float64)


def _merge(most: int, first: Taken, second: Taken) -> Taken:
    """Return the rows with the least marks of two parts."""
    marks, codes, masses = (
        np.concatenate(both, axis=-1) for both in zip(first, second, strict=True)
    )
    least, place, which = np.unique(marks, return_index=True, return_inverse=True)
    totals = _added(which, masses, len(least))
    return least[:most], np.take(codes, place[:most], axis=1), totals[:, :most]


def marks_of(sample: EncodedRows) -> Marks:
    """Return the mark of each row."""
    marks = np.zeros(sample.n_rows, dtype=np.uint64)
    for row, own in zip(sample.codes, numbers_of_codes(sample), strict=True):
        marks += own[row]
    return mixed(marks)


def numbers_of_codes(sample: EncodedRows) -> list[Marks]:
    """Return a random number for each code of each variable; those of a row are added."""
    rng = np.random.default_rng(0)
    return [rng.integers(2**63, size=count, dtype=np.uint64) for count in sample.extended.tolist()]


def mixed(marks: Marks) -> Marks:
    """Return the marks that sums of numbers become, in their place."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        marks ^= marks >> np.uint64(shift)  # SplitMix64
        marks *= np.uint64(factor)
    return marks
