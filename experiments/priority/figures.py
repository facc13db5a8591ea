"""Pictures of the priority grafting study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from experiments.engine import Figure, Found
from experiments.priority.ablation import PAIRS, ratios_of, standard_error
from graftwork.report.curves import draw_curve, dress, head
from graftwork.report.figures import colour_of
from graftwork.report.plot import plot_network


def figures(found: Mapping[str, Found], printed: Mapping[float, Any]) -> list[Figure]:
    """Return the pictures for which there are results."""
    return [*_networks(found, printed), *_searches(found, printed), *_accuracy(found, printed),
            *_settings(found), *_ablation(found)]  # fmt: skip


def _networks(found: Mapping[str, Found], printed: Mapping[float, Any]) -> Iterator[Figure]:
    for number, lam in enumerate(printed, 1):
        runs = {
            name: found.get(f"{name}-{lam}", {}).get("runs", [None])[0]
            for name in ("grafting", "priority")
        }
        if all(runs.values()):
            yield Figure(
                f"networks-{lam}",
                f"Figure {number} of the paper: the networks learned at lambda {lam}",
                partial(_draw_networks, runs),
                (13.0, 6.0),
            )


def _draw_networks(runs: Mapping[str, Found], canvas: Any) -> None:
    import networkx as nx

    panels = canvas.subplots(1, len(runs))
    canvas.subplots_adjust(left=0.01, right=0.99, bottom=0.09, top=0.92, wspace=0.02)
    for ax, (name, run) in zip(panels, runs.items(), strict=True):
        graph = nx.Graph()
        graph.add_weighted_edges_from(run["edges"], weight="strength")
        title = f"{name}: {len(run['edges'])} edges, test nll {run['nll']:.4f}"
        plot_network(graph, ax=ax, title=title)


def _searches(found: Mapping[str, Found], printed: Mapping[float, Any]) -> Iterator[Figure]:
    lams = [lam for lam in printed if f"grafting-{lam}" in found and f"priority-{lam}" in found]
    if lams:
        yield Figure(
            "tests",
            "Candidate tables scored until a number of edges is reached: grafting, and priority "
            "grafting from several orders of its queue, as published and with pairs in turns. The "
            "last tests of each show that nothing violates.",
            partial(_draw_searches, found, lams),
            (10.0, 4.5),
        )


def _draw_searches(found: Mapping[str, Found], lams: Sequence[float], canvas: Any) -> None:
    panels = canvas.subplots(1, len(lams), squeeze=False)[0]
    lines: dict[str, Any] = {}
    for ax, lam in zip(panels, lams, strict=True):
        for k, name in enumerate(("grafting", "priority", "turns")):
            for run in found.get(f"{name}-{lam}", {}).get("runs", []):
                edges, tests = np.array(run["tests_by_edges"], dtype=float).T
                label = "priority, in turns" if name == "turns" else name
                lines[label] = draw_curve(ax, k, edges, np.maximum(tests, 1.0))
        ax.set_yscale("log")
        ax.set_xlabel("edges")
        ax.set_ylabel("tables tested so far")
        ax.set_title(f"lambda {lam}", fontsize=10)
        dress(ax)
    head(canvas, list(lines.values()), list(lines), "Candidate tests")


def _accuracy(found: Mapping[str, Found], printed: Mapping[float, Any]) -> Iterator[Figure]:
    lams = [lam for lam in printed if f"accuracy-{lam}" in found]
    if lams:
        yield Figure(
            "accuracy",
            "Edges and test nll of runs solved to other accuracies; dotted: what is printed.",
            partial(_draw_accuracy, found, printed, lams),
            (10.0, 7.0),
        )


def _draw_accuracy(
    found: Mapping[str, Found], printed: Mapping[float, Any], lams: Sequence[float], canvas: Any
) -> None:
    panels = canvas.subplots(2, len(lams), squeeze=False, sharex=True)
    lines: dict[str, Any] = {}
    for column, lam in zip(panels.T, lams, strict=True):
        runs = found[f"accuracy-{lam}"]["lines"]
        for ax, what in zip(column, ("edges", "nll"), strict=True):
            for k, name in enumerate(("grafting", "priority")):
                own = [(line["tol"], line[what]) for line in runs if line["method"] == name]
                x, y = np.array(own, dtype=float).T
                lines[name] = draw_curve(ax, k, x, y)
            value = getattr(printed[lam], what)
            lines["printed"] = ax.axhline(value, color="black", linestyle=":", linewidth=1.2)
            ax.set_xscale("log")
            ax.set_ylabel("edges" if what == "edges" else "test nll")
            dress(ax)
        column[0].set_title(f"lambda {lam}", fontsize=10)
        column[1].set_xlabel("accuracy the run is solved to")
    head(canvas, list(lines.values()), list(lines), "What stopping early does")


def _settings(found: Mapping[str, Found]) -> Iterator[Figure]:
    lines = found.get("side-by-side", {}).get("lines")
    if lines and "baselines" in found:
        yield Figure(
            "side-by-side",
            "Test nll of the paper's settings and of ours, one change after the other; the number "
            "of edges beside each bar. Lower is better.",
            partial(_draw_settings, lines, found["baselines"]),
            (10.0, 4.8),
        )


def _draw_settings(lines: Sequence[Found], baselines: Found, canvas: Any) -> None:
    kinds = list(dict.fromkeys(line["halves"] for line in lines))
    panels = canvas.subplots(1, len(kinds), squeeze=False, sharey=True)[0]
    handles: dict[str, Any] = {}
    for ax, kind in zip(panels, kinds, strict=True):
        own = [line for line in lines if line["halves"] == kind]
        places = np.arange(len(own))[::-1]
        ax.barh(places, [line["nll"] for line in own], color=colour_of(5), height=0.6)
        for place, line in zip(places, own, strict=True):
            ax.text(
                0.4, place, f"{line['nll']:.2f}, {line['edges']} edges", va="center", fontsize=8
            )
        ax.set_yticks(places, [line["settings"] for line in own])
        for k, (name, value) in enumerate(
            (("uniform", baselines["uniform"]), ("independent", baselines[f"independent, {kind}"]))
        ):
            handles[name] = ax.axvline(value, color=colour_of(k), linestyle="--", linewidth=1.4)
        ax.set_xlabel("test nll (nats a row)")
        ax.set_title(kind, fontsize=10)
        dress(ax)
    head(canvas, list(handles.values()), list(handles), "The paper's settings and ours")


def _ablation(found: Mapping[str, Found]) -> Iterator[Figure]:
    sizes = [one["lines"] for key, one in found.items() if key.startswith("ablation-")]
    if sizes:
        yield Figure(
            "ablation",
            "Tests with the heuristic over tests without, one circle for each network on which it "
            "acts, and the mean with two standard errors. Below 1 the heuristic saves tests.",
            partial(_draw_ablation, sizes),
            (10.0, 4.0),
        )


def _draw_ablation(sizes: Sequence[Sequence[Found]], canvas: Any) -> None:
    panels = canvas.subplots(1, len(sizes), squeeze=False, sharey=True)[0]
    canvas.subplots_adjust(left=0.07, right=0.98, bottom=0.12, top=0.85, wspace=0.06)
    canvas.suptitle("Tests with the heuristic over tests without", fontsize=11)
    for ax, lines in zip(panels, sizes, strict=True):
        ax.axhline(1.0, color="black", linestyle=":", linewidth=1.2)
        for place, order in enumerate(PAIRS):
            ratios = ratios_of(lines, order)
            if ratios:
                own = np.linspace(place - 0.25, place + 0.05, len(ratios))
                ax.scatter(own, ratios, s=18, facecolor="none", edgecolor=colour_of(place))
                error = 2 * standard_error(ratios) if len(ratios) > 1 else 0.0
                ax.errorbar(
                    place + 0.25, fmean(ratios), error, marker="o", capsize=4,
                    color=colour_of(place),
                )  # fmt: skip
        ax.set_xticks(range(len(PAIRS)), list(PAIRS))
        ax.set_title(f"{lines[0]['variables']} variables", fontsize=10)
        dress(ax)
