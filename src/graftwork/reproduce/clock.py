"""What looking for blocks costs: a selector that is timed from outside."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from graftwork.grafting import Recipe
from graftwork.grafting.selection import Choice, Selection, Selector, View
from graftwork.grafting.space import Space
from graftwork.inference.layout import Ints


@dataclass(slots=True)
class Searches:
    """Searches that found something: seconds and tests of each."""

    seconds: list[float] = field(default_factory=list)
    tests: list[int] = field(default_factory=list)

    def mean_ms(self) -> float:
        """Return the mean time of a search in milliseconds.

        Examples
        --------
        >>> Searches([0.001, 0.003], [5, 6]).mean_ms()
        2.0
        """
        return 1e3 * sum(self.seconds) / max(len(self.seconds), 1)

    def mean_tests(self) -> float:
        """Return the mean number of blocks that were scored in a search.

        Examples
        --------
        >>> Searches([0.001, 0.003], [5, 6]).mean_tests()
        5.5
        """
        return sum(self.tests) / max(len(self.tests), 1)


@dataclass(frozen=True, slots=True)
class Timed:
    """A selector whose searches are written down; it chooses what the one inside chooses."""

    inner: Selector
    searches: Searches

    def begin(self, space: Space, active: Ints, rng: np.random.Generator) -> _TimedSelection:
        """Return a fresh selection, timed."""
        return _TimedSelection(self.inner.begin(space, active, rng), self.searches)


@dataclass(frozen=True, slots=True)
class _TimedSelection:
    inner: Selection
    searches: Searches

    def choose(self, view: View) -> Choice:
        """Return what the inner selection chooses."""
        began = time.perf_counter()
        choice = self.inner.choose(view)
        if len(choice.keys):
            self.searches.seconds.append(time.perf_counter() - began)
            self.searches.tests.append(choice.tested)
        return choice

    def release(self, keys: Ints) -> None:
        """Pass on that blocks are inactive again."""
        self.inner.release(keys)


def timed(recipe: Recipe) -> tuple[Recipe, Searches]:
    """Return a recipe that does the same, and what will be known of its searches.

    Examples
    --------
    >>> from graftwork.recipes.grafting import grafting
    >>> timed(grafting())[0].name
    'grafting'
    """
    searches = Searches()
    return replace(recipe, selector=Timed(recipe.selector, searches)), searches
