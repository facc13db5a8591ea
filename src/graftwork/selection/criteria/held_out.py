"""Criteria that predict rows which were not learned from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.registry import register
from graftwork.selection.criteria import FoldsJudge, Judge
from graftwork.selection.folds import Folder, count_observations, deal, draw
from graftwork.selection.path import Basis, LambdaPath, PathPoint


@register("hold-out", goals=("prediction",))
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


@register("k-fold", goals=("prediction",))
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
        parts = zip(self.folds, fits, strict=True)
        scores = [fold.score(fit.potentials) for fold, fit in parts]
        held_out = float(np.average(scores, weights=[fold.weight for fold in self.folds]))
        return self.mean(lam, fits, criterion=held_out, held_out=held_out)
