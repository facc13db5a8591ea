"""Pairs about which few rows tell: their statistic by plain formulas, and what chance makes."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2, poisson

from graftwork import MarkovNetwork
from graftwork.data import Table
from graftwork.grafting import Problem
from graftwork.objectives import PseudoLikelihood
from graftwork.penalties import GroupL1
from graftwork.selection import refit

from doors.data import prepare
from doors.grafting import with_pairs
from doors.objectives import FittedRows, all_states, independent_potentials
from doors.significance import telling_rows, tilted
from support.problems import random_table, with_holes

EDGES = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])


def fitted_rows(table, edges=EDGES, **options):
    sample = prepare(table, **options)
    start = with_pairs(independent_potentials(sample), np.asarray(edges).reshape(-1, 2))
    problem = Problem(PseudoLikelihood(sample, 1), GroupL1(1.0))
    return FittedRows.of(refit(problem, start, 1e-8).point, all_states(sample))


def dummies(sample, i):
    """Indicators of a variable in each row, less their mean over states: an independent coding."""
    z = sample.indicators(i)[sample.codes[i]]
    return z - z.mean(axis=1, keepdims=True)


def conditional(sample, i, near, weights):
    """p(x_i | near) fitted by itself, with a standard normal prior on every entry of tables."""
    s, n = int(sample.cards[i]), sample.n_rows
    parts = [dummies(sample, u) for u in near]
    x = np.hstack([np.ones((n, 1)), *parts])
    y = sample.indicators(i)[sample.codes[i]]

    def logits(theta):
        return x @ theta.reshape(x.shape[1], s)

    def value(theta):
        own = logits(theta)
        top = own.max(axis=1)
        logs = top + np.log(np.exp(own - top[:, None]).sum(axis=1))
        tables = theta.reshape(x.shape[1], s)[1:]
        p = np.exp(own - logs[:, None])
        slope = x.T @ (weights[:, None] * (p - y))
        slope[1:] += tables
        total = weights @ (logs - (y * own).sum(axis=1)) + 0.5 * (tables**2).sum()
        return total, slope.ravel()

    start = np.zeros(x.shape[1] * s)
    best = minimize(value, start, jac=True, method="BFGS", options={"gtol": 1e-7, "maxiter": 2000})
    own = logits(best.x)
    p = np.exp(own - own.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True), x


def by_definition(rows, i, j, near):
    """2 max_t (t' u - K(t)) less its mean's excess, row by row and with dense matrices."""
    sample = rows.sample
    seen = (sample.codes[[i, j]] < sample.cards[[i, j], None]).all(axis=0)
    mass = (np.ones(sample.n_rows) if sample.weights is None else sample.weights) * seen
    (p, x), (q, y) = (conditional(sample, k, near[k], mass) for k in (i, j))
    s, t = p.shape[1], q.shape[1]
    a, b = (np.linalg.qr(np.eye(k) - 1.0 / k)[0][:, : k - 1] for k in (s, t))

    def explained(p, x, basis, other, first):
        """What nuisances explain: the regression of slopes of the table on their slopes."""
        k, m = basis.shape[1], other.shape[1]
        theta = np.zeros((k * m, x.shape[1] * k))
        inner = np.zeros((x.shape[1] * k,) * 2)
        for r in range(len(p)):
            spread = basis.T @ (np.diag(p[r]) - np.outer(p[r], p[r])) @ basis
            inner += mass[r] * np.kron(np.outer(x[r], x[r]), spread)
            part = (
                np.kron(spread, other[r][:, None]) if first else np.kron(other[r][:, None], spread)
            )
            # slopes in nuisances are x (x) residual
            theta += mass[r] * np.einsum("dk,q->dqk", part.reshape(k * m, k), x[r]).reshape(
                k * m, -1
            )
        ridge = np.zeros((x.shape[1], k))
        ridge[1:] = 1.0
        return theta @ np.linalg.pinv(inner + np.diag(ridge.ravel()), rcond=1e-12)

    here = explained(p, x, a, q @ b, True)
    there = explained(q, y, b, p @ a, False)
    w = np.zeros((len(p), s, t, (s - 1) * (t - 1)))
    for r in range(len(p)):
        for c in range(s):
            for d in range(t):
                u, v = a[c] - p[r] @ a, b[d] - q[r] @ b
                w[r, c, d] = 2 * np.kron(u, v) + np.kron(u, q[r] @ b) + np.kron(p[r] @ a, v)
                w[r, c, d] -= here @ np.kron(x[r], u) + there @ np.kron(y[r], v)
    at = np.flatnonzero(seen)
    u = sum(mass[r] * w[r, sample.codes[i, r], sample.codes[j, r]] for r in at)

    def below(t):
        total = 0.0
        for r in at:
            total += mass[r] * np.log(np.outer(p[r], q[r]).ravel() @ np.exp(w[r] @ t).ravel())
        return total - t @ u

    whole = -2.0 * minimize(below, np.zeros(len(u)), method="BFGS", options={"gtol": 1e-6}).fun
    variance, fourth = np.zeros((s, t)), np.zeros((s, t))
    for r in at:
        for c in range(s):
            for d in range(t):
                (c2, c4), (d2, d4) = (
                    (y * (1 - y), y * (1 - y) ** 4 + (1 - y) * y**4) for y in (p[r, c], q[r, d])
                )
                variance[c, d] += mass[r] * c2 * d2
                fourth[c, d] += mass[r] * c4 * d4
    rare = np.mean(fourth / variance**2)
    return whole - (s - 1) * (t - 1) * min(1.0, rare) / 6


@pytest.mark.parametrize("kind", ["complete", "weighted", "incomplete"])
def test_the_statistic_is_that_of_its_definition(kind):
    weights = np.random.default_rng(3).integers(1, 4, 60).astype(float)
    table = random_table(3, n=5, rows=60, weights=weights if kind == "weighted" else None)
    if kind == "incomplete":
        table = with_holes(table, 3)
    rows = fitted_rows(table, missing=kind == "incomplete")
    for i, j, near in [
        (0, 1, {0: [2], 1: [2]}),
        (0, 3, {0: [1, 2], 3: [2]}),
        (3, 4, {3: [2], 4: []}),
    ]:
        found = tilted(rows, (i, j))[0]
        assert np.isclose(found, by_definition(rows, i, j, near), rtol=2e-4, atol=2e-4)


def coincidences(count, rows=4000, ones=20):
    codes = np.zeros((2, rows), dtype=np.int64)
    codes[0, :ones] = codes[1, ones - count : 2 * ones - count] = 1
    return Table(("a", "b"), ((0, 1),) * 2, codes)


@pytest.mark.parametrize("count", [1, 3, 5])
def test_coincidences_of_rare_states_have_about_their_poisson_tail(count):
    """A tenth of one is expected; to a chi-square three would have p = 1e-20."""
    rows, pair = fitted_rows(coincidences(count), []), np.array([[0, 1]])
    assert telling_rows(rows, pair)[0] < 0.2
    log_p = chi2.logsf(tilted(rows, (0, 1))[0], 1)
    assert abs(log_p - poisson.logsf(count - 1, 0.1)) < 0.8


def test_even_tables_have_as_many_telling_rows_as_rows():
    codes = np.tile([[0, 0, 1, 1], [0, 1, 0, 1]], 100)
    rows = fitted_rows(Table(("a", "b"), ((0, 1),) * 2, codes), [])
    assert np.isclose(telling_rows(rows, np.array([[0, 1]]))[0], 400)


def test_names_of_states_and_orders_of_rows_and_columns_change_no_statistic():
    rng = np.random.default_rng(0)
    for seed in range(20):
        table = random_table(seed, n=4, rows=50)
        codes, states = np.array(table.codes, dtype=np.int64), table.states
        columns, mixed = rng.permutation(4), rng.permutation(codes.shape[1])
        names = [rng.permutation(len(own)) for own in states]
        moved = np.stack([names[k][codes[k, mixed]] for k in columns])
        other = Table(
            tuple(table.names[k] for k in columns), tuple(states[k] for k in columns), moved
        )
        place = np.argsort(columns)
        edges = [[0, 2], [1, 2]]
        one = fitted_rows(table, edges)
        two = fitted_rows(other, np.sort(place[np.array(edges)], axis=1))
        for i, j in ((0, 1), (0, 3), (0, 2)):
            k, m = sorted((int(place[i]), int(place[j])))
            found = [tilted(rows, pair)[0] for rows, pair in ((one, (i, j)), (two, (k, m)))]
            assert np.isclose(*found, rtol=1e-7, atol=1e-7)


def copies(rng, states, agreement, rows, steps=False):
    """A variable and three noisy copies of it: no two of these depend on each other given it."""
    first = rng.integers(states, size=rows)
    columns = [first]
    for _ in range(3):
        other = (first + rng.integers(1, states, size=rows)) % states
        if steps:
            other = first + rng.choice([-1, 1], size=rows)
            other = np.where(other < 0, 1, np.where(other >= states, states - 2, other))
        columns.append(np.where(rng.random(rows) < agreement, first, other))
    return np.stack(columns, axis=1)


def false_edges(seeds, *options, ordinal=False, steps=False, fdr=0.01):
    false, true = 0, 0
    for seed in seeds:
        net = MarkovNetwork(ordinal=ordinal, random_state=0, fdr=fdr)
        edges = net.fit(copies(np.random.default_rng(seed), *options, steps)).model_.edges
        false += sum("x0" not in pair for pair in edges)
        true += sum("x0" in pair for pair in edges)
    return false, true


@pytest.mark.parametrize("agreement", [0.95, 0.97])
def test_near_copies_are_tied_to_what_they_copy_alone(agreement):
    """With chi-squares 5 of 6 pairs of such copies, or all, were edges."""
    assert false_edges(range(2), 5, agreement, 500) == (0, 6)


def test_near_copies_of_many_states_are_tied_to_what_they_copy_alone():
    """Wald tests of tables with 121 parameters are sure of all pairs: p < 1e-22."""
    assert false_edges(range(1), 20, 0.97, 2000) == (0, 3)
    assert false_edges(range(1), 12, 0.9, 500) == (0, 3)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [500, 2000])
@pytest.mark.parametrize("agreement", [0.9, 0.95, 0.97])
@pytest.mark.parametrize("states", [2, 3, 5, -5])
def test_few_pairs_of_near_copies_are_edges(states, agreement, rows):
    """Of 72 null pairs in 24 tables; 25 of them with 72 true ones are 1.3 times .2 of all edges."""
    ordered = states < 0
    for fdr, most in ((0.01, 3), (0.2, 25)):
        false, true = false_edges(
            range(24), abs(states), agreement, rows, ordinal=ordered, steps=ordered, fdr=fdr
        )
        assert false <= most
        assert true == 72
