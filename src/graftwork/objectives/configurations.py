"""Configurations of variables' neighbours: of rows that are here, and counted over parts of them.

A configuration is a *key*: the codes of the neighbours as the digits of one number. Keys and their
masses are all that a conditional's part of the loss depends on, however many rows there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from graftwork.data.encoded import EncodedRows
from graftwork.data.parts import RowPart
from graftwork.inference.layout import Floats, Ints
from graftwork.kernels import neighbourhoods as kernel

Codes = NDArray[np.unsignedinteger]
Ids = NDArray[np.int32]
#: A variable and its neighbours.
Wanted = tuple[int, Ints]
#: Keys, ascending, and the masses of their rows; None where there are too many.
Counted = tuple[Ints, Floats] | None

# Rows are merged where there are at most this many configurations for each of them; of rows that
# are elsewhere at most the second number are kept.
MOST_SHARE, MOST = 0.35, 2**20
# Up to this many possible keys, and this many for each row, all have a place.
DENSE, DENSE_BY_ROWS = 2**14, 4
# Keys are whole numbers below this.
LARGEST = 2**62
# Rows whose keys are made at once: they stay in the nearest cache.
SPAN = 2**13


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """The configurations of some variables in rows that are here, by their keys."""

    ids: Ids  # (rows,): the configuration of each row
    table: Codes  # (k, count) unsigned integers: the variables' codes in each
    # (count,) or None: in which of them the variable whose neighbours these are is missing
    lacking: NDArray[np.bool_] | None
    # (count,): how many rows have each; empty where they were not counted
    sizes: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))

    @staticmethod
    def of(sample: EncodedRows, node: int) -> Classes:
        """Return the configurations without any neighbour: a variable is observed, or missing."""
        nothing = np.zeros((0, 1), dtype=sample.codes.dtype)
        if sample.extended[node] == sample.cards[node]:
            return Classes(np.zeros(sample.n_rows, dtype=np.int32), nothing, None)
        lacking, ids = np.unique(~sample.observed(node), return_inverse=True)
        return Classes(ids.astype(np.int32), nothing.repeat(len(lacking), axis=1), lacking)

    def refined(self, sample: EncodedRows, others: Ints, node: int) -> Classes | None:
        """Return the configurations with more variables; None where they are too many."""
        rows, listed = sample.n_rows, others.tolist()
        most = int(MOST_SHARE * rows)
        room, found = max(DENSE, DENSE_BY_ROWS * rows), self
        while listed:
            taken, possible = 0, found.table.shape[1]
            while taken < len(listed) and possible * int(sample.extended[listed[taken]]) <= room:
                possible *= int(sample.extended[listed[taken]])
                taken += 1
            if not taken:
                return None
            found = found._with(sample, listed[:taken], possible)
            if found.table.shape[1] > most:
                return None
            listed = listed[taken:]
        return found

    def _with(self, sample: EncodedRows, others: list[int], possible: int) -> Classes:
        """Return the configurations with variables for which all possible keys have a place."""
        ids = self.ids.copy()
        for j in others:
            kernel.extend_keys(ids, sample.codes[j], int(sample.extended[j]))
        counts = np.zeros(possible, dtype=np.int32)
        kernel.count_keys(ids, np.zeros(0, dtype=np.int32), counts)
        keys = np.flatnonzero(counts)
        numbers = np.zeros(possible, dtype=np.int32)
        numbers[keys] = np.arange(len(keys))
        kernel.renumber(ids, numbers)
        places = np.array(others, dtype=np.int64)
        before, codes = _decode(sample, places, keys)
        lacking = None if self.lacking is None else self.lacking[before]
        table = np.concatenate([self.table[:, before], codes])
        return Classes(ids, table, lacking, counts[keys])

    def masses(self, weights: Floats) -> Floats:
        """Return the weight of the rows of each; empty weights are 1."""
        if not weights.size and self.sizes.size:
            return self.sizes.astype(np.float64)
        masses = np.zeros(self.table.shape[1])
        kernel.count_keys(self.ids, weights, masses)
        return masses


def count_configurations(
    sample: EncodedRows, wanted: list[Wanted]
) -> list[tuple[Codes, Floats] | None]:
    """Return the configurations of some variables' neighbours in rows that are elsewhere.

    Those in which the variable itself is observed: codes of the neighbours, shape (neighbours,
    configurations), and masses. None where they are too many to be worth it.
    """
    assert sample.parts is not None
    most = min(MOST, int(MOST_SHARE * sample.n_given))
    found = sample.parts.total(_count_part, wanted, most, add=partial(_merge, most))
    return [
        None if counted is None else (_decode(sample, others, counted[0])[1], counted[1])
        for (_, others), counted in zip(wanted, found, strict=True)
    ]


def _count_part(part: RowPart, wanted: list[Wanted], most: int) -> list[Counted]:
    """Return the configurations of part of the rows."""
    return [_count(part.sample, node, others, most) for node, others in wanted]


def _count(sample: EncodedRows, node: int, others: Ints, most: int) -> Counted:
    possible = math.prod(sample.extended[others].tolist())
    if possible > LARGEST:
        return None
    masses = masses_of_rows(sample, node)
    size = min(SPAN, sample.n_rows)
    dense = possible <= max(DENSE, DENSE_BY_ROWS * sample.n_rows)
    counts = np.zeros(possible if dense else 0)
    parts = [np.zeros(0, dtype=np.int64)]
    for start in range(0, sample.n_rows, SPAN):
        keys = np.empty(min(size, sample.n_rows - start), dtype=np.int64)
        kernel.find_keys(sample.codes, others, sample.extended, start, keys)
        if dense:
            kernel.count_keys(keys, masses[start : start + len(keys)], counts)
        else:
            parts.append(keys)
    if dense:
        keys = np.flatnonzero(counts)
        return (keys, counts[keys]) if len(keys) <= most else None
    keys, which = np.unique(np.concatenate(parts), return_inverse=True)
    if len(keys) > most:
        return None
    totals = np.bincount(which, masses if masses.size else None, len(keys)).astype(np.float64)
    there = totals > 0
    return keys[there], totals[there]


def masses_of_rows(sample: EncodedRows, node: int) -> Floats:
    """Return the rows' weights for a variable, zero where it is missing; empty if all are 1."""
    weights = np.zeros(0) if sample.weights is None else sample.weights
    if sample.extended[node] == sample.cards[node]:
        return weights
    observed = sample.observed(node).astype(np.float64)
    return observed * weights if weights.size else observed


