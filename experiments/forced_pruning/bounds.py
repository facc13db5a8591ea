"""What no pairwise network with so many edges can go below, on given rows of zeros and ones.

A network's conditional of a variable depends on its d neighbours alone, so its loss on the rows is
at least their conditional entropy there, for the best d neighbours; and at least that of the best
logistic regression on all other variables. M edges are 2M neighbours to share out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Regressions are solved to this gradient.
_EXACT = 1e-10
_MOST_STEPS = 100
#: Weights beyond this are on their way to infinity.
_SEPARATED = 100.0


def least_loss(rows: NDArray[Any], sizes: Sequence[int], neighbours: int) -> list[float]:
    """Return, for each number of edges, a mean negative log pseudo-likelihood nobody goes below.

    Parameters
    ----------
    rows : (N, n) array of 0 and 1
    sizes : sequence of int
        Numbers of edges.
    neighbours : int
        Sets of up to so many neighbours are looked at one by one; for more, all variables are
        taken for neighbours.

    Examples
    --------
    >>> rows = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
    >>> [float(round(value / np.log(2), 6)) for value in least_loss(rows, [0, 1], 2)]
    [3.0, 1.0]
    """
    different, counts = np.unique(np.asarray(rows, dtype=np.int64), axis=0, return_counts=True)
    shares = counts / counts.sum()
    of_sets = _least_entropies(different, shares, neighbours)
    floors = np.array([_regression(different, shares, i) for i in range(different.shape[1])])
    losses = np.maximum(of_sets, floors[:, None])
    return [_share_out(np.hstack([losses, floors[:, None]]), 2 * size) for size in sizes]


def _entropy(different: NDArray[np.int64], shares: Floats, chosen: Sequence[int]) -> float:
    codes = different[:, list(chosen)] @ (1 << np.arange(len(chosen)))
    p = np.bincount(codes, weights=shares)
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())


def _least_entropies(different: NDArray[np.int64], shares: Floats, neighbours: int) -> Floats:
    """Return (n, neighbours + 1) least conditional entropies of each variable given d others."""
    n = different.shape[1]
    least = np.full((n, neighbours + 1), np.inf)
    before: dict[tuple[int, ...], float] = {(): 0.0}
    for size in range(1, min(neighbours + 1, n) + 1):
        now: dict[tuple[int, ...], float] = {}
        for chosen in combinations(range(n), size):
            now[chosen] = _entropy(different, shares, chosen)
            for place, i in enumerate(chosen):
                others = chosen[:place] + chosen[place + 1 :]
                least[i, size - 1] = min(least[i, size - 1], now[chosen] - before[others])
        before = now
    result: Floats = np.minimum.accumulate(least, axis=1)
    return np.maximum(result, 0.0)


def _regression(different: NDArray[np.int64], shares: Floats, i: int) -> float:
    """Return the least loss of a logistic regression of variable i on all others.

    0 where it is not found (rows that can be separated), which is below it too.
    """
    x = np.delete(different, i, axis=1) * 1.0
    x = np.hstack([x, np.ones((len(x), 1))])
    y = different[:, i] * 1.0
    w = np.zeros(x.shape[1])
    for _ in range(_MOST_STEPS):
        z = x @ w
        p = 1.0 / (1.0 + np.exp(-z))
        gradient = x.T @ (shares * (p - y))
        if np.abs(gradient).max() < _EXACT:
            return float(shares @ (np.logaddexp(0.0, z) - y * z))
        curvature = (x.T * (shares * p * (1 - p))) @ x + 1e-12 * np.eye(len(w))
        step = np.linalg.solve(curvature, gradient)
        w = w - step * min(1.0, 5.0 / np.abs(step).max())
        if np.abs(w).max() > _SEPARATED:
            break
    return 0.0


def _share_out(losses: Floats, ends: int) -> float:
    """Return the least sum of one loss from each row whose columns add up to ``ends`` at most.

    The last column stands for any more neighbours than the one before it.
    """
    best = np.zeros(ends + 1)
    for line in losses:
        options = []
        for count, loss in enumerate(line[: ends + 1]):
            shifted = np.full(ends + 1, np.inf)
            shifted[count:] = best[: ends + 1 - count] + loss
            options.append(shifted)
        best = np.min(options, axis=0)
    return float(best.min())
