"""A bootstrap as text and files: which edges are stable, which centralities to read."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.atomic import replacing_together
from graftwork.estimators.bootstrap import (
    CERTAINTY,
    COLUMNS,
    CORRELATION,
    LEAST_SUBSETS,
    SHARES,
    Bootstrap,
    Record,
)
from graftwork.estimators.bootstrap_differences import COMPARED, DIFFERENCES
from graftwork.models.graphs import MEASURES, SIGNED
from graftwork.report.communities import community_words
from graftwork.report.trace import plain, write_records, write_text
from graftwork.text import (
    Column,
    aligned,
    count,
    decimals,
    percent,
    probability,
    section,
    shown_of,
    verb,
    whole,
)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: An edge in at least this share of the resamples is stable ...
STABLE = 0.95
#: ... and one in less than this is unstable.
UNSTABLE = 0.5
#: Epskamp, Borsboom and Fried: centralities below the first are not to be read, above the second
#: they are fine.
LEAST_CS, GOOD_CS = 0.25, 0.5
#: Shares of fewer resamples than this are off by more than a few per cent.
_FEW_RESAMPLES = 100
#: Differences of these are drawn.
DRAWN = ("edges", "strength")
#: A p-value is tiny, for an edge that resamples rarely have, up to this.
_TINY = 1e-3
_NAMED = 8
#: Files of another run that would not fit, if this one does not write them.
_STALE = (
    "stability.csv", "bootstrap_communities.csv", "comembership.csv", "reference.gw",
    "bootstrap.png", "differences.csv", "differences_edges.png", "differences_strength.png",
)  # fmt: skip
_COMEMBERS = ("first", "second", "share", "together")
#: Between the ends of an edge: lines are not broken there.
_TIED = "\u00a0-\u00a0"

#: Tests believe that rows are independent of each other, those of a resample are not.
_TESTED = (
    "Tests chose the edges of each resample, corrected for repeated rows: a share estimates how "
    "often as many new rows would show the edge. It is not a second test; rely on p-values and "
    "q-values for that."
)

EDGES: tuple[Column, ...] = (
    ("pair", "edge", str),
    ("frequency", "found in", percent),
    ("p_value", "p", lambda p: "" if np.isnan(p) else probability(p)),
    ("strength", "strength", decimals(2)),
    ("low", "from", decimals(2)),
    ("high", "to", decimals(2)),
)
SIGNED_EDGES: tuple[Column, ...] = (
    *EDGES,
    ("weight", "weight", decimals(2)),
    ("weight_low", "from", decimals(2)),
    ("weight_high", "to", decimals(2)),
)
STABILITY_TITLE = "Mean correlation of centralities with those of all rows"
_STABILITY: tuple[Column, ...] = (
    ("dropped", "rows dropped", lambda value: f"{value:.0%}"),
    ("subsets", "subsets", whole),
)


def bootstrap_text(boot: Bootstrap) -> str:
    """Return what a bootstrap means, in plain sentences."""
    words = [*_edge_words(boot), *_centrality_words(boot), *community_words(boot)]
    text = " ".join([_done(boot), *words])
    return text.replace(_TIED, " - ")


def bootstrap_summary(boot: Bootstrap, top: int = 20) -> str:
    """Return text and tables of a bootstrap, at most 88 characters wide where that is possible."""
    told = dict(bootstrap_sections(boot))
    parts = [section(title, told[title]) for title in ("Resamples", "Edges")]
    edges = edge_lines(boot)
    records = edges[: max(top, 0)]
    if records and boot.n_done:
        shown = shown_of(len(records), len(edges))
        table = aligned(records, edge_columns(records))
        parts.append(f"Edges, most frequent first{shown}\n{table}")
    parts.append(section("Centrality", told["Centrality"]))
    if boot.n_subsets:
        lines = aligned(stability_lines(boot), stability_columns(boot))
        parts.append(f"{STABILITY_TITLE}\n{lines}")
    if "Communities" in told:
        parts.append(section("Communities", told["Communities"]))
    return "\n\n".join(parts) + "\n"


def bootstrap_sections(boot: Bootstrap) -> list[tuple[str, str]]:
    """Return headings and texts of a bootstrap."""
    sections = [
        ("Resamples", _done(boot)),
        ("Edges", " ".join(_edge_words(boot))),
        ("Centrality", " ".join(_centrality_words(boot))),
    ]
    if boot.membership is not None:
        sections.append(("Communities", " ".join(community_words(boot))))
    return sections


def edge_columns(records: Sequence[Record]) -> tuple[Column, ...]:
    """Return what to tell of edges: weights where any of them has a sign."""
    return SIGNED_EDGES if any(not np.isnan(each["weight"]) for each in records) else EDGES


def stability_columns(boot: Bootstrap) -> tuple[Column, ...]:
    """Return what to tell of subsets: the measures that vary."""
    measures = [name for m, name in enumerate(MEASURES) if _told(boot, m)]
    return (*_STABILITY, *((name, measure_word(name), decimals(2)) for name in measures))


def edge_lines(boot: Bootstrap) -> list[Record]:
    """Return what `Bootstrap.edges` does, with both ends as one ``pair``."""
    return [each | {"pair": f"{each['first']} - {each['second']}"} for each in boot.edges()]


def _done(boot: Bootstrap) -> str:
    """Return what was done, and how much of it is missing."""
    text = f"The network was learned again from {count(boot.n_done, 'resample')} of the rows"
    if boot.shares:
        text += f" and from {count(boot.n_subsets, 'subset')}"
    text += "."
    if boot.interrupted:
        asked = boot.n_asked * (2 if boot.shares else 1)
        text += f" Interrupted: {count(asked, 'fit')} {verb(asked, 'was', 'were')} asked for."
    if boot.unconverged:
        text += (
            f" {count(boot.unconverged, 'fit')} did not reach the accuracy asked for; they are "
            "counted with the others."
        )
    return text


def too_few(n: int, n_shares: int) -> list[str]:
    """Return what cannot be concluded from so many resamples and shares of dropped rows.

    Examples
    --------
    >>> too_few(200, 10), too_few(50, 0)
    ([], ['From fewer than 100 resamples, shares are rough.'])
    """
    out = []
    if n < _FEW_RESAMPLES:
        out.append(f"From fewer than {_FEW_RESAMPLES} resamples, shares are rough.")
    if n_shares and n // n_shares < LEAST_SUBSETS:
        wanted = LEAST_SUBSETS * (n_shares if n_shares < n else len(SHARES))
        out.append(
            "Too few subsets to tell whether the order of centralities can be trusted: fewer than "
            f"{LEAST_SUBSETS} for each share of dropped rows. Set n to {wanted:,} or more."
        )
    return out


def _edge_words(boot: Bootstrap) -> list[str]:
    """Return which edges of the network are stable and which unstable, in sentences."""
    if not boot.n_done:
        return ["No resample was done, so nothing is known about the edges."]
    own, often = ~np.isnan(boot.strengths), boot.frequencies
    out = too_few(boot.n_done, 0)
    out += _own_edges(boot, own, often) if own.any() else [_none_of_its_own(boot)]
    out += _missed(boot, own, often)
    if boot.tested and len(boot.pairs):
        out.append(_TESTED)
    return out


def _own_edges(boot: Bootstrap, own: Bools, often: Floats) -> list[str]:
    """Return how stable the network's edges are, in sentences."""
    stable = own & (often >= STABLE)
    unstable = own & (often < UNSTABLE)
    total = int(own.sum())
    out = [
        f"Of the network's {count(total, 'edge')}, {stable.sum():,} {verb(stable.sum())} stable "
        f"(found in at least {STABLE:.0%} of the resamples)"
        + (f": {_named(boot, stable)}." if stable.any() else ".")
    ]
    between = total - int(stable.sum()) - int(unstable.sum())
    if between:
        out.append(f"{between:,} more {verb(between, 'was', 'were')} found in at least half.")
    if unstable.any():
        out.append(
            f"{unstable.sum():,} {verb(unstable.sum())} unstable (found in less than half): "
            f"{_named(boot, unstable)}. Do not rely on these."
        )
    return out + _sure_but_rare(boot, unstable)


