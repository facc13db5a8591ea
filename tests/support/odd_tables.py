"""Small random tables of the kinds that people bring: copies, rules, rare states, weights, gaps."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graftwork.data import Table


@dataclass(frozen=True)
class OddTable:
    """A table, and what else a learner is told."""

    table: Table
    options: dict[str, Any] = field(default_factory=dict)


def odd_table(seed: int) -> OddTable:
    """Return one of endlessly many: every seed another mixture of oddities."""
    rng = np.random.default_rng(seed)
    n, rows = int(rng.integers(4, 10)), int(rng.integers(60, 400))
    cards = rng.integers(2, 6, n)
    hidden = rng.integers(0, 60, rows)  # 60 is divisible by all numbers of states
    codes = []
    for s in cards.tolist():
        noise = rng.random(rows) < rng.choice([0.2, 0.6, 1.0])
        codes.append(np.where(noise, rng.choice(s, rows, p=_frequencies(rng, s)), hidden % s))
    columns = [np.asarray(column) for column in codes]
    kinds = set(rng.choice(["copy", "near-copy", "rule", "rare", "constant"], 2).tolist())
    if "copy" in kinds:
        columns.append(columns[0].copy())
    if "near-copy" in kinds:
        changed = rng.random(rows) < 0.02
        columns.append(np.where(changed, rng.integers(0, cards[1], rows), columns[1]))
    if "rule" in kinds:
        columns.append((columns[0] + columns[1]) % 3)
    if "rare" in kinds:
        columns.append((rng.random(rows) < 0.02).astype(np.int64))
    if "constant" in kinds:
        columns.append(np.zeros(rows, dtype=np.int64))
    return _told(rng, columns)


def _frequencies(rng: np.random.Generator, s: int) -> Any:
    weights = rng.gamma(rng.choice([0.3, 3.0]), size=s) + 1e-3
    return weights / weights.sum()


def _told(rng: np.random.Generator, columns: list[Any]) -> OddTable:
    """Return the columns as a table, perhaps with weights, gaps or prior knowledge."""
    order = rng.permutation(len(columns))
    columns = [columns[k] for k in order]
    names = tuple(f"v{k}" for k in order)
    states = tuple(tuple(range(int(c.max()) + 1)) for c in columns)
    options: dict[str, Any] = {}
    weights = None
    kind = rng.choice(["plain", "weights", "gaps", "knowledge"], p=[0.4, 0.2, 0.2, 0.2])
    if kind == "weights":
        whole = rng.random() < 0.5
        rows = len(columns[0])
        weights = rng.integers(0, 4, rows).astype(float) if whole else rng.gamma(2.0, 0.5, rows)
    if kind == "gaps":
        options["missing"] = str(rng.choice(["available-case", "state", "impute"]))
        states = tuple((*own, "(missing)") for own in states)
        columns = [
            np.where(rng.random(len(c)) < 0.05, len(own) - 1, c)
            for c, own in zip(columns, states, strict=True)
        ]
    if kind == "knowledge":
        options["required"] = [(names[0], names[1])]
        options["forbidden"] = [(names[1], names[2])]
    codes = np.stack(columns).astype(np.uint8)
    return OddTable(Table(names, states, codes, weights), options)
