"""What the paper on L1-regularised Markov networks says, judged by what was found.

Nearly every claim is a contrast: a mean difference over networks that must be above zero by more
than two standard errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from experiments.engine import Claim, Found, Row, judge
from experiments.l1_markov.differences import (
    Difference,
    Line,
    apart,
    difference,
    paired,
    select,
    slope,
)
from experiments.l1_markov.penalties import NEGLIGIBLE

RIVALS = {"l2": "L2", "none": "no penalty"}
TREE = {"chow-liu": "Chow-Liu"}
#: "Not considerably greater": the paper's own numbers are lost in our copy, so this is our reading.
CONSIDERABLE = 3.0
#: Objectives by exact inference that differ by less are the same.
SAME = 1e-4
#: How a run ends at its optimum.
OPTIMAL = "optimal"
ORDERS = ("gain", "gradient", "mutual information")
#: From how many networks on no clear difference is an answer.
ENOUGH = 5

ABOVE = Row(
    "{what}", "{printed}", "{found} {unit})",
    [("mean", ">", "two_standard_errors")],
    ["{found.why_not}", "{because}"],
)  # fmt: skip
TREND = Row(
    "{what}", "{printed}", "{found} {unit}); means {means} at {places}",
    [("mean", ">", "two_standard_errors"), ("steps_clearly_against_it", "==", 0)],
    ["{found.why_not}", "{against} goes clearly the other way"],
)  # fmt: skip
NOT_BELOW = Row(
    "{what}", "at least as good: not below 0 by two s.e.", "{found} {unit})",
    [("mean", ">=", "minus_two_standard_errors")],
    ["{found.why_not}"],
    ["{few} {unit} cannot tell"],
)  # fmt: skip
COST = Row(
    "CPU time to learn structure over that for the true structure's weights, {method}",
    f"not considerably greater (number lost); read as below {CONSIDERABLE:g}",
    "{mean:.3g} (geometric mean of {networks} networks); {by_size} for {sizes} variables, up to "
    "{largest_ratio_of_a_size_at_two_standard_errors:.3g} with two s.e.{left_out}",
    [("largest_ratio_of_a_size_at_two_standard_errors", "<", CONSIDERABLE)],
    ["the loss is evaluated {evaluations:.3g} times as often", "{grows}"],
    ["{no_optimum}"],
)  # fmt: skip
ONE_OPTIMUM = Row(
    "Exact inference: largest difference of the objectives of the three orders of features",
    "none: one optimum", "{largest_difference:.2g}",
    [("largest_difference", "<", SAME)],
    [],
    ["{ended} of {runs} runs ended before their optimum"],
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Contrast:
    """A claim that a value is larger for the first of two, on the same networks."""

    what: str
    first: str
    second: str
    by: str = "penalty"
    value: str | tuple[str, int] = "cmll"
    printed: str = "above 0"
    unit: str = "networks"

    def judge(self, lines: Sequence[Line], because: str | None = None) -> Claim:
        """Return the verdict."""
        gaps = paired(lines, self.by, self.first, self.second, self.value)
        return above(self.what, self.printed, difference(gaps.values()), self.unit, because)


def above(
    what: str, printed: str, found: Difference, unit: str = "networks", because: str | None = None
) -> Claim:
    """Return a claim that a mean is above zero: reproduced if it exceeds two standard errors."""
    values = {"what": what, "printed": printed, "found": found, "unit": unit, "because": because}
    return judge(ABOVE, values | bounds(found))


def bounds(found: Difference) -> dict[str, float | None]:
    """Return what a mean is compared with; None where there is no standard error."""
    least = found.least if found.known else None
    return {
        "mean": found.mean if found.known else None,
        "two_standard_errors": least,
        "minus_two_standard_errors": None if least is None else -least,
    }


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
    both = lines_of(found, "penalties")
    lines = select(both, loss="pseudolikelihood")
    return [
        *_rows(lines, "pseudo-likelihood"),
        *_rows(select(both, loss="likelihood"), "exact likelihood"),
        *_trends(lines),
        *_edges(lines),
        *(judge(COST, _costs(lines_of(found, "clocks"), whose)) for whose in ("paper", "ours")),
        *_induction(lines_of(found, "induction"), "random networks", "networks"),
        *_induction(lines_of(found, "digit", "induction"), "digits", "digits"),
        *_annealing(lines_of(found, "annealing"), "random networks", "networks"),
        *_annealing(lines_of(found, "digit", "annealing"), "digits", "digits"),
        *(contrast.judge(lines_of(found, "rules")) for contrast in RULES),
        *_digits(lines_of(found, "digit")),
        *_snps(lines_of(found, "snps")),
    ]


# ---- Random networks ---------------------------------------------------------------------------


def leads(lines: Sequence[Line], rival: str, **where: Any) -> dict[Any, float]:
    """Return by how much L1's held-out CMLL is higher, network by network."""
    return paired(select(lines, **where), "penalty", "l1", rival, "cmll")


