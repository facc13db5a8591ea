"""Chow-Liu trees of many variables: seconds and memory. Run: python benchmarks/trees.py."""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from arguments import parser_of

import graftwork as gw


def grown(n: int, states: int, rows: int) -> np.ndarray:
    """Return rows in which half of each variable's values are those of an earlier one."""
    rng = np.random.default_rng(0)
    codes = np.zeros((n, rows), dtype=np.uint8)
    for i in range(n):
        fresh = rng.integers(0, states, rows)
        codes[i] = np.where(rng.random(rows) < 0.5, codes[rng.integers(0, max(i, 1))], fresh)
    return codes.T


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    return parser_of(__doc__).parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    """Print a line for each size and loss."""
    for n, states, rows in ((2000, 2, 5000), (2000, 5, 5000), (5000, 2, 2000)):
        data = grown(n, states, rows)
        for loss in ("pseudolikelihood", "likelihood"):
            gw.MarkovNetwork("chow-liu", loss=loss).fit(data[:, :6])  # compiles
            began = time.perf_counter()
            net = gw.MarkovNetwork("chow-liu", loss=loss).fit(data)
            seconds = time.perf_counter() - began
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            print(
                f"{n} variables of {states} states, {rows} rows, {loss}: {seconds:.1f} s, "
                f"{net.model_.n_edges} edges, {net.trace_[-1].evaluations} evaluations, "
                f"at most {memory:.2f} GiB so far",
                flush=True,
            )


if __name__ == "__main__":
    main(parse())
