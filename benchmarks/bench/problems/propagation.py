"""Belief propagation on a Potts network: the same sweeps, the same marginals."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from bench.judging import compare, faster, figure, find
from bench.planted import Planted, network
from bench.runs import Arrays, Entry, Problem, Results, Size, Source, Target
from graftwork.inference.loopy import LoopyBP

NAME = "bp-200"
VARIABLES = {"full": 200, "smoke": 200, "tiny": 8}


def make(source: Source) -> Arrays:
    """Return a network and its settled beliefs."""
    model = Planted(VARIABLES[source.size], 5, 1).model()
    beliefs = LoopyBP(max_sweeps=5000, tol=1e-12).infer(model.potentials)
    settled = beliefs.values[: model.potentials.layout.n_unary]
    return {**network(model), "settled": settled}


def entries(size: Size) -> tuple[Entry, ...]:
    """Return ours and pxpy, with the same number of sweeps: as many as pxpy needs to settle.

    Its marginals were 5e-5 from settled after 100 sweeps. On a network of 60 variables it settled
    elsewhere: belief propagation has several fixed points there.
    """
    work = {"sweeps": 1000, "repeats": 10 if size == "full" else 1}
    return (
        Entry("graftwork", "graftwork_bp", work, limit=300.0),
        Entry("pxpy", "pxpy_bp", work, limit=300.0),
    )


def score(arrays: Arrays, answer: dict[str, Any]) -> dict[str, Any]:
    """Return sweeps, and the largest difference from the settled marginals."""
    gap = np.abs(np.array(answer["marginals"]) - arrays["settled"]).max()
    return {"sweeps": answer["sweeps"], "gap": float(gap)}


def targets(results: Results) -> list[Target]:
    """Judge CPU time and marginals."""
    ours, theirs = find(results, NAME, "graftwork"), find(results, NAME, "pxpy")
    gaps = [figure(run, "gap") for run in (ours, theirs)]
    worst = None if None in gaps else max(gaps)
    return [
        faster(NAME, "BP at least 5 times faster than pxpy, same sweeps", ours, theirs, 5.0),
        compare(
            NAME,
            "both have the same marginals (to 1e-6)",
            worst,
            operator.le,
            1e-6,
            "at most {value:.2g} apart",
        ),
    ]


PROBLEM = Problem(
    NAME,
    "Loopy belief propagation from uniform messages on a scale-free Potts network, five states.",
    make,
    entries,
    score,
    targets,
)
