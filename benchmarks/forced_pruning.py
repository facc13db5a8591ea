"""Test NLPL of networks with a given number of edges on standard splits, by forced pruning.

python benchmarks/forced_pruning.py FOLDER [nltcs|msnbc|plants ...]

The folder holds debd/NAME.ts.data.gz and its valid and test parts. Sizes are the Chow-Liu tree's
edges plus so many; "k" is the number of edges exchanged at once.
"""

import argparse
import time

import numpy as np
from arguments import folder_parser

import graftwork as gw

SIZES = {"nltcs": (15, 30, 60), "msnbc": (15, 30, 60), "plants": (15, 60)}
RUNS = {
    "descent": {},
    "descent, k=10, ten rounds": {"exchange": 10, "rounds": 10},
    "descent, 3 restarts": {"restarts": 3},
    "greedy, k=5, 30 rounds": {"delete": "greedy", "exchange": 5, "rounds": 30},
    "rejection, k=5, 30 rounds": {"delete": "rejection", "exchange": 5, "rounds": 30},
    "mcmc, 300 steps": {"delete": "mcmc", "exchange": 10, "rounds": 30},
}


def report(label: str, net: gw.MarkovNetwork, test: np.ndarray, started: float) -> None:
    seconds = time.perf_counter() - started
    print(
        f"{label:<34} objective {net.objective_:.5f}  test NLPL {-net.score(test):.4f}  "
        f"{net.model_.n_edges:>4} edges  {net.trace_[-1].evaluations:>5} evaluations  "
        f"{seconds:5.1f} s",
        flush=True,
    )


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    return folder_parser(__doc__, SIZES).parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    gw.MarkovNetwork("forced-pruning", max_edges=3).fit(np.eye(4, dtype=int)[[0, 1, 2, 3] * 9])
    for name in chosen.names or list(SIZES):
        parts = gw.datasets.load_debd(name, chosen.folder)
        train, test = parts.train.codes.T, parts.test.codes.T  # states as they occur
        started = time.perf_counter()
        tree = gw.MarkovNetwork("chow-liu").fit(train)
        report(f"{name} chow-liu", tree, test, started)
        for more in SIZES[name]:
            for label, options in RUNS.items():
                started = time.perf_counter()
                net = gw.MarkovNetwork(
                    "forced-pruning",
                    max_edges=tree.model_.n_edges + more,
                    method_options=options,
                    random_state=0,
                ).fit(train)
                report(f"{name} +{more} {label}", net, test, started)
                if label == "descent":
                    started = time.perf_counter()
                    tied = gw.MarkovNetwork(
                        "chow-liu",
                        method_options={"start": net},
                        tie=10,
                        max_edges=net.model_.n_edges,
                    ).fit(train)
                    report(f"{name} +{more} the same, ten values", tied, test, started)


if __name__ == "__main__":
    main(parse())
