"""Edges of planted networks without tuning: F1, false discoveries, seconds.

Run: python benchmarks/planted.py [NAME ...] [--uncentred] [--fdr RATE] [--seeds N]

Networks are scale-free (preferential attachment, two edges a variable) with normal log-potentials
of standard deviation 1 (tables) and .5 (unaries). Tables are centred, so that they connect
variables without freezing them; --uncentred leaves them as drawn, and hubs may then hardly vary.
"true edges tested" is what the same tests keep if the true edges, and no others, are the short
list: about the best that tests of edges can do on these rows.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from arguments import add_names, parser_of
from threadpoolctl import threadpool_limits

import graftwork as gw
from graftwork.data import as_table
from graftwork.data.encoded import prepare
from graftwork.grafting import Problem
from graftwork.grafting.starts import with_pairs
from graftwork.inference.sampling import gibbs_sample
from graftwork.objectives import PseudoLikelihood
from graftwork.objectives.fitted_rows import FittedRows
from graftwork.objectives.protocol import independent_potentials
from graftwork.penalties import GroupL1
from graftwork.selection import refit
from graftwork.significance.edge_tests import EdgeTests
from graftwork.significance.evidence import log_q_values
from graftwork.significance.pooling import frequent_states

# Variables, states (None: two to six), rows.
SETTINGS = {
    "potts-50-5000": (50, 5, 5000),
    "potts-50-1000": (50, 5, 1000),
    "potts-200-19000": (200, 5, 19_000),
    "ising-100-10000": (100, 2, 10_000),
    "mixed-30-2000": (30, None, 2000),
    "empty-50-1000": (50, 5, 1000),
    "empty-100-2000": (100, 2, 2000),
    "empty-30-500": (30, None, 500),
}


def draw(name: str, seed: int, centred: bool = True) -> tuple[gw.PairwiseMRF, np.ndarray]:
    """Return a network and rows from it."""
    n, states, rows = SETTINGS[name]
    rng = np.random.default_rng(seed)
    cards = rng.integers(2, 7, n).tolist() if states is None else states
    sd = 0.0 if name.startswith("empty") else 1.0
    model = gw.datasets.scale_free_network(n, cards, edge_sd=sd, centred=centred, random_state=seed)
    codes = gibbs_sample(model.potentials, rows, rng, burn_in=500, n_chains=256, n_jobs=2)
    return model, codes.T


def scores(truth: set[frozenset], found: set[frozenset]) -> tuple[float, float]:
    """Return F1 and the share of false edges among those found."""
    right = len(truth & found)
    f1 = 2 * right / (len(truth) + len(found)) if truth or found else 1.0
    return f1, 1 - right / len(found) if found else 0.0


def tested_truth(model: gw.PairwiseMRF, data: np.ndarray, fdr: float) -> float:
    """Return the F1 of the true edges that the tests keep, all of them being the short list."""
    sample = prepare(as_table(data))
    problem = Problem(PseudoLikelihood(sample, 2), GroupL1(1.0))
    edges = model.potentials.layout.edges
    edges = edges[(sample.cards[edges] > 1).all(axis=1)]
    solution = refit(problem, with_pairs(independent_potentials(sample), edges), 1e-4)
    with threadpool_limits(limits=1, user_api="blas"):
        rows = FittedRows.of(solution.point, frequent_states(sample))
        found = EdgeTests.of(rows).findings(8192)
    kept = int((log_q_values(found.log_p, problem.space.size) <= np.log(fdr)).sum())
    return 2 * kept / (kept + model.n_edges)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    add_names(parser, SETTINGS)
    parser.add_argument("--uncentred", action="store_true")
    parser.add_argument("--fdr", type=float, default=0.01)
    parser.add_argument("--seeds", type=int, default=5)
    return parser.parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    """Print a line for each setting."""
    gw.MarkovNetwork().fit(draw("mixed-30-2000", 0)[1])  # compiles
    for name in chosen.names or SETTINGS:
        lines = []
        for seed in range(301, 301 + chosen.seeds):
            model, rows = draw(name, seed, centred=not chosen.uncentred)
            began, busy = time.perf_counter(), time.process_time()
            net = gw.MarkovNetwork(fdr=chosen.fdr, random_state=0).fit(rows)
            spent = time.perf_counter() - began, time.process_time() - busy
            empty = name.startswith("empty")
            truth = set() if empty else {frozenset(edge) for edge in model.edges}
            found = {frozenset(edge) for edge in net.model_.edges}
            best = float("nan") if empty else tested_truth(model, rows, chosen.fdr)
            lines.append((*scores(truth, found), best, len(found - truth), *spent))
        f1, false, best, wrong, seconds, cpu = np.array(lines).T
        print(
            f"{name}: F1 {f1.mean():.3f} ({f1.min():.3f} to {f1.max():.3f}), false "
            f"{false.mean():.4f} (at most {false.max():.3f}, {int(wrong.sum())} edges in all), "
            f"true edges tested {best.mean():.3f}, {seconds.mean():.1f} s ({cpu.mean():.1f} CPU)",
            flush=True,
        )


if __name__ == "__main__":
    main(parse())
