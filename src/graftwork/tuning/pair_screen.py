"""Which absent pairs may be edges: a quick look at all of them.

The variance of a pair's slope is a sum over rows of S_i (x) M_j + M_i (x) S_j. With the means of S
and M in place of each row's, it becomes diagonal in coordinates of each variable's own, so that all
statistics come from one product of tall matrices, for which single precision does. They differ from
the exact ones by a few percent where variables depend moderately.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.special import chdtri

from graftwork.grafting.space import PairSpace
from graftwork.inference.layout import Floats, Ints
from graftwork.kernels.threads import run_chunks
from graftwork.tuning.configurations import Said
from graftwork.tuning.edge_tests import Cut
from graftwork.tuning.hessian import unfold
from graftwork.tuning.rows import Rows
from graftwork.tuning.variances import average

# With fewer pairs than this a quick look does not pay.
FEWEST_PAIRS = 2000
# Pairs are looked at closely if their quick statistic reaches this share of what is needed.
SHARE = 0.6
# Lines of a product in memory at once, and those one thread computes: fixed, so that results do not
# depend on threads.
TILE, STRIP = 8192, 256

Singles = NDArray[np.float32]


def promising_pairs(rows: Rows, space: PairSpace, absent: list[Ints], cut: Cut) -> list[Ints]:
    """Return which of the absent pairs might be edges at a false discovery rate.

    Parameters
    ----------
    absent : list of (k,) int64
        Keys of the absent pairs in the space, not too many at once.
    """
    if sum(len(keys) for keys in absent) < FEWEST_PAIRS:
        return absent
    tiles, sizes = list(_quick_statistics(rows)), rows.contrasts.sizes
    tables = np.unique(np.outer(sizes, sizes)).astype(np.float64)

    def look(keys: Ints, p_value: float) -> Floats:
        """Return the quick statistics as shares of what a p-value needs."""
        pairs = space.pairs(keys)
        needed = np.append(chdtri(tables[tables > 0], p_value), np.inf)
        degrees = sizes[pairs].prod(axis=1)
        place = np.where(degrees > 0, np.searchsorted(tables[tables > 0], degrees), -1)
        shares: Floats = _read(tiles, pairs) / needed[place]
        return shares

    striking = sum(int((look(keys, cut.level) >= 1.0).sum()) for keys in absent)
    discoveries = rows.potentials.layout.n_edges + 2 * striking + 1
    p_value = cut.level * min(1.0, discoveries / max(1, cut.n_tests))
    return [keys[look(keys, p_value) >= SHARE] for keys in absent]


def _read(tiles: list[tuple[slice, Floats]], pairs: Ints) -> Floats:
    """Return the quick statistics of some pairs."""
    out = np.zeros(len(pairs))
    for tile, found in tiles:
        here = (pairs[:, 0] >= tile.start) & (pairs[:, 0] < tile.stop)
        out[here] = found[tuple(pairs[here].T - tile.start)]
    return out


def _quick_statistics(rows: Rows) -> Iterator[tuple[slice, Floats]]:
    """Yield ranges of variables, and their statistics with all variables from the first on."""
    places, (turns, bends) = rows.places, _coordinates(rows)
    for tile in _ranges(places, TILE):
        slopes = _slopes(rows, int(places[tile.start]), int(places[tile.stop]))
        starts = places[tile.start :] - places[tile.start]
        for k, turn in enumerate(turns[tile.start :]):
            own = slice(starts[k], starts[k + 1])
            slopes[:, own] = slopes[:, own] @ turn
            if k < tile.stop - tile.start:
                slopes[own] = turn.T @ slopes[own]
        bend = bends[places[tile.start] :]
        shares = slopes**2 / (bend[: len(slopes), None] + bend)
        found = np.zeros((tile.stop - tile.start, len(turns) - tile.start))
        told = np.flatnonzero(np.diff(starts))  # variables that tests can tell anything of
        rows_told = told[told < len(found)]
        if len(rows_told):
            by_row = np.add.reduceat(shares, starts[rows_told], axis=0)
            found[np.ix_(rows_told, told)] = np.add.reduceat(by_row, starts[told], axis=1)
        yield tile, found


def _slopes(rows: Rows, begin: int, end: int) -> Singles:
    """Return sum r_i z_j' + z_i r_j' of some lines i with all lines j from the first of them on."""
    total = np.zeros((end - begin, int(rows.places[-1]) - begin), dtype=np.float32)
    strips = [slice(k, min(k + STRIP, end - begin)) for k in range(0, end - begin, STRIP)]
    for block in rows.blocks():
        seen = block.indicators[begin:].astype(np.float32)
        left = (block.residuals[begin:] * block.weights).astype(np.float32)

        def add(strip: slice, seen: Singles = seen, left: Singles = left) -> None:
            # only columns from the strip's own first line on: pairs have i < j
            total[strip, strip.start :] += left[strip] @ seen[strip.start :].T
            total[strip, strip.start :] += seen[strip] @ left[strip.start :].T

        run_chunks(add, strips, rows.n_threads)
    return total


def _coordinates(rows: Rows) -> tuple[list[Floats], Floats]:
    """Return for each variable coordinates in which the sum of S is 1, and M's mean over it."""
    conditionals, turns, bends = rows.conditionals, [], [np.zeros(0)]
    for i, size in enumerate(rows.contrasts.sizes.tolist()):
        said = Said.of(rows.sample, conditionals, rows.contrasts, i)
        weights = said.configurations.weights
        spread, moment = (
            (lines @ weights)[unfold(size)]
            for lines in (said.spreads, said.moments(*average(rows, i)))
        )
        spread[np.diag_indices(size)] += 1e-10 * np.trace(spread) + 1e-300
        values, vectors = eigh(moment, spread) if size else (np.zeros(0), np.zeros((0, 0)))
        turns.append(vectors)
        bends.append(np.maximum(values, 1e-12) / rows.sample.total_weight)
    return turns, np.concatenate(bends)


def _ranges(starts: Ints, most: int) -> Iterator[slice]:
    """Yield ranges of variables that have at most so many lines together (or one variable)."""
    first, n_variables = 0, len(starts) - 1
    while first < n_variables:
        last = int(np.searchsorted(starts, starts[first] + most, side="right")) - 1
        yield slice(first, max(last, first + 1))
        first = max(last, first + 1)
