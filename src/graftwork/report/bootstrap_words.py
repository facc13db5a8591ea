"""A bootstrap in words: which edges are sure, which are shaky, which centralities to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graftwork.estimators.bootstrap import CERTAINTY, CORRELATION, Bootstrap
from graftwork.models.graphs import MEASURES
from graftwork.report.columns import Column, aligned, decimals, whole
from graftwork.report.summary import count, section

#: An edge in so large a share of the resamples is sure ...
SURE = 0.95
#: ... and one in less than this is shaky.
SHAKY = 0.5
#: Epskamp, Borsboom and Fried: centralities below the first are not to be read, above the second
#: they are fine.
LEAST_CS, GOOD_CS = 0.25, 0.5
#: A probability of 95 % cannot be seen in fewer subsets than this.
_FEW_SUBSETS = 20
#: Shares of fewer resamples than this are off by more than a few per cent.
_FEW_RESAMPLES = 100
_NAMED = 8
#: Between the ends of an edge: lines are not broken there.
_TIED = "\u00a0-\u00a0"

#: Tests believe that rows are independent of each other, those of a resample are not.
_TESTED = (
    "Tests chose the edges of each resample, corrected for rows that repeat: a share is about how "
    "often fresh rows of the same number would show the edge. It is no second test; p-values and "
    "q-values are."
)

_EDGES: tuple[Column, ...] = (
    ("pair", "edge", str),
    ("frequency", "found in", lambda value: f"{value:.0%}"),
    ("strength", "strength", decimals(2)),
    ("low", "from", decimals(2)),
    ("high", "to", decimals(2)),
)
_STABILITY: tuple[Column, ...] = (
    ("dropped", "rows dropped", lambda value: f"{value:.0%}"),
    ("subsets", "subsets", whole),
    *((measure, measure, decimals(2)) for measure in MEASURES),
)


def bootstrap_words(boot: Bootstrap) -> str:
    """Return what a bootstrap means, in plain sentences."""
    text = " ".join([_done(boot), *_edge_words(boot), *_centrality_words(boot)])
    return text.replace(_TIED, " - ")


def bootstrap_summary(boot: Bootstrap, top: int = 20) -> str:
    """Return words and tables of a bootstrap as text, at most 88 characters wide where it can be.

    Parameters
    ----------
    top : int
        How many edges to list.
    """
    parts = [section("Resamples", _done(boot)), section("Edges", " ".join(_edge_words(boot)))]
    records = [
        record | {"pair": f"{record['first']} - {record['second']}"}
        for record in boot.edges()[: max(top, 0)]
    ]
    if records and boot.n_done:
        parts.append(f"Edges, most frequent first\n{aligned(records, _EDGES)}")
    parts.append(section("Centrality", " ".join(_centrality_words(boot))))
    if boot.n_subsets:
        title = "Mean correlation of centralities with those of all rows"
        parts.append(f"{title}\n{aligned(_stability_lines(boot), _STABILITY)}")
    return "\n\n".join(parts) + "\n"


def _done(boot: Bootstrap) -> str:
    """Return what was done, and how much of it is missing."""
    text = f"The network was learned again from {count(boot.n_done, 'resample')} of the rows"
    if boot.shares:
        text += f" and from {count(boot.n_subsets, 'subset')}"
    text += "."
    if boot.interrupted:
        asked = boot.n_asked * (2 if boot.shares else 1)
        text += f" Interrupted: {count(asked, 'fit')} were asked for."
    if boot.unconverged:
        text += (
            f" {count(boot.unconverged, 'fit')} did not reach the accuracy asked for; they are "
            "counted with the others."
        )
    return text


def _edge_words(boot: Bootstrap) -> list[str]:
    """Return which edges of the network are sure and how many are shaky, in sentences."""
    if not boot.n_done:
        return ["No resample was done, so nothing is known about the edges."]
    own, often = ~np.isnan(boot.strengths), boot.frequencies
    out = []
    if boot.n_done < _FEW_RESAMPLES:
        out.append(f"From fewer than {_FEW_RESAMPLES} resamples, the shares below are rough.")
    out += _own_edges(boot, own, often) if own.any() else [_none_of_its_own(boot)]
    out += _missed(boot, own, often)
    if boot.tested and len(boot.pairs):
        out.append(_TESTED)
    return out


def _own_edges(boot: Bootstrap, own: Any, often: Any) -> list[str]:
    """Return how sure the network's edges are, in sentences."""
    sure = own & (often >= SURE)
    shaky = own & (often < SHAKY)
    total = int(own.sum())
    out = [
        f"Of the network's {count(total, 'edge')}, {sure.sum():,} "
        f"{'is' if sure.sum() == 1 else 'are'} sure (found in at least {SURE:.0%} of the resamples)"
        + (f": {_named(boot, sure)}." if sure.any() else ".")
    ]
    between = total - int(sure.sum()) - int(shaky.sum())
    if between:
        out.append(f"{between:,} more came back in at least half of them.")
    if shaky.any():
        out.append(
            f"{shaky.sum():,} {'is' if shaky.sum() == 1 else 'are'} shaky (found in less than "
            f"half): {_named(boot, shaky)}. Do not build on these."
        )
    return out


