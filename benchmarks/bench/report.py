"""RESULTS.md and pictures from what is known."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.ledger import Ledger
from bench.problems import PROBLEMS
from bench.races import ratio
from bench.runs import Run, Target

#: Figures in their order, with the heads of their columns and formats.
COLUMNS = {
    "f1": ("F1", "{:.3f}"),
    "f1_nodes": ("F1 at the nodes", "{:.3f}"),
    "n_edges": ("edges", "{:,.0f}"),
    "mean_degree": ("mean degree", "{:.1f}"),
    "features": ("features", "{:,.0f}"),
    "objective": ("objective", "{:.6g}"),
    "test_nlpl": ("test NLPL", "{:.4f}"),
    "evaluations": ("evaluations", "{:,.0f}"),
    "scored": ("pairs scored", "{:,.0f}"),
    "counted": ("tables counted", "{:,.0f}"),
    "sweeps": ("sweeps", "{:,.0f}"),
    "updates": ("updates", "{:,.0f}"),
    "gap": ("distance of marginals", "{:.1e}"),
    "import_s": ("import, s", "{:.2f}"),
    "first_fit_s": ("first fit, s", "{:.2f}"),
    "next_fit_s": ("next process, s", "{:.2f}"),
    "command_s": ("learn small.csv, s", "{:.2f}"),
}


def judge(ledger: Ledger) -> list[Target]:
    """Return every target with its verdict; a small run judges nothing."""
    if ledger.size != "full":
        return []
    results = ledger.results()
    return [target for problem in PROBLEMS.values() for target in problem.targets(results)]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + [
        "| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in rows
    ]


def number(value: Any, form: str = "{:.3g}") -> str:
    """Return a cell: empty for what is unknown."""
    if not isinstance(value, int | float) or math.isnan(value):
        return ""
    return form.format(value)


def remark(run: Run) -> str:
    """Return what there is to say about a run beside its numbers."""
    said = [run.reason] if run.reason else []
    said = [f"{run.status}: {run.reason}"] if run.status in ("failed", "missing") else said
    if "nodes" in run.figures:
        said.append(f"{run.figures['nodes']:.0f} nodes, scaled to all")
    if run.figures.get("converged") is False:
        said.append(f"not certified ({run.figures.get('stop')})")
    if run.figures.get("unsolved"):
        said.append(f"{run.figures['unsolved']} nodes not solved to the tolerance")
    if run.figures.get("ended"):
        said.append(f"{run.figures['ended']} after its answer")
    if run.figures.get("compiled_s", 0.0) > 0.05:
        said.append(f"{run.figures['compiled_s']:.1f} s of it compiled")
    return "; ".join(said)


def seconds(run: Run, value: float) -> str:
    """Return a time, with a mark where it is a lower bound."""
    return (">" if run.status == "too slow" else "") + number(value)


def problem_table(runs: list[Run]) -> list[str]:
    """Return one problem's runs as a table, with the columns that any of them has."""
    shown = [key for key in COLUMNS if any(key in run.figures for run in runs)]
    head = ["contender", "CPU s", "wall s", "peak MB", *(COLUMNS[key][0] for key in shown), ""]
    rows = [
        [
            run.entry,
            seconds(run, run.cpu),
            seconds(run, run.wall),
            number(run.peak_mb, "{:,.0f}"),
            *(number(run.figures.get(key), COLUMNS[key][1]) for key in shown),
            remark(run),
        ]
        for run in runs
    ]
    return table(head, rows)


def floors_table(floors: list[dict[str, Any]]) -> list[str]:
    """Return the kernels beside what the machine can do."""
    keys = ("kernel", "measured", "floor", "unit", "ratio", "target")
    rows = [
        [value if isinstance(value := row.get(key, ""), str) else number(value) for key in keys]
        for row in floors
    ]
    return table(keys, rows)


