"""Edges found where a tenth of the cells is missing: all rows, complete rows, or all cells known.

python benchmarks/missing.py [variables] [rows] [percent missing] [first seed] [seeds] [lambdas]

With a number of lambdas, also the best F1 over a grid of so many.
"""

import argparse
import time
import warnings

import networkx as nx
import numpy as np
from arguments import numbers_parser

import graftwork as gw
from graftwork.errors import DataWarning
from graftwork.inference.sampling import gibbs_sample


def f1(truth: set, found: set) -> float:
    return 2 * len(truth & found) / max(1, len(truth) + len(found))


def edges_of(model) -> set:
    return {frozenset(edge) for edge in model.edges}


def best_f1(rows, policy: str, truth: set, lambdas: int) -> str:
    """The best F1 over a grid of lambdas, and the lambda."""
    scores = []
    for lam in np.geomspace(0.04, 0.004, lambdas):
        net = gw.MarkovNetwork(lam=lam, missing=policy, tol=0.02 * lam, random_state=0).fit(rows)
        scores.append((f1(truth, edges_of(net.model_)), float(lam)))
    return "; best F1 {:.3f} at {:.4f}".format(*max(scores)) if scores else ""


def describe(truth: set, found: set) -> str:
    """How many edges are false, and how many of these join two neighbours of one variable."""
    graph = nx.Graph([tuple(edge) for edge in truth])
    false = found - truth
    near = sum(len(list(nx.common_neighbors(graph, *edge))) > 0 for edge in false
               if all(end in graph for end in edge))  # fmt: skip
    possible = sum(
        not graph.has_edge(a, b) and len(list(nx.common_neighbors(graph, a, b))) > 0
        for a in graph
        for b in graph
        if a < b
    )
    pairs = len(graph) * (len(graph) - 1) // 2 - len(truth)
    share = possible / max(1, pairs)
    return f"{len(false)} false, {near} at two neighbours of one ({share:.0%} of pairs are)"


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = numbers_parser(
        __doc__, variables=50, rows=5000, percent=10, first=201, seeds=2, lambdas=0
    )
    return parser.parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    warnings.simplefilter("ignore", DataWarning)
    rows = chosen.rows
    for seed in range(chosen.first, chosen.first + chosen.seeds):
        model = gw.datasets.scale_free_network(chosen.variables, 5, centred=True, random_state=seed)
        rng = np.random.default_rng(seed)
        codes = gibbs_sample(model.potentials, rows, rng, burn_in=500, n_chains=256, n_jobs=2)
        whole = codes.T.astype(float)
        holes = np.where(rng.random(whole.shape) < chosen.percent / 100, np.nan, whole)
        truth = edges_of(model)
        complete = int((~np.isnan(holes)).all(axis=1).sum())
        print(f"seed {seed}: {len(truth)} edges, {complete} of {rows} rows are complete")
        cases = {
            "nothing missing": (whole, "error"),
            "available-case": (holes, "available-case"),
            "impute": (holes, "impute"),
            "drop-rows": (holes, "drop-rows"),
            "state": (holes, "state"),
        }
        for name, (data, policy) in cases.items():
            start = time.perf_counter()
            try:
                net = gw.MarkovNetwork(missing=policy, random_state=0).fit(data)
            except gw.DataError as error:
                print(f"  {name:16} {str(error)[:80]}")
                continue
            seconds = time.perf_counter() - start
            found = edges_of(net.model_)
            print(
                f"  {name:16} auto F1 {f1(truth, found):.3f} ({len(found)} edges, "
                f"{describe(truth, found)}), {seconds:.1f} s"
                f"{best_f1(data, policy, truth, chosen.lambdas)}",
                flush=True,
            )


if __name__ == "__main__":
    main(parse())
