"""How much a network with drawn cells depends on random_state: its edges, and its p-values.

python benchmarks/missing_seeds.py [variables] [rows] [states] [networks] [seeds] [percent...]

With --missing impute cells are drawn and then count like observed ones.

Each network (scale-free, at most two new edges a variable) is drawn once and learned with every
seed from the same rows, of which a share of the cells is missing.
"""

import argparse
from collections import Counter

import numpy as np

import graftwork as gw

MIDDLE = np.log([1e-6, 0.05])


def holes(table, share: float, seed: int) -> object:
    """The rows with a share of their cells missing, completely at random."""
    rng = np.random.default_rng([seed, 7])
    rows = np.asarray(table).astype(object)
    rows[rng.random(rows.shape) < share] = None
    return gw.as_table(rows, names=table.names, missing="state")


def p_values(net) -> dict:
    """Logarithms of the p-values of edges and of the absent pairs that are listed (p < .05)."""
    found = {}
    for part in (net.evidence_.edges, net.evidence_.others):
        for pair, log_p in zip(part.pairs.tolist(), part.log_p.tolist(), strict=True):
            found[frozenset(pair)] = log_p
    return found


def measure(truth: set, fits: list, n_pairs: int) -> dict:
    """What the fits of one network to one set of rows say, with several seeds."""
    tests = [p_values(net) for net in fits]
    edges = [{frozenset(pair) for pair in net.evidence_.edges.pairs.tolist()} for net in fits]
    counted = Counter(pair for own in edges for pair in own)
    most = {pair for pair, times in counted.items() if 2 * times > len(fits)}
    listed = set().union(*tests)
    middle = [
        [own[pair] for own in tests]
        for pair in listed
        if all(pair in own for own in tests)
        and MIDDLE[0] < np.median([own[pair] for own in tests]) < MIDDLE[1]
    ]
    nulls = n_pairs - len(truth)
    return {
        "edges": np.mean([len(own) for own in edges]),
        "false": np.mean([len(own - truth) for own in edges]),
        "found": np.mean([len(own & truth) for own in edges]),
        "always": sum(times == len(fits) for times in counted.values()),
        "ever": len(counted),
        "false of most": len(most - truth),
        "found of most": len(most & truth),
        "below": np.mean([
            [sum(own[p] < np.log(cut) for p in own.keys() - truth) / nulls for cut in (0.05, 0.01)]
            for own in tests
        ], axis=0),
        "factors": [float(np.exp(max(own) - min(own))) for own in middle],
    }  # fmt: skip


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in (("variables", 20), ("rows", 1000), ("states", 2), ("networks", 20),
                          ("seeds", 5)):  # fmt: skip
        parser.add_argument(name, nargs="?", type=int, default=default)
    parser.add_argument("percent", nargs="*", type=float, default=[0, 5, 20])
    parser.add_argument("--missing", choices=("available-case", "impute"), default="available-case")
    return parser.parse_args(arguments)


def main(chosen: argparse.Namespace) -> None:
    n_pairs = chosen.variables * (chosen.variables - 1) // 2
    for percent in chosen.percent:
        found = []
        for k in range(chosen.networks):
            made = gw.datasets.make_scale_free(
                chosen.variables, chosen.states, n_rows=chosen.rows, random_state=k
            )
            place = {name: i for i, name in enumerate(made.data.names)}
            truth = {frozenset((place[a], place[b])) for a, b in made.model.edges}
            table = holes(made.data, percent / 100, k)
            seeds = chosen.seeds if percent else 1
            fits = [
                gw.MarkovNetwork(missing=chosen.missing, random_state=seed).fit(table)
                for seed in range(seeds)
            ]
            found.append(measure(truth, fits, n_pairs) | {"true": len(truth)})
        total = {name: sum(each[name] for each in found) for name in found[0] if name != "factors"}
        factors = [factor for each in found for factor in each["factors"]]
        below = total["below"] / len(found)
        print(
            f"{percent:g} % missing: {total['edges']:.0f} edges, {total['false']:.1f} false, "
            f"{total['found']:.1f} of {total['true']} found; of {total['ever']} edges that a seed "
            f"has, all have {total['always']}; edges of most seeds: {total['false of most']} "
            f"false, {total['found of most']} found; p-values of absent pairs below .05: "
            f"{below[0]:.3f}, below .01: {below[1]:.4f}"
        )
        if factors:
            print(
                f"    largest over smallest p-value of one pair, of {len(factors)} between 1e-6 "
                f"and .05: median {np.median(factors):.1f}, 90 % below "
                f"{np.quantile(factors, 0.9):.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main(parse())
