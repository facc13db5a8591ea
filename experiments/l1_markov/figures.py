"""Tables of means over networks, and pictures of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from experiments.engine import Figure, Found
from experiments.l1_markov.claims import RIVALS, base_of, leads, lines_of, trend
from experiments.l1_markov.differences import Line, difference, paired, select
from graftwork.report.curves import dress, head
from graftwork.report.figures import colour_of

NAMES = {
    "l1": "L1",
    "l2": "L2",
    "none": "no penalty",
    "none, 2x rows": "no penalty, 2x rows",
    "paper": "L1 by the paper's method",
}
_MARKERS = "osD^v"

Rows = Sequence[Mapping[str, Any]]


def means(
    lines: Iterable[Line], by: Sequence[str], errors: Sequence[str], others: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Return a line for each kind of network: means, some with their standard errors.

    Cells without a number are left out of a mean, and a mean of none is empty.

    Examples
    --------
    >>> means([{"p": "l1", "y": 1.0}, {"p": "l1", "y": 2.0}], ["p"], ["y"])
    [{'p': 'l1', 'networks': 2, 'y': 1.5, 's.e. of y': 0.5}]
    """
    kinds: dict[tuple[Any, ...], list[Line]] = {}
    for line in lines:
        kinds.setdefault(tuple(line.get(name) for name in by), []).append(line)
    out = []
    for kind, some in kinds.items():
        row = dict(zip(by, kind, strict=True)) | {"networks": len(some)}
        for name in (*errors, *others):
            cells = [float(line[name]) for line in some if line.get(name) is not None]
            found = difference(cells)
            row[name] = found.mean if cells else ""
            if name in errors:
                row[f"s.e. of {name}"] = found.error if len(cells) > 1 else ""
        out.append(row)
    return out


def tables(found: Mapping[str, Found]) -> dict[str, list[dict[str, Any]]]:
    """Return all tables."""
    penalties = [_with_hamming(line) for line in lines_of(found, "penalties")]
    annealing = [
        {"data": data, **_with_share(line)}
        for data, kind, part in (
            ("random", "annealing", "lines"),
            ("digits", "digit", "annealing"),
        )
        for line in lines_of(found, kind, part)
    ]
    worth = ("nlpl", "edges", "lam", "exact")
    induction = ("data", "inference", "induction", "features")
    induced = [
        {
            **line,
            "data": data,
            "features": line["features"] or "end",
            "objective at the end": line["objective"],
            "untrusted share of the run": line["untrusted share"],
        }
        for data, kind, part in (
            ("random", "induction", "lines"),
            ("digits", "digit", "induction"),
        )
        for line in map(_with_share, lines_of(found, kind, part))
    ]
    return {
        "penalties": means(
            penalties, ("loss", "n", "degree", "rows", "penalty"), ("cmll", "hamming"),
            ("hamming above 0.05", *worth),
        ),
        "clocks": means(
            lines_of(found, "clocks"), ("n", "whose", "what"), ("cpu_seconds",),
            ("evaluations", "rounds", "edges"),
        ),
        "induction": means(
            induced, induction, ("cmll",),
            ("edges", "objective at the end", "exact_objective", "untrusted share of the run",
             "cmll_exact"),
        ),
        "annealing": means(
            annealing, ("data", "arm"), ("untrusted share", "exact_objective", "cmll"),
            ("untrusted", "trusted_end", "edges", "evaluations"),
        ),
        "pair-rules": means(
            lines_of(found, "rules"), ("rule",), ("error", "spurious", "cmll"), ("edges",)
        ),
        "digits": means(lines_of(found, "digit"), ("rows", "penalty"), ("cmll",), worth),
        "edge-lengths": [one["lengths"] for one in found.values() if "lengths" in one],
        "snps": means(lines_of(found, "snps"), ("which", "penalty"), ("cmll",), ("rows", *worth)),
    }  # fmt: skip


def _with_hamming(line: Line) -> Line:
    first, second = line["hamming"][:2]
    return {**line, "hamming": first, "hamming above 0.05": second}


def _with_share(line: Line) -> Line:
    return {**line, "untrusted share": line["untrusted"] / max(line["rounds"], 1)}


def column(lines: Iterable[Mapping[str, Any]], name: str) -> list[float]:
    """Return a column as numbers, NaN where a cell is empty."""
    return [np.nan if line[name] == "" else float(line[name]) for line in lines]


# ---- Pictures ----------------------------------------------------------------------------------


def figures(found: Mapping[str, Found]) -> list[Figure]:
    """Return the pictures for which there is something to show."""
    return list(_figures(found))


