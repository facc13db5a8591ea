"""A score test for every pair that is no edge.

At a fitted network the slope of the log pseudo-likelihood along the table of an absent pair is
``u = sum r_i z_j' + z_i r_j'`` over the rows, with indicators z and residuals r = z - p. If the
pair is no edge, its residuals are independent given all other variables, and with m = p - mean p

    u = sum r_i m_j' + m_i r_j' + 2 r_i r_j',
    Var u = sum S_i (x) m_j m_j' + m_i m_i' (x) S_j + 4 S_i (x) S_j.

Both depend on the rows only through the configurations of i's and j's neighbours.

Where few rows tell about a pair, chi-square tails promise too much (see ``tilted``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.special import chdtri

from graftwork.grafting import Problem
from graftwork.grafting.spaces import PairSpace
from graftwork.inference.layout import Floats, Ints
from graftwork.objectives.fitted_rows import FittedRows
from graftwork.objectives.protocol import Expectations
from graftwork.objectives.pseudo import PseudoPoint
from graftwork.significance import pair_screen
from graftwork.significance.edge_tests import Cut, Findings
from graftwork.significance.pair_screen import (
    by_shape,
    cells_of,
    promising_pairs,
    some_cells,
    stacked,
)
from graftwork.significance.tails import log_tail
from graftwork.significance.tilted import directions, scarce, tilted
from graftwork.significance.variances import MomentTables, variances_of_some

# Pairs tested at once, and numbers in their variances.
STRIP = 2048
BATCH_SIZE = 2**22
NO_PLACES = np.zeros(0, dtype=np.int64)
# Pairs listed at once, and cells of their tables.
LISTED = 2**18
CELLS = 2**22
# From this many pairs and rows on, variances of some rows say which pairs are tested with all:
# those whose statistic is this share of what is needed. It is off by a few percent.
MANY_PAIRS, MANY_ROWS, SOME_ROWS, NEAR = 2000, 2**16, 8192, 0.85


def examine_pairs(
    rows: FittedRows,
    point: PseudoPoint,
    pairs: Ints,
    *,
    rests: bool = False,
    striking: float = pair_screen.STRIKING,
) -> Findings:
    """Return a test of each of these pairs, none of which is an edge."""
    expectations, found, order = point.pair_expectations(pairs), [Findings.none(0)], []
    for view, own in _views(rows, pairs, rests):
        tables = MomentTables(view, np.unique(pairs[own]))
        some = some_cells(expectations, own)
        found.append(_examine(tables, pairs[own], some, rests, striking))
        order.append(own)
    return Findings.joined(found).some(np.argsort(np.concatenate([NO_PLACES, *order])))


def examine_absent(
    rows: FittedRows,
    point: PseudoPoint,
    problem: Problem,
    cut: Cut | None = None,
    striking: float = pair_screen.STRIKING,
) -> Findings:
    """Return the tests of all pairs that might be edges and are none, if at all striking.

    Pairs that are not striking are left out: there may be very many. Where there are thousands,
    so are those that a quick look finds far from it (see ``pair_screen``).
    """
    straight, space = MomentTables(rows.straight), problem.space
    kept, absent = [Findings.none(0)], _absent(rows, space)
    promising = promising_pairs(straight, point, space, absent, cut, striking)
    for pairs, expectations, level in promising:
        for view, own in _views(rows, pairs):
            mine, some = pairs[own], some_cells(expectations, own)
            near = _nearer(view, mine, some, level)
            if near is not None:
                mine, some = mine[near], some_cells(some, near)
            tables = straight if view is not rows else MomentTables(rows, np.unique(mine))
            deciding = level if cut is None else min(level, cut.level)
            found = _examine(tables, mine, some, striking=deciding)
            kept.append(found.some(found.log_p < np.log(striking)))
    return Findings.joined(kept)


def _views(rows: FittedRows, pairs: Ints, rests: bool = False) -> list[tuple[FittedRows, Ints]]:
    """Return the rows as pairs look at them, with the places of those pairs.

    Tests of pairs that are not curved need what counts in linear parts alone.
    """
    linear, sizes = rows.contrasts.linear[pairs], rows.contrasts.sizes[pairs]
    sides = sizes if rests else rows.contrasts.sides(pairs)
    straight = (sides == linear).all(axis=1)
    views = (rows.straight, np.flatnonzero(straight)), (rows, np.flatnonzero(~straight))
    return [(view, own) for view, own in views if len(own)]


def _nearer(rows: FittedRows, pairs: Ints, expectations: Expectations, level: float) -> Ints | None:
    """Return which pairs are tested with all rows, by variances of some; None for all.

    Of many pairs and rows most are far from a p-value of ``level`` with any variance that a few
    thousand rows allow.
    """
    if len(pairs) < MANY_PAIRS or rows.sample.n_given < MANY_ROWS:
        return None
    variances = variances_of_some(rows, SOME_ROWS, np.unique(pairs))
    if variances is None:
        return None
    near = []
    for groups in _batches(rows, pairs):
        spreads = variances([pairs[places] for places in groups])
        for own, spread in zip(groups, spreads, strict=True):
            shape = directions(rows, pairs[own[0]])
            u = _slopes(rows, pairs[own], expectations, own)
            statistics = _statistics(u, spread, shape)
            near.append(own[statistics >= NEAR * chdtri(max(1.0, len(shape)), level)])
    return np.sort(np.concatenate(near))


def _absent(rows: FittedRows, space: PairSpace) -> list[Ints]:
    """Return the keys of pairs that might be edges and are none, not too many at once."""
    active = np.sort(space.keys(rows.potentials.layout.edges))
    count = max(1, min(LISTED, int(CELLS / np.mean(rows.sample.cards) ** 2)))
    return [
        np.setdiff1d(np.arange(start, min(start + count, space.size)), active, assume_unique=True)
        for start in range(0, space.size, count)
    ]


def _examine(
    tables: MomentTables,
    pairs: Ints,
    expectations: Expectations,
    rests: bool = False,
    striking: float = pair_screen.STRIKING,
) -> Findings:
    """Return the tests of some pairs, given how often their cells occur and should."""
    rows, tests, places = tables.rows, [Findings.none(0)], [np.zeros(0, dtype=np.int64)]
    for groups in _batches(rows, pairs):
        rows.check()
        spreads = tables.variances([pairs[some] for some in groups])
        for some, spread in zip(groups, spreads, strict=True):
            tests.append(_test(rows, pairs, expectations, some, spread, rests, striking))
            places.append(some)
    return Findings.joined(tests).some(np.argsort(np.concatenate(places)))


def _batches(rows: FittedRows, pairs: Ints) -> Iterator[list[Ints]]:
    """Yield the places of pairs in groups of one shape; groups whose variances are made together.

    Rows are looked at once for each batch, so batches are large.
    """
    batch: list[Ints] = []
    numbers = 0
    for some in by_shape(rows, pairs, STRIP, BATCH_SIZE):
        size = len(some) * int(np.prod(rows.contrasts.sizes[pairs[some[0]]])) ** 2
        if batch and numbers + size > 4 * BATCH_SIZE:
            yield batch
            batch, numbers = [], 0
        batch.append(some)
        numbers += size
    if batch:
        yield batch


def _test(
    rows: FittedRows,
    pairs: Ints,
    expectations: Expectations,
    places: Ints,
    spread: Floats,
    rests: bool,
    striking: float,
) -> Findings:
    """Return the tests of those pairs that stand at some places and have one shape.

    ``spread`` are the variances of their slopes.
    """
    pairs = pairs[places]
    own = directions(rows, pairs[0], rests)
    df = len(own)
    degrees = np.full(len(pairs), float(df))
    if not df:
        return replace(Findings.none(len(pairs)), pairs=pairs, degrees=degrees)
    u = _slopes(rows, pairs, expectations, places)
    statistics = _statistics(u, spread, own)
    log_p = log_tail(statistics, degrees)
    near, whole = np.flatnonzero(log_p < np.log(striking)), rows.whole or rows
    for k in near[scarce(whole, pairs[near], rests=rests)].tolist():
        i, j = pairs[k].tolist()
        statistics[k], degrees[k] = tilted(whole, (i, j), rests=rests)
        log_p[k] = log_tail(statistics[[k]], degrees[[k]])[0]
    return Findings(pairs, statistics, degrees, log_p, statistics)


def _slopes(rows: FittedRows, pairs: Ints, expectations: Expectations, places: Ints) -> Floats:
    """Return slopes of pairs that have one shape and stand at some places, in contrasts."""
    bases, total = rows.contrasts.bases, rows.sample.total_weight
    left, right = stacked(bases, pairs[:, 0]), stacked(bases, pairs[:, 1])
    cells = cells_of(expectations, places)
    slopes = len(expectations.given) * expectations.data[cells]
    slopes = total * (slopes - expectations.model[:, cells].sum(axis=0))
    slopes = slopes.reshape(len(pairs), left.shape[1], right.shape[1])
    u: Floats = (left.transpose(0, 2, 1) @ slopes @ right).reshape(len(pairs), -1)
    return u


def _statistics(u: Floats, spread: Floats, own: Ints) -> Floats:
    """Return the statistics of slopes with these variances, along some contrasts."""
    if len(own) < u.shape[1]:
        u, spread = u[:, own], np.ascontiguousarray(spread[:, own[:, None], own])
    diagonal = np.einsum("pdd->pd", spread)
    diagonal += 1e-10 * diagonal.mean(axis=1, keepdims=True) + 1e-300
    found: Floats = (u * np.linalg.solve(spread, u[:, :, None])[:, :, 0]).sum(axis=1)
    return found
