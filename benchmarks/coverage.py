"""How often 95 % intervals of weights cover the true ones, of the edges that are found.

Run: python benchmarks/coverage.py [NAME ...] [--samples N] [--bootstraps N] [--resamples N]
                                   [--weighted]

Networks: "sparse" (18 binary variables, 2.5 edges each on average), "dense" (18 binary variables,
half of the pairs weakly dependent), "ordered" and "ordered-dense" (10 five-point items, a quarter
and half of the pairs), "ordered-bent" (as ordered, every third table with a curve too). The truth
of a false edge is 0. Printed are, for 300 and
1,000 rows: edges found on average; how much too large their weights are together, and how much the
fits say they are (median); coverage of weight -/+ 1.96 standard errors, of the intervals of
`edges_`, and of those of bootstraps of some of the samples; the share of intervals that reach 0.
With --weighted, rows are drawn with chances of .1 to 1, by the states of the first two variables,
and weighted by their inverse; the truth is that of all rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from arguments import add_names, parser_of

import graftwork as gw
from graftwork.estimators.edges import shown_weights
from graftwork.models import PairwiseMRF

SIZES = (300, 1000)
Pair = frozenset


def planted(
    scores: np.ndarray, pairs: list[tuple[int, int]], thetas: np.ndarray, curve: float = 0.0
) -> PairwiseMRF:
    """Return a network of theta x y tables, whose variables have about even states.

    Every third table has a product of squares too, which has no linear part.
    """
    names = [f"x{i}" for i in range(1 + max(map(max, pairs)))]
    states = {name: list(range(len(scores))) for name in names}
    tables = {
        (names[i], names[j]): theta * np.outer(scores, scores)
        for (i, j), theta in zip(pairs, thetas.tolist(), strict=True)
    }
    squares = scores**2 - np.mean(scores**2)
    for edge in list(tables)[::3]:
        tables[edge] = tables[edge] + curve * np.outer(squares, squares)
    unaries = {name: -0.3 * scores**2 * (len(scores) > 2) for name in names}
    return PairwiseMRF(states, unaries, tables)


def some_pairs(n: int, share: float, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return a share of the pairs of variables, chosen at random."""
    every = [(i, j) for i in range(n) for j in range(i + 1, n)]
    chosen = rng.choice(len(every), round(share * len(every)), replace=False)
    return [every[k] for k in sorted(chosen.tolist())]


