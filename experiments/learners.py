"""What the papers claim of their learners, counted on seeded networks and on Mushroom. No clocks.

python -m experiments.learners [penalties] [light] [priority]

Without a name all three run. tests/slow/test_learners.py asserts them on fewer networks. Orders of
features and annealing under belief propagation: `python -m experiments l1-markov`.
"""

import argparse
import warnings
from typing import Any, NamedTuple

import numpy as np

import graftwork as gw
from experiments.l1_markov.penalties import NEGLIGIBLE, Held, by_penalty
from experiments.priority import mushroom_halves
from experiments.priority.report import PRINTED
from graftwork.recipes.gauss_seidel import gauss_seidel
from graftwork.recipes.grafting import grafting
from graftwork.recipes.grafting_light import grafting_light
from graftwork.recipes.priority import priority

# ---- L1 against L2 and no penalty (Lee, Ganapathi and Koller) --------------------------------


def print_penalties() -> None:
    for loss, n, degree, sizes, networks in (
        ("pseudolikelihood", 16, 3.0, (50, 100, 200, 500, 1_000), 20),
        ("pseudolikelihood", 16, 6.0, (50, 200, 1_000), 20),
        ("pseudolikelihood", 32, 4.0, (50, 200, 1_000), 10),
        ("likelihood", 12, 3.0, (50, 200, 1_000), 10),
    ):
        print(f"\n{loss}, {networks} networks of {n} binary variables, mean degree {degree:g}")
        print(
            f"{'rows':>5} {'penalty':14} {'CMLL':>9} {'L1 ahead by':>12} {'(s.e.)':>8} "
            f"{'L1 wins':>7} {'NLPL':>8} {'edges':>6}  Hamming, entries above "
            + " ".join(f"{least:g}" for least in NEGLIGIBLE)
            + "   lambda"
        )
        for rows in sizes:
            results = [by_penalty(seed, rows, n, degree, loss) for seed in range(networks)]
            for name in results[0]:
                _print_penalty(rows, name, results)


def _print_penalty(rows: int, name: str, results: list[dict[str, Held]]) -> None:
    mine = [result[name] for result in results]
    cmll = np.array([held.cmll for held in mine])
    ahead = np.array([result["l1"].cmll for result in results]) - cmll
    error = ahead.std(ddof=1) / np.sqrt(len(ahead))
    against = f"{ahead.mean():12.4f} {error:8.4f} {(ahead > 0).sum():7d}"
    hamming = np.mean([held.hamming for held in mine], axis=0)
    lams = [held.lam for held in mine]
    print(
        f"{rows:5d} {name:14} {cmll.mean():9.4f} {'' if name == 'l1' else against:29} "
        f"{np.mean([held.nlpl for held in mine]):8.3f} {np.mean([h.edges for h in mine]):6.1f}  "
        + " ".join(f"{distance:6.1f}" for distance in hamming)
        + (f"   {min(lams):.2g} to {max(lams):.2g}" if max(lams) > 0 else ""),
        flush=True,
    )


# ---- Grafting-light against grafting and Gauss-Seidel (Zhu, Lao and Xing) ---------------------

UNITED: dict[str, Any] = {
    "grafting-light": grafting_light,
    "without memory": lambda count: grafting_light(count, memory=False),
    "grafting": grafting,
    "gauss-seidel": gauss_seidel,
}


class Solved(NamedTuple):
    """One run to the optimum."""

    evaluations: int
    objective: float
    edges: int
    converged: bool


def planted_chain(seed: int) -> gw.Table:
    """Ten variables in a chain among twenty others, three states, 2,000 rows."""
    return gw.datasets.make_planted_chain(10, 20, 3, n_rows=2_000, random_state=seed).data


def by_select_unit(seed: int, unit: int, loss: str) -> dict[str, Solved]:
    """Learn a planted chain by every method that takes features ``unit`` at a time."""
    data = planted_chain(seed)
    return {name: solved(data, make(unit), loss) for name, make in UNITED.items()}


def solved(data: gw.Table, method: Any, loss: str) -> Solved:
    """Learn by L1 to the optimum."""
    net = gw.MarkovNetwork(method, loss=loss, penalty="l1", lam=0.02, random_state=0).fit(data)
    return Solved(
        net.trace_[-1].evaluations, net.objective_, net.model_.n_edges, net.certificate_.converged
    )


