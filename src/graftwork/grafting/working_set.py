"""Working-set selection: look at everything now and then, work on a short list in between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graftwork.grafting.exhaustive import score_all
from graftwork.grafting.selection import Choice, View
from graftwork.grafting.space import TableSpace
from graftwork.inference.layout import Floats, Ints


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """Activate many violators at once, a few at each variable; the quickest way to the optimum.

    A full pass makes a short list of pairs that violate or nearly do. Later rounds score the list
    alone; when it holds no violator, another full pass decides.

    Parameters
    ----------
    per_variable : int
        Most new edges at one variable in one round.
    shortlist : float
        Pairs scoring above this share of lam are listed.
    """

    per_variable: int = 2
    shortlist: float = 0.7

    def begin(self, space: Any, active: Ints, rng: np.random.Generator) -> _WorkingSetSearch:
        """Return a fresh selection without a list."""
        return _WorkingSetSearch(self, space)


class _WorkingSetSearch:
    def __init__(self, settings: WorkingSet, space: TableSpace) -> None:
        self._settings = settings
        self._space = space
        self._listed = np.zeros(0, dtype=np.int64)

    def choose(self, view: View) -> Choice:
        """Return violators from the short list, or from a full pass when it has none."""
        listed = np.setdiff1d(self._listed, view.active)
        scores = view.score(listed)
        worst = float(scores.max(initial=0.0))
        if worst > view.threshold:
            return Choice(self._pick(view, listed, scores), worst, len(listed), complete=False)
        keys, found = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        worst, tested = 0.0, 0
        for batch, batch_scores in score_all(self._space, view):
            near = batch_scores > self._settings.shortlist * view.lam
            keys.append(batch[near])
            found.append(batch_scores[near])
            worst, tested = max(worst, batch_scores.max(initial=0.0)), tested + len(batch)
        if tested < self._space.size - len(view.active):  # cut short
            return Choice(np.zeros(0, dtype=np.int64), worst, tested, complete=False)
        self._listed = np.concatenate(keys)
        picked = self._pick(view, self._listed, np.concatenate(found))
        return Choice(picked, worst, tested, complete=True)

    def release(self, keys: Ints) -> None:
        """Put deactivated pairs on the list again."""
        self._listed = np.union1d(self._listed, keys)

    def _pick(self, view: View, keys: Ints, scores: Floats) -> Ints:
        """Return the violators in falling order of score, a few at each variable."""
        order = np.argsort(-scores, kind="stable")
        order = order[scores[order] > view.threshold]
        used: dict[int, int] = {}
        taken: list[int] = []
        for place, pair in zip(
            order.tolist(), self._space.pairs(keys[order]).tolist(), strict=True
        ):
            free = all(used.get(v, 0) < self._settings.per_variable for v in pair)
            if free and len(taken) < view.most:
                taken.append(place)
                for v in pair:
                    used[v] = used.get(v, 0) + 1
        return keys[taken]
