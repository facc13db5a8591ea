"""Mutual information of many pair tables at once."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

# Closer to zero than this the excess is a power series: the closed form would cancel.
SMALL = 0.01


@njit(cache=True, nogil=True)
def excess(delta):
    """Return (1 + delta) log(1 + delta) - delta, which is never negative."""
    if delta <= -1.0:
        return 1.0
    if abs(delta) > SMALL:
        return (1.0 + delta) * math.log1p(delta) - delta
    series = 0.0
    for k in range(9, 1, -1):  # sum over k >= 2 of (-delta)^k / (k (k - 1))
        series = series * -delta + 1.0 / (k * (k - 1))
    return series * delta * delta


@njit(cache=True, nogil=True)
def information_of_tables(pairs, cards, counts, starts, margins, margin_offsets, total, out):
    """Fill ``out`` with the mutual information of each pair's table of counts, in nats.

    With p the joint frequency and q the product of the margins it is the sum over cells of
    q ((p/q) log(p/q) - p/q + 1): every term is at least 0, and exactly 0 where the cell has the
    count that independence gives. Terms are summed in ascending order, so that the number does not
    depend on the order of states or of the two variables.
    """
    most = 1
    for t in range(len(pairs)):
        most = max(most, starts[t + 1] - starts[t])
    terms = np.empty(most)
    for t in range(len(pairs)):
        i, j = pairs[t]
        width, size = cards[j], starts[t + 1] - starts[t]
        for c in range(size):
            a = float(margins[margin_offsets[i] + c // width])
            b = float(margins[margin_offsets[j] + c % width])
            expected = a * b
            if expected > 0.0:
                delta = (counts[starts[t] + c] * total - expected) / expected
                terms[c] = expected * excess(delta)
            else:
                terms[c] = 0.0
        ordered = terms[:size]
        ordered.sort()
        information = 0.0
        for c in range(size):
            information += ordered[c]
        out[t] = information / (total * total)
