"""What the Grafting-Light paper says of letters, judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from experiments.engine import Claim, Found, Row, judge, judge_all
from experiments.grafting_light.chain import FULL, GRAFTING, LIGHT
from experiments.grafting_light.pairs import (
    LIMIT,
    MUCH,
    MUCH_TIME,
    NAMES,
    Values,
    at_least,
    gap_of,
)  # fmt: skip

PRINTED = {"a": 4033, "c": 2114, "m": 1602, "s": 1394, "i": 4913, "g": 2472}
#: Per-pixel likelihoods, and mean images, differ when they differ by this share.
CLEAR = 0.01
#: How claims about penalised pixels end.
PENALISED = ", penalised pixels"
NOTHING = float("nan")

_JUDGED = (
    "letters_with_a_larger_NLL", "letters_with_a_larger_error",
    "edges_over_those_of_Grafting_Light",
)  # fmt: skip

#: The three methods on one letter.
Trio = dict[str, Found]
Trios = Mapping[str, Trio]

SIZES = Row(
    "6.2: images of each letter", ", ".join(f"{x} {n}" for x, n in PRINTED.items()), "{counts}",
    [("letters_with_another_number", "==", 0)],
    ["{unlike}; the others are the same"],
)  # fmt: skip
_MS = (
    "a gradient, with what goes with it, takes {ms[0]:.1f} ms in Grafting-Light and {ms[1]:.1f} ms "
    "in {rival}"
)
_FASTER = (
    "Fig. 4: time against {rival}{where}", "Grafting-Light much more efficient than {rival}",
    "{told}",
)  # fmt: skip
# Of Full-Opt-L1 the paper says that it needs fewer gradients, and more time for each.
FASTER = {
    GRAFTING: Row(
        *_FASTER,
        [("times_the_CPU_time", ">=", MUCH_TIME), ("times_the_gradients", ">=", MUCH)],
        [_MS, "{agree}"], ["{trust}", "{bound}"],
    ),
    FULL: Row(*_FASTER, [("times_the_CPU_time", ">=", MUCH_TIME)], [_MS, "{agree}"],
              ["{trust}", "{bound}"]),
}  # fmt: skip
BETTER = Row(
    "Fig. 4: test NLL a pixel against Full-Opt-L1{where}",
    "Full-Opt-L1 has a larger one (inaccurate BP on a complete graph)",
    "{told_NLL}",
    [("letters_with_a_larger_NLL", "==", "letters")],
    ["{free}BP on a complete graph, most of it zeros, says what it says on the sparse one",
     "{agree}"],
    ["{trust}"],
)  # fmt: skip
SPARSE = Row(
    "6.2: sparsity of Full-Opt-L1{where}", "not sparse enough, because of inaccurate gradients",
    "{told_edges}",
    [("edges_over_those_of_Grafting_Light", ">", MUCH)],
    ["{agree}"],
    ["{trust}"],
)  # fmt: skip
BLURRY = Row(
    "Fig. 4: mean images{where}", "those of Full-Opt-L1 are blurry, others are not",
    "{told_error}",
    [("letters_with_a_larger_error", "==", "letters")],
    ["{free}with free unaries BP's means are those of the images learned from", "{agree}"],
    ["{trust}"],
)  # fmt: skip


def letter_claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return the claims about letters: sizes, then for each lambda and for penalised pixels."""
    strengths = sorted({run["lam"] for run in bp_runs(found)}, reverse=True)
    ways = {f", lambda {lam:g}": trios_of(found, lam) for lam in strengths} or {"": {}}
    out = [judge(SIZES, _sizes(found.get("letters-data")))]
    for where, trios in (ways | penalised_trio(found)).items():
        out += [judge(row, _times(trios, where, other)) for other, row in FASTER.items()]
        out += judge_all([BETTER, SPARSE, BLURRY], _ends(trios, where))
    return out


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
        "letters_with_another_number": len(odd),
        "unlike": ", ".join(odd) or None,
    }


def _times(trios: Trios, where: str, other: str) -> Values:
    """Return what both methods took on the letters that can be compared.

    Grafting-Light must have its optimum. A run that the limit of evaluations ended takes at least
    as long; one that belief propagation ended says nothing about the time to the optimum.
    """
    rival, about = NAMES[other], {"rival": NAMES[other], "where": where}
    if not trios:
        return about
    timed = [
        trio
        for trio in trios.values()
        if trio[LIGHT]["converged"] and (trio[other]["converged"] or trio[other]["stop"] == LIMIT)
    ]
    values = about | {"agree": _agreement(list(trios.values()), other)}
    if not timed:
        told = f"no optimum to compare times to, on any of {_letters(len(trios))}"
        nothing = dict.fromkeys(("times_the_CPU_time", "times_the_gradients"), NOTHING)
        return values | nothing | {"told": told, "trust": _trust(trios, other)}
    seconds, calls = (
        [float(sum(trio[method][name] for trio in timed)) for method in (LIGHT, other)]
        for name in ("cpu_seconds", "evaluations")
    )
    time, gradients = (both[1] / max(both[0], 1e-9) for both in (seconds, calls))
    cut = sum(not trio[other]["converged"] for trio in timed)
    told = (
        f"Grafting-Light {seconds[0]:.3g} CPU s, {calls[0]:.0f} gradients; {rival} "
        f"{seconds[1]:.3g} CPU s, {calls[1]:.0f} gradients; on the {len(timed)} of "
        f"{_letters(len(trios))} that can be compared: {'at least ' if cut else ''}{time:.1f} "
        f"times the time, {gradients:.1f} times the gradients"
    )
    if cut:
        told += f" (the limit of evaluations ended {rival} on {cut})"
    ms = [1000 * each / max(count, 1) for each, count in zip(seconds, calls, strict=True)]
    enough = time >= MUCH_TIME and (other == FULL or gradients >= MUCH)
    return values | {
        "times_the_CPU_time": time,
        "times_the_gradients": gradients,
        "told": told,
        "ms": ms,
        "bound": None if enough or not cut else at_least(rival),
    }


