"""What the Grafting-Light paper says of letters, judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from graftwork.reproduce.light_chain import FULL, GRAFTING, LIGHT
from graftwork.reproduce.light_chain_claims import MUCH, MUCH_TIME, NAMES, paired
from graftwork.reproduce.study import Claim, Found, judge
from graftwork.text import count

PRINTED = {"a": 4033, "c": 2114, "m": 1602, "s": 1394, "i": 4913, "g": 2472}
#: Per-pixel likelihoods, and mean images, differ when they differ by this share.
CLEAR = 0.01

#: How a run ends that a limit of time stopped.
CLOCK = "seconds"
#: How claims about penalised pixels end.
PENALISED = ", penalised pixels"

#: The three methods on one letter.
Trio = dict[str, Found]


def letter_claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return the claims about letters: sizes, then for each lambda and for penalised pixels."""
    out = [_sizes(found.get("letters-data"))]
    strengths = sorted({run["lam"] for run in bp_runs(found)}, reverse=True)
    ways = {f", lambda {lam:g}": trios_of(found, lam) for lam in strengths} or {"": {}}
    ways |= penalised_trio(found)
    for where, trios in ways.items():
        out += [
            _faster(trios, where, GRAFTING),
            _faster(trios, where, FULL),
            _better(trios, where),
            _sparse(trios, where),
            _blurry(trios, where),
        ]
    return [*out, _units(found)]


def bp_runs(found: Mapping[str, Found]) -> list[Found]:
    """Return the runs of all letters in the paper's setting."""
    return [
        run
        for key, run in found.items()
        if key.startswith("letters-") and "-bp" in key and "curve" in run
    ]


def trios_of(found: Mapping[str, Found], lam: float | None) -> dict[str, Trio]:
    """Return the three methods on each letter that has all of them."""
    trios: dict[str, Trio] = {}
    for run in bp_runs(found):
        if run["lam"] == lam:
            trios.setdefault(run["letter"], {})[run["method"]] = run
    return {letter: trio for letter, trio in trios.items() if len(trio) == len(NAMES) - 1}


def penalised_trio(found: Mapping[str, Found]) -> dict[str, dict[str, Trio]]:
    """Return the three methods on the letter that has penalised pixels too, if they are there."""
    runs = [found.get(f"letters-penalised-{method}") for method in (LIGHT, GRAFTING, FULL)]
    trio = {run["method"]: run for run in runs if run}
    if len(trio) < len(runs):
        return {}
    one = trio[LIGHT]
    return {f", lambda {one['lam']:g}{PENALISED}": {one["letter"]: trio}}


def unit_lines(found: Mapping[str, Found]) -> dict[str, list[Found]]:
    """Return the runs with several select units, and the batch method on that letter."""
    runs = [run for key, run in found.items() if key.startswith("letters-units-")]
    lines = {
        method: sorted((r for r in runs if r["method"] == method), key=lambda r: r["select"])
        for method in (LIGHT, GRAFTING)
    }
    if runs:
        trio = trios_of(found, runs[0]["lam"]).get(runs[0]["letter"])
        if trio:
            lines[FULL] = [trio[FULL]]
    return {method: line for method, line in lines.items() if line}


def _sizes(data: Found | None) -> Claim:
    what = "6.2: images of each letter"
    printed = ", ".join(f"{letter} {n}" for letter, n in PRINTED.items())
    if data is None:
        return judge(what, printed, None, None)
    counts = {letter: data[letter]["images"] for letter in PRINTED}
    ours = ", ".join(f"{letter} {n}" for letter, n in counts.items())
    odd = [f"{x} has {counts[x] - n:+d}" for x, n in PRINTED.items() if counts[x] != n]
    return judge(what, printed, ours, not odd, f"{', '.join(odd)}; the others are the same")


def _total(trios: Mapping[str, Trio], method: str, name: str) -> float:
    return float(sum(trio[method][name] for trio in trios.values()))


