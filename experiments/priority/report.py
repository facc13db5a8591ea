"""What the priority grafting paper prints beside what was found: claims, tables, pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from experiments.engine.study import Claim, Found, Report, judge
from experiments.priority.figures import figures

#: nll that are the same when rounded to the four decimals the paper prints.
SAME_NLL = 5e-5
#: A printed nll this close is the same run; the paper's own four decimals would be less.
CLOSE_NLL = 5e-3
#: "Several times" fewer or faster.
SEVERAL = 3.0


class Printed(NamedTuple):
    """A table of the paper."""

    table: int
    edges: int
    nll: float
    grafting_ms: float
    priority_ms: float


PRINTED = {
    0.7: Printed(1, 12, 32.4519, 17.04, 3.64),
    0.6: Printed(2, 17, 31.2475, 15.24, 3.21),
}
#: nll of the two methods in Table 3, which has no number of edges.
LEFTOVER = (200.38, 199.44)

Runs = Sequence[Found]


def report(found: Mapping[str, Found]) -> Report:
    """Return claims, tables and pictures; steps that were skipped are told as not run."""
    claims = [claim for lam in PRINTED for claim in _claims_at(lam, found)]
    claims.append(_leftover(found))
    tables = {
        "methods": list(_method_lines(found)),
        "accuracies": _lines(found, "accuracy"),
        "thresholds": _lines(found, "epsilon"),
        "halves": _lines(found, "halves"),
        "settings": found.get("side-by-side", {}).get("lines", []),
        "baselines": _baseline_lines(found),
    }
    return Report(claims, tables, figures(found, PRINTED))


def _claims_at(lam: float, found: Mapping[str, Found]) -> Iterator[Claim]:
    printed = PRINTED[lam]
    where = f"Table {printed.table} (lambda {lam})"
    grafting = found.get(f"grafting-{lam}", {}).get("runs", [])
    priority = found.get(f"priority-{lam}", {}).get("runs", [])
    if not grafting or not priority:
        yield judge(where, f"{printed.edges} edges, nll {printed.nll}", None, None)
        return
    runs = [*grafting, *priority]
    yield _edges(where, printed, runs, lam, found)
    yield _nll(where, printed, runs, lam, found)
    yield _same_network(where, printed, grafting[0], priority)
    yield _tests(where, printed, grafting[0], priority)
    yield _time(where, printed, grafting[0], priority)


def _edges(
    where: str, printed: Printed, runs: Runs, lam: float, found: Mapping[str, Found]
) -> Claim:
    counts = [len(run["edges"]) for run in runs]
    ours = f"{_span(counts)} edges"
    holds = set(counts) == {printed.edges}
    because = f"all {len(runs)} runs end at a certified optimum, with {ours}" if all(
        run["certified"] for run in runs
    ) else "runs do not converge"  # fmt: skip
    because += _earlier(printed, lam, found)
    stopped = _uncertified(runs)
    return judge(f"{where}: edges", str(printed.edges), ours, holds, because, unless=stopped)


def _uncertified(runs: Runs) -> str:
    """Return how many runs have no certified optimum, in words; nothing if all have."""
    missing = sum(not run["certified"] for run in runs)
    return f"{missing} of {len(runs)} runs have no certified optimum" if missing else ""


def _earlier(printed: Printed, lam: float, found: Mapping[str, Found]) -> str:
    """Say where between loose and strict runs the printed number of edges is found."""
    lines = found.get(f"accuracy-{lam}", {}).get("lines", [])
    if not lines:
        return ""
    near = min(lines, key=lambda line: (abs(line["edges"] - printed.edges), -line["tol"]))
    words = (
        f"; solved only to {near['tol']:g}, {near['method']} has {near['edges']}, and the "
        f"accuracies tried give {_span([line['edges'] for line in lines])}"
    )
    other = [
        line for line in found.get(f"halves-{lam}", {}).get("lines", [])
        if line["halves"].startswith("random")
    ]  # fmt: skip
    if other:
        words += f" (random halves: {_span([line['edges'] for line in other])})"
    return words


def _nll(where: str, printed: Printed, runs: Runs, lam: float, found: Mapping[str, Found]) -> Claim:
    values = [run["nll"] for run in runs]
    holds = all(abs(value - printed.nll) <= CLOSE_NLL for value in values)
    parts = [f"{max(abs(value - printed.nll) for value in values):.3f} apart"]
    capped = found.get(f"capped-{lam}")
    if capped:
        parts.append(
            f"grafting that stops at the printed {printed.edges} edges has {capped['nll']:.4f}"
        )
    lines = found.get(f"accuracy-{lam}", {}).get("lines", [])
    if lines:
        around = [line["nll"] for line in lines]
        inside = min(around) <= printed.nll <= max(around)
        parts.append(
            f"runs stopped earlier have {min(around):.4f} to {max(around):.4f}, "
            f"{'around' if inside else 'not around'} the printed value"
        )
    return judge(
        f"{where}: test nll", f"{printed.nll}", _span(values, ".4f"), holds, "; ".join(parts),
        unless=_uncertified(runs),
    )  # fmt: skip


def _same_network(where: str, printed: Printed, grafting: Found, priority: Runs) -> Claim:
    wanted = _pairs(grafting)
    apart = max(len(wanted ^ _pairs(run)) for run in priority)
    nll = max(abs(run["nll"] - grafting["nll"]) for run in priority)
    ours = f"at most {apart} edges and {nll:.1e} in nll apart ({len(priority)} seeds)"
    because = f"edges differ: {apart}" if apart else f"nll differ by {nll:.1e}"
    return judge(
        f"{where}: priority grafting finds grafting's network",
        "same edges, same nll", ours, apart == 0 and nll <= SAME_NLL, because,
        unless=_uncertified([grafting, *priority]),
    )  # fmt: skip


def _pairs(run: Found) -> set[tuple[str, str]]:
    return {(a, b) for a, b, _ in run["edges"]}


def _tests(where: str, printed: Printed, grafting: Found, priority: Runs) -> Claim:
    ratios = [grafting["tests"] / max(run["tests"], 1) for run in priority]
    mean = sum(run["tests"] for run in priority) / len(priority)
    ours = (
        f"{grafting['tests']:,} -> {mean:,.0f} tables tested in all, "
        f"{min(ratios):.1f} to {max(ratios):.1f} times fewer"
    )
    return judge(
        f"{where}: several times fewer candidate tests",
        f"selection {printed.grafting_ms / printed.priority_ms:.1f} times faster", ours,
        sum(ratios) / len(ratios) >= SEVERAL,
        f"{sum(ratios) / len(ratios):.1f} times on average",
        unless=_uncertified([grafting, *priority]),
    )  # fmt: skip


def _time(where: str, printed: Printed, grafting: Found, priority: Runs) -> Claim:
    ms = sum(run["selection_ms"] for run in priority) / len(priority)
    tests = sum(run["selection_tests"] for run in priority) / len(priority)
    ratio = grafting["selection_ms"] / ms
    because = (
        f"a search scores {grafting['selection_tests']:.0f} tables at once "
        f"({1e3 * grafting['selection_ms'] / grafting['selection_tests']:.0f} us each), or "
        f"{tests:.0f} in small batches ({1e3 * ms / tests:.0f} us each): "
        f"{grafting['selection_tests'] / tests:.1f} times fewer, but dearer"
    )
    return judge(
        f"{where}: time to select an edge",
        f"{printed.grafting_ms} -> {printed.priority_ms} ms",
        f"{grafting['selection_ms']:.2f} -> {ms:.2f} ms, {ratio:.1f} times as fast",
        ratio >= SEVERAL, because,
    )  # fmt: skip


def _leftover(found: Mapping[str, Found]) -> Claim:
    what, printed = "Table 3 (lambda 0.6): nll", " and ".join(map(str, LEFTOVER))
    uniform = found.get("baselines", {}).get("uniform")
    runs = found.get("grafting-0.6", {}).get("runs", [])
    if uniform is None or not runs:
        return judge(what, printed, None, None)
    ours = f"{runs[0]['nll']:.4f}"
    because = (
        f"Table 2 prints {PRINTED[0.6].nll} for the same data and lambda, and a network without "
        f"weights has {uniform:.4f} on any rows"
    )
    near = all(abs(value - runs[0]["nll"]) <= CLOSE_NLL for value in LEFTOVER)
    return judge(what, printed, ours, near, because)


def _method_lines(found: Mapping[str, Found]) -> Iterator[dict[str, Any]]:
    """Yield a line for every method, rule and lambda, with the range over seeds."""
    for lam in PRINTED:
        for name in ("grafting", "priority"):
            runs = found.get(f"{name}-{lam}", {}).get("runs", [])
            yield from _runs_line(lam, "bp, product rule", name, runs)
        for rule, key in (("bp, path rule", "bp-path-rule"), ("exact", "exact-inference")):
            both = found.get(f"{key}-{lam}")
            if both:
                yield from _runs_line(lam, rule, "grafting", [both["grafting"]])
                yield from _runs_line(lam, rule, "priority", both["priority"])


def _runs_line(lam: float, rule: str, name: str, runs: Runs) -> Iterator[dict[str, Any]]:
    if runs:
        yield {
            "lambda": lam,
            "inference": rule,
            "method": name,
            "runs": len(runs),
            "edges": _span([len(run["edges"]) for run in runs]),
            "nll": _span([run["nll"] for run in runs], ".4f"),
            "objective": _span([run["objective"] for run in runs], ".6f"),
            "tests": _span([run["tests"] for run in runs]),
            "tests a selection": _span([run["selection_tests"] for run in runs], ".1f"),
            "ms a selection": _span([run["selection_ms"] for run in runs], ".2f"),
            "certified": sum(run["certified"] for run in runs),
        }


def _lines(found: Mapping[str, Found], key: str) -> list[dict[str, Any]]:
    return [
        {"lambda": lam, **line}
        for lam in PRINTED
        for line in found.get(f"{key}-{lam}", {}).get("lines", [])
    ]


def _baseline_lines(found: Mapping[str, Found]) -> list[dict[str, Any]]:
    return [{"model": name, "nll": value} for name, value in found.get("baselines", {}).items()]


def _span(values: Sequence[float], form: str = "d") -> str:
    """Return a value, or the least and the largest.

    Examples
    --------
    >>> _span([3, 3]), _span([1.0, 2.0], ".1f")
    ('3', '1.0 to 2.0')
    """
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"
