"""Exact k-means on a line, against every way to cut the line."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from doors.grafting import cluster, tying
from doors.kernels import cut_into_clusters


def cost(values, weights, starts):
    total = 0.0
    for a, b in pairwise(starts):
        mean = np.average(values[a:b], weights=weights[a:b])
        total += weights[a:b] @ (values[a:b] - mean) ** 2
    return total


def brute(values, weights, count):
    size = len(values)
    cuts = combinations(range(1, size), count - 1)
    return min(cost(values, weights, [0, *inner, size]) for inner in cuts)


@pytest.mark.parametrize("seed", range(12))
def test_no_cut_is_better(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 13))
    kind = rng.normal(size=size) if seed % 3 else rng.integers(-3, 4, size)  # with equal numbers
    values = np.sort(np.asarray(kind, dtype=float) * 10.0 ** rng.integers(-3, 4) + 7.0)
    weights = np.ones(size) if seed % 2 else rng.uniform(0.01, 3.0, size)
    for count in range(1, size + 1):
        starts = cut_into_clusters(values, weights, count)
        assert starts[0] == 0
        assert starts[-1] == size
        assert (np.diff(starts) > 0).all()
        best = brute(values, weights, count)
        assert cost(values, weights, starts) == pytest.approx(best, rel=1e-9, abs=1e-12)


def test_weights_matter():
    values = np.array([0.0, 1.0, 2.0])
    assert cut_into_clusters(values, np.array([9.0, 1.0, 9.0]), 2).tolist() in (
        [0, 1, 3],
        [0, 2, 3],
    )
    assert cut_into_clusters(values, np.array([9.0, 9.0, 1.0]), 2).tolist() == [0, 1, 3]
    assert cut_into_clusters(values, np.array([1.0, 9.0, 9.0]), 2).tolist() == [0, 2, 3]


def test_large_inputs_are_cut_as_well_as_lloyd_can_and_in_any_order():
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=20_000), rng.uniform(0.5, 1.5, 20_000)
    labels, centres = cluster(values, weights, 25)
    assert (np.diff(centres) > 0).all()
    nearest = np.abs(values[:, None] - centres).argmin(axis=1)
    assert np.array_equal(nearest, labels)  # a fixed point of Lloyd's iteration


@pytest.mark.parametrize("count", [1, 2, 30, 299, 300])
def test_beyond_the_limit_groups_are_nearly_best(monkeypatch, count):
    rng = np.random.default_rng(1)
    values, weights = rng.normal(size=300), rng.uniform(0.5, 1.5, 300)
    exact, exact_centres = cluster(values, weights, count)
    monkeypatch.setattr(tying, "MOST_CELLS", 1)
    labels, centres = cluster(values, weights, count)
    assert set(labels.tolist()) == set(range(count))
    best = weights @ (values - exact_centres[exact]) ** 2
    spread = weights @ (values - np.average(values, weights=weights)) ** 2
    assert weights @ (values - centres[labels]) ** 2 <= 1.5 * best + 1e-4 * spread
