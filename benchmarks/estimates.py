"""How far cost estimates are off: estimated over real seconds and edges, data set by data set.

python benchmarks/estimates.py FOLDER

The folder holds NAME.ts.data.gz; mushroom and scale-free networks come with the package.
"""

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from standard_splits import read

import graftwork as gw

NAMES = ("nltcs", "msnbc", "plants")
LAMBDAS = ("auto", 0.03, 0.01)


def main(folder: str) -> None:
    warnings.simplefilter("ignore")
    for name, make in problems(Path(folder)).items():
        data = make()
        gw.MarkovNetwork(lam=0.1, max_seconds=1).fit(data)  # compiled before the clock starts
        for lam in LAMBDAS:
            net = gw.MarkovNetwork(lam=lam, random_state=0)
            begun = time.perf_counter()
            cost = net.estimate(data)
            took = time.perf_counter() - begun
            begun = time.perf_counter()
            net.fit(data)
            real = time.perf_counter() - begun
            edges = max(1, net.certificate_.n_edges)
            print(
                f"{name} lambda {lam}: estimated {cost.seconds:.2f} s in {took:.2f} s, real "
                f"{real:.2f} s, ratio {cost.seconds / real:.2f}; edges {cost.expected_edges} of "
                f"{edges}, ratio {cost.expected_edges / edges:.2f}",
                flush=True,
            )


def problems(folder: Path) -> dict[str, Callable[[], Any]]:
    def drawn(n: int, rows: int) -> Callable[[], Any]:
        return lambda: gw.datasets.make_scale_free(n, n_rows=rows, n_test=0, random_state=0).data

    return {
        "mushroom": gw.datasets.load_mushroom,
        **{name: lambda name=name: read(folder / f"{name}.ts.data.gz") for name in NAMES},
        "scale-free 50": drawn(50, 5_000),
        "scale-free 200": drawn(200, 5_000),
    }


if __name__ == "__main__":
    main(sys.argv[1])