def _sure_but_rare(boot: Bootstrap, unstable: Bools) -> list[str]:
    """Return which unstable edges have tiny p-values, and why that is no contradiction."""
    if boot.p_values is None:
        return []
    sure = unstable & (np.nan_to_num(boot.p_values, nan=1.0) <= _TINY)
    if not sure.any():
        return []
    number = int(sure.sum())
    least = np.flatnonzero(sure)[np.argmin(boot.p_values[sure])]
    first, second = (boot.names[i] for i in boot.pairs[least].tolist())
    return [
        f"{count(number, 'unstable edge')} {verb(number, 'has a', 'have')} tiny "
        f"p-value{'s'[: number != 1]}: {first}{_TIED}{second} has p = "
        f"{probability(boot.p_values[least])} and is in {percent(boot.frequencies[least])} of the "
        "resamples. A p-value takes the other edges as given; where other pairs can stand in for "
        "an edge, small changes of the rows decide which of them are kept."
    ]


def _none_of_its_own(boot: Bootstrap) -> str:
    """Return what resamples of a network without edges have."""
    some = int((~np.isnan(boot.draws)).any(axis=1).sum())
    if not some:
        return "The network has no edges, and no resample has any."
    most = int(np.argmax(boot.frequencies))
    first = np.arange(len(boot.pairs)) == most
    mean = (~np.isnan(boot.draws)).sum() / boot.n_done
    have = verb(some, "has", "have")
    return (
        f"The network has no edges, but {some:,} of {count(boot.n_done, 'resample')} "
        f"{have} some, {mean:.1f} on average over all; the most frequent, {_named(boot, first)}, "
        f"is in {percent(boot.frequencies[most])} of them."
    )


