"""How much the edges at a lambda depend on which rows there happen to be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graftwork.grafting import PairSpace
from graftwork.inference.layout import Potentials
from graftwork.tuning.folds import Fold
from graftwork.tuning.path import Basis, PathEnd, PathPoint
from graftwork.tuning.walk import Walk


class Instability:
    """Networks of subsamples: the share of them that disagree about a pair.

    Parameters
    ----------
    walk : Walk
        Of all rows.
    folds : list of Fold
        The subsamples.
    threshold : float
        The largest instability that is accepted.
    size : int
        Observations in each subsample.
    """

    def __init__(self, walk: Walk, folds: list[Fold], threshold: float, size: int) -> None:
        self._folds, self._threshold = folds, threshold
        self.basis = Basis("stars", len(folds), size, threshold=threshold)
        self.walks = [walk.beside(fold.problem_at) for fold in folds]
        self._space: PairSpace = walk.problem_at(1.0).space
        self._worst = 0.0

    def look(self, lam: float) -> PathPoint:
        """Return the largest instability from the first lambda to this one."""
        fits = [walk.step(lam) for walk in self.walks]
        shares = np.concatenate([self._space.keys(fit.potentials.layout.edges) for fit in fits])
        self._worst = max(self._worst, instability(shares, len(fits), self._space.size))
        known = [fit.certificate for fit in fits]
        return PathPoint(
            lam,
            round(np.mean([fit.n_edges for fit in known])),
            float(np.mean([fit.loss for fit in known])),
            float(np.mean([fit.objective for fit in known])),
            criterion=self._worst,
        )

    def done(self, path: Sequence[PathPoint]) -> PathEnd | None:
        """Return whether the edges became unstable."""
        return "unstable" if path[-1].criterion > self._threshold else None

    def best(self, path: Sequence[PathPoint]) -> int:
        """Return the last lambda with stable edges, or the first of all."""
        stable = [k for k, point in enumerate(path) if point.criterion <= self._threshold]
        return stable[-1] if stable else 0

    def start(self, place: int) -> Potentials:
        """Return the network of the first subsample, for all rows."""
        return self._folds[0].lift(self.walks[0].fits[place].potentials)


def instability(keys: np.ndarray, n_networks: int, n_pairs: int) -> float:
    """Return the mean over all pairs of 2 p (1 - p), p being the share of networks with the pair.

    Parameters
    ----------
    keys : (edges,) int64
        The edges of all networks together, as numbers.

    Examples
    --------
    >>> instability(np.array([5, 5, 7]), 2, 4)
    0.125
    """
    if not n_pairs:
        return 0.0
    _, counts = np.unique(keys, return_counts=True)
    shares = counts / n_networks
    return float((2.0 * shares * (1.0 - shares)).sum() / n_pairs)
