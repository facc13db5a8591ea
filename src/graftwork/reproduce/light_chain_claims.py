"""What the Grafting-Light paper says of its synthetic chain, judged."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from graftwork.reproduce.light_chain import FULL, GRAFTING, LIGHT, SEIDEL, chain_lines
from graftwork.reproduce.measured import first_below
from graftwork.reproduce.study import Claim, Found, judge
from graftwork.text import count

#: "Much faster" is at least this factor in gradients, and this one in CPU time, which is noisy.
MUCH, MUCH_TIME = 2.0, 1.5
#: "Almost the same" is within this share.
SAME = 0.01
SAME_FEATURES = 0.05
NAMES = {LIGHT: "Grafting-Light", GRAFTING: "Grafting", SEIDEL: "Gauss-Seidel", FULL: "Full-Opt-L1"}

Lines = dict[str, list[Found]]
Pairs = list[tuple[Found, Found]]


def chain_claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return the claims about Figure 2."""
    lines = chain_lines(found)
    return [
        _faster(lines, GRAFTING),
        _faster(lines, SEIDEL),
        _robust(lines),
        _as_good(lines),
        _as_sparse(lines, found),
        _includes_more(lines),
        _fewest(lines),
        _under_fit(lines),
    ]


def paired(lines: Lines, other: str) -> Pairs:
    """Return the runs of Grafting-Light beside those of another method at the same select unit."""
    rivals = {run["select"]: run for run in lines.get(other, [])}
    return [
        (light, rivals[light["select"]])
        for light in lines.get(LIGHT, [])
        if light["select"] in rivals
    ]


def _times(pair: tuple[Found, Found], name: str) -> str:
    """Return how many times as much the other took; at least that where it was stopped."""
    least = "" if pair[1]["converged"] else "> "
    return f"{least}{_ratio(pair, name):.1f}"


def _ratio(pair: tuple[Found, Found], name: str) -> float:
    return float(pair[1][name] / max(pair[0][name], 1e-9))


def _gradients(pair: tuple[Found, Found]) -> float:
    """Return how many times the gradients the other took, until the objective it reached.

    That is the optimum, unless the clock stopped it.
    """
    light, other = pair
    if other["converged"]:
        return _ratio(pair, "evaluations")
    k = first_below(light["curve"], "objective", other["objective"])
    needed = light["evaluations"] if k is None else light["curve"]["evaluations"][k]
    return float(other["evaluations"] / max(needed, 1))


def _stopped(*runs: Found) -> str:
    """Return which runs the clock stopped, in words; nothing if none."""
    names = [
        NAMES[run["method"]] + (f" at M = {run['select']}" if run.get("select") else "")
        for run in runs
        if not run["converged"]
    ]
    return f"the clock stopped {', '.join(dict.fromkeys(names))}" if names else ""


def _faster(lines: Lines, other: str) -> Claim:
    what = f"Fig. 2: time and gradients against {NAMES[other]}"
    printed = f"much more efficient than {NAMES[other]}, most at small M"
    pairs = paired(lines, other)
    if not pairs:
        return judge(what, printed, None, None)
    first, last = pairs[0], pairs[-1]
    ours = "; ".join(_faster_words(pair) for pair in pairs[:: max(len(pairs) - 1, 1)])
    lost = [pair[0]["select"] for pair in pairs if _ratio(pair, "evaluations") <= 1.0]
    much = _ratio(first, "evaluations") >= MUCH and _ratio(first, "cpu_seconds") >= MUCH_TIME
    most = len(pairs) > 1 and _gradients(first) >= _gradients(last)
    because = _slower_words(lost, much, most)
    stopped = _stopped(*(light for light, _ in pairs))
    return judge(what, printed, ours, not lost and much and most, because, unless=stopped)


def _faster_words(pair: tuple[Found, Found]) -> str:
    light, other = pair
    text = (
        f"M = {light['select']}: {NAMES[other['method']]} took {_times(pair, 'evaluations')} times "
        f"the gradients and {_times(pair, 'cpu_seconds')} times the CPU time"
    )
    if not other["converged"]:
        text += f" ({_gradients(pair):.0f} times the gradients until the objective it reached)"
    return text


