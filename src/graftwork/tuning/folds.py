"""Some of the rows to learn from, and the others to judge by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from graftwork.grafting import Problem
from graftwork.inference.layout import Floats, Potentials


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Rows to learn from, and perhaps rows to judge by.

    Attributes
    ----------
    problem_at : function
        The problem of the rows to learn from, with a given lambda.
    lift : function
        A network of that problem as one of the problem of all rows (states that the former lacks
        get little weight).
    score : function
        Mean negative log pseudo-likelihood of the rows to judge by, always finite: a state that
        was not learned from counts as half an observation.
    weight : float
        Total weight of the rows to judge by.
    """

    problem_at: Callable[[float], Problem]
    lift: Callable[[Potentials], Potentials]
    score: Callable[[Potentials], float]
    weight: float


class Folder(Protocol):
    """Makes folds of the rows there are."""

    @property
    def weights(self) -> Floats:
        """Weight of each row, shape (rows,)."""
        ...

    def fold(self, learned: Floats, judged: Floats | None = None) -> Fold:
        """Return the fold of rows with these weights."""
        ...
