"""What the Grafting-Light paper says of letters, judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from experiments.engine import Claim, Found, Row, judge, judge_all
from experiments.grafting_light.chain import FULL, GRAFTING, LIGHT
from experiments.grafting_light.claims import MUCH, MUCH_TIME, NAMES, Values, gap_of, paired

PRINTED = {"a": 4033, "c": 2114, "m": 1602, "s": 1394, "i": 4913, "g": 2472}
#: Per-pixel likelihoods, and mean images, differ when they differ by this share.
CLEAR = 0.01
#: How a run ends that a limit of time stopped.
CLOCK = "seconds"
#: How claims about penalised pixels end.
PENALISED = ", penalised pixels"

#: The three methods on one letter.
Trio = dict[str, Found]
Trios = Mapping[str, Trio]

SIZES = Row(
    "6.2: images of each letter", ", ".join(f"{x} {n}" for x, n in PRINTED.items()), "{counts}",
    [("odd", "==", 0)],
    ["{unlike}; the others are the same"],
)  # fmt: skip
FASTER = Row(
    "Fig. 4: time against {rival}{where}", "Grafting-Light much more efficient than {rival}",
    "{told}",
    [("time", ">=", MUCH_TIME), ("gradients", ">=", "needed")],
    ["a gradient, with what goes with it, takes {ms[0]:.1f} ms in Grafting-Light and {ms[1]:.1f} "
     "ms in {rival}",
     "{trust}", "{agree}"],
)  # fmt: skip
BETTER = Row(
    "Fig. 4: test NLL a pixel against Full-Opt-L1{where}",
    "Full-Opt-L1 has a larger one (inaccurate BP on a complete graph)", "{told_nll}",
    [("ended", ">", 0), ("larger_nll", "==", "ended")],
    ["{free}BP on a complete graph, most of it zeros, says what it says on the sparse one",
     "{trust}", "{agree}"],
)  # fmt: skip
SPARSE = Row(
    "6.2: sparsity of Full-Opt-L1{where}", "not sparse enough, because of inaccurate gradients",
    "{told_edges}",
    [("light_edges", ">", 0), ("full_edges", ">", "twice_light")],
    ["{trust}", "{agree}"],
)  # fmt: skip
BLURRY = Row(
    "Fig. 4: mean images{where}", "those of Full-Opt-L1 are blurry, others are not",
    "{told_error}",
    [("ended", ">", 0), ("larger_error", "==", "ended")],
    ["{free}with free unaries BP's means are those of the images learned from", "{trust}",
     "{agree}"],
)  # fmt: skip
UNITS = Row(
    "Fig. 5: gradients against the select unit",
    "stable for Grafting-Light; falling for Grafting, always more", "letter {letter}: {told}",
    [("more", "==", True), ("first", ">", "last"), ("spread", "<=", MUCH)],
    [f"the largest number is {{spread:.1f}} times the smallest for Grafting-Light (stable is at "
     f"most {MUCH:g}) and {{other_spread:.1f}} times for Grafting"],
)  # fmt: skip


def letter_claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return the claims about letters: sizes, then for each lambda and for penalised pixels."""
    strengths = sorted({run["lam"] for run in bp_runs(found)}, reverse=True)
    ways = {f", lambda {lam:g}": trios_of(found, lam) for lam in strengths} or {"": {}}
    out = [judge(SIZES, _sizes(found.get("letters-data")))]
    for where, trios in (ways | penalised_trio(found)).items():
        out += [judge(FASTER, _times(trios, where, other)) for other in (GRAFTING, FULL)]
        out += judge_all([BETTER, SPARSE, BLURRY], _ends(trios, where))
    return [*out, judge(UNITS, _units(found))]


# ---- Runs --------------------------------------------------------------------------------------


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


# ---- Values ------------------------------------------------------------------------------------