def base_of(lines: Sequence[Line]) -> tuple[int, float, list[int]]:
    """Return variables, degree and numbers of rows of the networks on which the last varies."""
    kinds: dict[tuple[int, float], set[int]] = {}
    for line in lines:
        kinds.setdefault((line["n"], line["degree"]), set()).add(line["rows"])
    (n, degree), rows = max(kinds.items(), key=lambda kind: len(kind[1]), default=((0, 0.0), {0}))
    return n, degree, sorted(rows)


def _rows(lines: Sequence[Line], loss: str) -> Iterator[Claim]:
    """Yield what few rows do, and many."""
    what = f"Synthetic data, {loss}: held-out CMLL"
    n, degree, rows = base_of(lines)
    place = f"({n} variables, mean degree {degree:g})"
    for count in dict.fromkeys((rows[0], rows[-1])):
        here = select(lines, n=n, degree=degree, rows=count)
        at = f"{what} with {count} rows {place}"
        yield Contrast(f"{at}: L1 less L2", "l1", "l2").judge(here)
        yield Contrast(f"{at}: L2 less no penalty", "l2", "none").judge(here)
    for rival, name in RIVALS.items():
        lead = f"{what}: fall of L1's lead over {name} with each doubling of the rows {place}"
        groups = {k: leads(lines, rival, n=n, degree=degree, rows=k) for k in rows}
        falls = difference(_slopes({k: _negative(group) for k, group in groups.items()}))
        steps = [
            (f"{few} to {many} rows", difference(paired_differences(groups[few], groups[many])))
            for few, many in pairwise(rows)
        ]
        yield judge(TREND, _trend_values(lead, "above 0: most with few rows", falls, steps, groups))


def _negative(group: Mapping[Any, float]) -> dict[Any, float]:
    return {network: -lead for network, lead in group.items()}


def _slopes(groups: Mapping[int, Mapping[Any, float]]) -> list[float]:
    """Return, for each network that has all points, the slope over the logarithm to base two."""
    if len(groups) < 2:
        return []
    shared = set.intersection(*(set(group) for group in groups.values()))
    x = np.log2(list(groups))
    return [
        float(np.polyfit(x, [group[network] for group in groups.values()], 1)[0])
        for network in sorted(shared)
    ]


def paired_differences(first: Mapping[Any, float], second: Mapping[Any, float]) -> list[float]:
    """Return the differences of what both have."""
    return [first[k] - second[k] for k in first if k in second]


def _trend_values(
    what: str,
    printed: str,
    found: Difference,
    steps: Sequence[tuple[str, Difference]],
    groups: Mapping[Any, Mapping[Any, float]],
) -> dict[str, Any]:
    """Return what a trend is judged by: its slope, and every step from one point to the next."""
    against = [where for where, step in steps if step.clearly_not]
    return {
        "what": what,
        "printed": printed,
        "found": found,
        "unit": "networks",
        **bounds(found),
        "steps_clearly_against_it": len(against) if steps else None,
        "against": ", ".join(against) or None,
        "means": ", ".join(f"{difference(group.values()).mean:.3g}" for group in groups.values()),
        "places": ", ".join(f"{place:g}" for place in groups),
    }


def _trends(lines: Sequence[Line]) -> Iterator[Claim]:
    """Yield what denser and larger networks do to L1's lead."""
    for what, unit in (("degree", "neighbour more on average"), ("n", "doubling of the variables")):
        for rival, name in RIVALS.items():
            groups, rows = trend(lines, what, rival)
            at = f" ({rows} rows)" if rows else ""
            text = f"Synthetic data: rise of L1's lead over {name} with each {unit}{at}"
            scale = float if what == "degree" else np.log2
            x = [float(scale(place)) for place, group in groups.items() for _ in group]
            found = slope(x, [lead for group in groups.values() for lead in group.values()])
            steps = [
                (f"{few:g} to {many:g}", apart(groups[many].values(), groups[few].values()))
                for few, many in pairwise(groups)
            ]
            printed = "above 0: L1 increasingly better"
            yield judge(TREND, _trend_values(text, printed, found, steps, groups))


