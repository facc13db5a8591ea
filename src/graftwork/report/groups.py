"""A comparison of groups as text and files."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from graftwork.data.atomic import replacing_together
from graftwork.groups import GroupComparison
from graftwork.report.trace import plain, write_records, write_text
from graftwork.text import (
    Column,
    aligned,
    count,
    decimals,
    names,
    probability,
    section,
    shown_of,
    verb,
)

#: p-values of fewer permutations than this are rough.
_FEW_PERMUTATIONS = 500
#: Where the largest group has so many times the rows of the smallest, that is said.
_UNEQUAL = 2.0
#: Between the ends of an edge: lines are not broken there.
_TIED = "\u00a0-\u00a0"
_NAMED = 12


def groups_text(found: GroupComparison) -> str:
    """Return what was found, in plain sentences."""
    parts = [*_groups(found), *_invariance(found), *_strength(found), *_edges(found)]
    return " ".join([*parts, *_remarks(found)]).replace("\u00a0", " ")


def groups_summary(found: GroupComparison, top: int = 20) -> str:
    """Return text and a table of a comparison of groups."""
    told = groups_sections(found)
    parts = [section(title, text) for title, text in told[:-1]]
    parts += [
        f"{title}\n{aligned(records, columns)}"
        for title, records, columns in pair_tables(found, top)
    ]
    parts.append(section(*told[-1]))
    return "\n\n".join(parts) + "\n"


def groups_sections(found: GroupComparison) -> list[tuple[str, str]]:
    """Return headings and texts of a comparison of groups."""
    return [
        ("Groups", " ".join(_groups(found))),
        ("Network invariance", " ".join(_invariance(found))),
        ("Global strength invariance", " ".join(_strength(found))),
        ("Edge invariance", " ".join(_edges(found))),
        ("What to bear in mind", " ".join(_remarks(found))),
    ]


def _mark(record: dict[str, Any]) -> str:
    return "*" if record["differs"] else ""


def pair_tables(
    found: GroupComparison, top: int
) -> list[tuple[str, list[dict[str, Any]], list[Column]]]:
    """Return titles, records and columns of the pairs: with a signed weight, and without."""
    edges = found.edges()
    records = [
        record | {"pair": f"{record['first']} - {record['second']}", "mark": _mark(record)}
        for record in edges[: max(top, 0)]
    ]
    weight = f"weight_{found.groups[0]}"
    signed = [record for record in records if record[weight] == record[weight]]
    others = [record for record in records if record[weight] != record[weight]]
    n_signed = sum(edge[weight] == edge[weight] for edge in edges)
    whole = "Pairs tested by whole tables" if n_signed else "Pairs tested"

    def title(start: str, part: list[dict[str, Any]], total: int) -> str:
        return f"{start}, smallest p first (* differs){shown_of(len(part), total)}"

    parts = [
        (
            title("Pairs tested with their signed weights", signed, n_signed),
            signed,
            _columns(found, "weight_"),
        ),
        (title(whole, others, len(edges) - n_signed), others, _columns(found, "")),
    ]
    return [part for part in parts if part[1]]


def _columns(found: GroupComparison, size: str) -> list[Column]:
    """Return the columns of a table of pairs: their weights, or their norms."""
    columns: list[Column] = [("pair", "pair", str), ("mark", "", str)]
    noun = "weight" if size else "norm"
    columns += [(f"{noun}_{g}", f"{noun} {g}", decimals(2)) for g in found.groups]
    columns += [(f"{size}{name}", title, decimals(2)) for name, title in
                (("difference", "difference"), ("low", "from"), ("high", "to"))]  # fmt: skip
    columns += [(name, title, _p) for name, title in
                (("p_value", "p"), ("q_value", "q"), ("p_permutation", "p perm."))]  # fmt: skip
    return columns


def _p(value: float) -> str:
    return "-" if value != value else probability(value)


def _size(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


def _groups(found: GroupComparison) -> list[str]:
    """Return what was compared."""
    listed = [
        f"{group} ({_size(size)} {'effective ' * (net.data_.design_effect != 1.0)}rows, "
        f"{count(net.model_.n_edges, 'edge')})"
        for group, size, net in zip(found.groups, found.sizes, found.networks.values(), strict=True)
    ]
    inside = np.array([found.has_edge(g) for g in range(len(found.groups))])
    every = int(inside.all(axis=0).sum()) if inside.size else 0
    return [
        f"{count(len(found.groups), 'group')} by {found.by}: {', '.join(listed)}.",
        f"{count(len(found.names), 'variable')}; {count(every, 'edge')} in all groups.",
    ]


def _invariance(found: GroupComparison) -> list[str]:
    """Return whether the networks are equal."""
    if not len(found.pairs):
        return ["No group has an edge, so there is nothing to compare."]
    p = found.invariance
    text = (
        f"The networks differ (p = {probability(p)}, Simes' test of all pairs together)."
        if p <= found.fdr
        else f"No difference between the networks was found (p = {probability(p)}, Simes' test of "
        "all pairs together); that does not show that they are equal."
    )
    done = found.permutations
    if done is None or not done.n_done or np.isnan(done.invariance):
        return [text]
    return [
        text,
        "By permutation of the group labels, the largest difference among the edges of the network "
        "of all rows (and, by theory, of pairs that groups alone have): "
        f"p = {probability(done.invariance)}.",
    ]


def _strength(found: GroupComparison) -> list[str]:
    """Return whether the sums of norms are equal."""
    own = found.strength
    listed = [
        f"{total:.2f} in group {group} (standard error {error:.2f})"
        for group, total, error in zip(found.groups, own.sums, own.errors, strict=True)
    ]
    differ = own.p_value <= 0.05
    verdict = "differ" if differ else "do not differ significantly"
    out = [
        f"The sums of the norms of all pairs tested are {', '.join(listed)}. The sums "
        f"{verdict} (p = {probability(own.p_value)})."
    ]
    if differ and len(found.pairs) and found.invariance > found.fdr:
        out.append("A sum can differ though no single pair is shown to.")
    done = found.permutations
    if done is not None and done.n_done:
        out.append(f"By permutation: p = {probability(done.strength)}.")
    return out


def _edges(found: GroupComparison) -> list[str]:
    """Return which pairs differ."""
    if not len(found.pairs):
        return ["No pair was tested."]
    sure = [each for each in found.edges() if each["differs"]]
    tested = f"{len(found.pairs):,} pairs tested" if len(found.pairs) != 1 else "the pair tested"
    rate = f"at a false discovery rate of {found.fdr:.3g}"
    if not sure:
        return [f"None of the {tested} differs {rate}." if len(found.pairs) != 1
                else f"The pair tested does not differ {rate}."]  # fmt: skip
    listed = names([f"{each['first']}{_TIED}{each['second']}" for each in sure], _NAMED)
    return [f"{len(sure):,} of {tested} {verb(len(sure), 'differs', 'differ')} {rate}: {listed}."]


def _remarks(found: GroupComparison) -> list[str]:
    """Return what is approximate or assumed, and what there are too few rows for."""
    out = [
        "The tests are approximate, for many independent rows, and take the pairs tested for all "
        "edges there are.",
        *_weight_remarks(found),
    ]
    small = [
        f"{group} ({_size(size)})"
        for group, size in zip(found.groups, found.sizes, strict=True)
        if size < found.wanted
    ]
    if small:
        out.append(
            f"Too few rows for tables of this size in {', '.join(small)}: about "
            f"{found.wanted:,} rows per group would put ten in each cell. Differences that were "
            "found may be relied on; weaker ones are missed"
            + (", and permutations are the safer test." if found.permutations is None else ".")
        )
    if max(found.sizes) > _UNEQUAL * min(found.sizes):
        out.append(
            "The groups differ much in size: networks of smaller ones miss weak edges, which the "
            "tests of difference take into account. The test of global strength is rough then: "
            + ("ask for permutations." if found.permutations is None else "trust permutations.")
        )
    if any(each.added.any() for each in found.estimates):
        out.append(
            "Missing cells were drawn several times, and what the draws differ by is part of the "
            "errors; p-values are rough where many cells are missing: "
            + ("ask for permutations." if found.permutations is None else "trust permutations.")
        )
    alone = int((~found.known).sum())
    if alone:
        out.append(
            f"{count(alone, 'pair')} {verb(alone, 'is not an edge', 'are not edges')} of the "
            f"network of all rows but {verb(alone, 'was', 'were')} tested because one group "
            "has the edge. Such a choice favours differences, so the q-value counts all pairs that "
            "could have been chosen."
        )
    if found.untested:
        listed = names([f"{a}{_TIED}{b}" for a, b in found.untested], _NAMED)
        out.append(
            f"Not tested, because a variable hardly varies in one of the groups, or groups share "
            f"fewer than two of its states: {listed}."
        )
    rare = [found.names[i] for i in np.flatnonzero(found.shared.rare).tolist()]
    if rare:
        out.append(f"Fewer than ten rows of a group tell about a state of {names(rare, _NAMED)}.")
    return out + _permutation_remarks(found)


def _weight_remarks(found: GroupComparison) -> list[str]:
    """Return what weights are, and which pairs of ordered variables have none."""
    out = []
    if found.weights.known.any():
        out.append(
            "A weight is signed: by how much the log odds of one step of a variable rise with one "
            "step of the other. Linear pairs of ordered variables are compared by it alone."
            if found.overall.model_.scores
            else "A weight is signed: the log odds ratio of two binary variables."
        )
    tested = {(i, j) for i, j in found.pairs.tolist()}
    curved = sorted(found.shared.curved & tested)
    if curved:
        listed = [f"{found.names[i]}{_TIED}{found.names[j]}" for i, j in curved]
        out.append(
            "Not linear in the network of a group or of all rows, and so compared by whole tables: "
            f"{names(listed, _NAMED)}."
        )
    return out


def _permutation_remarks(found: GroupComparison) -> list[str]:
    done = found.permutations
    if done is None:
        return []
    out = [
        f"{count(done.n_done, 'permutation')} of the group labels"
        + (f" ({done.n_asked:,} were asked for: interrupted)" if found.interrupted else "")
        + ", which assume that equal groups have equal distributions, and the pairs as they are."
    ]
    if done.n_done < _FEW_PERMUTATIONS:
        out.append(f"p-values of fewer than {_FEW_PERMUTATIONS} permutations are rough.")
    return out


def groups_dict(found: GroupComparison) -> dict[str, Any]:
    """Return a comparison as values JSON can hold; what is unknown is None."""
    own, done = found.strength, found.permutations
    values: dict[str, Any] = plain(
        {
            "by": found.by,
            "groups": [
                {"group": group, "rows": size, "edges": net.model_.n_edges,
                 "global_strength": total, "error": error}
                for group, size, net, total, error in zip(
                    found.groups, found.sizes, found.networks.values(), own.sums, own.errors,
                    strict=True,
                )
            ],
            "fdr": found.fdr,
            "words": groups_text(found),
            "network_invariance": {"p_value": found.invariance},
            "global_strength_invariance": {
                "statistic": own.statistic, "df": own.df, "p_value": own.p_value,
            },
            "permutations": None if done is None else {
                "done": done.n_done, "asked": done.n_asked, "network_invariance": done.invariance,
                "global_strength_invariance": done.strength,
            },
            "interrupted": found.interrupted,
            "edges": found.edges(),
            "differences": found.differences(),
            "untested": [list(pair) for pair in found.untested],
        }
    )  # fmt: skip
    return values


def write_groups(
    found: GroupComparison, folder: str | PathLike[str], *, plot: bool = True
) -> list[str]:
    """Write a comparison's files to a folder, and return their names; each appears whole or not."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    edges = found.edges()
    with replacing_together(folder, ["groups.png"]) as out:
        write_records(out / "differences.csv", edges, tuple(edges[0]) if edges else _NO_PAIRS)
        apart = found.differences()
        write_records(out / "groups.csv", apart, tuple(apart[0]) if apart else _NO_PAIRS)
        write_text(out / "groups.txt", groups_summary(found))
        text = json.dumps(groups_dict(found), indent=2, allow_nan=False, ensure_ascii=False)
        write_text(out / "groups.json", text + "\n")
        written = ["differences.csv", "groups.csv", "groups.txt", "groups.json"]
        for place, net in enumerate(found.networks.values(), 1):
            info = net.info() | _rows_of(found, place - 1)
            net.model_.save(out / f"model-{place}.gw", info=info)
            written.append(f"model-{place}.gw")
    if plot:
        found.plot(Path(folder) / "groups.png")
        written.append("groups.png")
    return written


def _rows_of(found: GroupComparison, g: int) -> dict[str, Any]:
    """Return which rows the network of a group was learned from, for its file."""
    group = {"variable": found.by, "value": found.groups[g]}
    values: dict[str, Any] = plain({"group": group, "rows": found.sizes[g]})
    return values


_NO_PAIRS = ("first", "second")
