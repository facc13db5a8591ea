"""Pairs that cannot violate: bounds on scores, from an earlier point and how far it is away.

A pair's gradient changes no more than the conditionals of its two variables do. So a pair that
scored little at an earlier point, and whose variables hardly moved since, need not be scored again:
this is exact, and makes most full passes cheap, the last one above all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from graftwork.inference.layout import Floats, Ints
from graftwork.kernels.pair_tiles import find_doubtful
from graftwork.objectives.reshaped import evaluated

# Bounds are computed with rounding errors, much less than this.
ROUNDING = 1e-9
# Fewer pairs (or pairs times rows) are scored sooner than screened; scores of more are not kept.
FEWEST_PAIRS, MOST_PAIRS = 512, 2**26
FEWEST_PRODUCTS = 10**8
# The scores of more pairs than this are kept with seven digits, rounded up.
MOST_EXACT = 5_000_000
# Where more than this share of the pairs may violate, all are scored anew; of many pairs the
# second, since those that may are summed one by one, and all of them together.
DOUBTFUL, DOUBTFUL_OF_MANY = 0.08, 0.02
MANY = 2**16


class Sweep(NamedTuple):
    """The scores of all pairs at one point.

    Attributes
    ----------
    scores : (pairs,) float64 or float32
        By key; of very many pairs rounded up.
    above : (k,) int64
        Keys of the pairs that score above a limit.
    largest : (k,) float64
        The scores of these, exactly.
    """

    scores: Floats
    above: Ints
    largest: Floats


class Screen:
    """The scores of all pairs of some variables at one point, for one kind of penalty.

    Parameters
    ----------
    variables : (n,) int64
        Keys are those of the pairs of ``range(n)``, in their order.
    roots : (all variables,) float64
        A pair's score is the norm of its gradient over those of its variables.
    separable : bool
        Or it is the largest absolute entry of the gradient.
    """

    def __init__(self, variables: Ints, roots: Floats, separable: bool) -> None:
        self._variables, self._roots, self._separable = variables, roots, separable
        self._size = len(variables) * (len(variables) - 1) // 2
        self._unknown = 0
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
        drift, spread = np.ascontiguousarray(point.drift(self._snapshot)[self._variables].T)
        roots = np.ones_like(drift) if self._separable else self._roots[self._variables]
        most = int((DOUBTFUL if self._size < MANY else DOUBTFUL_OF_MANY) * self._size)
        found = np.empty(most + self._unknown + 1, dtype=np.int64)
        count, known = find_doubtful(
            self.scores, drift, spread, roots, limit - ROUNDING, most, found
        )
        return found[:count].copy() if known <= most else None

    def sweep(self, point: Any, limit: float, halted: Callable[[], bool]) -> Sweep | None:
        """Return the scores of all pairs; None where they must be listed, or when halted."""
        here: Any = evaluated(point)
        tiles = here.tiles(self._variables)
        if tiles is None:
            return None
        exact = self._size <= MOST_EXACT
        scores: Any = np.empty(self._size, dtype=np.float64 if exact else np.float32)
        n, above, largest = len(self._variables), [], []
        for tile in tiles:
            if halted():
                return None
            found = tile.scores(self._roots, self._separable)
            first, second = tile.places
            rows = first + np.arange(len(found))
            starts = rows * (2 * n - rows - 1) // 2 - rows - 1 + second  # less what is below
            lines, columns = np.nonzero(found > limit)
            above.append(starts[lines] + columns)
            largest.append(found[lines, columns])
            if not exact:
                found = np.nextafter(found.astype(np.float32), np.float32(np.inf))
            for row, start in enumerate(starts.tolist()):
                skip = row + 1 if tile.triangle else 0
                scores[start + skip : start + found.shape[1]] = found[row, skip:]
        return Sweep(scores, np.concatenate(above), np.concatenate(largest))

    def renew(self, point: Any, scores: Floats) -> None:
        """Take the scores of all pairs at this point; infinite ones are not known."""
        here: Any = evaluated(point)
        self._snapshot, self.scores, self._asked = here.snapshot(), scores, None
        self._unknown = int(np.isinf(scores).sum())
