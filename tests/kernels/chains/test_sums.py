"""Sums over the positions of attributes, against dense matrices."""

import numpy as np
import pytest

from doors.kernels import BLOCK
from doors.kernels import sums as kernel


@pytest.fixture(params=[False, True], ids=["ones", "values"])
def columns(request):
    """Attributes by their positions: compressed columns, and the same dense."""
    rng = np.random.default_rng(0)
    counts = np.array([3, 0, 5, 2])
    starts = np.concatenate([[0], np.cumsum(counts)])
    positions = np.concatenate([np.sort(rng.choice(12, c, replace=False)) for c in counts])
    values = rng.normal(size=10) if request.param else np.zeros(0)
    dense = np.zeros((12, 4))
    owner = np.repeat(np.arange(4), counts)
    dense[positions, owner] = values if request.param else 1.0
    return starts, positions.astype(np.int32), values, dense


def test_expected_features_are_sums_of_marginals_that_are_added(columns):
    starts, positions, values, dense = columns
    marginals = np.random.default_rng(1).random((12, 2 * BLOCK))
    feature_starts = np.array([0, 2, 2, 5, 6])
    outputs = np.array([0, 9, 3, 3, 15, 1], dtype=np.int32)
    out = np.ones(6)
    there = np.array([0, 2, 3])  # attributes that occur
    starts = np.append(starts[there], starts[-1])
    kernel.add_expected(
        2 * BLOCK, 0, 3, there, starts, positions, values, marginals.ravel(), feature_starts,
        outputs, out,
    )  # fmt: skip
    attributes = np.repeat(np.arange(4), np.diff(feature_starts))
    assert np.allclose(out, 1.0 + (dense.T @ marginals)[attributes, outputs])


@pytest.mark.parametrize("weighted", [False, True])
def test_probabilities_become_variances(weighted):
    rng = np.random.default_rng(2)
    chances, weights = rng.random((6, BLOCK)), rng.random(6) + 0.5
    chances[:, 3:] = 0.0
    scale = weights[:, None] if weighted else 1.0
    marginals = scale * chances
    kernel.spread_marginals(weights if weighted else np.zeros(0), marginals)
    assert np.allclose(marginals, scale * chances * (1 - chances))


def test_weights_of_features_lie_in_the_rows_of_their_attributes():
    """Features from the fourth on are none of attributes."""
    attributes, columns = np.array([2, 0, 2, 3]), np.array([1, 0, 5, 2])
    chosen, slots = np.array([0, 2, 3, 7]), np.empty(5, np.int64)
    assert kernel.number_rows(chosen, 4, attributes, slots) == 2
    assert slots.tolist() == [-1, -1, 0, 1, -1]
    rows = np.zeros((2, 6))
    kernel.fill_weights(chosen, np.array([1.0, 2.0, 3.0, 4.0]), 4, attributes, columns, slots, rows)
    assert rows.tolist() == [[0, 1, 0, 0, 0, 2], [0, 0, 3, 0, 0, 0]]


@pytest.mark.parametrize("valued", [False, True])
@pytest.mark.parametrize("cut", [False, True])
def test_only_attributes_with_weights_are_kept(cut, valued):
    indptr, indices = np.array([0, 2, 2, 5]), np.array([4, 1, 0, 4, 3], dtype=np.int32)
    slots, values = np.array([2, -1, -1, 0, 1]), np.arange(5.0) if valued else np.zeros(0)
    starts, places, factors = np.empty(4, np.int64), np.empty(5, np.int32), np.zeros(5)
    given = indptr, indices, values, slots, starts, places, factors
    starts[0] = 0
    if cut:  # each part's where those of all its attributes begin
        assert kernel.keep_active(2, 3, *given) == 5
        assert kernel.keep_active(0, 2, *given) == 1
        assert starts.tolist() == [0, 1, 1, 5]
        kept = np.array([0, 2, 3, 4])
    else:
        assert kernel.keep_active(0, 3, *given) == 4
        assert starts.tolist() == [0, 1, 1, 4]
        kept = np.arange(4)
    assert places[kept].tolist() == [1, 2, 1, 0]
    if valued:
        assert factors[kept].tolist() == [0.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", [1, 2])
def test_outputs_are_counted_with_each_attribute(columns, order, weighted):
    starts, positions, values, dense = columns
    rng = np.random.default_rng(2)
    labels, pairs = rng.integers(0, 3, 12), rng.integers(3, 9, 12)
    pairs[[0, 6]] = -1  # first positions
    weights = rng.random(12) if weighted else np.zeros(0)
    hot = np.zeros((12, 9))
    hot[np.arange(12), labels] = 1.0
    if order == 2:
        hot[np.flatnonzero(pairs >= 0), pairs[pairs >= 0]] = 1.0
    mass = weights[:, None] if weighted else 1.0
    given = (
        starts, positions, values, weights, labels.astype(np.int32),
        (pairs if order == 2 else pairs[:0]).astype(np.int32), 9,
    )  # fmt: skip
    counts, nothing = np.zeros(4, np.int64), np.zeros(0)
    kernel.count_outputs(
        *given, np.zeros(4, np.int64), counts, np.zeros(0, np.int64), nothing, nothing
    )
    seen = (dense != 0).T.astype(float) @ hot > 0
    assert counts.tolist() == seen.sum(axis=1).tolist()
    first = np.concatenate([[0], np.cumsum(counts)])
    outputs, (sums, squares) = np.zeros(first[-1], np.int64), np.zeros((2, first[-1]))
    kernel.count_outputs(*given, first, counts, outputs, sums, squares)
    attributes = np.repeat(np.arange(4), counts)
    assert (attributes.tolist(), outputs.tolist()) == tuple(k.tolist() for k in np.nonzero(seen))
    assert np.allclose(sums, (dense.T @ (mass * hot))[seen])
    assert np.allclose(squares, ((dense**2).T @ (mass * hot))[seen])
