"""The reservoir of best-choice selection: the best violators seen so far."""

from __future__ import annotations

import numpy as np

from graftwork.grafting.spaces import PairSpace
from graftwork.inference.layout import Floats, Ints

# Half way between the mean score and the best one.
ALPHA = 0.5


class Kept:
    """The best violators seen, the best first.

    Examples
    --------
    >>> kept = Kept(PairSpace(np.arange(4)), 3, 0.0)
    >>> kept.admit(np.arange(6), np.array([5.0, 4.0, 3.0, 2.0, 1.0, 4.5]), 1.5)
    (array([2, 3, 4]), array([3., 2., 1.]))
    >>> kept.take(9), kept.keys
    (array([0, 5]), array([1]))
    """

    def __init__(self, space: PairSpace, size: int, alpha: float, per_variable: int = 0) -> None:
        self._space, self.size, self._alpha, self._per_variable = space, size, alpha, per_variable
        self.keys: Ints = np.zeros(0, dtype=np.int64)
        self.scores: Floats = np.zeros(0)

    def leave(self) -> Ints:
        """Remove and return all."""
        keys, self.keys, self.scores = self.keys, np.zeros(0, dtype=np.int64), np.zeros(0)
        return keys

    def admit(self, keys: Ints, scores: Floats, threshold: float) -> tuple[Ints, Floats]:
        """Take in violators; return what is not kept, with its scores."""
        keys = np.concatenate([self.keys, keys])
        scores = np.concatenate([self.scores, scores])
        order = np.argsort(-scores, kind="stable")
        n_kept = min(self.size, int((scores > threshold).sum()))
        here, left = order[:n_kept], order[n_kept:]
        self.keys, self.scores = keys[here], scores[here]
        return keys[left], scores[left]

    def take(self, most: int, everything: bool = False) -> Ints:
        """Remove and return the pairs at or above tau (or all) that go together (Algorithm 3)."""
        if not len(self.keys):
            return self.keys
        tau = (1.0 - self._alpha) * self.scores.mean() + self._alpha * self.scores[0]
        # the mean of equal numbers may exceed them by rounding: the best always qualifies
        candidates = len(self.keys) if everything else max(1, int((self.scores >= tau).sum()))
        taken = self._together(candidates)[:most]
        chosen = self.keys[taken]
        self.keys, self.scores = np.delete(self.keys, taken), np.delete(self.scores, taken)
        return chosen

    def _together(self, candidates: int) -> list[int]:
        """Return the places of the pairs to take, among so many first ones."""
        used: dict[int, int] = {}
        taken: list[int] = []
        for place, pair in enumerate(self._space.pairs(self.keys[:candidates]).tolist()):
            counts = [used.get(variable, 0) for variable in pair]
            if min(counts) < self._per_variable or not any(counts):
                taken.append(place)
                used.update(zip(pair, (count + 1 for count in counts), strict=True))
        return taken
