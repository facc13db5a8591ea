"""Whole numbers that are ordered answers, or codes of categories: edges with and without order.

Run: python benchmarks/integer_items.py [--seeds N] [--what NAME ...] [--rows N ...]

Ten items of three states, fifteen of five and fifteen of seven, each joined with three others on
average; rows are drawn by a Gibbs sampler of this file. Ordered truths: "ordinal" (tables theta * a
* b) and "gauss" (a sparse normal distribution, cut at random places). Codes without an order:
"nominal" and "weak" (random tables), "permuted" (ordinal tables, the codes of each item shuffled)
and "same" (equal codes go together). "null": independent items. Printed: recall, false edges and
pairs that are taken as bent a network, and CPU seconds of a fit.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from arguments import parser_of
from scipy.stats import norm

import graftwork as gw

KINDS = ("ordinal", "gauss", "null", "nominal", "weak", "permuted", "same")
SIZES = ((10, 3), (15, 5), (15, 7))
DEGREE, SWEEPS = 3, 60

Pairs = list[tuple[int, int]]


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--rows", nargs="+", type=int, default=[200, 400, 1000])
    parser.add_argument("--what", nargs="+", choices=KINDS, default=list(KINDS))
    return parser.parse_args(arguments)


def joined(p: int, rng: np.random.Generator) -> Pairs:
    """Return random pairs, three for each item on average."""
    pairs = [(i, j) for i in range(p) for j in range(i + 1, p)]
    chosen = rng.choice(len(pairs), round(p * DEGREE / 2), replace=False)
    return [pairs[at] for at in sorted(chosen)]


def gibbs(
    edges: Pairs, tables: list[np.ndarray], unary: np.ndarray, n: int, rng: np.random.Generator
) -> np.ndarray:
    """Return rows of the network with these tables."""
    p, k = unary.shape
    near: list[list[tuple[int, np.ndarray]]] = [[] for _ in range(p)]
    for (i, j), table in zip(edges, tables, strict=True):
        near[i].append((j, table))
        near[j].append((i, table.T))
    x = rng.integers(0, k, (n, p))
    for _ in range(SWEEPS):
        for i in range(p):
            logits = np.tile(unary[i], (n, 1))
            for j, table in sorted(near[i], key=lambda pair: pair[0]):
                logits = logits + table[:, x[:, j]].T
            x[:, i] = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
    return x


def tables_of(
    kind: str, edges: Pairs, p: int, k: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """Return the tables of the edges."""
    scores = np.arange(k) - (k - 1) / 2
    scores = scores / scores.std()

    def slope() -> float:
        return float(rng.choice([-1, 1], p=[0.3, 0.7]) * rng.uniform(0.2, 0.5))

    def mixed() -> np.ndarray:
        table = rng.normal(0, 1, (k, k))
        table -= table.mean(0)
        table -= table.mean(1)[:, None]
        return table * rng.uniform(0.6, 1.0) * (0.5 if kind == "weak" else 1.0)

    def equal() -> np.ndarray:
        return np.eye(k) * rng.uniform(0.5, 1.2) * rng.choice([1, 1, 1])

    if kind == "permuted":
        own = [scores[rng.permutation(k)] for _ in range(p)]
        return [slope() * np.outer(own[i], own[j]) for i, j in edges]
    if kind == "ordinal":
        return [slope() * np.outer(scores, scores) for _ in edges]
    return [equal() if kind == "same" else mixed() for _ in edges]


def normal_items(edges: Pairs, p: int, k: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows of a sparse normal distribution, cut into k parts at random places."""
    precision = np.zeros((p, p))
    for i, j in edges:
        sign = rng.choice([-1, 1], p=[0.3, 0.7])
        precision[i, j] = precision[j, i] = sign * rng.uniform(0.2, 0.4)
    precision += np.diag(1.0 + 0.35 * np.abs(precision).sum(1))
    least = np.linalg.eigvalsh(precision)[0]
    precision += max(0.0, 0.15 - least) * np.eye(p)
    covariance = np.linalg.inv(precision)
    sd = np.sqrt(np.diag(covariance))
    z = rng.multivariate_normal(np.zeros(p), covariance / np.outer(sd, sd), n)
    cuts = [norm.ppf(np.cumsum(rng.dirichlet(np.full(k, 4.0)))[:-1]) for _ in range(p)]
    return np.stack([np.searchsorted(own, z[:, i]) for i, own in enumerate(cuts)], axis=1)


def drawn(kind: str, p: int, k: int, n: int, seed: int) -> tuple[np.ndarray, Pairs]:
    """Return rows with the values 1 to k, and the edges."""
    rng = np.random.default_rng([seed, p, k, n])
    edges = joined(p, rng)
    if kind == "null":
        chances = [rng.dirichlet(np.full(k, 4.0)) for _ in range(p)]
        return np.stack([rng.choice(k, n, p=own) for own in chances], axis=1) + 1, []
    if kind == "gauss":
        return normal_items(edges, p, k, n, rng) + 1, edges
    unary = rng.normal(0, 0.3, (p, k))
    return gibbs(edges, tables_of(kind, edges, p, k, rng), unary, n, rng) + 1, edges


def main() -> None:
    """Print a line for each truth, size and number of rows."""
    given = parse()
    for kind in given.what:
        for p, k in SIZES:
            for n in given.rows:
                made = [drawn(kind, p, k, n, seed) for seed in range(given.seeds)]
                line = f"{kind:9} {p} items of {k} states, {n:5} rows"
                for way, ordinal in (("unordered", False), ("ordered", True)):
                    line += f"  {way}: {report(made, ordinal)}"
                print(line, flush=True)


def report(made: list[tuple[np.ndarray, Pairs]], ordinal: bool) -> str:
    """Return recall, false edges, bent pairs and seconds, in a line."""
    hits = wanted = false = bent = 0
    began = time.process_time()
    for rows, edges in made:
        net = gw.MarkovNetwork(ordinal=ordinal, n_jobs=1).fit(rows)
        place = {name: i for i, name in enumerate(net.names_)}
        found = {tuple(sorted((place[a], place[b]))) for a, b in net.model_.edges}
        hits, wanted = hits + len(found & set(edges)), wanted + len(edges)
        false, bent = false + len(found - set(edges)), bent + len(net.evidence_.curved)
    seconds = (time.process_time() - began) / len(made)
    means = f"{false / len(made):.2f} false, {bent / len(made):.1f} bent, {seconds:.2f} s"
    return f"recall {hits / max(1, wanted):.2f}, {means}"


if __name__ == "__main__":
    main()
