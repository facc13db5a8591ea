"""Pairs that cannot violate: bounds on scores, from an earlier point and how far it is away.

A pair's gradient changes no more than the conditionals of its two variables do. So a pair that
scored little at an earlier point, and whose variables hardly moved since, need not be scored again:
this is exact, and makes most full passes cheap, the last one above all.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

import numpy as np

from graftwork.inference.layout import Floats, Ints
from graftwork.objectives.reshaped import evaluated

# Bounds are computed with rounding errors, much less than this.
ROUNDING = 1e-9
# Fewer pairs (or pairs times rows) are scored sooner than screened; scores of more are not kept.
FEWEST_PAIRS, MOST_PAIRS = 512, 5_000_000
FEWEST_PRODUCTS = 10**8
# Where more than this share of the pairs may violate, all are scored anew.
DOUBTFUL = 0.08


class Screen:
    """The scores of all pairs of a space at one point, for one kind of penalty."""

    def __init__(self, pairs: Ints, scales: Floats) -> None:
        self._pairs, self._scales = pairs, scales
        self._snapshot: Any = None
        self._asked: tuple[Any, float, Ints | None] | None = None  # the last question and answer
        self.scores: Floats = np.zeros(0)

    def doubtful(self, point: Any, limit: float) -> Ints | None:
        """Return the pairs that may score above a limit now; None if all had better be scored."""
        if self._snapshot is None:
            return None
        here: Any = evaluated(point)
        if self._asked is None or self._asked[0]() is not here or self._asked[1] != limit:
            self._asked = ref(here), limit, self._find_doubtful(here, limit)
        return self._asked[2]

    def _find_doubtful(self, point: Any, limit: float) -> Ints | None:
        drift = point.drift(self._snapshot)
        first, second = drift[self._pairs[:, 0]], drift[self._pairs[:, 1]]
        moved = first[:, 0] * second[:, 1] + first[:, 1] * second[:, 0]
        found = np.flatnonzero(~(self.scores + moved / self._scales + ROUNDING <= limit))
        known = np.isfinite(self.scores[found]).sum()  # those of active blocks were not
        return found if known <= DOUBTFUL * len(self.scores) else None

    def renew(self, point: Any, scores: Floats) -> None:
        """Take the scores of all pairs at this point; infinite ones are not known."""
        here: Any = evaluated(point)
        self._snapshot, self.scores, self._asked = here.snapshot(), scores, None
