"""The two ends of a lambda path: where the first edge appears, and where noise begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from graftwork.data.compact import Sample
from graftwork.data.counts import PairCounts
from graftwork.grafting import PairDomain, Problem
from graftwork.grafting.space import BATCH, RandomOrder
from graftwork.grafting.starts import with_pairs
from graftwork.inference.layout import Potentials
from graftwork.objectives.protocol import Objective, independent_potentials
from graftwork.penalties.blocks import pair_scales
from graftwork.tuning.refit import refit

# Spaces with more pairs than this are sampled: the ends of the path need not be exact.
MOST_PAIRS = 20_000_000
PERMUTATIONS = 3
# Tables that are not penalised are fitted so far before the others are looked at.
FREE_ACCURACY = 1e-4


@dataclass(frozen=True, slots=True)
class Levels:
    """Where a lambda path begins and ends.

    Attributes
    ----------
    largest : float
        The smallest lambda that gives no edge.
    noise : float
        The same for columns permuted independently: what chance alone would reach.
    sampled : bool
        Whether they come from a random sample of the pairs, not from all.
    """

    largest: float
    noise: float
    sampled: bool


def find_levels(
    problem: Problem, objective_of: Callable[[Sample], Objective], rng: np.random.Generator
) -> Levels:
    """Return both ends of the lambda path of a problem.

    ``objective_of`` makes the problem's loss of another sample: the permuted ones.
    """
    space, sample = problem.space, problem.objective.sample
    sampled = space.size > MOST_PAIRS
    largest = largest_score(problem, rng)
    noise = []
    for _ in range(PERMUTATIONS):
        permuted = replace(problem, objective=objective_of(_permute_columns(sample, rng)))
        noise.append(largest_score(permuted, rng))
    return Levels(largest, float(np.mean(noise)), sampled)


def largest_score(problem: Problem, rng: np.random.Generator) -> float:
    """Return the smallest lambda at which no pair is added: at the network without edges.

    That is the largest score of any pair, divided by the pair's factor. Pairs that are not
    penalised are there before (their tables fitted loosely) and do not count.
    Beyond ``MOST_PAIRS`` pairs, of a random sample of them.
    """
    space = problem.space
    sample = problem.objective.sample
    point = problem.objective.at(_first_network(problem))
    order = RandomOrder(space.size, rng) if space.size > MOST_PAIRS else None
    largest = 0.0
    for start in range(0, min(space.size, MOST_PAIRS), BATCH):
        keys = (
            np.arange(start, min(start + BATCH, space.size)) if order is None else order.take(BATCH)
        )
        pairs = space.pairs(keys)
        gradients, offsets, _ = point.pair_gradients(pairs)
        scores = problem.penalty.scores(gradients, offsets, pair_scales(sample.declared, pairs))
        factors = problem.domain.factors_of(space, keys)
        if factors is not None:
            scores = np.divide(scores, factors, out=np.zeros_like(scores), where=factors > 0)
        largest = max(largest, float(scores.max(initial=0.0)))
    return largest


def _first_network(problem: Problem) -> Potentials:
    """Return the network at an endless lambda: that of the pairs listed as not penalised."""
    alone, domain = independent_potentials(problem.objective.sample), problem.domain
    prior = domain.prior if isinstance(domain, PairDomain) else None
    if prior is None or not (prior.values == 0).any():
        return alone
    pairs = prior.pairs[prior.values == 0]
    pairs = pairs[np.isin(pairs, problem.variables).all(axis=1)]
    fitted: Potentials = refit(problem, with_pairs(alone, pairs), FREE_ACCURACY).point.potentials
    return fitted


def _permute_columns(sample: Sample, rng: np.random.Generator) -> Sample:
    """Return the sample with every column in an order of its own: no dependence is left."""
    codes = sample.counts.codes.copy()
    for column in codes:
        rng.shuffle(column)
    counts = PairCounts(codes, sample.cards, sample.counts.weights, sample.counts.n_threads)
    return replace(sample, codes=codes, weights=sample.counts.weights, counts=counts)
