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
#: Marks, ascending and different, the rows that have them, shape (n, k), and their weights.
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
    codes, weights = np.ascontiguousarray(found[1][:, :most]), found[2][:most]
    counts = PairCounts(
        codes, sample.cards, weights, 1,
        extended=sample.extended, margins=sample.counts.extended_margins,
    )  # fmt: skip
    return replace(sample, codes=codes, weights=weights, counts=counts, parts=None)


def _take_part(part: RowPart, most: int) -> Taken:
    return _take(part.sample, most)


def _take(sample: EncodedRows, most: int) -> Taken:
    return take_least(sample, marks_of(sample), most)


def take_least(
    sample: EncodedRows, marks: Marks, most: int, columns: Callable[[Ints], Codes] | None = None
) -> Taken:
    """Return the rows with the least marks.

    Parameters
    ----------
    columns : function, optional
        Of numbers of rows: their codes; default those of the sample.
    """
    few = np.arange(len(marks))
    if len(marks) > 16 * most:  # mostly they are among these
        few = np.flatnonzero(marks < np.uint64(2**64 * (4 * most / len(marks))))
        if len(np.unique(marks[few])) < most:
            few = np.arange(len(marks))
    least, first, which = np.unique(marks[few], return_index=True, return_inverse=True)
    weights = None if sample.weights is None else sample.weights[few]
    totals = np.bincount(which, weights, len(least)).astype(np.float64)
    rows = few[first[:most]]
    codes = np.take(sample.codes, rows, axis=1) if columns is None else columns(rows)
    return least[:most], codes, totals[:most]


def _merge(most: int, first: Taken, second: Taken) -> Taken:
    """Return the rows with the least marks of two parts."""
    marks, codes, weights = (
        np.concatenate(both, axis=-1) for both in zip(first, second, strict=True)
    )
    least, place, which = np.unique(marks, return_index=True, return_inverse=True)
    totals = np.bincount(which, weights, len(least)).astype(np.float64)
    return least[:most], np.take(codes, place[:most], axis=1), totals[:most]


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
