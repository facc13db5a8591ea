"""What the Grafting-Light paper says of its synthetic chain, judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.engine import Claim, Found, Row, judge, span
from experiments.grafting_light.chain import FULL, GRAFTING, LIGHT, SEIDEL, chain_lines
from experiments.grafting_light.pairs import (
    FALLING,
    MUCH,
    MUCH_TIME,
    NAMES,
    Lines,
    Pair,
    Values,
    at_least,
    correlation,
    gap_of,
    gradients,
    paired,
    ratio,
    series,
    stopped,
)  # fmt: skip

#: "Almost the same" is within this share, in likelihood and error, and in numbers of features.
SAME, SAME_FEATURES = 0.01, 0.05

FASTER = Row(
    "Fig. 2: time and gradients against {rival}", "much more efficient than {rival}", "{told}",
    [("select_units_where_it_needs_no_fewer_gradients", "==", 0),
     ("times_the_gradients_at_the_smallest_M", ">=", MUCH),
     ("times_the_CPU_time_at_the_smallest_M", ">=", MUCH_TIME)],
    ["Grafting-Light needs no fewer gradients at M = {lost_at}",
     "at the smallest M {rival} takes {times_the_gradients_at_the_smallest_M:.1f} times the "
     "gradients and {times_the_CPU_time_at_the_smallest_M:.1f} times the time"],
    ["{stopped}", "{bound}"],
)  # fmt: skip
MOST_AT_SMALL_M = Row(
    "Fig. 2: the advantage over {rival} against the select unit", "most at small M",
    "times the gradients until the objective that {rival} reached: {advantages}",
    [("rank_correlation_with_M", "<=", FALLING)],
    ["the rank correlation is {rank_correlation_with_M:.2f}"],
    ["{stopped}"],
)  # fmt: skip
ROBUST = Row(
    "Fig. 2: robust to the select unit", "Grafting-Light is more robust to M than Grafting",
    "gradients from {light[0]} to {light[1]}, Grafting from {other[0]} to {other[1]}{cut}",
    [("its_range_of_gradients", "<", "range_of_Grafting")],
    ["Grafting's range is no wider"],
    ["{stopped}"],
)  # fmt: skip
AS_GOOD = Row(
    "Fig. 2: likelihood and error against Full-Opt-L1", "comparable with the optimal batch method",
    "Full-Opt-L1: NLL {full[nll]:,.1f}, error {full[test_error]:.2%}; Grafting-Light at any M: NLL "
    "within {difference_of_NLL:.2g} of that, error within {error_points:.2g} points",
    [("difference_of_NLL", "<", SAME), ("difference_of_error", "<", SAME)],
    ["objectives differ by {gap:.1g} of their size"],
    ["{stopped}"],
)  # fmt: skip
AS_SPARSE = Row(
    "Fig. 2: non-zero features against Full-Opt-L1", "almost the same numbers",
    "{features} at all M, Full-Opt-L1 {full[features]}",
    [("difference_of_features", "<=", SAME_FEATURES)],
    ["of two labels an input may vote for one or against the other at the same cost, so that l1 "
     "leaves the number open: objectives agree to {done_gap:.1g} and the inputs with a weight are "
     "{inputs} and {full[inputs]}",
     "with a small ridge, which has one optimum, they keep {ridge[0]} and {ridge[1]}"],
    ["{stopped}"],
)  # fmt: skip
INCLUDES_MORE = Row(
    "Fig. 2: features selected on the way",
    "Grafting-Light usually includes more features than Grafting",
    "more at {select_units_with_more} of {pairs} select units; {told}",
    [("select_units_with_more", ">", "half_of_them")],
    ["few of the features that Grafting-Light takes are given up again: it selects at most "
     "{kept:.2f} times as many as it keeps"],
)  # fmt: skip
FEWEST = Row(
    "Fig. 2: Full-Opt-L1 computes the fewest gradients", "always the fewest",
    "{gradients_of_Full_Opt_L1}, Grafting-Light {fewest_of_Grafting_Light} at the least "
    "(M = {least[select]})",
    [("gradients_of_Full_Opt_L1", "<=", "fewest_of_Grafting_Light")],
    ["Grafting-Light needs fewer at {fewer} of {units} select units, where its objective is within "
     "{fewer_gap:.1g} of the batch method's"],
    ["{least_stopped}"],
)  # fmt: skip
UNDER_FIT = Row(
    "Fig. 2: {rival} at the smallest M", "{rival} selects fewer features and under-fits", "{told}",
    [("NLL_over_that_of_Full_Opt_L1", ">", 1 + SAME),
     ("features_over_those_of_Full_Opt_L1", "<", 1.0)],
    ["{early}", "at its own end it is within {gap:.1g} of the optimum"],
    ["{stopped}, and what it had then is no property of its optimum: {early}"],
)  # fmt: skip


def chain_claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return the claims about Figure 2."""
    lines = chain_lines(found)
    pairs, beside = paired(lines, GRAFTING), _beside_batch(lines, found)
    rivals = (GRAFTING, SEIDEL)
    return [
        *(
            judge(row, _faster(lines, other))
            for row in (FASTER, MOST_AT_SMALL_M)
            for other in rivals
        ),
        judge(ROBUST, _robust(pairs)),
        judge(AS_GOOD, beside),
        judge(AS_SPARSE, beside),
        judge(INCLUDES_MORE, _includes_more(pairs)),
        judge(FEWEST, beside),
        *(judge(UNDER_FIT, _under_fit(lines, other)) for other in rivals),
    ]


