"""How well cheap estimates rank edges and pairs: rank correlations with fitting all weights again.

python benchmarks/exchange_estimates.py FOLDER [nltcs|msnbc|plants ...]

The folder holds debd/NAME.ts.data.gz and its valid and test parts. The network is
what five rounds of forced pruning leave.
"""

import argparse

import numpy as np
from arguments import folder_parser
from scipy.stats import spearmanr

import graftwork as gw
from graftwork.data.compact import prepare
from graftwork.grafting import Budget, Problem, graft
from graftwork.grafting.exchange import LOOK_STEPS, ExchangeContext
from graftwork.grafting.problem import Network
from graftwork.grafting.trace import RunLog, Silence
from graftwork.objectives import PseudoLikelihood
from graftwork.penalties import GroupL1
from graftwork.recipes.forced_pruning import forced_pruning
from graftwork.solvers import ProximalQuasiNewton

SIZES = {"nltcs": 45, "msnbc": 76, "plants": 127}
MOST_PAIRS = 40


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    return folder_parser(__doc__, SIZES).parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    for name in chosen.names or list(SIZES):
        sample = prepare(gw.datasets.load_debd(name, chosen.folder).train)
        problem = Problem(PseudoLikelihood(sample), GroupL1(0.0, 0.5 / sample.total_weight))
        budget = Budget(max_edges=SIZES[name])
        found = graft(problem, forced_pruning(exchange=10, rounds=5), budget=budget).potentials
        network = Network(problem.solution(found), np.ones(found.layout.size, dtype=bool))
        log = RunLog(budget, Silence())
        context = ExchangeContext(problem, problem.space, ProximalQuasiNewton(), log, SIZES[name])
        without = [context.without(network, key[None]) for key in network.active(problem.space)]
        estimates = {
            "w'Hw/2": network.solution.point.edge_spreads() / 2,
            "removal, nothing following": context.costs(network),
        }
        compare(f"{name} deletions", context, without, estimates, 1.0)
        keys = context.absent(network)
        gains = context.gains(network, keys)
        top = np.argsort(-gains, kind="stable")[:MOST_PAIRS]
        grown = [network.grow(problem, problem.space, key[None]) for key in keys[top]]
        rough = network.solution.point.pair_gains(problem.space.pairs(keys[top])) / 2
        estimates = {"quadratic gain": rough, "one-block gain": gains[top]}
        compare(f"{name} additions", context, grown, estimates, -1.0)


def compare(
    label: str, context: ExchangeContext, networks: list[Network], estimates: dict, sign: float
) -> None:
    """Print how each estimate ranks, and a short look, against the objective after a refit."""
    refitted = [sign * context.solve(each, 1e-5).solution.objective for each in networks]
    looked = [sign * context.solve(each, 0.0, LOOK_STEPS).solution.objective for each in networks]
    ranked = {**estimates, f"{LOOK_STEPS} steps of all weights": looked}
    told = (f"{what} {spearmanr(value, refitted)[0]:.3f}" for what, value in ranked.items())
    print(f"{label} ({len(networks)}): {', '.join(told)}", flush=True)


if __name__ == "__main__":
    main(parse())
