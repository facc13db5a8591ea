"""What prior knowledge lets a run begin with, and how much of the space it takes away."""

from __future__ import annotations

import numpy as np

from graftwork.grafting.domain import PairDomain
from graftwork.grafting.problem import Problem
from graftwork.grafting.space import PairSpace
from graftwork.grafting.starts import strengths
from graftwork.inference.layout import Ints, Layout, Potentials


def admitted(problem: Problem, start: Potentials, most: int | None) -> Potentials:
    """Return a network to begin with, without edges that may not be and with room for the others.

    Where there are at most ``most`` edges, those of the strongest tables stay beside the required
    ones. What tables that leave added to their variables on average goes into unaries that are
    free. Without prior knowledge the network stays as it is.
    """
    domain = problem.domain
    if not isinstance(domain, PairDomain) or domain.prior is None:
        return start
    layout, prior = start.layout, domain.prior
    value = np.where(prior.requires(layout.edges), np.inf, strengths(start))
    order = np.argsort(-value, kind="stable")
    order = order[np.isfinite(prior.at(layout.edges[order]))]
    if most is not None:
        missing = len(prior.required) - int((value[order] == np.inf).sum())
        order = order[: max(0, most - missing)]
    kept = np.sort(order)
    if len(kept) == layout.n_edges:
        return start
    gone = np.setdiff1d(np.arange(layout.n_edges), kept)
    compensate = not (problem.penalty.unary_lam or problem.penalty.unary_l2)
    weights = domain.without(layout, start.weights, layout.entries(gone), compensate)
    entries = np.concatenate([np.arange(layout.n_unary), layout.entries(kept)])
    return Potentials(Layout.of(layout.cards, layout.edges[kept]), weights[entries])


def count_barred(problem: Problem, variables: Ints) -> int:
    """Return how many pairs of these variables may not be edges."""
    domain = problem.domain
    if not isinstance(domain, PairDomain) or domain.prior is None:
        return 0
    return PairSpace(variables).size - domain.space(variables, False).size
