"""Small random networks, and how far their answers are from enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np

import graftwork as gw
from graftwork.errors import DataError

SCALES = (0.0, 1.0, 30.0, 1000.0)
ENGINES = ("exact", "bp", "trw")


class Model:
    """A random network of at most four variables, and all its joint states."""

    def __init__(self, rng: np.random.Generator) -> None:
        n = int(rng.integers(1, 5))
        self.cards = rng.integers(1, 4, n)
        self.scale = float(rng.choice(SCALES))
        self.barred = float(rng.choice([0.0, 0.3, 0.7]))
        unary = {i: self._weights(rng, (c,)) for i, c in enumerate(self.cards)}
        pairs = [p for p in itertools.combinations(range(n), 2) if rng.random() < 0.7]
        tables = {p: self._weights(rng, tuple(self.cards[list(p)])) for p in pairs}
        names = {i: list(range(c)) for i, c in enumerate(self.cards)}
        self.network = gw.PairwiseMRF(names, unary, tables)
        self.states = np.array(list(itertools.product(*map(range, self.cards))))
        self.logs = np.array(
            [
                math.fsum(unary[i][x[i]] for i in range(n))
                + math.fsum(table[x[i], x[j]] for (i, j), table in tables.items())
                for x in self.states
            ]
        )
        self.top = self.logs.max()
        self.possible = bool(self.top > -np.inf)
        # n - components edges at most: a forest
        root = list(range(n))
        self.forest = True
        for i, j in pairs:
            a, b = root[i], root[j]
            self.forest &= a != b
            root = [b if r == a else r for r in root]

    def _weights(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        found = rng.normal(size=shape) * self.scale
        found[rng.random(shape) < self.barred] = -np.inf
        return found


def deviations(model: Model) -> dict[str, float]:
    """Return how far each answer is from enumeration; infinity for a wrong refusal or answer."""
    asks = {"most probable state": lambda: _mode(model)}
    for engine in ENGINES:
        if engine == "exact" or (engine == "bp" and model.forest):
            asks[f"{engine}: marginals"] = lambda e=engine: _marginals(model, e)
            asks[f"{engine}: log Z"] = lambda e=engine: abs(_log_z(model, e))
    asks["trw: bound below log Z"] = lambda: max(0.0, -_log_z(model, "trw"))
    asks["log-probabilities of rows"] = lambda: _rows(model)
    out = {}
    for name, ask in asks.items():
        try:
            out[name] = float(ask()) if model.possible else _answered(ask)
        except DataError:
            out[name] = math.inf if model.possible else 0.0
    return out


def _answered(ask) -> float:
    ask()
    return math.inf


def _mode(model: Model) -> float:
    found = model.network.map()
    code = [found[i] for i in range(len(model.cards))]
    weight = model.logs[(model.states == code).all(axis=1)][0]
    return (model.top - weight) / max(1.0, abs(model.top))


def enumerated(model: Model) -> tuple[np.ndarray, float]:
    """Return the probability of each joint state, and log Z."""
    shares = np.exp(model.logs - model.top)
    return shares / shares.sum(), model.top + math.log(shares.sum())


def _marginals(model: Model, engine: str) -> float:
    found = model.network.marginals(inference=engine)
    shares, _ = enumerated(model)
    return max(
        np.abs(np.bincount(model.states[:, i], shares, c) - found[i]).max()
        for i, c in enumerate(model.cards)
    )


def _log_z(model: Model, engine: str) -> float:
    found = model.network.log_partition(inference=engine)
    _, log_z = enumerated(model)
    return (found - log_z) / max(1.0, abs(log_z))


def _rows(model: Model) -> float:
    some = model.logs > -np.inf
    found = model.network.log_prob(model.states)[some]
    _, log_z = enumerated(model)
    wanted = model.logs[some] - log_z
    return float((np.abs(found - wanted) / np.maximum(1.0, np.abs(wanted))).max())
