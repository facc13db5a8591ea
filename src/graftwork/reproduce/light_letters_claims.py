"""What the Grafting-Light paper says of letters, judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from graftwork.reproduce.light_chain import FULL, GRAFTING, LIGHT
from graftwork.reproduce.light_chain_claims import MUCH, MUCH_TIME, NAMES
from graftwork.reproduce.study import Claim, Found, judge

PRINTED = {"a": 4033, "c": 2114, "m": 1602, "s": 1394, "i": 4913, "g": 2472}
#: Per-pixel likelihoods, and mean images, differ when they differ by this share.
CLEAR = 0.01

#: The three methods on one letter.
Trio = dict[str, Found]


def letter_claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return the claims about letters: sizes, then for each lambda."""
    out = [_sizes(found.get("letters-data"))]
    strengths = sorted({run["lam"] for run in bp_runs(found)}, reverse=True)
    for lam in strengths or [None]:
        trios = trios_of(found, lam)
        where = "" if lam is None else f", lambda {lam:g}"
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
    printed = ", ".join(f"{letter} {count}" for letter, count in PRINTED.items())
    if data is None:
        return judge(what, printed, None, None)
    counts = {letter: data[letter]["images"] for letter in PRINTED}
    ours = ", ".join(f"{letter} {count}" for letter, count in counts.items())
    odd = [f"{x} has {counts[x] - n:+d}" for x, n in PRINTED.items() if counts[x] != n]
    return judge(what, printed, ours, not odd, f"{', '.join(odd)}; the others are the same")


def _total(trios: Mapping[str, Trio], method: str, name: str) -> float:
    return float(sum(trio[method][name] for trio in trios.values()))


def _faster(trios: Mapping[str, Trio], where: str, other: str) -> Claim:
    what = f"Fig. 4: time against {NAMES[other]}{where}"
    printed = f"Grafting-Light much more efficient than {NAMES[other]}"
    if not trios:
        return judge(what, printed, None, None)
    sums = {
        method: (_total(trios, method, "cpu_seconds"), _total(trios, method, "evaluations"))
        for method in (LIGHT, other)
    }
    told = "; ".join(
        f"{NAMES[method]} {seconds:.1f} CPU s, {count:.0f} gradients"
        for method, (seconds, count) in sums.items()
    )
    factors = [theirs / max(own, 1e-9) for own, theirs in zip(*sums.values(), strict=True)]
    ours = f"{told}; {len(trios)} letters: {factors[0]:.1f} times the time, {factors[1]:.1f} times "
    ours += "the gradients"
    open_runs = [
        sum(not trio[method]["converged"] for trio in trios.values()) for method in (LIGHT, other)
    ]
    if any(open_runs):
        ours += f"; without an optimum on {open_runs[0]} and {open_runs[1]} of the letters"
    # Of Full-Opt-L1 the paper says that it needs fewer gradients, and more time for each.
    holds = factors[0] >= MUCH_TIME and (other == FULL or factors[1] >= MUCH)
    return judge(what, printed, ours, holds, _slower_words(trios, other, sums))


def _slower_words(
    trios: Mapping[str, Trio], other: str, sums: Mapping[str, tuple[float, float]]
) -> str:
    """Return what a gradient costs each, and whether belief propagation converged."""
    costs = [1000 * seconds / max(count, 1) for seconds, count in sums.values()]
    text = (
        f"a gradient, with what goes with it, takes {costs[0]:.1f} ms in Grafting-Light and "
        f"{costs[1]:.1f} ms in {NAMES[other]}"
    )
    return text + _trust_words(trios, (LIGHT, other))


