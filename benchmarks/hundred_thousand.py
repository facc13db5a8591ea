"""100,000 binary variables: when the first round ends, how long 50 edges take, peak memory.

python benchmarks/hundred_thousand.py [variables] [rows] [edges]
"""

import argparse
import resource
import time

import numpy as np
from arguments import numbers_parser

import graftwork as gw


class FirstRound:
    """Notes when the first edges are in."""

    seconds = None

    def on_stage(self, text, step, steps):
        pass

    def on_round(self, record):
        if self.seconds is None and record.edges:
            self.seconds = record.seconds

    def on_network(self, potentials):
        pass

    def on_search(self, tested, total):
        pass


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = numbers_parser(__doc__, variables=100_000, rows=500, edges=50)
    return parser.parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    n, rows, edges = chosen.variables, chosen.rows, chosen.edges
    rng = np.random.default_rng(0)
    data = rng.integers(0, 2, (rows, n), dtype=np.int8)
    for i in range(0, n, 2):  # every second variable copies the one before, with noise
        data[:, i + 1] = data[:, i] ^ (rng.random(rows) < 0.2)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    observer = FirstRound()
    start = time.perf_counter()
    net = gw.MarkovNetwork(lam=0.1, max_edges=edges, random_state=0, verbose=observer).fit(data)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    last = net.trace_[-1]
    print(f"{n:,} variables, {rows} rows, {n * (n - 1) // 2:,} pairs")
    print(f"first edges after {observer.seconds:.1f} s of learning; all of fit {seconds:.1f} s")
    print(
        f"{net.model_.n_edges} edges, {last.blocks_scored:,} scores, {last.tables_counted:,} tables"
    )
    print(f"peak memory {peak:.2f} GiB ({held:.2f} before fit)")
    print(gw.describe(net.certificate_))


if __name__ == "__main__":
    main(parse())
