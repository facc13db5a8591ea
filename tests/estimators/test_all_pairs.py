"""Penalties that leave no pair out: all pairs at once, at the optimum of an independent solver."""

import tracemalloc

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

import graftwork as gw
from graftwork.parameters import gather


def alignment(rows: int, positions: int, states: int, seed: int = 0) -> np.ndarray:
    """Rows in which each column often follows one of those before it."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, states, (rows, positions))
    for k in range(1, positions):
        follows = rng.random(rows) < 0.5
        codes[follows, k] = codes[follows, rng.integers(k)]
    codes[:states] = np.arange(states)[:, None]
    return codes


def dense_optimum(codes, weights, lam, unary):
    """Fields, couplings and objective of the joint pseudo-likelihood by L-BFGS, all in numpy."""
    n, s = codes.shape[1], codes.max() + 1
    hot = np.eye(s)[codes]  # rows, n, s
    upper = np.triu_indices(n, 1)
    mass = weights / weights.sum()

    def parts(flat):
        fields, tables = flat[: n * s].reshape(n, s), np.zeros((n, n, s, s))
        tables[upper] = flat[n * s :].reshape(-1, s, s)
        return fields, tables + tables.transpose(1, 0, 3, 2)

    def objective(flat):
        fields, tables = parts(flat)
        logits = fields + np.einsum("ijab,rjb->ria", tables, hot)
        logs = logsumexp(logits, axis=2)
        value = mass @ (logs - (logits * hot).sum(axis=2)).sum(axis=1)
        left = mass[:, None, None] * (np.exp(logits - logs[:, :, None]) - hot)
        slopes = np.einsum("ria,rjb->ijab", left, hot)
        slopes = (slopes + slopes.transpose(1, 0, 3, 2))[upper]
        own, pairs = flat[: n * s], flat[n * s :]
        value += unary * own @ own + lam * pairs @ pairs
        gradient = np.concatenate(
            [left.sum(axis=0).ravel() + 2 * unary * own, slopes.ravel() + 2 * lam * pairs]
        )
        return value, gradient

    size = n * s + len(upper[0]) * s * s
    options = {"maxiter": 5000, "maxfun": 10000, "ftol": 1e-15, "gtol": 1e-9}
    found = minimize(objective, np.zeros(size), jac=True, method="L-BFGS-B", options=options)
    return (*parts(found.x), float(found.fun))


def conditionals(fields, tables, codes):
    logits = fields + np.einsum("ijab,rjb->ria", tables, np.eye(fields.shape[1])[codes])
    return logits - logsumexp(logits, axis=2, keepdims=True)


@pytest.mark.parametrize(
    ("settings", "lam", "unary"),
    [
        ({"penalty": "l2", "lam": 0.01}, 0.01, 0.0),
        ({"penalty": "l2", "lam": 0.003, "unary": 0.001}, 0.003, 0.001),
        ({"penalty": "none"}, 0.0, 0.0),
    ],
)
def test_all_pairs_in_one_round_at_the_optimum_of_a_dense_solver(settings, lam, unary):
    codes = alignment(400, 5, 3)
    weights = np.random.default_rng(1).uniform(0.1, 1.0, len(codes))
    net = gw.MarkovNetwork(tol=1e-8, **gather(settings)).fit(
        gw.as_table({f"x{k}": codes[:, k] for k in range(5)}, weights=weights)
    )
    assert net.method_ == "full"
    assert [r.activated for r in net.trace_] == [0, 10]
    assert net.model_.n_edges == 10 == len(net.edges_)
    assert net.certificate_.converged
    fields, tables, objective = dense_optimum(codes, weights, lam, unary)
    assert net.fit_.objective == pytest.approx(objective, abs=1e-8)
    mine = np.stack([net.model_.unary(name) for name in net.model_.names])
    ours = np.zeros_like(tables)
    for i, j in zip(*np.triu_indices(5, 1), strict=True):
        ours[i, j] = net.model_.table(f"x{i}", f"x{j}")
        ours[j, i] = ours[i, j].T
        if lam:
            np.testing.assert_allclose(ours[i, j], tables[i, j], atol=1e-5)
    if unary:
        np.testing.assert_allclose(mine, fields, atol=1e-4)
    np.testing.assert_allclose(
        conditionals(mine, ours, codes), conditionals(fields, tables, codes), atol=1e-4
    )


def test_pairs_that_may_not_be_edges_stay_out_and_a_limit_keeps_its_method():
    rows = {f"x{k}": column for k, column in enumerate(alignment(200, 5, 2).T)}
    barred = {"forbidden": [("x0", "x1"), ("x2", "x4")]}
    net = gw.MarkovNetwork(penalty="l2", lam=0.01, knowledge=barred).fit(rows)
    assert (net.method_, net.model_.n_edges) == ("full", 8)
    net = gw.MarkovNetwork(penalty="l2", lam=0.01, max_edges=3).fit(rows)
    assert (net.method_, net.model_.n_edges) == ("best-choice", 3)


def test_penalised_unaries_take_few_evaluations():
    """In plain coordinates, or with a mean that wanders, they take several times as many."""
    codes = alignment(500, 12, 6)
    rows = {f"x{k}": column for k, column in enumerate(codes.T)}
    taken = []
    for unary in (False, 1e-6):
        options = {"unary": unary} if unary else {}
        net = gw.MarkovNetwork(penalty="l2", lam=0.003, penalty_options=options).fit(rows)
        taken.append(sum(each.evaluations for each in net.trace_))
    assert taken[1] < 2 * taken[0]


def test_memory_of_all_pairs_is_little_and_estimated():
    codes = alignment(2000, 30, 12)
    table = gw.as_table({f"x{k:02}": column for k, column in enumerate(codes.T)})
    net = gw.MarkovNetwork(penalty="l2", lam=0.01, n_jobs=1)
    small = gw.as_table({f"x{k}": codes[:50, k] for k in range(3)})
    net.fit(small)  # loads what is compiled
    estimated = net.estimate(table).peak_bytes
    tracemalloc.start()
    net.fit(table)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    weights = 8 * net.model_.potentials.layout.size
    assert used < 50 * weights
    assert 0.77 < estimated / used < 1.3