def _trust(trios: Trios, other: str) -> str | None:
    """Return where runs have no optimum and why, None if all have one."""
    parts = []
    for method in (LIGHT, other):
        ends = [trio[method] for trio in trios.values() if not trio[method]["converged"]]
        if ends:
            limit = sum(run["stop"] == LIMIT for run in ends)
            parts.append(
                f"{NAMES[method]} on {len(ends)} of {_letters(len(trios))} ({limit} ended by the "
                "limit of evaluations; belief propagation did not converge in "
                f"{sum(run['untrusted'] for run in ends)} rounds)"
            )
    return f"no optimum was reached by {' and '.join(parts)}" if parts else None


def _agreement(trios: Sequence[Trio], other: str) -> str | None:
    """Return how well objectives agree where both have their optimum, None if none has."""
    gaps = [gap_of(trio[LIGHT], trio[other]) for trio in trios if _done(trio, (LIGHT, other))]
    if not gaps:
        return None
    share = f"{len(gaps)} of {_letters(len(trios))}"
    return f"where both converge ({share}) objectives agree to {max(gaps):.1g}"


def _ends(trios: Trios, where: str) -> Values:
    """Return the ends of Grafting-Light and the batch method on the letters that can be judged.

    Grafting-Light must have its optimum. The batch method may lack one for want of accurate
    inference, which is the paper's point, but not because the limit of evaluations ended it.
    """
    if not trios:
        return {"where": where}
    judged = [
        trio for trio in trios.values() if trio[LIGHT]["converged"] and trio[FULL]["stop"] != LIMIT
    ]
    values = {"where": where, "letters": len(judged) or len(trios)}
    if not judged:
        told = f"nothing to compare on any of {_letters(len(trios))}"
        words = dict.fromkeys(("told_NLL", "told_edges", "told_error"), told)
        return values | dict.fromkeys(_JUDGED, NOTHING) | words | {"trust": _trust(trios, FULL)}
    # An edge of zeros sends no message, and with free unaries BP's means are those of the data.
    converged = any(_done(trio, (LIGHT, FULL)) for trio in judged)
    values["free"] = "" if converged and not where.endswith(PENALISED) else None
    values["agree"] = _agreement(judged, FULL)
    return values | _qualities(judged, len(trios) - len(judged)) | _edges(judged)


def _qualities(judged: Sequence[Trio], left: int) -> Values:
    """Return likelihoods and mean images, and on how many letters the batch method's are worse."""
    mean = {
        method: {
            name: fmean(trio[method][name] for trio in judged)
            for name in ("test_nll", "test_nlpl", "edges", "belief_error", "sample_error")
        }
        for method in (LIGHT, GRAFTING, FULL)
    }
    larger = {
        name: sum(trio[FULL][name] > (1 + CLEAR) * trio[LIGHT][name] for trio in judged)
        for name in ("test_nll", "belief_error")
    }
    nll = "{0} {test_nll:.4f} by BP, NLPL {test_nlpl:.4f}, {edges:.0f} edges"
    error = "{0} {belief_error:.4f} by BP, {sample_error:.4f} of samples"
    share = f"of {_letters(len(judged))}" + (f" ({left} cannot be judged)" if left else "")
    return {
        "letters_with_a_larger_NLL": larger["test_nll"],
        "letters_with_a_larger_error": larger["belief_error"],
        "told_NLL": "; ".join(nll.format(NAMES[m], **mean[m]) for m in mean)
        + f"; larger by {CLEAR:.0%} on {larger['test_nll']} {share}",
        "told_error": "root mean square error: "
        + "; ".join(error.format(NAMES[m], **mean[m]) for m in (LIGHT, FULL))
        + f"; worse by {CLEAR:.0%} on {larger['belief_error']} {share}",
    }


def _edges(judged: Sequence[Trio]) -> Values:
    """Return how many edges both have."""
    light, full = (sum(trio[method]["edges"] for trio in judged) for method in (LIGHT, FULL))
    agree = _agreement(judged, FULL)
    return {
        "told_edges": f"Grafting-Light {light:,} edges; Full-Opt-L1 {full:,} edges; on "
        f"{_letters(len(judged))}" + (f", {agree}" if agree else ""),
        "edges_over_those_of_Grafting_Light": full / max(light, 1),
    }


def _done(trio: Trio, methods: Iterable[str]) -> bool:
    return all(trio[method]["converged"] for method in methods)


def _letters(count: int) -> str:
    return f"{count} letter{'s'[: count != 1]}"
