"""Gains of features of chains against their definition, maximised by scipy."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from doors.kernels import move_gains, vote_gains


def best_gain(shares, values, weights, seen, lam, l2):
    def loss(d):
        logs = np.log1p(shares * np.expm1(values * d))
        return weights @ logs - d * seen + lam * abs(d) + l2 * d * d

    ends = [
        minimize_scalar(loss, bounds=side, method="bounded", options={"xatol": 1e-11}).fun
        for side in ((-15, 0), (0, 15))
    ]
    return max(0.0, -min(ends))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("valued", [False, True])
@pytest.mark.parametrize(("lam", "l2"), [(0.0, 0.1), (0.3, 0.0), (100.0, 0.0)])
def test_votes_gain_the_best_that_one_weight_can_do(lam, l2, valued, weighted):
    rng = np.random.default_rng(0)
    starts, positions = np.array([0, 4, 10]), np.array([0, 2, 5, 7, 1, 2, 3, 6, 7, 8])
    values = rng.uniform(0.5, 1.5, 10) if valued else np.zeros(0)
    weights = rng.uniform(0.5, 2.0, 9) if weighted else np.zeros(0)
    weights[4:5] = 0.0
    shares = rng.uniform(0.05, 0.95, (9, 3))
    marginals = shares * (weights[:, None] if weighted else 1.0)
    attributes, columns = np.array([0, 1, 1]), np.array([2, 0, 1])
    seen, out = np.array([2.5, 0.4, 3.1]), np.full(3, np.nan)
    kept = 1, 3
    vote_gains(
        *kept, attributes, columns, seen, starts, positions, values, marginals, weights, lam, l2,
        out,
    )  # fmt: skip
    assert np.isnan(out[0])  # only the others were asked for
    for f in range(*kept):
        own = slice(starts[attributes[f]], starts[attributes[f] + 1])
        here = positions[own]
        wanted = best_gain(
            shares[here, columns[f]], values[own] if valued else np.ones(len(here)),
            weights[here] if weighted else np.ones(len(here)), seen[f], lam, l2,
        )  # fmt: skip
        assert np.isclose(out[f], wanted, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize(("lam", "l2"), [(0.0, 0.1), (0.3, 0.05)])
def test_moves_gain_as_if_all_were_equally_probable(lam, l2):
    expected, seen = np.array([3.0, 1.0, 5.0]), np.array([4.5, 1.1, 2.0])
    totals, out = np.full(3, 10.0), np.zeros(3)
    move_gains(expected, seen, totals, lam, l2, out)
    for f in range(3):
        share, one = np.array([expected[f] / totals[f]]), np.ones(1)
        wanted = best_gain(share, one, totals[:1], seen[f], lam, l2)
        assert np.isclose(out[f], wanted, rtol=1e-7, atol=1e-12)