def _figures(found: Mapping[str, Found]) -> Iterator[Figure]:
    known = tables(found)
    lines = select(lines_of(found, "penalties"), loss="pseudolikelihood")
    if lines:
        n, degree, _ = base_of(lines)
        here = select(known["penalties"], loss="pseudolikelihood", n=n, degree=degree)
        caption = (
            f"Held-out CMLL and Hamming distance against rows; {n} binary variables, mean degree "
            f"{degree:g}. Networks differ more than penalties do: differences and their standard "
            "errors are in the table."
        )
        yield Figure("rows", caption, partial(_draw_rows, here), (9.5, 4.6))
        caption = "L1's lead in held-out CMLL against density and size. Bars are two s.e."
        yield Figure("density-and-size", caption, partial(_draw_trends, lines), (9.5, 6.6))
    if known["clocks"]:
        caption = "CPU time to learn the structure, and only the weights of the true structure"
        yield Figure("clocks", caption, partial(_draw_clocks, known["clocks"]), (9.5, 4.6))
    if known["induction"]:
        caption = (
            "Lead of gain and gradient over mutual information against the number of features, "
            "belief propagation. Bars are two standard errors."
        )
        kinds = {"random networks": lines_of(found, "induction")}
        kinds["digits"] = lines_of(found, "digit", "induction")
        yield Figure("induction", caption, partial(_draw_induction, kinds), (9.5, 4.6))
    annealing = lines_of(found, "annealing")
    if annealing:
        caption = "Health of belief propagation with and without annealing. Bars are two s.e."
        yield Figure("annealing", caption, partial(_draw_annealing, annealing), (9.5, 4.2))
    if known["digits"] or known["snps"]:
        caption = "L1's lead in held-out CMLL on digits and SNPs. Bars are two standard errors."
        real = {"digits": lines_of(found, "digit"), **_panels(found)}
        yield Figure("real-data", caption, partial(_draw_real, real), (9.5, 4.2))
    if known["edge-lengths"]:
        caption = "Edges of L1's networks of digits by how far apart their pixels are, mean a digit"
        yield Figure("edge-lengths", caption, partial(_draw_lengths, known["edge-lengths"]))


def _panels(found: Mapping[str, Found]) -> dict[str, list[Line]]:
    lines = lines_of(found, "snps")
    return {f"SNPs {which}": select(lines, which=which) for which in ("chr22", "chr10")}


def _bars(ax: Any, k: int, x: Any, y: Any, errors: Any, label: str) -> Any:
    """Draw line k with bars of two standard errors, and return it."""
    return ax.errorbar(
        x, y, yerr=2 * np.nan_to_num(np.asarray(errors)), color=colour_of(k),
        marker=_MARKERS[k % 5], markersize=4.5, linewidth=1.5, capsize=2.5, label=label,
    )  # fmt: skip


def _draw_rows(rows: Rows, canvas: Any) -> None:
    left, right = canvas.subplots(1, 2)
    handles, names = [], []
    for k, (penalty, name) in enumerate(NAMES.items()):
        here = select(rows, penalty=penalty)
        if not here:
            continue
        x = column(here, "rows")
        names.append(name)
        for ax, what in ((left, "cmll"), (right, "hamming above 0.05")):
            [line] = ax.plot(x, column(here, what), color=colour_of(k), marker=_MARKERS[k % 5],
                             markersize=4.5)  # fmt: skip
        handles.append(line)
    shown = [y for p in ("l1", "l2") for y in column(select(rows, penalty=p), "cmll")]
    room = max(np.ptp(shown), 0.02)
    left.set_ylim(min(shown) - room, max(shown) + 0.4 * room)
    _label(left, "rows", "held-out CMLL (nats a variable)")
    _label(right, "rows", "pairs unlike the true network\n(entries above 0.05)")
    counts = sorted({line["rows"] for line in rows})
    for ax in (left, right):
        ax.set_xscale("log")
        ax.set_xticks(counts, [str(count) for count in counts])
        ax.minorticks_off()
    left.text(0.98, 0.02, "what is far below is cut off", transform=left.transAxes, ha="right",
              fontsize=7.5)  # fmt: skip
    head(canvas, handles, names, "L1, L2 and no penalty against rows")


def _draw_trends(lines: Sequence[Line], canvas: Any) -> None:
    axes = canvas.subplots(2, 2)
    handles: dict[str, Any] = {}
    for r, (rival, name) in enumerate(RIVALS.items()):
        for c, (what, words) in enumerate(
            (("degree", "mean degree"), ("n", "variables (log scale)"))
        ):
            ax = axes[r][c]
            groups, rows = trend(lines, what, rival)
            known, places = [difference(group.values()) for group in groups.values()], list(groups)
            means, errors = [one.mean for one in known], [one.error for one in known]
            handles[f"over {name}"] = _bars(ax, r, places, means, errors, name)
            ax.axhline(0, color="#888888", linewidth=0.8)
            if what == "n":
                ax.set_xscale("log", base=2)
                ax.set_xticks(places, [f"{place:.0f}" for place in places])
            _label(ax, words, f"L1's lead over {name}\n({rows} rows, nats a variable)")
    head(canvas, list(handles.values()), list(handles), "L1's lead against density and size")


