"""The variances of the slopes of absent pairs' tables: sums over rows, from configurations.

If a pair is no edge its residuals are independent given all other variables, and the slope of its
table has the variance sum S_i (x) M_j + M_i (x) S_j, M = m m' + 2 S (see ``testing.pair_tests``).
"""

from __future__ import annotations

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

# Numbers in the table of the variables worked on at once.
TILE = 2**24


@dataclass(frozen=True, slots=True, eq=False)
class MomentTable:
    """The moments of some variables' conditionals in each of their configurations.

    Attributes
    ----------
    rows : FittedRows
    place : (n,) int64
        Where each variable stands among them; -1 if it does not.
    ids : (k, rows) int32
        The configuration of each row.
    counts, widths, starts : (k,) or (k + 1,) int64
        Number of configurations, length of the line of each, and where each variable's start.
    lines : float64
        The upper triangles of S and M in each configuration, filled up to whole lanes.
    """

    rows: FittedRows
    place: Ints
    ids: NDArray[np.int32]
    counts: Ints
    widths: Ints
    starts: Ints
    lines: Floats

    @staticmethod
    def of(rows: FittedRows, variables: Ints) -> MomentTable:
        """Return those of some variables."""
        lanes = _lanes(rows)

        def compute(part: slice) -> list[tuple[NDArray[np.int32], Floats]]:
            found = []
            for i in variables[part].tolist():
                own = rows.moments(i)
                both = np.vstack([own.curvatures, own.second_moments(*average(rows, i))])
                found.append((own.neighbourhood.row_ids(), padded(both, lanes)))
            return found

        cuts = cut_evenly(np.ones(len(variables)), rows.n_threads)
        found = [one for group in run_chunks(compute, cuts, rows.n_threads) for one in group]
        place = np.full(len(rows.sample.cards), -1)
        place[variables] = np.arange(len(variables))
        ids, lines = np.stack([ids for ids, _ in found]), [lines for _, lines in found]
        counts, widths = np.array([part.shape for part in lines]).T
        starts = offsets(counts * widths)
        joined = cache_lines(int(starts[-1]))
        np.concatenate([part.ravel() for part in lines], out=joined)
        return MomentTable(rows, place, ids, counts.copy(), widths.copy(), starts, joined)

    def totals(self, i: int) -> tuple[Floats, Floats]:
        """Return the sums over rows of the upper triangles of S and M of a variable."""
        k, weights = int(self.place[i]), self.rows.sample.weights
        shape = int(self.counts[k]), int(self.widths[k])
        masses = np.bincount(self.ids[k], weights, minlength=shape[0])
        own = self.lines[self.starts[k] : self.starts[k + 1]].reshape(shape)
        size, sums = int(_triangles(self.rows)[i]), masses @ own
        return sums[:size], sums[size : 2 * size]

    def variances(self, pairs: Ints) -> Floats:
        """Return the variances of pairs of one shape, shape (pairs, k_i k_j, k_i k_j)."""
        rows, here = self.rows, self.place[pairs]
        weights = np.zeros(0) if rows.sample.weights is None else rows.sample.weights
        sizes = np.zeros(len(self.counts), dtype=np.int64)
        sizes[self.place[self.place >= 0]] = _triangles(rows)[self.place >= 0]
        sums = np.empty((len(pairs), *sizes[here[0]].tolist()))

        def add(part: slice) -> None:
            kernel.sum_products(
                _lanes(rows), here[part], self.ids, self.counts, sizes, self.widths, self.lines,
                self.starts, weights, sums[part],
            )  # fmt: skip

        costs = self.counts[here].min(axis=1) + 0.1 * rows.sample.n_rows
        run_chunks(add, cut_evenly(costs, rows.n_threads), rows.n_threads)
        first, second = rows.contrasts.sizes[pairs[0]].tolist()
        row, column = unfold(first)[:, None, :, None], unfold(second)[None, :, None, :]
        square: Floats = sums[:, row, column].reshape(len(pairs), *(first * second,) * 2)
        return square


class MomentTables:
    """All variables in groups whose tables have at most ``TILE`` numbers (or one variable).

    The table last asked for is kept: mostly all variables are in one group.

    Parameters
    ----------
    variables : (k,) int64, optional
        Those that are asked for, ascending; default all.
    """

    def __init__(self, rows: FittedRows, variables: Ints | None = None) -> None:
        self.rows, sizes = rows, rows.contrasts.sizes
        some = np.arange(len(sizes)) if variables is None else variables
        here = rows.conditionals.neighbourhoods
        counts = np.array([here.of_variable(i).count for i in some.tolist()], dtype=np.int64)
        ends = np.cumsum(counts * sizes[some] * (sizes[some] + 1))
        cuts = np.flatnonzero(np.diff(ends // TILE)) + 1
        self.groups = np.split(some, cuts)
        self.group_of = np.zeros(len(sizes), dtype=np.int64)
        for number, own in enumerate(self.groups):
            self.group_of[own] = number
        self._last: tuple[tuple[int, ...], MomentTable] | None = None

    def table(self, *groups: int) -> MomentTable:
        """Return the table of some groups."""
        wanted = tuple(sorted(set(groups)))
        if self._last is None or self._last[0] != wanted:
            self._last = None  # not both at once in memory
            variables = np.concatenate([self.groups[g] for g in wanted])
            self._last = wanted, MomentTable.of(self.rows, variables)
        return self._last[1]


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
