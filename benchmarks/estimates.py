"""How far cost estimates are off: estimated over real seconds and edges, data set by data set.

python benchmarks/estimates.py FOLDER [WORD ...]

The folder holds debd/NAME.ts.data.gz and its valid and test parts; mushroom and scale-free networks
come with the package. Words select among the cases: those whose line has all of them. Everything is
on one thread and in seconds of its own processor time, so other work on the machine does not
matter.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from arguments import folder_parser

import graftwork as gw
from graftwork.tuning import timing

NAMES = ("nltcs", "msnbc", "plants")
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"goal": "prediction"},
    {"goal": "prediction", "criterion": "hold-out"},
    {"criterion": "ebic"},
    {"criterion": "ebic-refit"},
    {"criterion": "stars"},
    {"criterion": "adaptive"},
    {"lam": 0.03},
    {"lam": 0.01},
)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = folder_parser(__doc__)
    parser.add_argument("words", nargs="*", metavar="WORD")
    return parser.parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    warnings.simplefilter("ignore")
    timing.time = SimpleNamespace(perf_counter=time.process_time)
    warm = gw.datasets.make_scale_free(6, n_rows=500, n_test=0, random_state=0).data
    for goal in ("structure", "prediction"):  # compiled before the clock starts
        gw.MarkovNetwork(goal=goal, n_jobs=1).fit(warm)
    for name, make in problems(chosen.folder).items():
        for setting in SETTINGS:
            said = ", ".join(f"{key} {value}" for key, value in setting.items()) or "auto"
            label = f"{name}, {said}"
            if all(word in label for word in chosen.words):
                print(label + ": " + compare(make(), setting), flush=True)


def compare(data: Any, setting: dict[str, Any]) -> str:
    """Return estimated and real processor time and edges, in words."""
    net = gw.MarkovNetwork(**setting, random_state=0, n_jobs=1)
    begun = time.process_time()
    cost = net.estimate(data)
    took = time.process_time() - begun
    begun = time.process_time()
    net.fit(data)
    real = time.process_time() - begun
    edges = max(1, net.certificate_.n_edges)
    return (
        f"estimated {cost.seconds:.2f} s in {took:.2f} s, real {real:.2f} s, ratio "
        f"{cost.seconds / real:.2f}; edges {cost.expected_edges} of {edges}, ratio "
        f"{cost.expected_edges / edges:.2f}"
    )


def problems(folder: str) -> dict[str, Callable[[], Any]]:
    def drawn(n: int, rows: int, centred: bool = False) -> Callable[[], Any]:
        def make() -> Any:
            model = gw.datasets.scale_free_network(n, centred=centred, random_state=0)
            return gw.datasets.draw(model, rows, n_test=0, random_state=0).data

        return make

    return {
        "mushroom": gw.datasets.load_mushroom,
        **{name: lambda name=name: gw.datasets.load_debd(name, folder).train for name in NAMES},
        "scale-free 50": drawn(50, 5_000),
        "centred scale-free 50": drawn(50, 5_000, centred=True),
        "scale-free 200": drawn(200, 5_000),
    }


if __name__ == "__main__":
    main(parse())