def _draw_clocks(rows: Rows, canvas: Any) -> None:
    ax = canvas.subplots()
    handles, names = [], []
    words = {"structure": "structure", "true": "true edges' weights"}
    whose = {"paper": "paper", "ours": "working-set"}
    for k, (who, what) in enumerate((a, b) for a in whose for b in words):
        here = select(rows, whose=who, what=what)
        name = f"{whose[who]}: {words[what]}"
        handles.append(_bars(ax, k, column(here, "n"), column(here, "cpu_seconds"),
                             column(here, "s.e. of cpu_seconds"), name))  # fmt: skip
        names.append(name)
    ax.set_yscale("log")
    sizes = sorted({line["n"] for line in rows})
    ax.set_xticks(sizes, [str(size) for size in sizes])
    _label(ax, "variables", "CPU seconds (log scale)")
    head(canvas, handles, names, "What structure costs")


def _draw_induction(kinds: Mapping[str, Sequence[Line]], canvas: Any) -> None:
    shown = {title: lines for title, lines in kinds.items() if lines}
    handles: dict[str, Any] = {}
    axes = np.ravel(canvas.subplots(1, len(shown)))
    for ax, (title, lines) in zip(axes, shown.items(), strict=True):
        loopy = select(lines, inference="bp")
        counts = sorted({line["features"] for line in loopy} - {None})
        for k, name in enumerate(("gain", "gradient")):
            here = [select(loopy, features=count) for count in counts]
            gaps = [
                difference(paired(some, "induction", name, "mutual information", "cmll").values())
                for some in here
            ]
            means, errors = [one.mean for one in gaps], [one.error for one in gaps]
            handles[name] = _bars(ax, k, counts, means, errors, name)
        ax.axhline(0, color="#888888", linewidth=0.8)
        _label(ax, "features", "lead over mutual information\n(held-out CMLL, nats a variable)")
        ax.set_title(title, fontsize=10)
    head(canvas, list(handles.values()), list(handles), "Which features come first")


def _draw_annealing(lines: Sequence[Line], canvas: Any) -> None:
    """Draw what each way loses against exact inference, network by network."""
    shares = [{**line, "share": line["untrusted"] / line["rounds"]} for line in lines]
    labels = {
        "share": "share of rounds without\nconverged belief propagation",
        "exact_objective": "exact objective,\nmore than by exact inference",
        "cmll": "held-out CMLL,\nmore than by exact inference",
    }
    arms = ("annealed", "at one lambda", "all features at once")
    handles: dict[str, Any] = {}
    for ax, (name, words) in zip(canvas.subplots(1, 3), labels.items(), strict=True):
        for k, arm in enumerate(arms):
            found = difference(paired(shares, "arm", arm, "exact inference", name).values())
            handles[arm] = _bars(ax, k, [k], [found.mean], [found.error], arm)
        ax.axhline(0, color="#888888", linewidth=0.8)
        _label(ax, "", words)
        ax.set_xticks(range(len(arms)), [arm.replace(" ", "\n") for arm in arms], fontsize=7)
        ax.margins(x=0.2)
    head(canvas, list(handles.values()), list(handles), "Annealing")


def _draw_real(real: Mapping[str, Sequence[Line]], canvas: Any) -> None:
    shown = {title: lines for title, lines in real.items() if lines}
    rivals = {"l2": "L2", "chow-liu": "Chow-Liu", "none, 2x rows": "no penalty,\nall rows"}
    for ax, (title, lines) in zip(
        np.ravel(canvas.subplots(1, len(shown))), shown.items(), strict=True
    ):
        found = [difference(leads(lines, rival).values()) for rival in rivals]
        for k, one in enumerate(found):
            _bars(ax, k, [k], [one.mean], [one.error], "")
        ax.axhline(0, color="#888888", linewidth=0.8)
        ax.set_yscale("symlog", linthresh=0.01)
        ax.set_xticks(range(len(rivals)), list(rivals.values()))
        ax.margins(x=0.2, y=0.1)
        _label(ax, "rival", "L1's lead (nats a variable)")
        ax.set_title(title, fontsize=10)
    handles = list(canvas.axes[0].containers)
    names = [f"over {name.replace(chr(10), ' ')}" for name in rivals.values()]
    head(canvas, handles, names, "L1 on digits and SNPs")


def _draw_lengths(rows: Rows, canvas: Any) -> None:
    ax = canvas.subplots()
    lengths = [name for name in rows[0] if name != "network"]
    mean = [float(np.mean(column(rows, name))) for name in lengths]
    bars = ax.bar([int(name) for name in lengths], mean, color=colour_of(0))
    _label(ax, "distance of the two pixels (moves of a chess king)", "edges, mean of the digits")
    head(canvas, [bars], [f"L1, {len(rows)} digits"], "Short and long edges between pixels")


def _label(ax: Any, x: str, y: str) -> None:
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    dress(ax)
