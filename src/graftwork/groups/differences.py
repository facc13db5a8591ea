"""Tests of difference between groups, from what each says of a pair.

The groups' rows are independent of each other. With D the differences of a pair's parameters
between groups and S their covariance as the curvature has it, ``D' S^-1 D`` follows, where the
groups are equal, a sum of chi-squares weighted by the eigenvalues of ``S^-1 R``, R being the robust
covariance of D. It is compared with the chi-square of the same mean and variance, as tests of
edges are: a robust covariance of many parameters is too noisy to be inverted itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.optimize import brentq
from scipy.special import chdtr, chdtrc, chndtr, ndtri

from graftwork.groups.estimates import Estimates
from graftwork.groups.shared_states import SharedStates
from graftwork.inference.layout import Floats, Ints
from graftwork.significance.edge_tests import Findings, satterthwaite
from graftwork.significance.evidence import log_q_values
from graftwork.significance.tails import log_tail


@dataclass(frozen=True, slots=True, eq=False)
class Norms:
    """Norms of pairs' tables in each group, in the states that all groups have.

    What noise adds to a norm on average is taken off.
    """

    values: Floats  # (groups, pairs)
    raw: Floats  # (groups, pairs): before noise is taken off
    # of each group and pair: the scale and the number of dimensions of its noise
    noise: list[list[tuple[float, float]]]
    directions: list[list[Floats]]  # of each group and pair: how the norm moves with its parameters

    @staticmethod
    def of(groups: Sequence[Estimates]) -> Norms:
        """Return the norms of the pairs."""
        values, raw, noise, directions = [], [], [], []
        for each in groups:
            found = [_norm(w, r) for w, r in zip(each.values, each.robust, strict=True)]
            values.append([value for value, _ in found])
            raw.append([float(np.linalg.norm(w)) for w in each.values])
            noise.append([_noise(r) for r in each.robust])
            directions.append([direction for _, direction in found])
        shape = len(groups), len(groups[0].values)
        return Norms(
            np.array(values).reshape(shape), np.array(raw).reshape(shape), noise, directions
        )

    def interval(self, g: int, k: int, level: float) -> tuple[float, float]:
        """Return the interval of a pair's norm in a group."""
        (scale, df), norm = self.noise[g][k], float(self.raw[g, k])
        tail = 0.5 - 0.5 * level
        x = norm**2 / scale
        reach = float(ndtri(1.0 - tail) * np.sqrt(scale))
        if x > FAR:
            return max(0.0, float(self.values[g, k]) - reach), float(self.values[g, k]) + reach
        ends = [_noncentrality(x, df, p) for p in (1.0 - tail, tail)]
        low, high = (float(np.sqrt(scale * each)) for each in ends)
        return low, max(high, float(self.values[g, k]) + reach)  # not short by luck near 0

    def difference(self, g: int, h: int, k: int, level: float) -> tuple[float, float, float]:
        """Return the difference of a pair's norms in two groups, and its interval.

        Each end is as far from the difference as the ends of both norms' own intervals are
        from these, as the root of the sum of squares.

        References
        ----------
        Zou and Donner (2008), Construction of confidence limits about effect measures: a general
        approach, Statistics in Medicine (the method of variance estimates recovery).
        """
        first, second = float(self.values[g, k]), float(self.values[h, k])
        (low, high), (least, most) = (self.interval(each, k, level) for each in (g, h))
        away = first - second
        down = np.hypot(max(first - low, 0.0), max(most - second, 0.0))
        up = np.hypot(max(high - first, 0.0), max(second - least, 0.0))
        return away, away - float(down), away + float(up)


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Signed weights of pairs in each group: theta, as `PairwiseMRF.weight` has it."""

    # (groups, pairs): NaN where a pair has none: a variable of more than two states without an
    # order, or a curved table
    values: Floats
    steps: Floats  # (pairs,): the parameter of a pair whose weight is one
    estimates: Sequence[Estimates]  # of each group

    @staticmethod
    def of(groups: Sequence[Estimates], pairs: Ints, shared: SharedStates) -> Weights:
        """Return the weights of the pairs."""
        steps = np.array([shared.step(i, j) for i, j in pairs.tolist()])
        values = [
            [
                float(w[0]) / step if len(w) else np.nan
                for w, step in zip(each.values, steps, strict=True)
            ]
            for each in groups
        ]
        return Weights(np.array(values).reshape(len(groups), len(pairs)), steps, groups)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which pairs have a weight, shape (pairs,)."""
        return np.isfinite(self.steps)

    def difference(self, g: int, h: int, k: int, level: float) -> tuple[float, float, float]:
        """Return the difference of a pair's weights in two groups, and its normal interval.

        It holds zero where the test of the two groups says so.
        """
        away = float(self.values[g, k] - self.values[h, k])
        if not self.known[k]:
            return away, away, away
        two = [self.estimates[g], self.estimates[h]]
        spread, robust = (
            _between([getattr(each, name)[k] for each in two]) for name in ("spreads", "robust")
        )
        product = np.asarray(np.linalg.solve(spread, robust))
        scale, _ = satterthwaite(product, max(each.most for each in two))
        error = float(np.sqrt(scale * spread[0, 0]) / abs(self.steps[k]))
        reach = float(ndtri(0.5 + 0.5 * level)) * error
        return away, away - reach, away + reach


#: Beyond so many times the noise a norm is about normal.
FAR = 2500.0


