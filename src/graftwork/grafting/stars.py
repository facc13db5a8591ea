"""Best-choice selection from a stream of stars: all pairs at a variable, those of hubs first.

Pairs that are scored together cost a small part of what they cost one by one, so a round draws
whole variables. When all were drawn, bounds on scores say which pairs may violate now.
"""

from __future__ import annotations

import math

import numpy as np

from graftwork.grafting.kept import ALPHA, Kept
from graftwork.grafting.selectors import Choice, Memoryless, View, survey
from graftwork.grafting.spaces import PairSpace
from graftwork.inference.layout import Floats, Ints

# A round draws this share of the variables, or fewer that have about this many pairs; of few
# variables at least this many, whose pairs are what the paper fills its reservoir from.
SHARE, MOST_PAIRS = 1 / 8, 2**22
FEWEST = 10
# Most violators kept while variables are drawn, and afterwards unless edges are limited, over the
# number of variables: all come in then, and where there are many, few at a time take many rounds.
KEPT, KEPT_AT_LAST = 1, 4
# New edges that one variable brings in in one round, as in a working set.
PER_VARIABLE = 2


class StarSearch(Memoryless):
    """The search's memory: the variables that are not drawn yet, and the reservoir."""

    def __init__(self, space: PairSpace, hubs_from: int | None, rng: np.random.Generator) -> None:
        n = len(space.variables)
        self._space, self._hubs_from = space, hubs_from
        self._kept = Kept(space, max(KEPT * n, 1), ALPHA, PER_VARIABLE)
        self._order = self._left = rng.permutation(space.variables)
        self._worst, self._tested = 0.0, 0

    def choose(self, view: View) -> Choice:
        """Return the pairs that stand out among the violators seen."""
        self._worst, self._tested = 0.0, 0
        unlimited = self._unlimited(view)
        if unlimited and not len(self._left):
            self._kept.size = max(KEPT_AT_LAST * len(self._space.variables), 1)
        keys = self._kept.leave()
        self._admit(view, keys, view.score(keys), len(keys))
        self._draw(view)
        complete = False
        if not len(self._kept.keys) and not view.halted():
            complete = self._look_at_all(view)
        # With all drawn no better pair will turn up, and without a limit on edges all may come.
        chosen = self._kept.take(view.most, everything=unlimited and not len(self._left))
        return Choice(chosen, self._worst, self._tested, complete)

    def _draw(self, view: View) -> None:
        """Look at a round's variables; at more while nothing violates."""
        while len(self._left) and view.stars is not None:
            if self._hubs_from is not None and len(view.active) >= self._hubs_from:
                degrees = view.degrees[self._left]
                self._left = self._left[np.argsort(-degrees, kind="stable")]
            count = min(self._count(view), len(self._left))
            found = view.stars(self._left, count)
            if found is None:  # a budget ran out
                return
            self._left = self._left[count:]
            self._admit(view, *found)
            if len(self._kept.keys):
                return

    def _count(self, view: View) -> int:
        """Return how many variables are looked at together: all, where a device scores tiles."""
        n = len(self._space.variables)
        if view.in_tiles and self._unlimited(view):
            return n
        return max(FEWEST, min(math.ceil(SHARE * n), MOST_PAIRS // max(1, n)))

    def _unlimited(self, view: View) -> bool:
        return view.most >= self._space.size - len(view.active)

    def _look_at_all(self, view: View) -> bool:
        """Look for violators among all pairs at this point; return whether all were looked at."""
        if view.screen is not None:
            seen = survey(self._space, view)
            self._tested = 0
            self._admit(view, seen.keys, seen.scores, seen.tested)
            self._worst = seen.worst
            return seen.complete
        self._left, self._tested = self._order, 0
        self._draw(view)
        return not len(self._left)

    def _admit(self, view: View, keys: Ints, scores: Floats, tested: int) -> None:
        self._kept.admit(keys, scores, view.threshold)
        self._worst = max(self._worst, float(scores.max(initial=0.0)))
        self._tested += tested
