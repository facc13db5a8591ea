"""Losses of small random networks and chains against enumeration, gradients by complex steps."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from exact_networks import SCALES

from graftwork.data import Table
from graftwork.data.encoded import prepare
from graftwork.inference import JunctionTree, Layout, Potentials
from graftwork.objectives import Likelihood, PseudoLikelihood

STEP = 1e-30


def log_sums(logs: np.ndarray) -> np.ndarray:
    """Return the log of the sum of exponentials down each column of complex numbers."""
    top = logs.real.max(axis=0)
    return top + np.log(np.exp(logs - top).sum(axis=0))


def slope(value: Callable[[np.ndarray], np.ndarray], w: np.ndarray) -> np.ndarray:
    """Return the gradient of a function of columns of weights, exact but for rounding."""
    return value(w[:, None] + 1j * STEP * np.eye(len(w))).imag / STEP


def away(found: np.ndarray | float, wanted: np.ndarray | float) -> float:
    """Return the largest deviation, relative where the size is above 1."""
    size = np.maximum(1.0, np.abs(wanted))
    return float((np.abs(np.asarray(found) - wanted) / size).max(initial=0.0))


def network_losses(rng: np.random.Generator) -> dict[str, float]:
    """Return how far the losses of a random network and random rows are from enumeration."""
    n, scale = int(rng.integers(2, 5)), float(rng.choice(SCALES))
    cards = rng.integers(2, 4, n)
    rows = int(rng.integers(4, 12))
    codes = rng.integers(0, cards, (rows, n)).T
    codes[:, :3] = np.minimum(np.arange(3), cards[:, None] - 1)  # every state occurs
    weights = rng.uniform(0.1, 3.0, rows) if rng.random() < 0.5 else np.ones(rows)
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    active = rng.random(len(pairs)) < 0.6
    layout = Layout.of(cards, pairs[active])
    potentials = Potentials(layout, scale * rng.normal(size=layout.size))
    every = Layout.of(cards, np.concatenate([pairs[active], pairs[~active]]))
    w = np.concatenate([potentials.weights, np.zeros(every.size - layout.size)])
    states = np.array(list(itertools.product(*map(range, cards))))
    features = np.array([_features(every, x) for x in states])
    seen = np.ravel_multi_index(tuple(codes), tuple(cards))
    share = weights / weights.sum()
    # joint states that differ from each row in one variable
    beside = [
        np.flatnonzero((np.delete(states, i, 1) == np.delete(states[k], i)).all(axis=1))
        for k in seen
        for i in range(n)
    ]
    table = Table(tuple(range(n)), tuple(tuple(range(c)) for c in cards), codes, weights)
    sample = prepare(table)

    def likelihood(columns: np.ndarray) -> np.ndarray:
        logs = features @ columns
        return log_sums(logs) - share @ logs[seen]

    def pseudo(columns: np.ndarray) -> np.ndarray:
        logs = features @ columns
        sums = np.array([log_sums(logs[near]) for near in beside]).reshape(rows, n, -1)
        return share @ (sums.sum(axis=1) - n * logs[seen])

    losses = {
        "likelihood": (Likelihood(sample, JunctionTree()), likelihood),
        "pseudo-likelihood": (PseudoLikelihood(sample), pseudo),
    }
    out = {}
    for name, (objective, value) in losses.items():
        point = objective.at(potentials)
        tables, _, _ = point.pair_gradients(pairs[~active])
        out[f"{name}: value"] = away(point.value, value(w[:, None])[0].real)
        found = np.concatenate([point.gradient, tables])
        out[f"{name}: gradient, of absent edges too"] = away(found, slope(value, w))
    return out


def _features(layout: Layout, state: np.ndarray) -> np.ndarray:
    """Return which entries of the flat weights a joint state has."""
    out = layout.zeros()
    for i, x in enumerate(state):
        layout.unary(out, i)[x] = 1.0
    for e, (i, j) in enumerate(layout.edges):
        layout.table(out, e)[state[i], state[j]] = 1.0
    return out
