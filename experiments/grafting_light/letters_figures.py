"""Pictures of the letters' study: mean images, criteria of methods and of select units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from experiments.engine import Figure, Found
from experiments.engine.panels import draw_criteria
from experiments.grafting_light.chain import FULL, GRAFTING, LIGHT
from experiments.grafting_light.letters_claims import bp_runs, unit_lines
from graftwork.report.figures import INK

#: Figure 5.
PANELS = (
    ("cpu_seconds", "training time (CPU seconds)"),
    ("test_nll", "test NLL a pixel, by BP"),
    ("features", "features in the end"),
    ("evaluations", "gradient evaluations"),
)
UNITS = "Figure 5: select units. A run that the limit of evaluations ended has no optimum."
#: What methods are compared by on all letters.
BY_LETTER = (
    ("test_nlpl", "test NLPL a pixel"),
    ("sample_error", "error of the samples' mean image"),
    ("edges", "edges"),
    ("cpu_seconds", "training time (CPU seconds)"),
)
_LEFT_OUT = ("curve", "beliefs", "samples")


def letter_table(found: Mapping[str, Found]) -> list[dict[str, Any]]:
    """Return one line a run."""
    return [
        {"run": key, **{name: cell for name, cell in run.items() if name not in _LEFT_OUT}}
        for key, run in found.items()
        if key.startswith("letters-") and "curve" in run
    ]


def letter_figures(found: Mapping[str, Found]) -> Sequence[Figure]:
    """Return the paper's Figures 4 and 5."""
    figures = []
    if "letters-data" in found:
        for lam in sorted({run["lam"] for run in bp_runs(found)}, reverse=True):
            rows = image_rows(found, lam)
            caption = (
                f"Figure 4: mean images at lambda {lam:g}: of the data, of networks by belief "
                "propagation and of samples; last, our default, whose likelihood is pseudo."
            )
            size = (1.1 * len(rows[0][1]) + 2.6, 1.1 * len(rows) + 0.3)
            figures.append(Figure(f"letters-{lam:g}", caption, partial(_draw_images, rows), size))
        caption = "The paper's way (by BP, at two lambdas) beside exact losses and our default."
        figures.append(Figure("letters", caption, partial(_draw_letters, found), (10.5, 7.4)))
    lines = unit_lines(found)
    if lines:
        letter = lines[next(iter(lines))][0]["letter"]
        lines[FULL] = [{**run, "select": None} for run in lines.get(FULL, [])]
        lines = {method: line for method, line in lines.items() if line}

        def draw(canvas: Any) -> None:
            draw_criteria(
                canvas, lines, PANELS, across="select", label="features a round (M)",
                title=f"Letter {letter}, likelihood by belief propagation", columns=2,
            )  # fmt: skip

        figures.append(Figure("letters-units", UNITS, draw, (9.0, 6.6)))
    return figures


def letter_lines(found: Mapping[str, Found]) -> tuple[list[str], dict[str, list[Found]]]:
    """Return the letters, and the runs of each method on them with the letter's place."""
    letters = list(dict.fromkeys(run["letter"] for run in bp_runs(found)))
    lines: dict[str, list[Found]] = {}
    for place, letter in enumerate(letters):
        start = f"letters-{letter}-"
        for key, run in found.items():
            if key.startswith(start):
                lines.setdefault(key.removeprefix(start), []).append({**run, "place": place})
    return letters, lines


def _draw_letters(found: Mapping[str, Found], canvas: Any) -> None:
    letters, lines = letter_lines(found)
    draw_criteria(
        canvas, lines, BY_LETTER, across="place", label="letter", columns=2,
        title="Letters", ticks={float(k): letter for k, letter in enumerate(letters)},
    )  # fmt: skip


def image_rows(found: Mapping[str, Found], lam: float) -> list[tuple[str, list[Any]]]:
    """Return rows of images, a column for each letter; None where there is none."""
    letters = list(dict.fromkeys(run["letter"] for run in bp_runs(found)))
    rows: list[tuple[str, list[Any]]] = [
        ("data", [found["letters-data"][letter]["mean"] for letter in letters])
    ]
    kinds = [
        (f"{method.removeprefix('grafting-')}\n{words}", f"bp{lam:g}-{method}", part)
        for method in (LIGHT, GRAFTING, FULL)
        for words, part in (("by BP", "beliefs"), ("samples", "samples"))
    ]
    kinds.append(("default\nsamples", "default", "samples"))
    for name, key, part in kinds:
        runs = [found.get(f"letters-{letter}-{key}") for letter in letters]
        rows.append((name, [run[part] if run else None for run in runs]))
    return rows


def _draw_images(rows: Sequence[tuple[str, list[Any]]], canvas: Any) -> None:
    canvas.set_layout_engine("constrained")
    axes = canvas.subplots(len(rows), len(rows[0][1]), squeeze=False)
    for line, (name, images) in zip(axes, rows, strict=True):
        for ax, image in zip(line, images, strict=True):
            ax.set_xticks([])
            ax.set_yticks([])
            if image is None:
                ax.set_axis_off()
            else:
                shown = ax.imshow(image, cmap="gray", vmin=0.0, vmax=1.0)
        line[0].set_ylabel(
            name, rotation=0, ha="right", va="center", fontsize=7, color=INK, labelpad=3
        )
    bar = canvas.colorbar(shown, ax=axes.ravel().tolist(), shrink=0.5)
    bar.set_label("share of images with ink", fontsize=8)
