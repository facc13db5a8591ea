"""Priority selection: the first violator in a queue that the network found so far reorders.

Influence between the neighbourhoods of two central variables mostly passes through the two: where
the edge that would join them is irrelevant, pairs between their neighbours are looked at later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from graftwork.errors import ParameterError
from graftwork.grafting.selectors import Choice, View
from graftwork.grafting.spaces import PairSpace, Space, list_keys, pairs_only
from graftwork.inference.layout import Ints
from graftwork.parameters import number, whole_number
from graftwork.penalties.blocks import Bools

# Pairs scored at once: few at first, so that little is scored past the first violator.
FIRST_BATCH, LARGEST_BATCH = 1, 16384
_NONE = np.zeros(0, dtype=np.int64)

#: Where a round begins to look: at the top of the queue, or behind the pairs tested in this turn.
Order = Literal["top", "turns"]


@dataclass(frozen=True, slots=True)
class PriorityQueue:
    """Activate the first violating pair in priority order.

    References
    ----------
    Chaabene and Huang (2016), Priority grafting, section 2 and Algorithm 2.
    """

    central: int = 4
    density: float = 0.05
    order: Order = "top"
    join: bool = False
    needs_pairs = True

    def __post_init__(self) -> None:
        whole_number("central", self.central, 0)
        number("density", self.density, 0.0)
        if self.order not in get_args(Order):
            raise ParameterError(f"order must be 'top' or 'turns', got {self.order!r}.")

    def begin(self, space: Space, active: Ints, rng: np.random.Generator) -> _PrioritySearch:
        """Return a fresh queue in which all inactive pairs have the same priority."""
        pairs = pairs_only(space, "priority grafting")
        keys = list_keys(space, "priority grafting")
        order = rng.permutation(np.setdiff1d(keys, active, assume_unique=True))
        return _PrioritySearch(self, pairs, order)


class _PrioritySearch:
    """The queue: keys by turn, then by how often their priority was reduced, then by age.

    Shapes: moved (m,) int64.
    """

    def __init__(self, settings: PriorityQueue, space: PairSpace, keys: Ints) -> None:
        self._settings, self.space = settings, space
        self.moved, self.n_looks, self.n_joined = _NONE, 0, 0
        self._keys, self._turns, self._reduced = keys, np.zeros_like(keys), np.zeros_like(keys)
        self._looked_at: set[int] = set()  # pairs of central variables, with ``join``

    def choose(self, view: View) -> Choice:
        """Return the first violator met, or none when every pair was tested at this point."""
        joining, worst = self._reorder(view)
        if len(joining) and view.most:
            self._drop(self._keys != joining[0])
            self.n_joined += 1
            return Choice(joining, worst, 1, complete=False)
        seen, batch, keys = 0, FIRST_BATCH, self._keys
        while seen < len(keys) and view.most and not view.halted():
            scores = view.score(keys[seen : seen + batch])
            worst = max(worst, float(scores.max()))
            hits = np.flatnonzero(scores > view.threshold)
            if len(hits):
                place = seen + int(hits[0])
                self._pass_by(place)
                self._drop(self._keys != keys[place])
                return Choice(keys[place : place + 1], worst, place + 1, complete=False)
            seen, batch = seen + len(scores), min(2 * batch, LARGEST_BATCH)
        self._pass_by(seen)
        return Choice(_NONE, worst, seen, complete=seen == len(keys))

    def release(self, keys: Ints) -> None:
        """Put deactivated pairs behind the others of the first turn and the highest priority."""
        first = np.full_like(keys, self._turns.min() if len(self._turns) else 0)
        self._keys = np.concatenate([self._keys, keys])
        self._turns = np.concatenate([self._turns, first])
        self._reduced = np.concatenate([self._reduced, np.zeros_like(keys)])
        self._sort()

    def _pass_by(self, count: int) -> None:
        """Take note that the first pairs were tested and did not violate."""
        if self._settings.order == "turns" and count:
            self._turns[:count] += 1
            self._take(np.roll(np.arange(len(self._keys)), -count))
            self._sort()

    def _reorder(self, view: View) -> tuple[Ints, float]:
        """Reduce priorities by what the network says; return a pair to join, if any, and a score.

        Looks at the pair of central variables with most inactive pairs between their neighbours: if
        it does not violate, these pairs come later.
        """
        n, edges = len(self.space.variables), self.space.pairs(view.active)
        if len(edges) <= self._settings.density * n * n:
            return _NONE, 0.0
        central = np.flatnonzero(view.degrees > self._settings.central)
        pairs = central[np.stack(np.triu_indices(len(central), 1), axis=1)]
        keys = self.space.keys(pairs)
        fresh = (keys >= 0) & ~np.isin(keys, view.active)  # -1: may not be an edge
        fresh &= ~np.isin(keys, list(self._looked_at))
        between = [self._between(edges, view.active, i, j) for i, j in pairs[fresh].tolist()]
        if not between:
            return _NONE, 0.0
        most = max(range(len(between)), key=lambda k: len(between[k]))
        joining = keys[fresh][most : most + 1]
        if self._settings.join:
            self._looked_at.update(joining.tolist())
        self.n_looks += 1
        score = float(view.score(joining)[0])
        if score > view.threshold:
            return joining if self._settings.join else _NONE, score
        self.moved = np.union1d(self.moved, between[most])
        self._reduced += np.isin(self._keys, between[most])
        self._sort()
        return _NONE, score

    def _between(self, edges: Ints, active: Ints, i: int, j: int) -> Ints:
        """Return the inactive pairs between the neighbours of two variables."""
        near_i, near_j = (edges[(edges == v).any(axis=1)].sum(axis=1) - v for v in (i, j))
        pairs = np.stack([np.repeat(near_i, len(near_j)), np.tile(near_j, len(near_i))], axis=1)
        keys = np.unique(self.space.keys(pairs[pairs[:, 0] != pairs[:, 1]]))
        return np.setdiff1d(keys[keys >= 0], active, assume_unique=True)

    def _drop(self, kept: Bools) -> None:
        self._take(np.flatnonzero(kept))

    def _sort(self) -> None:
        self._take(np.lexsort((self._reduced, self._turns)))  # stable: age decides last

    def _take(self, places: Ints) -> None:
        self._keys, self._turns = self._keys[places], self._turns[places]
        self._reduced = self._reduced[places]
