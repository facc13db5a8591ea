"""Recipes: 489 ingredients that 150 recipes have, 9,000 recipes to learn from, 1,000 to test."""

from __future__ import annotations

import gzip
from collections import Counter

import numpy as np

from bench.problems.debd import score
from bench.runs import Arrays, Entry, Problem, Size, Source

LAM = 0.002
NODES = 10
LEAST = 150
#: Recipes to learn from and to test, and ingredients (the most frequent ones).
SIZES = {"full": (9000, 1000, None), "smoke": (1000, 200, 20), "tiny": (200, 50, 6)}


def make(source: Source) -> Arrays:
    """Return which recipe has which ingredient, recipes in a random order."""
    train, test, most = SIZES[source.size]
    with gzip.open(source.path("yummly", "train.tsv.gz"), "rt", encoding="utf8") as file:
        lines = [line for line in file.read().split("\n")[1:] if line]
    recipes = [set(line.split("\t")[2].split("|")) for line in lines]
    counts = Counter(name for recipe in recipes for name in recipe)
    names = [name for name, count in counts.most_common(most) if count >= LEAST]
    place = {name: k for k, name in enumerate(names)}
    order = np.random.default_rng(0).permutation(len(recipes))[: train + test]
    rows = np.zeros((train + test, len(names)), dtype=np.uint8)
    for row, recipe in zip(rows, order, strict=True):
        row[[place[name] for name in recipes[recipe] if name in place]] = 1
    nodes = np.linspace(0, len(names) - 1, min(NODES, len(names))).astype(int)
    return {
        "codes": rows[:train],
        "test": rows[train:],
        "cards": np.full(len(names), 2),
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
