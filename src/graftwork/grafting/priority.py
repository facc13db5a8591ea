"""Priority selection: the first violator in a queue that the network found so far reorders.

Influence between the neighbourhoods of two central variables mostly passes through the two: where
the edge that would join them is irrelevant, pairs between their neighbours are looked at later.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.grafting.selectors import Choice, View
from graftwork.grafting.spaces import PairSpace, Space, list_keys, pairs_only
from graftwork.inference.layout import Ints
from graftwork.settings import check_amount, check_whole

# Pairs scored at once: few at first, so that little is scored past the first violator.
FIRST_BATCH, LARGEST_BATCH = 1, 16384
_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class PriorityQueue:
    """Activate the first violating pair in priority order.

    Pairs that were tested go to the end of their line, so that a full turn without a violator is
    the certificate.

    Parameters
    ----------
    central : int
        A variable with more neighbours than this is central (tau_n).
    density : float
        Edges per squared number of variables above which priorities are changed (tau_d).

    References
    ----------
    Chaabene and Huang (2016), Priority grafting, section 2 and Algorithm 2.
    """

    central: int = 4
    density: float = 0.05
    needs_pairs = True

    def __post_init__(self) -> None:
        check_whole("central", self.central, 0)
        check_amount("density", self.density)

    def begin(self, space: Space, active: Ints, rng: np.random.Generator) -> _PrioritySearch:
        """Return a fresh queue in which all inactive pairs have the same priority."""
        pairs = pairs_only(space, "priority grafting")
        keys = list_keys(space, "priority grafting")
        order = rng.permutation(np.setdiff1d(keys, active, assume_unique=True))
        return _PrioritySearch(self, pairs, order)


class _PrioritySearch:
    """The queue: one line of pairs for each priority, the best first."""

    def __init__(self, settings: PriorityQueue, space: PairSpace, order: Ints) -> None:
        self._settings, self._space = settings, space
        self._lines = [order]
        self._joined: set[int] = set()  # pairs of central variables that were looked at

    def choose(self, view: View) -> Choice:
        """Return the first violator met, or none after a full turn."""
        joining, worst = self._reorder(view)
        if len(joining) and view.most:
            return Choice(self._remove(joining), worst, 1, complete=False)
        tested, batch = 0, FIRST_BATCH
        for number, line in enumerate(self._lines):
            seen = 0
            while seen < len(line) and view.most and not view.halted():
                keys = line[seen : seen + batch]
                scores = view.score(keys)
                worst, tested = max(worst, scores.max()), tested + len(keys)
                hits = np.flatnonzero(scores > view.threshold)
                if len(hits):
                    first = seen + int(hits[0])
                    self._lines[number] = np.concatenate([line[first + 1 :], line[:first]])
                    return Choice(line[first : first + 1], worst, tested, complete=False)
                seen, batch = seen + len(keys), min(2 * batch, LARGEST_BATCH)
            if seen < len(line):
                return Choice(_NONE, worst, tested, complete=False)
        return Choice(_NONE, worst, tested, complete=True)

    def release(self, keys: Ints) -> None:
        """Put deactivated pairs at the end of the first line."""
        self._lines[0] = np.concatenate([self._lines[0], keys])

    def _reorder(self, view: View) -> tuple[Ints, float]:
        """Move pairs back whose central variables are not joined; return those joined and a score.

        Looks at the pair of central variables with most inactive pairs between their neighbours;
        each pair of central variables is looked at once. If it violates it is returned.
        """
        n, edges = len(self._space.variables), self._space.pairs(view.active)
        if len(edges) <= self._settings.density * n * n:
            return _NONE, 0.0
        central = np.flatnonzero(view.degrees > self._settings.central)
        pairs = central[np.stack(np.triu_indices(len(central), 1), axis=1)]
        keys = self._space.keys(pairs)
        pairs, keys = pairs[keys >= 0], keys[keys >= 0]  # -1: may not be an edge
        fresh = ~np.isin(keys, view.active) & ~np.isin(keys, list(self._joined))
        between = [self._between(edges, view.active, i, j) for i, j in pairs[fresh].tolist()]
        if not between:
            return _NONE, 0.0
        most = max(range(len(between)), key=lambda k: len(between[k]))
        joining = keys[fresh][most : most + 1]
        self._joined.update(joining.tolist())
        score = float(view.score(joining)[0])
        if score > view.threshold:
            return joining, score
        self._move_back(between[most])
        return _NONE, score

    def _between(self, edges: Ints, active: Ints, i: int, j: int) -> Ints:
        """Return the inactive pairs between the neighbours of two variables."""
        near_i, near_j = (edges[(edges == v).any(axis=1)].sum(axis=1) - v for v in (i, j))
        pairs = np.stack([np.repeat(near_i, len(near_j)), np.tile(near_j, len(near_i))], axis=1)
        keys = np.unique(self._space.keys(pairs[pairs[:, 0] != pairs[:, 1]]))
        return np.setdiff1d(keys[keys >= 0], active, assume_unique=True)

    def _move_back(self, keys: Ints) -> None:
        """Reduce the priority of these pairs by one."""
        carried = _NONE
        for number, line in enumerate(self._lines):
            leaving = np.isin(line, keys)
            self._lines[number] = np.concatenate([line[~leaving], carried])
            carried = line[leaving]
        if len(carried):
            self._lines.append(carried)

    def _remove(self, keys: Ints) -> Ints:
        """Take pairs out of the queue and return them."""
        self._lines = [line[~np.isin(line, keys)] for line in self._lines]
        return keys
