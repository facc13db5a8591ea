"""A score test for every pair that is no edge.

At a fitted network the slope of the log pseudo-likelihood along the table of an absent pair is
``u = sum r_i z_j' + z_i r_j'`` over the rows, with indicators z and residuals r = z - p. If the
pair is no edge, its residuals are independent given all other variables, and with m = p - mean p

    u = sum r_i m_j' + m_i r_j' + 2 r_i r_j',
    Var u = sum S_i (x) m_j m_j' + m_i m_i' (x) S_j + 4 S_i (x) S_j.

Both sums over rows are products of two tall matrices, so all pairs are tested by a few of those.

Where a cell of the table is expected less than once, chi-square tails promise too much: then the
pair must be convincing without such cells, or one of them by its own Poisson tail.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import poisson

from graftwork.grafting import Problem
from graftwork.grafting.space import PairSpace
from graftwork.inference.layout import Floats, Ints
from graftwork.kernels.threads import run_chunks
from graftwork.objectives.protocol import Point
from graftwork.tuning.edge_tests import Findings, log_tail
from graftwork.tuning.rows import Rows

# Spread features of the variables worked on at once.
TILE = 8192
# Lines of a product that one thread computes: fixed, so that results do not depend on threads.
STRIP = 256
# Numbers in the variances that are inverted at once.
BATCH_SIZE = 2**22
# Pairs listed at once.
LISTED = 2**18
# Cells expected less often than this are not left to the chi-square; in small tables, where one
# cell can decide, than the second.
SPARSE, SPARSE_IF_SMALL = 1.0, 5.0
SMALL = 4
# Pairs that look less striking than this need no second look.
STRIKING = float(np.log(0.05))


def examine_pairs(rows: Rows, point: Point, pairs: Ints) -> Findings:
    """Return a test of each of these pairs, none of which is an edge.

    Parameters
    ----------
    rows : Rows
        The sample under the fitted network, whose mean conditionals are the data's frequencies.
    point : Point
        The loss evaluated there.
    """
    tests = Findings.none(len(pairs))
    for tile in _tiles(rows.triangles):
        chosen = np.flatnonzero((pairs[:, 0] >= tile.start) & (pairs[:, 0] < tile.stop))
        if len(chosen):
            found = _Tile.of(rows, point, tile).test(pairs[chosen])
            tests = tests.with_rows(chosen, found)
    return tests


def examine_absent(rows: Rows, point: Point, problem: Problem) -> Findings:
    """Return the tests of all pairs that might be edges and are none, if at all striking.

    Pairs with a p-value above .05 are left out: there may be very many.
    """
    space, layout = problem.space, rows.potentials.layout
    active = np.sort(space.keys(layout.edges))
    kept = [Findings.none(0)]
    for tile in _tiles(rows.triangles):
        first, last = (_first_key(space, variable) for variable in (tile.start, tile.stop))
        worker = _Tile.of(rows, point, tile) if last > first else None
        for start in range(first, last, LISTED):
            keys = np.arange(start, min(start + LISTED, last))
            keys = np.setdiff1d(keys, active, assume_unique=True)
            if worker is not None and len(keys):
                found = worker.test(space.pairs(keys))
                kept.append(found.some(found.log_p < STRIKING))
    return Findings.joined(kept)


def _first_key(space: PairSpace, variable: int) -> int:
    """Return the first key of a pair whose first variable is this one or a later one."""
    return bisect_left(
        range(space.size), variable, key=lambda key: int(space.pairs(np.array([key]))[0, 0])
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Tile:
    """The variables whose pairs with later ones are tested together, and the variances of u."""

    rows: Rows
    point: Point
    first: int
    variances: Floats

    @staticmethod
    def of(rows: Rows, point: Point, tile: slice) -> _Tile:
        return _Tile(rows, point, tile.start, _products(rows, rows.triangles, tile))

    def test(self, pairs: Ints) -> Findings:
        """Return a test of each pair."""
        rows, starts = self.rows, self.rows.triangles
        sizes = rows.contrasts.sizes
        tests = Findings.none(len(pairs))
        for some in _batches(rows, pairs):
            first = starts[pairs[some]] - starts[self.first]
            degrees = (sizes[pairs[some, 0]] * sizes[pairs[some, 1]]).astype(np.float64)
            found = _test(rows, self.point, pairs[some], self.variances, first)
            parts = pairs[some], found[0], degrees, found[1], found[0]
            tests = tests.with_rows(some, Findings(*parts))
        return tests


def _tiles(starts: Ints) -> Iterator[slice]:
    """Yield ranges of variables whose spreads have at most ``TILE`` lines (or one variable)."""
    first, n_variables = 0, len(starts) - 1
    while first < n_variables:
        last = int(np.searchsorted(starts, starts[first] + TILE, side="right")) - 1
        yield slice(first, max(last, first + 1))
        first = max(last, first + 1)


def _products(rows: Rows, starts: Ints, tile: slice) -> Floats:
    """Return S_i (x) M_j + M_i (x) S_j of a tile's variables i with all j from its first on.

    M is m m' + 2 S: the sum is then the variance of u.
    """
    begin, end = int(starts[tile.start]), int(starts[tile.stop])
    total = np.zeros((end - begin, int(starts[-1]) - begin))
    strips = [slice(k, min(k + STRIP, end - begin)) for k in range(0, end - begin, STRIP)]
    for block in rows.blocks(moments=True):
        spreads, moments = block.spreads[begin:] * block.weights, block.moments[begin:]

        def add(strip: slice, spreads: Floats = spreads, moments: Floats = moments) -> None:
            # only columns from the strip's own first line on: pairs have i < j
            total[strip, strip.start :] += spreads[strip] @ moments[strip.start :].T
            total[strip, strip.start :] += moments[strip] @ spreads[strip.start :].T

        run_chunks(add, strips, rows.n_threads)
    return total


def _batches(rows: Rows, pairs: Ints) -> Iterator[Ints]:
    """Yield the places of pairs in groups whose tables have one shape, not too many at once."""
    cards, sizes = rows.sample.cards, rows.contrasts.sizes
    shapes = np.stack([table[pairs[:, k]] for table in (cards, sizes) for k in (0, 1)])
    _, group = np.unique(shapes, axis=1, return_inverse=True)
    for g in range(int(group.max()) + 1):
        some = np.flatnonzero(group == g)
        size = int(np.prod(sizes[pairs[some[0]]])) ** 2
        count = max(1, BATCH_SIZE // max(1, size))
        for start in range(0, len(some), count):
            yield some[start : start + count]


def _test(
    rows: Rows, point: Point, pairs: Ints, variances: Floats, first: Ints
) -> tuple[Floats, Floats]:
    """Return statistics and log p-values of pairs of one shape.

    ``first`` says where the spreads of each pair's variables start in ``variances``.
    """
    bases, total = rows.contrasts.bases, rows.sample.total_weight
    left = np.stack([bases[i] for i in pairs[:, 0]])
    right = np.stack([bases[j] for j in pairs[:, 1]])
    shape = len(pairs), left.shape[1], right.shape[1]
    df = left.shape[2] * right.shape[2]
    if not df:
        return np.zeros(len(pairs)), np.zeros(len(pairs))
    expectations = point.pair_expectations(pairs)
    slopes = -total * expectations.gradients.reshape(shape)
    u = (left.transpose(0, 2, 1) @ slopes @ right).reshape(len(pairs), df)
    spread = _gather(variances, first, left.shape[2], right.shape[2])
    diagonal = np.einsum("pdd->pd", spread)
    diagonal += 1e-10 * diagonal.mean(axis=1, keepdims=True) + 1e-300
    statistics = (u * np.linalg.solve(spread, u[:, :, None])[:, :, 0]).sum(axis=1)
    log_p = log_tail(statistics, np.full(len(pairs), float(df)))
    model = 0.5 * total * expectations.model.sum(axis=0).reshape(shape)
    data = total * expectations.data.reshape(shape)
    for k in np.flatnonzero(log_p < STRIKING):
        groups = [rows.contrasts.groups[v] for v in pairs[k]]
        log_p[k] = _soberly(log_p[k], statistics[k], df, *_pooled(model[k], data[k], *groups))
    return statistics, log_p


def _gather(variances: Floats, first: Ints, k_i: int, k_j: int) -> Floats:
    """Return the variance of each pair's u, shape (pairs, k_i k_j, k_i k_j)."""
    row, column = first[:, :1, None] + _unfold(k_i), first[:, 1:, None] + _unfold(k_j)
    values = variances[row[:, :, None, :, None], column[:, None, :, None, :]]
    square: Floats = values.reshape(len(first), k_i * k_j, k_i * k_j)
    return square


