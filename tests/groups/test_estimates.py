"""Estimates and their covariances against plain NumPy: finite differences, odds ratios."""

import numpy as np
import pytest

import graftwork as gw
from graftwork.data import Table

from doors.estimators import FitSpec
from doors.groups import (
    Estimates,
    Norms,
    SharedStates,
    differences,
    fit_edges,
    small_sample_factors,
    spread_of_sum,
)
from doors.objectives import basis_of

SPEC = FitSpec.of({"n_jobs": 1})


def fitted(table, pairs):
    near = gw.PairwiseMRF(dict(zip(table.names, table.states, strict=True)))
    return fit_edges(SPEC, table, np.array(pairs), near, np.random.default_rng(0))


def cycle(seed, rows, states=3):
    """Return rows of four variables in a cycle."""
    rng = np.random.default_rng(seed)
    names = list("abcd")
    ends = [(names[i], names[(i + 1) % 4]) for i in range(4)]
    tables = {pair: rng.normal(0, 0.6, (states, states)) for pair in ends}
    model = gw.PairwiseMRF({name: list(range(states)) for name in names}, None, tables)
    return model.sample(rows, random_state=seed)


PAIRS = [(0, 1), (0, 3), (1, 2), (2, 3)]


def row_terms(codes, cards, theta):
    """Return the log pseudo-likelihood of each row, in contrasts."""
    bases = [basis_of(np.arange(s)) for s in cards]
    at, unaries, tables = 0, [], {}
    for basis in bases:
        unaries.append(basis @ theta[at : at + basis.shape[1]])
        at += basis.shape[1]
    for i, j in PAIRS:
        shape = bases[i].shape[1], bases[j].shape[1]
        size = shape[0] * shape[1]
        tables[i, j] = bases[i] @ theta[at : at + size].reshape(shape) @ bases[j].T
        at += size
    total = np.zeros(codes.shape[1])
    for i in range(len(cards)):
        scores = np.tile(unaries[i], (codes.shape[1], 1))
        for (a, b), table in tables.items():
            if a == i:
                scores += table[:, codes[b]].T
            elif b == i:
                scores += table[codes[a], :]
        log_z = np.log(np.exp(scores).sum(axis=1))
        total += scores[np.arange(len(scores)), codes[i]] - log_z
    return total


def slopes(function, at, step=1e-5):
    out = []
    for k in range(len(at)):
        move = np.zeros(len(at))
        move[k] = step
        out.append((function(at + move) - function(at - move)) / (2 * step))
    return np.array(out)


def test_the_variance_of_a_sum_is_the_sandwich():
    table = cycle(0, 400)
    fit = fitted(table, PAIRS)
    shared = SharedStates.of([fit.sample])
    cards, codes = [3] * 4, table.codes.astype(int)
    bases = [basis_of(np.arange(3))] * 4
    layout, weights = fit.potentials.layout, fit.potentials.weights
    own = [bases[0].T @ layout.unary(weights, i) for i in range(4)]
    assert layout.edges.tolist() == [list(pair) for pair in PAIRS]
    own += [(bases[0].T @ layout.table(weights, e) @ bases[0]).ravel() for e in range(4)]
    theta = np.concatenate(own)
    scores = slopes(lambda at: row_terms(codes, cards, at), theta)
    curvature = -slopes(
        lambda at: slopes(lambda x: row_terms(codes, cards, x).sum(), at, 1e-4), theta, 1e-4
    )
    ridge = np.r_[np.zeros(8), np.ones(16)]
    assert np.abs(scores.sum(axis=1) - ridge * theta).max() < 1e-3  # the optimum
    inverse = np.linalg.inv(0.5 * (curvature + curvature.T) + np.diag(ridge))
    covariance = inverse @ (scores @ scores.T) @ inverse
    rng = np.random.default_rng(1)
    directions = [rng.normal(size=4) for _ in PAIRS]
    wanted = np.r_[np.zeros(8), np.concatenate(directions)]
    found = spread_of_sum(fit, np.array(PAIRS), shared, directions)
    factor = small_sample_factors(fit).mean()
    assert found / factor == pytest.approx(wanted @ covariance @ wanted, rel=1e-3)
    # Of single pairs: the Hessian is restricted to what is at their two variables.
    estimates = Estimates.of(fit, np.array(PAIRS), shared)
    for e in range(4):
        part = slice(8 + 4 * e, 12 + 4 * e)
        near = estimates.robust[e] / small_sample_factors(fit)[list(PAIRS[e])].max()
        assert np.allclose(near, covariance[part, part], rtol=0.1, atol=0.1 * near.max())
        assert np.allclose(estimates.values[e], theta[part], atol=1e-9)


def test_two_binary_variables_are_odds_ratios():
    """The difference of log odds ratios with its well-known standard error."""
    counts = np.array([[[300, 100], [120, 280]], [[250, 150], [180, 260]]])
    tables = []
    for each in counts:
        rows = np.repeat([[0, 0, 1, 1], [0, 1, 0, 1]], each.ravel(), axis=1)
        tables.append(Table(("a", "b"), ((0, 1), (0, 1)), rows))
    fits = [fitted(table, [(0, 1)]) for table in tables]
    shared = SharedStates.of([fit.sample for fit in fits])
    groups = [Estimates.of(fit, np.array([[0, 1]]), shared) for fit in fits]
    logs = [np.log(c[0, 0] * c[1, 1] / (c[0, 1] * c[1, 0])) for c in counts]
    variances = [(1.0 / c).sum() for c in counts]
    assert groups[0].values[0][0] == pytest.approx(logs[0] / 2, rel=0.02)
    assert groups[0].robust[0][0, 0] == pytest.approx(variances[0] / 4, rel=0.05)
    test = differences(groups, np.array([[0, 1]]))
    statistic = (logs[0] - logs[1]) ** 2 / sum(variances)
    assert test.statistics[0] == pytest.approx(statistic, rel=0.08)
    assert test.degrees[0] == 1.0
    strengths = Norms.of(groups)
    away, low, high = strengths.difference(0, 1, 0, 0.95)
    half = 1.96 * np.sqrt(sum(variances)) / 2
    assert away == pytest.approx((logs[0] - logs[1]) / 2, rel=0.05)
    assert (away - low, high - away) == pytest.approx((half, half), rel=0.05)


def test_states_of_all_groups():
    tables = [
        Table(("a",), (tuple("wxyz"),), [np.repeat([0, 1, 2], [30, 20, 5])]),
        Table(("a",), (tuple("wxyz"),), [np.repeat([0, 1, 2, 3], [25, 40, 6, 50])]),
    ]
    fits = [fitted(table, np.zeros((0, 2), dtype=int)) for table in tables]
    shared = SharedStates.of([fit.sample for fit in fits])
    [members] = shared.members
    assert sorted(state for each in members for state in each.tolist()) == [0, 1, 2]
    assert len(members) == 2  # y is rare and joins a frequent state
    assert np.allclose(shared.contrasts[0].sum(axis=1), 0.0)
    assert shared.contrasts[0][0, 3] == 0.0
