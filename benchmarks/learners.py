"""What the papers claim of their learners, counted on seeded networks and on Mushroom. No clocks.

python benchmarks/learners.py [penalties] [light] [priority] [induction] [annealing]

Without a name all five run, in about ten minutes on two cores. tests/slow/test_learners.py asserts
the first three on fewer networks.
"""

import sys
import warnings
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

import graftwork as gw
from graftwork.recipes import gauss_seidel, grafting, grafting_light, priority
from graftwork.reproduce.priority import mushroom_halves
from graftwork.reproduce.priority_report import PRINTED

# ---- L1 against L2 and no penalty (Lee, Ganapathi and Koller) --------------------------------

# The same strengths for L1 and L2; each network's own is chosen on validation rows.
GRID = np.geomspace(1.0, 1e-3, 10)
# With L2 or nothing every pair is an edge: "non-negligible" is a double-centred table with an entry
# above this. The true tables' entries have standard deviation 0.5.
NEGLIGIBLE = (0.0, 0.05, 0.1, 0.2)
# Without a penalty few rows are often separable and the optimum is at infinity. Stopped here, the
# weights stay finite; a smaller tolerance only makes its held-out figures worse.
UNPENALISED_TOL = 1e-3
LARGEST = 1_000


class Held(NamedTuple):
    """One network learned from few rows."""

    cmll: float
    nlpl: float
    hamming: tuple[int, ...]  # at each of NEGLIGIBLE
    edges: int
    lam: float


def by_penalty(
    seed: int, rows: int, n: int = 16, degree: float = 3.0, loss: str = "pseudolikelihood"
) -> dict[str, Held]:
    """Learn one random network from ``rows`` rows; lambda by NLPL on as many validation rows.

    No penalty has no use for validation rows: "none, 2x rows" learns from them too.
    """
    made = gw.datasets.make_bernoulli(
        n, mean_degree=degree, n_rows=2 * LARGEST, n_test=1_000, random_state=seed
    )
    train, validation = made.data[:rows], made.data[LARGEST : LARGEST + rows]
    both = made.data[np.r_[:rows, LARGEST : LARGEST + rows]]

    def fit(data: gw.Table, penalty: str, lam: float) -> gw.MarkovNetwork:
        tol = UNPENALISED_TOL if penalty == "none" else 1e-5
        return gw.MarkovNetwork("full", loss=loss, penalty=penalty, lam=lam, tol=tol).fit(data)

    def chosen(penalty: str) -> gw.MarkovNetwork:
        nets = [fit(train, penalty, lam) for lam in GRID]
        return max(nets, key=lambda net: net.score(validation))

    nets = {
        "l1": chosen("l1"),
        "l2": chosen("l2"),
        "none": fit(train, "none", 0.0),
        "none, 2x rows": fit(both, "none", 0.0),
    }
    return {name: _held(net, made) for name, net in nets.items()}


def _held(net: gw.MarkovNetwork, made: Any) -> Held:
    scores = gw.evaluate(net, made.test)
    largest = {
        (a, b): np.abs(_centred(edge["table"])).max() for a, b, edge in net.graph_.edges(data=True)
    }
    true = {frozenset(edge) for edge in made.model.edges}
    found = [{frozenset(e) for e, size in largest.items() if size > least} for least in NEGLIGIBLE]
    hamming = tuple(len(true ^ edges) for edges in found)
    return Held(scores.cmll, scores.nlpl, hamming, scores.n_edges, net.lam_)


def _centred(table: np.ndarray) -> np.ndarray:
    return table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()


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

