"""What the Grafting-Light paper says of its synthetic chain and of noun phrases, judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.engine import Claim, Found, Row, judge, span
from experiments.engine.observers import first_below
from experiments.grafting_light.chain import FULL, GRAFTING, LIGHT, SEIDEL, chain_lines
from experiments.grafting_light.chunks import path_runs, race_lines

#: "Much faster" is at least this factor in gradients, and this one in CPU time, which is noisy.
MUCH, MUCH_TIME = 2.0, 1.5
#: "Almost the same" is within this share on the chain, and on noun phrases.
SAME, SAME_FEATURES = 0.01, 0.05
SAME_CHUNKS, SAME_CHUNK_FEATURES = 0.02, 0.1
#: F1 may be this many points below.
POINTS = 1.0
#: A run has arrived when its objective is within this share of the best one.
ARRIVED = 0.02
SENTENCES, CANDIDATES, DROPPED = 8_936, 3_000_000, 0.999
NAMES = {LIGHT: "Grafting-Light", GRAFTING: "Grafting", SEIDEL: "Gauss-Seidel", FULL: "Full-Opt-L1"}

Values = dict[str, Any]
Lines = Mapping[str, Sequence[Found]]
Pair = tuple[Found, Found]

FASTER = Row(
    "Fig. 2: time and gradients against {rival}",
    "much more efficient than {rival}, most at small M", "{told}",
    [("lost", "==", 0), ("gradients", ">=", MUCH), ("time", ">=", MUCH_TIME),
     ("at_first", ">=", "at_last")],
    ["it needs no fewer gradients at M = {lost_at}",
     "at the smallest M it takes {gradients:.1f} times the gradients and {time:.1f} times the time",
     "until the objective reached, {at_first:.1f} times at the smallest M, {at_last:.1f} at the "
     "largest"],
    ["{stopped}"],
)  # fmt: skip
ROBUST = Row(
    "Fig. 2: robust to the select unit", "Grafting-Light is more robust to M than Grafting",
    "gradients from {light[0]} to {light[1]}, Grafting from {other[0]} to {other[1]}{cut}",
    [("wide", "<", "other_wide")],
    ["Grafting's range is no wider"],
    ["{stopped}"],
)  # fmt: skip
AS_GOOD = Row(
    "Fig. 2: likelihood and error against Full-Opt-L1", "comparable with the optimal batch method",
    "Full-Opt-L1: NLL {full[nll]:,.1f}, error {full[test_error]:.2%}; Grafting-Light at any M: NLL "
    "within {nll_off:.2g} of that, error within {error_points:.2g} points",
    [("nll_off", "<", SAME), ("error_off", "<", SAME)],
    ["objectives differ by {gap:.1g} of their size"],
    ["{stopped}"],
)  # fmt: skip
AS_SPARSE = Row(
    "Fig. 2: non-zero features against Full-Opt-L1", "almost the same numbers",
    "{features} at all M, Full-Opt-L1 {full[features]}",
    [("features_off", "<=", SAME_FEATURES)],
    ["of two labels an input may vote for one or against the other at the same cost, so that l1 "
     "leaves the number open: objectives agree to {done_gap:.1g} and the inputs with a weight are "
     "{inputs} and {full[inputs]}",
     "with a small ridge, which has one optimum, they keep {ridge[0]} and {ridge[1]}"],
    ["{stopped}"],
)  # fmt: skip
INCLUDES_MORE = Row(
    "Fig. 2: features selected on the way",
    "Grafting-Light usually includes more features than Grafting",
    "more at {more} of {pairs} select units; {told}",
    [("twice", ">", "pairs")],
    ["few of the features that Grafting-Light takes are given up again: it selects at most "
     "{kept:.2f} times as many as it keeps"],
)  # fmt: skip
FEWEST = Row(
    "Fig. 2: Full-Opt-L1 computes the fewest gradients", "always the fewest",
    "{full[evaluations]}, Grafting-Light {least[evaluations]} at the least (M = {least[select]})",
    [("full[evaluations]", "<=", "least[evaluations]")],
    ["Grafting-Light needs fewer at {fewer} of {units} select units, where its objective is within "
     "{fewer_gap:.1g} of the batch method's"],
    ["{least_stopped}"],
)  # fmt: skip
UNDER_FIT = Row(
    "Fig. 2: greedy methods at small M",
    "Grafting and Gauss-Seidel select fewer features and under-fit", "{told}",
    [("well_fitted", "==", 0)],
    ["{early}", "{late}"],
    ["{stopped}"],
)  # fmt: skip

CANDIDATE_FEATURES = Row(
    "6.1.2: candidate features", "more than 3 million", "{candidates:,}",
    [("candidates", ">", CANDIDATES)],
    [f"{{part:,}} of the {SENTENCES:,} sentences were used", "the templates are those of CRF++"],
)  # fmt: skip
F1_DROPPED = Row(
    "4.1: F1 with 99.9 % of the features dropped", "no more than 1 % below that of all features",
    "all features {all[f1]:.2f}; {tries}",
    [("near", ">", 0)],
    ["within 1 point {most:.3%} can be dropped", "with 99.9 % dropped F1 is {best_sparse:.2f}",
     f"{{part:,}} of the {SENTENCES:,} sentences were used"],
    ["{all_stopped}"],
)  # fmt: skip
F1_BATCH = Row(
    "6.1.2: F1 of Full-Opt-L1", "less than 1 % below the models with all features",
    "{full[f1]:.2f}, all features {all[f1]:.2f}",
    [("below", "<", POINTS)],
    ["it is {below:.2f} points below", "{full_stop} stopped it"],
    ["{all_stopped}"],
)  # fmt: skip
FASTER_CHUNKS = Row(
    "Fig. 3: gradients against {rival}", "Grafting-Light needs fewer, at all select units",
    f"gradients to within {ARRIVED:.0%} of the best objective: {{told}}",
    [("lost", "==", 0)],
    ["it is not sooner there, nor lower in the same time, at M = {lost_at}"],
)  # fmt: skip
AS_GOOD_CHUNKS = Row(
    "Fig. 3: Grafting-Light against Full-Opt-L1", "as good in likelihood, F1 and non-zero features",
    "Grafting-Light and Full-Opt-L1: objective {light[objective]:.4f} and {full[objective]:.4f}, "
    "NLL {light[nll]:,.0f} and {full[nll]:,.0f}, F1 {light[f1]:.2f} and {full[f1]:.2f}, "
    "{light[features]:,} and {full[features]:,} features",
    [("nll_off", "<=", SAME_CHUNKS), ("below", "<=", POINTS),
     ("features_off", "<=", SAME_CHUNK_FEATURES)],
    ["of their size, likelihoods differ by {nll_off:.1g}, numbers of features by "
     "{features_off:.1g}; F1 is {below:.2f} points lower",
     "{stopped}",
     "both converged, to objectives within {done_gap:.1g}: the optimum leaves it open"],
)  # fmt: skip


def chain_claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return the claims about Figure 2."""
    lines = chain_lines(found)
    pairs, beside = paired(lines, GRAFTING), _beside_batch(lines, found)
    return [
        *(judge(FASTER, _faster(lines, other)) for other in (GRAFTING, SEIDEL)),
        judge(ROBUST, _robust(pairs)),
        judge(AS_GOOD, beside),
        judge(AS_SPARSE, beside),
        judge(INCLUDES_MORE, _includes_more(pairs)),
        judge(FEWEST, beside),
        judge(UNDER_FIT, _under_fit(lines)),
    ]