def _sizes(data: Found | None) -> Values:
    if data is None:
        return {}
    counts = {letter: data[letter]["images"] for letter in PRINTED}
    odd = [f"{x} has {counts[x] - n:+d}" for x, n in PRINTED.items() if counts[x] != n]
    return {
        "counts": ", ".join(f"{letter} {n}" for letter, n in counts.items()),
        "odd": len(odd),
        "unlike": ", ".join(odd) or None,
    }


def _times(trios: Trios, where: str, other: str) -> Values:
    """Return what both methods took on the letters that can be compared.

    Grafting-Light must have its optimum. A run that the clock stopped takes at least as long; one
    that belief propagation stopped says nothing about the time to the optimum.
    """
    rival, about = NAMES[other], {"rival": NAMES[other], "where": where}
    if not trios:
        return about
    timed = [
        trio
        for trio in trios.values()
        if trio[LIGHT]["converged"] and (trio[other]["converged"] or trio[other]["stop"] == CLOCK)
    ]
    # Of Full-Opt-L1 the paper says that it needs fewer gradients, and more time for each.
    values = about | _trust(trios, other) | {"needed": 0.0 if other == FULL else MUCH}
    if not timed:
        told = f"no optimum to compare times to, on any of {_letters(len(trios))}"
        return values | {"told": told, "time": 0.0, "gradients": 0.0}
    seconds, calls = (
        [float(sum(trio[method][name] for trio in timed)) for method in (LIGHT, other)]
        for name in ("cpu_seconds", "evaluations")
    )
    time, gradients = (both[1] / max(both[0], 1e-9) for both in (seconds, calls))
    cut = sum(not trio[other]["converged"] for trio in timed)
    told = (
        f"Grafting-Light {seconds[0]:.1f} CPU s, {calls[0]:.0f} gradients; {rival} "
        f"{seconds[1]:.1f} CPU s, {calls[1]:.0f} gradients; on the {len(timed)} of "
        f"{_letters(len(trios))} that can be compared: {'at least ' if cut else ''}{time:.1f} "
        f"times the time, {gradients:.1f} times the gradients"
    )
    if cut:
        told += f" ({rival} was stopped by the clock on {cut})"
    ms = [1000 * each / max(count, 1) for each, count in zip(seconds, calls, strict=True)]
    return values | {"told": told, "time": time, "gradients": gradients, "ms": ms}


def _trust(trios: Trios, other: str) -> Values:
    """Return where runs have no optimum and why, and how the two agree where they have."""
    parts = []
    for method in (LIGHT, other):
        ends = [trio[method] for trio in trios.values() if not trio[method]["converged"]]
        if ends:
            clock = sum(run["stop"] == CLOCK for run in ends)
            parts.append(
                f"{NAMES[method]} on {len(ends)} of {_letters(len(trios))} ({clock} stopped by the "
                "clock; belief propagation did not converge in "
                f"{sum(run['untrusted'] for run in ends)} rounds)"
            )
    return {
        "trust": f"no optimum was reached by {' and '.join(parts)}" if parts else None,
        "agree": _agreement(list(trios.values()), other),
    }


def _agreement(trios: Sequence[Trio], other: str) -> str | None:
    """Return how well objectives agree where both have their optimum, None if none has."""
    gaps = [gap_of(trio[LIGHT], trio[other]) for trio in trios if _done(trio, (LIGHT, other))]
    if not gaps:
        return None
    share = f"{len(gaps)} of {_letters(len(trios))}"
    return f"where both converge ({share}) objectives agree to {max(gaps):.1g}"


