"""Test NLPL on standard splits at given lambdas, fully converged.

python benchmarks/standard_splits.py FOLDER

The folder holds debd/NAME.ts.data.gz and its valid and test parts.
"""

import argparse
import time

from arguments import folder_parser

import graftwork as gw

PROBLEMS = [("nltcs", 1e-5), ("msnbc", 1e-5), ("plants", 10**-2.5), ("plants", 1e-3)]


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    return folder_parser(__doc__).parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    for name, lam in PROBLEMS:
        parts = gw.datasets.load_debd(name, chosen.folder)
        train, test = parts.train.codes.T, parts.test.codes.T  # states as they occur
        start = time.perf_counter()
        net = gw.MarkovNetwork(lam=lam, random_state=0).fit(train)
        seconds = time.perf_counter() - start
        print(
            f"{name} lambda {lam:.4g}: test NLPL {-net.score(test):.4f}, "
            f"{net.model_.n_edges} edges, converged {net.certificate_.converged}, {seconds:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main(parse())
