"""Chains with any number of labels, side by side against one by one; outputs that are counted."""

import numpy as np
import pytest

from doors.kernels import infer_chains, logs
from doors.kernels import sums as kernel
from support.chain_arrays import ChainArrays


@pytest.mark.parametrize("n_labels", range(1, 10))
@pytest.mark.parametrize("order", [1, 2])
def test_every_number_of_labels_gives_what_logarithms_give(order, n_labels):
    """Each has tiles and registers of its own; what is in logarithms is held to enumeration."""
    given = ChainArrays(order, n_labels)
    found = []
    for run in (infer_chains, logs.pass_over_logs):
        found.append(given.room())
        run(
            order, n_labels, given.chains, *given.attributes, given.rows, given.pairs,
            given.moves, *found[-1], True,
        )  # fmt: skip
    columns = given.shape.columns(np.arange(given.shape.n_outputs))
    for mine, theirs in zip(*found, strict=True):
        if mine.ndim == 2:
            mine, theirs = mine[:, columns], theirs[:, columns]
        assert mine.any() or n_labels == 1
        assert np.allclose(mine, theirs, rtol=1e-12, atol=1e-11)


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