def print_light() -> None:
    for loss in ("pseudolikelihood", "likelihood"):
        seeds = range(3)
        print(f"\n{loss}: evaluations of the loss on {len(seeds)} planted chains, and as a ratio")
        print(f"{'M':>5} " + " ".join(f"{name:>22}" for name in UNITED))
        for unit in (1, 10, 20, 50, 110):
            runs = [by_select_unit(seed, unit, loss) for seed in seeds]
            spent = {name: sum(run[name].evaluations for run in runs) for name in UNITED}
            least = spent["grafting-light"]
            cells = (f"{count:14,d} ({count / least:5.2f})" for count in spent.values())
            print(f"{unit:5d} " + " ".join(cells), flush=True)
        if loss == "pseudolikelihood":  # a likelihood of all pairs at once has no exact inference
            everything = sum(solved(planted_chain(s), "full", loss).evaluations for s in seeds)
            print(f"everything at once (full): {everything:,d}")


# ---- Priority grafting against grafting (Chaabene and Huang, 2016) -----------------------------

MUSHROOM_ENGINES = {
    "bp, product rule": {"inference": "bp", "pair_rule": "product"},
    "bp, path rule": {"inference": "bp", "pair_rule": "path"},
    "exact": {"inference": "auto"},
}
MUSHROOM_METHODS = {
    "grafting": grafting(features=False),  # the whole table of the worst feature, as in the paper
    "priority": priority(),
    "priority, 1e-4": priority(epsilon=1e-4),
}


def learn_mushroom(
    train: gw.Table, method: Any, engine: dict[str, str], lam: float, seed: int = 0
) -> Any:
    """Learn with the paper's settings: the likelihood, L1 on all weights, unaries included."""
    changes = {"method": method, "method_options": None, "lam": lam, "random_state": seed}
    return gw.MarkovNetwork(**{**gw.preset("priority-paper"), **engine, **changes}).fit(train)


def print_priority() -> None:
    train, test = mushroom_halves()
    for engine_name, engine in MUSHROOM_ENGINES.items():
        for lam, printed in PRINTED.items():
            print(
                f"\nMushroom, {engine_name}, lambda {lam} (printed: {printed.edges} edges, nll "
                f"{printed.nll})"
            )
            baseline = None
            for name, method in MUSHROOM_METHODS.items():
                seeds = range(1 if name == "grafting" else 10)
                nets = [learn_mushroom(train, method, engine, lam, seed) for seed in seeds]
                baseline = baseline or nets[0]
                _print_mushroom(name, nets, baseline, test)


def _print_mushroom(name: str, nets: list[Any], baseline: Any, test: gw.Table) -> None:
    scored = np.array([net.trace_[-1].blocks_scored for net in nets])
    ratios = baseline.trace_[-1].blocks_scored / scored
    apart = max(gw.compare_edges(net, baseline).hamming for net in nets)
    nlpls = [-net.score(test) for net in nets]
    print(
        f"  {name:15} edges {min(n.model_.n_edges for n in nets)} to "
        f"{max(n.model_.n_edges for n in nets)}, at most {apart} unlike grafting's; objective "
        f"{min(n.objective_ for n in nets):.8f} to {max(n.objective_ for n in nets):.8f}; "
        f"test NLPL {min(nlpls):.4f} to {max(nlpls):.4f}; tables scored {scored.mean():,.0f}, "
        f"{ratios.min():.1f} to {ratios.max():.1f} times fewer; "
        f"evaluations {np.mean([n.trace_[-1].evaluations for n in nets]):.0f}",
        flush=True,
    )


TABLES = {
    "penalties": print_penalties,
    "light": print_light,
    "priority": print_priority,
}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("names", nargs="*", choices=[*TABLES, []], metavar="NAME")
    return parser.parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    for name in chosen.names or TABLES:
        print(f"\n==== {name}")
        with warnings.catch_warnings():  # runs that stall under belief propagation are counted
            warnings.simplefilter("ignore", gw.ConvergenceWarning)
            TABLES[name]()


if __name__ == "__main__":
    main(parse())
