"""What a device sums is what the processor sums; here on CPU tensors."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-gpu has it")

from graftwork.data import Table
from graftwork.inference import Layout, Potentials
from graftwork.objectives import PseudoLikelihood

from doors.data import PlacedTable, prepare_parts
from doors.device import DeviceEngine, operations
from doors.device import engine as engines
from doors.objectives import (
    FittedRows,
    Parameters,
    all_states,
    configurations,
    hessian,
    hessian_module,
    is_rough,
    some_rows,
)
from doors.significance import EdgeTests, MomentTables, examine_pairs, variances_of_some

CARDS = [2, 3, 5, 2, 4, 3]
EDGES = [(0, 1), (1, 2), (2, 3), (0, 3), (2, 4)]
PAIRS = np.array([(0, 2), (0, 4), (1, 3), (1, 5), (3, 5), (4, 5)])


def made(weighted: bool, rows: int = 400) -> Table:
    """Return dependent rows; one state is not used."""
    rng = np.random.default_rng(7)
    codes = np.stack([rng.integers(0, s, rows) for s in CARDS])
    for i, j in EDGES:
        same = rng.random(rows) < 0.4
        codes[j, same] = codes[i, same] % CARDS[j]
    codes[5] = np.where(codes[5] == 1, 0, codes[5])
    weights = rng.integers(0, 4, rows).astype(float) + 0.25 if weighted else None
    return Table(tuple("abcdef"), tuple(tuple(range(s)) for s in CARDS), codes, weights)


@pytest.fixture(params=["resident", "streamed", "parts"])
def engine(request):
    """Return an engine that holds all codes, or streams them; rows in one part or in several."""
    return DeviceEngine(torch.device("cpu"), 1, room=0 if request.param == "streamed" else None), (
        90 if request.param == "parts" else 400
    )


@pytest.fixture(params=["complete", "weighted"])
def both(request, engine, monkeypatch):
    """Return samples with the same rows, summed by the processor and by a device."""
    table = made(request.param == "weighted")
    monkeypatch.setattr("graftwork.device.rows.CHUNK", 128)
    done = []
    real = engines.job_of

    def job_of(value, function, arguments):
        job = real(value, function, arguments)
        done.append((function, arguments[:1], job is not None))
        return job

    monkeypatch.setattr(engines, "job_of", job_of)
    samples = [prepare_parts(PlacedTable.cut(table, 90))]
    samples.append(prepare_parts(PlacedTable.cut(table, engine[1], engine[0])))
    return *samples, done


def points(both):
    layout = Layout.of(both[0].cards, EDGES)
    weights = np.random.default_rng(1).normal(0, 0.4, layout.size)
    return [PseudoLikelihood(sample, 1).at(Potentials(layout, weights)) for sample in both[:2]]


def on_device(both) -> None:
    """Assert that the device did all that was asked for."""
    assert both[2]
    left = [own for *own, there in both[2] if not there and own[0].__name__ not in HERE]
    assert not left


HERE = {"_rows"}


def test_counts(both):
    one, other, _ = both
    assert np.allclose(one.frequencies, other.frequencies, rtol=1e-14)
    for some in (PAIRS, PAIRS[:1]):
        found = [sample.counts.tables(some)[0] for sample in (one, other)]
        assert np.allclose(*found, rtol=1e-13)
        assert found[0].dtype == found[1].dtype
    on_device(both)


def test_counts_of_all_pairs(both, monkeypatch):
    monkeypatch.setattr("graftwork.device.counting.MANY_PAIRS", 1)
    pairs = np.stack(np.triu_indices(6, 1), axis=1)
    assert np.allclose(*(sample.counts.tables(pairs)[0] for sample in both[:2]), rtol=1e-13)


@pytest.mark.parametrize("most", [configurations.MOST, 3])
def test_loss(both, most, monkeypatch):
    monkeypatch.setattr(configurations, "MOST", most)
    one, other = points(both)
    assert np.isclose(one.value, other.value, rtol=1e-7)
    assert np.allclose(one.gradient, other.gradient, atol=5e-7)
    assert np.allclose(one.curvature, other.curvature, atol=1e-6)
    assert np.allclose(one.removal_costs(), other.removal_costs(), atol=1e-6)
    on_device(both)


@pytest.mark.parametrize("many", [1, 1000])
def test_slopes(both, many, monkeypatch):
    monkeypatch.setattr("graftwork.objectives.pair_sums.MANY_PAIRS", many)
    monkeypatch.setattr("graftwork.objectives.pair_sums.DENSE", 0.0)
    found = [point.pair_gradients(PAIRS)[0] for point in points(both)]
    assert np.allclose(*found, atol=1e-6)
    on_device(both)


@pytest.mark.parametrize("lines", [None, 5])
@pytest.mark.parametrize("leading", [None, 2])
def test_tiles(both, lines, leading):
    both[1].parts.engine._lines = lines
    roots = np.sqrt(both[0].declared.astype(float))
    rng = np.random.default_rng(0)
    sizes = [min(s, 3) for s in both[0].cards.tolist()]
    axes = [rng.normal(size=(s, k)) for s, k in zip(both[0].cards, sizes, strict=True)]
    curvatures = [rng.random(k) + 0.1 for k in sizes]
    tables, slacks = [], []
    for point in points(both):
        found = np.zeros((3, 6, 6))
        for tile in point.tiles(np.arange(6), leading):
            where = np.ix_(tile.first, tile.second)
            for k, largest in enumerate((False, True)):
                found[k][where] += tile.scores(roots, largest)
                slacks.append([tile.slack(roots, largest, 0.05), k])
                lines_, columns, scores = tile.scored_above(roots, largest, 0.02)
                dense = tile.scores(roots, largest)
                assert np.array_equal(np.stack(np.nonzero(dense > 0.02)), [lines_, columns])
                assert np.array_equal(scores, dense[lines_, columns])
            found[2][where] += tile.statistics(axes, curvatures)
            check_striking(tile, axes, curvatures, np.arange(10.0))
            lines_, columns = np.array([0]), np.array([len(tile.second) - 1])
            assert tile.expectations(lines_, columns).data.sum() == pytest.approx(1.0)
        tables.append(found)
    for k in range(2):
        slack = max(own for own, which in slacks if which == k)
        assert np.abs(np.triu(tables[0][k] - tables[1][k], 1)).max() <= slack + 1e-7
        assert slack < 0.02
    assert np.allclose(tables[0][2], tables[1][2], rtol=0.1, atol=0.5)
    on_device(both)


def check_striking(tile, axes, curvatures, least):
    """Assert that the statistics told are those that are large enough."""
    lines, columns, values = tile.striking(axes, curvatures, least)
    dense = tile.statistics(axes, curvatures)
    for x in range(len(tile.first)):
        for y in range(x + 1 if tile.triangle else 0, len(tile.second)):
            both = len(axes[tile.first[x]].T) * len(axes[tile.second[y]].T)
            assert (dense[x, y] >= least[both]) == ((x, y) in zip(lines, columns, strict=True))
    assert np.array_equal(values, dense[lines, columns])


@pytest.mark.parametrize("count", [2000, 50_000])
def test_rounding_stays_within_its_bound(count, monkeypatch):
    """Of 45 pairs with conditionals that are the same in all rows, where rounding is worst."""
    rng = np.random.default_rng(3)
    codes = rng.choice(5, (10, count), p=[0.5, 0.3, 0.15, 0.04, 0.01])
    names, states = tuple(map(str, range(10))), (tuple(range(5)),) * 10
    table = Table(names, states, codes)
    engine = DeviceEngine(torch.device("cpu"), 1)
    samples = [prepare_parts(PlacedTable.cut(table, count, *own)) for own in ((), (engine,))]
    layout = Layout.of(samples[0].cards, [])
    weights = np.log(np.tile([0.498, 0.301, 0.151, 0.0409, 0.0091], 10))
    roots = np.full(10, 5**0.5)
    one, other = (
        next(PseudoLikelihood(own, 1).at(Potentials(layout, weights)).tiles(np.arange(10)))
        for own in samples
    )
    for largest in (False, True):
        gap = np.abs(one.scores(roots, largest) - other.scores(roots, largest)).max()
        slack = other.slack(roots, largest, 0.01)
        assert gap <= slack < 60 * gap


def test_rows_that_stand_for_all(both):
    one, other = (some_rows(sample, 60) for sample in both[:2])
    assert np.array_equal(one.codes, other.codes)
    assert np.allclose(one.weights, other.weights)
    on_device(both)


def test_drift(both):
    fewer, layout = Layout.of(both[0].cards, EDGES[1:]), Layout.of(both[0].cards, EDGES)
    rng = np.random.default_rng(2)
    before, now = (Potentials(at, rng.normal(0, 0.3, at.size)) for at in (fewer, layout))
    drifts = []
    for sample in both[:2]:
        objective = PseudoLikelihood(sample, 1)
        first = objective.at(before)
        drifts.append(objective.at(now, first).drift(first.snapshot()))
    assert np.allclose(*drifts, atol=1e-6)
    on_device(both)


@pytest.mark.parametrize("most", [configurations.MOST, 3])
def test_tests(both, most, monkeypatch):
    monkeypatch.setattr(configurations, "MOST", most)
    found = []
    for point in points(both):
        rows = FittedRows.of(point, all_states(point.objective.sample))
        parameters = Parameters.of(point.potentials.layout, rows.contrasts)
        totals = np.concatenate([np.concatenate(two) for two in MomentTables(rows).totals()])
        tests = examine_pairs(rows, point, PAIRS)
        some = variances_of_some(rows, 50, np.unique(PAIRS))([PAIRS[k : k + 1] for k in range(2)])
        found.append((hessian(rows, parameters).toarray(), totals, tests.statistics, *some))
    for one, other in zip(*found, strict=True):
        assert np.allclose(one, other, rtol=1e-5, atol=1e-5)
    on_device(both)


@pytest.mark.parametrize("rows", [50, 10_000])
@pytest.mark.parametrize("chosen", [None, [1], [0, 3]])
def test_tests_of_edges(both, rows, chosen):
    found = []
    for point in points(both):
        fitted = FittedRows.of(point, all_states(point.objective.sample))
        tests = EdgeTests.of(fitted, None if chosen is None else np.array(chosen))
        found.append(tests.findings(rows))
    one, other = found
    assert np.allclose(one.statistics, other.statistics, rtol=1e-9)
    assert np.allclose(one.degrees, other.degrees, rtol=1e-9)
    on_device(both)


def test_inverses(both, monkeypatch):
    monkeypatch.setattr(hessian_module, "LARGE", 3)
    rng = np.random.default_rng(0)
    matrices = [a @ a.T for a in (rng.normal(size=(k, 8)) for k in (2, 3, 6, 8))]
    matrices[1] = np.diag([1.0, 1.0, -1e-5])  # not definite before its diagonal is raised far
    rows = FittedRows.of(points(both)[1], all_states(both[1]))
    found = hessian_module.inverted(matrices, rows)
    for one, other in zip(found, map(hessian_module.inverse, matrices), strict=True):
        assert np.allclose(one, other, rtol=1e-6)


def test_rough_hessians_are_about_those_of_all_rows(monkeypatch):
    monkeypatch.setattr(configurations, "MOST", 3)
    monkeypatch.setattr("graftwork.objectives.hessian.ENOUGH_ROWS", 3000)
    monkeypatch.setattr("graftwork.objectives.hessian.MANY_ROWS", 2000)
    monkeypatch.setattr("graftwork.device.counting.MOST_KEYS", 3)
    table = made(False, 30_000)
    sample = prepare_parts(PlacedTable.cut(table, 30_000, DeviceEngine(torch.device("cpu"), 1)))
    layout = Layout.of(sample.cards, EDGES)
    potentials = Potentials(layout, np.random.default_rng(1).normal(0, 0.4, layout.size))
    point = PseudoLikelihood(sample, 1).at(potentials)
    rows = FittedRows.of(point, all_states(sample))
    parameters = Parameters.of(layout, rows.contrasts)
    assert is_rough(rows)
    whole = hessian(rows, parameters).toarray()
    rough = hessian(rows, parameters, roughly=True).toarray()
    gap = np.linalg.norm(rough - whole) / np.linalg.norm(whole)
    assert 0.0 < gap < 0.1
    exact, about = EdgeTests.of(rows), EdgeTests.of(rows, roughly=True)
    assert exact.exact
    assert not about.exact
    assert np.allclose(about.rises, exact.rises, rtol=0.1)
    again = EdgeTests.of(rows, before=about)
    assert again.renewed
    assert not again.exact


def test_all_operations_have_names():
    assert len(operations.OF_CONDITIONALS) == 5