def _slower_words(lost: list[int], much: bool, most: bool) -> str:
    """Return in which way it is not much faster."""
    parts = []
    if lost:
        parts.append(f"it needs no fewer gradients at M = {', '.join(map(str, lost))}")
    if not much:
        parts.append(
            f"at the smallest M the factor is below {MUCH:g} in gradients or {MUCH_TIME:g} in time"
        )
    if not most:
        parts.append("the factor is larger at the largest M")
    return ", and ".join(parts)


def _robust(lines: Lines) -> Claim:
    what = "Fig. 2: robust to the select unit"
    printed = "Grafting-Light is more robust to M than Grafting"
    pairs = paired(lines, GRAFTING)
    if len(pairs) < 2:
        return judge(what, printed, None, None)
    spans = []
    for side in (0, 1):
        counts = [pair[side]["evaluations"] for pair in pairs]
        spans.append((min(counts), max(counts)))
    (low, high), (low_other, high_other) = spans
    ours = f"gradients from {low} to {high}, Grafting from {low_other} to {high_other}"
    stopped = " (stopped)" if not all(pair[1]["converged"] for pair in pairs) else ""
    holds = high - low < high_other - low_other
    because = f"Grafting's range is no wider{stopped}"
    open_runs = _stopped(*(light for light, _ in pairs))
    return judge(what, printed, ours + stopped, holds, because, unless=open_runs)


def _as_good(lines: Lines) -> Claim:
    what = "Fig. 2: likelihood and error against Full-Opt-L1"
    printed = "comparable with the optimal batch method"
    if not lines.get(LIGHT) or not lines.get(FULL):
        return judge(what, printed, None, None)
    [full] = lines[FULL]
    nll = float(np.max([abs(run["nll"] / full["nll"] - 1) for run in lines[LIGHT]]))
    error = float(np.max([abs(run["test_error"] - full["test_error"]) for run in lines[LIGHT]]))
    ours = (
        f"Full-Opt-L1: NLL {full['nll']:,.1f}, error {full['test_error']:.2%}; Grafting-Light at "
        f"any M: NLL within {nll:.2g} of that, error within {100 * error:.2g} points"
    )
    gap = max(abs(run["objective"] / full["objective"] - 1) for run in lines[LIGHT])
    because = f"objectives differ by {gap:.1g} of their size"
    holds = nll < SAME and error < SAME
    return judge(what, printed, ours, holds, because, unless=_stopped(full, *lines[LIGHT]))


def _as_sparse(lines: Lines, found: Mapping[str, Found]) -> Claim:
    what = "Fig. 2: non-zero features against Full-Opt-L1"
    printed = "almost the same numbers"
    if not lines.get(LIGHT) or not lines.get(FULL):
        return judge(what, printed, None, None)
    [full] = lines[FULL]
    counts = [run["features"] for run in lines[LIGHT]]
    ours = f"{_range(counts)} at all M, Full-Opt-L1 {full['features']}"
    worst = max(abs(each / max(full["features"], 1) - 1) for each in counts)
    because, stopped = _split_words(lines, full, found), _stopped(full, *lines[LIGHT])
    return judge(what, printed, ours, worst <= SAME_FEATURES, because, unless=stopped)


def _split_words(lines: Lines, full: Found, found: Mapping[str, Found]) -> str:
    """Return the evidence that the optimum leaves the number of features open."""
    done = [run for run in lines[LIGHT] if run["converged"]]
    if not done:
        return "no run came to its end in time"
    gap = max(abs(run["objective"] / full["objective"] - 1) for run in done)
    inputs = _range([run["inputs"] for run in done])
    text = (
        f"of two labels an input may vote for one or against the other at the same cost, so that "
        f"l1 leaves the number open: objectives agree to {gap:.1g} and the inputs with a weight "
        f"are {inputs} and {full['inputs']}"
    )
    both = [found.get(f"chain-ridge-{method}") for method in (LIGHT, FULL)]
    if all(both):
        light, batch = (run["features"] for run in both if run)
        text += f"; with a small ridge, which has one optimum, they keep {light} and {batch}"
    return text


