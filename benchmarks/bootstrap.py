"""What a bootstrap says about planted networks, against what fresh rows say.

Run: python benchmarks/bootstrap.py [NAME ...] [--resamples N] [--fresh N] [--coverage N]

Networks are scale-free, as `make_scale_free` draws them. Printed are the edges of the network and
of its resamples (mean), the share of centralities inside the middle 95 % of the resamples, the
rank correlation of inclusion shares with the share of fresh samples of the same size that have the
edge, and the share of intervals of strengths that cover the strength which fits of the same edges
to fresh rows have on average (for --coverage of the fresh samples, each with a bootstrap of its
own).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from arguments import add_names, parser_of
from scipy.stats import spearmanr

import graftwork as gw
from graftwork.data import Table
from graftwork.data.encoded import prepare
from graftwork.estimators.bootstrap import Bootstrap
from graftwork.grafting import Problem
from graftwork.grafting.networks import strengths
from graftwork.grafting.starts import with_pairs
from graftwork.objectives import PseudoLikelihood
from graftwork.objectives.protocol import independent_potentials
from graftwork.penalties import GroupL1
from graftwork.selection import refit

MIXED = (2, 3, 4, 5, 6) * 4
# Variables, states, rows, seed.
SETTINGS = {
    "five-600": (20, 5, 600, 1),
    "five-1000": (20, 5, 1000, 0),
    "five-1500": (15, 5, 1500, 7),
    "five-2000": (20, 5, 2000, 2),
    "three-500": (15, 3, 500, 3),
    "three-1000": (25, 3, 1000, 8),
    "binary-1000": (20, 2, 1000, 4),
    "binary-2000": (30, 2, 2000, 5),
    "mixed-800": (12, MIXED[:12], 800, 6),
    "mixed-1500": (20, MIXED, 1500, 9),
}


@dataclass(frozen=True)
class Found:
    """What was found about one network."""

    edges: int
    resampled: float
    inside: float
    order: float
    covered: int
    intervals: int

    @property
    def coverage(self) -> float:
        """The share of intervals that cover."""
        return self.covered / self.intervals if self.intervals else float("nan")


def measure(name: str, resamples: int, fresh: int, coverage: int) -> Found:
    """Return what the bootstrap of one network says, against fresh rows."""
    n, states, rows, seed = SETTINGS[name]
    made = gw.datasets.make_scale_free(n, states, n_rows=rows, random_state=seed)
    net = gw.MarkovNetwork(random_state=0).fit(made.data)
    boot = net.bootstrap(made.data, resamples, case_dropping=False)
    draws = [made.model.sample(rows, random_state=1000 + k) for k in range(fresh)]
    nets = [gw.MarkovNetwork(random_state=0).fit(table) for table in draws[: 2 * fresh // 5]]
    covered, intervals = 0, 0
    for k in range(coverage):
        own = gw.MarkovNetwork(random_state=0).fit(draws[k])
        counts = _coverage(own.bootstrap(draws[k], resamples, case_dropping=False), draws)
        covered, intervals = covered + counts[0], intervals + counts[1]
    return Found(
        net.model_.n_edges,
        float((~np.isnan(boot.draws)).sum(axis=1).mean()),
        _inside(boot),
        _order(boot, nets),
        covered,
        intervals,
    )


def _inside(boot: Bootstrap) -> float:
    """Return the share of centralities inside the middle 95 % of the resamples."""
    low, high = np.quantile(boot.centrality_draws, [0.025, 0.975], axis=0)
    slack = 1e-9 * np.abs(boot.centrality)
    inside = (low - slack <= boot.centrality) & (boot.centrality <= high + slack)
    return float(inside[~np.isnan(boot.centrality)].mean())


def _order(boot: Bootstrap, nets: list[gw.MarkovNetwork]) -> float:
    """Return how inclusion shares correlate with those of fresh samples, over pairs in either."""
    found = [{frozenset(edge) for edge in net.model_.edges} for net in nets]
    listed = [frozenset(boot.names[k] for k in pair) for pair in boot.pairs.tolist()]
    shares = dict(zip(listed, boot.frequencies.tolist(), strict=True))
    pairs = sorted(set().union(shares, *found), key=sorted)
    fresh = [np.mean([pair in edges for edges in found]) for pair in pairs]
    return float(spearmanr([shares.get(pair, 0.0) for pair in pairs], fresh).statistic)


def _coverage(boot: Bootstrap, draws: list[Table]) -> tuple[int, int]:
    """Return how many intervals of strengths cover what fresh rows give on average, of how many."""
    own = ~np.isnan(boot.strengths)
    expected = np.mean([_fitted(table, boot.pairs[own]) for table in draws], axis=0)
    place = {tuple(pair): k for k, pair in enumerate(boot.pairs[own].tolist())}
    number = {name: k for k, name in enumerate(boot.names)}
    covered = 0
    for record in boot.edges():
        k = place.get((number[record["first"]], number[record["second"]]))
        covered += k is not None and record["low"] <= expected[k] <= record["high"]
    return covered, len(place)


def _fitted(table: Table, pairs: np.ndarray) -> np.ndarray:
    """Return the strengths of these edges, fitted as after the tests."""
    sample = prepare(table)
    problem = Problem(PseudoLikelihood(sample), GroupL1(0.0))
    start = with_pairs(independent_potentials(sample), pairs)
    return np.sqrt(strengths(refit(problem, start, 1e-4).point.potentials))


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return what is asked for."""
    parser = parser_of(__doc__)
    add_names(parser, SETTINGS)
    parser.add_argument("--resamples", type=int, default=100, help="default: 100")
    parser.add_argument("--fresh", type=int, default=50, help="fresh samples (default: 50)")
    parser.add_argument("--coverage", type=int, default=5, help="bootstraps more (default: 5)")
    return parser.parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    """Print what was found."""
    print("network      edges  resamples  centralities inside  shares' order  coverage of .95")
    total = np.zeros(2)
    for name in chosen.names or SETTINGS:
        found = measure(name, chosen.resamples, chosen.fresh, chosen.coverage)
        total += found.covered, found.intervals
        print(
            f"{name:12} {found.edges:5d}  {found.resampled:9.1f}  {found.inside:19.2f}  "
            f"{found.order:13.2f}  {found.coverage:.3f} of {found.intervals}",
            flush=True,
        )
    print(f"all intervals: {total[0] / max(1, total[1]):.3f} of {total[1]:.0f}")


if __name__ == "__main__":
    main(parse())
