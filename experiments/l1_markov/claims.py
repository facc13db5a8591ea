"""What the paper on L1-regularised Markov networks says, judged by what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from experiments.engine.study import Claim, Found, judge
from experiments.l1_markov.differences import (
    Difference,
    Line,
    difference,
    judged,
    paired,
    select,
    slope,
)
from experiments.l1_markov.penalties import NEGLIGIBLE

#: Its digits are lost in the copy that there is: only words can be compared.
LOST = "(number lost)"
RIVALS = {"l2": "L2", "none": "no penalty"}
#: "Not considerably greater" in numbers: the paper's own are lost, so this is our reading.
CONSIDERABLE = 3.0
#: Objectives by exact inference that differ by less are the same.
SAME = 1e-4
#: Orders in which features come, and from how many networks on no clear difference is an answer.
ORDERS = ("gain", "gradient", "mutual information")
ENOUGH = 5


def lines_of(found: Mapping[str, Found], kind: str, part: str = "lines") -> list[Line]:
    """Return the lines of all steps of a kind."""
    return [
        line
        for key, one in found.items()
        if key.startswith(f"{kind}-")
        for line in one.get(part, ())
    ]


def claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return all claims."""
    lines = select(lines_of(found, "penalties"), loss="pseudolikelihood")
    exact = select(lines_of(found, "penalties"), loss="likelihood")
    random, digits = lines_of(found, "induction"), lines_of(found, "digit", "induction")
    return [
        *rows_claims(lines, "pseudo-likelihood"),
        *rows_claims(exact, "exact likelihood"),
        *trend_claims(lines),
        *edge_claims(lines),
        *cost_claims(lines_of(found, "clocks")),
        *induction_claims(random, "random networks", "networks"),
        *induction_claims(digits, "digits", "digits"),
        *annealing_claims(lines_of(found, "annealing"), "random networks", "networks"),
        *annealing_claims(lines_of(found, "digit", "annealing"), "digits", "digits"),
        *rule_claims(lines_of(found, "rules")),
        *digit_claims(lines_of(found, "digit")),
        *snp_claims(lines_of(found, "snps")),
    ]


def leads(lines: Sequence[Line], rival: str, **where: Any) -> dict[Any, float]:
    """Return by how much L1's held-out CMLL is higher, network by network."""
    return paired(select(lines, **where), "penalty", "l1", rival, "cmll")


def base_of(lines: Sequence[Line]) -> tuple[int, float, list[int]]:
    """Return variables, degree and numbers of rows of the networks on which the last varies."""
    kinds: dict[tuple[int, float], set[int]] = {}
    for line in lines:
        kinds.setdefault((line["n"], line["degree"]), set()).add(line["rows"])
    (n, degree), rows = max(kinds.items(), key=lambda kind: len(kind[1]))
    return n, degree, sorted(rows)


def rows_claims(lines: Sequence[Line], loss: str) -> Iterator[Claim]:
    """Yield claims about the number of rows."""
    what = f"Synthetic data, {loss}: held-out CMLL"
    if not lines:
        yield judge(f"{what} of L1, L2 and no penalty", "L1 best", None, None)
        return
    n, degree, rows = base_of(lines)
    place = f"{n} variables, mean degree {degree:g}"
    for count in (rows[0], rows[-1])[: len(rows)]:
        here = select(lines, n=n, degree=degree, rows=count)
        at = f"{what} with {count} rows ({place})"
        yield judged(f"{at}: L1 less L2", "above 0", difference(leads(here, "l2").values()))
        ahead = paired(here, "penalty", "l2", "none", "cmll")
        yield judged(f"{at}: L2 less no penalty", "above 0", difference(ahead.values()))
    if len(rows) > 1:
        for rival, name in RIVALS.items():
            few, many = (
                leads(lines, rival, n=n, degree=degree, rows=count) for count in (rows[0], rows[-1])
            )
            gaps = [few[k] - many[k] for k in few if k in many]
            words = f"{what}: L1's lead over {name} with {rows[0]} rows less that with {rows[-1]}"
            yield judged(f"{words} ({place})", "above 0: most with few rows", difference(gaps))


def trend_claims(lines: Sequence[Line]) -> Iterator[Claim]:
    """Yield claims about denser and larger networks."""
    words = {"degree": "neighbour more on average", "n": "doubling of the variables"}
    for what, unit in words.items():
        for rival, name in RIVALS.items():
            text = f"Synthetic data: change of L1's lead over {name} with each {unit}"
            printed = "above 0: L1 increasingly better"
            x, y, rows = trend(lines, what, rival)
            at = f" ({rows} rows)" if rows else ""
            yield judged(text + at, printed, slope(x, y))


