"""Priority grafting on the mushroom data (Chaabene and Huang, 2016)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from experiments.engine import Context, Found, Size, Step, Study
from experiments.engine.observers import Searches, timed
from experiments.priority.ablation import ablation_steps, tests_of
from experiments.priority.claims import NAMES, PRINTED, report
from graftwork.data import Table
from graftwork.datasets import load_mushroom
from graftwork.errors import ConvergenceWarning
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.parts import make_recipe
from graftwork.estimators.presets import preset
from graftwork.parameters import joined

LAMS = (0.7, 0.6)
#: How many orders of the queue are tried.
SEEDS: dict[Size, int] = {"full": 10, "quick": 3, "tiny": 1}
#: Accuracies a run is solved to, from very loose to strict.
ACCURACIES: dict[Size, tuple[float, ...]] = {
    "full": tuple(float(f"{tol:.3g}") for tol in np.geomspace(0.1, 1e-4, 19)),
    "quick": (0.1, 0.03, 0.02, 0.015, 0.01, 0.001),
    "tiny": (0.1, 0.01),
}
EPSILONS: dict[Size, tuple[float, ...]] = {
    "full": (0.0, 1e-4, 1e-2, 1e-1), "quick": (0.0, 1e-4, 1e-2, 1e-1), "tiny": (1e-4, 1e-1),
}  # fmt: skip
#: Rows of either half in the tables of tiny studies.
TINY_ROWS = 200
#: Not in the paper: pairs that were tested wait until all others had their turn.
TURNS = {"order": "turns"}
GRAFTING: dict[str, Any] = {"method": "grafting", "method_options": {"features": False}}
RULES: dict[str, dict[str, Any]] = {
    "bp, path rule": {"inference": "bp"},
    "exact inference": {"inference": "exact"},
}

Halves = tuple[Table, Table]


def mushroom_halves(order: int | None = None) -> Halves:
    """Return the mushroom data in two halves, in file order or shuffled by a seed.

    Stalk-root has seven states here, as in the file, where one is "missing": only then the states
    are those behind the printed values.

    Examples
    --------
    >>> mushroom_halves()[0]
    Table: 2822 rows x 23 variables, 2 to 12 states
    """
    table = load_mushroom()
    states = tuple(
        (*listed, "?") if name == "stalk-root" else listed
        for name, listed in zip(table.names, table.states, strict=True)
    )
    table = Table(table.names, states, table.codes)
    if order is not None:
        table = table[np.random.default_rng(order).permutation(len(table))]
    middle = len(table) // 2
    return table[:middle], table[middle:]


def grafting_settings() -> dict[str, Any]:
    """Return what the paper compares with: the whole table of the worst feature, to convergence.

    Examples
    --------
    >>> grafting_settings()["method"]
    'grafting'
    """
    return {**preset("priority-paper"), **GRAFTING}


def learn(halves: Halves, settings: Mapping[str, Any], context: Context, seed: int = 0) -> Found:
    """Return what is learned from one half, with its negative log pseudo-likelihood on the other.

    ``seed`` is that of the order in which pairs are looked at.
    """
    options, searches = dict(settings), Searches()
    if "method" in options:
        recipe = make_recipe(options.pop("method"), options.pop("method_options", {}))
        options["method"], searches = timed(recipe)
    net = MarkovNetwork(
        **options, random_state=context.seed + seed, n_jobs=context.n_jobs, verbose=context.observer
    )
    with warnings.catch_warnings():  # whether it converged is part of what is found
        warnings.simplefilter("ignore", ConvergenceWarning)
        net.fit(halves[0])
    strengths = net.graph_.edges(data="strength")
    return {
        "edges": sorted([*sorted((str(a), str(b))), float(s)] for a, b, s in strengths),
        "nll": -net.score(halves[1]),
        "train_nll": -net.score(halves[0]),
        "objective": net.objective_,
        "violation": net.certificate_.max_violation,
        "certified": bool(net.certificate_.converged),
        **tests_of(searches),
        "selection_tests": searches.mean_tests(),
        "selection_ms": searches.mean_ms(),
        "tests_by_edges": [[record.edges, record.blocks_scored] for record in net.trace_],
    }


def _compile(halves: Halves, settings: Mapping[str, Any], context: Context) -> None:
    """Use once what is compiled when first used, so that it is not timed."""
    learn(halves, {**settings, "max_edges": 8}, context)


def _many(settings: Mapping[str, Any], seeds: int, context: Context) -> Found:
    halves = mushroom_halves()
    _compile(halves, settings, context)
    return {"runs": [learn(halves, settings, context, seed) for seed in range(seeds)]}


def _both(settings: Mapping[str, Any], seeds: int, context: Context) -> Found:
    """Grafting, and priority grafting from several orders, with these settings."""
    halves = mushroom_halves()
    paper = {**preset("priority-paper"), **settings}
    _compile(halves, paper, context)
    return {
        "grafting": learn(halves, {**paper, **GRAFTING}, context),
        "priority": [learn(halves, paper, context, seed) for seed in range(seeds)],
    }


@dataclass(frozen=True)
class Variant:
    """A line of a table: what it says of itself, settings, and which halves.

    Halves are in file order (None), that order the other way round (-1), or shuffled by a seed.
    """

    about: Mapping[str, Any]
    settings: Mapping[str, Any]
    order: int | None = None

    def line(self, context: Context) -> Found:
        """Return the line."""
        if self.order == -1:
            halves = mushroom_halves()[::-1]
        else:
            halves = mushroom_halves(None if self.order is None else context.seed + self.order)
        if context.size == "tiny":
            halves = halves[0][:TINY_ROWS], halves[1][:TINY_ROWS]
        return {**self.about, **_short(learn(halves, self.settings, context))}


def _lines(variants: Sequence[Variant], context: Context) -> Found:
    return {"lines": [variant.line(context) for variant in variants]}


def _table(key: str, words: str, variants: Sequence[Variant]) -> Step:
    settings = {"variants": [asdict(variant) for variant in variants]}
    return Step(key, words, partial(_lines, variants), settings)


def _short(found: Found) -> Found:
    """What a line of a table says of a run."""
    return {
        "edges": len(found["edges"]),
        **{name: found[name] for name in ("nll", "train_nll", "objective", "tests", "certified")},
    }


def _capped(lam: float, edges: int, context: Context) -> Found:
    """Grafting that stops at the printed number of edges."""
    settings = {**grafting_settings(), "lam": lam, "max_edges": edges}
    return _short(learn(mushroom_halves(), settings, context))


def _baselines(context: Context) -> Found:
    """The uniform model, and independent variables, on either kind of halves."""
    alone: dict[str, Any] = {"knowledge": {"candidates": []}, "lam": 1.0}
    uniform = float(np.log(mushroom_halves()[0].cards).sum())
    return {
        "uniform": uniform,
        "independent, file order": learn(mushroom_halves(), alone, context)["nll"],
        "independent, random halves": learn(mushroom_halves(context.seed), alone, context)["nll"],
    }


def _side_by_side(size: Size) -> list[Variant]:
    """The paper's settings and ours, one change after the other, on both kinds of halves."""
    paper = preset("priority-paper")
    free = {**paper, "penalty_options": {"unary": False}}
    changes: dict[str, dict[str, Any]] = {
        "as the paper, lambda 0.7": paper,
        "the same, unaries free": free,
        "unaries free, lambda 0.1": {**free, "lam": 0.1},
        "priority, pseudo-likelihood, lambda 0.02": {"method": "priority", "lam": 0.02},
        "our defaults": {},
    }
    kinds: dict[str, int | None] = {"file order": None, "random halves": 0}
    if size != "full":
        del changes["unaries free, lambda 0.1"]
    if size == "tiny":
        del kinds["file order"]
    return [
        Variant({"settings": name, "halves": halves}, settings, order)
        for halves, order in kinds.items()
        for name, settings in changes.items()
    ]