def _missed(boot: Bootstrap, own: Bools, often: Floats) -> list[str]:
    """Return how many pairs have an edge in most resamples but not in the network."""
    missed = ~own & (often >= UNSTABLE)
    if not missed.any():
        return []
    which = f"{count(int(missed.sum()), 'pair')} without an edge in the network"
    have = verb(missed.sum(), "has", "have")
    return [f"{which} {have} one in half of the resamples or more: {_named(boot, missed)}."]


def _named(boot: Bootstrap, chosen: Bools) -> str:
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
        return ["No rows were dropped, so nothing is known about the order of centralities."]
    if not boot.n_subsets:
        return ["No subset was done, so nothing is known about the order of centralities."]
    if not any(boot.varies(m) for m in range(len(MEASURES))):
        return ["All variables are equally central, so there is no order to read."]
    if not boot.enough_subsets:
        return too_few(boot.n_subsets, len(boot.shares))[-1:]
    out = [
        _verdict(measure_word(name), value, _failed(boot, m) if value == 0 else "")
        for m, (name, value) in enumerate(boot.cs.items())
        if value is not None
    ]
    flat = [
        measure_word(n) for m, n in enumerate(MEASURES) if _told(boot, m) and not boot.varies(m)
    ]
    if flat:
        out.append(f"All variables have the same {_listed(flat)}.")
    return out


def measure_word(measure: str) -> str:
    """Return a measure as words.

    Examples
    --------
    >>> measure_word("expected_influence")
    'expected influence'
    """
    return measure.replace("_", " ")


def _told(boot: Bootstrap, measure: int) -> bool:
    """Return whether there is anything to tell: not of signs where no edge has one."""
    known = ~np.isnan(boot.centrality[measure]) & (boot.centrality[0] > 0)
    return MEASURES[measure] != SIGNED or bool(known.any())


def _failed(boot: Bootstrap, measure: int) -> str:
    """Return why a CS is 0: how many subsets of the smallest share decided, in words."""
    share = float(boot.dropped.min())
    found = boot.correlations[boot.dropped == share, measure]
    failed = int(np.count_nonzero(~(found >= CORRELATION)))
    allowed = math.floor(len(found) * (1 - CERTAINTY) + 1e-9)
    return (
        f": with {percent(share)} of the rows dropped, {failed} of {count(len(found), 'subset')} "
        f"{verb(failed, 'correlates', 'correlate')} by less than {CORRELATION}, and "
        f"{f'at most {allowed}' if allowed else 'none'} may"
    )


