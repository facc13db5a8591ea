"""Priority grafting where its heuristic acts: with and without it, in both orders of the queue."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import fmean, stdev
from typing import Any

from experiments.engine import Claim, Context, Found, Row, Size, Step, judge
from experiments.engine.observers import Searches, timed
from graftwork.data import Table
from graftwork.datasets import make_scale_free
from graftwork.errors import ConvergenceWarning
from graftwork.estimators import MarkovNetwork
from graftwork.estimators.parts import make_recipe

#: A density that no network has: priorities never change.
NEVER = 1.0
#: From how many networks on a standard error means something.
ENOUGH = 5
#: The heuristic as published, off, and with our two changes.
VARIANTS: dict[str, dict[str, Any]] = {
    "top, off": {"density": NEVER},
    "top, on": {},
    "turns, off": {"density": NEVER, "order": "turns"},
    "turns, on": {"order": "turns"},
    "turns, on, joining": {"order": "turns", "join": True},
}


@dataclass(frozen=True, slots=True)
class Trials:
    """Networks on which the heuristic acts.

    Attributes
    ----------
    networks, n, rows : int
        Scale-free networks of three states, variables and rows of each.
    lam : float
        On the pseudo-likelihood, with a group penalty.
    central, density :
        Thresholds; the paper's 4, and a density at which networks of this size do get reordered.
    """

    networks: int
    n: int = 40
    rows: int = 2_000
    lam: float = 0.02
    central: int = 4
    density: float = 0.01


TRIALS: dict[Size, tuple[Trials, ...]] = {
    "full": (Trials(20), Trials(10, n=80)),
    "quick": (Trials(4, n=30),),
    "tiny": (Trials(1, n=14, rows=300, central=2),),
}


def ablation_steps(size: Size) -> Iterator[Step]:
    """Yield a step for each kind of network."""
    for trials in TRIALS[size]:
        words = f"with and without the heuristic, {trials.n} variables"
        work = partial(ablate, trials)
        settings = {**asdict(trials), "variants": VARIANTS}
        yield Step(f"ablation-{trials.n}", words, work, settings)


def tests_of(searches: Searches) -> Found:
    """Return the tests of a run, and how often the heuristic acted in it.

    What is scored past a violator because pairs are scored in batches is no test of the method.
    """
    selection = searches.selection
    looks = getattr(selection, "n_looks", 0)
    return {
        "tests": sum(searches.tests) + looks,
        "looks": looks,
        "moved": len(getattr(selection, "moved", ())),
        "joined": getattr(selection, "n_joined", 0),
    }


def ablate(trials: Trials, context: Context) -> Found:
    lines = []
    for network in range(trials.networks):
        seed = 1_000 * context.seed + network
        made = make_scale_free(trials.n, 3, n_rows=trials.rows, random_state=seed)
        for name, change in VARIANTS.items():
            options = {"central": trials.central, "density": trials.density, **change}
            found = _run(made.data, options, trials.lam, seed, context)
            lines.append({"variables": trials.n, "network": network, "variant": name, **found})
    return {"lines": lines}


def _run(rows: Table, options: Mapping[str, Any], lam: float, seed: int, context: Context) -> Found:
    recipe, searches = timed(make_recipe("priority", options))
    with warnings.catch_warnings():  # whether it converged is part of what is found
        warnings.simplefilter("ignore", ConvergenceWarning)
        net = MarkovNetwork(
            recipe, lam=lam, random_state=seed, n_jobs=context.n_jobs, verbose=context.observer
        ).fit(rows)
    space = net.n_features_in_ * (net.n_features_in_ - 1) // 2
    moved, pairs = _moved_pairs(searches), _edges_of(net)
    edges, among = len(pairs), sum(pair in moved for pair in pairs)
    return {
        **tests_of(searches),
        "edges": edges,
        "pairs": pairs,
        "objective": net.objective_,
        "certified": bool(net.certificate_.converged),
        "edges_moved": among,
        "share_moved": among / len(moved) if moved else None,
        "share_others": (edges - among) / (space - len(moved)) if len(moved) < space else None,
    }


def _moved_pairs(searches: Searches) -> set[tuple[int, int]]:
    selection: Any = searches.selection
    return {(int(i), int(j)) for i, j in selection.space.pairs(selection.moved)}


def _edges_of(net: MarkovNetwork) -> list[tuple[int, int]]:
    edges = net.model_.potentials.layout.edges
    return sorted((min(i, j), max(i, j)) for i, j in edges.tolist())


# ---- What it says ------------------------------------------------------------------------------

FASTER = Row(
    "{where}: tests with the heuristic over tests without, pairs {order}",
    "reordering boosts the selection task", "{mean:.3f} (s.e. {error:.3f}) on the "
    "{acting} of {networks} networks on which it acts; {fewer} take fewer tests; {moved:.0f} pairs "
    "moved back on average{joined}",
    [("ratio_and_two_standard_errors", "<", 1.0)],
    ["the ratio is {above}"],
    ["{networks_only} networks are too few"],
)  # fmt: skip
MISTAKEN = Row(
    "{where}: edges among the pairs moved back, and among the others",
    "it is very unlikely that there is any relevant relation",
    "{moved_share:.1%} of the pairs moved back are edges in the end, {other_share:.1%} of the "
    "others; difference {gap:+.2%} (s.e. {gap_error:.2%})",
    [("difference_and_two_standard_errors", "<", 0.0)],
    ["the pairs moved back are not clearly less often edges"],
    ["{networks_only} networks are too few"],
)  # fmt: skip
SAME_NETWORK = Row(
    "{where}: networks with and without the heuristic", "exactly the same structure",
    "edges differ on {different} of {networks} networks, objectives by {objectives:.1e}",
    [("different", "==", 0), ("objectives", "<=", 1e-5)],
)  # fmt: skip

#: A row's words, what is compared with what.
PAIRS = {
    "from the top": ("top, on", "top, off"),
    "in turns (ours)": ("turns, on", "turns, off"),
    "in turns, joining (ours)": ("turns, on, joining", "turns, off"),
}


def ablation_claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return what the ablations say."""
    steps = {key: one["lines"] for key, one in found.items() if key.startswith("ablation-")}
    if not steps:
        rows = [judge(FASTER, {"where": "Ablation", "order": order}) for order in PAIRS]
        return [*rows, *(judge(row, {"where": "Ablation"}) for row in (MISTAKEN, SAME_NETWORK))]
    out = []
    for lines in steps.values():
        where = f"Ablation, {lines[0]['variables']} variables"
        by = {name: [one for one in lines if one["variant"] == name] for name in VARIANTS}
        for order in PAIRS:
            out.append(judge(FASTER, {"where": where, "order": order, **_compared(lines, order)}))
        about = {"where": where, **_shares(by["top, on"])}
        out += [judge(MISTAKEN, about), judge(SAME_NETWORK, {"where": where, **_same(by)})]
    return out


