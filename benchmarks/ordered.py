"""Edges of five-point items with an order: recall and false edges, beside partial correlations.

Run: python benchmarks/ordered.py [--seeds N] [--what NAME ...]

Twenty five-point items on a ring with chords (30 edges), tables theta * a * b with a, b from -2 to
2, nothing tuned. "ordered" is ordinal=True, "unordered" ordinal=False, "partial correlations" tests
every pair by Fisher's z at the same false discovery rate, .01. Other rows: items that are
independent, even or skewed (any edge is false), and six pairs of items whose relation is not
monotone. "cut normal" are fifteen normal variables with a sparse precision matrix, cut into five
skewed levels (`situations.py`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from arguments import parser_of
from scipy.stats import false_discovery_control, norm
from situations import thresholded

import graftwork as gw

Edges = set[tuple[int, int]]
FDR = 0.01
SCORES = np.arange(5) - 2.0
SKEWED = np.array([0.5, 0.25, 0.15, 0.07, 0.03])


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--what", nargs="+", choices=list(ROWS), default=list(ROWS))
    return parser.parse_args(arguments)


def ring(theta: float, count: int, seed: int) -> tuple[np.ndarray, Edges]:
    """Return rows of twenty items on a ring with chords, and the edges."""
    edges = {(i, (i + 1) % 20) for i in range(20)} | {(i, (i + 5) % 20) for i in range(0, 20, 2)}
    edges = {(min(pair), max(pair)) for pair in edges}
    table = theta * np.outer(SCORES, SCORES)
    model = gw.PairwiseMRF({i: range(5) for i in range(20)}, None, dict.fromkeys(edges, table))
    drawn = model.sample(count, random_state=seed, method="gibbs")
    return drawn.codes.T.astype(np.int64), edges


def independent(chances: np.ndarray, count: int, seed: int) -> tuple[np.ndarray, Edges]:
    """Return rows of twenty items that have nothing to do with each other."""
    return np.random.default_rng(seed).choice(5, size=(count, 20), p=chances), set()


def bent(count: int, seed: int) -> tuple[np.ndarray, Edges]:
    """Return rows of six pairs of items: the one goes with the extremes of the other."""
    edges = {(i, i + 1) for i in range(0, 12, 2)}
    table = 0.2 * np.outer(SCORES, SCORES**2 - 2.0)
    model = gw.PairwiseMRF({i: range(5) for i in range(12)}, None, dict.fromkeys(edges, table))
    return model.sample(count, random_state=seed).codes.T.astype(np.int64), edges


def cut(count: int, seed: int) -> tuple[np.ndarray, Edges]:
    """Return rows of normal variables that were cut into levels."""
    case = thresholded(count, np.random.default_rng(seed))
    return np.asarray(case.rows), set(case.edges)


ROWS: dict[str, Callable[[int], tuple[np.ndarray, Edges]]] = {
    "theta .16, 300 rows": lambda seed: ring(0.16, 300, seed),
    "theta .16, 600 rows": lambda seed: ring(0.16, 600, seed),
    "theta .16, 1,000 rows": lambda seed: ring(0.16, 1000, seed),
    "theta .25, 300 rows": lambda seed: ring(0.25, 300, seed),
    "theta .08, 600 rows": lambda seed: ring(0.08, 600, seed),
    "independent, even, 300 rows": lambda seed: independent(np.full(5, 0.2), 300, seed),
    "independent, skewed, 300 rows": lambda seed: independent(SKEWED, 300, seed),
    "not monotone, 100 rows": lambda seed: bent(100, seed),
    "not monotone, 200 rows": lambda seed: bent(200, seed),
    "cut normal, 1,000 rows": lambda seed: cut(1000, seed),
    "cut normal, 2,000 rows": lambda seed: cut(2000, seed),
    "cut normal, 5,000 rows": lambda seed: cut(5000, seed),
}


def partial_correlations(rows: np.ndarray) -> Edges:
    """Return the pairs whose partial correlation differs from zero."""
    inverse = np.linalg.inv(np.corrcoef(rows.T))
    scale = np.sqrt(np.diag(inverse))
    partial = -inverse / np.outer(scale, scale)
    first, second = np.triu_indices(len(inverse), 1)
    z = np.arctanh(partial[first, second]) * np.sqrt(len(rows) - len(inverse) - 1)
    kept = false_discovery_control(2.0 * norm.sf(np.abs(z))) <= FDR
    return {(int(i), int(j)) for i, j in zip(first[kept], second[kept], strict=True)}


def learned(rows: np.ndarray, ordinal: bool) -> Edges:
    """Return the edges that graftwork learns."""
    net = gw.MarkovNetwork(ordinal=ordinal, n_jobs=1).fit(rows)
    place = {name: i for i, name in enumerate(net.names_)}
    return {(place[a], place[b]) for a, b in net.model_.edges}


WAYS: dict[str, Callable[[np.ndarray], Edges]] = {
    "ordered": lambda rows: learned(rows, True),
    "unordered": lambda rows: learned(rows, False),
    "partial correlations": partial_correlations,
}


def main() -> None:
    """Print a line for each kind of rows."""
    given = parse()
    print(f"{'recall, false edges a network':34}" + "".join(f"{way:>22}" for way in WAYS))
    for what in given.what:
        line = f"{what:34}"
        made = [ROWS[what](seed) for seed in range(given.seeds)]
        for find in WAYS.values():
            found = [(find(rows), edges) for rows, edges in made]
            recall = np.mean([len(some & edges) / max(1, len(edges)) for some, edges in found])
            false = np.mean([len(some - edges) for some, edges in found])
            line += f"{recall:>15.2f}, {false:.2f} "
        print(line, flush=True)


if __name__ == "__main__":
    main()
