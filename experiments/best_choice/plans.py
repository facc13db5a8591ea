"""What the best-choice study runs, by size: every step with its data, method and limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from experiments.best_choice.runs import Plan, Setting, Source, run
from experiments.engine import Context, Found, Size, Step

SETTINGS: tuple[Setting, ...] = ("authors", "ours")
#: The alpha of controls.
MIDDLE = "alpha 0.5"
#: The paper chose lambda for each data set from powers of ten; at .05 Jester has no edge.
REAL_LAM = 0.01
#: The authors' code adds two draws to each entry of a table.
TWICE = 2**0.5
#: The paper's grid; half of its l2 is ours.
LAMBDAS = (1.0, 0.1, 0.01, 0.001, 0.0001)
RIDGES = (0.5, 0.75, 1.0, 1.5)
#: How hubs are preferred: not at all, or by a rule and a threshold (None is the mean).
HUB_RULES = ("once", "always")
HUB_THRESHOLDS = (None, 0.01, 0.02, 0.05, 0.1)

#: From the authors' settings to ours: each is changed on top of those before, the ridge at last.
#: The likelihood's gradient is about half the pseudo-likelihood's, so that its lam is half of ours.
CHAIN: dict[str, dict[str, Any]] = {
    "lam .005": {"lam": 0.005},
    "free unaries": {"unary": False},
    "path rule": {"rule": "path"},
    "our draws": {"tests": None},
    "pseudo-likelihood": {"loss": "pseudolikelihood", "inference": "auto", "lam": 0.01},
}
#: What is changed alone.
ALONE: dict[str, tuple[Setting, dict[str, Any]]] = {
    "free unaries": ("authors", {"unary": False}),
    "path rule": ("authors", {"rule": "path"}),
    "no ridge": ("authors", {"l2": 0.0}),
    "our draws": ("authors", {"tests": None}),
    "pseudo-likelihood": ("authors", {"loss": "pseudolikelihood", "inference": "auto"}),
    "penalised unaries": ("ours", {"unary": True}),
    "ridge": ("ours", {"l2": 0.75}),
    "penalised unaries, ridge": ("ours", {"unary": True, "l2": 0.75}),
}


@dataclass(frozen=True, slots=True)
class Scale:
    """How large the experiments are.

    Attributes
    ----------
    networks : tuple of int
        Variables of the scale-free networks.
    recorded, converged, controls : int
        The networks of the recorded run, of convergence and heuristics, and of controls.
    small, grid : int
        The networks on which the authors' settings are run to full convergence, and on which lambda
        and l2 are varied.
    rows, tests : int
        Of the scale-free networks.
    widths : mapping
        Variables of the real data.
    real_rows : int
        Rows of the real data, at most.
    made : bool
        Rows with the same states are made instead of real data.
    alphas : tuple of float
    seeds : int
        Runs of each rule for hubs.
    lambdas, ridges, thresholds : tuple
        What is varied of lambda, l2 and the threshold of hubs.
    ranks : tuple of int
        Fig. 1: variables, the largest reservoir, and trials.
    budgets : mapping of (data, setting, method) to (limit, count)
        Runs that would take too long without; "" stands for every one.
    """

    networks: tuple[int, ...]
    recorded: int
    converged: int
    controls: int
    small: int
    grid: int
    rows: int
    tests: int
    widths: Mapping[str, int]
    real_rows: int
    made: bool
    alphas: tuple[float, ...]
    seeds: int
    lambdas: tuple[float, ...]
    ridges: tuple[float, ...]
    thresholds: tuple[float | None, ...]
    ranks: tuple[int, int, int]
    budgets: Mapping[tuple[str, str, str], tuple[str, int]]

    @property
    def methods(self) -> tuple[str, ...]:
        """Return all methods, best-choice first."""
        return (*(f"alpha {alpha:g}" for alpha in self.alphas), "first hit", "exhaustive")

    def network(self, n: int, edge_sd: float = 1.0) -> Source:
        """Return the rows of a scale-free network."""
        return Source("scale-free", n, edge_sd, self.rows, self.tests)

    def plan(
        self,
        source: Source,
        method: str,
        setting: Setting,
        most: int | None,
        changed: Mapping[str, Any] | None = None,
        seed: int = 0,
    ) -> Plan:
        """Return a run with its budget, if it has one."""
        data = f"n={source.variables}" if source.name == "scale-free" else source.name
        keys = ((data, setting, method), (data, setting, ""), (data, "", ""))
        budget = tuple(self.budgets[key] for key in keys if key in self.budgets)[:1]
        return Plan(source, method, setting, most, budget, tuple((changed or {}).items()), seed)


_WIDTHS = {"jester": 100, "yummly": 489}
SCALES: dict[Size, Scale] = {
    "full": Scale(
        networks=(200, 400, 600), recorded=400, converged=200, controls=200, small=60, grid=40,
        rows=19_000, tests=1_000, widths=_WIDTHS, real_rows=10**6, made=False,
        alphas=(0.0, 0.25, 0.5, 0.75, 1.0), seeds=3, lambdas=LAMBDAS, ridges=RIDGES,
        thresholds=HUB_THRESHOLDS, ranks=(400, 500, 100),
        budgets={
            ("n=600", "authors", "exhaustive"): ("max_tests", 140_000_000),
            ("n=600", "ours", "exhaustive"): ("max_evaluations", 1_000),
            ("n=600", "ours", "first hit"): ("max_evaluations", 1_500),
        },
    ),
    "quick": Scale(
        networks=(20, 40), recorded=40, converged=20, controls=40, small=12, grid=12,
        rows=2_000, tests=500, widths=_WIDTHS, real_rows=600, made=False,
        alphas=(0.0, 0.5, 1.0), seeds=2, lambdas=LAMBDAS, ridges=RIDGES,
        thresholds=HUB_THRESHOLDS[:3], ranks=(400, 500, 100),
        budgets={("yummly", "", ""): ("max_evaluations", 60)},
    ),
    "tiny": Scale(
        networks=(8, 10), recorded=10, converged=8, controls=10, small=6, grid=6,
        rows=200, tests=50, widths={"jester": 6, "yummly": 8}, real_rows=200, made=True,
        alphas=(0.0, 0.5, 1.0), seeds=1, lambdas=LAMBDAS[2:4], ridges=RIDGES[:2],
        thresholds=HUB_THRESHOLDS[:2], ranks=(40, 20, 20),
        budgets={("n=10", "ours", "exhaustive"): ("max_evaluations", 10)},
    ),
}  # fmt: skip


def steps(size: Size) -> Sequence[Step]:
    """Return the steps of a size, in order."""
    scale = SCALES[size]
    of_ranks = dict(zip(("variables", "largest", "trials"), scale.ranks, strict=True))
    words = "ranks of the best of a reservoir (Fig. 1)"
    return [
        Step("ranks", words, partial(_ranks, scale.ranks), of_ranks),
        *(_step(*named) for named in _plans(scale)),
        *(_several("hubs", *named) for named in _hubs(scale)),
        *(_several("grid", *named) for named in _grid(scale)),
    ]


def _plans(scale: Scale) -> Iterator[tuple[str, str, Plan]]:
    """Yield a family, a name within it, and a plan for every run with a step of its own."""
    for n in scale.networks:
        yield from _race("race", scale, n, 1.0, scale.methods, SETTINGS)
    n = scale.recorded
    yield from _race("code", scale, n, TWICE, scale.methods, ("authors",))
    yield from _race("code", scale, n, TWICE, (MIDDLE, "alpha 1"), ("ours",))
    yield from _controls(scale)
    source, most = scale.network(scale.converged), 3 * scale.converged
    for setting in SETTINGS:
        for method in ("alpha 0", MIDDLE, "alpha 1"):
            plan = scale.plan(source, method, setting, most, {"structure": False})
            yield "heuristics", f"{setting} {method}", plan
    for setting, n in (("authors", scale.small), ("ours", scale.converged)):
        for method in scale.methods:
            plan = scale.plan(scale.network(n), method, setting, None)
            yield "converge", f"{setting} {n} {method}", plan
    real = {name: _real_source(scale, name) for name in scale.widths}
    width = scale.widths["jester"]
    yield (
        "lambda",
        "jester authors lam .05",
        scale.plan(real["jester"], MIDDLE, "authors", 3 * width),
    )
    for name, source in real.items():
        for setting in SETTINGS:
            changed = {"lam": REAL_LAM} if setting == "authors" else {}
            for method in scale.methods:
                plan = scale.plan(source, method, setting, 3 * source.variables, changed)
                yield "real", f"{name} {setting} {method}", plan


def _real_source(scale: Scale, name: str) -> Source:
    tests = scale.tests if scale.made else scale.real_rows
    return Source(name, scale.widths[name], 1.0, scale.real_rows, tests, scale.made)


def _race(
    family: str,
    scale: Scale,
    n: int,
    edge_sd: float,
    methods: Sequence[str],
    settings: Sequence[Setting],
) -> Iterator[tuple[str, str, Plan]]:
    """Yield runs with the paper's limit of 3 n edges."""
    source = scale.network(n, edge_sd)
    for setting in settings:
        for method in methods:
            yield family, f"{setting} {n} {method}", scale.plan(source, method, setting, 3 * n)


