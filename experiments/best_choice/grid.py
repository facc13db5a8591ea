"""The grid of lambda and l2 on which the best-choice paper tunes its baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from experiments.best_choice.groups import BUDGETS
from experiments.engine import Claim, Found, Row, judge_all, span

#: Recalls and test NLPL (as a share) that are this close are insensitive.
SAME_RECALL, SAME_NLPL = 0.05, 0.01

Values = dict[str, Any]

GRID = [
    Row(
        "grid, n={n}, {method}, 3n edges: sensitivity to l2", "not high for different l2",
        "at lambda = {best:g}, of the least test NLPL, for l2 = {ridges}: recall {recalls}; test "
        "NLPL {nlpls}",
        [("range_of_recall", "<=", SAME_RECALL), ("relative_range_of_test_NLPL", "<=", SAME_NLPL)],
        ["recalls differ by {range_of_recall:.3f}, test NLPL by {relative_range_of_test_NLPL:.1%}; "
         "a stronger ridge leaves more of each dependence unexplained"],
        ["{ended}"],
    ),
    Row(
        "grid, n={n}, {method}, no limit of edges: small lambda",
        "smaller values of lambda give spurious edges",
        "precision (edges) as lambda falls, lowest l2: {way}; {pairs} pairs, {true} true edges",
        [("least_ratio_of_precision_at_neighbouring_lambdas", ">=", 1.0),
         ("largest_precision_at_the_smallest_lambda", "<=", 0.5)],
        [],
        ["{free_ended}"],
    ),
]  # fmt: skip
NOTHING: Values = {"n": "?", "method": "no runs"}


def grid_claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return how sensitive the methods are to lambda and l2."""
    several = [one["runs"] for one in found.values() if one.get("family") == "grid"]
    values = [_values(runs) for runs in several] or [NOTHING]
    return [claim for each in values for claim in judge_all(GRID, each)]


def _values(runs: Sequence[Found]) -> Values:
    n = runs[0]["source"]["variables"]
    return {
        "n": n,
        "method": runs[0]["method"],
        "pairs": n * (n - 1) // 2,
        "true": runs[0]["true_edges"],
        **_ridges([one for one in runs if one["max_edges"] is not None]),
        **_lambdas([one for one in runs if one["max_edges"] is None]),
    }


def _ridges(runs: Sequence[Found]) -> Values:
    """Return what l2 changes at the lambda of the least test NLPL."""
    best = min(runs, key=lambda one: float(one["end"]["test_nlpl"]))["lam"]
    own = sorted((one for one in runs if one["lam"] == best), key=_ridge)
    recalls = span(float(one["end"]["recall"]) for one in own)
    nlpls = span(float(one["end"]["test_nlpl"]) for one in own)
    return {
        "best": best,
        "ridges": ", ".join(f"{_ridge(one):g}" for one in own),
        "recalls": ", ".join(f"{one['end']['recall']:.3f}" for one in own),
        "nlpls": ", ".join(f"{one['end']['test_nlpl']:.2f}" for one in own),
        "range_of_recall": recalls.high - recalls.low,
        "relative_range_of_test_NLPL": (nlpls.high - nlpls.low) / abs(nlpls.low),
        "ended": _ended(own),
    }


def _lambdas(runs: Sequence[Found]) -> Values:
    """Return what precision does as lambda falls, over all lambdas that give edges."""
    lines: dict[float, list[Found]] = {}
    for one in sorted(runs, key=lambda one: -float(one["lam"])):
        if one["end"]["edges"]:
            lines.setdefault(_ridge(one), []).append(one)
    precisions = [[float(one["end"]["precision"]) for one in line] for line in lines.values()]
    ratios = [a / b if b else 1.0 for line in precisions for a, b in pairwise(line)]
    return {
        "way": ", ".join(
            f"{one['lam']:g} {one['end']['precision']:.2f} ({one['end']['edges']:,})"
            for one in lines[min(lines)]
        )
        if lines
        else None,
        "least_ratio_of_precision_at_neighbouring_lambdas": min(ratios, default=None),
        "largest_precision_at_the_smallest_lambda": max(
            (line[-1] for line in precisions), default=None
        ),
        "free_ended": _ended(runs),
    }


def _ridge(one: Found) -> float:
    """Return l2 in the paper's notation, twice ours."""
    return 2.0 * float(one["changed"]["l2"])


def _ended(runs: Sequence[Found]) -> str | None:
    count = sum(one["stop"] in BUDGETS for one in runs)
    return f"a budget ended {count} of {len(runs)} runs" if count else None


def grid_lines(found: Mapping[str, Found]) -> list[Values]:
    """Return a line for each lambda and l2."""
    several = [one["runs"] for one in found.values() if one.get("family") == "grid"]
    return [_line(one) for runs in several for one in runs]


def _line(one: Found) -> Values:
    end = one["end"]
    return {
        "method": one["method"],
        "limit of edges": one["max_edges"] or "",
        "lambda": one["lam"],
        "l2": _ridge(one),
        **{name: end[name] for name in ("edges", "recall", "test_nlpl", "objective")},
        "precision": end["precision"] if end["edges"] else "",
        "stop": one["stop"],
    }
