"""The variances of the slopes of absent pairs' tables: sums over rows, from configurations.

If a pair is no edge its residuals are independent given all other variables, and the slope of its
table has the variance sum S_i (x) M_j + M_i (x) S_j, M = m m' + 2 S (see ``tuning.pair_tests``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.layout import Floats, Ints
from graftwork.inference.ragged import offsets
from graftwork.kernels import spreads as kernel
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.products import LANES, aligned
from graftwork.tuning.configurations import lanes_for, padded
from graftwork.tuning.hessian import unfold
from graftwork.tuning.rows import Rows

# Numbers in the lines of the variables worked on at once.
TILE = 2**24


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """What the conditionals of some variables say in each of their configurations.

    Attributes
    ----------
    rows : Rows
    place : (n,) int64
        Where each variable stands among them; -1 if it does not.
    ids : (k, rows) int32
        The configuration of each row.
    counts, widths, starts : (k,) or (k + 1,) int64
        Number of configurations, length of the line of each, and where each variable's start.
    lines : float64
        The upper triangles of S and M in each configuration, filled up to whole lanes.
    """

    rows: Rows
    place: Ints
    ids: NDArray[np.int32]
    counts: Ints
    widths: Ints
    starts: Ints
    lines: Floats

    @staticmethod
    def of(rows: Rows, variables: Ints) -> Lines:
        """Return those of some variables."""
        conditionals, lanes = rows.conditionals, _lanes(rows)

        def tell(part: slice) -> list[tuple[NDArray[np.int32], Floats]]:
            found = []
            for i in variables[part].tolist():
                said = rows.said(conditionals, i)
                both = np.vstack([said.spreads, said.moments(*average(rows, i))])
                found.append((said.configurations.ids, padded(both, lanes)))
            return found

        cuts = cut_evenly(np.ones(len(variables)), rows.n_threads)
        told = [one for group in run_chunks(tell, cuts, rows.n_threads) for one in group]
        place = np.full(len(rows.sample.cards), -1)
        place[variables] = np.arange(len(variables))
        ids, lines = np.stack([ids for ids, _ in told]), [lines for _, lines in told]
        counts, widths = np.array([part.shape for part in lines]).T
        starts = offsets(counts * widths)
        joined = aligned(-(-int(starts[-1]) // len(LANES)))[: starts[-1]]
        np.concatenate([part.ravel() for part in lines], out=joined)
        return Lines(rows, place, ids, counts.copy(), widths.copy(), starts, joined)

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


class Tiles:
    """All variables in groups whose lines have at most ``TILE`` numbers (or one variable).

    The lines last asked for are kept: mostly all variables are in one group.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows, sizes, conditionals = rows, rows.contrasts.sizes, rows.conditionals
        counts = np.array([
            len(rows.configurations(conditionals, i).weights)
            for i in range(len(sizes))
        ])  # fmt: skip
        ends = np.cumsum(counts * sizes * (sizes + 1))
        cuts = np.flatnonzero(np.diff(ends // TILE)) + 1
        self.groups = np.split(np.arange(len(sizes)), cuts)
        self.group_of = np.repeat(np.arange(len(self.groups)), [len(own) for own in self.groups])
        self._last: tuple[tuple[int, ...], Lines] | None = None

    def lines(self, *groups: int) -> Lines:
        """Return the lines of some groups."""
        wanted = tuple(sorted(set(groups)))
        if self._last is None or self._last[0] != wanted:
            self._last = None  # not both at once in memory
            variables = np.concatenate([self.groups[g] for g in wanted])
            self._last = wanted, Lines.of(self.rows, variables)
        return self._last[1]


def average(rows: Rows, i: int) -> tuple[Floats, bool]:
    """Return the contrasts of a variable's frequencies, and whether missing cells count as them."""
    sample = rows.sample
    start = int(sample.cards[:i].sum())
    frequencies = sample.frequencies[start : start + int(sample.cards[i])]
    return rows.contrasts.bases[i].T @ frequencies, bool(sample.extended[i] == sample.cards[i] + 1)


def _lanes(rows: Rows) -> tuple[int, ...]:
    """Return how many numbers of all variables' lines to add at once."""
    return lanes_for(int(_triangles(rows).max(initial=0)))


def _triangles(rows: Rows) -> Ints:
    """Return how many numbers the upper triangle of each variable's spread has."""
    sizes = rows.contrasts.sizes
    return sizes * (sizes + 1) // 2
