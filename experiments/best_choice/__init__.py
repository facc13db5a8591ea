"""Best-choice edge grafting: reservoir ranks, alphas, heuristics, Jester, Yummly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from experiments.best_choice.claims import claims, run_lines
from experiments.best_choice.figures import figures
from experiments.best_choice.runs import OUR_LAM, Plan, Setting, Source, run
from experiments.engine import Context, Found, Report, Size, Step, Study

PAPER = (
    "Chaabene and Huang, Best-choice edge grafting for efficient structure learning of Markov "
    "random fields (2017)"
)
SETTINGS: tuple[Setting, ...] = ("authors", "ours")
#: The alpha of controls.
MIDDLE = "alpha 0.5"
#: The paper chose lambda for each data set from powers of ten; at .05 Jester has no edge.
REAL_LAM = 0.01
#: Runs to full convergence may take so many times as long as others.
PATIENCE = 5.0
#: The authors' code adds two draws to each entry of a table.
TWICE = 2**0.5

#: From the authors' settings to ours: each is changed on top of those before, the ridge at last.
#: The likelihood's gradient is about half the pseudo-likelihood's, so that its lam is half of ours.
CHAIN: dict[str, dict[str, Any]] = {
    "lam .005": {"lam": 0.005},
    "free unaries": {"unary": False},
    "path rule": {"rule": "path"},
    "our draws": {"tests": None},
    "pseudo-likelihood": {"loss": "pseudolikelihood", "inference": "auto", "lam": OUR_LAM},
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
    caps : dict of int to float
        Seconds that a run may take at most, by the number of variables: these are the networks.
    recorded, converged, controls : int
        The networks of the recorded run, of convergence and heuristics, and of controls.
    small : int
        The network on which the authors' settings are run to full convergence.
    rows, tests : int
        Of the scale-free networks.
    real_rows : int
        Rows of Jester and Yummly, at most.
    real_cap : float
        Seconds for a run on them.
    alphas : tuple of float
    """

    caps: dict[int, float]
    recorded: int
    converged: int
    controls: int
    small: int
    rows: int
    tests: int
    real_rows: int
    real_cap: float
    alphas: tuple[float, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        """Return all methods, best-choice first."""
        return (*(f"alpha {alpha:g}" for alpha in self.alphas), "first hit", "exhaustive")


SCALES: dict[Size, Scale] = {
    "full": Scale(
        {200: 60.0, 400: 300.0, 600: 300.0}, 400, 200, 200, 60, 19_000, 1_000, 10**6, 30.0,
        (0.0, 0.25, 0.5, 0.75, 1.0),
    ),
    "quick": Scale({20: 5.0, 40: 5.0}, 40, 20, 40, 12, 2_000, 500, 600, 1.0, (0.0, 0.5, 1.0)),
}  # fmt: skip

#: Fig. 1: variables, the largest reservoir, and trials.
RANKS = (400, 500, 100)


def steps(size: Size) -> Sequence[Step]:
    """Return the steps of a size, in order."""
    scale = SCALES[size]
    variables, largest, trials = RANKS
    settings = {"variables": variables, "largest": largest, "trials": trials}
    return [
        Step("ranks", "ranks of the best of a reservoir (Fig. 1)", _ranks, settings),
        *(_step(*named) for named in _plans(scale)),
    ]


def _plans(scale: Scale) -> Iterator[tuple[str, str, Plan]]:
    """Yield a family, a name within it, and a plan for every run."""
    for n in scale.caps:
        yield from _race("race", scale, n, 1.0, scale.methods, SETTINGS)
    n = scale.recorded
    yield from _race("code", scale, n, TWICE, scale.methods, ("authors",))
    yield from _race("code", scale, n, TWICE, (MIDDLE, "alpha 1"), ("ours",))
    yield from _controls(scale)
    for setting in SETTINGS:
        for method in ("alpha 0", MIDDLE, "alpha 1"):
            plan = _plan(scale, scale.converged, 1.0, method, setting, {"structure": False})
            yield "heuristics", f"{setting} {method}", plan
    yield from _convergence(scale, "authors", scale.small, 1.0)
    yield from _convergence(scale, "ours", scale.converged, PATIENCE)
    source = Source("jester", rows=scale.real_rows, tests=scale.real_rows)
    plan = Plan(source, MIDDLE, "authors", 300, scale.real_cap)
    yield "lambda", "jester authors lam .05", plan
    for name, width in (("jester", 100), ("yummly", 489)):
        yield from _real(scale, name, 3 * width)


def _controls(scale: Scale) -> Iterator[tuple[str, str, Plan]]:
    """Yield the way from the authors' settings to ours, and single changes of both."""
    so_far: dict[str, Any] = {}
    for name, changed in CHAIN.items():
        so_far = {**so_far, **changed}
        yield "chain", name, _plan(scale, scale.controls, 1.0, MIDDLE, "authors", so_far)
    for name, (setting, changed) in ALONE.items():
        plan = _plan(scale, scale.controls, 1.0, MIDDLE, setting, changed)
        yield "alone", f"{setting}, {name}", plan


def _convergence(
    scale: Scale, setting: Setting, n: int, patience: float
) -> Iterator[tuple[str, str, Plan]]:
    source = Source("scale-free", n, 1.0, scale.rows, scale.tests)
    for method in scale.methods:
        plan = Plan(source, method, setting, None, patience * scale.caps[scale.converged])
        yield "converge", f"{setting} {n} {method}", plan


def _real(scale: Scale, name: str, most: int) -> Iterator[tuple[str, str, Plan]]:
    source = Source(name, rows=scale.real_rows, tests=scale.real_rows)
    for setting in SETTINGS:
        changed = (("lam", REAL_LAM),) if setting == "authors" else ()
        for method in scale.methods:
            plan = Plan(source, method, setting, most, scale.real_cap, changed)
            yield "real", f"{name} {setting} {method}", plan


def _race(
    family: str,
    scale: Scale,
    n: int,
    edge_sd: float,
    methods: Sequence[str],
    settings: Sequence[Setting],
) -> Iterator[tuple[str, str, Plan]]:
    for setting in settings:
        for method in methods:
            yield family, f"{setting} {n} {method}", _plan(scale, n, edge_sd, method, setting)


def _plan(
    scale: Scale,
    n: int,
    edge_sd: float,
    method: str,
    setting: Setting,
    changed: dict[str, Any] | None = None,
) -> Plan:
    """Return a run with the paper's budget of 3 n edges, on so many variables."""
    source = Source("scale-free", n, edge_sd, scale.rows, scale.tests)
    return Plan(source, method, setting, 3 * n, scale.caps[n], tuple((changed or {}).items()))


def _step(family: str, name: str, plan: Plan) -> Step:
    work = partial(_run, family, name, plan)
    return Step(_key(family, name), f"{family}: {name}", work, asdict(plan))


def _key(family: str, name: str) -> str:
    return f"{family}-{name}".replace(", ", "-").replace(" ", "-")


def _run(family: str, name: str, plan: Plan, context: Context) -> Found:
    """Return a run; one to full convergence is not done again if no limit stopped it before."""
    before = context.before.get(_key("race", name), {}) if family == "converge" else {}
    known = before if before.get("stop") == "optimal" else run(plan, context)
    return {**known, "family": family, "name": name}


def _ranks(context: Context) -> Found:
    """Return the mean, least and largest rank of the best of a reservoir, for each size of it."""
    variables, largest, trials = RANKS
    rng = np.random.default_rng(context.seed)
    pairs = variables * (variables - 1) // 2
    best = np.array(
        [
            [rng.choice(pairs, size, replace=False, shuffle=False).min() + 1 for _ in range(trials)]
            for size in range(1, largest + 1)
        ]
    )
    return {
        "pairs": pairs,
        "trials": trials,
        "mean": best.mean(axis=1).tolist(),
        "least": best.min(axis=1).tolist(),
        "largest": best.max(axis=1).tolist(),
    }


def report(found: Mapping[str, Found]) -> Report:
    """Return claims, a table of all runs and figures."""
    return Report(claims(found), {"runs": run_lines(found)}, figures(found))


STUDY = Study("best-choice", PAPER, steps, report, ("jester", "yummly"))
