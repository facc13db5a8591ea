"""Table I of the best-choice paper: tables counted, and pairs scored in a round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.best_choice.groups import WHOSE, Group, groups, listed
from experiments.engine import Claim, Found, Row, judge, judge_all

#: Exponents of n that count as n^2, and as the n sqrt(n) of 3 n edges with t_max = sqrt(n).
QUADRATIC, LESS = 1.9, 1.6
#: Numbers of edges, in multiples of n, after which tables are told.
AFTER = (1, 2, 3)

Values = dict[str, Any]

COSTS = [
    Row(
        "Table I, {group}: tables counted before the first edge, exhaustive",
        "those of all pairs: O(n^2)", "{tables_before_the_first_edge:,} of {pairs:,}",
        [("tables_before_the_first_edge", "==", "pairs")],
    ),
    Row(
        "Table I, {group}: tables counted after j edges, best-choice",
        "at most r + j t_max, with r draws until R is full: O(n + j t_max)",
        "at most {largest_share_of_the_bound:.2f} of r + j t_max after every round (r = {filling}, "
        "{filling_over_n} n; t_max = {tests}); {tables} in all, {of_pairs} of all pairs",
        [("largest_share_of_the_bound", "<=", 1.0)],
        ["of {worst} it is more"],
    ),
    Row(
        "Table I, {group}: pairs scored in a round, exhaustive", "all: O(n^2)",
        "{all_scored:,.0f} on average, of {pairs:,} pairs, {edges} of them edges already",
        [("share_of_the_inactive_pairs", ">=", 0.99)],
    ),
    Row(
        "Table I, {group}: pairs scored in a round, best-choice", "O(t_max)",
        "{scored} on average, with t_max = {tests}",
        [("largest_mean_over_t_max", "<=", 1.0)],
        ["the scores of the reservoir, of up to {group.n:,} pairs, are computed again in each "
         "round, as section III-A1 says; Table I leaves that out. New tables are at most "
         "{largest_new_over_t_max:.2f} t_max in a round on average"],
    ),
]  # fmt: skip
GROWTH = Row(
    "Table I, {whose}: tables counted as n grows, n = {sizes}",
    "n^2 for exhaustive; for best-choice n + j t_max, which is n^1.5 for j = 3n, t_max = sqrt(n)",
    "least-squares exponents of n: exhaustive {exponent_of_exhaustive:.2f}, {told}",
    [("exponent_of_exhaustive", ">=", QUADRATIC), ("largest_exponent_of_best_choice", "<=", LESS)],
    [],
    ["{saturated}"],
)  # fmt: skip
NOTHING: Values = {"group": "no runs", "whose": "no runs", "sizes": ""}


def cost_claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return what is said of Table I: of the authors' settings, in which t_max is fixed."""
    own = _own(found)
    values = [_costs(group) for group in own] or [NOTHING]
    claims = [claim for each in values for claim in judge_all(COSTS, each)]
    return [*claims, judge(GROWTH, _growth(own) if len(own) > 1 else NOTHING)]


def _own(found: Mapping[str, Found]) -> list[Group]:
    return [group for group in groups(found, "race") if group.setting == "authors"]


def _costs(group: Group) -> Values:
    """Return what a group's runs counted and scored."""
    pairs = group.n * (group.n - 1) // 2
    values: Values = {"group": group, "pairs": pairs}
    if "exhaustive" in group.runs:
        whole = group.runs["exhaustive"]
        scored = whole["end"]["blocks_scored"] / max(whole["end"]["rounds"], 1)
        edges = float(np.mean(whole["path"]["edges"]))
        values |= {
            "tables_before_the_first_edge": whole["first"]["tables_counted"],
            "all_scored": scored,
            "edges": f"{edges:,.0f} on average",
            "share_of_the_inactive_pairs": scored / (pairs - edges),
        }
    alphas = group.by_alpha()
    if not alphas:
        return values
    shares = {one["method"]: _largest_share(one) for one in alphas}
    worst = max(shares, key=shares.__getitem__)
    tests, ends = _tests(alphas[0]), [one["end"] for one in alphas]
    return values | {
        "worst": worst,
        "largest_share_of_the_bound": shares[worst],
        "filling": _told([_filling(one) for one in alphas], ","),
        "filling_over_n": _told([_filling(one) / group.n for one in alphas], ".1f"),
        "tests": tests,
        "tables": _told([end["tables_counted"] for end in ends], ","),
        "of_pairs": _told([end["tables_counted"] / pairs for end in ends], ".0%"),
        "scored": _told([_per_round(one, "blocks_scored") for one in alphas], ".0f"),
        "largest_mean_over_t_max": max(_per_round(one, "blocks_scored") for one in alphas) / tests,
        "largest_new_over_t_max": max(_per_round(one, "tables_counted") for one in alphas) / tests,
    }


