"""Small problems and slow, obvious reference solutions that several tests share."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from graftwork.data import Table

from doors.data import EncodedRows, prepare

# Real data sets for the slow checks, where there are any.
FOLDER = Path(os.environ.get("GRAFTWORK_DATA", Path(__file__).parents[2] / "shared" / "data"))


def standard_split(name: str, part: str) -> np.ndarray:
    """The rows of a part ("ts", "valid", "test") of a standard split; skips where it is absent."""
    path = FOLDER / "debd" / f"{name}.{part}.data.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there; set GRAFTWORK_DATA to a folder that has debd/")
    with gzip.open(path, "rt") as lines:
        return np.loadtxt(lines, delimiter=",", dtype=np.int8)


def random_table(seed: int, n: int = 6, rows: int = 200, most: int = 4, weights=None) -> Table:
    """A table with mixed state counts and some dependence."""
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, most + 1, n)
    codes = np.zeros((n, rows), dtype=np.uint8)
    for i in range(n):
        fresh = rng.integers(0, cards[i], rows)
        parent = codes[rng.integers(0, i)] % cards[i] if i else fresh
        codes[i] = np.where(rng.random(rows) < 0.55, parent, fresh)
        codes[i, : cards[i]] = np.arange(cards[i])
    names = tuple(f"v{i}" for i in range(n))
    return Table(names, tuple(tuple(range(c)) for c in cards), codes, weights)


def gappy_chain(
    seed: int, rows: int = 300, share: float = 0.25, theta: float = 0.8, n: int = 8
) -> np.ndarray:
    """Rows of a chain of n binary variables with missing cells, drawn by NumPy alone.

    Neighbours agree exp(2 theta) times as often as not.
    """
    rng = np.random.default_rng(seed)
    x = np.zeros((rows, n), int)
    x[:, 0] = rng.integers(0, 2, rows)
    agree = 1 / (1 + np.exp(-2 * theta))
    for i in range(1, n):
        x[:, i] = np.where(rng.random(rows) < agree, x[:, i - 1], 1 - x[:, i - 1])
    cells = x.astype(object)
    cells[rng.random(x.shape) < share] = None
    return cells


def with_holes(table: Table, seed: int, share: float = 0.2) -> Table:
    """The table with cells of some columns made missing; every state is still seen."""
    rng = np.random.default_rng(seed)
    codes, states = table.codes.astype(np.int64), list(table.states)
    for i in range(0, table.n_variables, 1 if table.n_variables < 4 else 2):
        gone = rng.random(table.n_rows) < share
        gone[np.unique(codes[i], return_index=True)[1]] = False
        codes[i, gone] = len(states[i])
        states[i] = (*states[i], "(missing)")
    return Table(table.names, tuple(states), codes, table.weights)


def dense_available(table: Table, vector: np.ndarray, pairs: np.ndarray, drawn=None):
    """Mean negative log pseudo-likelihood of observed cells and gradient, by dense matrices.

    A missing neighbour counts as its average, or as the state drawn for it.
    """
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    seen, soft, cards = [], [], []
    for i, (column, states) in enumerate(zip(table.codes, table.states, strict=True)):
        s = len(states) - ("(missing)" in states)
        there = column < s
        hot = np.zeros((table.n_rows, s))
        hot[there] = np.eye(s)[column[there]]
        frequencies = weights @ hot / (weights @ there)
        seen.append(there * weights)
        instead = frequencies if drawn is None else np.eye(s)[np.minimum(drawn[i], s - 1)]
        soft.append(np.where(there[:, None], hot, instead))
        cards.append(s)
    unaries, tables = split(vector, np.array(cards), pairs)
    value, grad_u = 0.0, []
    grad_t = {pair: np.zeros_like(t) for pair, t in tables.items()}
    for i in range(len(cards)):
        logits = np.tile(unaries[i], (table.n_rows, 1))
        for (a, b), t in tables.items():
            if i in (a, b):
                logits = logits + (soft[b] @ t.T if i == a else soft[a] @ t)
        norm = logsumexp(logits, axis=1)
        value += seen[i] @ (norm - (logits * soft[i]).sum(axis=1))
        rest = (np.exp(logits - norm[:, None]) - soft[i]) * seen[i][:, None]
        grad_u.append(rest.sum(axis=0))
        for a, b in tables:
            if i in (a, b):
                grad_t[a, b] += rest.T @ soft[b] if i == a else soft[a].T @ rest
    flat = np.concatenate([*grad_u, *(grad_t[tuple(p)].ravel() for p in pairs)])
    return value / weights.sum(), flat / weights.sum()


def random_sample(seed: int, **options) -> EncodedRows:
    return prepare(random_table(seed, **options))


def all_pairs(n: int) -> np.ndarray:
    return np.stack(np.triu_indices(n, 1), axis=1)


def one_hot(table: Table) -> list[np.ndarray]:
    return [np.eye(s)[column] for s, column in zip(table.cards, table.codes, strict=True)]


def split(vector: np.ndarray, cards: np.ndarray, pairs: np.ndarray):
    """Unaries and tables of a flat vector over all the given pairs."""
    unaries, tables, at = [], {}, 0
    for s in cards:
        unaries.append(vector[at : at + s])
        at += s
    for i, j in pairs:
        tables[i, j] = vector[at : at + cards[i] * cards[j]].reshape(cards[i], cards[j])
        at += cards[i] * cards[j]
    return unaries, tables


def dense_pseudo(table: Table, vector: np.ndarray, pairs: np.ndarray):
    """Mean negative log pseudo-likelihood and gradient, by matrices over all rows."""
    hot, cards = one_hot(table), table.cards
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    total = weights.sum()
    unaries, tables = split(vector, cards, pairs)
    value, grad_u = 0.0, []
    grad_t = {pair: np.zeros_like(t) for pair, t in tables.items()}
    for i in range(len(cards)):
        logits = np.tile(unaries[i], (table.n_rows, 1))
        for (a, b), t in tables.items():
            if i == a:
                logits = logits + hot[b] @ t.T
            elif i == b:
                logits = logits + hot[a] @ t
        norm = logsumexp(logits, axis=1)
        value += weights @ (norm - (logits * hot[i]).sum(axis=1))
        rest = (np.exp(logits - norm[:, None]) - hot[i]) * weights[:, None]
        grad_u.append(rest.sum(axis=0))
        for a, b in tables:
            if i == a:
                grad_t[a, b] += rest.T @ hot[b]
            elif i == b:
                grad_t[a, b] += hot[a].T @ rest
    flat = np.concatenate([*grad_u, *(grad_t[tuple(p)].ravel() for p in pairs)])
    return value / total, flat / total


def dense_likelihood(table: Table, vector: np.ndarray, pairs: np.ndarray):
    """Mean negative log-likelihood and gradient, by enumeration of all joint states."""
    cards = table.cards
    joint = np.stack(np.meshgrid(*[np.arange(s) for s in cards], indexing="ij"), -1)
    joint = joint.reshape(-1, len(cards))

    def features(states: np.ndarray) -> np.ndarray:
        parts = [np.eye(s)[states[:, i]] for i, s in enumerate(cards)]
        both = [
            (parts[i][:, :, None] * parts[j][:, None, :]).reshape(len(states), -1) for i, j in pairs
        ]
        return np.concatenate(parts + both, axis=1)

    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    data = np.average(features(table.codes.T), axis=0, weights=weights)
    every = features(joint)
    scores = every @ vector
    log_z = logsumexp(scores)
    return log_z - vector @ data, np.exp(scores - log_z) @ every - data


def dense_optimum(loss, table: Table, penalty: str, lam: float, l2: float, unary=False) -> float:
    """The optimal objective over ALL edges (see `dense_solution`)."""
    return dense_solution(loss, table, penalty, lam, l2, unary)[0]


def dense_solution(loss, table: Table, penalty: str, lam: float, l2: float, unary=False):
    """The optimum over ALL edges and where it lies, by a general smooth solver.

    ``unary``: whether unaries are penalised with the same lam, or a lam of their own.

    l1: w = p - q with p, q >= 0. Groups: sqrt(norm^2 + eps^2) with eps driven to 0.
    """
    cards, pairs = table.cards, all_pairs(table.n_variables)
    n_unary = int(cards.sum())
    sizes = [*cards, *(cards[i] * cards[j] for i, j in pairs)]
    own = lam if unary is True else float(unary)
    strength = np.where(np.arange(sum(sizes)) < n_unary, own, lam)
    ridge = np.where(np.arange(sum(sizes)) < n_unary, l2 * bool(unary), l2)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(int)
    scale = strength[starts] * np.sqrt(np.asarray(sizes, dtype=float))

    def group(vector: np.ndarray, eps: float):
        norms = np.sqrt(np.add.reduceat(vector**2, starts) + eps**2)
        value = (scale * norms).sum() + ridge @ vector**2
        return value, vector * np.repeat(scale / norms, sizes) + 2 * ridge * vector

    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 40}
    x = np.zeros(sum(sizes))
    if penalty == "group-l1":
        for eps in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7):

            def objective(v, eps=eps):
                value, slope = loss(table, v, pairs)
                extra, extra_slope = group(v, eps)
                return value + extra, slope + extra_slope

            x = minimize(objective, x, jac=True, method="L-BFGS-B", options=options).x
        return loss(table, x, pairs)[0] + group(x, 0.0)[0], x

    size = len(x)

    def split_objective(both):
        v = both[:size] - both[size:]
        value, slope = loss(table, v, pairs)
        slope = slope + 2 * ridge * v
        value += ridge @ v**2 + strength @ (both[:size] + both[size:])
        return value, np.concatenate([slope + strength, -slope + strength])

    bounds = [(0, None)] * (2 * size)
    best = minimize(
        split_objective, np.zeros(2 * size), jac=True, method="L-BFGS-B", bounds=bounds,
        options=options,
    )  # fmt: skip
    return best.fun, best.x[:size] - best.x[size:]
