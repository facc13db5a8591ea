"""The two ends of a lambda path: where the first edge appears, and where noise begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.special import gammaincc

from graftwork.data.encoded import EncodedRows
from graftwork.data.scores import Scores
from graftwork.grafting import NetworkFamily, Problem
from graftwork.grafting.screen import TileScores
from graftwork.grafting.spaces import BATCH
from graftwork.grafting.starts import with_pairs
from graftwork.grafting.stream import RandomOrder
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.inference.ragged import offsets
from graftwork.objectives.protocol import independent_potentials
from graftwork.penalties.blocks import part_scales
from graftwork.selection.refits import refit

# Spaces with more pairs than this are sampled: the ends of the path need not be exact.
MOST_PAIRS = 2**26
# Kinds of tables are counted by kinds of variables where those are no more than this.
MOST_KINDS = 2000
# For the noise level, scales and degrees of freedom are rounded to this share of themselves.
STEP = 0.005
# Tables that are not penalised are fitted so far before the others are looked at.
FREE_ACCURACY = 1e-4


@dataclass(frozen=True, slots=True)
class Levels:
    """Where a lambda path begins and ends."""

    largest: float  # the smallest lambda that gives no edge
    # the same for independent variables with these margins: what chance alone would reach
    noise: float
    sampled: bool  # whether they come from a sample of the pairs, not from all


def find_levels(problem: Problem, halted: Callable[[], bool] = lambda: False) -> Levels:
    """Return both ends of the lambda path of a problem. Nothing in them depends on chance."""
    sampled = problem.space.size > MOST_PAIRS and not _plain(problem)
    return Levels(largest_score(problem, halted), noise_level(problem, halted), sampled)


def largest_score(problem: Problem, halted: Callable[[], bool] = lambda: False) -> float:
    """Return the smallest lambda at which no pair is added: at the network without edges.

    That is the largest score of any pair, divided by the pair's factor. Pairs that are not
    penalised are there before (their tables fitted loosely) and do not count.
    Where pairs must be listed and are more than ``MOST_PAIRS``, of a sample of them.
    """
    point = problem.objective.at(_first_network(problem))
    largest, here = 0.0, cast(Any, point)
    if _plain(problem) and hasattr(point, "tiles"):
        tiles = here.tiles(problem.space.variables)
        if tiles is not None:
            roots = np.sqrt(problem.objective.sample.declared.astype(np.float64))
            scorer = TileScores(roots, problem.penalty.separable)
            for tile in tiles:
                if halted():
                    break
                largest = max(largest, scorer.largest(here, tile))
            return largest
    for pairs in _batches(problem):
        if halted():
            break
        gradients, offsets, _ = point.pair_gradients(pairs)
        largest = max(largest, _largest(problem, pairs, gradients, offsets))
    return largest


def noise_level(problem: Problem, halted: Callable[[], bool] = lambda: False) -> float:
    """Return what the largest score of any pair would be by chance, on average.

    Tables of N rows of independent variables differ from the product of their margins by normal
    errors with covariance S_i (x) S_j / N, S = diag(f) - f f'. So the square of a table's norm is a
    weighted sum of chi-squares, taken here for the gamma variable of the same mean and variance
    (Satterthwaite), and a single entry is normal. The largest of many is about Gumbel: its mean is
    where exp(-gamma) of them are expected to be larger, gamma being Euler's constant. This depends
    on margins and total weight alone, so rows may be repeated or weighted.
    """
    sample, parts = problem.objective.sample, _Parts.of(problem)
    kinds: dict[tuple[int, int], float] = {}
    times = 0
    if problem.space.size:  # the pseudo-likelihood has two conditionals for each pair
        point = problem.objective.at(independent_potentials(sample))
        times = len(point.pair_expectations(problem.space.pairs(np.zeros(1, np.int64))).given)
    linear = None if problem.penalty.separable else sample.scores
    whole = None
    if not _weighed(problem) and linear is None:
        whole = parts.count_all(problem.space.variables)
    for pairs in _batches(problem) if whole is None else ():
        if kinds and halted():
            break
        split = np.zeros(len(pairs), dtype=bool) if linear is None else linear.split(pairs)
        factors = _factors(problem, pairs)
        counted = [parts.count(pairs[~split], factors[~split])]
        if linear is not None:
            counted.append(_count_parts(sample, linear, pairs[split], factors[split]))
        for kind, count in (item for found in counted for item in found.items()):
            kinds[kind] = kinds.get(kind, 0.0) + count
    kinds = kinds if whole is None else whole
    logs = STEP * np.array(list(kinds), dtype=np.float64).reshape(-1, 2)
    scales, degrees = np.exp(logs).T
    number = np.array(list(kinds.values()), dtype=np.float64)
    return _expected_largest(scales * times**2 / sample.total_weight, 0.5 * degrees, number)


def _expected_largest(scales: Floats, shapes: Floats, number: Floats) -> float:
    """Return the mean of the largest of independent roots of gamma variables, some of each kind.

    Examples
    --------
    >>> half = np.array([0.5])
    >>> round(_expected_largest(np.ones(1), half, np.array([1000.0])), 1)  # of normal variables
    3.4
    """
    if number.sum() <= np.exp(-np.euler_gamma):
        return 0.0

    def excess(squared: float) -> float:
        tails = gammaincc(shapes, squared / (2.0 * scales))
        return float(np.log(float(number @ tails) + 1e-300) + np.euler_gamma)

    low = high = float(scales.max())
    while excess(low) < 0.0:
        low /= 4.0
    while excess(high) > 0.0:
        high *= 4.0
    while high > (1.0 + 1e-12) * low:  # by halves: scipy.optimize is slow to load
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if excess(middle) > 0.0 else (low, middle)
    return float(np.sqrt(np.sqrt(low * high)))


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """What scores are the largest of: whole tables, or single entries of them.

    A table has a part of each of its variables, an entry one of each of its states.
    """

    starts: Ints  # (n + 1,): where the parts of each variable start
    # scales, degrees: (parts,): logarithms of scale and degrees of freedom, in units of ``STEP``;
    # those of a table or entry are their sums
    scales: Ints
    degrees: Ints
    # (parts,): for how many independent ones a part counts: of s states s - 1 vary freely
    shares: Floats

    @staticmethod
    def of(problem: Problem) -> _Parts:
        """Return the parts that the penalty of a problem looks at."""
        sample = problem.objective.sample
        cards, f = sample.cards, sample.frequencies
        # of variables with missing cells, only rows that have both say something
        seen = sample.observed_weight / sample.total_weight
        if problem.penalty.separable:
            starts, shares = offsets(cards), np.repeat((cards - 1.0) / cards, cards)
            scales, degrees = f * (1.0 - f) * np.repeat(seen, cards), np.ones(len(f))
        else:
            spreads = [np.diag(p) - np.outer(p, p) for p in np.split(f, np.cumsum(cards)[:-1])]
            first = np.array([np.trace(spread) for spread in spreads])
            second = np.array([(spread**2).sum() for spread in spreads])
            varies = second > 0.0
            starts, shares = np.arange(len(cards) + 1), varies.astype(np.float64)
            scales, degrees = np.zeros(len(cards)), np.ones(len(cards))
            np.divide(second * seen, first * sample.declared, out=scales, where=varies)
            np.divide(first**2, second, out=degrees, where=varies)
        return _Parts(starts, _steps(scales), _steps(degrees), np.where(scales > 0.0, shares, 0.0))

    def count_all(self, variables: Ints) -> dict[tuple[int, int], float] | None:
        """Return how many tables, or entries, of all pairs have each scale and degree.

        They are counted by kinds of parts: pairs of any two, less those of one variable. None
        where there are too many kinds.
        """
        sizes = np.diff(self.starts)[variables]
        part = np.arange(int(sizes.sum())) + np.repeat(
            self.starts[variables] - offsets(sizes)[:-1], sizes
        )
        owner = np.repeat(np.arange(len(variables)), sizes)[self.shares[part] > 0.0]
        part = part[self.shares[part] > 0.0]
        own = np.stack([self.scales[part], self.degrees[part]], axis=1)
        kinds, which = np.unique(own, axis=0, return_inverse=True)
        if not len(kinds) or len(kinds) > MOST_KINDS:
            return {} if not len(kinds) else None
        which, shares = which.ravel(), self.shares[part]
        total = np.bincount(which, shares, minlength=len(kinds))
        number = np.outer(total, total)
        ends = np.append(np.flatnonzero(np.diff(owner)) + 1, len(owner))
        first = 0
        for last in ends.tolist():
            mine = which[first:last]
            np.subtract.at(number, np.ix_(mine, mine), np.outer(*(shares[first:last],) * 2))
            first = last
        sums = (kinds[:, None] + kinds[None]).reshape(-1, 2)
        found, place = np.unique(sums, axis=0, return_inverse=True)
        counts = 0.5 * np.bincount(place.ravel(), number.ravel(), minlength=len(found))
        return {
            (scale, degree): count
            for (scale, degree), count in zip(found.tolist(), counts.tolist(), strict=True)
            if count > 1e-6
        }

    def count(self, pairs: Ints, factors: Floats) -> dict[tuple[int, int], float]:
        """Return how many tables, or entries, of some pairs have each scale and degree."""
        sizes = np.diff(self.starts)[pairs]
        total = sizes.prod(axis=1)
        pair = np.repeat(np.arange(len(pairs)), total)
        within = np.arange(len(pair)) - np.repeat(offsets(total)[:-1], total)
        first = self.starts[pairs[pair, 0]] + within // sizes[pair, 1]
        second = self.starts[pairs[pair, 1]] + within % sizes[pair, 1]
        scales = self.scales[first] + self.scales[second] - 2 * _steps(factors)[pair]
        degrees = self.degrees[first] + self.degrees[second]
        shares = self.shares[first] * self.shares[second] * (factors[pair] > 0.0)
        low = scales.min(initial=0)
        span = int(degrees.max(initial=0)) + 1
        found, which = np.unique((scales - low) * span + degrees, return_inverse=True)
        number = np.bincount(which.ravel(), shares, minlength=len(found))
        keys = (((found // span + low).tolist()), (found % span).tolist())
        return {
            (scale, degree): count
            for scale, degree, count in zip(*keys, number.tolist(), strict=True)
            if count > 0.0
        }


def _count_parts(
    sample: EncodedRows, scores: Scores, pairs: Ints, factors: Floats
) -> dict[tuple[int, int], float]:
    """Return how many linear parts, and rests, of tables have each scale and degree."""
    pairs, factors = pairs[factors > 0], factors[factors > 0]
    pieces = np.split(sample.frequencies, np.cumsum(sample.cards)[:-1])
    spreads = [np.diag(p) - np.outer(p, p) for p in pieces]
    seen = sample.observed_weight / sample.total_weight
    along = [
        spread if not basis.shape[1] else basis.T @ spread @ basis
        for spread, basis in zip(spreads, scores.bases, strict=True)
    ]
    # sums of eigenvalues and of their squares, of whole tables and of their linear parts
    first, second = (
        np.array([[np.trace(m), (m**2).sum()] for m in some]) for some in (spreads, along)
    )
    whole, line = (some[pairs].prod(axis=1) for some in (first, second))
    rest = np.maximum(whole - line, 1e-300)
    found: dict[tuple[int, int], float] = {}
    scales = part_scales(scores, sample.declared, pairs)
    parts = 1 if scores.straight else 2
    for sums, own in zip((line, rest)[:parts], scales[:parts], strict=True):
        spread = sums[:, 1] / sums[:, 0] * seen[pairs].prod(axis=1)
        kinds = np.stack([
            _steps(spread / (own * factors) ** 2), _steps(sums[:, 0] ** 2 / sums[:, 1])
        ], axis=1)  # fmt: skip
        each, number = np.unique(kinds, axis=0, return_counts=True)
        for (scale, degree), count in zip(each.tolist(), number.tolist(), strict=True):
            found[scale, degree] = found.get((scale, degree), 0.0) + count
    return found


def _steps(values: Floats) -> Ints:
    """Return logarithms in units of ``STEP``, rounded."""
    return np.round(np.log(np.maximum(values, 1e-300)) / STEP).astype(np.int64)


def _batches(problem: Problem) -> Iterator[Ints]:
    """Yield all pairs, or a sample of very many: always the same one."""
    space = problem.space
    order = None
    if space.size > MOST_PAIRS:
        order = RandomOrder(space.size, np.random.default_rng(0))
    for start in range(0, min(space.size, MOST_PAIRS), BATCH):
        keys = np.arange(start, min(start + BATCH, space.size))
        yield space.pairs(keys if order is None else order.take(BATCH))


def _factors(problem: Problem, pairs: Ints) -> Floats:
    """Return what lambda is multiplied by for each pair."""
    space = problem.space
    factors = problem.family.factors_of(space, space.keys(pairs))
    return np.ones(len(pairs)) if factors is None else factors


def _largest(problem: Problem, pairs: Ints, gradients: Floats, offsets: Ints) -> float:
    """Return the largest score of some pairs, given their gradients, divided by their factors."""
    space = problem.space
    keys = space.keys(pairs)
    scores = problem.family.scores(space, problem.penalty, gradients, offsets, keys)
    factors = _factors(problem, pairs)
    scores = np.divide(scores, factors, out=np.zeros_like(scores), where=factors > 0)
    return float(scores.max(initial=0.0))


def _plain(problem: Problem) -> bool:
    """Return whether all pairs are scored alike, so that none need be listed."""
    sample = problem.objective.sample
    return not _weighed(problem) and sample.scores is None and sample.complete


def _weighed(problem: Problem) -> bool:
    """Return whether something is known about single pairs: factors, or pairs left out."""
    family = problem.family
    return isinstance(family, NetworkFamily) and family.prior is not None


def _first_network(problem: Problem) -> Potentials:
    """Return the network at an endless lambda: that of the pairs listed as not penalised."""
    alone, family = independent_potentials(problem.objective.sample), problem.family
    prior = family.prior if isinstance(family, NetworkFamily) else None
    if prior is None or not (prior.values == 0).any():
        return alone
    pairs = prior.pairs[prior.values == 0]
    pairs = pairs[np.isin(pairs, problem.variables).all(axis=1)]
    fitted: Potentials = refit(problem, with_pairs(alone, pairs), FREE_ACCURACY).point.potentials
    return fitted
