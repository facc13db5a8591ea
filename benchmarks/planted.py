"""Planted scale-free networks, no tuning: F1 of the edges and seconds.

python benchmarks/planted.py [variables] [rows] [first seed] [seeds]
"""

import sys
import time

import numpy as np

import graftwork as gw
from graftwork.inference.sampling import gibbs_sample


def main(n: int = 200, rows: int = 19_000, first: int = 201, seeds: int = 2) -> None:
    gw.MarkovNetwork().fit(np.random.default_rng(0).integers(0, 5, (300, 6)))  # compile
    for seed in range(first, first + seeds):
        model = gw.datasets.scale_free_network(n, 5, random_state=seed)
        rng = np.random.default_rng(seed)
        codes = gibbs_sample(model.potentials, rows, rng, burn_in=500, n_chains=256, n_jobs=2)
        start = time.perf_counter()
        net = gw.MarkovNetwork(random_state=0).fit(codes.T)
        seconds = time.perf_counter() - start
        truth, found = ({frozenset(edge) for edge in m.edges} for m in (model, net.model_))
        hits = len(truth & found)
        print(
            f"seed {seed}: F1 {2 * hits / (len(truth) + len(found)):.3f} "
            f"(precision {hits / max(1, len(found)):.3f}, recall {hits / len(truth):.3f}), "
            f"{seconds:.0f} s"
        )


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
