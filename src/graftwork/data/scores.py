"""Scores of ordered variables: the directions along which their tables are straight lines."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# The prior of refits is standard normal for every entry of a table. That of a linear part has this
# precision, for the mean square of its entries (docs/decisions/ordered.md).
LINEAR_PRECISION = 1.0 / 9.0


@dataclass(frozen=True, eq=False)
class Scores:
    """Orthonormal columns that sum to zero, for each ordered variable.

    The table of two ordered variables has a *linear part*, B_i theta B_j', with B the columns of
    each, and a rest. Where one of the two is not ordered, all its differences between states count
    as columns.

    Attributes
    ----------
    bases : tuple of (s_i, k_i) float64
        With k_i = 0 for variables that are not ordered, or have no more than k_i + 1 states: there
        a straight line is all there is.
    straight : bool
        Whether tables have their linear parts alone.

    Examples
    --------
    >>> scores = Scores.of([np.arange(3.0), None, np.arange(2.0)], np.array([3, 4, 2]))
    >>> scores.sizes, scores.bases[0][[0, 2]].round(2).ravel()
    (array([1, 0, 0]), array([-0.71,  0.71]))
    >>> scores.split(np.array([[0, 1], [1, 2]]))
    array([ True, False])
    >>> scores.degrees(np.array([[0, 1], [0, 2]]))
    (array([3, 1]), array([6, 2]))
    """

    bases: tuple[Floats, ...]
    straight: bool = False

    @staticmethod
    def of(
        scores: Sequence[Floats | None], cards: Ints, degree: int = 1, *, straight: bool = False
    ) -> Scores:
        """Return the columns of polynomials of the scores, up to a degree.

        Parameters
        ----------
        scores : sequence of (s_i,) float64 or None
            One for each state; None for a variable that is not ordered.
        """
        both = zip(scores, cards, strict=True)
        return Scores(tuple(_basis(own, int(card), degree) for own, card in both), straight)

    @cached_property
    def sizes(self) -> Ints:
        """Number of columns of each variable."""
        return np.array([basis.shape[1] for basis in self.bases], dtype=np.int64)

    @cached_property
    def cards(self) -> Ints:
        """Number of states of each variable."""
        return np.array([len(basis) for basis in self.bases], dtype=np.int64)

    @cached_property
    def starts(self) -> Ints:
        """Where each variable's columns start in ``values``."""
        return np.concatenate([[0], np.cumsum(self.sizes * self.cards)]).astype(np.int64)

    @cached_property
    def values(self) -> Floats:
        """All columns, row by row, one variable after the other."""
        return np.concatenate([np.zeros(0), *(basis.ravel() for basis in self.bases)])

    @cached_property
    def widths(self) -> Ints:
        """Of each variable the rows that a linear table has for it: columns, or states."""
        return np.where(self.sizes > 0, self.sizes, self.cards)

    def take(self, variables: Ints) -> Scores:
        """Return the columns of some variables.

        Examples
        --------
        >>> Scores.of([np.arange(3.0), None], np.array([3, 4])).take(np.array([1, 0])).widths
        array([4, 1])
        """
        return Scores(tuple(self.bases[i] for i in variables.tolist()), self.straight)

    def split(self, pairs: Ints) -> NDArray[np.bool_]:
        """Return which pairs' tables have a linear part and a rest."""
        return np.asarray((self.sizes[pairs] > 0).any(axis=1))

    def degrees(self, pairs: Ints) -> tuple[Ints, Ints]:
        """Return the degrees of freedom of the linear part, and of the whole table, of pairs."""
        free = self.cards - 1
        linear = np.where(self.sizes > 0, self.sizes, free)
        return linear[pairs].prod(axis=1), free[pairs].prod(axis=1)


@dataclass(frozen=True, slots=True)
class Ordered:
    """Which variables of a table are ordered, by the scores of their states."""

    scores: Mapping[Hashable, Mapping[Hashable, float]]
    degree: int = 1  # the largest power of scores that counts as linear part
    # the variables that nobody called ordered and that are taken as such, for their whole numbers
    taken: tuple[Hashable, ...] | None = None
    straight: bool = False  # whether tables have their linear parts alone

    @staticmethod
    def by_rank(states: Mapping[Hashable, Iterable[Hashable]]) -> Ordered:
        """Return variables whose states are listed in order: scores are 0, 1, 2, ..."""
        return Ordered({
            name: {state: float(rank) for rank, state in enumerate(listed)}
            for name, listed in states.items()
        })  # fmt: skip

    def among(
        self,
        names: Sequence[Hashable],
        states: Sequence[Sequence[Hashable]],
        kept: Sequence[Sequence[int] | Ints],
    ) -> Scores | None:
        """Return the scores of the states that are kept; None where no table has two parts.

        A variable with a state that has no score, such as a missing cell, is not ordered.
        """
        own: list[Floats | None] = []
        for name, listed, places in zip(names, states, kept, strict=True):
            found = self.of(name, [listed[place] for place in places])
            own.append(None if found is None else np.array(found))
        cards = np.array([len(k) for k in kept], dtype=np.int64)
        scores = Scores.of(own, cards, self.degree, straight=self.straight)
        return scores if scores.sizes.any() else None

    def of(self, name: Hashable, states: Sequence[Hashable]) -> list[float] | None:
        """Return the scores of some states of a variable; None if one has none."""
        known = self.scores.get(name)
        if known is None or not states or any(state not in known for state in states):
            return None
        return [known[state] for state in states]


def _basis(scores: Floats | None, card: int, degree: int) -> Floats:
    """Return orthonormal columns of the powers of scores that sum to zero."""
    if scores is None or card <= degree + 1:
        return np.zeros((card, 0))
    return polynomials(scores, degree)


def polynomials(scores: Floats, degree: int) -> Floats:
    """Return orthonormal columns of the powers of scores that sum to zero.

    Examples
    --------
    >>> polynomials(np.array([1.0, 2.0, 4.0]), 1).round(2).ravel()
    array([-0.62, -0.15,  0.77])
    """
    centred = scores - scores.mean()
    powers = np.stack([centred**k for k in range(degree + 1)], axis=1)
    columns, triangle = np.linalg.qr(powers)
    signs = np.where(np.diag(triangle) < 0, -1.0, 1.0)  # the first goes up with the scores
    basis: Floats = (columns * signs)[:, 1:]
    return np.ascontiguousarray(basis)
