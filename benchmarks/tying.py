"""What tied weights cost on standard splits: test NLPL for K values against the learned network.

python benchmarks/tying.py FOLDER

The folder holds debd/NAME.ts.data.gz and its valid and test parts.
"""

import argparse
import tempfile
import time
from pathlib import Path

from arguments import folder_parser

import graftwork as gw
from graftwork.data.encoded import prepare
from graftwork.grafting.tying import tie
from graftwork.objectives import PseudoLikelihood

PROBLEMS = [
    ("nltcs", 0.003, 50),
    ("nltcs", "auto", 75),
    ("msnbc", 0.001, 75),
    ("msnbc", "auto", 75),
    ("plants", 0.01, 130),
    ("plants", "auto", 130),
]
COUNTS = (5, 10, 20)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    return folder_parser(__doc__).parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    for name, lam, edges in PROBLEMS:
        parts = gw.datasets.load_debd(name, chosen.folder)
        train, test = parts.train.codes.T, parts.test.codes.T  # states as they occur
        options = {"method": "edge-grafting", "lam": lam, "max_edges": edges, "random_state": 0}
        net = gw.MarkovNetwork(**options).fit(train)
        learned, size = -net.score(test), file_size(net.model_)
        print(
            f"{name} lambda {lam}, {net.model_.n_edges} edges: NLPL {learned:.4f}, {size:,} bytes"
        )
        objective = PseudoLikelihood(prepare(gw.as_table(train)))
        for count in COUNTS:
            start = time.perf_counter()
            tying = tie(objective, net.model_.potentials, count)
            seconds = time.perf_counter() - start
            states = [net.model_.states[each] for each in net.names_]
            model = gw.PairwiseMRF.from_flat(net.names_, states, tying.potentials)
            nlpl = -model.log_pseudo_likelihood(test).mean()
            print(
                f"  {tying.n_weights} weights, {count} values: NLPL {nlpl:.4f} "
                f"({nlpl / learned - 1:+.2%}), {file_size(model):,} bytes, {seconds:.1f} s",
                flush=True,
            )


def file_size(model: gw.PairwiseMRF) -> int:
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.gw")
        return (Path(folder) / "model.gw").stat().st_size


if __name__ == "__main__":
    main(parse())
