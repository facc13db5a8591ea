"""Many rows: 2,000,000 of a scale-free network of 30 variables with 2 to 5 states."""

from __future__ import annotations

import operator

import numpy as np

import graftwork as gw
from bench.judging import compare, find, run_under
from bench.planted import narrow, network, score_edges, spread
from bench.runs import Arrays, Entry, Problem, Results, Size, Source, Target

NAME = "rows-2m"
OURS = 'graftwork lam="auto"'
#: Variables and rows.
SIZES = {"full": (30, 2_000_000), "smoke": (12, 20_000), "tiny": (6, 500)}


def make(source: Source) -> Arrays:
    """Return rows and the true network."""
    variables, rows = SIZES[source.size]
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
    make,
    entries,
    score_edges,
    targets,
)
