"""What the forced pruning paper prints beside what was found: claims, tables, a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from experiments.engine.study import Claim, Found, Report, Verdict, judge
from experiments.forced_pruning.cells import (
    ROUNDING,
    bound_of,
    evidence_of,
    judge_cell,
)
from experiments.forced_pruning.figures import figures
from experiments.forced_pruning.printed import MORE, NAMES, PRINTED, Cell

#: "Almost all" of the cells.
ALMOST_ALL = 0.8
RULES = ("greedy", "rejection")


def report(found: Mapping[str, Found]) -> Report:
    """Return claims, tables and pictures; steps that were skipped are told as not run."""
    cells = {cell: judge_cell(cell, found) for cell in PRINTED}
    claims = [
        *_headlines(found),
        *(_whole_table(rule, name, cells) for rule in RULES for name in NAMES),
        _first_column(found),
        *_trends(found),
        _tying(found),
    ]
    tables = {
        "cells": [_cell_line(cell, claim, found) for cell, claim in cells.items()],
        "sizes": list(_size_lines(found)),
        "tying": list(_tying_lines(found)),
    }
    return Report(claims, tables, figures(found))


def _headlines(found: Mapping[str, Found]) -> Iterator[Claim]:
    """Yield the best value printed of each data set."""
    for name in NAMES:
        cell = min((cell for cell in PRINTED if cell.name == name), key=PRINTED.__getitem__)
        printed, what = PRINTED[cell], f"best of {name} ({cell.words()})"
        bounds, known = found.get(f"{name}-bounds"), evidence_of(cell, found)
        ours = None if known.best is None else f"{known.best:.4f}"
        if bounds and bounds["converged"] and printed + ROUNDING < bounds["best"]:
            because = (
                "the best pairwise network of all, learned from the test rows themselves with "
                f"all {bounds['edges']} edges, has {bounds['best']:.4f} on them"
            )
            for part, value in bounds.get("elsewhere", {}).items():
                because += f"; on {part} rows, likewise, {value:.4f}"
            yield Claim(what, f"{printed:.2f}", ours or "", "cannot be", because)
            continue
        if known.best is None:
            yield judge(what, f"{printed:.2f}", None, None)
        else:
            holds = known.best <= printed + ROUNDING
            yield judge(what, f"{printed:.2f}", ours, holds, _short_of(cell, found))


def _short_of(cell: Cell, found: Mapping[str, Found]) -> str:
    """Say what else is known of a printed value that was not reached."""
    name, printed = cell.name, PRINTED[cell]
    parts = []
    thorough = found.get(f"{name}-{cell.more}-thorough")
    if thorough:
        own = thorough["on test rows"]["nll"]
        even = "even " if own > printed + ROUNDING else ""
        parts.append(
            f"{even}a search on the test rows themselves ends at {own:.4f} with {cell.more} edges "
            "more than the tree (a search, so no proof)"
        )
    for more in MORE:
        best = evidence_of(cell._replace(more=more), found).best
        if best is not None and best <= printed + ROUNDING:
            parts.append(f"ours has {best:.4f} with {more} edges more than the tree")
            break
    return "; ".join(parts) or "no search here found it"


def _whole_table(rule: str, name: str, cells: Mapping[Cell, Claim]) -> Claim:
    """Return the verdict about a data set's line of a table."""
    own = {cell: claim for cell, claim in cells.items() if cell[:2] == (rule, name)}
    values = [PRINTED[cell] for cell in own]
    printed = f"{min(values):.2f} to {max(values):.2f}"
    known = [float(claim.ours) for claim in own.values() if claim.ours]
    ours = f"{min(known):.2f} to {max(known):.2f}" if known else ""
    counts = Counter(claim.verdict for claim in own.values())
    lower = sum(claim.because.startswith("ours is lower") for claim in own.values())
    names: dict[Verdict, str] = {
        "cannot be": "impossible", "reproduced": "reproduced", "not run": "not run",
    }  # fmt: skip
    words = [f"{counts[key]} {name}" for key, name in names.items() if counts[key]]
    if counts["differs"]:
        words.append(f"{counts['differs']} differ ({lower} of them lower here)")
    what = f"Table {1 if rule == 'greedy' else 2}, {name}: {len(own)} values"
    verdict = _overall(counts) if known else "not run"
    return Claim(what, printed, ours, verdict, "" if verdict == "not run" else ", ".join(words))


def _overall(counts: Mapping[Verdict, int]) -> Verdict:
    """Return the verdict of most values that were run, the gravest of those that tie."""
    verdicts: tuple[Verdict, ...] = ("cannot be", "differs", "reproduced")
    return max(verdicts, key=lambda verdict: counts.get(verdict, 0))


def _first_column(found: Mapping[str, Found]) -> Claim:
    """Return whether k=0 can mean that nothing is exchanged."""
    what = "both tables: k=0, nothing exchanged"
    printed, ours, same = [], [], []
    for name in NAMES:
        tree = found.get(f"{name}-trees", {}).get("tree")
        if tree is not None:
            value = PRINTED[Cell("greedy", name, 0, 1)]
            printed.append(f"{name} {value:.2f}")
            ours.append(f"{name} {tree['nll']:.4f}")
            same.append(abs(value - tree["nll"]) <= ROUNDING)
    if not ours:
        return judge(what, "", None, None)
    because = (
        "with m=0 and nothing exchanged it would be the Chow-Liu tree, though with tied weights; "
        "the text has k=1"
    )
    return judge(what, ", ".join(printed), ", ".join(ours), all(same), because)


