"""Which absent pairs may be edges: a quick look at all of them.

The variance of a pair's slope is a sum over rows of S_i (x) M_j + M_i (x) S_j. With the means of S
and M in place of each row's, it becomes diagonal in coordinates of each variable's own, so that a
statistic takes no more than the pair's slope. It differs from the exact one by a few percent where
variables depend moderately.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, eigvalsh
from scipy.special import chdtri

from graftwork.grafting.spaces import PairSpace
from graftwork.inference.layout import Floats, Ints
from graftwork.inference.pairs import find_edges
from graftwork.inference.ragged import offsets
from graftwork.objectives.fitted_rows import FittedRows
from graftwork.objectives.pair_tiles import Tile
from graftwork.objectives.protocol import Expectations
from graftwork.objectives.pseudo import PseudoPoint
from graftwork.significance.edge_tests import Cut
from graftwork.significance.variances import MomentTables, unfold

# With fewer pairs than this, and fewer pairs times rows, a quick look does not pay.
FEWEST_PAIRS = 2000
FEWEST_PRODUCTS = 10**8
# P-values above this are not of interest.
STRIKING = 0.05
# Pairs are looked at closely if their quick statistic reaches this share of what is needed, to be
# an edge or to be striking. Of 1,888 striking pairs of eight samples (strong dependence, few rows,
# many states) a share of .7 lost none, and .8 one.
SHARE, STRIKING_SHARE = 0.6, 0.8
# The first of so many pairs.
SHARE_OF_MANY, MANY_PAIRS = 0.7, 10**6
# Discoveries allowed for at first: so many times edges and variables. If there may be more, all
# pairs are looked at again.
ALLOWED = 20
# How often the number of discoveries is estimated anew.
ROUNDS = 20
# Pairs looked at together, and numbers in their tables.
STRIP, BATCH_SIZE = 2**14, 2**20
# Pairs looked at closely in one go.
LISTED = 2**16


def many(n_pairs: int, n_rows: int) -> bool:
    """Return whether tests of all pairs take so long that looking first pays."""
    return n_pairs >= FEWEST_PAIRS or n_pairs * n_rows >= FEWEST_PRODUCTS


def promising_pairs(
    tables: MomentTables,
    point: PseudoPoint,
    space: PairSpace,
    absent: list[Ints],
    cut: Cut | None,
    striking: float = STRIKING,
) -> Iterator[tuple[Ints, Expectations, float]]:
    """Yield absent pairs that might be edges at a false discovery rate, with their expectations.

    And the p-value that they would need.
    """
    n_absent = sum(len(keys) for keys in absent)
    if not many(n_absent, tables.rows.sample.n_given):
        for pairs in map(space.pairs, absent):
            yield pairs, point.pair_expectations(pairs), striking
        return
    view = View.of(tables)
    tiled = space.index_map is None and point.tiles(space.variables) is not None
    if cut is not None:
        yield from _undecided(view, point, space, [] if tiled else absent, cut, n_absent)
        return
    edges = np.sort(space.keys(tables.rows.potentials.layout.edges))
    for tile in (point.tiles(space.variables) or ()) if tiled else ():
        lines, columns, _ = view.near(tile, striking, STRIKING_SHARE)
        pairs = np.stack([tile.first[lines], tile.second[columns]], axis=1)
        places = np.flatnonzero(~np.isin(space.keys(pairs), edges))
        for own in np.split(places, range(LISTED, len(places), LISTED)):
            yield pairs[own], tile.expectations(lines[own], columns[own]), striking
    for keys in () if tiled else absent:
        pairs = space.pairs(keys)
        expectations = point.pair_expectations(pairs)
        statistics = view.statistics(pairs, expectations)
        least = STRIKING_SHARE * needed(view.degrees(pairs), striking)
        near = np.flatnonzero(statistics >= least)
        yield pairs[near], some_cells(expectations, near), striking


def _undecided(
    view: View, point: PseudoPoint, space: PairSpace, absent: list[Ints], cut: Cut, n_absent: int
) -> Iterator[tuple[Ints, Expectations, float]]:
    """Yield the absent pairs that may be discoveries; without a list, from tiles."""
    layout = view.rows.potentials.layout
    share = SHARE if n_absent < MANY_PAIRS else SHARE_OF_MANY
    allowed = ALLOWED * (layout.n_edges + layout.n_variables)
    level = cut.level * min(1.0, allowed / max(1, cut.n_tests))
    for first in (level, cut.level):
        kept = list(_near(view, point, space, absent, first, share))
        statistics = np.concatenate([own for _, own, _ in kept])
        degrees = np.concatenate([view.degrees(pairs) for pairs, _, _ in kept])
        p_value, discoveries = first, allowed
        # As many as there may be at a p-value, which depends on how many there are: twice as many
        # as look like it, since the look is quick.
        for _ in range(ROUNDS):
            likely = int((statistics >= needed(degrees, p_value)).sum())
            discoveries = layout.n_edges + 2 * likely + 1
            smaller = cut.level * min(1.0, discoveries / max(1, cut.n_tests))
            if smaller >= p_value:
                break
            p_value = smaller
        if discoveries <= allowed or first == cut.level:
            break
    for pairs, own, known in kept:
        near = np.flatnonzero(own >= share * needed(view.degrees(pairs), p_value))
        for some in np.split(near, range(LISTED, len(near), LISTED)):
            if known is not None:
                yield pairs[some], some_cells(known, some), p_value
            else:
                yield pairs[some], point.pair_expectations(pairs[some]), p_value


def _near(
    view: View, point: PseudoPoint, space: PairSpace, absent: list[Ints], level: float, share: float
) -> Iterator[tuple[Ints, Floats, Expectations | None]]:
    """Yield absent pairs whose quick statistic is a share of what a p-value needs.

    With the statistics, and with their expectations where these are known anyway.
    """
    if absent:
        for keys in absent:
            pairs = space.pairs(keys)
            expectations = point.pair_expectations(pairs)
            statistics = view.statistics(pairs, expectations)
            near = np.flatnonzero(statistics >= share * needed(view.degrees(pairs), level))
            known = some_cells(expectations, near) if len(absent) == 1 else None
            yield pairs[near], statistics[near], known
        return
    edges = np.sort(space.keys(view.rows.potentials.layout.edges))
    for tile in point.tiles(space.variables) or ():
        lines, columns, statistics = view.near(tile, level, share)
        pairs = np.stack([tile.first[lines], tile.second[columns]], axis=1)
        away = ~np.isin(space.keys(pairs), edges)
        yield pairs[away], statistics[away], None


def promising_near(
    view: View, point: PseudoPoint, space: PairSpace, moved: Ints, cut: Cut, others: int
) -> Ints:
    """Return absent pairs of some variables that might be edges at a false discovery rate.

    Shapes: moved (k,) int64.
    """
    found = [np.zeros((0, 2), dtype=np.int64)]
    layout = view.rows.potentials.layout
    p_value = cut.level * min(1.0, (layout.n_edges + others + 1) / max(1, cut.n_tests))
    variables = np.concatenate([moved, np.setdiff1d(space.variables, moved)])
    for tile in point.tiles(variables, len(moved)) or ():
        lines, columns, _ = view.near(tile, p_value, SHARE)
        found.append(np.sort(np.stack([tile.first[lines], tile.second[columns]], axis=1), axis=1))
    pairs = np.concatenate(found)
    return pairs[find_edges(layout, pairs) < 0]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """For each variable coordinates in which the sum of S is 1 and that of M diagonal."""

    rows: FittedRows
    axes: list[Floats]
    curvatures: list[Floats]  # what M is along each, in the mean
    # (n,): the sum of S along the contrast where it is smallest; infinite where there is none
    spreads: Floats

    @staticmethod
    def of(tables: MomentTables) -> View:
        """Return the coordinates of all variables."""
        rows, axes, curvatures, spreads = tables.rows, [], [], []
        columns = rows.contrasts.linear.tolist()
        for whole, size, totals in zip(rows.contrasts.bases, columns, tables.totals(), strict=True):
            basis, square = whole[:, :size], unfold(whole.shape[1])[:size, :size]
            spread, moment = (total[square] for total in totals)
            spread[np.diag_indices(size)] += 1e-10 * np.trace(spread) + 1e-300
            values, turn = eigh(moment, spread) if size else (np.zeros(0), np.zeros((0, 0)))
            axes.append(basis @ turn)
            curvatures.append(np.maximum(values, 1e-12) / rows.sample.total_weight)
            spreads.append(float(eigvalsh(spread)[0]) if size else np.inf)
        return View(rows, axes, curvatures, np.array(spreads))

    def statistics(self, pairs: Ints, expectations: Expectations) -> Floats:
        """Return the quick statistics of some pairs."""
        out, gradients = np.zeros(len(pairs)), expectations.gradients
        for some in by_shape(self.rows, pairs, STRIP, BATCH_SIZE):
            first, second = pairs[some].T
            left, right = stacked(self.axes, first), stacked(self.axes, second)
            tables = gradients[cells_of(expectations, some)]
            tables = tables.reshape(len(some), left.shape[1], right.shape[1])
            slopes = left.transpose(0, 2, 1) @ tables @ right
            curvatures = (
                stacked(self.curvatures, first)[:, :, None]
                + stacked(self.curvatures, second)[:, None]
            )
            out[some] = (slopes**2 / curvatures).sum(axis=(1, 2))
        return out * self.rows.sample.total_weight**2

    def near(self, tile: Tile, level: float, share: float) -> tuple[Ints, Ints, Floats]:
        """Return the pairs of a tile whose quick statistic is a share of what is needed.

        Their places in the first list and in the second, and the statistics.
        """
        first, second = (self.rows.contrasts.linear[some] for some in (tile.first, tile.second))
        degrees = np.arange(int(first.max(initial=0) * second.max(initial=0)) + 1)
        return tile.striking(self.axes, self.curvatures, share * needed(degrees, level))

    def degrees(self, pairs: Ints) -> Ints:
        """Return the degrees of freedom of each pair's test."""
        found: Ints = self.rows.contrasts.linear[pairs].prod(axis=1)
        return found


