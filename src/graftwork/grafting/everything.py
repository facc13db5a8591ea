"""Everything at once: the batch baseline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.errors import TooLargeError
from graftwork.grafting.exhaustive import Exhaustive
from graftwork.grafting.selection import Choice, Selection, View
from graftwork.grafting.space import Space
from graftwork.inference.layout import Ints

# A solver keeps some twenty vectors of this length.
MOST_ENTRIES = 2**25


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
        if not first or self._space.size - len(view.active) > view.most:
            return self._later.choose(view)
        entries = view.domain.count_entries(self._space)
        if entries > MOST_ENTRIES:
            raise TooLargeError(
                f"full optimisation holds all {entries:,} weights at once, which is too many; use "
                'method="best-choice" (networks) or "grafting-light" (chains), which start with '
                "none."
            )
        keys = np.setdiff1d(np.arange(self._space.size), view.active, assume_unique=True)
        return Choice(keys, view.lam, 0, complete=not len(keys))

    def release(self, keys: Ints) -> None:
        """Nothing to note: later searches look at everything."""
