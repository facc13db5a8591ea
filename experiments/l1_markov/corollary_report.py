"""What is found of the corollary: rows needed against variables, in a claim, a table, a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from experiments.engine import Claim, Figure, Found, Row, judge, span
from experiments.l1_markov.corollary import CHAIN, crossing
from experiments.l1_markov.differences import Line, difference, select
from experiments.l1_markov.plans import LIKELIHOOD_L1, PLANS, PSEUDO_L1, PSEUDO_L2
from graftwork.report.curves import dress, head
from graftwork.report.figures import colour_of

#: "Logarithmically": rows over ln n may differ by this factor, and a doubling of the variables may
#: multiply the rows by at most this. If rows grew with the root of n, they would differ by more
#: than 3 from 16 to 512 variables.
EVEN, DOUBLING = 1.25, 1.4
#: Rows grow at least linearly where this exponent of n is reached by every step.
LINEAR = 1.0
#: What exponents of L1 may not exceed beside those of L2.
SLOW = 0.5
NAMES = {
    LIKELIHOOD_L1: "L1, likelihood",
    PSEUDO_L1: "L1, pseudo-likelihood",
    PSEUDO_L2: "L2, pseudo-likelihood",
}
_MARKERS = "osD"

LOGARITHMIC = Row(
    "Corollary: rows that L1 needs as independent variables are added, likelihood by exact "
    "inference, excess {excess} nats",
    "they grow logarithmically with the number of variables",
    "{rows} rows for {sizes} variables; over ln n: {per_log} (geometric means of {chains} chains)",
    [("largest_rows_per_ln_n_over_the_smallest", "<=", EVEN),
     ("most_growth_with_a_doubling", "<=", DOUBLING)],
    ["from {fastest} variables the rows grow by {most_growth_with_a_doubling:.2f} for a doubling"],
)  # fmt: skip
BESIDE = Row(
    "Corollary: rows of L2 beside those of L1, pseudo-likelihood, excess {excess} nats",
    "L1 needs few of them (Ng, on whom the corollary builds: L2 at least linearly many)",
    "for {sizes} variables L1 {l1_rows} rows, n to the power {l1_exponents:.2f}; L2 {l2_rows}, n "
    "to the power {l2_exponents:.2f} (geometric means of {chains} chains)",
    [("least_exponent_of_L2", ">=", LINEAR), ("largest_exponent_of_L1", "<=", SLOW)],
)  # fmt: skip

#: Rows needed by each chain, for each number of variables.
Needs = dict[int, list[float]]


def corollary_claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return the claims about the corollary."""
    exact, l1, l2 = (needs_of(found, name) for name in (LIKELIHOOD_L1, PSEUDO_L1, PSEUDO_L2))
    return [judge(LOGARITHMIC, _logarithmic(exact)), judge(BESIDE, _beside(l1, l2))]


def corollary_lines(found: Mapping[str, Found]) -> list[Line]:
    """Return what was learned from how many rows."""
    return [
        line
        for key, one in found.items()
        if key.startswith("corollary-")
        for line in one["lines"]
    ]  # fmt: skip


def excess_of(name: str) -> float:
    """Return the excess loss that must be reached; it is the same in all sizes of the study."""
    return PLANS["full"].arms[name].excess


def needs_of(found: Mapping[str, Found], name: str) -> Needs:
    """Return the rows that each chain needs, for the numbers of variables that all of them have."""
    lines = select(corollary_lines(found), arm=name)
    chains = {line["network"] for line in lines}
    needs: Needs = {}
    for n in sorted({line["n"] for line in lines}):
        rows = [_need(select(lines, n=n, network=chain), excess_of(name)) for chain in chains]
        known = [each for each in rows if each is not None]
        if len(known) == len(chains):
            needs[n] = known
    return needs


def _need(lines: Sequence[Line], wanted: float) -> float | None:
    tried = sorted(lines, key=lambda line: int(line["rows"]))
    return crossing([line["rows"] for line in tried], [line["excess"] for line in tried], wanted)


def centre(needs: Needs) -> dict[int, float]:
    """Return the geometric means over the chains."""
    return {n: float(np.exp(np.mean(np.log(rows)))) for n, rows in needs.items()}


def exponents(rows: Mapping[int, float]) -> list[float]:
    """Return, from each number of variables to the next, the power of it that the rows grow with.

    Examples
    --------
    >>> exponents({10: 5.0, 20: 10.0, 40: 40.0})
    [1.0, 2.0]
    """
    return [float(np.log(rows[b] / rows[a]) / np.log(b / a)) for a, b in pairwise(rows)]