def _range(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


def _includes_more(lines: Lines) -> Claim:
    what = "Fig. 2: features selected on the way"
    printed = "Grafting-Light usually includes more features than Grafting"
    both = paired(lines, GRAFTING)
    pairs = [pair for pair in both if pair[0]["converged"] and pair[1]["converged"]]
    if not pairs:
        return judge(what, printed, None, None)
    more = sum(light["selected"] > other["selected"] for light, other in pairs)
    ours = f"more at {more} of {len(pairs)} select units; " + "; ".join(
        f"M = {light['select']}: {light['selected']} and {other['selected']}"
        for light, other in (pairs[0], pairs[-1])[: len(pairs)]
    )
    kept = max(light["selected"] / max(light["features"], 1) for light, _ in pairs)
    because = (
        "few of the features that Grafting-Light takes are given up again: it selects at most "
        f"{kept:.2f} times as many as it keeps"
    )
    return judge(what, printed, ours, 2 * more > len(pairs), because)


def _fewest(lines: Lines) -> Claim:
    what = "Fig. 2: Full-Opt-L1 computes the fewest gradients"
    printed = "always the fewest"
    if not lines.get(LIGHT) or not lines.get(FULL):
        return judge(what, printed, None, None)
    [full] = lines[FULL]
    fewest = min(lines[LIGHT], key=lambda run: run["evaluations"])
    ours = (
        f"{full['evaluations']}, Grafting-Light {fewest['evaluations']} at the least "
        f"(M = {fewest['select']})"
    )
    holds = full["evaluations"] <= fewest["evaluations"]
    fewer = [run for run in lines[LIGHT] if run["evaluations"] < full["evaluations"]]
    because = f"Grafting-Light needs fewer at {len(fewer)} of {len(lines[LIGHT])} select units"
    if fewer:
        gap = max(abs(run["objective"] / full["objective"] - 1) for run in fewer)
        because += f", where its objective is within {gap:.1g} of the batch method's"
    return judge(what, printed, ours, holds, because, unless=_stopped(full, fewest))


def _under_fit(lines: Lines) -> Claim:
    what = "Fig. 2: greedy methods at small M"
    printed = "Grafting and Gauss-Seidel select fewer features and under-fit"
    runs = [line[0] for line in (lines.get(GRAFTING), lines.get(SEIDEL)) if line]
    if not runs or not lines.get(LIGHT) or not lines.get(FULL):
        return judge(what, printed, None, None)
    [full] = lines[FULL]
    ours = "; ".join(
        f"{NAMES[run['method']]}, M = {run['select']}"
        f"{'' if run['converged'] else ', stopped by the limit of time'}: {run['features']} "
        f"features, NLL {run['nll']:,.1f}, error {run['test_error']:.2%}"
        for run in runs
    )
    ours += f"; Full-Opt-L1: {full['features']}, {full['nll']:,.1f}, {full['test_error']:.2%}"
    worse = all(
        run["nll"] > full["nll"] * (1 + SAME) and run["features"] < full["features"] for run in runs
    )
    because = _early_words(runs, lines[LIGHT][0], full)
    return judge(what, printed, ours, worse, because, unless=_stopped(full, *runs))


def _early_words(runs: list[Found], light: Found, full: Found) -> str:
    """Return what greedy methods have when Grafting-Light is done, and at their own end."""
    parts = []
    for run in runs:
        curve = run["curve"]
        late = [k for k, n in enumerate(curve["evaluations"]) if n <= light["evaluations"]]
        k = late[-1] if late else 0
        parts.append(
            f"{NAMES[run['method']]} has {count(curve['features'][k], 'feature')} and NLL "
            f"{curve['loss'][k] * run['n_train']:,.1f} after the {light['evaluations']} gradients "
            "that Grafting-Light needs"
        )
    for run in runs:
        if run["converged"]:
            gap = abs(run["objective"] / full["objective"] - 1)
            parts.append(
                f"at its own end {NAMES[run['method']]} is within {gap:.1g} of the optimum"
            )
    return ", and ".join(parts)
