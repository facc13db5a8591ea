"""Intervals of weights that are shown because they were large enough.

An edge is there because its test passed, so its weight is one of those that chance made larger.
With an estimate w of standard error 1 that would not be shown between -c and c, P(W >= w | shown)
rises with the true value: where it is .025 lies the lower end of an interval that allows for the
selection, where it is .5 an estimate that is too large as often as too small. Far above the limit
both are what they would be without it. The upper end is left as it is, since selection makes no
weight smaller.

References
----------
Zhong and Prentice (2008), Bias-reduced estimators and confidence intervals for odds ratios in
genome-wide association studies.
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtri, log_ndtr, ndtri

from graftwork.inference.layout import Floats

# Halvings of the range in which an end is looked for.
HALVINGS = 40


def least_shown(weights: Floats, errors: Floats, statistics: Floats, needed: Floats) -> Floats:
    """Return the size that weights needed for their tests to pass, all else equal.

    A statistic falls with its weight's own square, by what its table has beside the weight not at
    all. 0 where the test does not pass: such an edge is there for another reason.

    Shapes: statistics, needed (k,) float64.
    """
    squares = (weights / errors) ** 2 - (statistics - needed)
    limits = errors * np.sqrt(np.maximum(squares, 0.0))
    return np.where(statistics >= needed, limits, 0.0)


def needed_statistics(log_p: float, degrees: Floats) -> Floats:
    """Return the chi-squares whose p-value has this logarithm."""
    found: Floats = chdtri(degrees, np.exp(log_p))
    return found


def interval_of_shown(
    weights: Floats, errors: Floats, limits: Floats, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return the ends of intervals of weights that are shown where they are larger than limits.

    Of the end next to zero it is known that the weight is shown; zero itself is its limit, since
    the test of the edge says on which side of it the weight is.
    """
    sizes, signs = np.abs(weights), np.sign(weights)
    reach = ndtri((1.0 + level) / 2.0) * errors
    without = sizes - reach
    inner = np.minimum(without, shrunk(sizes, errors, limits, (1.0 - level) / 2.0))
    inner = np.where(limits > 0.0, inner, without)
    ends = np.stack([signs * inner, signs * (sizes + reach)])
    ends = np.where(signs == 0, np.stack([-reach, reach]), ends)
    return ends.min(axis=0), ends.max(axis=0)


def shrunk(sizes: Floats, errors: Floats, limits: Floats, tail: float = 0.5) -> Floats:
    """Return the true sizes at which sizes at least as large as these are shown so often.

    0 where even without any dependence they would be more often.
    """
    known = np.isfinite(sizes) & np.isfinite(errors) & (errors > 0.0)
    out = np.full(len(sizes), np.nan)
    z, c = sizes[known] / errors[known], limits[known] / errors[known]
    low, high = np.zeros(len(z)), z + 10.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        shown = np.logaddexp(log_ndtr(middle - c), log_ndtr(-c - middle))
        rare = log_ndtr(middle - z) - shown < np.log(tail)
        low, high = np.where(rare, middle, low), np.where(rare, high, middle)
    out[known] = 0.5 * (low + high) * errors[known]
    out[known] = np.where(out[known] < 1e-9 * sizes[known], 0.0, out[known])
    return out