def _none_of_its_own(boot: Bootstrap) -> str:
    """Return what resamples of a network without edges have."""
    some = int((~np.isnan(boot.draws)).any(axis=1).sum())
    if not some:
        return "The network has no edges, and no resample has any."
    most = int(np.argmax(boot.frequencies))
    first = np.arange(len(boot.pairs)) == most
    mean = (~np.isnan(boot.draws)).sum() / boot.n_done
    verb = "has" if some == 1 else "have"
    return (
        f"The network has no edges, but {some:,} of {count(boot.n_done, 'resample')} "
        f"{verb} some, {mean:.1f} on average over all; the most frequent, {_named(boot, first)}, "
        f"is in {boot.frequencies[most]:.0%} of them."
    )


def _missed(boot: Bootstrap, own: Any, often: Any) -> list[str]:
    """Return how many pairs have an edge in most resamples but not in the network."""
    missed = ~own & (often >= SHAKY)
    if not missed.any():
        return []
    which = f"{count(int(missed.sum()), 'pair')} without an edge in the network"
    verb = "has" if missed.sum() == 1 else "have"
    return [f"{which} {verb} one in half of the resamples or more: {_named(boot, missed)}."]


def _named(boot: Bootstrap, chosen: Any) -> str:
    """Return the first of some pairs by name, the most frequent and strongest first."""
    strengths = np.nan_to_num(boot.strengths)
    order = np.lexsort((-strengths, -boot.frequencies))
    places = [p for p in order.tolist() if chosen[p]]
    text = ", ".join(
        f"{boot.names[boot.pairs[p, 0]]}{_TIED}{boot.names[boot.pairs[p, 1]]}"
        for p in places[:_NAMED]
    )
    more = len(places) - _NAMED
    return text + (f" and {more:,} more" if more > 0 else "")


def _centrality_words(boot: Bootstrap) -> list[str]:
    """Return which centralities may be read, in sentences."""
    if not boot.shares:
        return ["Rows were not dropped, so nothing is known about the order of centralities."]
    if not boot.n_subsets:
        return ["No subset was done, so nothing is known about the order of centralities."]
    known = {measure: value for measure, value in boot.cs.items() if value is not None}
    if not known:
        return ["All variables are equally central, so there is no order to read."]
    if boot.n_subsets // len(boot.shares) < _FEW_SUBSETS:
        return [
            "Too few subsets to tell whether the order of centralities may be read: fewer than "
            f"{_FEW_SUBSETS} for each share of dropped rows. Ask for more: n of "
            f"{_FEW_SUBSETS * len(boot.shares):,} or more tells."
        ]
    out = [_verdict(measure, value) for measure, value in known.items()]
    flat = [measure for measure in MEASURES if measure not in known]
    if flat:
        out.append(f"All variables have the same {_listed(flat)}.")
    return out


def _verdict(measure: str, value: float) -> str:
    """Return whether a centrality may be read.

    Examples
    --------
    >>> _verdict("degree", 0.1)
    'Do not read the order of variables by degree (CS 0.10, below 0.25).'
    """
    if value < LEAST_CS:
        return (
            f"Do not read the order of variables by {measure} (CS {value:.2f}, below {LEAST_CS})."
        )
    if value < GOOD_CS:
        return (
            f"Read the order of variables by {measure} with care (CS {value:.2f}, below {GOOD_CS})."
        )
    return (
        f"The order of variables by {measure} is stable (CS {value:.2f}: with {value:.0%} of the "
        f"rows dropped it still correlates by {CORRELATION} or more in {CERTAINTY:.0%} of the "
        "subsets)."
    )


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _stability_lines(boot: Bootstrap) -> list[dict[str, Any]]:
    """Return a line for each share of dropped rows, with a column for each measure."""
    lines: dict[float, dict[str, Any]] = {}
    for record in boot.stability():
        line = lines.setdefault(
            record["dropped"], {"dropped": record["dropped"], "subsets": record["subsets"]}
        )
        line[record["measure"]] = record["mean"]
    return list(lines.values())
