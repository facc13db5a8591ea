"""The variances of the slopes of absent pairs' tables: sums over rows, from configurations.

If a pair is no edge its residuals are independent given all other variables, and the slope of its
table has the variance sum S_i (x) M_j + M_i (x) S_j, M = m m' + 2 S (see ``testing.pair_tests``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.layout import Floats, Ints
from graftwork.inference.ragged import offsets
from graftwork.kernels import curvature as kernel
from graftwork.kernels.row_sums import cache_lines
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.testing.moments import lanes_for, padded, unfold
from graftwork.testing.rows import FittedRows

# Numbers in the lines of all variables that are worked on at once.
TILE = 2**24
# A variable's configurations are looked at, and not the rows, where there are this many times fewer
# than rows in a part.
FEWER = 4


@dataclass(frozen=True, slots=True, eq=False)
class MomentTable:
    """The moments of variables' conditionals in part of the rows.

    Attributes
    ----------
    rows : FittedRows
    weights : (m,) float64
        Of the rows; empty if all are 1.
    ids : (n, m) int32
        The configuration of each row.
    counts, widths, starts : (n,) or (n + 1,) int64
        Number of configurations, length of the line of each, and where each variable's start.
    lines : float64
        The upper triangles of S and M in each configuration, filled up to whole lanes.
    """

    rows: FittedRows
    weights: Floats
    ids: NDArray[np.int32]
    counts: Ints
    widths: Ints
    starts: Ints
    lines: Floats

    def totals(self, i: int) -> Floats:
        """Return the sums over rows of the upper triangles of S and M of a variable."""
        weights = self.weights if self.weights.size else None
        shape = int(self.counts[i]), int(self.widths[i])
        masses = np.bincount(self.ids[i], weights, minlength=shape[0])
        own = self.lines[self.starts[i] : self.starts[i + 1]].reshape(shape)
        sums: Floats = masses @ own
        return sums

    def sums(self, pairs: Ints) -> Floats:
        """Return the sums over rows of S_i M_j' + M_i S_j' of pairs of one shape, of triangles."""
        rows, sizes = self.rows, _triangles(self.rows)
        sums = np.empty((len(pairs), *sizes[pairs[0]].tolist()))
        if not sums.size:
            return sums

        def add(part: slice) -> None:
            kernel.sum_products(
                _lanes(rows), pairs[part], self.ids, self.counts, sizes, self.widths, self.lines,
                self.starts, self.weights, sums[part],
            )  # fmt: skip

        costs = self.counts[pairs].min(axis=1) + 0.1 * self.ids.shape[1]
        run_chunks(add, cut_evenly(costs, rows.n_threads), rows.n_threads)
        return sums


class MomentTables:
    """The moments of all variables, in parts of the rows: a part has about ``TILE`` numbers.

    The part last asked for is kept: mostly there is one.
    """

    def __init__(self, rows: FittedRows) -> None:
        self.rows = rows
        here, n_rows = rows.conditionals.neighbourhoods, rows.sample.n_rows
        self._here = [here.of_variable(i) for i in range(len(rows.contrasts.sizes))]
        self._widths = -(-2 * _triangles(rows) // len(_lanes(rows))) * len(_lanes(rows))
        counts = np.array([one.count for one in self._here])
        parts = -(-int(counts @ self._widths) // TILE)
        size = max(1, -(-n_rows // max(1, parts)))
        self.parts = [slice(at, min(at + size, n_rows)) for at in range(0, n_rows, size)]
        merged = np.array([one.ids is not None for one in self._here])
        self._whole = merged & ((len(self.parts) <= 1) | (FEWER * counts <= size))
        self._known: dict[int, Floats] = {}
        self._last: tuple[int, MomentTable] | None = None

    def table(self, number: int) -> MomentTable:
        """Return the table of a part of the rows."""
        if self._last is None or self._last[0] != number:
            self._last = None  # not both at once in memory
            self._last = number, self._of(self.parts[number])
        return self._last[1]

    def totals(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield the sums over all rows of the upper triangles of S and M of each variable."""
        sums = [np.zeros(width) for width in self._widths.tolist()]
        for number in range(len(self.parts)):
            table = self.table(number)
            for i, own in enumerate(sums):
                own += table.totals(i)
        for size, own in zip(_triangles(self.rows).tolist(), sums, strict=True):
            yield own[:size], own[size : 2 * size]

    def variances(self, groups: list[Ints]) -> list[Floats]:
        """Return the variances of pairs, each group of one shape: (pairs, k_i k_j, k_i k_j)."""
        sums: list[Floats] = []
        for number in range(len(self.parts)):
            table = self.table(number)
            found = [table.sums(pairs) for pairs in groups]
            sums = [a + b for a, b in zip(sums, found, strict=True)] if sums else found
        return [self._unfolded(*both) for both in zip(groups, sums, strict=True)]

    def _unfolded(self, pairs: Ints, sums: Floats) -> Floats:
        """Return sums of triangles as matrices."""
        first, second = self.rows.contrasts.sizes[pairs[0]].tolist()
        row, column = unfold(first)[:, None, :, None], unfold(second)[None, :, None, :]
        square: Floats = sums[:, row, column].reshape(len(pairs), *(first * second,) * 2)
        return square

    def _of(self, part: slice) -> MomentTable:
        """Return the table of some rows."""
        rows, variables = self.rows, np.arange(len(self._here))

        def compute(some: slice) -> list[Floats]:
            return [self._lines(i, part) for i in variables[some].tolist()]

        cuts = cut_evenly(np.ones(len(variables)), rows.n_threads)
        lines = [one for group in run_chunks(compute, cuts, rows.n_threads) for one in group]
        ids = np.empty((len(variables), part.stop - part.start), dtype=np.int32)
        for i, here in enumerate(self._here):
            ids[i] = (
                here.ids[part]
                if here.ids is not None and self._whole[i]
                else np.arange(ids.shape[1])
            )
        counts, widths = np.array([own.shape for own in lines]).reshape(-1, 2).T
        starts = offsets(counts * widths)
        joined = cache_lines(int(starts[-1]))
        np.concatenate([own.ravel() for own in lines], out=joined)
        weights = rows.sample.weights
        return MomentTable(
            rows, np.zeros(0) if weights is None else weights[part], ids, counts.copy(),
            widths.copy(), starts, joined,
        )  # fmt: skip

    def _lines(self, i: int, part: slice) -> Floats:
        """Return a variable's S and M: in its configurations, if they are few, or in some rows."""
        rows, whole = self.rows, bool(self._whole[i])
        if whole and i in self._known:
            return self._known[i]
        own = rows.moments(i) if whole else rows.row_moments(i, part)
        both = np.vstack([own.curvatures, own.second_moments(*average(rows, i))])
        lines = padded(both, _lanes(rows))
        if whole and len(self.parts) > 1:
            self._known[i] = lines
        return lines


def average(rows: FittedRows, i: int) -> tuple[Floats, bool]:
    """Return the contrasts of a variable's frequencies, and whether missing cells count as them."""
    sample = rows.sample
    start = int(sample.cards[:i].sum())
    frequencies = sample.frequencies[start : start + int(sample.cards[i])]
    return rows.contrasts.bases[i].T @ frequencies, bool(sample.extended[i] == sample.cards[i] + 1)


def _lanes(rows: FittedRows) -> tuple[int, ...]:
    """Return how many numbers of all variables' lines to add at once."""
    return lanes_for(int(_triangles(rows).max(initial=0)))


def _triangles(rows: FittedRows) -> Ints:
    """Return how many numbers the upper triangle of each variable's spread has."""
    sizes = rows.contrasts.sizes
    return sizes * (sizes + 1) // 2