def _steps_at(lam: float, size: Size) -> Iterator[Step]:
    seeds, edges = SEEDS[size], PRINTED[lam].edges
    paper, grafting = {**preset("priority-paper"), "lam": lam}, {**grafting_settings(), "lam": lam}
    for name, settings, count in (
        ("grafting", grafting, 1),
        ("priority", paper, seeds),
        ("turns", joined(paper, {"method_options": TURNS}), seeds),
    ):
        yield Step(
            f"{name}-{lam}",
            f"{NAMES[name]}, lambda {lam}",
            partial(_many, settings, count),
            {"settings": settings, "seeds": count},
        )
    yield _table(
        f"accuracy-{lam}",
        f"runs that stop early, lambda {lam}",
        [
            Variant({"method": name, "tol": tol}, {**settings, "tol": tol})
            for tol in ACCURACIES[size]
            for name, settings in (("grafting", grafting), ("priority", paper))
        ],
    )
    yield Step(
        f"capped-{lam}",
        f"grafting up to the printed number of edges, lambda {lam}",
        partial(_capped, lam, edges),
        {"settings": grafting, "edges": edges},
    )
    yield _table(
        f"epsilon-{lam}",
        f"pruning thresholds, lambda {lam}",
        [
            Variant({"epsilon": epsilon}, {**paper, "method_options": {"epsilon": epsilon}})
            for epsilon in EPSILONS[size]
        ],
    )
    for name, change in RULES.items():
        yield Step(
            f"{name.replace(', ', '-').replace(' ', '-')}-{lam}",
            f"{name}, lambda {lam}",
            partial(_both, {**change, "lam": lam}, seeds),
            {"settings": {**paper, **change}, "grafting": GRAFTING, "seeds": seeds},
        )
    swapped = Variant({"halves": "file order, second half learned"}, paper, -1)
    yield _table(
        f"halves-{lam}",
        f"other halves, lambda {lam}",
        [swapped, *(Variant({"halves": f"random {k}"}, paper, k) for k in range(seeds))],
    )


def steps(size: Size) -> list[Step]:
    """Return the steps, the cheap and general ones first.

    Examples
    --------
    >>> steps("quick")[0].key
    'baselines'
    """
    found = [Step("baselines", "networks without edges", _baselines)]
    for lam in LAMS:
        found += _steps_at(lam, size)
    found += ablation_steps(size)
    return [*found, _table("side-by-side", "the paper's settings and ours", _side_by_side(size))]


STUDY = Study(
    "priority",
    "Chaabene and Huang (2016), Priority grafting: prioritizing edge selection with structure "
    "mining",
    steps,
    report,
)