def _controls(scale: Scale) -> Iterator[tuple[str, str, Plan]]:
    """Yield the way from the authors' settings to ours, and single changes of both."""
    source, most = scale.network(scale.controls), 3 * scale.controls
    so_far: dict[str, Any] = {}
    for name, changed in CHAIN.items():
        so_far = {**so_far, **changed}
        yield "chain", name, scale.plan(source, MIDDLE, "authors", most, so_far)
    for name, (setting, changed) in ALONE.items():
        plan = scale.plan(source, MIDDLE, setting, most, changed)
        yield "alone", f"{setting}, {name}", plan


def _hubs(scale: Scale) -> Iterator[tuple[str, str, list[Plan]]]:
    """Yield each rule for hubs with each threshold, from several seeds."""
    variants: dict[str, dict[str, Any]] = {"off": {"structure": False}}
    for rule in HUB_RULES:
        for threshold in scale.thresholds:
            name = f"{rule}, {'mean' if threshold is None else f'{threshold:g}'}"
            variants[name] = {"hubs": rule, "hub_threshold": threshold}
    source, most = scale.network(scale.converged), 3 * scale.converged
    for name, changed in variants.items():
        seeds = range(scale.seeds)
        plans = [scale.plan(source, MIDDLE, "authors", most, changed, seed) for seed in seeds]
        yield name, f"hubs {name}", plans


