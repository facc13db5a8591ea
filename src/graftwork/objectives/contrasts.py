"""Differences between states: the directions in which a table can matter.

A table acts only through its double-centred part, (s_i - 1)(s_j - 1) numbers. With an orthonormal
basis K_i of the vectors over i's states that sum to zero, those are K_i' W K_j. Tests may use fewer
directions: rare states are pooled, since a handful of counts follows no normal law, and of very
many states only the frequent ones are distinguished (see ``significance.pooling``). Of an ordered
variable the first columns are its scores (see ``data.scores``): the linear part of a table has
those alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graftwork.data.encoded import EncodedRows
from graftwork.data.scores import LINEAR_PRECISION, Scores
from graftwork.inference.layout import Floats, Ints
from graftwork.inference.ragged import offsets


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """The bases of variables that have one shape, shape (variables, states, differences)."""

    variables: Ints
    bases: Floats

    def some(self, variables: Ints) -> Floats:
        """Return the bases of some of the variables."""
        found: Floats = self.bases[np.searchsorted(self.variables, variables)]
        return found


@dataclass(frozen=True, eq=False)
class Contrasts:
    """A basis of differences for each variable."""

    groups: tuple[Ints, ...]  # which states are distinguished: the group of each
    bases: tuple[Floats, ...]  # orthonormal columns that sum to zero and are constant within groups
    # (n,): how many of the columns belong to linear parts of tables: all, unless it is ordered
    linear: Ints
    curved: frozenset[tuple[int, int]] | None  # the pairs of which the whole table counts
    # what reads a table's coordinates off its rows: the bases, with the states of a group weighed
    # by their counts
    readers: tuple[Floats, ...]
    ordered: NDArray[np.bool_]  # (n,): which variables have scores

    @cached_property
    def sizes(self) -> Ints:
        """Number of differences k_i of each variable."""
        return np.array([basis.shape[1] for basis in self.bases], dtype=np.int64)

    @cached_property
    def members(self) -> list[Floats]:
        """1 where a state belongs to a group, shape (s_i, groups) for each variable."""
        return [np.eye(int(group.max()) + 1)[group] for group in self.groups]

    @staticmethod
    def of(
        groups: tuple[Ints, ...],
        scores: Scores | None = None,
        curved: frozenset[tuple[int, int]] | None = None,
        counts: Sequence[Floats] | None = None,
    ) -> Contrasts:
        """Return the contrasts between groups of states, scores of ordered variables first.

        ``counts`` of states weigh those of a group; none weigh them equally.
        """
        different = {group.tobytes(): group for group in groups}
        known = {key: basis_of(group) for key, group in different.items()}
        bases = [known[group.tobytes()] for group in groups]
        linear = np.array([basis.shape[1] for basis in bases], dtype=np.int64)
        readers, ordered = list(bases), np.zeros(len(bases), dtype=bool)
        if counts is not None:
            readers = [weighed(*one) for one in zip(bases, groups, counts, strict=True)]
        if scores is not None:
            listed = list(zip(scores.bases, bases, strict=True))
            keys = [(first.tobytes(), basis.tobytes()) for first, basis in listed]
            joined = {
                key: with_scores(first, basis) if first.shape[1] else basis
                for key, (first, basis) in dict(zip(keys, listed, strict=True)).items()
            }
            bases = [joined[key] for key in keys]
            ordered = scores.sizes > 0
            linear = np.where(ordered, scores.sizes, linear)
            # scores differ within groups: tables of ordered variables are read as they are
            both = zip(readers, bases, scores.sizes.tolist(), strict=True)
            readers = [basis if size else reader for reader, basis, size in both]
        return Contrasts(groups, tuple(bases), linear, curved, tuple(readers), ordered)

    @staticmethod
    def plain(cards: Ints) -> Contrasts:
        """Return the states themselves: coordinates are then the entries of unaries and tables."""
        bases, n = tuple(np.eye(s) for s in cards.tolist()), len(cards)
        groups = tuple(np.arange(s) for s in cards.tolist())
        return Contrasts(groups, bases, cards, None, bases, np.zeros(n, dtype=bool))

    @cached_property
    def kinds(self) -> Ints:
        """What shapes each variable's basis and `members` have, as a number.

        The scores of a variable with pooled states may add a column, so that the shape of a basis
        does not tell how many groups there are.
        """
        both = zip(self.bases, self.groups, strict=True)
        found = [(*basis.shape, int(group.max()) + 1) for basis, group in both]
        shapes = np.array(found, dtype=np.int64).reshape(-1, 3)
        return np.unique(shapes, axis=0, return_inverse=True)[1].ravel()

    @cached_property
    def stacks(self) -> dict[int, Stack]:
        """The bases of one shape together, by its number."""
        found = {}
        for kind in np.unique(self.kinds).tolist():
            own = np.flatnonzero(self.kinds == kind)
            found[kind] = Stack(own, np.stack([self.bases[i] for i in own.tolist()]))
        return found

    @cached_property
    def straight(self) -> Contrasts:
        """Those of linear parts alone: all that counts of pairs that are not curved."""
        if (self.linear == self.sizes).all():
            return self
        bases, readers = (
            tuple(
                np.ascontiguousarray(columns[:, :size])
                for columns, size in zip(one, self.linear.tolist(), strict=True)
            )
            for one in (self.bases, self.readers)
        )
        return replace(self, bases=bases, readers=readers)

    def bending(self, curved: frozenset[tuple[int, int]] | None) -> Contrasts:
        """Return the same contrasts, with other pairs of which the whole table counts."""
        return replace(self, curved=curved)

    def precisions(self, pairs: Ints) -> Floats:
        """Return the precisions of the prior of refits, one pair's parameters after the other's.

        Those of linear parts are for the mean square of their entries (see ``Blocks.ridges``).
        """
        sides, linear = self.sides(pairs), self.linear[pairs]
        ordered = self.ordered[pairs].any(axis=1)
        cells = np.array([len(group) for group in self.groups])[pairs].prod(axis=1)
        lines, sizes = np.where(ordered, LINEAR_PRECISION / cells, 1.0), sides.prod(axis=1)
        found, starts = np.repeat(lines, sizes), offsets(sizes)
        for k in np.flatnonzero(ordered & (sides != linear).any(axis=1)).tolist():
            own = found[starts[k] : starts[k + 1]].reshape(sides[k])
            own[linear[k, 0] :], own[:, linear[k, 1] :] = 1.0, 1.0
        return found

    def sides(self, pairs: Ints) -> Ints:
        """Return how many columns of both variables count in the tables of pairs, shape (k, 2)."""
        sides, linear = self.sizes[pairs], self.linear[pairs]
        if self.curved is None or (sides == linear).all():
            return sides
        whole = np.array([(i, j) in self.curved for i, j in pairs.tolist()], dtype=bool)
        return np.where(whole.reshape(-1, 1), sides, linear)


def basis_of(group: Ints) -> Floats:
    """Return orthonormal vectors over states that sum to zero and are constant within groups."""
    counts = np.bincount(group)
    levels = np.eye(len(counts))[group] / np.sqrt(counts)
    # The reflection that takes the first axis to the constant vector; the others become a basis.
    constant = np.sqrt(counts / len(group))
    mirror = constant.copy()
    mirror[0] += 1.0
    reflection = np.outer(mirror, mirror) / mirror[0] - np.eye(len(counts))
    basis: Floats = levels @ reflection[:, 1:]
    return basis


def weighed(basis: Floats, group: Ints, counts: Floats) -> Floats:
    """Return a basis with the states of each group weighed by their counts."""
    sums, sizes = np.bincount(group, counts), np.bincount(group)
    shares = np.where(sums[group] > 0, counts / np.maximum(sums, 1e-300)[group], 1.0 / sizes[group])
    return basis * (shares * sizes[group])[:, None]


def with_scores(scores: Floats, basis: Floats) -> Floats:
    """Return orthonormal columns: scores first, then what of a basis they do not hold.

    Examples
    --------
    >>> straight = np.array([[-1.0], [0.0], [1.0]]) / np.sqrt(2)
    >>> with_scores(straight, basis_of(np.array([0, 1, 2]))).round(2).T.tolist()
    [[-0.71, 0.0, 0.71], [0.41, -0.82, 0.41]]
    """
    rest = basis - scores @ (scores.T @ basis)
    left, sizes, _ = np.linalg.svd(rest, full_matrices=False)
    others = left[:, sizes > 1e-9]
    others = others * np.where(others[0] < 0, -1.0, 1.0)
    return np.ascontiguousarray(np.hstack([scores, others]))


def all_states(sample: EncodedRows, curved: frozenset[tuple[int, int]] | None = None) -> Contrasts:
    """Return the contrasts of all states that occur."""
    return Contrasts.of(tuple(np.arange(int(s)) for s in sample.cards), sample.scores, curved)


def free_sides(
    sample: EncodedRows, pair: Ints, curved: frozenset[tuple[int, int]] | None = None
) -> Ints:
    """Return how many columns of both variables of one pair count: ``all_states(...).sides``."""
    sizes = sample.cards[pair] - 1
    if sample.scores is None or curved is None or tuple(pair.tolist()) in curved:
        return sizes
    linear = sample.scores.sizes[pair]
    return np.where(linear > 0, linear, sizes)
