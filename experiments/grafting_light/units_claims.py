"""Figure 5 of the Grafting-Light paper: four criteria against the select unit, judged."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.engine import Claim, Found, Row, judge, judge_all, span
from experiments.grafting_light.chain import FULL, GRAFTING
from experiments.grafting_light.letters_claims import unit_lines
from experiments.grafting_light.pairs import (
    FALLING,
    LIMIT,
    MUCH,
    POINTS,
    Pair,
    Values,
    correlation,
    gap_of,
    paired,
    ratio,
    series,
)  # fmt: skip

#: What the two criteria that grow with the work are called.
WORK = {"cpu_seconds": "CPU time", "evaluations": "gradients"}
#: A likelihood is higher when it is by this factor.
HIGHER = 1.01
_TOO_FEW = ["{too_few}"]

STABLE = Row(
    "Fig. 5: {criterion} of Grafting-Light", "reasonably stable, with small jumps",
    "{letter}: {own}",
    [("largest_over_smallest", "<=", MUCH)],
    ["the largest is {largest_over_smallest:.1f} times the smallest for Grafting-Light, and "
     "{other_spread:.1f} times for Grafting"],
    _TOO_FEW,
)  # fmt: skip
FALLS = Row(
    "Fig. 5: {criterion} of Grafting", "decreasing, but larger than those of Grafting-Light",
    "{letter}: {theirs}; Grafting-Light {own}",
    [("rank_correlation_with_M", "<=", FALLING), ("least_ratio_to_Grafting_Light", ">", 1.0)],
    ["the rank correlation is {rank_correlation_with_M:.2f}; the ratio is {ratios}"],
    _TOO_FEW,
)  # fmt: skip
NLL = Row(
    "Fig. 5: negative log-likelihood of Full-Opt-L1", "higher than that of the other two",
    "{letter}: {full[test_nll]:.5f} a pixel, by BP; Grafting-Light {light_nll}; Grafting "
    "{other_nll}",
    [("least_ratio_to_the_others", ">", HIGHER)],
    ["{agree}"],
    ["{too_few}", "{full_limit}"],
)  # fmt: skip
NON_ZERO = Row(
    "Fig. 5: non-zero features of Full-Opt-L1",
    "not sparse enough a structure (inaccurate gradients)",
    "{letter}: {full[features]}, {full[edges]} edges; Grafting-Light {light_features}, "
    "{light_edges} edges; Grafting {other_features}, {other_edges} edges",
    [("least_ratio_of_features_to_the_others", ">=", MUCH)],
    ["{agree}; cells of an edge's table can stand for one another"],
    ["{too_few}", "{full_limit}"],
)  # fmt: skip


def unit_claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return the claims about the four panels."""
    lines = unit_lines(found)
    both = paired(lines, GRAFTING)
    # A run without an optimum has no time, and no likelihood, to compare.
    pairs = [pair for pair in both if pair[0]["converged"] and pair[1]["converged"]]
    about: Values = {"letter": f"letter {both[0][0]['letter']}" if both else None}
    left = [str(light["select"]) for light, other in both if (light, other) not in pairs]
    if left:
        about["letter"] += f" (without M = {', '.join(left)}, where a run has no optimum)"
    if len(pairs) < POINTS:
        about["too_few"] = (
            f"both methods have an optimum at {len(pairs)} of {len(both)} select units only"
        )
    out = [judge(row, _work(name, pairs, about)) for name in WORK for row in (STABLE, FALLS)]
    full = next(iter(lines.get(FULL, ())), None)
    return [*out, *judge_all([NLL, NON_ZERO], _worth(pairs, full, about))]


def _work(name: str, pairs: list[Pair], about: Values) -> Values:
    """Return one criterion of both methods at all select units."""
    values = about | {"criterion": WORK[name]}
    if not pairs:
        return values
    units = [light["select"] for light, _ in pairs]
    own, theirs = ([pair[side][name] for pair in pairs] for side in (0, 1))
    ratios = [ratio(pair, name) for pair in pairs]
    form = ".3f" if name == "cpu_seconds" else ""
    falling = correlation(units, theirs)
    return values | {
        "own": series(list(zip(units, own, strict=True)), form),
        "theirs": series(list(zip(units, theirs, strict=True)), form),
        "largest_over_smallest": max(own) / max(min(own), 1e-9),
        "other_spread": max(theirs) / max(min(theirs), 1e-9),
        "rank_correlation_with_M": float("nan") if falling is None else falling,
        "least_ratio_to_Grafting_Light": min(ratios),
        "ratios": series(list(zip(units, ratios, strict=True)), ".2f"),
    }


def _worth(pairs: list[Pair], full: Found | None, about: Values) -> Values:
    """Return what all three methods end with, at all select units."""
    if not pairs or full is None:
        return about
    runs = [run for pair in pairs for run in pair]
    sides = {"light": [light for light, _ in pairs], "other": [other for _, other in pairs]}
    values: Values = {
        "full": full,
        "least_ratio_to_the_others": min(full["test_nll"] / run["test_nll"] for run in runs),
        "least_ratio_of_features_to_the_others": min(
            full["features"] / max(run["features"], 1) for run in runs
        ),
        "full_limit": "the limit of evaluations ended it" if full["stop"] == LIMIT else None,
    }
    for side, some in sides.items():
        for name, form in (("test_nll", ".5f"), ("features", ""), ("edges", "")):
            words = span(run[name] for run in some)
            values[f"{side}_{name.removeprefix('test_')}"] = f"{words:{form}}"
    if full["converged"]:
        gap = max(gap_of(run, full) for run in runs)
        values["agree"] = f"all have their optimum, and objectives agree to {gap:.1g}"
    return about | values