def trend(
    lines: Sequence[Line], what: str, rival: str
) -> tuple[list[float], list[float], int | None]:
    """Return degrees (or doublings of variables) and leads, one for each network, and the rows."""
    if not lines:
        return [], [], None
    n, degree, _ = base_of(lines)
    fixed = {"n": n} if what == "degree" else {"degree": degree}
    values = sorted({line[what] for line in select(lines, **fixed)})
    shared = [{line["rows"] for line in select(lines, **fixed, **{what: v})} for v in values]
    both = set.intersection(*shared)
    if not both:
        return [], [], None
    rows = min(both)
    x, y = [], []
    for value in values:
        here = leads(lines, rival, **fixed, **{what: value}, rows=rows)
        x += [float(value) if what == "degree" else float(np.log2(value))] * len(here)
        y += list(here.values())
    return x, y, rows


def edge_claims(lines: Sequence[Line]) -> Iterator[Claim]:
    """Yield claims about edges that are not there."""
    for rival, name in RIVALS.items():
        for place in (0, 1):
            least = NEGLIGIBLE[place]
            some = f"with entries above {least:g}" if least else "all that are not zero"
            text = f"Hamming distance to the true edges, {some}: {name} less L1"
            if not lines:
                yield judge(text, "above 0", None, None)
                continue
            n, degree, rows = base_of(lines)
            here = select(lines, n=n, degree=degree, rows=rows[0])
            gaps = paired(here, "penalty", rival, "l1", ("hamming", place))
            printed = "above 0: L2 and none learn many spurious edges"
            yield judged(f"{text} ({rows[0]} rows)", printed, difference(gaps.values()))


def cost_claims(lines: Sequence[Line]) -> Iterator[Claim]:
    """Yield claims about what structure costs beyond weights: the logarithm of a ratio."""
    for whose, words in (("paper", "the paper's method"), ("ours", "working-set (ours)")):
        text = f"Seconds to learn structure over seconds for the true structure's weights, {words}"
        printed = f"not considerably greater {LOST}; read as below {CONSIDERABLE:g}"
        ratios = cost_ratios(lines, whose, "seconds")
        if len(ratios) < 2:
            yield judge(text, printed, None, None)
            continue
        logs = difference(np.log(ratios))
        high = float(np.exp(logs.mean + 2 * logs.error))
        calls = float(np.exp(np.log(cost_ratios(lines, whose, "evaluations")).mean()))
        sizes = sorted({line["n"] for line in lines})
        by_size = ", ".join(
            f"{np.exp(np.log(cost_ratios(select(lines, n=n), whose, 'seconds')).mean()):.3g}"
            for n in sizes
        )
        ours = (
            f"{np.exp(logs.mean):.3g} (geometric mean of {logs.count} networks, at most {high:.3g} "
            f"at two s.e.); {by_size} for {', '.join(map(str, sizes))} variables"
        )
        why = "features come one at a time and each round is solved to convergence"
        because = f"{high:.3g} is above {CONSIDERABLE:g}: the loss is evaluated {calls:.3g} times "
        because += f"as often, since {why}" if calls > CONSIDERABLE else (
            "as often, and the rest goes into scoring"
        )  # fmt: skip
        yield judge(text, printed, ours, high < CONSIDERABLE, because)


def cost_ratios(lines: Sequence[Line], whose: str, column: str) -> list[float]:
    """Return structure over true structure, for each network of each size."""
    out = []
    for line in select(lines, whose=whose, what="structure"):
        keys = {"n": line["n"], "network": line["network"]}
        out += [
            line[column] / other[column]
            for other in select(lines, whose=whose, what="true", **keys)
        ]
    return out


def induction_claims(lines: Sequence[Line], data: str, unit: str) -> Iterator[Claim]:
    """Yield claims about the order of features."""
    loopy = select(lines, inference="bp")
    ends = select(loopy, features=None)
    sick = untrusted_share(ends)
    health = f"belief propagation had not converged in {sick:.1%} of these runs' rounds"
    for first, second, printed in (
        ("gain", "gradient", "at least as good: not below 0 by two s.e."),
        ("gradient", "mutual information", "above 0"),
        ("gain", "mutual information", "above 0"),
    ):
        at_end = difference(paired(ends, "induction", first, second, "cmll").values())
        on_way = difference(_per_feature(loopy, first, second).values())
        for when, found in (("at the end", at_end), ("at equal numbers of features", on_way)):
            text = f"Belief propagation, {data}: held-out CMLL {when}, {first} less {second}"
            if printed.startswith("at least"):
                yield _not_worse(text, printed, found, unit)
            else:
                yield judged(text, printed, found, unit=unit, because=health)
    same = select(lines, inference="exact", features=None)
    if same:
        yield _same_optimum(same)


def _not_worse(text: str, printed: str, found: Difference, unit: str) -> Claim:
    """Return a claim that fails only if the opposite is clear."""
    if not found.known:
        return judge(text, printed, None, None)
    holds = found.mean >= 0 or (found.count >= ENOUGH and not found.clearly_not)
    reason = found.why_not() if found.clearly_not else f"{found.count} {unit} cannot tell"
    return judge(text, printed, found.words(unit), holds, reason)


