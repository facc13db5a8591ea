"""What is watched of a run while it goes: its searches, its CPU time, networks on its way."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from graftwork.grafting import Recipe
from graftwork.grafting.selectors import Choice, Selection, Selector, View
from graftwork.grafting.spaces import Space
from graftwork.grafting.trace import Observer, PassOn, Round
from graftwork.inference.layout import Ints, Potentials

#: Most points kept of a curve.
POINTS = 200


@dataclass(slots=True)
class Searches:
    """Searches of a run.

    Attributes
    ----------
    seconds, tests : list
        Of each search: its CPU time, and how many blocks it tested until it ended.
    found : list of bool
        Whether it found something.
    selection : Selection
        What searched, with whatever it remembers.
    """

    seconds: list[float] = field(default_factory=list)
    tests: list[int] = field(default_factory=list)
    found: list[bool] = field(default_factory=list)
    selection: Selection | None = None

    def mean_ms(self) -> float:
        """Return the mean CPU time in milliseconds of a search that found something.

        Examples
        --------
        >>> Searches([0.001, 0.003, 9.0], [5, 6, 99], [True, True, False]).mean_ms()
        2.0
        """
        return 1e3 * _mean(self.seconds, self.found)

    def mean_tests(self) -> float:
        """Return the mean number of blocks tested in a search that found something."""
        return _mean(self.tests, self.found)


def _mean(values: Sequence[float], chosen: Sequence[bool]) -> float:
    kept = [value for value, keep in zip(values, chosen, strict=True) if keep]
    return sum(kept) / max(len(kept), 1)


@dataclass(frozen=True, slots=True)
class Timed:
    """A selector whose searches are recorded; it chooses what the one inside chooses."""

    inner: Selector
    searches: Searches

    def begin(self, space: Space, active: Ints, rng: np.random.Generator) -> _TimedSelection:
        """Return a fresh selection, timed."""
        self.searches.selection = self.inner.begin(space, active, rng)
        return _TimedSelection(self.searches.selection, self.searches)


@dataclass(frozen=True, slots=True)
class _TimedSelection:
    inner: Selection
    searches: Searches

    def choose(self, view: View) -> Choice:
        """Return what the inner selection chooses."""
        began = time.process_time()
        choice = self.inner.choose(view)
        self.searches.seconds.append(time.process_time() - began)
        self.searches.tests.append(choice.tested)
        self.searches.found.append(len(choice.keys) > 0)
        return choice

    def release(self, keys: Ints) -> None:
        """Pass on that blocks are inactive again."""
        self.inner.release(keys)


def timed(recipe: Recipe) -> tuple[Recipe, Searches]:
    """Return a recipe that does the same, and the record of its searches.

    Examples
    --------
    >>> from graftwork.recipes.grafting import grafting
    >>> timed(grafting())[0].name
    'grafting'
    """
    searches = Searches()
    return replace(recipe, selector=Timed(recipe.selector, searches)), searches


class Snapshots(PassOn):
    """An observer that keeps the last network of each kind, and passes everything on.

    Attributes
    ----------
    found : dict
        For each kind that occurred, its last round and the network then.
    """

    def __init__(self, inner: Observer, kind: Callable[[Round], Hashable]) -> None:
        self.found: dict[Any, tuple[Round, Potentials]] = {}
        super().__init__(inner)
        self._kind = kind
        self._round: Round | None = None

    def on_round(self, record: Round) -> None:
        """Remember the round, and pass it on."""
        self._round = record
        self._inner.on_round(record)

    def on_network(self, potentials: Potentials) -> None:
        """Keep the network of the round just reported, and pass it on."""
        if self._round is not None:
            self.found[self._kind(self._round)] = (self._round, potentials)
        self._inner.on_network(potentials)


class Album(PassOn):
    """An observer that keeps the networks of some rounds.

    It keeps every network, then every second, every fourth: memory does not grow with the rounds.
    """

    def __init__(self, inner: Observer, most: int) -> None:
        super().__init__(inner)
        self._most, self._every, self._index = most, 1, 0
        self._kept: dict[int, Potentials] = {}
        self._last: Potentials | None = None

    def on_round(self, record: Round) -> None:
        """Remember which round it was, and pass it on."""
        self._index = record.index
        self._inner.on_round(record)

    def on_network(self, potentials: Potentials) -> None:
        """Keep the network if it is its turn, and pass it on."""
        self._last = potentials
        if self._index % self._every == 0:
            self._kept[self._index] = potentials
        if len(self._kept) > 2 * self._most:
            self._every *= 2
            self._kept = {i: kept for i, kept in self._kept.items() if i % self._every == 0}
        self._inner.on_network(potentials)

    def networks(self) -> tuple[tuple[int, Potentials], ...]:
        """Return the networks of at most `most` rounds, the first and the last among them."""
        if self._last is None:
            return ()
        kept = sorted({**self._kept, self._index: self._last}.items())
        places = np.linspace(0, len(kept) - 1, min(len(kept), self._most)).round().astype(int)
        return tuple(kept[i] for i in places.tolist())


class Seen(PassOn):
    """An observer that counts the different features there were at the end of any round.

    A feature that comes and goes within one round is not seen: it never had a weight.

    Attributes
    ----------
    counts : list of int
        How many there were by the end of each round.
    """

    def __init__(self, inner: Observer) -> None:
        super().__init__(inner)
        self._seen: set[int] = set()
        self.counts: list[int] = []

    def on_network(self, potentials: Any) -> None:
        """Count the features that are new, and pass it on."""
        self._seen.update(potentials.layout.features.tolist())
        self.counts.append(len(self._seen))
        self._inner.on_network(potentials)


class CpuClock(PassOn):
    """An observer that measures the CPU seconds of a run, all threads together.

    They run from the first round to the last: reading data and compilation are not included.
    """

    def __init__(self, inner: Observer) -> None:
        super().__init__(inner)
        self._times: list[float] = []

    @property
    def seconds(self) -> float:
        """CPU seconds so far."""
        return self._times[-1] - self._times[0] if self._times else 0.0

    def on_round(self, record: Round) -> None:
        """Read the clock, and pass it on."""
        self._times.append(time.process_time())
        self._inner.on_round(record)


def curve_of(
    rounds: Sequence[Mapping[str, Any]], names: Sequence[str], points: int = POINTS
) -> dict[str, list[float]]:
    """Return columns of the records of at most ``points`` rounds, both ends included.

    Examples
    --------
    >>> curve_of([{"a": k} for k in range(9)], ["a"], 3)
    {'a': [0, 4, 8]}
    """
    last, steps = len(rounds) - 1, max(min(points, len(rounds)) - 1, 1)
    kept = [rounds[k * last // steps] for k in range(steps + 1)] if last > 0 else rounds
    return {name: [record[name] for record in kept] for name in names}


def first_below(curve: Mapping[str, Sequence[float]], name: str, bound: float) -> int | None:
    """Return the first place of a curve where a column is at most the bound.

    Examples
    --------
    >>> first_below({"objective": [3.0, 2.0, 1.0]}, "objective", 2.5)
    1
    """
    return next((k for k, value in enumerate(curve[name]) if value <= bound), None)
