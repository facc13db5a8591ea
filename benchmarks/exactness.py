"""Answers of small random networks against enumeration: the largest deviations.

python benchmarks/exactness.py --models 10000 --out docs/decisions/exactness.md
"""

from __future__ import annotations

import argparse
import itertools
import math
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from arguments import parser_of

import graftwork as gw
from graftwork.errors import ApproximationWarning, ConvergenceWarning, DataError

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


def _exact(model: Model) -> tuple[np.ndarray, float]:
    shares = np.exp(model.logs - model.top)
    return shares / shares.sum(), model.top + math.log(shares.sum())


def _marginals(model: Model, engine: str) -> float:
    found = model.network.marginals(inference=engine)
    shares, _ = _exact(model)
    return max(
        np.abs(np.bincount(model.states[:, i], shares, c) - found[i]).max()
        for i, c in enumerate(model.cards)
    )


def _log_z(model: Model, engine: str) -> float:
    found = model.network.log_partition(inference=engine)
    _, log_z = _exact(model)
    return (found - log_z) / max(1.0, abs(log_z))


def _rows(model: Model) -> float:
    some = model.logs > -np.inf
    found = model.network.log_prob(model.states)[some]
    _, log_z = _exact(model)
    wanted = model.logs[some] - log_z
    return float((np.abs(found - wanted) / np.maximum(1.0, np.abs(wanted))).max())


def campaign(models: int, seed: int = 0) -> dict[str, tuple[float, int]]:
    """Return the largest deviation of each answer, and of how many models it was asked."""
    rng, out = np.random.default_rng(seed), {}
    for _ in range(models):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", ApproximationWarning)
            for name, value in deviations(Model(rng)).items():
                worst, asked = out.get(name, (0.0, 0))
                out[name] = (max(worst, value) if value == value else math.inf, asked + 1)
    return out


def page(found: dict[str, tuple[float, int]], models: int) -> str:
    """Return the table as a page."""
    lines = [
        "# Exactness",
        "",
        f"{models:,} random networks of up to four variables with up to three states, potentials",
        "of size 0, 1, 30 or 1,000, none, 30 % or 70 % of them -inf, against the enumeration of",
        "all joint states. Log Z and log-probabilities are relative to their size where that is",
        "above 1. Networks whose -inf potentials leave no joint state must be refused. From",
        "",
        f"    python benchmarks/exactness.py --models {models} --out docs/decisions/exactness.md",
        "",
        "| answer | networks | largest deviation |",
        "|---|---|---|",
        *(f"| {name} | {asked:,} | {worst:.1e} |" for name, (worst, asked) in found.items()),
    ]
    return "\n".join(lines) + "\n"


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--models", type=int, default=10_000)
    parser.add_argument("--out", type=Path)
    return parser.parse_args(arguments)


def main() -> None:
    """Run the campaign and write the page."""
    options = parse()
    text = page(campaign(options.models), options.models)
    print(text)
    if options.out is not None:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
