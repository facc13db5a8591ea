"""What says which lambda of a path is best: one file for each kind of criterion.

A criterion is frozen configuration. At the beginning of a path it makes a ``Judge``, which looks at
one lambda after the other.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from graftwork.grafting import Outcome, Problem
from graftwork.inference.layout import Potentials
from graftwork.registry import CRITERIA as CRITERIA
from graftwork.selection.folds import Fold, Folder
from graftwork.selection.path import Basis, LambdaPath, PathEnd, PathPoint

# Rises in a row after which a criterion is not followed further: there may be several minima near
# each other.
RISES = 3
# Equal networks may differ by this, relatively.
ROUNDING = 1e-9


def minimum(path: Sequence[PathPoint]) -> int:
    """Return where the criterion is smallest; of equal ones the largest lambda."""
    return int(np.argmin([point.criterion for point in path]))


def has_risen(path: Sequence[PathPoint]) -> bool:
    """Return whether the criterion has risen often enough in a row."""
    last = [point.criterion for point in path[-RISES - 1 :]]
    rises = [b - a > ROUNDING * abs(a) for a, b in pairwise(last)]
    return len(rises) == RISES and all(rises)


#: What learns a network in another way: from a problem, as a function of lambda, and a start.
Learn = Callable[[Callable[[float], Problem], Potentials], Potentials]


class Judge(ABC):
    """Looks at one lambda after the other, from large to small, for the smallest criterion."""

    smooth = False

    def __init__(self, paths: Sequence[LambdaPath], basis: Basis) -> None:
        self.paths, self.basis = paths, basis

    @abstractmethod
    def look(self, lam: float) -> PathPoint:
        """Return what becomes of the next lambda."""

    def done(self, path: Sequence[PathPoint]) -> PathEnd | None:
        """Return why smaller lambdas need not be looked at; None if they should."""
        return "rises" if has_risen(path) else None

    def best(self, path: Sequence[PathPoint]) -> int:
        """Return the place of the best lambda so far."""
        return minimum(path)

    def start(self, place: int) -> Potentials:
        """Return a network of all rows near the one at a lambda."""
        potentials: Potentials = self.paths[0].fits[place].potentials
        return potentials

    def judged(self, learn: Learn, near: int, best: int) -> tuple[float, float] | None:
        """Return the criterion of networks that are learned in another way; None if it has none."""
        return None


class FoldsJudge(Judge):
    """A judge of networks that are learned from parts of the rows."""

    def __init__(self, path: LambdaPath, folds: Sequence[Fold], basis: Basis) -> None:
        super().__init__([path.sharing_log(fold.problem_at) for fold in folds], basis)
        self.folds = folds

    def start(self, place: int) -> Potentials:
        """Return the network of the first part, for all rows."""
        return self.folds[0].lift(super().start(place))

    def mean(
        self, lam: float, fits: Sequence[Outcome], criterion: float, held_out: float = math.nan
    ) -> PathPoint:
        """Return the mean of the parts' fits, with what was judged."""
        known = [fit.certificate for fit in fits]
        return PathPoint(
            lam,
            round(np.mean([fit.n_edges for fit in known])),
            float(np.mean([fit.loss for fit in known])),
            float(np.mean([fit.objective for fit in known])),
            criterion=criterion,
            held_out=held_out,
        )


class Criterion(Protocol):
    """How the best lambda of a path is found."""

    @property
    def refits(self) -> bool:
        """Whether the edges at the lambda chosen are fitted again without the penalty."""
        ...

    def begin(self, path: LambdaPath, folder: Folder, rng: np.random.Generator) -> Judge | None:
        """Return the judge of a path; None if there are too few rows to judge anything."""
        ...
