"""The pictures of the best-choice study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from experiments.best_choice.groups import BUDGETS, WHOSE, Group, groups, in_words
from experiments.best_choice.hubs import variants
from experiments.engine import Figure, Found
from experiments.engine.panels import draw_criteria
from graftwork.report.curves import draw_curve, dress, head, is_wide
from graftwork.report.figures import INK, colour_of

HEIGHTS = {"objective": "objective", "test_nlpl": "test NLPL", "recall": "recall"}
WIDTHS = {
    "seconds": "CPU seconds",
    "evaluations": "loss evaluations",
    "blocks_scored": "pairs scored",
    "tables_counted": "tables counted",
    "edges": "edges",
}
#: One panel: data and settings, what is drawn across, and what upwards.
Panel = tuple[Group, str, str]


def figures(found: Mapping[str, Found]) -> list[Figure]:
    """Return the figures that there are runs for."""
    made = [] if "ranks" not in found else [_rank_figure(found["ranks"])]
    races = groups(found, "race")
    sizes = dict.fromkeys(group.n for group in races)
    for n in sizes:
        made += _race_figures(n, [group for group in races if group.n == n], n == max(sizes))
    made += _convergence_figure(groups(found, "converge"))
    made += _heuristics_figure(groups(found, "heuristics"), races)
    made += _hubs_figure(found)
    made += _grid_figures(found)
    made += _real_figures(groups(found, "real"))
    made += _controls_figure(found, races)
    return made


def _rank_figure(one: Found) -> Figure:
    caption = (
        f"Fig. 1: rank of the best of a reservoir among {one['pairs']:,} pairs; mean and range of "
        f"{one['trials']} trials, and what is expected."
    )

    def draw(canvas: Any) -> None:
        ax = canvas.subplots()
        sizes = np.arange(1, len(one["mean"]) + 1)
        ax.fill_between(sizes, one["least"], one["largest"], color=colour_of(5), alpha=0.3)
        ax.plot(sizes, one["mean"], color=colour_of(0), label="mean")
        expected = (one["pairs"] + 1) / (sizes + 1)
        ax.plot(sizes, expected, color=colour_of(1), linestyle="--", label="expected")
        ax.set_yscale("log")
        ax.set_xlabel("size of the reservoir", color=INK)
        ax.set_ylabel("rank of its best pair", color=INK)
        ax.legend(["range", "mean", "expected: (pairs + 1) / (size + 1)"], frameon=False)
        dress(ax)
        canvas.tight_layout()

    return Figure("fig1-ranks", caption, draw)


def _race_figures(n: int, races: Sequence[Group], largest: bool) -> Iterator[Figure]:
    """Yield the curves against CPU seconds and, for the largest network, against counters."""
    rows = [[(group, "seconds", height) for group in races] for height in HEIGHTS]
    yield _grid(f"fig2-4-n{n}", f"Figs. 2 to 4, n={n}: against CPU seconds{_limits(races)}.", rows)
    if not largest:
        return
    across = list(WIDTHS)[1:4]
    rows = [[(group, width, height) for group in races for width in across] for height in HEIGHTS]
    words = f"Figs. 2 to 4, n={n}: against counters, the same on any machine{_limits(races)}."
    yield _grid(f"fig2-4-n{n}-counters", words, rows)


def _limits(several: Sequence[Group]) -> str:
    """Return which runs a budget ended, for a caption."""
    ended: dict[tuple[str, str], list[str]] = {}
    for group in several:
        for one in group.runs.values():
            if one["stop"] in BUDGETS:
                key = (WHOSE[group.setting], in_words(one["budget"]))
                ended.setdefault(key, []).append(one["method"])
    told = [
        f"{', '.join(methods)} ({whose}, after {limit})"
        for (whose, limit), methods in ended.items()
    ]
    return f"; a budget ended {', '.join(told)}" if told else ""


def _convergence_figure(converged: Sequence[Group]) -> Iterator[Figure]:
    if converged:
        panels = [(group, "seconds", "objective") for group in converged]
        caption = f"Fig. 5: objective until no pair violates{_limits(converged)}."
        yield _grid("fig5-convergence", caption, [panels])


def _heuristics_figure(without: Sequence[Group], races: Sequence[Group]) -> Iterator[Figure]:
    """Yield recall against edges and seconds, with the structure heuristics and without."""
    both = []
    for group in without:
        helped = [one for one in races if (one.n, one.setting) == (group.n, group.setting)]
        runs = {f"{method}, without": one for method, one in group.runs.items()}
        for race in helped:
            runs |= {f"{m}, with": race.runs[m] for m in group.runs if m in race.runs}
        both.append(Group(group.n, group.data, group.setting, dict(sorted(runs.items()))))
    if both:
        rows = [[(group, width, "recall") for group in both] for width in ("seconds", "edges")]
        caption = f"Fig. 6: recall with and without the structure heuristics, n={both[0].n}."
        yield _grid("fig6-heuristics", caption, rows)


def _hubs_figure(found: Mapping[str, Found]) -> Iterator[Figure]:
    """Yield recall against edges for each rule and threshold of hubs, from the first seed."""
    runs = {key: several[0] for key, several in variants(found).items()}
    if runs:
        source = next(iter(runs.values()))["source"]
        caption = (
            f"Fig. 6: recall by the rule for hubs (left: once for each hub, right: in every "
            f"reorganisation) and by the threshold of their centrality; n={source['variables']}, "
            "alpha 0.5, authors' settings, the first seed."
        )
        yield Figure("fig6-hubs", caption, partial(_draw_hubs, runs), (11.0, 4.2))


def _draw_hubs(runs: Mapping[tuple[str, str], Found], canvas: Any) -> None:
    """Draw a panel for each rule, a line for each threshold and one without hubs."""
    labels = list(dict.fromkeys(_of_hubs(threshold) for _, threshold in runs))
    lines: dict[str, Any] = {}
    for ax, rule in zip(canvas.subplots(1, 2, sharey=True), ("once", "always"), strict=True):
        for (own, threshold), one in runs.items():
            if own in ("off", rule):
                label = _of_hubs(threshold)
                x, y = ([float(point[name]) for point in one["curve"]]
                        for name in ("edges", "recall"))  # fmt: skip
                lines[label] = draw_curve(ax, labels.index(label), np.array(x), np.array(y))
        ax.set_title(rule, fontsize=9.5, color=INK)
        ax.set_xlabel("edges", color=INK, fontsize=9)
        ax.set_ylabel("recall", color=INK, fontsize=9)
        dress(ax)
    head(canvas, list(lines.values()), list(lines), "")


def _of_hubs(threshold: str) -> str:
    return f"threshold {threshold}" if threshold else "no hubs"


def _grid_figures(found: Mapping[str, Found]) -> Iterator[Figure]:
    """Yield what lambda and l2 do to the number of edges and their quality."""
    for one in found.values():
        if one.get("family") == "grid":
            method, n = one["runs"][0]["method"], one["runs"][0]["source"]["variables"]
            caption = (
                f"Grid of lambda and l2, n={n}, {method}, authors' settings: with the limit of 3n "
                "edges (above) and without (below)."
            )
            draw = partial(_draw_lambdas, one["runs"])
            yield Figure(f"grid-{method.replace(' ', '-')}", caption, draw, (11.0, 6.6))


def _draw_lambdas(runs: Sequence[Found], canvas: Any) -> None:
    """Draw a line for each l2; without edges there is no precision."""
    records: dict[str, dict[float, dict[str, float]]] = {}
    for one in runs:
        limit = "no limit" if one["max_edges"] is None else "3n edges"
        line = records.setdefault(f"l2 = {2 * one['changed']['l2']:g}", {})
        record, end = line.setdefault(one["lam"], {"lambda": one["lam"]}), one["end"]
        precision = end["precision"] if end["edges"] else np.nan
        for name, value in {**end, "precision": precision}.items():
            record[f"{name}, {limit}"] = float(value)
    lines = {label: [line[lam] for lam in sorted(line)] for label, line in records.items()}
    shown = ("recall, 3n edges", "test_nlpl, 3n edges", "edges, no limit", "precision, no limit")
    panels = [(name, name.replace("test_nlpl", "test NLPL")) for name in shown]
    draw_criteria(canvas, lines, panels, across="lambda", label="lambda", title="", columns=2)


def _real_figures(real: Sequence[Group]) -> Iterator[Figure]:
    for data in dict.fromkeys(group.data for group in real):
        of_data = [group for group in real if group.data == data]
        rows = [[(g, "seconds", height) for g in of_data] for height in ("objective", "test_nlpl")]
        caption = f"Fig. 7, {data}: objective and test NLPL against CPU seconds{_limits(of_data)}."
        yield _grid(f"fig7-{data}", caption, rows)


def _grid(name: str, caption: str, rows: Sequence[Sequence[Panel]]) -> Figure:
    """Return a figure of panels; a method has the same line in all of them."""
    size = (max(11.0, 3.1 * len(rows[0])), 1.3 + 2.6 * len(rows))
    return Figure(name, caption, partial(_draw_grid, rows), size)


def _draw_grid(rows: Sequence[Sequence[Panel]], canvas: Any) -> None:
    labels = list(dict.fromkeys(m for row in rows for panel in row for m in panel[0].methods))
    axes = canvas.subplots(len(rows), len(rows[0]), squeeze=False)
    lines: dict[str, Any] = {}
    for row, line in zip(axes, rows, strict=True):
        for ax, panel in zip(row, line, strict=True):
            lines |= _draw_panel(ax, panel, labels)
    for ax, panel in zip(axes[0], rows[0], strict=True):
        where = f"n={panel[0].n}" if panel[0].n else panel[0].data
        ax.set_title(f"{WHOSE[panel[0].setting]}, {where}", fontsize=9.5, color=INK)
    head(canvas, [lines[label] for label in labels], labels, "")


def _draw_panel(ax: Any, panel: Panel, labels: Sequence[str]) -> dict[str, Any]:
    """Draw one line a method, and return the lines."""
    group, width, height = panel
    lines, across = {}, []
    for method, one in group.runs.items():
        x = np.array([point[width] for point in one["curve"]], dtype=np.float64)
        y = np.array([point[height] for point in one["curve"]], dtype=np.float64)
        shown = x > 0
        lines[method] = draw_curve(ax, labels.index(method), x[shown], y[shown])
        across += x[shown].tolist()
    if width != "edges" and is_wide(across):
        ax.set_xscale("log")
        ax.tick_params(axis="x", which="minor", labelbottom=False)
    ax.set_xlabel(WIDTHS[width], color=INK, fontsize=9)
    ax.set_ylabel(HEIGHTS[height], color=INK, fontsize=9)
    dress(ax)
    return lines


def _controls_figure(found: Mapping[str, Found], races: Sequence[Group]) -> Iterator[Figure]:
    """Yield recall and precision on the way from the authors' settings to ours."""
    chain = [one for one in found.values() if one.get("family") == "chain"]
    if not chain:
        return
    n, method = chain[0]["source"]["variables"], chain[0]["method"]
    bars = {f"+ {one['name']}": one for one in chain}
    ends = {g.setting: g.runs[method] for g in races if g.n == n and method in g.runs}
    if "authors" in ends:
        bars = {WHOSE["authors"]: ends["authors"], **bars}
    if "ours" in ends:
        bars[f"+ no ridge: {WHOSE['ours']}"] = ends["ours"]
    for one in found.values():
        if one.get("family") == "alone":
            whose, name = one["name"].split(", ", 1)
            bars[f"{WHOSE[whose]} but {name}"] = one
    caption = (
        f"Recall and precision at n={n}, {method}: from the authors' settings to ours, one change "
        "on top of the other, and single changes."
    )
    yield Figure("controls", caption, partial(_draw_bars, bars), (9.0, 1.0 + 0.42 * len(bars)))


def _draw_bars(bars: Mapping[str, Found], canvas: Any) -> None:
    ax = canvas.subplots()
    places = np.arange(len(bars))
    for k, name in enumerate(("recall", "precision")):
        values = [one["end"][name] for one in bars.values()]
        ax.barh(places + 0.38 * k, values, height=0.36, color=colour_of(k), label=name)
    ax.set_yticks(places + 0.19, list(bars))
    ax.invert_yaxis()
    ax.set_xlabel("share", color=INK)
    ax.legend(frameon=False, fontsize=9)
    dress(ax)
    canvas.tight_layout()
