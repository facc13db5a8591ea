"""Which of many tests to believe: the false discovery rate."""

from __future__ import annotations

import numpy as np

from graftwork.inference.layout import Floats


def log_q_values(log_p: Floats, n_tests: int) -> Floats:
    """Return the logarithm of each test's q-value among ``n_tests``.

    The q-value is the smallest false discovery rate at which the test counts as a discovery. Tests
    that are not given have a p-value of 1.

    Examples
    --------
    >>> np.exp(log_q_values(np.log([0.01, 0.5, 0.02]), 4)).round(3).tolist()
    [0.04, 0.667, 0.04]

    References
    ----------
    Benjamini and Hochberg (1995), Controlling the false discovery rate.
    """
    order = np.argsort(log_p, kind="stable")
    ranks = np.arange(1, len(order) + 1)
    scaled = log_p[order] + np.log(max(1, n_tests) / ranks)
    falling = np.minimum.accumulate(scaled[::-1])[::-1]
    out = np.empty(len(order))
    out[order] = np.minimum(falling, 0.0)
    return out
