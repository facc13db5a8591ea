"""Counts of states, with and without weights, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from graftwork.data.counts import PairCounts


@pytest.mark.parametrize("weights", ["none", "whole", "large", "zero", "fractions"])
@pytest.mark.parametrize("rows", [1, 63, 64, 1000])
@pytest.mark.parametrize("states", [1, 2, 5, 32, 40])
def test_margins_and_tables_equal_histograms(states, rows, weights):
    rng = np.random.default_rng(states + rows)
    codes = rng.integers(0, states, (3, rows)).astype(np.uint8)
    own = {
        "none": None,
        "whole": rng.integers(0, 8, rows).astype(float),
        "large": rng.integers(0, 2**20, rows).astype(float),
        "zero": np.zeros(rows),
        "fractions": rng.random(rows),
    }[weights]
    counts = PairCounts(codes, np.full(3, states), own, n_jobs=1)
    for i in range(3):
        wanted = np.bincount(codes[i], own, minlength=states)
        np.testing.assert_allclose(counts.margin(i), wanted, rtol=1e-13)
    values, starts = counts.compute(np.array([[0, 1], [1, 2]]))
    cells = codes[1].astype(int) * states + codes[2]
    wanted = np.bincount(cells, own, minlength=states**2)
    np.testing.assert_allclose(values[starts[1] :], wanted, rtol=1e-12, atol=1e-12)
    assert values.dtype == (np.int64 if own is None else np.float64)