def chunk_claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return the claims about noun phrases."""
    lines, values = race_lines(found), _chunk_values(found)
    return [
        *(judge(row, values) for row in (CANDIDATE_FEATURES, F1_DROPPED, F1_BATCH)),
        *(judge(FASTER_CHUNKS, _arrivals(lines, other)) for other in (GRAFTING, SEIDEL)),
        judge(AS_GOOD_CHUNKS, _as_good(lines, path_runs(found))),
    ]


# ---- The chain ---------------------------------------------------------------------------------


def paired(lines: Lines, other: str) -> list[Pair]:
    """Return the runs of Grafting-Light and those of another method at the same select unit."""
    rivals = {run["select"]: run for run in lines.get(other, [])}
    return [
        (light, rivals[light["select"]])
        for light in lines.get(LIGHT, [])
        if light["select"] in rivals
    ]


def stopped(runs: Sequence[Found]) -> str | None:
    """Return which runs the clock stopped, in words; None if none."""
    names = [
        NAMES[run["method"]] + (f" at M = {run['select']}" if run.get("select") else "")
        for run in runs
        if not run["converged"]
    ]
    return f"the clock stopped {', '.join(dict.fromkeys(names))}" if names else None


def gap_of(run: Found, other: Found) -> float:
    """Return how far objectives are apart, as a share."""
    return float(abs(run["objective"] / (other["objective"] or 1.0) - 1))


def _ratio(pair: Pair, name: str) -> float:
    return float(pair[1][name] / max(pair[0][name], 1e-9))


def _gradients(pair: Pair) -> float:
    """Return how many times the gradients the other took, until the objective it reached.

    That is the optimum, unless the clock stopped it.
    """
    light, other = pair
    if other["converged"]:
        return _ratio(pair, "evaluations")
    k = first_below(light["curve"], "objective", other["objective"])
    needed = light["evaluations"] if k is None else light["curve"]["evaluations"][k]
    return float(other["evaluations"] / max(needed, 1))


def _faster(lines: Lines, other: str) -> Values:
    pairs, name = paired(lines, other), NAMES[other]
    if not pairs:
        return {"rival": name}
    lost = [pair[0]["select"] for pair in pairs if _ratio(pair, "evaluations") <= 1.0]
    return {
        "rival": name,
        "told": "; ".join(_times(pair) for pair in pairs[:: max(len(pairs) - 1, 1)]),
        "lost": len(lost),
        "lost_at": ", ".join(map(str, lost)) or None,
        "gradients": _ratio(pairs[0], "evaluations"),
        "time": _ratio(pairs[0], "cpu_seconds"),
        "at_first": _gradients(pairs[0]) if len(pairs) > 1 else -1.0,
        "at_last": _gradients(pairs[-1]),
        "stopped": stopped([light for light, _ in pairs]),
    }


def _times(pair: Pair) -> str:
    """Return how many times as much the other took; at least that where it was stopped."""
    light, other = pair
    least = "" if other["converged"] else "> "
    text = (
        f"M = {light['select']}: {NAMES[other['method']]} took "
        f"{least}{_ratio(pair, 'evaluations'):.1f} times the gradients and "
        f"{least}{_ratio(pair, 'cpu_seconds'):.1f} times the CPU time"
    )
    if not other["converged"]:
        text += f" ({_gradients(pair):.0f} times the gradients until the objective it reached)"
    return text


def _robust(pairs: Sequence[Pair]) -> Values:
    if len(pairs) < 2:
        return {}
    light, other = (span(pair[side]["evaluations"] for pair in pairs) for side in (0, 1))
    return {
        "light": light,
        "other": other,
        "wide": light.high - light.low,
        "other_wide": other.high - other.low,
        "cut": "" if all(pair[1]["converged"] for pair in pairs) else " (stopped)",
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
        "nll_off": max(abs(run["nll"] / full["nll"] - 1) for run in light),
        "error_off": error,
        "error_points": 100 * error,
        "gap": max(gap_of(run, full) for run in light),
        "features": span(run["features"] for run in light),
        "features_off": max(abs(r["features"] / max(full["features"], 1) - 1) for r in light),
        "done_gap": max((gap_of(run, full) for run in done), default=None),
        "inputs": span(run["inputs"] for run in done) if done else None,
        "ridge": None if None in ridge else ridge,
        "least": least,
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
        "more": more,
        "twice": 2 * more,
        "pairs": len(pairs),
        "told": "; ".join(
            f"M = {light['select']}: {light['selected']} and {other['selected']}"
            for light, other in (pairs[0], pairs[-1])[: len(pairs)]
        ),
        "kept": max(light["selected"] / max(light["features"], 1) for light, _ in pairs),
    }


def _under_fit(lines: Lines) -> Values:
    """Return the greedy methods at the smallest select unit, beside the batch method."""
    runs = [line[0] for line in (lines.get(GRAFTING), lines.get(SEIDEL)) if line]
    if not runs or not lines.get(LIGHT) or not lines.get(FULL):
        return {}
    light, [full] = lines[LIGHT][0], lines[FULL]
    told = [
        f"{NAMES[run['method']]}, M = {run['select']}"
        f"{'' if run['converged'] else ', stopped by the limit of time'}: {_fit(run)}"
        for run in runs
    ]
    late = [
        f"at its own end {NAMES[run['method']]} is within {gap_of(run, full):.1g} of the optimum"
        for run in runs
        if run["converged"]
    ]
    return {
        "told": "; ".join([*told, f"Full-Opt-L1: {_fit(full)}"]),
        "well_fitted": sum(
            run["nll"] <= full["nll"] * (1 + SAME) or run["features"] >= full["features"]
            for run in runs
        ),
        "early": "; ".join(_early(run, light["evaluations"]) for run in runs),
        "late": "; ".join(late) or None,
        "stopped": stopped([full, *runs]),
    }


def _fit(run: Found) -> str:
    return f"{run['features']} features, NLL {run['nll']:,.1f}, error {run['test_error']:.2%}"


def _early(run: Found, gradients: int) -> str:
    """Return what a greedy method has when Grafting-Light is done."""
    curve = run["curve"]
    k = max((k for k, n in enumerate(curve["evaluations"]) if n <= gradients), default=0)
    return (
        f"{NAMES[run['method']]} has {curve['features'][k]} features and NLL "
        f"{curve['loss'][k] * run['n_train']:,.1f} after the {gradients} gradients that "
        "Grafting-Light needs"
    )


# ---- Noun phrases ------------------------------------------------------------------------------


def _chunk_values(found: Mapping[str, Found]) -> Values:
    path, batch = path_runs(found), found.get("chunks-all")
    lines = race_lines(found)
    full = lines[FULL][0] if FULL in lines else None
    values: Values = {"all": batch, "full": full}
    if path:
        used = path[0]["n_train"]
        values |= {"candidates": path[0]["candidates"], "part": used if used < SENTENCES else None}
    if batch:
        values["all_stopped"] = (
            None if batch["converged"] else "the clock stopped the run with all features"
        )
    if path and batch:
        values |= _path_values(path, batch)
    if full and batch:
        values |= {
            "below": batch["f1"] - full["f1"],
            "full_stop": None if full["converged"] else full["stop"],
        }
    return values


def _path_values(path: Sequence[Found], batch: Found) -> Values:
    """Return what is left of F1 where most features are dropped."""
    sparse = [run for run in path if run["dropped"] >= DROPPED]
    near = [run for run in path if run["f1"] >= batch["f1"] - POINTS]
    return {
        "tries": "; ".join(
            f"{run['dropped']:.3%} dropped ({run['features']:,} kept): {run['f1']:.2f}"
            for run in path
        ),
        "near": sum(run in near and run["converged"] for run in sparse),
        "most": max((run["dropped"] for run in near), default=None),
        "best_sparse": max((run["f1"] for run in sparse), default=None),
    }


def _arrivals(lines: Lines, other: str) -> Values:
    """Return how many gradients brought both methods near the best objective."""
    pairs, name = paired(lines, other), NAMES[other]
    if not pairs:
        return {"rival": name}
    best = min(run["objective"] for line in lines.values() for run in line)
    told, lost = [], []
    for light, rival in pairs:
        counts = [_arrival(run, best) for run in (light, rival)]
        shown = [_arrival_words(*both) for both in zip((light, rival), counts, strict=True)]
        told.append(f"M = {light['select']:,}: {shown[0]} and {shown[1]}")
        if not _is_sooner(counts, light, rival):
            lost.append(f"{light['select']:,}")
    return {
        "rival": name,
        "told": "; ".join(told),
        "lost": len(lost),
        "lost_at": ", ".join(lost) or None,
    }


def _is_sooner(counts: Sequence[int | None], light: Found, rival: Found) -> bool:
    """Return whether Grafting-Light arrives first or, where neither does, has come further."""
    own, theirs = counts
    if own is None:
        return theirs is None and bool(light["objective"] < rival["objective"])
    return theirs is None or own < theirs


def _arrival(run: Found, best: float) -> int | None:
    curve = run["curve"]
    k = first_below(curve, "objective", best * (1 + ARRIVED))
    return None if k is None else int(curve["evaluations"][k])


def _arrival_words(run: Found, count: int | None) -> str:
    if count is not None:
        return str(count)
    return f"not in {run['evaluations']} (objective {run['objective']:.3f})"


def _as_good(lines: Lines, path: Sequence[Found]) -> Values:
    """Return the best run of Grafting-Light beside the batch method."""
    if LIGHT not in lines or FULL not in lines:
        return {}
    [full] = lines[FULL]
    same = [run for run in path if run["c1"] == full["c1"]]
    light = min([*lines[LIGHT], *same], key=lambda run: run["objective"])
    cut = stopped([light, full])
    return {
        "light": light,
        "full": full,
        "nll_off": abs(light["nll"] / (full["nll"] or 1.0) - 1),
        "below": full["f1"] - light["f1"],
        "features_off": abs(light["features"] / max(full["features"], 1) - 1),
        "stopped": cut,
        "done_gap": None if cut else gap_of(light, full),
    }
