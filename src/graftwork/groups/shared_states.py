"""What of a table can be compared: the states that all groups have, rare ones pooled.

A pair's table acts through differences between states. Those that are compared are differences
between pooled states: a frequent state alone, and all states that are rare in some group together,
each counting by its rows in the group that has fewest of them. A state that a group lacks does not
count; the groups that have it fit it all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graftwork.data.encoded import EncodedRows
from graftwork.inference.layout import Floats, Ints
from graftwork.testing.contrasts import LEAST_COUNT, basis_of, pool


@dataclass(frozen=True, slots=True, eq=False)
class SharedStates:
    """The differences between states that are compared, of each variable.

    Attributes
    ----------
    contrasts : tuple of (k_i, s_i) float64
        Over all declared states; rows sum to zero. No rows where groups share fewer than two
        states.
    members : tuple of tuple of (m,) int64
        Of each variable which states are in each of its pooled states.
    rare : (n,) bool
        Whether one of the pooled states still has fewer than ten rows in some group.
    """

    contrasts: tuple[Floats, ...]
    members: tuple[tuple[Ints, ...], ...]
    rare: NDArray[np.bool_]

    @staticmethod
    def of(samples: Sequence[EncodedRows]) -> SharedStates:
        """Return what can be compared between some groups, whose declared states are the same."""
        counts = [_counts(sample) for sample in samples]
        found = [_contrasts(np.min(each, axis=0)) for each in zip(*counts, strict=True)]
        contrasts, members, rare = zip(*found, strict=True)
        return SharedStates(contrasts, members, np.array(rare))

    def table(self, values: Floats, i: int, j: int) -> Floats:
        """Return a pair's parameters as a double-centred table of its pooled states."""
        first, second = (basis_of(np.arange(len(self.members[k]))) for k in (i, j))
        return np.asarray(first @ values.reshape(first.shape[1], -1) @ second.T)

    @property
    def varying(self) -> NDArray[np.bool_]:
        """Which variables can be compared, shape (n,)."""
        return np.array([len(rows) > 0 for rows in self.contrasts])


def _counts(sample: EncodedRows) -> list[Floats]:
    """Return how often each declared state of each variable occurs."""
    out = []
    margins = np.split(np.asarray(sample.counts.margins, dtype=np.float64), np.cumsum(sample.cards))
    for declared, kept, some in zip(sample.declared, sample.kept, margins[:-1], strict=True):
        each = np.zeros(int(declared))
        each[kept] = some
        out.append(each)
    return out


def _contrasts(fewest: Floats) -> tuple[Floats, tuple[Ints, ...], bool]:
    """Return differences between states, from the fewest rows of each in any group.

    Examples
    --------
    >>> rows, members, rare = _contrasts(np.array([50.0, 0.0, 40.0]))
    >>> rows.round(2).tolist(), [each.tolist() for each in members], rare
    ([[0.71, 0.0, -0.71]], [[0], [2]], False)
    >>> len(_contrasts(np.array([50.0, 0.0]))[0])
    0
    """
    shared = np.flatnonzero(fewest > 0)
    if len(shared) < 2:
        return np.zeros((0, len(fewest))), (), False
    groups = pool(fewest[shared])
    means = np.zeros((int(groups.max()) + 1, len(fewest)))
    means[groups, shared] = fewest[shared]
    totals = means.sum(axis=1)
    rows = basis_of(np.arange(len(means))).T @ (means / totals[:, None])
    members = tuple(np.flatnonzero(row) for row in means)
    return rows, members, bool(totals.min() < LEAST_COUNT)
