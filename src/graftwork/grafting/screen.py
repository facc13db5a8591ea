"""Pairs that cannot violate: bounds on scores, from an earlier point and how far it is away.

A pair's gradient changes no more than the conditionals of its two variables do. So a pair that
scored little at an earlier point, and whose variables hardly moved since, need not be scored again:
this is exact, and makes most full passes cheap, the last one above all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from graftwork.data.parts import TilingEngine
from graftwork.inference.layout import Floats, Ints
from graftwork.inference.pairs import find_edges
from graftwork.kernels.pair_tiles import find_doubtful

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
# The same where an engine has products of all pairs, which it multiplies much faster than it sums.
DOUBTFUL_IN_TILES = 0.002
MANY = 2**16
# Pairs that are scored again at once.
AGAIN = 2**16


class Sweep(NamedTuple):
    """The scores of all pairs at one point."""

    scores: Floats  # (pairs,) or: by key; of very many pairs rounded up
    above: Ints  # (k,): keys of the pairs that score above a limit
    largest: Floats  # (k,): the scores of these, exactly


class Stars(NamedTuple):
    """What is found among all pairs at some variables."""

    keys: Ints  # (k,): inactive pairs that score above lambda
    scores: Floats  # (k,)
    tested: int  # how many pairs were scored


@dataclass(frozen=True, slots=True, eq=False)
class TileScores:
    """How pairs are scored a tile at a time, for one kind of penalty."""

    # (all variables,): A pair's score is the norm of its gradient over those of its variables
    roots: Floats
    separable: bool  # or it is the largest absolute entry of the gradient

    def judged(self, point: Any, tile: Any, limit: float) -> tuple[Floats, Ints, Ints]:
        """Return bounds of the scores of a tile's pairs, and which of them score above a limit.

        Those are exact. Where a tile rounds, pairs that rounding might decide are scored again.
        """
        found = tile.scores(self.roots, self.separable)
        slack = tile.slack(self.roots, self.separable, limit)
        lines, columns = np.nonzero(found > limit - slack)
        if slack:
            exact = self._score_again(point, tile, lines, columns, found[lines, columns])
            found += slack
            found[lines, columns] = exact
            lines, columns = lines[exact > limit], columns[exact > limit]
        return found, lines, columns

    def largest(self, point: Any, tile: Any) -> float:
        """Return the largest score of a tile's pairs."""
        found = tile.scores(self.roots, self.separable)
        top = float(found.max(initial=0.0))
        slack = tile.slack(self.roots, self.separable, top)
        if not slack:
            return top
        lines, columns = np.nonzero(found > top - 2.0 * slack)
        exact = self._score_again(point, tile, lines, columns, found[lines, columns])
        return float(exact.max(initial=0.0))

    def _score_again(
        self, point: Any, tile: Any, lines: Ints, columns: Ints, scores: Floats
    ) -> Floats:
        """Return exact scores; pairs that are edges do not matter."""
        out = scores.copy()
        pairs = np.sort(np.stack([tile.first[lines], tile.second[columns]], axis=1), axis=1)
        absent = np.flatnonzero(find_edges(point.potentials.layout, pairs) < 0)
        for some in np.split(absent, range(AGAIN, len(absent), AGAIN)):
            if not len(some):
                continue
            gradients, offsets, _ = point.pair_gradients(pairs[some])
            if self.separable:
                out[some] = np.maximum.reduceat(np.abs(gradients), offsets[:-1])
            else:
                norms = np.sqrt(np.add.reduceat(gradients**2, offsets[:-1]))
                out[some] = norms / self.roots[pairs[some]].prod(axis=1)
        return out

    def above(
        self, point: Any, variables: Ints, leading: int, limit: float, halted: Callable[[], bool]
    ) -> tuple[Ints, Floats] | None:
        """Return pairs that score above a limit, and their scores; None when halted.

        Shapes: variables (n,) int64.
        """
        pairs, scores = [np.zeros((0, 2), dtype=np.int64)], [np.zeros(0)]
        for tile in point.tiles(variables, leading):
            if halted():
                return None
            slack = tile.slack(self.roots, self.separable, limit)
            lines, columns, found = tile.scored_above(self.roots, self.separable, limit - slack)
            if slack:
                found = self._score_again(point, tile, lines, columns, found)
            chosen = found > limit
            both = np.stack([tile.first[lines], tile.second[columns]], axis=1)
            pairs.append(both[chosen])
            scores.append(found[chosen])
        return np.concatenate(pairs), np.concatenate(scores)


def _most_doubtful(point: Any, size: int) -> float:
    """Return the share of the pairs that are rather listed than scored with all others."""
    if size < MANY:
        return DOUBTFUL
    return DOUBTFUL_IN_TILES if in_tiles(point.objective) else DOUBTFUL_OF_MANY


def in_tiles(objective: Any) -> bool:
    """Return whether an engine has products of all pairs of this objective's variables."""
    parts = objective.sample.parts
    return parts is not None and isinstance(parts.engine, TilingEngine)


class Screen:
    """The scores of all pairs of some variables at one point, for one kind of penalty.

    Shapes: variables (n,) int64.
    """

    def __init__(self, variables: Ints, scorer: TileScores) -> None:
        self._variables, self._scorer = variables, scorer
        self._size = len(variables) * (len(variables) - 1) // 2
        self._unknown = 0
        self._snapshot: Any = None
        self._asked: tuple[Any, float, Ints | None] | None = None  # the last question and answer
        self.scores: Floats = np.zeros(0)

    def doubtful(self, point: Any, limit: float) -> Ints | None:
        """Return the pairs that may score above a limit now; None if all had better be scored."""
        if self._snapshot is None:
            return None
        if self._asked is None or self._asked[0]() is not point or self._asked[1] != limit:
            self._asked = ref(point), limit, self._find_doubtful(point, limit)
        return self._asked[2]

    def _find_doubtful(self, point: Any, limit: float) -> Ints | None:
        drift, spread = np.ascontiguousarray(point.drift(self._snapshot)[self._variables].T)
        roots = self._scorer.roots[self._variables]
        if self._scorer.separable:
            roots = np.ones_like(roots)
        most = int(_most_doubtful(point, self._size) * self._size)
        found = np.empty(most + self._unknown + 1, dtype=np.int64)
        count, known = find_doubtful(
            self.scores, drift, spread, roots, limit - ROUNDING, most, found
        )
        return found[:count].copy() if known <= most else None

    def sweep(self, point: Any, limit: float, halted: Callable[[], bool]) -> Sweep | None:
        """Return the scores of all pairs; None where they must be listed, or when halted."""
        tiles = point.tiles(self._variables)
        if tiles is None:
            return None
        exact = self._size <= MOST_EXACT
        scores: Any = np.empty(self._size, dtype=np.float64 if exact else np.float32)
        n, above, largest = len(self._variables), [], []
        for tile in tiles:
            if halted():
                return None
            found, lines, columns = self._scorer.judged(point, tile, limit)
            first, second = tile.places
            rows = first + np.arange(len(found))
            starts = rows * (2 * n - rows - 1) // 2 - rows - 1 + second  # less what is below
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
        self._snapshot, self.scores, self._asked = point.snapshot(), scores, None
        self._unknown = int(np.isinf(scores).sum())
