"""The variances of the slopes of absent pairs' tables: sums over rows, from configurations.

If a pair is no edge its residuals are independent given all other variables, and the slope of its
table has the variance sum S_i (x) M_j + M_i (x) S_j, M = m m' + 2 S (see ``pair_tests``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from graftwork.data.parts import TilingEngine
from graftwork.inference.layout import Floats, Ints
from graftwork.inference.ragged import offsets
from graftwork.kernels import curvature as kernel
from graftwork.kernels.row_sums import cache_lines
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.conditionals import NO_IDS
from graftwork.objectives.configurations import Ids
from graftwork.objectives.fitted_rows import FittedRows
from graftwork.objectives.hessian import ENOUGH_ROWS, is_rough, triangle_lanes
from graftwork.objectives.neighbourhoods import padded

# Numbers in the lines of all variables that are worked on at once, and configurations of rows.
TILE, IDS = 2**24, 2**26
# A variable's configurations are looked at, and not the rows, where there are this many times fewer
# than rows in a part.
FEWER = 4
# Configurations whose lines are added up at once.
SPAN = 2**14


@dataclass(frozen=True, slots=True, eq=False)
class MomentTable:
    """The moments of variables' conditionals in part of the rows."""

    rows: FittedRows
    weights: Floats  # (m,): what each row counts in variances; empty if that is 1
    ids: NDArray[np.int32]  # (n, m): the configuration of each row
    # counts, widths, starts: (n,) or (n + 1,): number of configurations, length of the line of
    # each, and where each variable's start
    counts: Ints
    widths: Ints
    starts: Ints
    lines: Floats  # the upper triangles of S and M in each configuration, filled up to whole lanes
    # their sums over the rows, from ``places`` on: all that is needed where the other variable of
    # a pair has one configuration
    totals: Floats
    places: Ints  # (n,)

    def sums(self, pairs: Ints) -> Floats:
        """Return the sums over rows of S_i M_j' + M_i S_j' of pairs of one shape, of triangles."""
        rows, sizes = self.rows, _triangles(self.rows)
        sums = np.empty((len(pairs), *sizes[pairs[0]].tolist()))
        if not sums.size:
            return sums

        def add(part: slice) -> None:
            kernel.sum_products(
                _lanes(rows), pairs[part], self.ids, self.counts, sizes, self.widths, self.lines,
                self.starts, self.weights, self.totals, self.places, sums[part],
            )  # fmt: skip

        fewer = self.counts[pairs].min(axis=1)
        costs = np.where(fewer > 1, fewer + 0.1 * self.ids.shape[1], 1.0)
        run_chunks(add, cut_evenly(costs, rows.n_threads), rows.n_threads)
        return sums


