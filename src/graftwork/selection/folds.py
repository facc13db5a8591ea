"""Some of the rows to learn from, and the others to judge by.

Whole numbers as weights are counts: a row of weight 3 is three observations, which may fall into
different shares, just as three equal rows would. Any other weights say how much an observation
matters, and a row goes into one share whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from graftwork.grafting import Problem
from graftwork.inference.layout import Floats, Potentials

# Weights that sum to more than this are not taken for counts.
MOST_COUNTS = 10**9


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Rows to learn from, and perhaps rows to judge by."""

    # the problem of the rows to learn from, with a given lambda
    problem_at: Callable[[float], Problem]
    # A network of that problem as one of the problem of all rows (states that the former lacks get
    # little weight)
    lift: Callable[[Potentials], Potentials]
    # negative log pseudo-likelihood of each row to judge by, always finite: a state that was not
    # learned from counts as half an observation
    losses: Callable[[Potentials], Floats]
    weights: Floats  # (rows to judge by,)


class Folder(Protocol):
    """Makes folds of the rows there are."""

    @property
    def weights(self) -> Floats:
        """Weight of each row, shape (rows,)."""
        ...

    def fold(self, learned: Floats, judged: Floats | None = None) -> Fold:
        """Return the fold of rows with these weights."""
        ...


def count_observations(weights: Floats) -> int:
    """Return how many observations there are to share out."""
    return int(weights.sum()) if are_counts(weights) else int(np.count_nonzero(weights))


def are_counts(weights: Floats) -> bool:
    """Return whether weights are numbers of equal observations.

    Examples
    --------
    >>> are_counts(np.array([2.0, 1.0])), are_counts(np.array([0.5, 1.0]))
    (True, False)
    """
    return bool((weights == np.floor(weights)).all() and weights.sum() < MOST_COUNTS)


def draw(weights: Floats, size: int, rng: np.random.Generator) -> Floats:
    """Return how much of each row's weight is in a random share of ``size`` observations.

    Examples
    --------
    >>> draw(np.array([2.0, 0.0, 1.0]), 3, np.random.default_rng(0))
    array([2., 0., 1.])
    """
    if are_counts(weights):
        drawn = rng.multivariate_hypergeometric(weights.astype(np.int64), size, method="marginals")
        return drawn.astype(np.float64)
    part = np.zeros_like(weights)
    rows = rng.permutation(np.flatnonzero(weights))[:size]
    part[rows] = weights[rows]
    return part


def deal(weights: Floats, parts: int, rng: np.random.Generator) -> list[Floats]:
    """Return the rows dealt out into parts of (nearly) the same number of observations.

    There are no more parts than observations.
    """
    left, dealt = weights.copy(), []
    parts = min(parts, count_observations(weights))
    # Counts stay counts when some are taken away, so the number left is known.
    for still in range(parts, 0, -1):
        part = draw(left, count_observations(left) // still, rng)
        dealt.append(part)
        left = left - part
    return dealt
