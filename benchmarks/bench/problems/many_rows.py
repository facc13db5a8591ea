"""Many rows: 2 and 20 million of a scale-free network of 30 variables with 2 to 5 states."""

from __future__ import annotations

import operator
from functools import partial

import numpy as np

import graftwork as gw
from bench.judging import compare, find, run_under
from bench.planted import narrow, network, score_edges, spread
from bench.runs import Arrays, Entry, Problem, Results, Size, Source, Target

NAME, LARGE_NAME = "rows-2m", "rows-20m"
OURS = 'graftwork lam="auto"'
#: Variables and rows.
SIZES = {"full": (30, 2_000_000), "smoke": (12, 20_000), "tiny": (6, 500)}
LARGE_SIZES = {"full": (30, 20_000_000), "smoke": (12, 200_000), "tiny": (6, 500)}


def make(sizes: dict[Size, tuple[int, int]], source: Source) -> Arrays:
    """Return rows and the true network."""
    variables, rows = sizes[source.size]
    cards = np.random.default_rng(0).integers(2, 6, variables)
    drawn = gw.datasets.make_scale_free(
        variables, cards.tolist(), n_rows=rows, n_test=1000, random_state=0, n_jobs=2
    )
    edges = drawn.model.potentials.layout.edges
    return {
        "codes": narrow(drawn.data.codes),
        "test": narrow(drawn.test.codes),
        **network(drawn.model),
        "nodes": spread(edges, variables, variables),
    }


def entries(size: Size) -> tuple[Entry, ...]:
    """Return ours, and pyAgrum with a limit."""
    return Entry(OURS, "graftwork_fit"), Entry("pyAgrum greedy", "pyagrum_greedy", limit=600.0)


def large_entries(size: Size) -> tuple[Entry, ...]:
    """Return ours alone."""
    return (Entry(OURS, "graftwork_fit"),)


def large_targets(results: Results) -> list[Target]:
    """Judge how time grows with the rows."""
    few, many = (find(results, name, OURS) for name in (NAME, LARGE_NAME))
    ratio = many.cpu / few.cpu if few.done and many.done and few.cpu else None
    words = "{value:.3g} times"
    return [compare(LARGE_NAME, "ten times the rows of rows-2m", ratio, operator.le, 10.0, words)]


def targets(results: Results) -> list[Target]:
    """Judge CPU seconds, and memory on top of the table."""
    run = find(results, NAME, OURS)
    more = run.peak_mb - run.before_mb if run.done else None
    words = "{value:.4g} MB"
    return [
        run_under(NAME, "at most 60 CPU s", run, 60.0),
        compare(NAME, "at most 3 GB on top of the table", more, operator.le, 3000.0, words),
    ]


PROBLEM = Problem(
    NAME,
    "Scale-free network, n=30, two to five states, N=2,000,000.",
    partial(make, SIZES),
    entries,
    score_edges,
    targets,
)
LARGE = Problem(
    LARGE_NAME,
    "The same network, N=20,000,000.",
    partial(make, LARGE_SIZES),
    large_entries,
    score_edges,
    large_targets,
)