def _noncentrality(x: float, df: float, p: float) -> float:
    """Return the noncentrality with which a chi-square is at most x with probability p.

    Examples
    --------
    >>> round(_noncentrality(25.0, 1.0, 0.975) ** 0.5, 2), _noncentrality(1.0, 1.0, 0.975)
    (3.04, 0.0)
    """
    if chdtr(df, x) <= p:
        return 0.0
    high = x + 20.0 * np.sqrt(x) + 50.0
    return float(brentq(lambda each: chndtr(x, df, each) - p, 0.0, high))


def _noise(covariance: Floats) -> tuple[float, float]:
    """Return the scale and the number of dimensions of noise with a covariance (Satterthwaite)."""
    first, second = float(np.trace(covariance)), float(np.sum(covariance * covariance.T))
    if not first > 0.0 < second:
        return 1e-12, 1.0
    return second / first, first * first / second


def _norm(values: Floats, covariance: Floats) -> tuple[float, Floats]:
    """Return the norm of a vector less what noise adds to it, and its slope.

    Noise along the vector moves its norm up and down; noise across makes it larger. The less is
    left, the more it moves with the vector, up to where all may be noise.

    Examples
    --------
    >>> value, _ = _norm(np.array([3.0, 0.0]), np.eye(2))
    >>> round(value, 3)
    2.828
    """
    norm, (scale, df) = float(np.linalg.norm(values)), _noise(covariance)
    direction = values / max(norm, 1e-12)
    across = float(np.trace(covariance) - direction @ covariance @ direction)
    left = float(np.sqrt(max(norm**2 - across, 0.0)))
    least = float(np.sqrt(scale * np.sqrt(2.0 * df)))
    return left, max(1.0, norm / max(left, least)) * direction


def differences(groups: Sequence[Estimates], pairs: Ints) -> Findings:
    """Return the test of each pair: are its parameters equal in all groups?"""
    found = []
    for k in range(len(pairs)):
        away, spread = contrast(groups, k)
        robust = _between([each.robust[k] for each in groups])
        product = np.asarray(np.linalg.solve(spread, robust), dtype=np.float64)
        scale, degrees = satterthwaite(product, max(each.most for each in groups))
        found.append((_quadratic(away, spread), scale, degrees))
    rises, scales, degrees_ = np.array(found).reshape(-1, 3).T
    statistics = rises / np.maximum(scales, 1e-12)
    return Findings(pairs, statistics, degrees_, log_tail(statistics, degrees_), rises)


def rises_of(groups: Sequence[Estimates], count: int) -> Floats:
    """Return the statistics of pairs before they are scaled, shape (pairs,)."""
    return np.array([_quadratic(*contrast(groups, k)) for k in range(count)])


def contrast(groups: Sequence[Estimates], k: int) -> tuple[Floats, Floats]:
    """Return the differences of pair k from the first group to each other one, and their spread."""
    first, *others = (each.values[k] for each in groups)
    away = np.concatenate([other - first for other in others])
    return away, _between([each.spreads[k] for each in groups])


def _between(covariances: Sequence[Floats]) -> Floats:
    """Return the covariance of the differences from the first of some vectors to each other one.

    Examples
    --------
    >>> _between([np.eye(1), 2 * np.eye(1), 3 * np.eye(1)])
    array([[3., 1.],
           [1., 4.]])
    """
    first, *others = covariances
    spread: Floats = np.asarray(block_diag(*others)) + np.tile(first, (len(others), len(others)))
    return spread


def _quadratic(away: Floats, spread: Floats) -> float:
    return float(away @ np.linalg.solve(spread, away))


def equal_sums(sums: Floats, variances: Floats) -> tuple[float, float, float]:
    """Return the test that independent numbers are equal: statistic, degrees of freedom, p-value.

    Examples
    --------
    >>> statistic, df, p = equal_sums(np.array([1.0, 1.0 + 1.96 * 2**0.5]), np.ones(2))
    >>> round(statistic, 2), df, round(p, 3)
    (3.84, 1.0, 0.05)
    """
    spread = _between([np.array([[max(each, 1e-12)]]) for each in variances.tolist()])
    statistic = _quadratic(sums[1:] - sums[0], spread)
    degrees = float(len(sums) - 1)
    return statistic, degrees, float(chdtrc(degrees, statistic))


def log_q_of_chosen(log_p: Floats, known: NDArray[np.bool_], n_pairs: int) -> Floats:
    """Return the logarithms of q-values of pairs, some of which were chosen for being different.

    The edges of the network of all rows were chosen whatever the groups' differences are. A pair
    that is an edge in one group alone has been chosen from all other pairs, and by half of what a
    difference is: its test counts as one of that many. Each kind has half of the rate (the method
    of Benjamini and Hochberg with weights). No q-value is less than its p-value.

    Shapes: log_p (k,) float64; known (k,) bool.

    References
    ----------
    Genovese, Roeder and Wasserman (2006), False discovery control with p-value weighting.
    """
    own = int(np.count_nonzero(known))
    others = n_pairs - own
    if own == 0 or others == 0:
        return log_q_values(log_p, n_pairs)
    shares = np.where(known, 2.0 * own / n_pairs, 2.0 * others / n_pairs)
    found = log_q_values(np.minimum(log_p + np.log(shares), 0.0), n_pairs)
    return np.maximum(found, log_p)
