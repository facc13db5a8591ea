"""What says which lambda of a path is best: one file for each kind of criterion.

A criterion is frozen configuration. At the beginning of a path it makes a ``Judge``, which looks at
one lambda after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from graftwork.inference.layout import Potentials
from graftwork.registry import Registry
from graftwork.tuning.folds import Folder
from graftwork.tuning.path import LambdaPath, PathPoint

# Rises in a row after which a criterion is not followed further: there may be several minima near
# each other.
RISES = 3
# Equal networks may differ by this, relatively.
ROUNDING = 1e-9


class Judge(Protocol):
    """Looks at one lambda after the other, from large to small."""

    @property
    def paths(self) -> Sequence[LambdaPath]:
        """What is fitted at each lambda."""
        ...

    def look(self, lam: float) -> PathPoint:
        """Return what becomes of the next lambda."""
        ...

    def done(self, path: Sequence[PathPoint]) -> str:
        """Return why smaller lambdas need not be looked at, in words; nothing if they should."""
        ...

    def best(self, path: Sequence[PathPoint]) -> int:
        """Return the place of the best lambda so far."""
        ...

    def start(self, place: int) -> Potentials:
        """Return a network of all rows near the one at a lambda."""
        ...

    def words(self, point: PathPoint) -> str:
        """Return what speaks for the lambda chosen, for people."""
        ...


class Criterion(Protocol):
    """How the best lambda of a path is found."""

    @property
    def refits(self) -> bool:
        """Whether the edges at the lambda chosen are fitted again without the penalty."""
        ...

    def begin(self, path: LambdaPath, folder: Folder, rng: np.random.Generator) -> Judge | None:
        """Return the judge of a path; None if there are too few rows to judge anything."""
        ...


#: Criteria by name; the trait "goals" says what each serves.
CRITERIA: Registry[Criterion] = Registry(__name__)


def minimum(path: Sequence[PathPoint]) -> int:
    """Return where the criterion is smallest; of equal ones the largest lambda."""
    return int(np.argmin([point.criterion for point in path]))


def words_of_rises(path: Sequence[PathPoint]) -> str:
    """Return that the criterion has risen often enough in a row, if it has."""
    last = [point.criterion for point in path[-RISES - 1 :]]
    rises = [b - a > ROUNDING * abs(a) for a, b in pairwise(last)]
    rising = len(rises) == RISES and all(rises)
    return f"it had risen for {RISES} values in a row" if rising else ""
