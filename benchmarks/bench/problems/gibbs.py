"""Gibbs sampling: single-site updates a second on two cores."""

from __future__ import annotations

import operator
from typing import Any

from bench.judging import compare, figure, find
from bench.planted import Planted, network
from bench.runs import Arrays, Entry, Problem, Results, Size, Source, Target

NAME = "gibbs-200"
VARIABLES = {"full": 200, "smoke": 60, "tiny": 8}


def make(source: Source) -> Arrays:
    """Return a network."""
    return network(Planted(VARIABLES[source.size], 5, 1).model())


def entries(size: Size) -> tuple[Entry, ...]:
    """Return our sampler with two threads."""
    work = {"chains": 256, "sweeps": 20_000 if size == "full" else 500}
    return (Entry("graftwork, two threads", "graftwork_gibbs", work, limit=600.0, threads=2),)


def score(arrays: Arrays, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the number of updates."""
    return {"updates": answer["updates"]}


def targets(results: Results) -> list[Target]:
    """Judge updates a second of wall time."""
    run = find(results, NAME, "graftwork, two threads")
    updates = figure(run, "updates")
    return [
        compare(
            NAME,
            "Gibbs at least 150 million updates a second, two cores, five states (wall)",
            None if updates is None else updates / run.wall / 1e6,
            operator.ge,
            150.0,
            "{value:.3g} million a second",
        )
    ]


PROBLEM = Problem(
    NAME, "Gibbs chains on a scale-free Potts network, five states.", make, entries, score, targets
)