def ablation_lines(found: Mapping[str, Found]) -> list[Found]:
    """Return a line for each kind of network and variant: means over networks."""
    out = []
    for key, one in found.items():
        if not key.startswith("ablation-"):
            continue
        for name in VARIANTS:
            lines = [line for line in one["lines"] if line["variant"] == name]
            means = {
                what: fmean(line[what] for line in lines)
                for what in ("tests", "looks", "moved", "joined", "edges", "edges_moved")
            }
            out.append({"variables": lines[0]["variables"], "variant": name,
                        "networks": len(lines), **means})  # fmt: skip
    return out


def ratios_of(lines: Sequence[Found], order: str) -> list[float]:
    """Return tests with the heuristic over tests without, of each network on which it acts."""
    return [a["tests"] / b["tests"] for a, b in _acting(lines, order)]


def _acting(lines: Sequence[Found], order: str) -> list[tuple[Found, Found]]:
    """Return what was found with and without the heuristic, of each network on which it acts."""
    on, off = ([one for one in lines if one["variant"] == name] for name in PAIRS[order])
    return [(a, b) for a, b in zip(on, off, strict=True) if a["moved"]]


def _compared(lines: Sequence[Found], order: str) -> dict[str, Any]:
    acting, ratios = _acting(lines, order), ratios_of(lines, order)
    if not acting:
        return {}
    mean, error = fmean(ratios), standard_error(ratios)
    joined = fmean(a["joined"] for a, _ in acting)
    return {
        "mean": mean,
        "error": error,
        "networks": len({one["network"] for one in lines}),
        "acting": len(acting),
        "fewer": sum(ratio < 1 for ratio in ratios),
        "moved": fmean(a["moved"] for a, _ in acting),
        "joined": f", {joined:.1f} joined" if joined else "",
        "ratio_and_two_standard_errors": mean + 2 * error,
        "above": "clearly above 1" if mean - 2 * error > 1 else "not clearly below 1",
        "networks_only": len(acting) if len(acting) < ENOUGH else None,
    }


def _shares(lines: Sequence[Found]) -> dict[str, Any]:
    known = [one for one in lines if None not in (one["share_moved"], one["share_others"])]
    if not known:
        return {}
    gaps = [one["share_moved"] - one["share_others"] for one in known]
    return {
        "moved_share": fmean(one["share_moved"] for one in known),
        "other_share": fmean(one["share_others"] for one in known),
        "gap": fmean(gaps),
        "gap_error": standard_error(gaps),
        "difference_and_two_standard_errors": fmean(gaps) + 2 * standard_error(gaps),
        "networks_only": len(known) if len(known) < ENOUGH else None,
    }


def _same(by: Mapping[str, Sequence[Found]]) -> dict[str, Any]:
    runs = list(zip(*by.values(), strict=True))
    spreads = [max(o["objective"] for o in run) - min(o["objective"] for o in run) for run in runs]
    return {
        "networks": len(runs),
        "different": sum(any(one["pairs"] != run[0]["pairs"] for one in run) for run in runs),
        "objectives": max(spreads),
    }


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of a mean; of a single value it is not known."""
    return stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")