def _tests(one: Found) -> int:
    return int(one["arguments"]["method_options"]["tests"])


def _filling(one: Found) -> int:
    """Return how many pairs were drawn until the reservoir was full."""
    return int(one["first"]["blocks_scored"])


def _largest_share(one: Found) -> float:
    """Return the tables counted after each round, over the paper's bound: the largest share.

    Edges that left again were activated, too: each round but the first follows one activation.
    """
    edges, rounds, tables = (
        np.array(one["path"][name]) for name in ("edges", "round", "tables_counted")
    )
    activated = np.maximum(edges, rounds - 1)
    return float((tables / (_filling(one) + activated * _tests(one))).max())


def _per_round(one: Found, counter: str) -> float:
    """Return what a round added to a counter on average, after the one that fills the reservoir."""
    end = one["end"]
    return float((end[counter] - one["first"][counter]) / max(end["rounds"] - 1, 1))


def _told(values: Sequence[float], form: str) -> str:
    low, high = (format(value, form) for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _growth(own: Sequence[Group]) -> Values:
    """Return the exponents with which tables grow from the smallest network to the largest."""
    methods = [method for method in own[0].methods if all(method in one.runs for one in own)]
    exponents = {}
    for method in methods:
        tables = [group.runs[method]["end"]["tables_counted"] for group in own]
        exponents[method] = _exponent([group.n for group in own], tables)
    alphas = {name: value for name, value in exponents.items() if name.startswith("alpha")}
    full = [group.n for group in own if _is_saturated(group)]
    return {
        "whose": WHOSE["authors"],
        "sizes": ", ".join(str(group.n) for group in own),
        "exponent_of_exhaustive": exponents.get("exhaustive"),
        "largest_exponent_of_best_choice": max(alphas.values(), default=None),
        "told": ", ".join(f"{name} {value:.2f}" for name, value in alphas.items()),
        "saturated": (
            f"with {listed(full)} variables more than half of the pairs were counted"
            if full
            else None
        ),
    }


def _is_saturated(group: Group) -> bool:
    pairs = group.n * (group.n - 1) / 2
    return any(one["end"]["tables_counted"] > pairs / 2 for one in group.by_alpha())


def _exponent(sizes: Sequence[int], counts: Sequence[int]) -> float:
    """Return the slope of a line through logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(counts, 1)), 1)[0])


def cost_lines(found: Mapping[str, Found]) -> list[Values]:
    """Return tables counted after some numbers of edges, and pairs scored in a round."""
    return [
        _line(group, one)
        for group in _own(found)
        for one in group.runs.values()
        if one["method"] != "first hit"
    ]


def _line(group: Group, one: Found) -> Values:
    path, drawn = one["path"], one["method"] != "exhaustive"
    tables = {
        f"tables, {many}n edges": _at(path, many * group.n, "tables_counted") for many in AFTER
    }
    activated = max(one["end"]["edges"], one["end"]["rounds"] - 1)
    bound = _filling(one) + activated * _tests(one) if drawn else ""
    return {
        "variables": group.n,
        "pairs": group.n * (group.n - 1) // 2,
        "method": one["method"],
        "tables, first edge": one["first"]["tables_counted"],
        **tables,
        "r + j t_max": bound,
        "scored in a round": round(_per_round(one, "blocks_scored"), 1),
        "rounds": one["end"]["rounds"],
        "stop": one["stop"],
    }


def _at(path: Mapping[str, Sequence[float]], edges: int, name: str) -> float | str:
    """Return a counter when a run had this number of edges; nothing if it never had."""
    return next((path[name][k] for k, have in enumerate(path["edges"]) if have >= edges), "")
