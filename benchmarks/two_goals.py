"""How well the two goals predict: losses on fresh rows above those of the truth.

Run: python benchmarks/two_goals.py [--seeds N] [--what NAME ...] [--rows N ...]

Random networks, drawn by a Gibbs sampler of this file: "sparse2" (25 of 190 pairs of binary
variables), "sparse4" (18 of 105, four states), "hubs2" (two hubs with nine neighbours each),
"weak2" (30 of 190, weak), "dense2" (76 of 153, weak). "path" is the best lambda alone, as
goal="prediction"
would be without the network of tested edges. "adhd": whole losses on a fifth of the rows.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
from arguments import parser_of

import graftwork as gw
from graftwork.selection import choice

FRESH, SWEEPS, ALLOWED = 4000, 80, choice.ALLOWED
# Variables, states, pairs and the size of their weights.
TRUTHS: dict[str, tuple[int, int, int, float]] = {
    "sparse2": (20, 2, 25, 1.2),
    "sparse4": (15, 4, 18, 1.0),
    "hubs2": (20, 2, 19, 1.0),
    "weak2": (20, 2, 30, 0.5),
    "dense2": (18, 2, 76, 0.35),
}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--rows", nargs="+", type=int, default=[200, 500, 1000])
    parser.add_argument("--what", nargs="+", choices=[*TRUTHS, "adhd"], default=[*TRUTHS, "adhd"])
    return parser.parse_args(arguments)


def truth(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return tables (p, p, k, k) and unaries (p, k)."""
    p, k, count, size = TRUTHS[kind]
    pairs = [(i, j) for i in range(p) for j in range(i + 1, p)]
    if kind == "hubs2":
        chosen = [(h, j) for h in (0, 1) for j in range(2 + 9 * h, 11 + 9 * h)] + [(0, 1)]
    else:
        chosen = [pairs[at] for at in rng.choice(len(pairs), count, replace=False)]
    tables, unary = np.zeros((p, p, k, k)), rng.normal(0, 0.4, (p, k))
    for i, j in chosen:
        if k == 2:
            weight = rng.uniform(0.5, 1.5) * size * rng.choice([1, 1, -1])
            table = weight / 4 * np.array([[1, -1], [-1, 1]])
        else:
            table = rng.normal(0, size, (k, k))
            table -= table.mean(0)
            table -= table.mean(1)[:, None]
        tables[i, j], tables[j, i] = table, table.T
    return tables, unary


def logits_of(tables: np.ndarray, unary: np.ndarray, x: np.ndarray, i: int) -> np.ndarray:
    """Return the log-potentials of a variable's states in every row."""
    logits = np.tile(unary[i], (len(x), 1))
    for j in np.flatnonzero(np.abs(tables[i]).sum((1, 2)) > 0):
        logits = logits + tables[i, j][:, x[:, j]].T
    return logits


def drawn(tables: np.ndarray, unary: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows of a network."""
    p, k = unary.shape
    x = rng.integers(0, k, (n, p))
    for _ in range(SWEEPS):
        for i in range(p):
            logits = logits_of(tables, unary, x, i)
            x[:, i] = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
    return x


def loss_of(tables: np.ndarray, unary: np.ndarray, x: np.ndarray) -> float:
    """Return the mean negative log pseudo-likelihood of rows."""
    total = 0.0
    for i in range(x.shape[1]):
        logits = logits_of(tables, unary, x, i)
        top = logits.max(1)
        logs = top + np.log(np.exp(logits - top[:, None]).sum(1))
        total += float(np.mean(logs - logits[np.arange(len(x)), x[:, i]]))
    return total


def losses(train: object, test: object, seed: int, **options: object) -> list[float]:
    """Return the loss of both goals and of the path alone, and CPU seconds of the goals."""
    found, seconds = [], []
    for goal, allowed in (
        ("structure", ALLOWED),
        ("prediction", -math.inf),
        ("prediction", ALLOWED),
    ):
        choice.ALLOWED, began = allowed, time.process_time()
        net = gw.MarkovNetwork(goal=goal, n_jobs=1, random_state=seed, **options).fit(train)
        seconds.append(time.process_time() - began)
        found.append(-net.score(test))
    return [*found, seconds[0], seconds[2]]


def made(kind: str, n: int, seed: int) -> list[float]:
    """Return the losses of one draw, above the truth's."""
    rng = np.random.default_rng([seed, n])
    tables, unary = truth(kind, rng)
    x = drawn(tables, unary, n + FRESH, rng)
    states = {f"x{i}": list(range(unary.shape[1])) for i in range(len(unary))}
    found = losses(x[:n], x[n:], seed, states=states, ordinal=False)
    base = loss_of(tables, unary, x[n:])
    return [*(loss - base for loss in found[:3]), *found[3:]]


def adhd(seed: int) -> list[float]:
    """Return the losses of a random fifth of the children."""
    table = gw.datasets.load_adhd()
    table = table.take_columns([name for name in table.names if name != "group"])
    order = np.random.default_rng(seed).permutation(table.n_rows)
    count = round(0.8 * table.n_rows)
    return losses(table.take_rows(order[:count]), table.take_rows(order[count:]), 0)


def main() -> None:
    """Print a line for each truth and number of rows."""
    given = parse()
    for kind in given.what:
        for n in [284] if kind == "adhd" else given.rows:
            seeds = range(given.seeds)
            found = [adhd(seed) if kind == "adhd" else made(kind, n, seed) for seed in seeds]
            tested, path, prediction, quick, long = np.mean(found, axis=0)
            print(
                f"{kind:8} {n:5} structure {tested:.3f}, path {path:.3f}, "
                f"prediction {prediction:.3f}; CPU seconds {quick:.2f} and {long:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
