"""What the forced pruning paper prints (two tables of test NLPL), and how it is judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from experiments.engine import Claim, Found, Row, judge, span
from experiments.engine.claims import Values, Verdict, clauses

NAMES = ("nltcs", "plants", "msnbc")
RULES = ("greedy", "rejection")
#: Edges beyond the Chow-Liu tree's, and edges exchanged at once. The tables call the first column
#: of each group k=0, the text k=1.
MORE = (0, 15, 30, 45, 60)
EXCHANGED = (1, 5, 10)
#: Printed values are rounded to two decimals.
ROUNDING = 0.005
#: The same value: two decimals, and a random start.
SAME = 0.02
#: The same tree, whose tying may differ in small things.
SAME_TREE = SAME + ROUNDING
#: "Almost all" of the cells.
ALMOST_ALL = 0.8

_GREEDY = {
    "nltcs": "5.08 4.95 4.96 4.75 4.71 4.71 4.75 4.71 4.71 4.77 4.71 4.71 4.75 4.73 4.72",
    "plants": "12.25 11.43 11.15 12.22 11.40 11.11 12.37 11.21 11.20 12.27 11.25 11.15 "
    "12.25 11.23 11.17",
    "msnbc": "6.29 6.15 6.06 5.71 5.59 5.52 5.71 5.57 5.53 5.72 5.57 5.53 5.71 5.57 5.53",
}
_REJECTION = {
    "nltcs": "5.89 5.88 5.88 5.59 5.58 5.58 5.51 5.44 5.46 5.33 5.14 5.13 5.38 4.88 4.90",
    "plants": "12.91 13.36 11.15 12.82 13.29 13.29 12.79 13.30 13.28 12.91 13.31 13.29 "
    "13.01 12.92 13.16",
    "msnbc": "6.40 6.55 6.63 5.83 5.83 5.92 5.77 5.82 5.86 5.75 5.77 5.77 5.77 5.69 5.77",
}


class Cell(NamedTuple):
    """A place in the tables."""

    rule: str
    name: str
    more: int
    exchanged: int

    @property
    def table(self) -> int:
        """Number of its table."""
        return 1 + RULES.index(self.rule)

    def __str__(self) -> str:
        """Return the place as the paper labels it.

        Examples
        --------
        >>> print(Cell("greedy", "nltcs", 15, 1))
        Table 1, nltcs, m=15, k=0
        """
        label = 0 if self.exchanged == 1 else self.exchanged
        return f"Table {self.table}, {self.name}, m={self.more}, k={label}"


def _read(rule: str, lines: dict[str, str]) -> dict[Cell, float]:
    places = [(more, k) for more in MORE for k in EXCHANGED]
    return {
        Cell(rule, name, more, k): float(value)
        for name, line in lines.items()
        for (more, k), value in zip(places, line.split(), strict=True)
    }


#: Every printed value.
PRINTED = {**_read("greedy", _GREEDY), **_read("rejection", _REJECTION)}

CELL = Row(
    "{cell}", "{printed:.2f}", "{ours:.4f}",
    [("difference", "<=", SAME)],
    ["ours is lower by {lower:.2f}",
     "ours is higher by {higher:.2f}",
     "another search of ours has {reached:.4f}",
     "the best found here at this size is {missed:.4f}",
     "it is Table 1's {printed:.2f}, and the same column has {copied:.2f} at other sizes"],
)  # fmt: skip
BEST = Row(
    "best of {cell.name} ({cell})", "{printed:.2f}", "{best:.4f}",
    [("best", "<=", "printed_and_rounding")],
    ["even a search on the test rows themselves ends at {own_above:.4f} with {cell.more} edges "
     "more than the tree (a search, so no proof)",
     "a search on the test rows themselves ends at {own_below:.4f} with {cell.more} edges more "
     "than the tree (a search, so no proof)",
     "ours has {later[1]:.4f} with {later[0]} edges more than the tree",
     "{nothing}"],
)  # fmt: skip
#: Of Table 2: its first column may be what the text has no name for, networks without exchanges.
TREES = Row(
    "Table 2, {name}, m=0, k=0, as the Chow-Liu tree, tied, nothing exchanged", "{printed:.2f}",
    "{nearest:.4f} with weights of {values} values; {others}",
    [("difference", "<=", SAME_TREE)],
    ["the nearest of the numbers of values tried is {difference:.3f} away"],
)  # fmt: skip
STARTS = Row(
    "Table 2, {name}, k=0, m=15 to 60, as the tree and pairs drawn at random, tied, nothing "
    "exchanged", "{printed_rest}",
    "{ours} with the {values} values that come closest to it at m=0, {seeds} draws",
    [("values_outside_the_range_of_draws", "==", 0)],
    ["{values_outside_the_range_of_draws} of {compared} are outside, by {farthest:.2f} at most"],
    ["{impossible} of the {compared} printed values are impossible"],
)  # fmt: skip
CHOSEN = Row(
    "{name}: how many values validation rows ask for", "not said",
    "{chosen} of {tried}; validation NLPL of the tree {valid}",
    [("chosen", "<", "largest_tried")],
    ["validation rows ask for as many values as were tried: tying does not prevent overfitting of "
     "a tree"],
)  # fmt: skip
TREND = Row(
    "{what}", "in {said} of {pairs} printed pairs", "in {wins} of {known}",
    [("share", ">=", ALMOST_ALL)],
    ["{reason}", "pairs are at most {largest:.3f} apart"],
    ["only {few} pairs were run"],
)  # fmt: skip
#: What is claimed, the field that differs within a pair, the pairs' steps, and why it may differ.
TRENDS: list[tuple[str, str, Sequence[Any], str | None]] = [
    ("greedy beats rejection in almost all cells", "rule", ("rejection", "greedy"), None),
    ("the more edges, the better (greedy)", "more", MORE, None),
    ("k=10 is better than k=1 (greedy)", "exchanged", (1, 10), None),
]  # fmt: skip
TYING = Row(
    "tying weights {way} prevents overfitting", "used in each iteration, no value printed",
    "test NLPL {changes}",
    [("data_sets_on_which_it_rises", "==", 0)],
    ["with as many values as validation rows ask for ({values}) it rises on "
     "{data_sets_on_which_it_rises} of {sets} data sets"],
)  # fmt: skip
#: When weights are tied: as published, and the alternative.
WAYS = ("in each iteration", "once")


def claims(found: Mapping[str, Found]) -> list[Claim]:
    """Return all claims but those about single cells."""
    cells = {cell: judge_cell(cell, found) for cell in PRINTED}
    return [
        *(_headline(name, found) for name in NAMES),
        *(_whole_table(rule, name, cells) for rule in RULES for name in NAMES),
        *(judge(row, _starts(name, found)) for row in (TREES, STARTS) for name in NAMES),
        *(judge(CHOSEN, _chosen(name, found)) for name in NAMES),
        *(judge(TREND, _trend(found, *trend)) for trend in TRENDS),
        *(judge(TYING, _tying(way, found)) for way in WAYS),
    ]


# ---- What is known of a cell -----------------------------------------------------------------


def ours_of(cell: Cell, found: Mapping[str, Found]) -> float | None:
    """Return our test NLPL with the same rule, size and k, None where it was not run.

    As in the paper that is the network of the last exchange, not the best one.
    """
    run = found.get(f"{cell.name}-{cell.rule}-{cell.more}", {}).get(str(cell.exchanged), {})
    value: float | None = run.get("last", run.get("nll"))
    return value


def _returned(cell: Cell, found: Mapping[str, Found]) -> float | None:
    """Return the test NLPL of the network that was best on the training rows."""
    run = found.get(f"{cell.name}-{cell.rule}-{cell.more}", {}).get(str(cell.exchanged), {})
    value: float | None = run.get("nll")
    return value


def best_of(name: str, more: int, found: Mapping[str, Found]) -> float | None:
    """Return the least test NLPL of all rules of ours at a size."""
    at_size = [
        run["nll"] for rule in RULES for run in found.get(f"{name}-{rule}-{more}", {}).values()
    ]
    ours = (found.get(f"{name}-{rule}-{more}") for rule in ("descent", "mcmc"))
    at_size += [run["nll"] for run in ours if run is not None]
    thorough = found.get(f"{name}-{more}-thorough")
    return min([*at_size, *([thorough["restarts"]["nll"]] if thorough else [])], default=None)


def bound_of(name: str, more: int, found: Mapping[str, Found]) -> float:
    """Return what no pairwise network of a size goes below on the test rows; 0 if not computed."""
    bounds = found.get(f"{name}-bounds", {})
    best = bounds["best"] if bounds.get("converged") else 0.0
    return float(max(best, bounds.get("least", {}).get(str(more), 0.0)))


# ---- Verdicts --------------------------------------------------------------------------------


def judge_cell(cell: Cell, found: Mapping[str, Found]) -> Claim:
    """Return the verdict of a cell: it cannot be if even rounded up it is below the bound."""
    printed, ours = PRINTED[cell], ours_of(cell, found)
    best, bound = best_of(cell.name, cell.more, found), bound_of(cell.name, cell.more, found)
    values: dict[str, Any] = {"cell": cell, "printed": printed, "ours": ours}
    if printed + ROUNDING < bound:
        because = f"no pairwise network of this size has less than {bound:.4f} on these rows"
        return _cannot_be(CELL, values, ours, because)
    if ours is not None:
        values["difference"] = abs(ours - printed)
        values["lower" if ours < printed else "higher"] = values["difference"]
        if ours > printed and best is not None:
            values["reached" if best <= printed + ROUNDING else "missed"] = best
        values["copied"] = _column(cell) if is_copied(cell) else None
    return judge(CELL, values)


def _cannot_be(row: Row, values: Values, ours: float | None, because: str) -> Claim:
    what, printed = row.what.format_map(values), row.printed.format_map(values)
    told = "" if ours is None else f"{ours:.4f}"
    return Claim(what, printed, told, "cannot be", because, f"printed and {ROUNDING} >= the bound")


def is_copied(cell: Cell) -> bool:
    """Return whether a value of Table 2 is Table 1's, and out of line with the rest of its column.

    Examples
    --------
    >>> [str(cell) for cell in PRINTED if is_copied(cell)]
    ['Table 2, plants, m=0, k=10']
    """
    if cell.rule != "rejection" or PRINTED[cell] != PRINTED[cell._replace(rule="greedy")]:
        return False
    larger = [PRINTED[cell._replace(more=more)] for more in MORE if more > cell.more]
    return PRINTED[cell] < min(larger, default=0.0)


def _column(cell: Cell) -> Any:
    return span(PRINTED[cell._replace(more=more)] for more in MORE if more)


def _headline(name: str, found: Mapping[str, Found]) -> Claim:
    """Return the claim about the best value printed of a data set."""
    cell = min((cell for cell in PRINTED if cell.name == name), key=PRINTED.__getitem__)
    printed, best = PRINTED[cell], best_of(name, cell.more, found)
    values: dict[str, Any] = {"cell": cell, "printed": printed, "best": best}
    bounds = found.get(f"{name}-bounds")
    if bounds and bounds["converged"] and printed + ROUNDING < bounds["best"]:
        because = (
            "the best pairwise network of all, learned from the test rows themselves with all "
            f"{bounds['edges']} edges, has {bounds['best']:.4f} on them"
        )
        for part, value in bounds.get("elsewhere", {}).items():
            because += f"; on {part} rows, likewise, {value:.4f}"
        return _cannot_be(BEST, values, best, because)
    values["printed_and_rounding"] = printed + ROUNDING
    thorough = found.get(f"{name}-{cell.more}-thorough")
    if thorough:
        own = thorough["on test rows"]["nll"]
        values["own_above" if own > printed + ROUNDING else "own_below"] = own
    sizes = ((more, best_of(name, more, found)) for more in MORE)
    values["later"] = next(
        (each for each in sizes if each[1] is not None and each[1] <= printed + ROUNDING), None
    )
    if not thorough and values["later"] is None:
        values["nothing"] = "no search here found it"
    return judge(BEST, values)


def _whole_table(rule: str, name: str, cells: Mapping[Cell, Claim]) -> Claim:
    """Return the verdict of most values of a data set in a table, the gravest of those that tie."""
    own = {cell: claim for cell, claim in cells.items() if cell[:2] == (rule, name)}
    what = f"Table {1 + RULES.index(rule)}, {name}: {len(own)} values"
    printed = f"{span(PRINTED[cell] for cell in own):.2f}"
    known = [float(claim.ours) for claim in own.values() if claim.ours]
    needed = f"most values within {SAME}"
    if not known:
        return Claim(what, printed, "", "not run", "", needed)
    counts = Counter(claim.verdict for claim in own.values())
    lower = sum(claim.because.startswith("ours is lower") for claim in own.values())
    verdicts: tuple[Verdict, ...] = ("cannot be", "differs", "reproduced")
    if counts["not run"] > len(own) / 2:
        told = f"only {len(known)} of {len(own)} values were run"
        return Claim(what, printed, f"{span(known):.2f}", "not comparable", told, needed)
    because = clauses(
        ["{cannot} impossible", "{reproduced} reproduced", "{not_run} not run",
         "{differs} differ ({lower} of them lower here)"],
        {"cannot": counts["cannot be"] or None, "reproduced": counts["reproduced"] or None,
         "not_run": counts["not run"] or None, "differs": counts["differs"] or None,
         "lower": lower},
        ", ",
    )  # fmt: skip
    verdict = max(verdicts, key=counts.__getitem__)
    return Claim(what, printed, f"{span(known):.2f}", verdict, because, needed)


def _starts(name: str, found: Mapping[str, Found]) -> dict[str, Any]:
    """Return what says whether the first column of Table 2 can mean that nothing is exchanged."""
    printed = {more: PRINTED[Cell("rejection", name, more, 1)] for more in MORE}
    known = found.get(f"{name}-nothing", {"test": {}, "tree": False})
    about = {
        "name": name,
        "printed": printed[0],
        "printed_rest": ", ".join(f"{value:.2f}" for more, value in printed.items() if more),
    }
    if not known["tree"]:
        return about
    trees = {count: values["0"][0] for count, values in known["test"].items()}
    nearest = min(trees, key=lambda count: abs(trees[count] - printed[0]))
    about |= {
        "values": int(nearest),
        "nearest": trees[nearest],
        "difference": abs(trees[nearest] - printed[0]),
        "others": ", ".join(f"{count} values {value:.4f}" for count, value in trees.items()),
    }
    rest = {more: known["test"][nearest].get(str(more)) for more in MORE if more}
    ran = {more: span(values) for more, values in rest.items() if values is not None}
    if not ran:
        return about
    away = [
        max(one.low - ROUNDING - printed[more], printed[more] - one.high - ROUNDING, 0.0)
        for more, one in ran.items()
    ]
    return about | {
        "seeds": max(len(values) for values in rest.values() if values is not None),
        "ours": ", ".join(f"{one:.2f}" for one in ran.values()),
        "values_outside_the_range_of_draws": sum(gap > 0 for gap in away),
        "farthest": max(away),
        "compared": len(ran),
        "impossible": sum(printed[more] + ROUNDING < bound_of(name, more, found) for more in ran)
        or None,
    }


def _chosen(name: str, found: Mapping[str, Found]) -> dict[str, Any]:
    known = found.get(f"{name}-nothing")
    if known is None or not known["tree"]:
        return {"name": name}
    tried = [int(count) for count in known["valid"]]
    return {
        "name": name,
        "chosen": known["values"],
        "tried": ", ".join(map(str, tried)),
        "largest_tried": max(tried),
        "valid": ", ".join(f"{value:.4f}" for value in known["valid"].values()),
    }


def _trend(
    found: Mapping[str, Found], what: str, field: str, steps: Sequence[Any], reason: str | None
) -> dict[str, Any]:
    """Return how often the next step of a field is better, printed and here."""
    following = dict(pairwise(steps))
    pairs = [
        (cell._replace(**{field: following[getattr(cell, field)]}), cell)
        for cell in PRINTED
        if getattr(cell, field) in following and (field == "rule" or cell.rule == "greedy")
    ]
    ours = [(ours_of(first, found), ours_of(second, found)) for first, second in pairs]
    known = [(a, b) for a, b in ours if a is not None and b is not None]
    wins = sum(a < b - 1e-4 for a, b in known)
    return {
        "what": what,
        "said": sum(PRINTED[first] < PRINTED[second] for first, second in pairs),
        "pairs": len(pairs),
        "wins": wins,
        "known": len(known),
        "share": wins / len(known) if known else None,
        "few": len(known) if len(known) < len(pairs) / 2 else None,
        "reason": reason,
        "largest": max((abs(a - b) for a, b in known), default=None),
    }


def _tying(way: str, found: Mapping[str, Found]) -> dict[str, Any]:
    lines = [line for line in tying_lines(found) if line["tied"] == way]
    about = {"way": way}
    if not lines:
        return about
    return about | {
        "changes": ", ".join(f"{line['data']} {line['change']:+.4f}" for line in lines),
        "data_sets_on_which_it_rises": sum(line["change"] > 0 for line in lines),
        "values": ", ".join(str(line["values"]) for line in lines),
        "sets": len(lines),
    }


# ---- Tables ----------------------------------------------------------------------------------


def tables(found: Mapping[str, Found]) -> dict[str, list[dict[str, Any]]]:
    """Return every cell, what there is at each size, and what tying does."""
    return {
        "cells": [_cell_line(cell, found) for cell in PRINTED],
        "nothing-exchanged": list(_nothing_lines(found)),
        "sizes": list(_size_lines(found)),
        "tying": list(tying_lines(found)),
    }


def tying_lines(found: Mapping[str, Found]) -> Iterator[dict[str, Any]]:
    """Yield what tied weights do to each data set."""
    for name in NAMES:
        step = found.get(f"{name}-tying")
        if step is None:
            continue
        for way in WAYS:
            free, tied = step["free"], step[way]
            yield {
                "data": name,
                "more edges": step["more"],
                "values": step["values"],
                "tied": way,
                "untied test": free["nll"],
                "tied test": tied["nll"],
                "change": tied["nll"] - free["nll"],
                "untied training": free["train_nll"],
                "tied training": tied["train_nll"],
            }


def _nothing_lines(found: Mapping[str, Found]) -> Iterator[dict[str, Any]]:
    for name in NAMES:
        known = found.get(f"{name}-nothing", {"test": {}})
        for count, values in known["test"].items():
            yield {
                "data": name,
                "values": int(count),
                **{
                    f"m={more}": f"{span(values[str(more)]):.4f}" if str(more) in values else ""
                    for more in MORE
                },
            }


def _cell_line(cell: Cell, found: Mapping[str, Found]) -> dict[str, Any]:
    claim = judge_cell(cell, found)
    return {
        "table": cell.table,
        "data": cell.name,
        "m": cell.more,
        "k": cell.exchanged,
        "printed": PRINTED[cell],
        "ours, last network": _digits(ours_of(cell, found)),
        "ours, best network": _digits(_returned(cell, found)),
        "best of ours": _digits(best_of(cell.name, cell.more, found)),
        "no network below": _digits(bound_of(cell.name, cell.more, found) or None),
        "verdict": claim.verdict,
        "because": claim.because,
    }


def _size_lines(found: Mapping[str, Found]) -> Iterator[dict[str, Any]]:
    for name in NAMES:
        trees = found.get(f"{name}-trees", {})
        for more, added in trees.get("added", {}).items():
            descent = found.get(f"{name}-descent-{more}", {})
            walk = found.get(f"{name}-mcmc-{more}", {})
            yield {
                "data": name,
                "more edges": int(more),
                "edges": added["edges"],
                "tree": _digits(trees["tree"]["nll"]),
                "tree and best gains": _digits(added["nll"]),
                "our default": _digits(descent.get("nll")),
                "mcmc": _digits(walk.get("nll")),
                "no network below": _digits(bound_of(name, int(more), found) or None),
            }


def _digits(value: float | None) -> str:
    """Return four decimals, or nothing."""
    return "" if value is None else f"{value:.4f}"
