"""Networks to begin with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graftwork.grafting.chow_liu import chow_liu_edges, tree_potentials
from graftwork.grafting.networks import only, strengths
from graftwork.grafting.problem import Problem
from graftwork.grafting.recipe import Budget
from graftwork.inference.layout import Ints, Layout, Potentials


@dataclass(frozen=True, slots=True)
class ChowLiu:
    """The Chow-Liu tree with its maximum-likelihood weights, as far as prior knowledge allows.

    With an edge budget smaller than the tree, its required edges and then its strongest.

    References
    ----------
    Chow and Liu (1968), Approximating discrete probability distributions with dependence trees.
    """

    fill: bool = False

    def begin(
        self,
        problem: Problem,
        budget: Budget,
        rng: np.random.Generator,
        halted: Callable[[], bool],
    ) -> Potentials:
        """Return the tree, or as much of it as there was time and room for."""
        sample = problem.objective.sample
        edges, _ = chow_liu_edges(sample, halted, getattr(problem.family, "prior", None))
        tree = tree_potentials(sample, edges[: budget.max_edges])
        if not self.fill or budget.max_edges is None:
            return tree
        missing = budget.max_edges - tree.layout.n_edges
        return with_pairs(tree, draw_pairs(problem, tree.layout, missing, rng))


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """A network at hand; with an edge budget smaller than it, its strongest edges."""

    potentials: Potentials

    def begin(
        self,
        problem: Problem,
        budget: Budget,
        rng: np.random.Generator,
        halted: Callable[[], bool],
    ) -> Potentials:
        """Return the network."""
        return strongest(self.potentials, budget.max_edges)


def strongest(potentials: Potentials, most: int | None) -> Potentials:
    """Return the network with at most ``most`` edges: those with the largest centred tables.

    The strength of an edge is the norm of its table less row and column means, as in models. Edges
    keep their order; of equal ones the first stay.
    """
    layout = potentials.layout
    if most is None or layout.n_edges <= most:
        return potentials
    kept = np.zeros(layout.n_edges, dtype=bool)
    kept[np.argsort(-strengths(potentials), kind="stable")[:most]] = True
    return only(potentials, kept)


def with_pairs(potentials: Potentials, pairs: Ints) -> Potentials:
    """Return the network with these pairs as further edges, whose tables are zero."""
    layout = Layout.of(
        potentials.layout.cards, np.concatenate([potentials.layout.edges, pairs.reshape(-1, 2)])
    )
    weights = layout.zeros()
    weights[: potentials.layout.size] = potentials.weights
    return Potentials(layout, weights)


def draw_pairs(problem: Problem, layout: Layout, count: int, rng: np.random.Generator) -> Ints:
    """Return at most ``count`` absent pairs of variables that vary, drawn at random, shape (k, 2).

    Every absent pair has the same chance, none is drawn twice, and where there are fewer all are.
    """
    space = problem.space
    present = np.sort(space.keys(layout.edges)) if layout.n_edges else np.zeros(0, dtype=np.int64)
    absent = space.size - len(present)
    ranks = rng.choice(absent, min(max(0, count), absent), replace=False)
    before = np.searchsorted(present - np.arange(len(present)), ranks, side="right")
    return space.pairs(ranks + before)
