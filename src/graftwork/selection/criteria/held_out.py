"""Criteria that predict rows which were not learned from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graftwork.inference.layout import Floats, Potentials
from graftwork.selection.criteria import FoldsJudge, Judge, Learn
from graftwork.selection.folds import Folder, count_observations, deal, draw
from graftwork.selection.path import Basis, LambdaPath, PathPoint


@dataclass(frozen=True, slots=True)
class HoldOut:
    """The rows of one random share are predicted by networks learned from the others."""

    share: float = 0.2
    refits = False

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ValueError(f"share must lie between 0 and 1, got {self.share!r}")

    def begin(self, path: LambdaPath, folder: Folder, rng: np.random.Generator) -> Judge | None:
        """Return the judge."""
        weights = folder.weights
        count = count_observations(weights)
        if count < 2:
            return None
        judged = draw(weights, min(max(round(self.share * count), 1), count - 1), rng)
        basis = Basis("held-out", n_rows=count_observations(judged))
        return _Predicting(path, [folder.fold(weights - judged, judged)], basis)


@dataclass(frozen=True, slots=True)
class KFold:
    """Each of several shares of the rows is predicted by networks learned from the others."""

    folds: int = 3
    refits = False

    def __post_init__(self) -> None:
        if self.folds != int(self.folds) or self.folds < 2:
            raise ValueError(f"folds must be a whole number of at least 2, got {self.folds!r}")

    def begin(self, path: LambdaPath, folder: Folder, rng: np.random.Generator) -> Judge | None:
        """Return the judge."""
        weights = folder.weights
        if count_observations(weights) < 2:
            return None
        parts = deal(weights, int(self.folds), rng)
        folds = [folder.fold(weights - part, part) for part in parts]
        basis = Basis("held-out", len(parts), count_observations(weights))
        return _Predicting(path, folds, basis)


class _Predicting(FoldsJudge):
    """Networks learned from some rows predict the others."""

    smooth = True

    def look(self, lam: float) -> PathPoint:
        """Return the mean over the folds."""
        fits = [path.step(lam) for path in self.paths]
        held_out = self._mean(self._losses([fit.potentials for fit in fits]))
        return self.mean(lam, fits, criterion=held_out, held_out=held_out)

    def judged(self, learn: Learn, near: int, best: int) -> tuple[float, float]:
        """Return how well networks learned in another way predict the same rows; by how much less.

        The second number is over its standard error.
        """
        parts = zip(self.folds, self.paths, strict=True)
        others = self._losses(
            [learn(f.problem_at, path.fits[near].potentials) for f, path in parts]
        )
        excess = others - self._losses([path.fits[best].potentials for path in self.paths])
        mean = self._mean(excess)
        spread = math.sqrt(self._mean((excess - mean) ** 2) / max(1, self.basis.n_rows))
        return self._mean(others), mean / spread if spread > 0.0 else 0.0

    def _losses(self, networks: Sequence[Potentials]) -> Floats:
        """Return how badly each fold's network predicts each of its rows, fold after fold."""
        parts = zip(self.folds, networks, strict=True)
        return np.concatenate([fold.losses(potentials) for fold, potentials in parts])

    def _mean(self, losses: Floats) -> float:
        """Return the mean over all rows."""
        weights = np.concatenate([fold.weights for fold in self.folds])
        return float(np.average(losses, weights=weights))
