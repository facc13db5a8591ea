"""A comparison in words: tables, whether the methods agree, who did not converge and why."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from graftwork.grafting.certificate import Certificate
from graftwork.report.choice_text import stop_text
from graftwork.text import Column, aligned, count, decimals, names, whole

if TYPE_CHECKING:
    from graftwork.report.comparison import Comparison

WIDTH = 88
#: Objectives this close, relative to their size, or within ten tolerances, count as the same.
_SAME = 1e-6

_CLOCK = (
    "Seconds run from a method's first evaluation to its last check: reading and preparing the "
    "data, compilation and this evaluation are on nobody's clock. Every method counted its own "
    "pair tables."
)


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
        Edges (or features) that all of them have, and those that some have and some have not.
    same : bool
        Whether the objectives differ by no more than the accuracy asked for allows.
    """

    labels: tuple[str, ...]
    problem: tuple[str, ...]
    spread: float
    shared: int
    disputed: int
    same: bool


class Certified(Protocol):
    """A run of a comparison, as far as agreement goes."""

    @property
    def label(self) -> str:
        """What the comparison calls it."""
        ...

    @property
    def certificate(self) -> Certificate:
        """How close to optimal it is."""
        ...

    @property
    def problem(self) -> tuple[str, ...]:
        """What was minimised."""
        ...

    @property
    def kept(self) -> frozenset[Any]:
        """What it has in the end: edges or features."""
        ...


def agreements(all_runs: Sequence[Certified]) -> tuple[Agreement, ...]:
    """Return how the converged runs agree, for each objective that one of them minimises."""
    groups: dict[tuple[str, ...], list[Certified]] = {}
    for run in all_runs:
        if run.certificate.converged:
            groups.setdefault(run.problem, []).append(run)
    return tuple(_agreement(problem, runs) for problem, runs in groups.items())


def _agreement(problem: tuple[str, ...], runs: Sequence[Certified]) -> Agreement:
    objectives = [run.certificate.objective for run in runs]
    low, high = min(objectives), max(objectives)
    spread = (high - low) / max(abs(low), 1e-300) if high > low else 0.0
    everywhere = frozenset.intersection(*(run.kept for run in runs))
    somewhere = frozenset.union(*(run.kept for run in runs))
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
    records = [{**record, "ended": ended(record)} for record in comparison.table()]
    parts = [textwrap.fill(_head(comparison), WIDTH)]
    parts.append("What was reached\n" + aligned(records, _REACHED))
    if comparison.n_true is not None:
        parts.append("How much of it is true\n" + aligned(records, _TRUE))
    parts.append("What it took\n" + aligned(records, _TAKEN))
    parts += [textwrap.fill(text, WIDTH) for text in _sentences(comparison)]
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
    out = outcome_sentences(comparison.runs, "edge", comparison.interrupted)
    inexact = [run.label for run in comparison.runs if not run.certificate.exact]
    if inexact:
        out.append(f"Approximate inference is in the objectives of {names(inexact)}.")
    tied = [run.label for run in comparison.runs if run.settings.get("tie")]
    if tied:
        out.append(
            f"Weights were tied after the last round of {names(tied)}: the NLPL is that of the "
            "tied networks, objectives and rounds are of those before."
        )
    return [*out, *missing_sentences(comparison.missing), _CLOCK]


def outcome_sentences(runs: Sequence[Certified], noun: str, interrupted: bool) -> list[str]:
    """Return whether the runs agree, and which did not converge and why.

    Parameters
    ----------
    noun : str
        What a run has in the end: "edge" or "feature".
    interrupted : bool
        Whether Ctrl-C ended the comparison.
    """
    out = ["Interrupted: this is what there was by then."] if interrupted else []
    found = agreements(runs)
    for agreement in found:
        out.append(_agreement_words(agreement, noun, several=len(found) > 1))
    for run in runs:
        if not run.certificate.converged:
            stop = run.certificate.stop
            what = (
                "is not certified optimal" if stop in ("given", "searched") else "did not converge"
            )
            out.append(f"{run.label} {what}: {stop_text(stop, noun)}.")
    return out


def missing_sentences(missing: Mapping[str, str]) -> list[str]:
    """Return why methods are missing, one sentence each.

    Examples
    --------
    >>> missing_sentences({"full": "it is too large."})
    ['full is missing: it is too large.']
    """
    return [f"{label} is missing: {why.rstrip('.')}." for label, why in missing.items()]


def _agreement_words(agreement: Agreement, noun: str, *, several: bool) -> str:
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
            f"{text}, and {count(agreement.disputed, noun)} of "
            f"{agreement.disputed + agreement.shared:,} are not in all of them."
        )
    return f"{text}, and they have the same {count(agreement.shared, noun)}."


def ended(record: Mapping[str, Any]) -> str:
    """Return how a run ended, in a word.

    Examples
    --------
    >>> ended({"converged": False, "stop": "seconds"})
    'seconds'
    """
    return "optimal" if record["converged"] else str(record["stop"])


_REACHED: tuple[Column, ...] = (
    ("method", "method", str),
    ("objective", "objective", decimals(6)),
    ("gap", "above best", lambda value: f"{value:.1e}" if value else "0"),
    ("nlpl", "NLPL", decimals(4)),
    ("test_nlpl", "held out", decimals(4)),
    ("edges", "edges", whole),
)
_TRUE: tuple[Column, ...] = (
    ("method", "method", str),
    ("recall", "recall", decimals(3)),
    ("precision", "precision", decimals(3)),
    ("f1", "F1", decimals(3)),
)
_TAKEN: tuple[Column, ...] = (
    ("method", "method", str),
    ("rounds", "rounds", whole),
    ("evaluations", "evaluations", whole),
    ("blocks_scored", "blocks scored", whole),
    ("tables_counted", "tables", whole),
    ("seconds", "seconds", decimals(2)),
    ("ended", "ended", str),
)
