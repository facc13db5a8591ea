"""A score test for every pair that is no edge.

At a fitted network the slope of the log pseudo-likelihood along the table of an absent pair is
``u = sum r_i z_j' + z_i r_j'`` over the rows, with indicators z and residuals r = z - p. If the
pair is no edge, its residuals are independent given all other variables, and with m = p - mean p

    u = sum r_i m_j' + m_i r_j' + 2 r_i r_j',
    Var u = sum S_i (x) m_j m_j' + m_i m_i' (x) S_j + 4 S_i (x) S_j.

Both depend on the rows only through the configurations of i's and j's neighbours.

Where a cell of the table is expected less than once, chi-square tails promise too much: then the
pair must be convincing without such cells, or one of them by its own Poisson tail.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import gammainc

from graftwork.grafting import Problem
from graftwork.grafting.spaces import PairSpace
from graftwork.inference.layout import Floats, Ints
from graftwork.objectives.protocol import Expectations, Point
from graftwork.testing import pair_screen
from graftwork.testing.edge_tests import Cut, Findings, log_tail
from graftwork.testing.pair_screen import by_shape, cells_of, promising_pairs, stacked
from graftwork.testing.rows import FittedRows
from graftwork.testing.variances import MomentTable, MomentTables

# Pairs tested at once, and numbers in their variances.
STRIP = 2048
BATCH_SIZE = 2**22
# Pairs listed at once, and cells of their tables.
LISTED = 2**18
CELLS = 2**22
# Cells expected less often than this are not left to the chi-square; in small tables, where one
# cell can decide, than the second.
SPARSE, SPARSE_IF_SMALL = 1.0, 5.0
SMALL = 4
# Pairs that look less striking than this need no second look.
STRIKING = float(np.log(pair_screen.STRIKING))


def examine_pairs(rows: FittedRows, point: Point, pairs: Ints) -> Findings:
    """Return a test of each of these pairs, none of which is an edge.

    Parameters
    ----------
    rows : FittedRows
        The sample under the fitted network, whose mean conditionals are the data's frequencies.
    point : Point
        The loss evaluated there.
    """
    tables = MomentTables(rows, np.unique(pairs))
    return _examine(tables, pairs, point.pair_expectations(pairs))


def examine_absent(
    rows: FittedRows,
    point: Point,
    problem: Problem,
    cut: Cut | None = None,
    striking: float = pair_screen.STRIKING,
) -> Findings:
    """Return the tests of all pairs that might be edges and are none, if at all striking.

    Pairs that are not striking are left out: there may be very many. Where there are thousands,
    so are those that a quick look finds far from it (see ``pair_screen``).

    Parameters
    ----------
    cut : Cut, optional
        Where only decisions matter: pairs that are far from being edges are left out too.
    striking : float
        The largest p-value of interest.
    """
    tables, space = MomentTables(rows), problem.space
    kept = [Findings.none(0)]
    absent = _absent(rows, space)
    for pairs, expectations in promising_pairs(tables, point, space, absent, cut, striking):
        found = _examine(tables, pairs, expectations)
        kept.append(found.some(found.log_p < np.log(striking)))
    return Findings.joined(kept)


def _absent(rows: FittedRows, space: PairSpace) -> list[Ints]:
    """Return the keys of pairs that might be edges and are none, not too many at once."""
    active = np.sort(space.keys(rows.potentials.layout.edges))
    count = max(1, min(LISTED, int(CELLS / np.mean(rows.sample.cards) ** 2)))
    return [
        np.setdiff1d(np.arange(start, min(start + count, space.size)), active, assume_unique=True)
        for start in range(0, space.size, count)
    ]


def _examine(tables: MomentTables, pairs: Ints, expectations: Expectations) -> Findings:
    """Return the tests of some pairs, given how often their cells occur and should."""
    tests = Findings.none(len(pairs))
    groups, group = np.unique(tables.group_of[pairs], axis=0, return_inverse=True)
    for g, both in enumerate(groups.tolist()):
        chosen = np.flatnonzero(group.ravel() == g)
        table = tables.table(*both)
        for some in by_shape(tables.rows, pairs[chosen], STRIP, BATCH_SIZE):
            places = chosen[some]
            tests = tests.with_rows(places, _test(table, pairs, expectations, places))
    return tests


def _test(table: MomentTable, pairs: Ints, expectations: Expectations, places: Ints) -> Findings:
    """Return the tests of those pairs that stand at some places and have one shape."""
    rows, pairs = table.rows, pairs[places]
    bases, total = rows.contrasts.bases, rows.sample.total_weight
    left, right = stacked(bases, pairs[:, 0]), stacked(bases, pairs[:, 1])
    shape = len(pairs), left.shape[1], right.shape[1]
    df = left.shape[2] * right.shape[2]
    degrees = np.full(len(pairs), float(df))
    if not df:
        return replace(Findings.none(len(pairs)), pairs=pairs, degrees=degrees)
    cells = cells_of(expectations, places)
    model = total * expectations.model[:, cells].sum(axis=0).reshape(shape)
    data = total * expectations.data[cells].reshape(shape)
    slopes = len(expectations.given) * data - model
    u = (left.transpose(0, 2, 1) @ slopes @ right).reshape(len(pairs), df)
    spread = table.variances(pairs)
    diagonal = np.einsum("pdd->pd", spread)
    diagonal += 1e-10 * diagonal.mean(axis=1, keepdims=True) + 1e-300
    statistics = (u * np.linalg.solve(spread, u[:, :, None])[:, :, 0]).sum(axis=1)
    log_p = log_tail(statistics, degrees)
    least = 0.5 * model.min(axis=(1, 2))  # groups of states have no rarer cells
    for k in np.flatnonzero((log_p < STRIKING) & (least < max(SPARSE, SPARSE_IF_SMALL))):
        groups = [rows.contrasts.groups[v] for v in pairs[k]]
        pooled = _pooled(0.5 * model[k], data[k], *groups)
        log_p[k] = _soberly(log_p[k], statistics[k], df, *pooled)
    return Findings(pairs, statistics, degrees, log_p, statistics)


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
    with np.errstate(divide="ignore"):  # the chance of as many or more
        tails = np.log(gammainc(np.floor(seen + 1e-9), expected))
    single = min(0.0, float(tails.min()) + float(np.log(len(tails))))
    return float(max(log_p, min(rest, single)))