def _trends(found: Mapping[str, Found]) -> Iterator[Claim]:
    """Yield what the text says of the numbers, counted in ours."""
    ours = {cell: evidence_of(cell, found).ours for cell in PRINTED}
    pairs = [
        (ours[cell], ours[cell._replace(rule="rejection")])
        for cell in PRINTED
        if cell.rule == "greedy"
    ]
    yield _counted("greedy beats rejection in almost all cells", pairs, _printed_pairs())
    grown = [(ours[b], ours[a]) for a, b in _neighbours("more", MORE, "greedy")]
    said = [(PRINTED[b], PRINTED[a]) for a, b in _neighbours("more", MORE, "greedy")]
    yield _counted("the more edges, the better (greedy)", grown, said)
    larger = [(ours[b], ours[a]) for a, b in _neighbours("exchanged", (1, 10), "greedy")]
    said = [(PRINTED[b], PRINTED[a]) for a, b in _neighbours("exchanged", (1, 10), "greedy")]
    because = "ours halves k, down to single edges, when an exchange does not improve the network"
    yield _counted("k=10 is better than k=1 (greedy)", larger, said, because)


def _printed_pairs() -> list[tuple[float, float]]:
    return [
        (value, PRINTED[cell._replace(rule="rejection")])
        for cell, value in PRINTED.items()
        if cell.rule == "greedy"
    ]


def _neighbours(field: str, steps: Sequence[int], rule: str) -> list[tuple[Cell, Cell]]:
    """Return cells and those one step further in a field."""
    following = dict(pairwise(steps))
    return [
        (cell, Cell(**{**cell._asdict(), field: following[getattr(cell, field)]}))
        for cell in PRINTED
        if cell.rule == rule and getattr(cell, field) in following
    ]


def _counted(
    what: str,
    pairs: Sequence[tuple[float | None, float | None]],
    printed: Sequence[tuple[float, float]],
    because: str = "",
) -> Claim:
    """Return whether the first of two is smaller in almost all pairs that were run."""
    said = f"in {sum(a < b for a, b in printed)} of {len(printed)} printed pairs"
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    if not known:
        return judge(what, said, None, None)
    wins = sum(a < b - 1e-4 for a, b in known)
    largest = max(abs(a - b) for a, b in known)
    reason = f"{because + '; ' if because else ''}pairs are at most {largest:.3f} apart"
    ours = f"in {wins} of {len(known)}"
    return judge(what, said, ours, wins >= ALMOST_ALL * len(known), reason)


def _tying(found: Mapping[str, Found]) -> Claim:
    what, printed = "tying weights prevents overfitting", "used throughout, no value printed"
    lines = list(_tying_lines(found))
    if not lines:
        return judge(what, printed, None, None)
    changes = [f"{line['data']} {line['change']:+.4f}" for line in lines]
    because = (
        f"with {lines[0]['values']} values the test NLPL rises on "
        f"{sum(line['change'] > 0 for line in lines)} of {len(lines)} data sets"
    )
    holds = all(line["change"] <= 0 for line in lines)
    return judge(what, printed, ", ".join(changes), holds, because)


def _tying_lines(found: Mapping[str, Found]) -> Iterator[dict[str, Any]]:
    for name in NAMES:
        step = found.get(f"{name}-tying")
        if step:
            yield {
                "data": name,
                "more edges": step["more"],
                "values": step["values"],
                "free": step["free"]["nll"],
                "tied": step["tied"]["nll"],
                "change": step["tied"]["nll"] - step["free"]["nll"],
                "free, training rows": step["free"]["train_nll"],
                "tied, training rows": step["tied"]["train_nll"],
            }


def _cell_line(cell: Cell, claim: Claim, found: Mapping[str, Found]) -> dict[str, Any]:
    known = evidence_of(cell, found)
    return {
        "table": cell.table,
        "data": cell.name,
        "m": cell.more,
        "k": cell.exchanged,
        "printed": PRINTED[cell],
        "ours": _digits(known.ours),
        "best of ours": _digits(known.best),
        "no network below": _digits(known.bound or None),
        "verdict": claim.verdict,
        "because": claim.because,
    }


def _size_lines(found: Mapping[str, Found]) -> Iterator[dict[str, Any]]:
    """Yield what there is at each size beside the tables' cells."""
    for name in NAMES:
        trees = found.get(f"{name}-trees", {})
        for more, added in trees.get("added", {}).items():
            greedy = found.get(f"{name}-greedy-{more}", {})
            walk = found.get(f"{name}-mcmc-{more}", {})
            yield {
                "data": name,
                "more edges": int(more),
                "edges": added["edges"],
                "tree": _digits(trees["tree"]["nll"]),
                "tree and best gains": _digits(added["nll"]),
                "greedy, our default": _digits(greedy.get("default", {}).get("nll")),
                "mcmc": _digits(walk.get("10", {}).get("nll")),
                "no network below": _digits(bound_of(name, int(more), found) or None),
            }


def _digits(value: float | None) -> str:
    """Return four decimals, or nothing.

    Examples
    --------
    >>> _digits(None), _digits(0.5)
    ('', '0.5000')
    """
    return "" if value is None else f"{value:.4f}"