def _verdict(measure: str, value: float, why: str = "") -> str:
    """Return whether a centrality may be read.

    Examples
    --------
    >>> _verdict("degree", 0.1)
    'Do not read the order of variables by degree (CS 0.10, below 0.25).'
    """
    if value < LEAST_CS:
        return (
            f"Do not read the order of variables by {measure} (CS {value:.2f}, below {LEAST_CS}"
            f"{why})."
        )
    if value < GOOD_CS:
        return (
            f"Read the order of variables by {measure} with care (CS {value:.2f}, below {GOOD_CS})."
        )
    return (
        f"The order of variables by {measure} is stable (CS {value:.2f}: with {value:.0%} of the "
        f"rows dropped the correlation is still {CORRELATION} or more in {CERTAINTY:.0%} of the "
        "subsets)."
    )


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def stability_lines(boot: Bootstrap) -> list[dict[str, Any]]:
    """Return a line for each share of dropped rows, with a column for each measure."""
    lines: dict[float, dict[str, Any]] = {}
    for record in boot.stability():
        line = lines.setdefault(
            record["dropped"], {"dropped": record["dropped"], "subsets": record["subsets"]}
        )
        line[record["measure"]] = record["mean"]
    return list(lines.values())


def write_bootstrap(
    boot: Bootstrap,
    folder: str | PathLike[str],
    *,
    plot: bool = True,
    differences: bool = False,
) -> list[str]:
    """Write a bootstrap's files to a folder, and return their names; each appears whole or not."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    with replacing_together(folder, _STALE) as out:
        write_records(out / "bootstrap.csv", boot.edges(), COLUMNS)
        # centrality.csv and communities.csv are those of the network itself, which learning writes
        write_records(out / "bootstrap_centrality.csv", boot.centralities())
        written = ["bootstrap.csv", "bootstrap_centrality.csv"]
        if boot.shares:
            write_records(out / "stability.csv", boot.stability())
            written.append("stability.csv")
        if boot.membership is not None:
            write_records(out / "bootstrap_communities.csv", boot.communities())
            write_records(out / "comembership.csv", boot.comembers(), _COMEMBERS)
            written += ["bootstrap_communities.csv", "comembership.csv"]
        write_text(out / "bootstrap.txt", bootstrap_summary(boot))
        text = json.dumps(bootstrap_dict(boot), indent=2, allow_nan=False, ensure_ascii=False)
        write_text(out / "bootstrap.json", text + "\n")
        written += ["bootstrap.txt", "bootstrap.json"]
        if differences:
            write_records(out / "differences.csv", _differences(boot), ("of", *DIFFERENCES))
            written.append("differences.csv")
        if boot.model is not None:
            boot.model.save(out / "reference.gw")
            written.append("reference.gw")
    if plot:
        written += draw_bootstrap(boot, folder, differences=differences)
    return written


def draw_bootstrap(
    boot: Bootstrap, folder: str | PathLike[str], *, differences: bool = False
) -> list[str]:
    """Write a bootstrap's pictures to a folder, and return their names."""
    boot.plot(Path(folder) / "bootstrap.png")
    written = ["bootstrap.png"]
    for of in DRAWN if differences else ():
        written.append(f"differences_{of}.png")
        boot.plot_difference(Path(folder) / written[-1], of=of)
    return written


def _differences(boot: Bootstrap) -> list[Record]:
    """Return all differences of edges and of centralities, edges as text."""
    out = []
    for of in COMPARED:
        for each in boot.difference(of):
            if of == "edges":
                each |= {end: " - ".join(map(str, each[end])) for end in ("first", "second")}
            out.append({"of": of} | each)
    return out


def bootstrap_dict(boot: Bootstrap) -> dict[str, Any]:
    """Return a bootstrap as values JSON can hold; what is unknown is None."""
    found: dict[str, Any] = plain(
        {
            "resamples": boot.n_done,
            "resamples_asked": boot.n_asked,
            "subsets": boot.n_subsets,
            "subsets_asked": boot.n_asked if boot.shares else 0,
            "interrupted": boot.interrupted,
            "unconverged": boot.unconverged,
            "tested": boot.tested,
            "words": bootstrap_text(boot),
            "cs": boot.cs,
            "edges": boot.edges(),
            "centrality": boot.centralities(),
            "stability": boot.stability(),
            "communities": boot.communities(),
            "comembership": boot.comembers(),
        }
    )
    return found
