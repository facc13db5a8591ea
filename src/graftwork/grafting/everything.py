"""Everything at once: the batch baseline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.grafting.exhaustive import Exhaustive
from graftwork.grafting.selection import Choice, Selection, View
from graftwork.grafting.space import Space
from graftwork.inference.layout import Ints


@dataclass(frozen=True, slots=True)
class Everything:
    """Activate every block at the first point; later all violators.

    Where a budget leaves no room for everything, only violators are activated.
    """

    def begin(self, space: Space, active: Ints, rng: np.random.Generator) -> _EverythingSearch:
        """Return a fresh selection."""
        return _EverythingSearch(space, Exhaustive(None).begin(space, active, rng))


class _EverythingSearch:
    def __init__(self, space: Space, later: Selection) -> None:
        self._space, self._later, self._first = space, later, True

    def choose(self, view: View) -> Choice:
        """Return everything, the first time."""
        first, self._first = self._first, False
        keys = np.setdiff1d(np.arange(self._space.size), view.active, assume_unique=True)
        if first and len(keys) and len(keys) <= view.most:
            return Choice(keys, view.lam, 0, complete=False)
        return self._later.choose(view)

    def release(self, keys: Ints) -> None:
        """Nothing to note: later searches look at everything."""