def signed(low: float, high: float, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return sizes between two, 85 % of them positive."""
    return rng.uniform(low, high, count) * np.where(rng.random(count) < 0.85, 1.0, -1.0)


def binary(share: float, low: float, high: float) -> PairwiseMRF:
    """Return a network of 18 binary variables."""
    rng = np.random.default_rng(0)
    pairs = some_pairs(18, share, rng)
    return planted(np.array([-0.5, 0.5]), pairs, signed(low, high, len(pairs), rng))


def ordered(share: float, low: float, high: float, curve: float = 0.0) -> PairwiseMRF:
    """Return a network of 10 five-point items."""
    rng = np.random.default_rng(0)
    pairs = some_pairs(10, share, rng)
    return planted(np.arange(-2.0, 3.0), pairs, signed(low, high, len(pairs), rng), curve)


SETTINGS: dict[str, Callable[[], PairwiseMRF]] = {
    "sparse": lambda: binary(2.5 / 17, 0.6, 1.8),
    "dense": lambda: binary(0.5, 0.1, 0.6),
    "ordered": lambda: ordered(0.25, 0.1, 0.4),
    "ordered-bent": lambda: ordered(0.25, 0.1, 0.4, 0.25),
    "ordered-dense": lambda: ordered(0.5, 0.03, 0.15),
}


@dataclass
class Counts:
    """What was found in samples of one size."""

    edges: list[int] = field(default_factory=list)
    excess: list[float] = field(default_factory=list)
    shown: list[tuple[float, float]] = field(default_factory=list)
    covered: dict[str, list[bool]] = field(default_factory=dict)
    reach: list[bool] = field(default_factory=list)

    def add(self, kind: str, truth: float, low: float, high: float) -> None:
        """Count one interval."""
        self.covered.setdefault(kind, []).append(low <= truth <= high)

    def share(self, kind: str) -> float:
        """Return how many intervals of a kind cover, as a share."""
        return float(np.mean(self.covered.get(kind, [np.nan])))


def drawn(model: PairwiseMRF, rows: int, seed: int, weighted: bool) -> gw.Table:
    """Return rows of a network; weighted ones if the first two variables say which are drawn."""
    if not weighted:
        return model.sample(rows, random_state=seed)
    table, rng = model.sample(12 * rows, random_state=seed), np.random.default_rng([seed, 1])
    high = table.codes[:2] >= table.cards[:2, None] / 2
    chances = np.array([[0.1, 0.4], [0.4, 1.0]])[tuple(high.astype(int))]
    chosen = np.flatnonzero(rng.random(table.n_rows) < chances)[:rows]
    return table.take_rows(chosen).with_weights(1.0 / chances[chosen] / (1.0 / chances).mean())


def measure(
    name: str, rows: int, samples: int, bootstraps: int, resamples: int, weighted: bool = False
) -> Counts:
    """Return how intervals cover in samples of one network."""
    model, counts = SETTINGS[name](), Counts()
    truth = {Pair(edge): slope for edge, slope in zip(model.edges, slopes(model), strict=True)}
    for k in range(samples):
        table = drawn(model, rows, k, weighted)
        net = gw.MarkovNetwork(ordinal=True, random_state=0).fit(table)
        records = [edge for edge in net._edge_records() if not np.isnan(edge["weight_se"])]
        counts.edges.append(net.model_.n_edges)
        counts.excess.append(shown_weights(net.model_, net.names_, net.evidence_).excess)
        for edge in records:
            true, weight = truth.get(Pair((edge["first"], edge["second"])), 0.0), edge["weight"]
            reach = 1.96 * edge["weight_se"]
            counts.shown.append((abs(weight), true * np.sign(weight)))
            counts.add("plain", true, weight - reach, weight + reach)
            counts.add("shown", true, edge["weight_low"], edge["weight_high"])
            counts.reach.append(edge["weight_low"] <= 0.0 <= edge["weight_high"])
        if k < bootstraps and net.model_.n_edges:
            boot = net.bootstrap(table, resamples, case_dropping=False, random_state=0)
            for edge in boot.edges():
                if edge["weight"]:
                    true = truth.get(Pair((edge["first"], edge["second"])), 0.0)
                    counts.add("bootstrap", true, edge["weight_low"], edge["weight_high"])
    return counts


def slopes(model: PairwiseMRF) -> list[float]:
    """Return the theta of the part theta x y of each table, the states being one apart."""
    found = []
    for first, second in model.edges:
        table = model.table(first, second)
        x, y = (np.arange(size) - (size - 1) / 2 for size in table.shape)
        found.append(float(x @ table @ y / (x @ x) / (y @ y)))
    return found


def line(name: str, rows: int, counts: Counts) -> str:
    """Return the line of one network and size."""
    sizes, real = np.array(counts.shown).reshape(-1, 2).sum(axis=0)
    kinds = "  ".join(f"{counts.share(kind):9.3f}" for kind in ("plain", "shown", "bootstrap"))
    return (
        f"{name:14}{rows:6,d}{np.mean(counts.edges):7.1f}{sizes / real - 1:11.0%}"
        f"{np.nanmedian(counts.excess):10.0%}  {kinds}{np.mean(counts.reach):12.2f}"
    )


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return what is asked for."""
    parser = parser_of(__doc__)
    add_names(parser, SETTINGS)
    parser.add_argument("--samples", type=int, default=40, help="default: 40")
    parser.add_argument("--bootstraps", type=int, default=8, help="of these samples (default: 8)")
    parser.add_argument("--resamples", type=int, default=60, help="of each (default: 60)")
    parser.add_argument("--weighted", action="store_true", help="unequal chances, and weights")
    return parser.parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    """Print what was found."""
    print(
        "network         rows  edges  too large  as told      plain      shown  bootstrap  reach 0"
    )
    for name in chosen.names or SETTINGS:
        for rows in SIZES:
            found = measure(
                name, rows, chosen.samples, chosen.bootstraps, chosen.resamples, chosen.weighted
            )
            print(line(name, rows, found), flush=True)


if __name__ == "__main__":
    main(parse())