def needed(degrees: Ints, p_value: float) -> Floats:
    """Return the statistic needed for a p-value, by degrees of freedom; infinite for none."""
    different, which = np.unique(degrees, return_inverse=True)
    least = np.full(len(different), np.inf)
    least[different > 0] = chdtri(different[different > 0].astype(np.float64), p_value)
    return least[which]


def by_shape(rows: FittedRows, pairs: Ints, most: int, size: int) -> Iterator[Ints]:
    """Yield the places of pairs in groups whose tables have one shape."""
    cards, sizes = rows.sample.cards, rows.contrasts.sizes
    linear, sides = rows.contrasts.linear, rows.contrasts.sides(pairs)
    groups = np.array([own.shape[1] for own in rows.contrasts.members])
    kinds = _numbered(np.stack([cards, sizes, linear, groups]))
    group = _numbered(np.concatenate([kinds[pairs].T, sides.T]))
    order = np.argsort(group, kind="stable")
    for own in np.split(order, np.cumsum(np.bincount(group))[:-1]):
        if len(own):
            numbers = max(1, int(np.prod(sizes[pairs[own[0]]])) ** 2)
            count = max(1, min(most, size // numbers))
            yield from (own[start : start + count] for start in range(0, len(own), count))


def _numbered(columns: Ints) -> Ints:
    """Return a number for each column of whole numbers: the same for equal ones, in their order."""
    whole = np.ravel_multi_index(tuple(columns), tuple(columns.max(axis=1, initial=0) + 1))
    _, numbers = np.unique(whole, return_inverse=True)
    return numbers


def cells_of(expectations: Expectations, places: Ints) -> Ints:
    """Return where the cells of some pairs are, which have one shape, shape (pairs, cells)."""
    starts = expectations.offsets[places]
    count = int(expectations.offsets[places[0] + 1] - starts[0])
    return np.asarray(starts[:, None] + np.arange(count))


def some_cells(expectations: Expectations, places: Ints) -> Expectations:
    """Return the expectations of some of the pairs."""
    counts = np.diff(expectations.offsets)[places]
    ends = offsets(counts)
    cells = np.repeat(expectations.offsets[places] - ends[:-1], counts) + np.arange(ends[-1])
    return Expectations(
        expectations.model[:, cells], expectations.given, expectations.data[cells], ends
    )


def stacked(parts: Sequence[Floats], chosen: Ints) -> Floats:
    """Return the arrays of some variables, which have one shape, as one array."""
    different = np.flatnonzero(np.bincount(chosen))
    which = np.searchsorted(different, chosen)
    return np.stack([parts[i] for i in different.tolist()])[which]
