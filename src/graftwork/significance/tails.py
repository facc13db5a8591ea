"""Tails of chi-squares, as logarithms."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc, gammaln

from graftwork.inference.layout import Floats


def log_tail(statistics: Floats, degrees: Floats) -> Floats:
    """Return the logarithm of the chance that a chi-square exceeds each statistic."""
    with np.errstate(divide="ignore"):
        log_p: Floats = np.asarray(np.log(chdtrc(degrees, statistics)))
    far = np.isneginf(log_p)
    if far.any():
        x, half = statistics[far] / 2.0, degrees[far] / 2.0
        log_p[far] = (half - 1.0) * np.log(x) - x - gammaln(half)  # the tail's first term
    capped: Floats = np.minimum(log_p, 0.0)
    return capped
