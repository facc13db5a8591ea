"""What people with questionnaires wait for: small fits, resamples, missing cells."""

from __future__ import annotations

import operator
from functools import partial

from bench.judging import compare, figure, find
from bench.planted import Planted, score_edges
from bench.runs import Arrays, Entry, Problem, Results, Run, Size, Source, Target

HOLES = 0.05
FIT, FITS, GAPS = "one fit", "resamples", f"resamples, {HOLES:.0%} missing"
COMPLETE, AVAILABLE = "complete rows", f"available-case, {HOLES:.0%} missing"
GAP_OPTIONS = {"missing": "available-case", "holes": HOLES}
RESAMPLES = {"full": 100, "smoke": 4, "tiny": 2}

SMALL = {
    "full": Planted(20, 5, 600),
    "smoke": Planted(8, 5, 300),
    "tiny": Planted(5, 5, 200),
}
ITEMS = {
    "full": Planted(30, 5, 1000),
    "smoke": Planted(8, 5, 300),
    "tiny": Planted(5, 5, 200),
}
POTTS = {
    "full": Planted(50, 5, 5000),
    "smoke": Planted(10, 5, 500),
    "tiny": Planted(6, 5, 200),
}


def make(sizes: dict[Size, Planted], source: Source) -> Arrays:
    """Return rows and the true network."""
    return sizes[source.size].make()


def small_entries(size: Size) -> tuple[Entry, ...]:
    """Return a fit, and resamples of complete and of incomplete rows."""
    count = {"resamples": RESAMPLES[size]}
    return (
        Entry(FIT, "graftwork_fit"),
        Entry(FITS, "graftwork_bootstrap", count),
        Entry(GAPS, "graftwork_bootstrap", count | GAP_OPTIONS),
    )


def gap_entries(size: Size) -> tuple[Entry, ...]:
    """Return a fit of complete rows, and one of incomplete rows."""
    return (
        Entry(COMPLETE, "graftwork_fit"),
        Entry(AVAILABLE, "graftwork_fit", GAP_OPTIONS),
    )


def score_small(arrays: Arrays, answer: dict) -> dict:
    """Return the figures; a bootstrap has no edges to score."""
    return score_edges(arrays, answer) if "edges" in answer else answer


def for_thousand(run: Run) -> float | None:
    """Return CPU seconds of a thousand resamples."""
    count = figure(run, "resamples")
    return None if count is None else 1000 * run.cpu / count


def small_targets(results: Results) -> list[Target]:
    """Judge CPU seconds."""
    fit, fits, gaps = (find(results, "items-20", entry) for entry in (FIT, FITS, GAPS))
    seconds, with_gaps = for_thousand(fits), for_thousand(gaps)
    text = "{value:.3g} s"
    return [
        compare(
            "items-20", "20 x 600, one fit within .1 CPU s", fit.cpu if fit.done else None,
            operator.le, 0.1, text,
        ),
        compare(
            "items-20", "1,000 resamples within 100 CPU s", seconds, operator.le, 100.0, text
        ),
        compare(
            "items-20", "with 5 % missing within three times that", with_gaps, operator.le, 300.0,
            text,
        ),
    ]  # fmt: skip


def gap_targets(name: str, results: Results) -> list[Target]:
    """Judge how much longer incomplete rows take."""
    complete, available = (find(results, name, entry) for entry in (COMPLETE, AVAILABLE))
    ratio = available.cpu / complete.cpu if complete.done and available.done else None
    words = "available-case at most three times a complete fit (CPU)"
    return [compare(name, words, ratio, operator.le, 3.0, "{value:.3g} times")]


PROBLEMS = (
    Problem(
        "items-20",
        "Scale-free network of 20 five-state items, N=600: one fit, and resamples of it, with "
        "defaults.",
        partial(make, SMALL),
        small_entries,
        score_small,
        small_targets,
    ),
    Problem(
        "items-30",
        "Scale-free network of 30 five-state items, N=1,000, complete and with missing cells.",
        partial(make, ITEMS),
        gap_entries,
        score_edges,
        partial(gap_targets, "items-30"),
    ),
    Problem(
        "potts-50-gaps",
        "Scale-free Potts network, n=50, five states, N=5,000, complete and with missing cells.",
        partial(make, POTTS),
        gap_entries,
        score_edges,
        partial(gap_targets, "potts-50-gaps"),
    ),
)