class MomentTables:
    """The moments of all variables, in parts of the rows: a part has about ``TILE`` numbers.

    There is one part at a time: the next one takes its place in memory. Mostly there is one.

    Shapes: variables (k,) int64.
    """

    def __init__(self, rows: FittedRows, variables: Ints | None = None) -> None:
        self.rows, n_variables = rows, len(rows.contrasts.sizes)
        here, n_rows = rows.conditionals.neighbourhoods, rows.sample.n_rows
        self._asked = np.arange(n_variables) if variables is None else variables
        self._here = {i: here.of_variable(i) for i in self._asked.tolist()}
        self._widths = -(-2 * _triangles(rows) // len(_lanes(rows))) * len(_lanes(rows))
        counts, merged = np.zeros(n_variables, dtype=np.int64), np.zeros(n_variables, dtype=bool)
        counts[self._asked] = [one.count for one in self._here.values()]
        merged[self._asked] = [one.ids is not None for one in self._here.values()]
        size, self._whole, self._counts = max(1, n_rows), merged, counts
        while size > 1 and (int(self._counts @ self._widths) > TILE or size * n_variables > IDS):
            size = -(-size // 2)
            self._whole = merged & (FEWER * counts <= size)
            self._counts = np.where(self._whole, counts, np.where(counts > 0, size, 0))
        starts = range(0, max(1, n_rows), size)  # one without rows where there are none
        self.parts = [slice(at, min(at + size, n_rows)) for at in starts]
        self._starts = offsets(self._counts * self._widths)
        self._table: MomentTable | None = None
        self._number, self._filled = -1, np.zeros(len(counts), dtype=bool)

    def table(self, number: int, variables: Ints) -> MomentTable:
        """Return the table of a part of the rows, with the lines of some variables at least.

        It holds until another is asked for.
        """
        if self._table is None or self._number != number:
            self._table = self._of(self.parts[number], self._table)
            self._number, self._filled = number, self._filled & self._whole
        self._complete(self._table, self.parts[number], variables[~self._filled[variables]])
        return self._table

    def totals(self) -> Iterator[tuple[Floats, Floats]]:
        """Yield the sums over all rows of the upper triangles of S and M of each variable.

        Where an engine sums many rows, some tell about all.
        """
        if is_rough(self.rows):
            parts, share = self.rows.some_parts(ENOUGH_ROWS)
            found = self.rows.over_rows(_totals, self._asked, variables=self._asked, parts=parts)
            sizes = _triangles(self.rows)[self._asked].tolist()
            for size, total in zip(sizes, found, strict=True):
                yield total[:size] / share, total[size : 2 * size] / share
            return
        apart = self.rows.conditionals.neighbourhoods.apart[self._asked]
        found = dict(
            zip(self._asked[~apart].tolist(), self._totals(self._asked[~apart]), strict=True)
        )
        if apart.any():
            away = self._asked[apart]
            totals = self.rows.over_rows(_totals, away, variables=away)
            found |= dict(zip(away.tolist(), totals, strict=True))
        for size, i in zip(
            _triangles(self.rows)[self._asked].tolist(), self._asked.tolist(), strict=True
        ):
            yield found[i][:size], found[i][size : 2 * size]

    def _totals(self, variables: Ints) -> list[Floats]:
        """Return the sums of some variables' lines, whose configurations are here."""
        here = self.rows.conditionals.neighbourhoods

        def add(some: slice) -> list[Floats]:
            return [self._total(i, here.masses_of(i)) for i in variables[some].tolist()]

        costs = np.array([float(self._here[i].count) for i in variables.tolist()])
        groups = run_chunks(add, cut_evenly(costs, self.rows.n_threads), self.rows.n_threads)
        return [one for group in groups for one in group]

    def _total(self, i: int, masses: Floats) -> Floats:
        """Return the sum of a variable's lines over its configurations, times their masses."""
        width, count, total = int(self._widths[i]), self._here[i].count, np.zeros(self._widths[i])
        lines = cache_lines(min(SPAN, count) * width)
        for start in range(0, count, SPAN):
            part = slice(start, min(start + SPAN, count))
            size = part.stop - start
            self._fill(i, *self._configurations(i, part), size, lines)
            own = lines[: size * width].reshape(size, width)
            total += masses[part] @ own if masses.size else own.sum(axis=0)
        return total

    def variances(self, groups: list[Ints]) -> list[Floats]:
        """Return the variances of pairs, each group of one shape: (pairs, k_i k_j, k_i k_j)."""
        variables = np.unique(np.concatenate([pairs.ravel() for pairs in groups]))
        if self.rows.sample.parts is None:
            sums = self._sums(groups, variables)
        else:
            sums = self.rows.over_rows(_sums, groups, variables, variables=variables)
        return [_unfolded(self.rows, *both) for both in zip(groups, sums, strict=True)]

    def _sums(self, groups: list[Ints], variables: Ints) -> list[Floats]:
        """Return the sums of triangles of pairs, over rows that are here."""
        sums: list[Floats] = []
        for number in range(len(self.parts)):
            table = self.table(number, variables)
            found = [table.sums(pairs) for pairs in groups]
            sums = [a + b for a, b in zip(sums, found, strict=True)] if sums else found
        return sums

    def _of(self, part: slice, before: MomentTable | None) -> MomentTable:
        """Return the table of some rows, in the memory of the one before."""
        rows, count = self.rows, part.stop - part.start
        lines = cache_lines(int(self._starts[-1])) if before is None else before.lines
        if before is None or before.ids.shape[1] != count:
            ids = np.empty((len(self._whole), count), dtype=np.int32)
            ids[self._asked[~self._whole[self._asked]]] = np.arange(count)
        else:
            ids = before.ids
        for i in np.flatnonzero(self._whole):
            ids[i] = self._here[i].row_ids()[part]
        weights = rows.sample.spreads
        return MomentTable(
            rows, np.zeros(0) if weights is None else weights[part], ids,
            np.where(self._whole, self._counts, count), self._widths, self._starts, lines,
            cache_lines(int(self._widths.sum()) + len(_lanes(rows))), offsets(self._widths)[:-1],
        )  # fmt: skip

    def _complete(self, table: MomentTable, part: slice, variables: Ints) -> None:
        """Fill in the lines of some variables."""
        alone = bool((table.counts[self._asked] == 1).any())

        def fill(some: slice) -> None:
            for i in variables[some].tolist():
                own = table.lines[self._starts[i] : self._starts[i + 1]]
                whole = slice(0, self._here[i].count)
                found = self._configurations(i, whole) if self._whole[i] else self._in_rows(i, part)
                self._fill(i, *found, int(table.counts[i]), own)
            if alone:
                kernel.sum_lines(
                    _lanes(self.rows), variables[some], table.ids, table.counts, table.widths,
                    table.lines, table.starts, table.weights, table.places, table.totals,
                )  # fmt: skip

        costs = np.asarray(self._counts[variables], dtype=np.float64)
        run_chunks(fill, cut_evenly(costs, self.rows.n_threads), self.rows.n_threads)
        self._filled[variables] = True

    def _fill(
        self, i: int, p: Floats, ids: Ids, missing: NDArray[np.bool_], count: int, out: Floats
    ) -> None:
        """Fill in the lines of one variable."""
        basis, width = self.rows.contrasts.bases[i], int(self._widths[i])
        stride = padded(len(basis))
        kernel.fill_moments(
            basis, p, stride, ids, missing, *average(self.rows, i), width, count, out
        )

    def _configurations(self, i: int, part: slice) -> tuple[Floats, Ids, NDArray[np.bool_]]:
        """Return a variable's conditionals in some configurations, and where it is missing."""
        here, missing = self._here[i], np.zeros(0, dtype=bool)
        if here.table is None:
            return self._in_rows(i, part)
        if here.lacking is not None:
            missing = here.lacking[part]
        return self.rows.in_configurations(i, part), NO_IDS, missing

    def _in_rows(self, i: int, part: slice) -> tuple[Floats, Ids, NDArray[np.bool_]]:
        """Return a variable's conditionals in some rows, and where it is missing."""
        sample, missing = self.rows.sample, np.zeros(0, dtype=bool)
        if sample.extended[i] > sample.cards[i]:
            missing = sample.codes[i, part] >= sample.cards[i]
        return *self.rows.conditionals.of_rows(i, part.start, part.stop), missing


def variances_of_some(
    rows: FittedRows, most: int, variables: Ints
) -> Callable[[list[Ints]], list[Floats]] | None:
    """Return what estimates variances of pairs from ``most`` different rows; None if all are here.

    It takes groups of pairs as `MomentTables.variances` does. Where an engine has all rows, it sums
    these too.

    Shapes: variables (k,) int64.
    """
    parts, cache = rows.sample.parts, rows.conditionals.neighbourhoods.cache.some(most)
    if cache is None:
        return None
    if parts is None or not isinstance(parts.engine, TilingEngine):
        tables = MomentTables(rows.some(most, variables), variables)
        share = tables.rows.share
        return lambda groups: [own / share for own in tables.variances(groups)]
    some, share = rows.some_parts(most)

    def variances(groups: list[Ints]) -> list[Floats]:
        own = np.unique(np.concatenate([pairs.ravel() for pairs in groups]))
        sums = rows.over_rows(_sums, groups, own, variables=own, parts=some)
        return [_unfolded(rows, *both) / share for both in zip(groups, sums, strict=True)]

    return variances


def _unfolded(rows: FittedRows, pairs: Ints, sums: Floats) -> Floats:
    """Return sums of triangles as matrices."""
    first, second = rows.contrasts.sizes[pairs[0]].tolist()
    row, column = unfold(first)[:, None, :, None], unfold(second)[None, :, None, :]
    square: Floats = sums[:, row, column].reshape(len(pairs), *(first * second,) * 2)
    return square


def _totals(rows: FittedRows, variables: Ints) -> list[Floats]:
    return MomentTables(rows, variables)._totals(variables)


def _sums(rows: FittedRows, groups: list[Ints], variables: Ints) -> list[Floats]:
    return MomentTables(rows, variables)._sums(groups, variables)


def average(rows: FittedRows, i: int) -> tuple[Floats, bool]:
    """Return the contrasts of a variable's frequencies, and whether missing cells count as them."""
    sample = rows.sample
    start = int(sample.cards[:i].sum())
    frequencies = sample.frequencies[start : start + int(sample.cards[i])]
    return rows.contrasts.bases[i].T @ frequencies, bool(sample.extended[i] == sample.cards[i] + 1)


def _lanes(rows: FittedRows) -> tuple[int, ...]:
    """Return how many numbers of all variables' lines to add at once."""
    return triangle_lanes(int(_triangles(rows).max(initial=0)))


def _triangles(rows: FittedRows) -> Ints:
    """Return how many numbers the upper triangle of each variable's spread has."""
    sizes = rows.contrasts.sizes
    return sizes * (sizes + 1) // 2


@lru_cache(maxsize=64)
def unfold(size: int) -> Ints:
    """Return where each entry of a symmetric matrix stands in its upper triangle.

    Examples
    --------
    >>> unfold(2).tolist()
    [[0, 1], [1, 2]]
    """
    places = np.zeros((size, size), dtype=np.int64)
    upper = np.triu_indices(size)
    places[upper] = places[upper[::-1]] = np.arange(len(upper[0]))
    places.flags.writeable = False
    return places