UNITED = {
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


# ---- Gain, gradient and mutual information under belief propagation (Lee et al.) ---------------


def exact_objective(net: gw.MarkovNetwork, rows: gw.Table) -> float:
    """Exact mean negative log-likelihood plus penalty of what belief propagation learned."""
    certificate = net.certificate_
    return -net.model_.log_prob(rows).mean() + certificate.objective - certificate.loss


def print_induction() -> None:
    networks, lam = 10, 0.01
    for inference in ("bp", "exact"):
        for share in (0.5, 1.0, None):
            budget = f"{share:g} of the true number of edges" if share else "no budget"
            print(f"\nlikelihood by {inference}, {networks} networks of 16 variables, {budget}")
            found = defaultdict(list)
            for seed in range(networks):
                made = gw.datasets.make_bernoulli(16, n_rows=500, random_state=seed)
                most = round(share * made.model.n_edges) if share else None
                for method in ("gain", "grafting", "mutual-information"):
                    net = gw.MarkovNetwork(
                        method, loss="likelihood", inference=inference, penalty="l1", lam=lam,
                        tol=1e-5, max_edges=most, random_state=0,
                    ).fit(made.data)  # fmt: skip
                    scores = gw.evaluate(net, made.test, truth=made.model)
                    row = (exact_objective(net, made.data), -scores.cmll, net.objective_)
                    row += (scores.n_edges, scores.precision, net.trace_[-1].evaluations)
                    found[method].append(row)
            _print_induction({method: np.array(rows) for method, rows in found.items()})


def _print_induction(found: dict[str, np.ndarray]) -> None:
    for method, rows in found.items():
        exact, loss, own, edges, precision, evaluations = rows.mean(axis=0)
        print(
            f"  {method:19} exact objective {exact:.4f}, its own {own:.4f}; test CMLL {-loss:.4f}; "
            f"{edges:.1f} edges, precision {precision:.3f}; {evaluations:.0f} evaluations"
        )
    for better, worse in (("gain", "grafting"), ("grafting", "mutual-information")):
        apart = found[worse] - found[better]
        wins = [f"{(column > 1e-6).sum()}:{(column < -1e-6).sum()}" for column in apart.T[:2]]
        print(f"  {better} : {worse}  exact objective {wins[0]}, CMLL {wins[1]}", flush=True)


# ---- Annealing under belief propagation (Lee et al.) ------------------------------------------


def print_annealing() -> None:
    lam, wanted = 0.005, 10
    for method, penalty, rule in (
        ("best-choice", "group-l1", "path"),
        ("best-choice", "group-l1", "product"),
        ("grafting", "l1", "path"),
        ("grafting", "l1", "product"),
    ):
        options = {"loss": "likelihood", "penalty": penalty, "pair_rule": rule, "lam": lam}
        options |= {"tol": 1e-5, "random_state": 0}
        rows, seed = defaultdict(list), 0
        while len(rows["at once"]) < wanted:
            made = gw.datasets.make_bernoulli(16, n_rows=500, random_state=seed)
            seed += 1
            plain = gw.MarkovNetwork(method, inference="bp", **options).fit(made.data)
            if not plain.certificate_.n_untrusted:
                continue
            slow = gw.MarkovNetwork(method, inference="bp", anneal=8, **options).fit(made.data)
            exact = gw.MarkovNetwork(method, inference="exact", **options).fit(made.data)
            for name, net in (("at once", plain), ("anneal=8", slow), ("exact", exact)):
                rows[name].append(_health(net, made))
        print(
            f"\n{method}, {penalty}, lambda {lam}, {rule} rule: the {wanted} of the first {seed} "
            "networks of 16 variables, 500 rows,\nwhere belief propagation fails to converge in "
            "some round without annealing"
        )
        _print_annealing({name: np.array(values) for name, values in rows.items()})


def _health(net: gw.MarkovNetwork, made: Any) -> tuple[float, ...]:
    certificate = net.certificate_
    return (
        exact_objective(net, made.data),
        -gw.evaluate(net, made.test).cmll,
        certificate.n_untrusted / len(net.trace_),
        certificate.n_untrusted,
        certificate.stationarity,
        net.model_.n_edges,
        net.trace_[-1].evaluations,
    )


def _print_annealing(found: dict[str, np.ndarray]) -> None:
    for name, values in found.items():
        exact, loss, share, untrusted, residual, edges, evaluations = values.mean(axis=0)
        print(
            f"  {name:9} exact objective {exact:.4f}; test CMLL {-loss:.4f}; untrusted rounds "
            f"{untrusted:.1f} ({share:.1%}); residual {residual:.2g}; {edges:.1f} edges; "
            f"{evaluations:.0f} evaluations"
        )
    apart = found["at once"] - found["anneal=8"]
    wins = [f"{(column > 1e-6).sum()}:{(column < -1e-6).sum()}" for column in apart.T[:3]]
    print(
        f"  annealing : at once  exact objective {wins[0]}, CMLL {wins[1]}, share of untrusted "
        f"rounds {wins[2]}",
        flush=True,
    )


TABLES = {
    "penalties": print_penalties,
    "light": print_light,
    "priority": print_priority,
    "induction": print_induction,
    "annealing": print_annealing,
}


def main(*names: str) -> None:
    for name in names or TABLES:
        print(f"\n==== {name}")
        with warnings.catch_warnings():  # runs that stall under belief propagation are counted
            warnings.simplefilter("ignore", gw.ConvergenceWarning)
            TABLES[name]()


if __name__ == "__main__":
    main(*sys.argv[1:])
