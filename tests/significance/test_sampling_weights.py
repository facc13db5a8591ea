"""Weights that are not counts: what rows say depends on their proportions, not on their unit."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.data import Table

from doors.data import PlacedTable, prepare
from doors.estimators import Units
from doors.objectives import some_rows
from support.problems import random_table, with_holes


def columns_of(rng, rows=400):
    """Six binary columns, each close to the one before."""
    x = [rng.integers(0, 2, rows)]
    for _ in range(5):
        x.append(np.where(rng.random(rows) < 0.6, x[-1], rng.integers(0, 2, rows)))
    return np.column_stack(x)


def findings(net):
    parts = (net.evidence_.edges, net.evidence_.others)
    return {
        tuple(pair): log_p
        for part in parts
        for pair, log_p in zip(part.pairs.tolist(), part.log_p.tolist(), strict=True)
    }


def close(one, other):
    assert one.keys() == other.keys()
    for pair, log_p in one.items():
        assert log_p == pytest.approx(other[pair], rel=1e-5, abs=1e-6)


def test_the_unit_of_weights_does_not_matter():
    rng = np.random.default_rng(0)
    rows, weights = columns_of(rng), rng.gamma(1.0, 1.0, 400) + 0.05
    first = gw.MarkovNetwork(n_jobs=1).fit(rows, sample_weight=weights)
    for unit in (25.0, 1e-3):
        close(
            findings(first),
            findings(gw.MarkovNetwork(n_jobs=1).fit(rows, sample_weight=unit * weights)),
        )


def test_equal_weights_that_are_not_whole_are_no_weights():
    rows = columns_of(np.random.default_rng(1))
    plain = gw.MarkovNetwork(n_jobs=1).fit(rows)
    close(
        findings(plain), findings(gw.MarkovNetwork(n_jobs=1).fit(rows, sample_weight=[0.3] * 400))
    )


def test_rows_may_stand_in_any_order_and_equal_ones_may_be_written_apart():
    rng = np.random.default_rng(2)
    rows, weights = columns_of(rng), rng.choice([0.1, 1.9], 400)
    order = rng.permutation(400)
    first = gw.MarkovNetwork(n_jobs=1).fit(rows, sample_weight=weights)
    close(
        findings(first),
        findings(gw.MarkovNetwork(n_jobs=1).fit(rows[order], sample_weight=weights[order])),
    )


def test_equal_rows_keep_the_sum_of_their_squares():
    table = Table(("a", "b"), ((0, 1), (0, 1)), [[0, 0, 0, 1], [1, 1, 1, 0]], [0.5, 1.0, 2.0, 0.5])
    sample = prepare(table)
    scale = 4.0 / 5.5  # sum of the weights over sum of their squares
    assert sample.codes.tolist() == [[0, 1], [1, 0]]
    assert sample.weights == pytest.approx([3.5 * scale, 0.5 * scale])
    assert sample.squares == pytest.approx([5.25 * scale**2, 0.25 * scale**2])
    assert sample.total_weight == pytest.approx(16 / 5.5) == pytest.approx(table.effective_rows)
    assert sample.squares.sum() == pytest.approx(sample.total_weight)
    assert sample.counts.tables(np.array([[0, 1]]))[0].sum() == pytest.approx(16 / 5.5)


def test_whole_weights_are_counts_also_where_few_are_not_one():
    table = random_table(0, rows=60, weights=np.r_[2.0, np.ones(59)])
    sample = prepare(table)
    assert table.squares is None
    assert sample.squares is None
    assert sample.total_weight == table.effective_rows == 61


def test_some_of_the_rows_have_the_squares_of_what_was_merged():
    table = random_table(0, rows=900, most=2, weights=np.random.default_rng(0).uniform(0.1, 2, 900))
    whole = prepare(table)
    some = some_rows(whole, 20)
    known = {tuple(row): (w, s) for row, w, s in
             zip(whole.codes.T.tolist(), whole.weights, whole.squares, strict=True)}  # fmt: skip
    assert some.n_rows == 20
    for row, w, s in zip(some.codes.T.tolist(), some.weights, some.squares, strict=True):
        assert known[tuple(row)] == pytest.approx((w, s))


def test_subsets_of_sampling_weights_are_not_taken_for_counts():
    table = random_table(0, rows=60, weights=np.r_[np.full(30, 0.5), np.full(30, 3.0)])
    heavy = table.take_rows(np.arange(30, 60))
    assert heavy.effective_rows == pytest.approx(30)
    assert prepare(heavy).total_weight == pytest.approx(30)
    assert heavy.take_columns(["v1", "v0"]).effective_rows == pytest.approx(30)
    assert heavy.with_order(None).effective_rows == pytest.approx(30)
    assert with_holes(table, 0).squares is not None
    assert table.with_weights(None).with_weights([2.0] * 60).effective_rows == 120


def test_a_row_drawn_twice_counts_as_two_rows_in_a_resample():
    table = random_table(0, rows=40, weights=np.linspace(0.1, 2.0, 40))
    drawn = Units.of(table).resample(np.random.default_rng(0))
    times = np.round(drawn.weights / table.weights).astype(int)
    written = table.take_rows(np.repeat(np.arange(40), times))
    assert times.max() > 1
    assert drawn.effective_rows == pytest.approx(written.effective_rows)
    one, other = prepare(drawn, merge=False), prepare(written)
    assert one.total_weight == pytest.approx(other.total_weight)
    assert one.squares.sum() == pytest.approx(other.squares.sum())


@pytest.mark.parametrize("missing", ["available-case", "impute"])
def test_missing_cells_of_weighted_rows_are_drawn_once(missing):
    rng = np.random.default_rng(3)
    rows, weights = columns_of(rng).astype(object), 30.0 * (rng.gamma(1.0, 1.0, 400) + 0.05)
    rows[rng.random(rows.shape) < 0.05] = None
    net = gw.MarkovNetwork(missing=missing, random_state=0, n_jobs=1)
    net.fit(rows, sample_weight=weights)
    total = weights.sum() ** 2 / (weights**2).sum()
    assert net.data_.effective_rows == pytest.approx(total)
    assert len(net.evidence_.edges.pairs) >= 3


def test_standard_errors_are_those_of_the_sandwich():
    """One edge of binary variables: the sandwich of their losses, by finite differences."""
    rng = np.random.default_rng(4)
    x = rng.integers(0, 2, 600)
    y = np.where(rng.random(600) < 0.5, x, rng.integers(0, 2, 600))
    y = np.where(rng.random(600) < 0.3, x, y)
    w = rng.gamma(1.0, 1.0, 600) * np.where(x == y, 1.0, 1.5) + 0.1  # rows that differ weigh more
    net = gw.MarkovNetwork(n_jobs=1).fit(np.column_stack([x, y]), sample_weight=w)
    scaled = w * w.sum() / (w**2).sum()

    def losses(theta):
        a, b, c = theta
        one, other = np.where(x, 1, -1), np.where(y, 1, -1)
        left, right = one * (a + c * other), other * (b + c * one)
        return np.logaddexp(0, -2 * left) + np.logaddexp(0, -2 * right)

    def slopes(theta):
        steps = 1e-5 * np.eye(3)
        return np.array([(losses(theta + s) - losses(theta - s)) / 2e-5 for s in steps])

    ridge = np.diag([0.0, 0.0, 4.0])  # of a table of +-c, half its squared norm
    theta = np.zeros(3)
    for _ in range(20):
        gradient = slopes(theta) @ scaled + ridge @ theta
        steps = 1e-4 * np.eye(3)
        curvature = (
            np.array(
                [(slopes(theta + s) @ scaled - slopes(theta - s) @ scaled) / 2e-4 for s in steps]
            )
            + ridge
        )
        theta = theta - np.linalg.solve(curvature, gradient)
    each = slopes(theta) * scaled
    inverse = np.linalg.inv(curvature)
    error = np.sqrt((inverse @ (each @ each.T) @ inverse)[2, 2])
    edge = net._edge_records()[0]
    assert edge["weight"] == pytest.approx(4.0 * theta[2], rel=1e-4)
    assert edge["weight_se"] == pytest.approx(4.0 * error, rel=1e-3)
    assert error > 1.2 * np.sqrt(inverse[2, 2])


def test_the_result_says_the_design_effect():
    rng = np.random.default_rng(5)
    rows, weights = columns_of(rng), rng.choice([0.1, 1.9], 400)
    net = gw.MarkovNetwork(n_jobs=1).fit(rows, sample_weight=weights)
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert net.data_.effective_rows == pytest.approx(effective)
    assert net.info()["design_effect"] == pytest.approx(400 / effective)
    words = " ".join(net.summary().split())
    assert f"say as much as {effective:.1f} rows of equal weight, design effect" in words
    counted = gw.MarkovNetwork(n_jobs=1).fit(rows, sample_weight=rng.integers(1, 3, 400))
    assert counted.info()["design_effect"] == 1.0
    assert "sampling weights" not in counted.summary()


def test_whole_weights_that_stand_for_far_more_rows_are_remarked_on():
    rng = np.random.default_rng(6)
    rows = columns_of(rng)
    with pytest.warns(gw.DataWarning, match="400 rows count as 9,9.*divide them by their mean"):
        net = gw.MarkovNetwork(n_jobs=1).fit(rows, sample_weight=np.resize([20, 25, 30], 400))
    assert "divide them by their mean" in " ".join(net.summary().split())


def test_what_cannot_be_weighed_is_refused():
    rng = np.random.default_rng(7)
    table = gw.as_table(columns_of(rng), weights=rng.uniform(0.5, 2.0, 400))
    counts = gw.count_pairs(table)
    with pytest.raises(gw.ParameterError, match="sums of sampling weights"):
        gw.MarkovNetwork(loss="likelihood", criterion="ebic").fit(counts)
    gw.MarkovNetwork(loss="likelihood", lam=0.05).fit(counts)
    parts = PlacedTable.cut(table, 150)
    with pytest.raises(gw.ParameterError, match="need all rows in memory"):
        gw.MarkovNetwork().fit(parts)
    gw.MarkovNetwork(lam=0.05).fit(parts)
    with pytest.raises(gw.DataError, match="divide all by their mean"):
        table.with_weights([1e-200] * 399 + [0.5e-200])


def test_equal_groups_of_different_weights_have_their_effective_sizes():
    rng = np.random.default_rng(8)
    rows = columns_of(rng)
    table = {f"x{i}": rows[:, i].tolist() for i in range(6)} | {"g": [0] * 200 + [1] * 200}
    weights = np.r_[np.full(200, 2.0), np.full(100, 0.5), np.full(100, 1.0)]
    found = gw.compare_groups(table, "g", sample_weight=weights, n_permutations=2, n_jobs=1)
    assert found.sizes == pytest.approx((200, 150**2 / 125))
    again = gw.compare_groups(table, "g", sample_weight=7.3 * weights, n_jobs=1)
    assert again.tests.log_p == pytest.approx(found.tests.log_p, rel=1e-5, abs=1e-6)
