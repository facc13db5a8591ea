"""Exhaustive search: score every inactive block, take the best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from graftwork.grafting.scorers import Scorer, Violation
from graftwork.grafting.selection import Choice, View
from graftwork.grafting.space import Space
from graftwork.inference.layout import Floats, Ints
from graftwork.settings import check_whole


def score_all(space: Space, view: View) -> Iterator[tuple[Ints, Floats]]:
    """Yield every inactive block with its score, batch by batch, until the view is halted.

    Of pairs that cannot violate it may be a score of an earlier point, no larger than lam.
    """
    inactive = np.ones(space.size, dtype=bool)
    inactive[view.active] = False
    screen = view.screen
    if screen is None:
        yield from _score(space, view, np.flatnonzero(inactive))
        return
    doubtful = screen.doubtful(view.point, view.lam)
    if doubtful is not None:
        sure = inactive.copy()
        sure[doubtful] = False
        keys = np.flatnonzero(sure)
        yield keys, screen.scores[keys]
        yield from _score(space, view, doubtful[inactive[doubtful]])
        return
    known = np.full(space.size, np.inf)
    for keys, scores in _score(space, view, np.flatnonzero(inactive)):
        known[keys] = scores
        yield keys, scores
    if not view.halted():
        screen.renew(view.point, known)


def _score(space: Space, view: View, keys: Ints) -> Iterator[tuple[Ints, Floats]]:
    for start in range(0, len(keys), space.batch):
        if view.halted():
            return
        some = keys[start : start + space.batch]
        yield some, view.score(some)


@dataclass(frozen=True, slots=True)
class Exhaustive:
    """Score all inactive blocks at every point and activate the best violators.

    Parameters
    ----------
    count : int, optional
        Blocks activated a round; None is every violator.
    scorer : Scorer
        What makes a violator good; default its violation. Only violators are ever activated, so
        the certificate means the same whatever the scorer.

    References
    ----------
    Perkins, Lacker and Theiler (2003), Grafting. Chaabene and Huang, Best-choice edge grafting,
    Algorithm 1.
    """

    count: int | None = 1
    scorer: Scorer = field(default_factory=Violation)

    def __post_init__(self) -> None:
        if self.count is not None:
            check_whole("count", self.count, 1)

    def begin(self, space: Space, active: Ints, rng: np.random.Generator) -> _ExhaustiveSearch:
        """Return a fresh selection; it remembers nothing between points."""
        return _ExhaustiveSearch(self, space)


class _ExhaustiveSearch:
    def __init__(self, settings: Exhaustive, space: Space) -> None:
        self._settings, self._space = settings, space

    def choose(self, view: View) -> Choice:
        """Return the best violators of all."""
        best, ranks, scores = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
        worst, tested = 0.0, 0
        count = self._space.size if self._settings.count is None else self._settings.count
        for keys, found in score_all(self._space, view):
            worst, tested = max(worst, found.max(initial=0.0)), tested + len(keys)
            keys, found = keys[found > view.threshold], found[found > view.threshold]
            if not len(keys):
                continue
            best, scores = np.concatenate([best, keys]), np.concatenate([scores, found])
            ranks = np.concatenate(
                [ranks, self._settings.scorer.rank(self._space, view, keys, found)]
            )
            order = np.lexsort((-scores, -ranks))[: min(count, view.most)]
            best, ranks, scores = best[order], ranks[order], scores[order]
        complete = tested == self._space.size - len(view.active)
        return Choice(best, worst, tested, complete)

    def release(self, keys: Ints) -> None:
        """Nothing to note: every block is looked at again."""
