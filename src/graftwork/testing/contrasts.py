"""Differences between states: the directions in which a table can matter.

A table acts only through its double-centred part, (s_i - 1)(s_j - 1) numbers. With an orthonormal
basis K_i of the vectors over i's states that sum to zero, those are K_i' W K_j. Tests may use fewer
directions: rare states are pooled, since a handful of counts follows no normal law, and of very
many states only the frequent ones are distinguished.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graftwork.data.encoded import EncodedRows
from graftwork.inference.layout import Floats, Ints

# States with fewer counts than this are pooled in tests.
LEAST_COUNT = 10
# Of a variable with more states this many groups are distinguished in tests: the frequent states,
# and all others together.
MOST_GROUPS = 12


@dataclass(frozen=True, eq=False)
class Contrasts:
    """A basis of differences for each variable.

    Attributes
    ----------
    groups : tuple of (s_i,) int64
        Which states are distinguished: the group of each.
    bases : tuple of (s_i, k_i) float64
        Orthonormal columns that sum to zero and are constant within groups.
    """

    groups: tuple[Ints, ...]
    bases: tuple[Floats, ...]

    @cached_property
    def sizes(self) -> Ints:
        """Number of differences k_i of each variable."""
        return np.array([basis.shape[1] for basis in self.bases], dtype=np.int64)

    @staticmethod
    def of(groups: tuple[Ints, ...]) -> Contrasts:
        """Return the contrasts between these groups of states."""
        return Contrasts(groups, tuple(basis_of(group) for group in groups))


def basis_of(group: Ints) -> Floats:
    """Return orthonormal vectors over states that sum to zero and are constant within groups.

    Examples
    --------
    >>> basis_of(np.array([0, 1])).round(2).tolist()
    [[0.71], [-0.71]]
    >>> basis_of(np.array([0, 1, 1])).shape
    (3, 1)
    """
    counts = np.bincount(group)
    levels = np.eye(len(counts))[group] / np.sqrt(counts)
    # The reflection that takes the first axis to the constant vector; the others become a basis.
    constant = np.sqrt(counts / len(group))
    mirror = constant.copy()
    mirror[0] += 1.0
    reflection = np.outer(mirror, mirror) / mirror[0] - np.eye(len(counts))
    basis: Floats = levels @ reflection[:, 1:]
    return basis


def all_states(sample: EncodedRows) -> Contrasts:
    """Return the contrasts of all states that occur."""
    return Contrasts.of(tuple(np.arange(int(s)) for s in sample.cards))


def frequent_states(sample: EncodedRows) -> Contrasts:
    """Return contrasts with rare states pooled, for tests."""
    counts = np.split(np.asarray(sample.counts.margins, dtype=np.float64), np.cumsum(sample.cards))
    return Contrasts.of(tuple(pool(part) for part in counts[:-1]))


def pool(counts: Floats) -> Ints:
    """Return groups of states: frequent ones alone, all others together; two groups at least.

    Examples
    --------
    >>> pool(np.array([50.0, 3.0, 4.0, 40.0, 30.0]))
    array([1, 0, 0, 2, 0])
    >>> pool(np.array([50.0, 3.0]))
    array([1, 0])
    """
    order = np.argsort(counts, kind="stable")
    rare = int((counts < LEAST_COUNT).sum())
    rare = max(rare, len(counts) - (MOST_GROUPS - 1)) if len(counts) > MOST_GROUPS else rare
    while 0 < rare < len(counts) - 1 and counts[order[:rare]].sum() < LEAST_COUNT:
        rare += 1
    rare = max(0, min(rare, len(counts) - 1))
    if not rare:
        return np.arange(len(counts))
    groups = np.zeros(len(counts), dtype=np.int64)
    kept = np.sort(order[rare:])
    groups[kept] = np.arange(1, len(kept) + 1)
    return groups