def shared(origins: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return what all origins have in common."""
    first, *others = origins or ({},)
    return {
        key: value
        for key, value in first.items()
        if all(other.get(key) == value for other in others)
    }


def listed(items: dict[str, Any]) -> str:
    """Return names and values in one line."""
    return ", ".join(f"{key} {value}" for key, value in items.items())


def origin(ledger: Ledger, name: str, same: dict[str, Any]) -> str:
    """Return where one problem's runs are from, as far as not all are from there."""
    own = {key: v for key, v in ledger.origins.get(name, {}).items() if key not in same}
    return f" ({listed(own)})" if own else ""


def markdown(ledger: Ledger, pictures: Sequence[str]) -> str:
    """Return the whole report."""
    same = shared(ledger.origins.values())
    lines = [
        "# Benchmarks",
        "",
        f"`make bench{'' if ledger.size == 'full' else '-smoke'}`. {listed(same)}.",
        "",
        "Every contender solves the same arrays in a process of its own, after a tiny problem of "
        "the same kind outside the clock. CPU time is that of all threads and child processes; one "
        "thread each unless said. `>` is a lower bound: the contender was stopped there. Peak "
        "memory is that of the whole process.",
        "",
    ]
    targets = judge(ledger)
    if targets:
        rows = [[t.target, t.measured, f"**{t.verdict}**", t.problem] for t in targets]
        lines += ["## Targets", "", *table(["target", "measured", "verdict", "problem"], rows), ""]
    for picture in pictures:
        lines += [f"![{Path(picture).stem}]({picture})", ""]
    for name in (name for name in PROBLEMS if ledger.runs.get(name)):
        over = "" if name in ledger.complete else " (not complete)"
        own = origin(ledger, name, same)
        lines += [f"## {name}{over}", "", ledger.words.get(name, "") + own, ""]
        lines += [*problem_table(ledger.runs[name]), ""]
    if ledger.floors:
        lines += ["## Kernels beside their floors" + origin(ledger, "floors", same), ""]
        lines += [*floors_table(ledger.floors), ""]
    if ledger.skipped:
        lines += ["## Not run", "", *(f"- {k}: {v}" for k, v in ledger.skipped.items()), ""]
    return "\n".join(lines)


def draw(ledger: Ledger, folder: Path) -> list[str]:
    """Draw what there is to draw, and return the names of the files."""
    try:
        import matplotlib
    except ImportError:
        return []
    matplotlib.use("Agg")
    made = [draw_race(ledger, folder), draw_quality(ledger, folder), draw_times(ledger, folder)]
    return [name for name in made if name]


def draw_race(ledger: Ledger, folder: Path) -> str | None:
    """Draw how many times less CPU best-choice needs than the exhaustive search, against n."""
    results = ledger.results()
    found = [(int(name.split("-")[1]), ratio(results, name)) for name in ("potts-200", "potts-600")]
    points = [(n, value) for n, value in found if value is not None]
    if ledger.size != "full" or len(points) < 2:
        return None
    from matplotlib import pyplot

    fig, ax = pyplot.subplots(figsize=(5, 3.5))
    ax.plot(*zip(*points, strict=True), marker="o")
    ax.axhline(5, color="grey", linestyle=":")
    ax.set(xlabel="variables", ylabel="CPU time, exhaustive : best-choice", ylim=(0, None))
    return finish(fig, folder, "race.png")


def draw_quality(ledger: Ledger, folder: Path) -> str | None:
    """Draw F1 against CPU time for the planted networks."""
    names = [name for name in ("potts-50", "potts-200", "ising-100") if ledger.runs.get(name)]
    if not names:
        return None
    from matplotlib import pyplot

    fig, axes = pyplot.subplots(1, len(names), figsize=(5 * len(names), 4), squeeze=False)
    for ax, name in zip(axes[0], names, strict=True):
        for run in ledger.runs[name]:
            quality = run.figures.get("f1", run.figures.get("f1_nodes"))
            if run.done and quality is not None:
                own = run.contender.startswith("graftwork")
                (dot,) = ax.plot(run.cpu, quality, marker="o" if own else "s", linestyle="")
                ax.annotate(run.entry, (run.cpu, quality), fontsize=7, color=dot.get_color(),
                            xytext=(4, 4), textcoords="offset points")  # fmt: skip
        ax.set(xscale="log", xlabel="CPU s", ylabel="F1 of edges", title=name, ylim=(0, 1.05))
    return finish(fig, folder, "quality.png")


def draw_times(ledger: Ledger, folder: Path) -> str | None:
    """Draw CPU time of every timed run, as bars by problem."""
    runs = [run for run in ledger.every_run() if run.timed and run.problem != "start"]
    if not runs:
        return None
    from matplotlib import pyplot

    fig, ax = pyplot.subplots(figsize=(8, 0.22 * len(runs) + 1))
    colors = ["C0" if run.contender.startswith("graftwork") else "C1" for run in runs]
    ax.barh(range(len(runs)), [max(run.cpu, 1e-3) for run in runs], color=colors)
    labels = [f"{run.problem}: {run.entry}{'' if run.done else ' (stopped)'}" for run in runs]
    ax.set_yticks(range(len(runs)), labels, fontsize=7)
    ax.invert_yaxis()
    ax.set(xscale="log", xlabel="CPU s (graftwork blue, peers orange)")
    return finish(fig, folder, "times.png")


def finish(fig: Any, folder: Path, name: str) -> str:
    """Write a picture and return its name."""
    from matplotlib import pyplot

    fig.tight_layout()
    fig.savefig(folder / name, dpi=110)
    pyplot.close(fig)
    return name


def write(ledger: Ledger, folder: Path) -> None:
    """Write RESULTS.md and the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "RESULTS.md").write_text(markdown(ledger, draw(ledger, folder)))