def _unfold(size: int) -> Ints:
    """Return where each entry of a symmetric matrix stands in its upper triangle."""
    places = np.zeros((size, size), dtype=np.int64)
    upper = np.triu_indices(size)
    places[upper] = places[upper[::-1]] = np.arange(len(upper[0]))
    return places


def _pooled(model: Floats, data: Floats, first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """Return expected and observed counts of a table whose states are grouped, flat."""
    cells = first[:, None] * (int(second.max()) + 1) + second
    size = (int(first.max()) + 1) * (int(second.max()) + 1)
    flat = cells.ravel()
    return (
        np.bincount(flat, model.ravel(), minlength=size).astype(np.float64),
        np.bincount(flat, data.ravel(), minlength=size).astype(np.float64),
    )


def _soberly(log_p: float, statistic: float, df: int, expected: Floats, seen: Floats) -> float:
    """Return a log p-value that does not rest on cells expected less than once.

    Without them the pair must be as convincing, or one of them by its Poisson tail.
    """
    rare = expected < (SPARSE_IF_SMALL if df <= SMALL else SPARSE)
    if not rare.any():
        return log_p
    expected, seen = np.maximum(expected[rare], 1e-12), seen[rare]
    share = ((seen - expected) ** 2 / expected).sum()
    rest = log_tail(np.array([max(0.0, statistic - share)]), np.array([float(df)]))[0]
    tails = np.asarray(poisson.logsf(np.floor(seen + 1e-9) - 1.0, expected))
    single = min(0.0, float(tails.min()) + float(np.log(len(tails))))
    return float(max(log_p, min(rest, single)))