def _same_optimum(lines: Sequence[Line]) -> Claim:
    text = "Exact inference: largest difference of the objectives of the three orders of features"
    objectives = [
        [line["objective"] for line in select(lines, network=k)]
        for k in {line["network"] for line in lines}
    ]
    whole = [np.ptp(each) for each in objectives if len(each) == len(ORDERS)]
    if not whole:
        return judge(text, "none: one optimum", None, None)
    spread = max(whole)
    reason = "some run ended before its optimum"
    return judge(text, "none: one optimum", f"{spread:.2g}", bool(spread < SAME), reason)


def _per_feature(lines: Sequence[Line], first: str, second: str) -> dict[Any, float]:
    """Return the mean difference over all numbers of features that both came by."""
    gaps: dict[Any, list[float]] = {}
    for count in {line["features"] for line in lines} - {None}:
        here = paired(select(lines, features=count), "induction", first, second, "cmll")
        for network, gap in here.items():
            gaps.setdefault(network, []).append(gap)
    return {network: float(np.mean(some)) for network, some in gaps.items()}


def untrusted_share(lines: Sequence[Line]) -> float:
    """Return the share of rounds in which belief propagation did not converge."""
    rounds = sum(line["rounds"] for line in lines)
    return sum(line["untrusted"] for line in lines) / rounds if rounds else 0.0


def annealing_claims(lines: Sequence[Line], data: str, unit: str) -> Iterator[Claim]:
    """Yield claims about annealing, and about all features at once."""
    once, slow, full = "at one lambda", "annealed", "all features at once"
    shares = [{**line, "share": line["untrusted"] / max(line["rounds"], 1)} for line in lines]
    text = f"Share of rounds without converged inference, {data}: at one lambda less annealed"
    gaps = paired(shares, "arm", once, slow, "share")
    why = "; ".join(_health_words(arm, select(lines, arm=arm)) for arm in (once, slow))
    yield judged(text, "above 0", difference(gaps.values()), unit=unit, because=why)
    text = f"Exact objective of what belief propagation learned, {data}: {{}} less annealed"
    for arm, words in ((once, "without annealing"), (full, "all features at once")):
        gaps = paired(lines, "arm", arm, slow, "exact_objective")
        if gaps or data == "random networks":
            found = difference(gaps.values())
            yield judged(text.format(words), "above 0", found, unit=unit, because=why)


def _health_words(arm: str, lines: Sequence[Line]) -> str:
    sick, rounds = (sum(line[name] for line in lines) for name in ("untrusted", "rounds"))
    well = sum(line["trusted_end"] for line in lines)
    return (
        f"{arm}, {sick} of {rounds} rounds and the end of {len(lines) - well} of {len(lines)} runs"
    )


def rule_claims(lines: Sequence[Line]) -> Iterator[Claim]:
    """Yield claims about the marginals of inactive pairs."""
    for column, words in (
        ("error", "Error of inactive pairs' marginals (total variation from exact ones)"),
        ("spurious", "Edges learned that are not there"),
    ):
        gaps = paired(lines, "rule", "product", "path", column)
        text = f"{words}: product rule less path rule"
        yield judged(text, "above 0", difference(gaps.values()))


def digit_claims(lines: Sequence[Line]) -> Iterator[Claim]:
    """Yield claims about handwritten digits."""
    rivals = {**RIVALS, "chow-liu": "Chow-Liu", "l1, neighbours only": "L1 on neighbours only"}
    rows = f" ({lines[0]['rows']} images)" if lines else ""
    for rival, name in rivals.items():
        found = difference(leads(lines, rival).values())
        printed = "above 0"
        if rival == "l1, neighbours only":
            printed = "above 0: long-range edges matter"
        text = f"Digits{rows}: held-out CMLL, L1 less {name}"
        because = loopy_words(lines) if rival == "l2" else ""
        yield judged(text, printed, found, unit="digits", because=because)
    text = f"Digits{rows}, likelihood by belief propagation: held-out CMLL, L1 less L2"
    gaps = paired(lines, "penalty", "paper", "l2, bp", "cmll")
    yield judged(text, "above 0", difference(gaps.values()), unit="digits")


def loopy_words(lines: Sequence[Line]) -> str:
    """Return what belief propagation on all pairs costs L2, the paper's way to learn it."""
    lost = difference(paired(lines, "penalty", "l2", "l2, bp", "cmll").values())
    if not lost.known:
        return ""
    return (
        "this L2 is learned without approximation; learned by belief propagation its CMLL is lower "
        f"by {lost.words('digits')}"
    )


def snp_claims(lines: Sequence[Line]) -> Iterator[Claim]:
    """Yield claims about SNPs."""
    panels = {"chr22": "HapMap chromosome 22", "chr10": "chromosome 10, simulated"}
    for which, words in panels.items():
        here = select(lines, which=which)
        rows = f" (about {np.median([line['rows'] for line in here]):.0f} people)" if here else ""
        for rival, name in {**RIVALS, "chow-liu": "Chow-Liu"}.items():
            found = difference(leads(here, rival).values())
            text = f"SNPs, {words}{rows}: held-out CMLL, L1 less {name}"
            yield judged(text, "above 0", found, unit="windows")
