"""A comparison in words: tables, whether the methods agree, who did not converge and why."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graftwork.grafting.certificate import STOPS
from graftwork.report.summary import count, names

if TYPE_CHECKING:
    from graftwork.report.comparison import Comparison, MethodRun

_WIDTH = 88
#: Objectives this close, relative to their size, or within ten tolerances, count as the same.
_SAME = 1e-6

_CLOCK = (
    "Seconds run from a method's first evaluation to its last check: reading and preparing the "
    "data, compilation and this evaluation are on nobody's clock. Every method counted its own "
    "pair tables."
)

Column = tuple[str, str, Callable[[Any], str]]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether the converged runs that minimise the same have found the same.

    Attributes
    ----------
    labels : tuple of str
        The runs that converged.
    problem : tuple of str
        What they minimise.
    spread : float
        Largest difference of their objectives, relative to the smallest.
    shared, disputed : int
        Edges that all of them have, and edges that some have and some have not.
    same : bool
        Whether the objectives differ by no more than the accuracy asked for allows.
    """

    labels: tuple[str, ...]
    problem: tuple[str, ...]
    spread: float
    shared: int
    disputed: int
    same: bool


def agreements(comparison: Comparison) -> tuple[Agreement, ...]:
    """Return how the converged runs agree, for each objective that one of them minimises."""
    groups: dict[tuple[str, ...], list[MethodRun]] = {}
    for run in comparison.runs:
        if run.certificate.converged:
            groups.setdefault(run.problem, []).append(run)
    return tuple(_agreement(problem, runs) for problem, runs in groups.items())


def _agreement(problem: tuple[str, ...], runs: Sequence[MethodRun]) -> Agreement:
    objectives = [run.certificate.objective for run in runs]
    low, high = min(objectives), max(objectives)
    spread = (high - low) / max(abs(low), 1e-300) if high > low else 0.0
    everywhere = frozenset.intersection(*(run.edges for run in runs))
    somewhere = frozenset.union(*(run.edges for run in runs))
    allowed = max(_SAME, 10.0 * max(run.certificate.tolerance for run in runs))
    return Agreement(
        tuple(run.label for run in runs),
        problem,
        spread,
        len(everywhere),
        len(somewhere) - len(everywhere),
        spread <= allowed,
    )


def comparison_words(comparison: Comparison) -> str:
    """Return a comparison as text for people, at most 88 characters wide where labels are short."""
    records = [{**record, "ended": _ended(record)} for record in comparison.table()]
    parts = [textwrap.fill(_head(comparison), _WIDTH)]
    parts.append("What was reached\n" + _aligned(records, _REACHED))
    if comparison.n_true is not None:
        parts.append("How much of it is true\n" + _aligned(records, _TRUE))
    parts.append("What it took\n" + _aligned(records, _TAKEN))
    parts += [textwrap.fill(text, _WIDTH) for text in _sentences(comparison)]
    return "\n\n".join(parts) + "\n"


def _head(comparison: Comparison) -> str:
    parts = [f"{count(comparison.n_rows, 'row')} of {count(comparison.n_variables, 'variable')}"]
    if comparison.n_test is not None:
        parts.append(f"{count(comparison.n_test, 'row')} held out")
    if comparison.n_true is not None:
        parts.append(count(comparison.n_true, "true edge"))
    methods = count(len(comparison.runs), "method")
    words = comparison.lam_words
    return f"{methods} on {', '.join(parts)}. {words[0].upper()}{words[1:]}"


def _sentences(comparison: Comparison) -> list[str]:
    """Return what the tables mean: agreement, what did not converge, what is missing."""
    out = []
    if comparison.interrupted:
        out.append("Interrupted: this is what there was by then.")
    found = agreements(comparison)
    for agreement in found:
        out.append(_agreement_words(agreement, several=len(found) > 1))
    for run in comparison.runs:
        if not run.certificate.converged:
            stop = run.certificate.stop
            what = (
                "is not certified optimal" if stop in ("given", "searched") else "did not converge"
            )
            out.append(f"{run.label} {what}: {STOPS.get(stop, stop)}.")
    inexact = [run.label for run in comparison.runs if not run.certificate.exact]
    if inexact:
        out.append(f"Approximate inference is in the objectives of {names(inexact)}.")
    tied = [run.label for run in comparison.runs if run.settings.get("tie")]
    if tied:
        out.append(
            f"Weights were tied after the last round of {names(tied)}: the NLPL is that of the "
            "tied networks, objectives and rounds are of those before."
        )
    for label, why in comparison.missing.items():
        out.append(f"{label} is missing: {why.rstrip('.')}.")
    return [*out, _CLOCK]


def _agreement_words(agreement: Agreement, *, several: bool) -> str:
    of_what = f" ({', '.join(agreement.problem)})" if several else ""
    if len(agreement.labels) == 1:
        return f"Only {agreement.labels[0]} converged{of_what}: nothing to hold it against."
    verb = "agree" if agreement.same else "do NOT agree"
    text = (
        f"The {len(agreement.labels)} methods that converged{of_what} {verb}: their objectives "
        f"differ by {agreement.spread:.1g} of their size at most"
    )
    if agreement.disputed:
        return (
            f"{text}, and {count(agreement.disputed, 'edge')} of "
            f"{agreement.disputed + agreement.shared:,} are not in all of them."
        )
    return f"{text}, and they have the same {count(agreement.shared, 'edge')}."


def _ended(record: dict[str, Any]) -> str:
    return "optimal" if record["converged"] else str(record["stop"])


def _decimals(digits: int) -> Callable[[Any], str]:
    return lambda value: f"{value:,.{digits}f}" if value == value else "-"


def _whole(value: Any) -> str:
    return f"{value:,}"


_REACHED: tuple[Column, ...] = (
    ("method", "method", str),
    ("objective", "objective", _decimals(6)),
    ("gap", "above best", lambda value: f"{value:.1e}" if value else "0"),
    ("nlpl", "NLPL", _decimals(4)),
    ("test_nlpl", "held out", _decimals(4)),
    ("edges", "edges", _whole),
)
_TRUE: tuple[Column, ...] = (
    ("method", "method", str),
    ("recall", "recall", _decimals(3)),
    ("precision", "precision", _decimals(3)),
    ("f1", "F1", _decimals(3)),
)
_TAKEN: tuple[Column, ...] = (
    ("method", "method", str),
    ("rounds", "rounds", _whole),
    ("evaluations", "evaluations", _whole),
    ("blocks_scored", "blocks scored", _whole),
    ("tables_counted", "tables", _whole),
    ("seconds", "seconds", _decimals(2)),
    ("ended", "ended", str),
)


def _aligned(records: list[dict[str, Any]], columns: Sequence[Column]) -> str:
    """Return records as lines of a table: numbers to the right, the method to the left."""
    shown = [column for column in columns if column[0] in records[0]]
    rows = [[title for _, title, _ in shown]]
    rows += [[text(record[key]) for key, _, text in shown] for record in records]
    widths = [max(len(row[k]) for row in rows) for k in range(len(shown))]
    lines = []
    for row in rows:
        first, *rest = (
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  " + "  ".join([first, *rest]).rstrip())
    return "\n".join(lines)
