"""Exhaustive search: score every inactive pair, take the best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.grafting.selection import Choice, View
from graftwork.grafting.space import PairSpace
from graftwork.inference.layout import Ints

# Pairs scored in one batch: enough to keep the kernels busy, little enough to react to Ctrl-C.
BATCH = 16384


@dataclass(frozen=True, slots=True)
class Exhaustive:
    """Score all inactive pairs at every point and activate the ``count`` most violating.

    References
    ----------
    Chaabene and Huang, Best-choice edge grafting, Algorithm 1.
    """

    count: int = 1

    def begin(self, space: PairSpace, active: Ints, rng: np.random.Generator) -> _ExhaustiveSearch:
        """Return a fresh selection; it remembers nothing between points."""
        return _ExhaustiveSearch(space, self.count)


class _ExhaustiveSearch:
    def __init__(self, space: PairSpace, count: int) -> None:
        self._space = space
        self._count = count

    def choose(self, view: View) -> Choice:
        """Return the most violating pairs of all."""
        best_keys, best_scores = np.zeros(0, dtype=np.int64), np.zeros(0)
        worst, tested = 0.0, 0
        most = min(self._count, view.most)
        for start in range(0, self._space.size, BATCH):
            if view.halted():
                return Choice(best_keys, worst, tested, complete=False)
            keys = np.arange(start, min(start + BATCH, self._space.size))
            keys = np.setdiff1d(keys, view.active, assume_unique=True)
            scores = view.score(keys)
            worst, tested = max(worst, scores.max(initial=0.0)), tested + len(keys)
            violating = scores > view.threshold
            best_keys = np.concatenate([best_keys, keys[violating]])
            best_scores = np.concatenate([best_scores, scores[violating]])
            order = np.argsort(-best_scores, kind="stable")[:most]
            best_keys, best_scores = best_keys[order], best_scores[order]
        return Choice(best_keys, worst, tested, complete=True)

    def release(self, keys: Ints) -> None:
        """Nothing to note: every pair is looked at again."""