def _logarithmic(needs: Needs) -> dict[str, Any]:
    values: dict[str, Any] = {"excess": excess_of(LIKELIHOOD_L1)}
    rows = centre(needs)
    if len(rows) < 2:
        return values
    per_log = [count / np.log(n) for n, count in rows.items()]
    powers = exponents(rows)
    return values | {
        "sizes": ", ".join(map(str, rows)),
        "rows": ", ".join(f"{count:,.0f}" for count in rows.values()),
        "per_log": ", ".join(f"{each:.0f}" for each in per_log),
        "chains": len(next(iter(needs.values()))),
        "largest_rows_per_ln_n_over_the_smallest": float(max(per_log) / min(per_log)),
        "most_growth_with_a_doubling": float(2 ** max(powers)),
        "fastest": list(rows)[int(np.argmax(powers))],
    }


def _beside(l1: Needs, l2: Needs) -> dict[str, Any]:
    values: dict[str, Any] = {"excess": excess_of(PSEUDO_L2)}
    shared = [n for n in l1 if n in l2]
    if len(shared) < 2:
        return values
    first, second = ({n: centre(needs)[n] for n in shared} for needs in (l1, l2))
    powers = exponents(first), exponents(second)
    return values | {
        "sizes": ", ".join(map(str, shared)),
        "chains": len(l1[shared[0]]),
        "l1_rows": ", ".join(f"{count:,.0f}" for count in first.values()),
        "l2_rows": ", ".join(f"{count:,.0f}" for count in second.values()),
        "l1_exponents": span(powers[0]),
        "l2_exponents": span(powers[1]),
        "largest_exponent_of_L1": max(powers[0]),
        "least_exponent_of_L2": min(powers[1]),
    }


def corollary_table(found: Mapping[str, Found]) -> list[dict[str, Any]]:
    """Return a line for each way to learn and number of variables."""
    return list(_table(found))


def _table(found: Mapping[str, Found]) -> Iterator[dict[str, Any]]:
    for name, words in NAMES.items():
        needs, lines = needs_of(found, name), select(corollary_lines(found), arm=name)
        for n, rows in needs.items():
            last = max(line["rows"] for line in select(lines, n=n))
            most = select(lines, n=n, rows=last)
            logs = difference(np.log(rows))
            yield {
                "learned by": words,
                "variables": n,
                "excess": excess_of(name),
                "chains": len(rows),
                "rows needed": float(np.exp(logs.mean)),
                "s.e., as a share": logs.error if logs.known else "",
                "rows / ln n": float(np.exp(logs.mean) / np.log(n)),
                "most rows tried": last,
                "excess there": difference(line["excess"] for line in most).mean,
                "edges there": difference(line["edges"] for line in most).mean,
                "true edges": CHAIN - 1,
            }


def corollary_figures(found: Mapping[str, Found]) -> list[Figure]:
    """Return the picture, if there is something to show."""
    known = {name: needs for name in NAMES if (needs := needs_of(found, name))}
    if not known:
        return []
    caption = (
        "Rows needed to come within a fixed excess of the true network's loss, against the number "
        f"of variables; {CHAIN} of them are a chain, the others independent. Bars are two standard "
        "errors; the dotted lines are proportional to ln n."
    )
    return [Figure("corollary", caption, partial(_draw, known), (9.5, 4.6))]


def _draw(known: Mapping[str, Needs], canvas: Any) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axes = canvas.subplots(1, 2)
    handles: dict[str, Any] = {}
    for k, (name, words) in enumerate(NAMES.items()):
        needs = known.get(name)
        if not needs:
            continue
        rows = centre(needs)
        sizes = np.array(list(rows), dtype=np.float64)
        middle = np.array(list(rows.values()))
        spread = np.array([difference(np.log(each)).error for each in needs.values()])
        factors = np.exp(2 * np.nan_to_num(spread))
        bars = [middle - middle / factors, middle * factors - middle]
        ax = axes[0] if name == LIKELIHOOD_L1 else axes[1]
        handles[words] = ax.errorbar(
            sizes, middle, yerr=bars, color=colour_of(k), marker=_MARKERS[k], markersize=4.5,
            linewidth=1.5, capsize=2.5,
        )  # fmt: skip
        if name != PSEUDO_L2:
            line = np.log(sizes) * np.exp(np.mean(np.log(middle / np.log(sizes))))
            ax.plot(sizes, line, color="#888888", linestyle=":", linewidth=1.2)
        ax.set_xscale("log", base=2)
        ax.set_xticks(list(rows), [str(n) for n in rows])
    for ax in axes:
        ax.set_xlabel("variables (log scale)")
        dress(ax)
    axes[0].set_ylabel("rows needed")
    axes[0].set_ylim(bottom=0)
    axes[1].set_yscale("log")
    axes[1].yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes[1].yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes[1].yaxis.set_minor_formatter(NullFormatter())
    axes[1].set_ylabel("rows needed (log scale)")
    head(canvas, list(handles.values()), list(handles), "Rows needed as variables are added")
