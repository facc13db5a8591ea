"""Rows in parts give what the same rows give in one piece."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from graftwork.data import Table
from graftwork.inference import Layout, Potentials
from graftwork.objectives import PseudoLikelihood

from doors.data import (
    Encoding,
    Here,
    Parts,
    PlacedTable,
    RowPart,
    _same,
    add_up,
    prepare,
    prepare_parts,
)
from doors.objectives import (
    FittedRows,
    Parameters,
    all_states,
    configurations,
    hessian,
    marks_of,
    some_rows,
)
from doors.significance import MomentTables, examine_pairs

CARDS = [2, 3, 5, 2, 4, 3]
EDGES = [(0, 1), (1, 2), (2, 3), (0, 3), (2, 4)]
PAIRS = np.array([(0, 2), (0, 4), (1, 3), (1, 5), (3, 5), (4, 5)])


def made(kind: str, rows: int = 400) -> Table:
    """Return dependent rows: complete, with weights, or with missing cells; one unused state."""
    rng = np.random.default_rng(7)
    codes = np.stack([rng.integers(0, s, rows) for s in CARDS])
    for i, j in EDGES:
        same = rng.random(rows) < 0.4
        codes[j, same] = codes[i, same] % CARDS[j]
    codes[5] = np.where(codes[5] == 1, 0, codes[5])
    states = [tuple(range(s)) for s in CARDS]
    weights = rng.integers(0, 4, rows).astype(float) if kind == "weighted" else None
    if kind == "missing":
        for i in (1, 2):
            codes[i, rng.random(rows) < 0.15] = CARDS[i]
            states[i] = (*states[i], "(missing)")
    return Table(tuple("abcdef"), tuple(states), codes, weights)


@pytest.fixture(params=["complete", "weighted", "missing"])
def kind(request):
    return request.param


@pytest.fixture(params=["merged", "by rows"])
def both(request, kind, monkeypatch):
    """Return the same rows in one piece, and in parts; configurations merged, or too many."""
    if request.param == "by rows":
        monkeypatch.setattr(configurations, "MOST", 3)
    table = made(kind)
    missing = kind == "missing"
    whole = prepare(table, missing=missing, n_jobs=1)
    return whole, prepare_parts(in_parts(table), missing=missing)


def in_parts(table):
    """Return a table in parts, one without rows and one whose rows have no weight."""
    placed = PlacedTable.cut(table, 90)
    own = {n: None if table.weights is None else np.zeros(n) for n in (0, 5)}
    nothing, light = (
        Table.trusted(table.names, table.states, table.codes[:, :n].copy(), own[n], None)
        for n in (0, 0 if table.weights is None else 5)
    )
    more = [partial(_same, nothing), *placed.handles[:2], partial(_same, light)]
    return replace(placed, handles=[*more, *placed.handles[2:]]).counted()


def points(both):
    """Return the loss of both samples at the same potentials."""
    layout = Layout.of(both[0].cards, EDGES)
    weights = np.random.default_rng(1).normal(0, 0.4, layout.size)
    return [PseudoLikelihood(sample, 1).at(Potentials(layout, weights)) for sample in both]


def test_what_is_known_of_all_rows_is_the_same(both):
    whole, parts = both
    assert parts.n_rows == 0
    assert parts.n_given in (400, 405)  # rows without weight are counted
    for name in ("cards", "declared", "extended", "frequencies", "observed_weight"):
        assert np.allclose(getattr(whole, name), getattr(parts, name), rtol=1e-14)
    assert parts.counts.complete == whole.counts.complete
    pairs = np.array([(0, 1), (2, 5)])
    for name in ("tables", "extended_tables", "compute"):
        found = [getattr(one.counts, name)(pairs)[0] for one in both]
        assert np.allclose(*found, rtol=1e-13)
        assert found[0].dtype == found[1].dtype


def test_loss_and_gradient_are_the_same(both):
    whole, parts = points(both)
    assert np.isclose(whole.value, parts.value, rtol=1e-14)
    assert np.allclose(whole.gradient, parts.gradient, rtol=1e-11, atol=1e-14)
    assert np.allclose(whole.curvature, parts.curvature, rtol=1e-12)
    assert np.allclose(whole.removal_costs(), parts.removal_costs(), rtol=1e-11)


@pytest.mark.parametrize("many", [1, 1000])
def test_slopes_of_pairs_are_the_same(both, many, monkeypatch):
    monkeypatch.setattr(
        "graftwork.objectives.pair_sums.MANY_PAIRS", many
    )  # products, or one by one
    monkeypatch.setattr("graftwork.objectives.pair_sums.DENSE", 0.0)
    whole, parts = points(both)
    found = [point.pair_gradients(PAIRS)[0] for point in (whole, parts)]
    assert np.allclose(*found, rtol=1e-11, atol=1e-14)


def test_tiles_are_the_same(both, monkeypatch):
    monkeypatch.setattr("graftwork.objectives.pair_tiles.TILE", 9)
    whole, parts = points(both)
    if not both[0].complete:
        assert parts.tiles(np.arange(6)) is None
        return
    roots = np.sqrt(both[0].declared.astype(float))
    tiles = [[tile.scores(roots, False) for tile in p.tiles(np.arange(6))] for p in (whole, parts)]
    assert len(tiles[0]) > 1
    for one, other in zip(*tiles, strict=True):
        assert np.allclose(one, other, rtol=1e-11, atol=1e-15)


def test_drift_is_the_same(both):
    fewer, layout = Layout.of(both[0].cards, EDGES[1:]), Layout.of(both[0].cards, EDGES)
    rng = np.random.default_rng(2)
    before, now = (Potentials(at, rng.normal(0, 0.3, at.size)) for at in (fewer, layout))
    near = Potentials(layout, now.weights + np.eye(1, layout.size)[0])  # a unary alone
    for begin in (before, near):
        drifts = []
        for sample in both:
            objective = PseudoLikelihood(sample, 1)
            first = objective.at(begin)
            drifts.append(objective.at(now, first).drift(first.snapshot()))
        assert np.allclose(*drifts, rtol=1e-10)


def test_tests_are_the_same(both):
    found = []
    for point in points(both):
        rows = FittedRows.of(point, all_states(point.objective.sample))
        parameters = Parameters.of(point.potentials.layout, rows.contrasts)
        totals = np.concatenate([np.concatenate(two) for two in MomentTables(rows).totals()])
        tests = examine_pairs(rows, point, PAIRS)
        found.append((hessian(rows, parameters).toarray(), totals, tests.statistics))
    for one, other in zip(*found, strict=True):
        assert np.allclose(one, other, rtol=1e-9, atol=1e-10)


def test_some_rows_do_not_depend_on_the_parts(both):
    whole, parts = (some_rows(sample, 60) for sample in both)
    assert np.array_equal(marks_of(whole), marks_of(parts))
    assert np.array_equal(whole.codes, parts.codes)
    assert np.allclose(whole.weights, parts.weights)
    every = some_rows(both[1], 10_000)
    assert np.isclose(every.weights.sum(), every.total_weight)


def test_parts_that_are_kept_know_their_neighbourhoods(kind):
    table = made(kind)
    encoding = Encoding.of(PlacedTable.cut(table, 90), missing=kind == "missing")
    part = RowPart(encoding.encode(table), 0, 1, 2**28)
    parts = Parts(Here(1), [lambda: part], table.n_rows, 2**28)
    sample = encoding.whole(parts)
    layout = Layout.of(sample.cards, EDGES)
    point = PseudoLikelihood(sample, 1).at(Potentials(layout, np.zeros(layout.size)))
    first = point.pair_gradients(PAIRS)[0]
    assert "neighbourhoods" in part.memo
    assert np.array_equal(first, point.pair_gradients(PAIRS)[0])


def test_results_of_unlike_shape_do_not_add_up():
    with pytest.raises(ValueError, match="zip"):
        add_up([1.0], [1.0, 2.0])
