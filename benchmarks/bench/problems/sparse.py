"""Sparse input: 3,000 rows of 5,000 binary variables, 1 % of the cells ones."""

from __future__ import annotations

import operator

import numpy as np

from bench.judging import compare, figure, find, run_under
from bench.planted import score_edges
from bench.runs import Arrays, Entry, Problem, Results, Size, Source, Target

NAME = "sparse-5000"
AUTO = 'graftwork sparse, lam="auto"'
LAM = 0.005
SHARE = 0.01
#: Rows, variables, and how many pairs of variables are alike.
SIZES = {"full": (3000, 5000, 200), "smoke": (600, 100, 10), "tiny": (200, 8, 2)}


def make(source: Source) -> Arrays:
    """Return random ones; the first variables are pairs that share nine ones in ten."""
    rows, variables, pairs = SIZES[source.size]
    rng = np.random.default_rng(0)
    codes = (rng.random((rows, variables)) < SHARE).astype(np.uint8)
    for j in range(0, 2 * pairs, 2):
        again = rng.random(rows) < 0.1
        codes[:, j + 1] = np.where(again, codes[:, j + 1], codes[:, j])
    return {
        "codes": codes,
        "cards": np.full(variables, 2),
        "edges": np.arange(2 * pairs).reshape(-1, 2),
        "nodes": np.arange(variables),
    }


def entries(size: Size) -> tuple[Entry, ...]:
    """Return graftwork on the sparse matrix and on the dense one."""
    same = {"lam": LAM, "method": "working-set"}
    few = (
        Entry(
            f"graftwork sparse, lam={LAM}", "graftwork_fit", {**same, "sparse": True}, limit=600.0
        ),
        Entry(f"graftwork dense, lam={LAM}", "graftwork_fit", same, limit=600.0),
    )
    auto = Entry(AUTO, "graftwork_fit", {"sparse": True}, limit=600.0)
    return (*few, auto) if size == "full" else few


def targets(results: Results) -> list[Target]:
    """Judge the default fit: CPU seconds, and edges that are none."""
    auto = find(results, NAME, AUTO)
    return [
        run_under(NAME, "sparse input, defaults, within 60 CPU s", auto, 60.0),
        compare(
            NAME, "at most 1 % of its edges wrong", figure(auto, "false"), operator.le,
            0.01 * (figure(auto, "n_edges") or 0.0), "{value:.3g}",
        ),
    ]  # fmt: skip


PROBLEM = Problem(
    NAME,
    "Sparse matrix of ones, n=5,000, N=3,000, 1 % ones; 200 pairs of variables are alike.",
    make,
    entries,
    score_edges,
    targets,
)
