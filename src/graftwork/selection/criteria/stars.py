"""StARS: how much the edges at a lambda depend on which rows there happen to be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graftwork.errors import DataError
from graftwork.grafting import PairSpace
from graftwork.selection.criteria import FoldsJudge, Judge
from graftwork.selection.folds import Fold, Folder, count_observations, draw
from graftwork.selection.path import Basis, LambdaPath, PathEnd, PathPoint


@dataclass(frozen=True, slots=True)
class Stars:
    """The least regularised network whose edges are stable over subsamples of the rows.

    References
    ----------
    Liu, Roeder and Wasserman (2010), Stability approach to regularization selection for high
    dimensional graphical models.
    """

    threshold: float = 0.1
    subsamples: int = 20
    size: int | None = None
    refits = False

    def __post_init__(self) -> None:
        if not 0 < self.threshold < 0.5:
            raise ValueError(f"threshold must lie between 0 and .5, got {self.threshold!r}")
        if self.subsamples != int(self.subsamples) or self.subsamples < 2:
            raise ValueError(
                f"subsamples must be a whole number of at least 2, got {self.subsamples!r}"
            )
        if self.size is not None and (self.size != int(self.size) or self.size < 1):
            raise ValueError(f"size must be a whole number of at least 1, got {self.size!r}")

    def begin(self, path: LambdaPath, folder: Folder, rng: np.random.Generator) -> Judge | None:
        """Return the judge."""
        weights = folder.weights
        count = count_observations(weights)
        if count < 2:
            return None
        size = self.size or max(1, min(int(10 * math.sqrt(count)), int(0.8 * count)))
        if size >= count:
            raise DataError(
                f"subsamples of {size:,} rows cannot be drawn from {count:,}; give a smaller size."
            )
        folds = [folder.fold(draw(weights, size, rng)) for _ in range(int(self.subsamples))]
        return Instability(path, folds, self.threshold, size)


class Instability(FoldsJudge):
    """Networks of subsamples: the share of them that disagree about a pair."""

    def __init__(self, path: LambdaPath, folds: list[Fold], threshold: float, size: int) -> None:
        basis = Basis("stars", len(folds), size, threshold=threshold)
        super().__init__(path, folds, basis)
        self._threshold = threshold
        self._space: PairSpace = path.problem_at(1.0).space
        self._worst = 0.0

    def look(self, lam: float) -> PathPoint:
        """Return the largest instability from the first lambda to this one."""
        fits = [path.step(lam) for path in self.paths]
        shares = np.concatenate([self._space.keys(fit.potentials.layout.edges) for fit in fits])
        self._worst = max(self._worst, instability(shares, len(fits), self._space.size))
        return self.mean(lam, fits, criterion=self._worst)

    def done(self, path: Sequence[PathPoint]) -> PathEnd | None:
        """Return whether the edges became unstable."""
        return "unstable" if path[-1].criterion > self._threshold else None

    def best(self, path: Sequence[PathPoint]) -> int:
        """Return the last lambda with stable edges, or the first of all."""
        stable = [k for k, point in enumerate(path) if point.criterion <= self._threshold]
        return stable[-1] if stable else 0


def instability(keys: np.ndarray, n_networks: int, n_pairs: int) -> float:
    """Return the mean over all pairs of 2 p (1 - p), p being the share of networks with the pair.

    Shapes: keys (edges,) int64.
    """
    if not n_pairs:
        return 0.0
    _, counts = np.unique(keys, return_counts=True)
    shares = counts / n_networks
    return float((2.0 * shares * (1.0 - shares)).sum() / n_pairs)