def _grid(scale: Scale) -> Iterator[tuple[str, str, list[Plan]]]:
    """Yield all lambdas and ridges for two methods, with the limit of 3 n edges and without."""
    source = scale.network(scale.grid)
    for method in ("exhaustive", MIDDLE):
        plans = [
            scale.plan(source, method, "authors", most, {"lam": lam, "l2": ridge / 2})
            for most in (3 * scale.grid, None)
            for lam in scale.lambdas
            for ridge in scale.ridges
        ]
        yield method, f"lambda and l2, {method}", plans


# ---- Steps -------------------------------------------------------------------------------------


def _step(family: str, name: str, plan: Plan) -> Step:
    work = partial(_run, family, name, plan)
    return Step(_key(family, name), f"{family}: {name}", work, plan.settings())


def _several(family: str, name: str, words: str, plans: Sequence[Plan]) -> Step:
    work = partial(_run_several, family, name, plans)
    settings = {"plans": [plan.settings() for plan in plans]}
    return Step(_key(family, name), words, work, settings)


def _key(family: str, name: str) -> str:
    return f"{family}-{name}".replace(", ", "-").replace(" ", "-")


def _run(family: str, name: str, plan: Plan, context: Context) -> Found:
    """Return a run; one to full convergence is not done again if no limit stopped it before."""
    before = context.before.get(_key("race", name), {}) if family == "converge" else {}
    known = before if before.get("stop") == "optimal" else run(plan, context)
    return {**known, "family": family, "name": name}


def _run_several(family: str, name: str, plans: Sequence[Plan], context: Context) -> Found:
    """Return several runs, without the rounds on their way."""
    runs = [run(plan, context) for plan in plans]
    kept = [{key: value for key, value in one.items() if key != "path"} for one in runs]
    return {"family": family, "name": name, "runs": kept}


def _ranks(sizes: tuple[int, int, int], context: Context) -> Found:
    """Return the mean, least and largest rank of the best of a reservoir, for each size of it."""
    variables, largest, trials = sizes
    rng = np.random.default_rng(context.seed)
    pairs = variables * (variables - 1) // 2
    best = np.array(
        [
            [rng.choice(pairs, size, replace=False, shuffle=False).min() + 1 for _ in range(trials)]
            for size in range(1, largest + 1)
        ]
    )
    return {
        "variables": variables,
        "pairs": pairs,
        "trials": trials,
        "mean": best.mean(axis=1).tolist(),
        "least": best.min(axis=1).tolist(),
        "largest": best.max(axis=1).tolist(),
    }