def _faster(lines: Lines, other: str) -> Values:
    pairs, name = paired(lines, other), NAMES[other]
    if not pairs:
        return {"rival": name}
    units = [light["select"] for light, _ in pairs]
    lost = [pair for pair in pairs if ratio(pair, "evaluations") <= 1.0]
    advantages = [gradients(pair) for pair in pairs]
    calls, time = (ratio(pairs[0], criterion) for criterion in ("evaluations", "cpu_seconds"))
    short = [*lost, *(pairs[:1] if calls < MUCH or time < MUCH_TIME else [])]
    only_bounds = bool(short) and not any(rival["converged"] for _, rival in short)
    return {
        "rival": name,
        "told": "; ".join(_times(pair) for pair in pairs[:: max(len(pairs) - 1, 1)]),
        "select_units_where_it_needs_no_fewer_gradients": len(lost),
        "lost_at": ", ".join(str(light["select"]) for light, _ in lost) or None,
        "times_the_gradients_at_the_smallest_M": calls,
        "times_the_CPU_time_at_the_smallest_M": time,
        "rank_correlation_with_M": correlation(units, advantages),
        "advantages": series(list(zip(units, advantages, strict=True)), ".1f"),
        "stopped": stopped([light for light, _ in pairs]),
        "bound": at_least(name) if only_bounds else None,
    }


def _times(pair: Pair) -> str:
    """Return how many times as much the other took; at least that where it was stopped."""
    light, other = pair
    least = "" if other["converged"] else "> "
    return (
        f"M = {light['select']}: {NAMES[other['method']]} took "
        f"{least}{ratio(pair, 'evaluations'):.1f} times the gradients and "
        f"{least}{ratio(pair, 'cpu_seconds'):.1f} times the CPU time"
    )


def _robust(pairs: Sequence[Pair]) -> Values:
    if len(pairs) < 2:
        return {}
    light, other = (span(pair[side]["evaluations"] for pair in pairs) for side in (0, 1))
    return {
        "light": light,
        "other": other,
        "its_range_of_gradients": light.high - light.low,
        "range_of_Grafting": other.high - other.low,
        "cut": "" if all(pair[1]["converged"] for pair in pairs) else " (at least)",
        "stopped": stopped([pair[0] for pair in pairs]),
    }


def _beside_batch(lines: Lines, found: Mapping[str, Found]) -> Values:
    """Return Grafting-Light at all select units beside the batch method."""
    if not lines.get(LIGHT) or not lines.get(FULL):
        return {}
    light, [full] = lines[LIGHT], lines[FULL]
    done = [run for run in light if run["converged"]]
    least = min(light, key=lambda run: run["evaluations"])
    fewer = [run for run in light if run["evaluations"] < full["evaluations"]]
    error = max(abs(run["test_error"] - full["test_error"]) for run in light)
    ridge = [found.get(f"chain-ridge-{method}", {}).get("features") for method in (LIGHT, FULL)]
    return {
        "full": full,
        "units": len(light),
        "difference_of_NLL": max(abs(run["nll"] / full["nll"] - 1) for run in light),
        "difference_of_error": error,
        "error_points": 100 * error,
        "gap": max(gap_of(run, full) for run in light),
        "features": span(run["features"] for run in light),
        "difference_of_features": max(
            abs(run["features"] / max(full["features"], 1) - 1) for run in light
        ),
        "done_gap": max((gap_of(run, full) for run in done), default=None),
        "inputs": span(run["inputs"] for run in done) if done else None,
        "ridge": None if None in ridge else ridge,
        "least": least,
        "gradients_of_Full_Opt_L1": full["evaluations"],
        "fewest_of_Grafting_Light": least["evaluations"],
        "fewer": len(fewer),
        "fewer_gap": max((gap_of(run, full) for run in fewer), default=None),
        "stopped": stopped([full, *light]),
        "least_stopped": stopped([full, least]),
    }


def _includes_more(both: Sequence[Pair]) -> Values:
    pairs = [pair for pair in both if pair[0]["converged"] and pair[1]["converged"]]
    if not pairs:
        return {}
    more = sum(light["selected"] > other["selected"] for light, other in pairs)
    return {
        "select_units_with_more": more,
        "half_of_them": len(pairs) / 2,
        "pairs": len(pairs),
        "told": "; ".join(
            f"M = {light['select']}: {light['selected']} and {other['selected']}"
            for light, other in (pairs[0], pairs[-1])[: len(pairs)]
        ),
        "kept": max(light["selected"] / max(light["features"], 1) for light, _ in pairs),
    }


def _under_fit(lines: Lines, other: str) -> Values:
    """Return a greedy method at the smallest select unit, beside the batch method."""
    about: Values = {"rival": NAMES[other]}
    if not all(lines.get(method) for method in (LIGHT, FULL, other)):
        return about
    light, run, [full] = lines[LIGHT][0], lines[other][0], lines[FULL]
    return about | {
        "told": f"M = {run['select']}: {_fit(run)}; Full-Opt-L1: {_fit(full)}",
        "NLL_over_that_of_Full_Opt_L1": run["nll"] / full["nll"],
        "features_over_those_of_Full_Opt_L1": run["features"] / max(full["features"], 1),
        "early": _early(run, light["evaluations"]),
        "gap": gap_of(run, full),
        "stopped": stopped([full, run]),
    }


def _fit(run: Found) -> str:
    return f"{run['features']} features, NLL {run['nll']:,.1f}, error {run['test_error']:.2%}"


def _early(run: Found, gradients: int) -> str:
    """Return what a greedy method has when Grafting-Light is done."""
    curve = run["curve"]
    k = max((k for k, n in enumerate(curve["evaluations"]) if n <= gradients), default=0)
    return (
        f"it has {curve['features'][k]} features and NLL "
        f"{curve['loss'][k] * run['n_train']:,.1f} after the {gradients} gradients that "
        "Grafting-Light needs"
    )
