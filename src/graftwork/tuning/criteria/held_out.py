"""Criteria that predict rows which were not learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graftwork.inference.layout import Potentials
from graftwork.registry import register
from graftwork.tuning.criteria import Judge, minimum, words_of_rises
from graftwork.tuning.folds import Fold, Folder, count_observations, deal, draw
from graftwork.tuning.path import LambdaPath, PathPoint


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
        named = f"on {count_observations(judged):,} rows held out"
        return _Predicting(path, [folder.fold(weights - judged, judged)], named)


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
        return _Predicting(path, folds, f"on rows held out, each of {len(parts)} parts in turn")


class _Predicting:
    """Networks learned from some rows predict the others."""

    def __init__(self, path: LambdaPath, folds: list[Fold], named: str) -> None:
        self._folds, self._named = folds, named
        self.paths = [path.sharing_log(fold.problem_at) for fold in folds]

    def look(self, lam: float) -> PathPoint:
        """Return the mean over the folds."""
        fits, scores = [], []
        for fold, path in zip(self._folds, self.paths, strict=True):
            fits.append(path.step(lam).certificate)
            scores.append(fold.score(path.fits[-1].potentials))
        held_out = float(np.average(scores, weights=[fold.weight for fold in self._folds]))
        return PathPoint(
            lam,
            round(np.mean([fit.n_edges for fit in fits])),
            float(np.mean([fit.loss for fit in fits])),
            float(np.mean([fit.objective for fit in fits])),
            criterion=held_out,
            held_out=held_out,
        )

    def done(self, path: Sequence[PathPoint]) -> str:
        """Return that it has risen often enough, if so."""
        return words_of_rises(path)

    def best(self, path: Sequence[PathPoint]) -> int:
        """Return where the minimum is."""
        return minimum(path)

    def start(self, place: int) -> Potentials:
        """Return the network of the first fold, for all rows."""
        return self._folds[0].lift(self.paths[0].fits[place].potentials)

    def words(self, point: PathPoint) -> str:
        """Return what speaks for it."""
        return (
            f"predicts best (negative log pseudo-likelihood {point.held_out:.5g} nats a row, "
            f"{self._named})"
        )
