"""The two ends of a lambda path: where the first edge appears, and where noise begins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from graftwork.data.counts import table_offsets
from graftwork.grafting import PairDomain, Problem
from graftwork.grafting.space import BATCH, RandomOrder
from graftwork.grafting.starts import with_pairs
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.kernels.tables import centre_by
from graftwork.objectives.protocol import independent_potentials, states_of_entries
from graftwork.penalties.blocks import pair_scales
from graftwork.tuning.refit import refit

# Spaces with more pairs than this are sampled: the ends of the path need not be exact.
MOST_PAIRS = 20_000_000
DRAWS = 3
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
        The same for independent variables with these margins: what chance alone would reach.
    sampled : bool
        Whether they come from a random sample of the pairs, not from all.
    """

    largest: float
    noise: float
    sampled: bool


def find_levels(problem: Problem, rng: np.random.Generator) -> Levels:
    """Return both ends of the lambda path of a problem."""
    sampled = problem.space.size > MOST_PAIRS
    noise = [noise_score(problem, rng) for _ in range(DRAWS)]
    return Levels(largest_score(problem, rng), float(np.mean(noise)), sampled)


def largest_score(problem: Problem, rng: np.random.Generator) -> float:
    """Return the smallest lambda at which no pair is added: at the network without edges.

    That is the largest score of any pair, divided by the pair's factor. Pairs that are not
    penalised are there before (their tables fitted loosely) and do not count.
    Beyond ``MOST_PAIRS`` pairs, of a random sample of them.
    """
    point = problem.objective.at(_first_network(problem))
    largest = 0.0
    for pairs in _batches(problem, rng):
        gradients, offsets, _ = point.pair_gradients(pairs)
        largest = max(largest, _largest(problem, pairs, gradients, offsets))
    return largest


def noise_score(problem: Problem, rng: np.random.Generator) -> float:
    """Return what the largest score of any pair would be by chance, in one draw.

    Tables of independent variables differ from the product of their margins by normal errors with
    covariance S_i (x) S_j / N, S = diag(f) - f f', when N rows are drawn. This depends on margins
    and total weight alone, so rows may be repeated or weighted.
    """
    sample = problem.objective.sample
    layout = Layout.of(sample.cards)
    point = problem.objective.at(independent_potentials(sample))
    # of variables with missing cells, only rows that have both say something
    seen = np.repeat(sample.observed_weight / sample.total_weight, sample.cards)
    frequencies, largest = sample.frequencies, 0.0
    variances = frequencies * seen / np.sqrt(sample.total_weight)
    for pairs in _batches(problem, rng):
        if not largest:  # the pseudo-likelihood has two conditionals for each pair
            times = len(point.pair_expectations(pairs[:1]).given)
        offsets = table_offsets(sample.cards, pairs)
        first, second = states_of_entries(layout, pairs)
        errors = rng.standard_normal(int(offsets[-1]))
        errors *= times * np.sqrt(variances[first] * variances[second])
        centre_by(errors, offsets, pairs, sample.cards, layout.unary_offsets, frequencies)
        largest = max(largest, _largest(problem, pairs, errors, offsets))
    return largest


def _batches(problem: Problem, rng: np.random.Generator) -> Iterator[Ints]:
    """Yield all pairs, or a random sample of very many."""
    space = problem.space
    order = RandomOrder(space.size, rng) if space.size > MOST_PAIRS else None
    for start in range(0, min(space.size, MOST_PAIRS), BATCH):
        keys = np.arange(start, min(start + BATCH, space.size))
        yield space.pairs(keys if order is None else order.take(BATCH))


def _largest(problem: Problem, pairs: Ints, gradients: Floats, offsets: Ints) -> float:
    """Return the largest score of some pairs, given their gradients, divided by their factors."""
    scale = pair_scales(problem.objective.sample.declared, pairs)
    scores = problem.penalty.scores(gradients, offsets, scale)
    space = problem.space
    factors = problem.domain.factors_of(space, space.keys(pairs))
    if factors is not None:
        scores = np.divide(scores, factors, out=np.zeros_like(scores), where=factors > 0)
    return float(scores.max(initial=0.0))


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
