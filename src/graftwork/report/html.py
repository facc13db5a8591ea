"""Estimators, models and results as HTML, for notebooks: small tables and the texts of `summary`.

Colours are those of the page, light or dark, with half-transparent lines; nothing is fetched from
anywhere, and names are text, whatever they hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from html import escape
from typing import Any

import numpy as np

from graftwork.estimators import ChainCRF, MarkovNetwork
from graftwork.estimators.bootstrap import Bootstrap
from graftwork.estimators.edges import Records
from graftwork.estimators.predictability import Predictability
from graftwork.grafting.certificate import Certificate
from graftwork.groups import GroupComparison
from graftwork.models import ChainModel, PairwiseMRF
from graftwork.report.bootstrap import (
    STABILITY_TITLE,
    bootstrap_sections,
    edge_columns,
    edge_lines,
    stability_columns,
    stability_lines,
)
from graftwork.report.chain_summary import chain_sections, chain_tables, chain_words
from graftwork.report.describe import certificate_text
from graftwork.report.edges import (
    Association,
    EdgeRecord,
    edge_table,
    edges_of,
    weight_tells,
)
from graftwork.report.figures import printable
from graftwork.report.groups import groups_sections, pair_tables
from graftwork.report.predictability import predictability_text
from graftwork.report.summary import certified_text, network_text, summary_sections
from graftwork.text import Column, cells, decimals, probability

#: Rows shown of a table of edges or pairs; weights of each label, and of all.
_ROWS, _WEIGHTS, _MOST_WEIGHTS = 20, 3, 30
#: Transitions of at most this many labels are a matrix.
_MATRIX = 12
#: Longer names are cut.
_LONGEST = 60
_STYLE = """<style>
.graftwork{line-height:1.45;max-width:62em}
.graftwork .gw-name{font-weight:600;margin-right:.6em}
.graftwork p{margin:.35em 0}
.graftwork table{border-collapse:collapse;border:none;margin:.2em 0 .5em;font-size:92%}
.graftwork th,.graftwork td{border:none;padding:.14em 1.1em .14em .2em;text-align:right;
color:inherit;font-variant-numeric:tabular-nums;vertical-align:top}
.graftwork thead th{font-weight:600;border-bottom:1px solid rgba(128,128,128,.6)}
.graftwork tbody tr+tr td{border-top:1px solid rgba(128,128,128,.18)}
.graftwork .gw-head{font-weight:600;margin:.7em 0 0}
.graftwork .gw-more{opacity:.7;font-size:92%}
.graftwork .gw-bar{display:inline-block;width:5em;height:.65em;margin-left:.6em;
background:rgba(128,128,128,.22)}
.graftwork .gw-bar span{display:block;height:100%;background:#3182bd}
.graftwork details{margin:.3em 0}
.graftwork summary{cursor:pointer;opacity:.85}
</style>"""


class _Markup(str):
    """A cell that is HTML already."""

    __slots__ = ()


@singledispatch
def to_html(value: Any) -> str:
    """Return a result as a piece of HTML that stands for itself."""
    raise TypeError(f"there is no HTML of an object of type {type(value).__name__}.")


@to_html.register
def _network(net: MarkovNetwork) -> str:
    told = summary_sections(net, net.data_)
    first = [text for title, text in told if title in ("Data", "Network")]
    folded = [(title, text) for title, text in told if title not in ("Data", "Network", "Remarks")]
    return _page(
        net,
        " ".join(first),
        *(_text(f"Remarks: {text}") for title, text in told if title == "Remarks"),
        _edges(edges_of(net, top=_ROWS), net.model_),
        *(_folded(title, _text(text)) for title, text in folded),
        _folded("Certificate", _text(certified_text(net))),
        _diagram(net),
    )


@to_html.register
def _chain_learner(crf: ChainCRF) -> str:
    return _page(
        crf,
        " ".join(text for _, text in chain_sections(crf)),
        *_weights(crf.model_),
        _folded("Certificate", _text(certificate_text(crf.certificate_))),
        _diagram(crf),
    )


@to_html.register
def _model(model: PairwiseMRF) -> str:
    # A model does not know whether anybody looked for more edges.
    return _page(
        model,
        network_text(model, looked=False),
        _edges(edge_table(model, top=_ROWS), model),
    )


@to_html.register
def _chain(model: ChainModel) -> str:
    return _page(model, chain_words(model), *_weights(model))


@to_html.register
def _certificate(certificate: Certificate) -> str:
    c = certificate
    numbers = [
        ["largest violation of what was left out", _small(c.max_violation)],
        [f"{c.unit}s tested, of those left out", f"{c.n_tested:,} of {c.n_inactive:,}"],
        [f"stationarity of the {c.noun}s kept", _small(c.stationarity)],
        ["tolerance", _small(c.tolerance)],
        ["lambda", f"{c.lam:.4g}"],
        ["objective", f"{c.objective:.6g}"],
        ["exact", "yes" if c.exact else "no"],
    ]
    return _page(certificate, certificate_text(certificate), _table(numbers, [], "lr"))


@to_html.register
def _bootstrap(boot: Bootstrap) -> str:
    told, records = dict(bootstrap_sections(boot)), edge_lines(boot)
    parts = [_text(told["Edges"])]
    if records and boot.n_done:
        parts.append(
            _records("Edges, most frequent first", records, edge_columns(records), bar="frequency")
        )
    parts.append(_text(told["Centrality"]))
    if boot.n_subsets:
        parts.append(_records(STABILITY_TITLE, stability_lines(boot), stability_columns(boot)))
    if "Communities" in told:
        parts.append(_folded("Communities", _text(told["Communities"])))
    return _page(boot, told["Resamples"], *parts)


@to_html.register
def _groups(found: GroupComparison) -> str:
    told = groups_sections(found)
    tables = [
        _records(title, records, columns)
        for title, records, columns in pair_tables(found, len(found.pairs))
    ]
    (_, first), *others, (title, last) = told
    return _page(
        found, first, *(_text(text) for _, text in others), *tables, _folded(title, _text(last))
    )


_PREDICTABILITY: tuple[Column, ...] = (
    ("variable", "variable", str),
    ("normalised_accuracy", "normalised accuracy", decimals(2)),
    ("accuracy", "accuracy", decimals(2)),
    ("marginal_accuracy", "most frequent state", decimals(2)),
    ("explained_deviance", "explained deviance", decimals(2)),
)


@to_html.register
def _predictability(found: Predictability) -> str:
    def gain(record: dict[str, Any]) -> float:
        return float(np.nan_to_num(record["normalised_accuracy"], nan=-np.inf))

    records = sorted(found.records(), key=gain, reverse=True)
    title = "Best predicted first"
    table = _records(title, records, _PREDICTABILITY, bar="normalised_accuracy")
    return _page(found, predictability_text(found), table)


@to_html.register
def _listed(records: Records) -> str:
    first = records[0] if records else {}
    columns = [(key, key, _value) for key in first]
    sides = "".join("r" if isinstance(value, float) else "l" for value in first.values())
    body = _records("", records, columns, sides=sides) if records else _text("no rows")
    return f'<div class="graftwork">{_STYLE}{body}</div>'


def _page(value: Any, text: str, *parts: str) -> str:
    """Return a text that begins with the name of what it is about, and parts below."""
    name = f'<span class="gw-name">{escape(type(value).__name__)}</span>'
    body = "".join([f"<p>{name}{escape(text)}</p>", *parts])
    return f'<div class="graftwork">{_STYLE}{body}</div>'


def _text(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""


def _folded(title: str, inner: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{inner}</details>"


def _diagram(estimator: Any) -> str:
    """Return scikit-learn's diagram of an estimator with its parameters, folded."""
    from sklearn.utils import estimator_html_repr

    return _folded("Parameters", estimator_html_repr(estimator))


def _value(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.4g}"
    return str(value)


def _small(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2g}"


def _edges(records: Sequence[EdgeRecord], model: PairwiseMRF) -> str:
    """Return a table of the first of some edges, with the columns of which something is known."""
    if not records:
        return ""
    columns: list[Column] = [
        ("first", "edge", str), ("second", "", str),
        ("strength", "strength", decimals(2)),
        ("weight", "weight", _signed), ("interval", "95 %", str),
        ("p", "p", _chance), ("q", "q", _chance),
        ("together", "go together", str), ("apart", "avoid each other", str),
    ]  # fmt: skip
    rows = []
    for r in records:
        named = not weight_tells(model, r)
        rows.append(
            {
                "first": r.first, "second": r.second, "strength": r.strength, "weight": r.weight,
                "interval": _interval(r), "p": r.p_value, "q": r.q_value,
                "together": _pair(r.together) if named else "",
                "apart": _pair(r.apart) if named else "",
            }
        )  # fmt: skip
    known = [
        column
        for column in columns
        if any(_is_known(row[column[0]]) for row in rows)
    ]  # fmt: skip
    title = "Edges, strongest first" if model.n_edges > 1 else "The only edge"
    sides = "".join("l" if key in ("first", "second", "together", "apart") else "r"
                    for key, _, _ in known)  # fmt: skip
    return _records(title, rows, known, sides=sides, total=model.n_edges)


def _is_known(value: Any) -> bool:
    return bool(value == value and value != "")


def _interval(record: EdgeRecord) -> str:
    if np.isnan(record.weight_low):
        return ""
    return f"{record.weight_low:.2f} to {record.weight_high:.2f}".replace("-", "\u2212")


def _pair(tie: Association | None) -> str:
    return "" if tie is None else f"{tie.first_state} and {tie.second_state}"


def _signed(value: float) -> str:
    return "" if np.isnan(value) else f"{value:+.2f}".replace("-", "\u2212")


def _chance(value: float) -> str:
    return "" if np.isnan(value) else probability(value)


def _weights(model: ChainModel) -> list[str]:
    """Return the strongest weights of labels, and transitions: as a matrix for few labels."""
    tables = chain_tables(model, _WEIGHTS)
    matrix = model.order == 1 and len(model.labels) <= _MATRIX and bool(np.any(model.pairs))
    parts = [
        f'<p class="gw-head">{escape(title)}</p>{_table(rows, titles, sides, _MOST_WEIGHTS)}'
        for title, rows, titles, sides in tables
        if not (matrix and "ransitions" in title)
    ]
    if matrix:
        labels = [str(label) for label in model.labels]
        rows = [
            [label, *(_signed(w) if w else "\u00b7" for w in row)]
            for label, row in zip(labels, model.pairs.tolist(), strict=True)
        ]
        table = _table(rows, ["from \\ to", *labels], "l" + "r" * len(labels))
        parts.append(f'<p class="gw-head">Transitions</p>{table}')
    return parts


def _records(
    title: str,
    records: Sequence[Any],
    columns: Sequence[Column],
    *,
    bar: str = "",
    sides: str = "",
    total: int | None = None,
) -> str:
    """Return records as a table below its title; a column may have bars, for shares."""
    rows, titles, usual = cells(records, columns)
    keys = [key for key, _, _ in columns if key in records[0]]
    if bar in keys:
        place = keys.index(bar)
        for row, record in zip(rows, records, strict=True):
            row[place] = _bar(float(record[bar]), row[place])
    head = f'<p class="gw-head">{escape(title)}</p>' if title else ""
    return head + _table(rows, titles, sides or usual, total=total)


def _bar(share: float, text: str) -> _Markup:
    width = 100 * min(max(float(np.nan_to_num(share)), 0.0), 1.0)
    inner = f'<span style="width:{width:.0f}%"></span>'
    return _Markup(f'{escape(text)}<span class="gw-bar">{inner}</span>')


def _table(
    rows: Sequence[Sequence[str]],
    titles: Sequence[str],
    sides: str,
    most: int = _ROWS,
    total: int | None = None,
) -> str:
    """Return the first rows of a table, and how many more there are of ``total``."""
    head = "".join(_cell("th", title, side) for title, side in zip(titles, sides, strict=False))
    lines = ([_cell("td", *each) for each in zip(row, sides, strict=False)] for row in rows[:most])
    body = "".join(f"<tr>{''.join(line)}</tr>" for line in lines)
    more = (total or len(rows)) - most
    return (
        "<table>"
        + (f"<thead><tr>{head}</tr></thead>" if any(titles) else "")
        + f"<tbody>{body}</tbody></table>"
        + (f'<p class="gw-more">and {more:,} more</p>' if more > 0 else "")
    )


def _cell(tag: str, cell: str, side: str) -> str:
    inner = cell if isinstance(cell, _Markup) else escape(printable(cell, _LONGEST))
    # Inline: the rules of notebooks for cells are stronger than those of a page's style.
    left = ' style="text-align:left" dir="auto"' if side == "l" else ""
    return f"<{tag}{left}>{inner}</{tag}>"