def _merge(most: int, first: list[Counted], second: list[Counted]) -> list[Counted]:
    """Return the configurations of two parts as one."""
    return [_merge_one(most, *both) for both in zip(first, second, strict=True)]


def _merge_one(most: int, first: Counted, second: Counted) -> Counted:
    if first is None or second is None:
        return None
    if np.array_equal(first[0], second[0]):
        return first[0], first[1] + second[1]
    keys, which = np.unique(np.concatenate([first[0], second[0]]), return_inverse=True)
    if len(keys) > most:
        return None
    masses = np.bincount(which, np.concatenate([first[1], second[1]]), len(keys))
    return keys, masses.astype(np.float64, copy=False)


def _decode(sample: EncodedRows, others: Ints, keys: Ints) -> tuple[Ints, Codes]:
    """Return what is left of keys, and the codes that their last digits stand for."""
    table = np.empty((len(others), len(keys)), dtype=sample.codes.dtype)
    if keys.max(initial=0) < 2**32:  # half as wide, and divided many at a time
        keys = keys.astype(np.uint32)
    for place in range(len(others) - 1, -1, -1):
        size = keys.dtype.type(sample.extended[others[place]])
        rest = keys // size
        table[place], keys = keys - rest * size, rest
    return keys.astype(np.int64), table