def _faster(trios: Mapping[str, Trio], where: str, other: str) -> Claim:
    what = f"Fig. 4: time against {NAMES[other]}{where}"
    printed = f"Grafting-Light much more efficient than {NAMES[other]}"
    if not trios:
        return judge(what, printed, None, None)
    timed = {letter: trio for letter, trio in trios.items() if _can_be_timed(trio, other)}
    if not timed:
        ours = f"no optimum to compare times to, on any of {count(len(trios), 'letter')}"
        return judge(what, printed, ours, False, _trust_words(trios, (LIGHT, other)))
    sums = {
        method: (_total(timed, method, "cpu_seconds"), _total(timed, method, "evaluations"))
        for method in (LIGHT, other)
    }
    told = "; ".join(
        f"{NAMES[method]} {seconds:.1f} CPU s, {calls:.0f} gradients"
        for method, (seconds, calls) in sums.items()
    )
    factors = [theirs / max(own, 1e-9) for own, theirs in zip(*sums.values(), strict=True)]
    stopped = sum(not trio[other]["converged"] for trio in timed.values())
    ours = (
        f"{told}; on the {len(timed)} of {count(len(trios), 'letter')} that can be compared: "
        f"{'at least ' if stopped else ''}{factors[0]:.1f} times the time, {factors[1]:.1f} times "
        "the gradients"
    )
    if stopped:
        ours += f" ({NAMES[other]} was stopped by the clock on {stopped})"
    # Of Full-Opt-L1 the paper says that it needs fewer gradients, and more time for each.
    holds = factors[0] >= MUCH_TIME and (other == FULL or factors[1] >= MUCH)
    because = _cost_words(other, sums) + _trust_words(trios, (LIGHT, other), "; ")
    return judge(what, printed, ours, holds, because)


def _can_be_timed(trio: Trio, other: str) -> bool:
    """Return whether Grafting-Light has its optimum, and the other has, or ran until the clock.

    A run that the clock stopped takes at least as long. One that belief propagation stopped says
    nothing about the time to the optimum.
    """
    rival = trio[other]
    return bool(trio[LIGHT]["converged"] and (rival["converged"] or rival["stop"] == CLOCK))


def _cost_words(other: str, sums: Mapping[str, tuple[float, float]]) -> str:
    """Return what a gradient costs each."""
    costs = [1000 * seconds / max(calls, 1) for seconds, calls in sums.values()]
    return (
        f"a gradient, with what goes with it, takes {costs[0]:.1f} ms in Grafting-Light and "
        f"{costs[1]:.1f} ms in {NAMES[other]}"
    )


def _trust_words(trios: Mapping[str, Trio], methods: Sequence[str], before: str = "") -> str:
    """Return where runs have no optimum and why, and how methods agree where they have."""
    parts = []
    for method in methods:
        ends = [trio[method] for trio in trios.values() if not trio[method]["converged"]]
        if ends:
            clock = sum(run["stop"] == CLOCK for run in ends)
            parts.append(
                f"{NAMES[method]} on {len(ends)} of {count(len(trios), 'letter')} ({clock} stopped "
                "by the clock; belief propagation did not converge in "
                f"{sum(run['untrusted'] for run in ends)} rounds)"
            )
    told = [f"no optimum was reached by {' and '.join(parts)}"] if parts else []
    if agreed := _agreement(trios, methods):
        told.append(agreed)
    return before + "; ".join(told) if told else ""


def _agreement(trios: Mapping[str, Trio], methods: Sequence[str], before: str = "") -> str:
    """Return how well two methods agree where both have their optimum, nothing if none has."""
    gaps = [
        abs(trio[methods[0]]["objective"] / (trio[methods[1]]["objective"] or 1.0) - 1)
        for trio in done(trios, methods)
    ]
    if not gaps:
        return ""
    return (
        f"{before}where both converge ({len(gaps)} of {count(len(trios), 'letter')}) objectives "
        f"agree to {max(gaps):.1g}"
    )


def done(trios: Mapping[str, Trio], methods: Sequence[str]) -> list[Trio]:
    """Return the letters on which these methods reached their optimum."""
    return [trio for trio in trios.values() if all(trio[method]["converged"] for method in methods)]


def _to_their_ends(trios: Mapping[str, Trio]) -> dict[str, Trio]:
    """Return the letters on which the clock stopped neither Grafting-Light nor the batch method."""
    return {
        letter: trio
        for letter, trio in trios.items()
        if CLOCK not in (trio[LIGHT]["stop"], trio[FULL]["stop"])
    }


def _cut_short(what: str, printed: str, trios: Mapping[str, Trio]) -> Claim | None:
    """Return the verdict where no letter can be judged, None where one can."""
    if not trios:
        return judge(what, printed, None, None)
    if _to_their_ends(trios):
        return None
    ours = f"the clock stopped a run on each of {count(len(trios), 'letter')}"
    return judge(what, printed, ours, False, _trust_words(trios, (LIGHT, FULL)))


def _better(trios: Mapping[str, Trio], where: str) -> Claim:
    what = f"Fig. 4: test NLL a pixel against Full-Opt-L1{where}"
    printed = "Full-Opt-L1 has a larger one (inaccurate BP on a complete graph)"
    if unknown := _cut_short(what, printed, trios):
        return unknown
    ended = _to_their_ends(trios)
    means = {
        method: [
            float(np.mean([trio[method][name] for trio in ended.values()]))
            for name in ("test_nll", "test_nlpl", "edges")
        ]
        for method in (LIGHT, GRAFTING, FULL)
    }
    ours = "; ".join(
        f"{NAMES[method]} {nll:.4f} by BP, NLPL {nlpl:.4f}, {edges:.0f} edges"
        for method, (nll, nlpl, edges) in means.items()
    )
    worse = sum(
        trio[FULL]["test_nll"] > (1 + CLEAR) * trio[LIGHT]["test_nll"] for trio in ended.values()
    )
    ours += f"; larger on {worse} of {_letters(ended, trios)}"
    text = "BP on a complete graph, most of it zeros, says what it says on the sparse one; "
    return judge(what, printed, ours, worse == len(ended), _because(trios, where, text))


