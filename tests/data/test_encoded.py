"""Preparing a table for learning: kept states, merged rows, weights."""

import numpy as np
import pytest

from graftwork.data import Table
from graftwork.objectives import PseudoLikelihood

from doors.data import prepare
from doors.objectives import independent_potentials
from support.problems import all_pairs, random_table


def test_states_that_never_occur_are_left_out_and_remembered():
    codes = np.array([[2, 0, 2], [1, 1, 1]], dtype=np.uint8)
    sample = prepare(Table(("a", "b"), (("x", "y", "z"), (0, 1)), codes))
    assert sample.cards.tolist() == [2, 1]
    assert sample.declared.tolist() == [3, 2]
    assert [k.tolist() for k in sample.kept] == [[0, 2], [1]]


def test_a_state_seen_only_with_weight_zero_does_not_count():
    codes = np.array([[0, 1, 2]], dtype=np.uint8)
    sample = prepare(Table(("a",), ((0, 1, 2),), codes, np.array([1.0, 0.0, 2.0])))
    assert sample.cards.tolist() == [2]
    assert sample.total_weight == 3.0


def test_equal_rows_are_merged_and_nothing_else_changes():
    table = random_table(0, n=4, rows=2000, most=2)
    sample = prepare(table)
    assert sample.n_rows <= 16
    assert sample.weights.sum() == sample.total_weight == 2000
    merged, _ = sample.counts.tables(all_pairs(4))
    apart, _ = prepare(table.with_weights(np.full(2000, 3.0))).counts.tables(all_pairs(4))
    assert np.array_equal(3 * merged, apart)
    assert merged.dtype == np.int64


def test_different_rows_are_left_alone():
    table = random_table(1, n=12, rows=50)
    assert prepare(table).weights is None


def test_weights_scale_out():
    table = random_table(2, rows=80)
    weights = np.random.default_rng(0).integers(1, 5, 80)
    weighted = prepare(table.with_weights(weights.astype(float)))
    repeated = prepare(table.take_rows(np.repeat(np.arange(80), weights)))
    values = [PseudoLikelihood(s).at(independent_potentials(s)).value for s in (weighted, repeated)]
    assert np.isclose(*values, rtol=1e-13)


@pytest.mark.parametrize("columns", [3, 70], ids=["numbers of rows fit 64 bits", "they do not"])
@pytest.mark.parametrize("copies", [1, 3])
def test_rows_are_merged_where_many_are_equal(columns, copies):
    rng = np.random.default_rng(0)
    different = np.unique(rng.integers(0, 4, (40, columns)), axis=0)
    rows = np.repeat(different, copies, axis=0)[rng.permutation(copies * len(different))]
    table = Table(
        tuple(f"x{j}" for j in range(columns)),
        (tuple(range(4)),) * columns,
        rows.T.astype(np.uint8),
    )
    sample = prepare(table)
    if copies == 1:
        assert sample.weights is None
        assert np.array_equal(sample.codes.T, rows)
        return
    firsts = np.sort(np.unique(rows, axis=0, return_index=True)[1])
    assert np.array_equal(sample.codes.T, rows[firsts])
    assert sample.weights.tolist() == [3.0] * len(different)
