"""Working-set selection: look at everything, activate many violators at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graftwork.grafting.exhaustive import score_all
from graftwork.grafting.selection import Choice, View
from graftwork.grafting.space import TableSpace
from graftwork.inference.layout import Floats, Ints
from graftwork.settings import check_whole


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """Activate the best violators of every variable at once; the quickest way to the optimum.

    A violator is taken if it is among the best of one of its two variables: a hub gets an edge from
    each of many others in the same round, while no variable brings in more than a few of its own.

    Parameters
    ----------
    per_variable : int
        Most new edges one variable brings in in one round.
    """

    per_variable: int = 2

    def __post_init__(self) -> None:
        check_whole("per_variable", self.per_variable, 1)

    def begin(self, space: Any, active: Ints, rng: np.random.Generator) -> _WorkingSetSearch:
        """Return a fresh selection."""
        return _WorkingSetSearch(self, space)


class _WorkingSetSearch:
    def __init__(self, settings: WorkingSet, space: TableSpace) -> None:
        self._settings = settings
        self._space = space

    def choose(self, view: View) -> Choice:
        """Return violators from a full pass."""
        keys, found = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        worst, tested = 0.0, 0
        for batch, scores in score_all(self._space, view):
            violating = scores > view.threshold
            keys.append(batch[violating])
            found.append(scores[violating])
            worst, tested = max(worst, scores.max(initial=0.0)), tested + len(batch)
        complete = tested >= self._space.size - len(view.active)
        if not complete:  # cut short
            return Choice(np.zeros(0, dtype=np.int64), worst, tested, complete=False)
        picked = self._pick(view, np.concatenate(keys), np.concatenate(found))
        return Choice(picked, worst, tested, complete=True)

    def release(self, keys: Ints) -> None:
        """Nothing is remembered."""

    def _pick(self, view: View, keys: Ints, scores: Floats) -> Ints:
        """Return violators in falling order of score, a few for each variable."""
        order = np.argsort(-scores, kind="stable")
        used: dict[int, int] = {}
        taken: list[int] = []
        for place, pair in zip(
            order.tolist(), self._space.pairs(keys[order]).tolist(), strict=True
        ):
            wanted = any(used.get(v, 0) < self._settings.per_variable for v in pair)
            if wanted and len(taken) < view.most:
                taken.append(place)
                for v in pair:
                    used[v] = used.get(v, 0) + 1
        return keys[taken]
