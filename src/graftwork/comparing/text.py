"""A comparison as text: tables, whether the methods agree, which did not converge and why."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from graftwork.comparing.comparison import COST, Agreement, Comparison, Metric, Run
from graftwork.report.choice_text import stop_text
from graftwork.text import count

_WIDTH = 88
#: Wide enough that no row of a table is ever wrapped.
_TABLE_WIDTH = 10_000


def comparison_text(comparison: Comparison) -> str:
    """Return a comparison as text, at most 88 characters wide where labels are short."""
    shown = [metric for metric in comparison.metrics if metric.table]
    records = comparison.table()
    parts = [textwrap.fill(_heading(comparison), _WIDTH)]
    for title in dict.fromkeys(metric.table for metric in shown):
        parts.append(_table(title, [m for m in shown if m.table == title], records))
    sentences = [*_outcome(comparison), *comparison.remarks, *missing_sentences(comparison.missing)]
    parts += [textwrap.fill(text, _WIDTH) for text in (*sentences, _legend(shown))]
    return "\n\n".join(parts) + "\n"


def sizes_text(sizes: Mapping[str, int | None]) -> str:
    """Return numbers of things, whose names are plural keys, as text; None is left out.

    Examples
    --------
    >>> sizes_text({"rows": 1200, "test_rows": 1, "true_edges": None})
    '1,200 rows, 1 test row'
    """
    nouns = {name: name.replace("_", " ").removesuffix("s") for name in sizes}
    return ", ".join(count(n, nouns[name]) for name, n in sizes.items() if n is not None)


def _heading(comparison: Comparison) -> str:
    words = comparison.lam_words
    runs = count(len(comparison.runs), "run")
    return f"{runs} on {sizes_text(comparison.sizes)}. {words[0].upper()}{words[1:]}"


def _table(title: str, metrics: Sequence[Metric], records: Sequence[Mapping[str, Any]]) -> str:
    """Return some columns of the table below a title; the costs say how runs ended, too."""
    ended = title == COST
    titles = ["method", *(metric.title for metric in metrics), *["ended"] * ended]
    rows = [
        [
            str(record["method"]),
            *(_cell(metric, record[metric.name]) for metric in metrics),
            *[_ending(record)] * ended,
        ]
        for record in records
    ]
    return f"{title}\n{_aligned(titles, rows)}"


def _aligned(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return cells as lines of a table, the first column to the left, others to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
    for k, title in enumerate(titles):
        table.add_column(title, justify="right" if k else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    buffer = io.StringIO()
    Console(file=buffer, width=_TABLE_WIDTH, color_system=None).print(table)
    return "\n".join(f"  {line}".rstrip() for line in buffer.getvalue().splitlines())


def _cell(metric: Metric, value: Any) -> str:
    """Return a value as text; a dash stands for what is not known."""
    if value is None or value != value:
        return "-"
    return "0" if value == 0 and metric.format.endswith("e") else format(value, metric.format)


def _ending(record: Mapping[str, Any]) -> str:
    return "optimal" if record["converged"] else str(record["stop"])


def _outcome(comparison: Comparison) -> list[str]:
    """Return whether the runs agree, and which did not converge and why."""
    out = ["Interrupted: these are the results so far."] if comparison.interrupted else []
    found = comparison.agreements()
    out += [_agreement(each, comparison.noun, several=len(found) > 1) for each in found]
    unfinished = [run for run in comparison.runs if not run.certificate.converged]
    return out + [_unfinished(run, comparison.noun) for run in unfinished]


def _agreement(agreement: Agreement, noun: str, *, several: bool) -> str:
    of_what = f" ({', '.join(agreement.problem)})" if several else ""
    if len(agreement.labels) == 1:
        return f"Only {agreement.labels[0]} converged{of_what}: there is nothing to compare it to."
    verb = "agree" if agreement.same else "do NOT agree"
    text = (
        f"The {len(agreement.labels)} methods that converged{of_what} {verb}: their objectives "
        f"differ by at most {agreement.spread:.1g} (relative)"
    )
    if agreement.disputed:
        total = count(agreement.disputed + agreement.shared, noun)
        return f"{text}, and {agreement.disputed:,} of {total} are not in all of them."
    return f"{text}, and they have the same {count(agreement.shared, noun)}."


def _unfinished(run: Run, noun: str) -> str:
    stop = run.certificate.stop
    what = "is not certified optimal" if stop in ("given", "searched") else "did not converge"
    return f"{run.label} {what}: {stop_text(stop, noun)}."


def missing_sentences(missing: Mapping[str, str]) -> list[str]:
    """Return why methods are missing, one sentence each.

    Examples
    --------
    >>> missing_sentences({"full": "it is too large."})
    ['full is missing: it is too large.']
    """
    return [f"{label} is missing: {why.rstrip('.')}." for label, why in missing.items()]


def _legend(metrics: Sequence[Metric]) -> str:
    """Return what the columns mean."""
    units = {metric.name: f", in {metric.unit}" if metric.unit else "" for metric in metrics}
    told = (f"{m.title}: {m.meaning}{units[m.name]}" for m in metrics if m.meaning)
    return f"{'; '.join(told)}."
