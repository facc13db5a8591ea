"""What of a table can be compared: the states that all groups have, rare ones pooled.

A pair's table acts through differences between states. Those that are compared are differences
between pooled states: a frequent state alone, and all states that are rare in some group together,
each counting by its rows in the group that has fewest of them. A state that a group lacks does not
count; the groups that have it fit it all the same.

Of an ordered variable whose table with another is linear, the direction of its scores is compared.
It is the same in all groups, whichever states they have: a slope per unit of score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graftwork.data.encoded import EncodedRows
from graftwork.data.scores import polynomials
from graftwork.inference.layout import Floats, Ints
from graftwork.objectives.contrasts import basis_of
from graftwork.significance.pooling import LEAST_COUNT, pool

Curved = frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The differences between states of one variable that are compared."""

    contrasts: Floats  # (k, s): over all declared states; rows sum to zero
    members: tuple[Ints, ...]  # which states are in each of its pooled states
    # (pooled states, k): the parameters as values of the pooled states, which sum to zero
    basis: Floats
    step: float  # what the one contrast makes of the scores


@dataclass(frozen=True, slots=True, eq=False)
class SharedStates:
    """The differences between states that are compared."""

    whole: tuple[Side, ...]  # of each variable in whole tables
    # of each variable in linear tables; the same as whole for variables without an order
    linear: tuple[Side, ...]
    curved: Curved  # the pairs of which whole tables are compared although a variable is ordered
    # (n,): whether one of the pooled states still has fewer than ten rows in some group; of
    # variables of which only the slope along their scores is compared, False
    rare: NDArray[np.bool_]

    @staticmethod
    def of(
        samples: Sequence[EncodedRows],
        scores: Sequence[Floats | None] = (),
        degree: int = 1,
        curved: Curved = frozenset(),
    ) -> SharedStates:
        """Return what can be compared between some groups, whose declared states are the same."""
        counts = [_counts(sample) for sample in samples]
        fewest = [np.min(each, axis=0) for each in zip(*counts, strict=True)]
        known = list(scores) or [None] * len(fewest)
        found = [_pooled(few, own) for few, own in zip(fewest, known, strict=True)]
        whole = tuple(side for side, _ in found)
        linear = tuple(
            side if own is None else _along(few, own, degree)
            for side, few, own in zip(whole, fewest, known, strict=True)
        )
        bent = {i for pair in curved for i in pair}
        rare = [
            bool(few_rows and (known[i] is None or i in bent))
            for i, (_, few_rows) in enumerate(found)
        ]
        return SharedStates(whole, linear, curved, np.array(rare))

    @property
    def contrasts(self) -> tuple[Floats, ...]:
        """The differences of each variable in whole tables."""
        return tuple(side.contrasts for side in self.whole)

    @property
    def members(self) -> tuple[tuple[Ints, ...], ...]:
        """The pooled states of each variable in whole tables."""
        return tuple(side.members for side in self.whole)

    def sides(self, i: int, j: int) -> tuple[Side, Side]:
        """Return what is compared of both variables of a pair, ``i < j``."""
        sides = self.whole if (i, j) in self.curved else self.linear
        return sides[i], sides[j]

    def table(self, values: Floats, i: int, j: int) -> Floats:
        """Return a pair's parameters as a double-centred table of its pooled states."""
        first, second = (side.basis for side in self.sides(i, j))
        return np.asarray(first @ values.reshape(first.shape[1], -1) @ second.T)

    def step(self, i: int, j: int) -> float:
        """Return the parameter of a pair whose weight is one; NaN where a pair has no weight.

        A pair has one where both variables are binary or ordered and their table is linear.
        """
        if (i, j) in self.curved:
            return float("nan")
        first, second = self.sides(i, j)
        return first.step * second.step

    @property
    def varying(self) -> NDArray[np.bool_]:
        """Which variables can be compared, shape (n,)."""
        return np.array([len(side.contrasts) > 0 for side in self.whole])


def _counts(sample: EncodedRows) -> list[Floats]:
    """Return how often each declared state of each variable occurs."""
    out = []
    margins = np.split(np.asarray(sample.counts.margins, dtype=np.float64), np.cumsum(sample.cards))
    for declared, kept, some in zip(sample.declared, sample.kept, margins[:-1], strict=True):
        each = np.zeros(int(declared))
        each[kept] = some
        out.append(each)
    return out


def _nothing(n_states: int) -> Side:
    """Return a variable of which nothing can be compared."""
    return Side(np.zeros((0, n_states)), (), np.zeros((0, 0)), float("nan"))


def _pooled(fewest: Floats, scores: Floats | None = None) -> tuple[Side, bool]:
    """Return differences between pooled states, and whether one of these is rare.

    Shapes: fewest (s,) float64.

    Examples
    --------
    >>> side, rare = _pooled(np.array([50.0, 0.0, 40.0]))
    >>> side.contrasts.round(2).tolist(), [each.tolist() for each in side.members], rare
    ([[0.71, 0.0, -0.71]], [[0], [2]], False)
    >>> len(_pooled(np.array([50.0, 0.0]))[0].contrasts)
    0
    """
    shared = np.flatnonzero(fewest > 0)
    if len(shared) < 2:
        return _nothing(len(fewest)), False
    groups = pool(fewest[shared])
    means = np.zeros((int(groups.max()) + 1, len(fewest)))
    means[groups, shared] = fewest[shared]
    totals = means.sum(axis=1)
    basis = basis_of(np.arange(len(means)))
    rows = basis.T @ (means / totals[:, None])
    members = tuple(np.flatnonzero(row) for row in means)
    if scores is None and len(fewest) == 2:
        scores = np.arange(2.0)
    side = Side(rows, members, basis, _step(rows, scores))
    return side, bool(totals.min() < LEAST_COUNT)


def _along(fewest: Floats, scores: Floats, degree: int) -> Side:
    """Return the directions of the scores of an ordered variable.

    Examples
    --------
    >>> side = _along(np.array([50.0, 0.0, 2.0, 40.0]), np.array([1.0, 2.0, 4.0, 5.0]), 1)
    >>> side.contrasts.round(2).tolist(), round(side.step, 2)
    ([[-0.79, 0.0, 0.23, 0.57]], 2.94)
    """
    shared = np.flatnonzero(fewest > 0)
    if len(shared) < 2:
        return _nothing(len(fewest))
    basis = polynomials(scores[shared], min(degree, len(shared) - 1))
    rows = np.zeros((basis.shape[1], len(fewest)))
    rows[:, shared] = basis.T
    return Side(rows, tuple(shared[:, None]), basis, _step(rows, scores))


def _step(contrasts: Floats, scores: Floats | None) -> float:
    """Return what a single contrast makes of the scores."""
    if scores is None or len(contrasts) != 1:
        return float("nan")
    own = contrasts[0]
    return float(own[own != 0.0] @ scores[own != 0.0])
