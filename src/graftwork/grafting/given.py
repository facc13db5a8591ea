"""No search at all: the edges are those the run starts with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.grafting.selection import Choice, View
from graftwork.grafting.space import Space
from graftwork.inference.layout import Ints


@dataclass(frozen=True, slots=True)
class GivenEdges:
    """Activate nothing: the weights of the edges there are get fitted, and no pair is looked at."""

    def begin(self, space: Space, active: Ints, rng: np.random.Generator) -> _NoSearch:
        """Return a selection that never adds."""
        return _NoSearch(space)


class _NoSearch:
    def __init__(self, space: Space) -> None:
        self._space = space

    def choose(self, view: View) -> Choice:
        """Return nothing, and that nothing was looked at."""
        complete = len(view.active) == self._space.size
        worst = 0.0 if complete else float("nan")
        return Choice(np.zeros(0, dtype=np.int64), worst, 0, complete, stop="given")

    def release(self, keys: Ints) -> None:
        """Nothing to note: what leaves does not come back."""