def _trust_words(trios: Mapping[str, Trio], methods: Sequence[str]) -> str:
    """Return where belief propagation failed, and how methods agree where it did not."""
    parts = []
    for method in methods:
        failed = sum(not trio[method]["converged"] for trio in trios.values())
        if failed:
            parts.append(
                f"{NAMES[method]} on {failed} of {len(trios)} letters (belief propagation did not "
                f"converge in {_total(trios, method, 'untrusted'):.0f} rounds)"
            )
    text = f"; no optimum was reached by {' and '.join(parts)}" if parts else ""
    gaps = [
        abs(trio[methods[0]]["objective"] / trio[methods[1]]["objective"] - 1)
        for trio in done(trios, methods)
    ]
    if gaps:
        text += f"; where both converge ({len(gaps)} of {len(trios)} letters) objectives agree to "
        text += f"{max(gaps):.1g}"
    return text


def done(trios: Mapping[str, Trio], methods: Sequence[str]) -> list[Trio]:
    """Return the letters on which these methods reached their optimum."""
    return [trio for trio in trios.values() if all(trio[method]["converged"] for method in methods)]


def _better(trios: Mapping[str, Trio], where: str) -> Claim:
    what = f"Fig. 4: test NLL a pixel against Full-Opt-L1{where}"
    printed = "Full-Opt-L1 has a larger one (inaccurate BP on a complete graph)"
    if not trios:
        return judge(what, printed, None, None)
    means = {
        method: [
            float(np.mean([trio[method][name] for trio in trios.values()]))
            for name in ("test_nll", "test_nlpl", "edges")
        ]
        for method in (LIGHT, GRAFTING, FULL)
    }
    ours = "; ".join(
        f"{NAMES[method]} {nll:.4f} by BP, NLPL {nlpl:.4f}, {edges:.0f} edges"
        for method, (nll, nlpl, edges) in means.items()
    )
    worse = sum(
        trio[FULL]["test_nll"] > (1 + CLEAR) * trio[LIGHT]["test_nll"] for trio in trios.values()
    )
    ours += f"; larger on {worse} of {len(trios)} letters"
    text = "BP on a complete graph, most of it zeros, says what it says on the sparse one; "
    return judge(what, printed, ours, worse == len(trios), _because(trios, text))


def _because(trios: Mapping[str, Trio], text: str) -> str:
    """Return why the batch method is no worse; the text is about letters where both converge.

    An edge of zeros sends no message, and with free unaries BP's means are those of the data.
    """
    trust = _trust_words(trios, (LIGHT, FULL)).removeprefix("; ")
    return text + trust if done(trios, (LIGHT, FULL)) else trust


def _sparse(trios: Mapping[str, Trio], where: str) -> Claim:
    what = f"6.2: sparsity of Full-Opt-L1{where}"
    printed = "not sparse enough, because of inaccurate gradients"
    if not trios:
        return judge(what, printed, None, None)
    edges = {method: _total(trios, method, "edges") for method in (LIGHT, FULL)}
    ours = "; ".join(f"{NAMES[method]} {count:.0f} edges" for method, count in edges.items())
    holds = edges[FULL] > MUCH * edges[LIGHT]
    return judge(what, printed, ours, holds, _because(trios, ""))


def _blurry(trios: Mapping[str, Trio], where: str) -> Claim:
    what = f"Fig. 4: mean images{where}"
    printed = "those of Full-Opt-L1 are blurry, others are not"
    if not trios:
        return judge(what, printed, None, None)
    errors = {
        method: [
            float(np.mean([trio[method][name] for trio in trios.values()]))
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
        for trio in trios.values()
    )
    ours += f"; Full-Opt-L1 is worse on {worse} of {len(trios)} letters"
    text = "with free unaries BP's means are those of the images learned from; "
    return judge(what, printed, ours, worse == len(trios), _because(trios, text))


def _units(found: Mapping[str, Found]) -> Claim:
    what = "Fig. 5: gradients against the select unit"
    printed = "stable for Grafting-Light; falling for Grafting, always more"
    lines = unit_lines(found)
    pairs = list(zip(lines.get(LIGHT, []), lines.get(GRAFTING, []), strict=False))
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
        f"the largest number is {spans[0]:.1f} times the smallest for Grafting-Light and "
        f"{spans[1]:.1f} times for Grafting"
    )
    return judge(what, printed, ours, more and falls and spans[0] < spans[1], because)
