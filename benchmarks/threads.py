"""What more threads bring: wall seconds of the same work on 1, 2, 4, ... cores of this machine.

    python benchmarks/threads.py [--most THREADS] [--quick]

Scale-free Potts networks of five states, as in `make bench`: all pair tables, one fit at a given
lambda, lam="auto" with its tests, the likelihood by belief propagation; and a chain CRF. Results do
not depend on the number of threads; the best of three runs counts. Run it with nothing else going
on: what other work takes from a core is missing here.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from arguments import parser_of

import graftwork as gw
from graftwork.data.counts import PairCounts

RUNS = 3
LAM = 0.01


def tasks(quick: bool) -> dict[str, Callable[[int], Any]]:
    """Return what is timed, by name: functions of the number of threads."""
    variables, rows = (40, 2_000) if quick else (200, 19_000)
    model = gw.datasets.scale_free_network(
        variables, 5, centred=True, edge_sd=0.7, random_state=301
    )
    table = gw.datasets.draw(model, rows, n_test=0, method="gibbs", random_state=301).data
    pairs = np.stack(np.triu_indices(variables, 1), axis=1)
    chains = gw.datasets.labelled_chains(
        100 if quick else 3_000, 8, 100 if quick else 1_000, 10 if quick else 100, random_state=0
    )

    def fit(jobs: int, **settings: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gw.MarkovNetwork(n_jobs=jobs, random_state=0, **settings).fit(table)

    likelihood = {"loss": "likelihood", "inference": "bp", "l2": 0.01, "max_edges": variables}
    return {
        "all pair tables": lambda jobs: PairCounts(table.codes, table.cards, n_jobs=jobs).compute(
            pairs
        ),
        f"lam={LAM}": lambda jobs: fit(jobs, lam=LAM),
        'lam="auto"': lambda jobs: fit(jobs),
        "likelihood by belief propagation": lambda jobs: fit(jobs, lam=LAM, **likelihood),
        "chain CRF": lambda jobs: gw.ChainCRF(lam=0.02, n_jobs=jobs).fit(chains.X, chains.y),
    }


def best(work: Callable[[int], Any], jobs: int) -> float:
    """Return the least wall seconds of a few runs, after one that compiles."""
    work(jobs)
    seconds = []
    for _ in range(RUNS):
        began = time.perf_counter()
        work(jobs)
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--most", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    """Print a table."""
    counts = [1]
    while 2 * counts[-1] <= chosen.most:
        counts.append(2 * counts[-1])
    print(f"{'seconds on so many threads':34}" + "".join(f"{count:>16}" for count in counts))
    for name, work in tasks(chosen.quick).items():
        seconds = [best(work, count) for count in counts]
        cells = [f"{each:8.3f} ({seconds[0] / each:4.2f}x)" for each in seconds]
        print(f"{name:34}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


if __name__ == "__main__":
    main(parse())
