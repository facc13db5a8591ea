"""How fast Gibbs sampling and belief propagation go: updates a second, microseconds a sweep.

Run with ``python benchmarks/inference_speed.py`` (half a minute). Times are CPU seconds, the least
of several runs; for two threads, the time on the clock as well.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from arguments import parser_of

from graftwork.datasets import scale_free_network
from graftwork.inference import Potentials
from graftwork.inference.messages import Tables, attempt, ready, warm_messages
from graftwork.inference.sampling import gibbs_sample
from graftwork.inference.wiring import wire


def least(action: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Return the least CPU seconds, and the least seconds on the clock, of several runs."""
    action()
    cpu, clock = [], []
    for _ in range(repeats):
        start, begun = time.process_time(), time.perf_counter()
        action()
        cpu.append(time.process_time() - start)
        clock.append(time.perf_counter() - begun)
    return min(cpu), min(clock)


def gibbs_updates(
    potentials: Potentials, chains: int, sweeps: int, n_jobs: int, repeats: int = 5
) -> tuple[float, float]:
    """Return single-site updates a CPU second, and a second on the clock."""

    def run() -> None:
        rng = np.random.default_rng(0)
        gibbs_sample(potentials, chains, rng, sweeps - 1, 1, chains, n_jobs)

    updates = potentials.layout.n_variables * chains * sweeps
    cpu, clock = least(run, repeats)
    return updates / cpu, updates / clock


def sweep_seconds(
    potentials: Potentials, tables: Tables, sweeps: int = 100, repeats: int = 20
) -> float:
    """Return the CPU seconds of one sweep of belief propagation."""
    layout = potentials.layout
    start = warm_messages(layout, wire(layout), None)
    # A tolerance below zero is never met.
    short, long = (
        least(lambda count=count: attempt(layout, tables, start, count, -1.0, 0.0), repeats)[0]
        for count in (10, 10 + sweeps)
    )
    return (long - short) / sweeps


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    return parser_of(__doc__).parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    potentials = scale_free_network(200, 5, centred=True, random_state=0).potentials
    print(f"{potentials.layout.n_variables} variables, {potentials.layout.n_edges} edges, 5 states")
    for n_jobs in (1, 2):
        for chains in (64, 256, 1024):
            cpu, clock = gibbs_updates(potentials, chains, 256_000 // chains, n_jobs)
            print(
                f"Gibbs, {chains:5,} chains, {n_jobs} threads: {cpu / 1e6:5.0f} million updates"
                f" a CPU second, {clock / 1e6:5.0f} a second"
            )
    tables = ready(potentials)
    for name, given in (("numbers", tables), ("logarithms", replace(tables, linear=None))):
        took = sweep_seconds(potentials, given)
        print(f"belief propagation in {name}: {took * 1e6:.1f} microseconds a sweep")


if __name__ == "__main__":
    main(parse())
