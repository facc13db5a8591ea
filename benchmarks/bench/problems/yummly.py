"""Recipes: 489 ingredients that 150 recipes have, 9,000 recipes to learn from, 1,000 to test."""

from __future__ import annotations

import numpy as np

from bench.problems.debd import score
from bench.runs import Arrays, Entry, Problem, Size, Source
from graftwork.datasets import load_yummly

LAM = 0.002
NODES = 10
LEAST = 150
#: Recipes to learn from and to test, and ingredients (the most frequent ones).
SIZES = {"full": (9000, 1000, None), "smoke": (1000, 200, 20), "tiny": (200, 50, 6)}


def make(source: Source) -> Arrays:
    """Return which recipe has which ingredient, recipes in a random order."""
    train, test, most = SIZES[source.size]
    parts = load_yummly(
        source.folder, recipes=train + test, least=LEAST, held_out=test / (train + test)
    )
    codes = parts.train.codes[:most].T
    nodes = np.linspace(0, codes.shape[1] - 1, min(NODES, codes.shape[1])).astype(int)
    return {
        "codes": np.ascontiguousarray(codes),
        "test": np.ascontiguousarray(parts.test.codes[:most].T),
        "cards": np.full(codes.shape[1], 2),
        "nodes": nodes,
    }


def entries(size: Size) -> tuple[Entry, ...]:
    """Return ours and the peers."""
    same = {"lam": LAM, "tol": 1e-4}
    few = (
        Entry(f"graftwork lam={LAM}", "graftwork_fit", same),
        Entry(f"skglm l1 {LAM}", "skglm_nodes", same),
    )
    rest = (
        Entry('graftwork lam="auto"', "graftwork_fit"),
        Entry(f"scikit-learn l1 {LAM}", "sklearn_nodes", {**same, "max_iter": 1000}),
        Entry("pyAgrum greedy", "pyagrum_greedy"),
    )
    return (*few, *(rest if size == "full" else ()))


PROBLEM = Problem(
    "yummly",
    "Yummly recipes, 489 ingredients, N=9,000. Node-wise peers solve a sample of the nodes; their "
    "times are scaled to all.",
    make,
    entries,
    score,
)