def trend(
    lines: Sequence[Line], what: str, rival: str
) -> tuple[dict[float, dict[Any, float]], int | None]:
    """Return L1's leads by degree, or by number of variables; and the rows."""
    n, degree, _ = base_of(lines)
    fixed = {"n": n} if what == "degree" else {"degree": degree}
    values = sorted({line[what] for line in select(lines, **fixed)})
    shared = [{line["rows"] for line in select(lines, **fixed, **{what: v})} for v in values]
    both = set.intersection(*shared) if shared else set()
    if not both:
        return {}, None
    rows = min(both)
    return {v: leads(lines, rival, **fixed, **{what: v}, rows=rows) for v in values}, rows


def _edges(lines: Sequence[Line]) -> Iterator[Claim]:
    """Yield what is said of edges that are not there."""
    n, degree, rows = base_of(lines)
    here = select(lines, n=n, degree=degree, rows=rows[0])
    for rival, name in RIVALS.items():
        for place, some in enumerate(
            ("all that are not zero", f"with entries above {NEGLIGIBLE[1]:g}")
        ):
            yield Contrast(
                f"Hamming distance to the true edges, {some}: {name} less L1 ({rows[0]} rows)",
                rival, "l1", value=("hamming", place),
                printed="above 0: L2 and none learn many spurious edges",
            ).judge(here)  # fmt: skip


def _costs(lines: Sequence[Line], whose: str) -> dict[str, Any]:
    """Return what structure costs beyond weights: the geometric mean of ratios."""
    method = {"paper": "the paper's method", "ours": "working-set (ours)"}[whose]
    both = cost_pairs(lines, whose)
    done = [pair for pair in both if all(line["stop"] == OPTIMAL for line in pair)]
    if len(both) < 2:
        return {"method": method}
    about = {"method": method, "networks": len(done), "no_optimum": None, "left_out": ""}
    if len(done) < 2:
        at = "a run ended before its optimum on all networks but one"
        nothing = ("mean", "largest_ratio_of_a_size_at_two_standard_errors")
        words = {"no_optimum": at, "by_size": "", "sizes": ""}
        return about | dict.fromkeys(nothing, np.nan) | words
    sizes = sorted({pair[0]["n"] for pair in done})
    logs = [
        difference(log_ratios([pair for pair in done if pair[0]["n"] == n], "cpu_seconds"))
        for n in sizes
    ]
    means = [each.mean for each in logs]
    if len(done) < len(both):
        about["left_out"] = (
            f"; {len(both) - len(done)} more networks have no optimum to compare, as a run stalled"
        )
    return about | {
        "mean": float(np.exp(np.mean(log_ratios(done, "cpu_seconds")))),
        "largest_ratio_of_a_size_at_two_standard_errors": float(
            np.exp(max(each.mean + 2 * np.nan_to_num(each.error) for each in logs))
        ),
        "by_size": ", ".join(f"{np.exp(mean):.3g}" for mean in means),
        "sizes": ", ".join(map(str, sizes)),
        "evaluations": float(np.exp(np.mean(log_ratios(done, "evaluations")))),
        "grows": (
            "it grows with the number of variables"
            if len(means) > 1 and means == sorted(means)
            else None
        ),
    }


def log_ratios(both: Sequence[tuple[Line, Line]], column: str) -> list[float]:
    """Return logarithms of structure over true structure."""
    return [float(np.log(one[column] / other[column])) for one, other in both]


def cost_pairs(lines: Sequence[Line], whose: str) -> list[tuple[Line, Line]]:
    """Return structure and true structure, for each network of each size."""
    return [
        (line, other)
        for line in select(lines, whose=whose, what="structure")
        for other in select(
            lines, whose=whose, what="true", n=line["n"], network=line["network"]
        )
    ]  # fmt: skip


# ---- Belief propagation ------------------------------------------------------------------------

RULES = [
    Contrast(f"{what}: product rule less path rule", "product", "path", "rule", value)
    for value, what in (
        ("error", "Error of inactive pairs' marginals (total variation from exact ones)"),
        ("spurious", "Edges learned that are not there"),
    )
]


def _induction(lines: Sequence[Line], data: str, unit: str) -> Iterator[Claim]:
    """Yield what is said of the order of features."""
    loopy = select(lines, inference="bp")
    ends = select(loopy, features=None)
    rounds, sick = (sum(line[name] for line in ends) for name in ("rounds", "untrusted"))
    health = (
        f"belief propagation had not converged in {sick / max(rounds, 1):.1%} of these runs' rounds"
    )
    for first, second in (ORDERS[:2], ORDERS[1:], ORDERS[::2]):
        at_end = difference(paired(ends, "induction", first, second, "cmll").values())
        on_way = difference(_per_feature(loopy, first, second).values())
        for when, found in (("at the end", at_end), ("at equal numbers of features", on_way)):
            text = f"Belief propagation, {data}: held-out CMLL {when}, {first} less {second}"
            if second == "gradient":
                yield judge(NOT_BELOW, {"what": text, "unit": unit, **_not_below(found)})
            else:
                yield above(text, "above 0", found, unit, health)
    exact = select(lines, inference="exact", features=None)
    if exact:
        ended = sum(line["stop"] != OPTIMAL for line in exact)
        values = {"runs": len(exact), "ended": ended or None}
        yield judge(ONE_OPTIMUM, {"largest_difference": _spread(exact), **values})