def _ends(trios: Trios, where: str) -> Values:
    """Return the ends of Grafting-Light and the batch method where the clock stopped neither."""
    if not trios:
        return {"where": where}
    ended = [t for t in trios.values() if CLOCK not in (t[LIGHT]["stop"], t[FULL]["stop"])]
    # An edge of zeros sends no message, and with free unaries BP's means are those of the data.
    converged = any(_done(trio, (LIGHT, FULL)) for trio in trios.values())
    free = "" if converged and not where.endswith(PENALISED) else None
    values = {"where": where, "free": free, "ended": len(ended), **_trust(trios, FULL)}
    if not ended:
        told = f"the clock stopped a run on each of {_letters(len(trios))}"
        stopped = dict.fromkeys(("told_nll", "told_edges", "told_error"), told)
        return values | stopped | {"larger_nll": 0, "larger_error": 0, "light_edges": 0,
                                   "full_edges": 0, "twice_light": 0}  # fmt: skip
    judged, left = _letters(len(ended)), len(trios) - len(ended)
    judged += f" ({left} more cannot be judged)" if left else ""
    return values | _qualities(ended, judged) | _edges(ended, len(trios))


def _qualities(ended: Sequence[Trio], judged: str) -> Values:
    """Return likelihoods and mean images, and on how many letters the batch method's are worse."""
    mean = {
        method: {
            name: fmean(trio[method][name] for trio in ended)
            for name in ("test_nll", "test_nlpl", "edges", "belief_error", "sample_error")
        }
        for method in (LIGHT, GRAFTING, FULL)
    }
    larger = {
        name: sum(trio[FULL][name] > (1 + CLEAR) * trio[LIGHT][name] for trio in ended)
        for name in ("test_nll", "belief_error")
    }
    nll = "{0} {test_nll:.4f} by BP, NLPL {test_nlpl:.4f}, {edges:.0f} edges"
    error = "{0} {belief_error:.4f} by BP, {sample_error:.4f} of samples"
    return {
        "larger_nll": larger["test_nll"],
        "larger_error": larger["belief_error"],
        "told_nll": "; ".join(nll.format(NAMES[m], **mean[m]) for m in mean)
        + f"; larger on {larger['test_nll']} of {judged}",
        "told_error": "root mean square error: "
        + "; ".join(error.format(NAMES[m], **mean[m]) for m in (LIGHT, FULL))
        + f"; Full-Opt-L1 is worse on {larger['belief_error']} of {judged}",
    }


def _edges(ended: Sequence[Trio], letters: int) -> Values:
    """Return how many edges both have where Grafting-Light has its optimum."""
    done = [trio for trio in ended if trio[LIGHT]["converged"]]
    light, full = (sum(trio[method]["edges"] for trio in done) for method in (LIGHT, FULL))
    told = f"Grafting-Light {light:,} edges; Full-Opt-L1 {full:,} edges; {_letters(len(done))}"
    told += f", {agree}" if (agree := _agreement(done, FULL)) else ""
    if not done:
        told = f"no optimum of Grafting-Light to compare with, on any of {_letters(letters)}"
    return {
        "told_edges": told,
        "light_edges": light,
        "full_edges": full,
        "twice_light": MUCH * light,
    }


def _done(trio: Trio, methods: Iterable[str]) -> bool:
    return all(trio[method]["converged"] for method in methods)


def _letters(count: int) -> str:
    return f"{count} letter{'s'[: count != 1]}"


def _units(found: Mapping[str, Found]) -> dict[str, Any]:
    """Return the gradients at all select units at which both methods converged."""
    pairs = [
        (light, other)
        for light, other in paired(unit_lines(found), GRAFTING)
        if light["converged"] and other["converged"]
    ]
    if len(pairs) < 2:
        return {}
    light, other = ([pair[k]["evaluations"] for pair in pairs] for k in (0, 1))
    return {
        "letter": pairs[0][0]["letter"],
        "told": "; ".join(
            f"M = {one['select']}: {one['evaluations']} and {two['evaluations']}"
            for one, two in pairs
        ),
        "more": all(a < b for a, b in zip(light, other, strict=True)),
        "first": other[0],
        "last": other[-1],
        "spread": max(light) / min(light),
        "other_spread": max(other) / min(other),
    }
