"""Contacts of a made protein family: couplings of all pairs, and tests of edges, against the truth.

python benchmarks/contacts.py [--positions 82] [--sequences 10000] [--lam .01] [--seed 0] [--tests]

A chain is folded at random; its nearest positions, four or more apart, are its contacts. Sequences
descend from one ancestor along a tree of splits and change by Gibbs steps of a Potts model of 21
states with couplings at the contacts and along the chain, so they are related, as those of a family
are. Sequences count one over the number of those that differ from them at fewer than a fifth of the
positions. Printed are CPU seconds, evaluations and memory of the L2 fit, and which share of the
best pairs (as many as positions, four or more apart) are contacts: by the norm of couplings,
after the average product correction, and with --tests by the p-values of the default network.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np
from arguments import parser_of

import graftwork as gw

STATES = 21
APART = 4
Pairs = set[tuple[int, int]]


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments."""
    parser = parser_of(__doc__ or "")
    parser.add_argument("--positions", type=int, default=82)
    parser.add_argument("--sequences", type=int, default=10_000)
    parser.add_argument("--lam", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", action="store_true", help="learn the default network, too")
    return parser.parse_args(arguments)


def contacts(n: int, rng: np.random.Generator) -> Pairs:
    """Return the nearest pairs of a folded chain, 1.3 for each position."""
    places = np.cumsum(rng.normal(size=(n, 3)), axis=0)
    for _ in range(300):  # drawn to the middle, bonds kept, neighbours pushed apart
        away = places[:, None] - places[None]
        distances = np.sqrt((away**2).sum(axis=2)) + 1e-9
        push = np.clip((away / distances[:, :, None] ** 3).sum(axis=1), -2, 2)
        bonds = np.diff(places, axis=0)
        length = np.linalg.norm(bonds, axis=1, keepdims=True)
        pull = (length - 1.5) * bonds / length
        places += 0.15 * push - 0.005 * (places - places.mean(axis=0))
        places[:-1] += 0.3 * pull
        places[1:] -= 0.3 * pull
    first, second = np.triu_indices(n, APART)
    near = np.argsort(((places[first] - places[second]) ** 2).sum(axis=1))[: round(1.3 * n)]
    return set(zip(first[near].tolist(), second[near].tolist(), strict=True))


def family(n: int, count: int, edges: Pairs, rng: np.random.Generator) -> np.ndarray:
    """Return sequences of one family, shape (count, n)."""
    chain = {(k, k + 1) for k in range(n - 1)}
    fields = rng.normal(size=(n, STATES)) * rng.uniform(0.3, 1.6, n)[:, None]
    tables: dict[int, list[tuple[int, np.ndarray]]] = {k: [] for k in range(n)}
    for i, j in sorted(edges | chain):
        table = rng.gamma(2.0, 0.25) * rng.normal(size=(STATES, STATES))
        tables[i].append((j, table.T))  # looked up by the other one's state
        tables[j].append((i, table))

    def change(rows: np.ndarray, steps: int) -> None:
        for site in rng.integers(n, size=steps).tolist():
            logits = fields[site] + sum(table[rows[:, j]] for j, table in tables[site])
            rows[:, site] = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)

    rows = rng.integers(STATES, size=(1, n))
    change(rows, 200 * n)
    while len(rows) < count:
        rows = np.repeat(rows, 2, axis=0)
        change(rows, n // 4)
    return np.asarray(rng.permutation(rows)[:count])


def weights_of(rows: np.ndarray) -> np.ndarray:
    """Return one over the number of sequences that are at least four fifths the same."""
    hot = np.eye(STATES, dtype=np.float32)[rows].reshape(len(rows), -1)
    close = [(part @ hot.T > 0.8 * rows.shape[1]).sum(axis=1) for part in np.array_split(hot, 20)]
    return np.asarray(1.0 / np.concatenate(close))


def share_right(ranked: list[tuple[str, str]], truth: Pairs, n: int) -> float:
    """Return the share of contacts among the first n pairs that are far apart in the chain."""
    pairs = [tuple(sorted((int(a[1:]), int(b[1:])))) for a, b in ranked]
    best = [pair for pair in pairs if pair[1] - pair[0] >= APART][:n]
    return sum(pair in truth for pair in best) / n


def ends(records: Any) -> list[tuple[str, str]]:
    """Return the two names of each record."""
    return list(zip(records["first"], records["second"], strict=True))


def main() -> None:
    """Make the family, fit it, and print what was found."""
    given = parse()
    rng, n = np.random.default_rng(given.seed), given.positions
    truth = contacts(n, rng)
    rows = family(n, given.sequences, truth, rng)
    letters = np.array(list("-ACDEFGHIKLMNPQRSTVWY"))
    columns = {f"p{k:03}": letters[rows[:, k]] for k in range(n)}
    table = gw.as_table(columns, weights=weights_of(rows))
    print(f"{given.sequences} sequences of {n} positions, {len(truth)} contacts")
    begun = time.process_time()
    net = gw.MarkovNetwork(penalty="l2", lam=given.lam, n_jobs=1).fit(table)
    took = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    evaluations = sum(each.evaluations for each in net.trace_)
    print(f"L2: {took:.1f} CPU s, {evaluations} evaluations, process at most {peak:.0f} MiB")
    for score in ("norm", "apc"):
        print(f"{score}: {share_right(ends(net.couplings(score)), truth, n):.2f}")
    if given.tests:
        begun = time.process_time()
        tested = gw.MarkovNetwork(n_jobs=1).fit(table)
        took = time.process_time() - begun
        pairs = [*ends(tested.edges_), *ends(tested.near_edges_)]
        found = share_right(pairs, truth, n)
        print(f"tests: {found:.2f}, {len(tested.edges_)} edges, {took:.1f} CPU s")


if __name__ == "__main__":
    main()