def _not_below(found: Difference) -> dict[str, Any]:
    """Return what a claim is judged by that fails only if the opposite is clear."""
    no_answer = found.mean < 0 and not found.clearly_not and found.count < ENOUGH
    return {"found": found, **bounds(found), "few": found.count if no_answer else None}


def _spread(lines: Sequence[Line]) -> float | None:
    objectives = [
        [line["objective"] for line in select(lines, network=k)]
        for k in {line["network"] for line in lines}
    ]
    return max((np.ptp(each) for each in objectives if len(each) == len(ORDERS)), default=None)


def _per_feature(lines: Sequence[Line], first: str, second: str) -> dict[Any, float]:
    """Return the mean difference over all numbers of features that both passed through."""
    gaps: dict[Any, list[float]] = {}
    for count in {line["features"] for line in lines} - {None}:
        here = paired(select(lines, features=count), "induction", first, second, "cmll")
        for network, gap in here.items():
            gaps.setdefault(network, []).append(gap)
    return {network: float(np.mean(some)) for network, some in gaps.items()}


def _annealing(lines: Sequence[Line], data: str, unit: str) -> Iterator[Claim]:
    """Yield what is said of annealing, and of all features at once."""
    once, slow, full = "at one lambda", "annealed", "all features at once"
    shares = [{**line, "share": line["untrusted"] / max(line["rounds"], 1)} for line in lines]
    why = "; ".join(_health(arm, select(lines, arm=arm)) for arm in (once, slow))
    yield Contrast(
        f"Share of rounds without converged inference, {data}: at one lambda less annealed",
        once, slow, "arm", "share", unit=unit,
    ).judge(shares, why)  # fmt: skip
    for arm, words in ((once, "without annealing"), (full, full)):
        if data == "random networks" or select(lines, arm=arm):
            what = (
                f"Exact objective of what belief propagation learned, {data}: {words} less annealed"
            )
            contrast = Contrast(what, arm, slow, "arm", "exact_objective", unit=unit)
            yield contrast.judge(lines, why)


def _health(arm: str, lines: Sequence[Line]) -> str:
    sick, rounds = (sum(line[name] for line in lines) for name in ("untrusted", "rounds"))
    open_ends = sum(not line["trusted_end"] for line in lines)
    return f"{arm}, {sick} of {rounds} rounds and the end of {open_ends} of {len(lines)} runs"


# ---- Digits and SNPs ---------------------------------------------------------------------------


def _digits(lines: Sequence[Line]) -> Iterator[Claim]:
    """Yield what is said of handwritten digits."""
    rows = f" ({lines[0]['rows']} images)" if lines else ""
    lost = difference(paired(lines, "penalty", "l2", "l2, bp", "cmll").values())
    loopy = (
        "this L2 is learned without approximation; learned by belief propagation its CMLL is lower "
        f"by {lost} digits)"
    )
    for rival, name in {**RIVALS, **TREE}.items():
        what = f"Digits{rows}: held-out CMLL, L1 less {name}"
        because = loopy if rival == "l2" and lost.known else None
        yield Contrast(what, "l1", rival, unit="digits").judge(lines, because)
    yield Contrast(
        f"Digits{rows}: held-out CMLL, L1 less L1 on neighbours only", "l1", "l1, neighbours only",
        unit="digits", printed="above 0: long-range edges matter",
    ).judge(lines)  # fmt: skip
    what = f"Digits{rows}, likelihood by belief propagation: held-out CMLL, L1 less L2"
    yield Contrast(what, "paper", "l2, bp", unit="digits").judge(lines)


def _snps(lines: Sequence[Line]) -> Iterator[Claim]:
    """Yield what is said of SNPs."""
    panels = {"chr22": "HapMap chromosome 22", "chr10": "chromosome 10, simulated"}
    for which, words in panels.items():
        here = select(lines, which=which)
        rows = f" (about {np.median([line['rows'] for line in here]):.0f} people)" if here else ""
        for rival, name in {**RIVALS, **TREE}.items():
            what = f"SNPs, {words}{rows}: held-out CMLL, L1 less {name}"
            yield Contrast(what, "l1", rival, unit="windows").judge(here)