def _letters(ended: Mapping[str, Trio], trios: Mapping[str, Trio]) -> str:
    """Return how many letters were judged, and how many were not."""
    left = len(trios) - len(ended)
    others = f" ({left} more cannot be judged)" if left else ""
    return f"{count(len(ended), 'letter')}{others}"


def _because(trios: Mapping[str, Trio], where: str, text: str) -> str:
    """Return why the batch method is no worse.

    The text is about letters with free pixels where both converge: an edge of zeros sends no
    message, and with free unaries BP's means are those of the data.
    """
    free = done(trios, (LIGHT, FULL)) and not where.endswith(PENALISED)
    return (text if free else "") + _trust_words(trios, (LIGHT, FULL))


def _sparse(trios: Mapping[str, Trio], where: str) -> Claim:
    what = f"6.2: sparsity of Full-Opt-L1{where}"
    printed = "not sparse enough, because of inaccurate gradients"
    if unknown := _cut_short(what, printed, trios):
        return unknown
    ended = {x: trio for x, trio in _to_their_ends(trios).items() if trio[LIGHT]["converged"]}
    if not ended:
        ours = (
            f"no optimum of Grafting-Light to compare with, on any of {count(len(trios), 'letter')}"
        )
        return judge(what, printed, ours, False, _trust_words(trios, (LIGHT, FULL)))
    edges = {method: _total(ended, method, "edges") for method in (LIGHT, FULL)}
    ours = "; ".join(f"{NAMES[method]} {each:,.0f} edges" for method, each in edges.items())
    ours += f"; {_letters(ended, trios)}{_agreement(ended, (LIGHT, FULL), ', ')}"
    holds = edges[FULL] > MUCH * edges[LIGHT] > 0
    return judge(what, printed, ours, holds, _trust_words(trios, (LIGHT, FULL)))


def _blurry(trios: Mapping[str, Trio], where: str) -> Claim:
    what = f"Fig. 4: mean images{where}"
    printed = "those of Full-Opt-L1 are blurry, others are not"
    if unknown := _cut_short(what, printed, trios):
        return unknown
    ended = _to_their_ends(trios)
    errors = {
        method: [
            float(np.mean([trio[method][name] for trio in ended.values()]))
            for name in ("belief_error", "sample_error")
        ]
        for method in (LIGHT, FULL)
    }
    ours = "root mean square error: " + "; ".join(
        f"{NAMES[method]} {believed:.4f} by BP, {drawn:.4f} of samples"
        for method, (believed, drawn) in errors.items()
    )
    worse = sum(
        trio[FULL]["belief_error"] > (1 + CLEAR) * trio[LIGHT]["belief_error"]
        for trio in ended.values()
    )
    ours += f"; Full-Opt-L1 is worse on {worse} of {_letters(ended, trios)}"
    text = "with free unaries BP's means are those of the images learned from; "
    return judge(what, printed, ours, worse == len(ended), _because(trios, where, text))


def _units(found: Mapping[str, Found]) -> Claim:
    what = "Fig. 5: gradients against the select unit"
    printed = "stable for Grafting-Light; falling for Grafting, always more"
    lines = unit_lines(found)
    pairs = [
        (light, other)
        for light, other in paired(lines, GRAFTING)
        if light["converged"] and other["converged"]
    ]
    if len(pairs) < 2:
        return judge(what, printed, None, None)
    ours = f"letter {pairs[0][0]['letter']}: " + "; ".join(
        f"M = {light['select']}: {light['evaluations']} and {other['evaluations']}"
        for light, other in pairs
    )
    more = all(light["evaluations"] < other["evaluations"] for light, other in pairs)
    spans = [
        max(pair[k]["evaluations"] for pair in pairs)
        / min(pair[k]["evaluations"] for pair in pairs)
        for k in (0, 1)
    ]
    falls = pairs[0][1]["evaluations"] > pairs[-1][1]["evaluations"]
    because = (
        f"the largest number is {spans[0]:.1f} times the smallest for Grafting-Light (stable is "
        f"at most {MUCH:g}) and {spans[1]:.1f} times for Grafting"
    )
    return judge(what, printed, ours, more and falls and spans[0] <= MUCH, because)
