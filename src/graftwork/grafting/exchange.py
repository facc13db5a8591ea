"""Exchange edges of a full network: so many out, so many in, and keep the best network seen.

References
----------
Abdelatty, Sahoo and Roy, Structure learning using forced pruning, Algorithm 2.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np

from graftwork.grafting.bench import Bench
from graftwork.grafting.support import Network
from graftwork.inference.layout import Ints
from graftwork.settings import check_whole

# A restart replaces this share of the best network's edges by pairs drawn at random.
SHAKEN = 1 / 3


@dataclass(slots=True)
class Tally:
    """What an exchange did.

    Attributes
    ----------
    rounds : int
        Exchanges tried.
    accepted : int
        How many of them were kept.
    cycles : int
        How many led back to edges tried before.
    proposals : int
        Sets of edges (or pairs of edges) that a sampling rule drew.
    restarts : int
        New beginnings from a partly random network.
    ended : str
        Why it ended, in words.
    first, best : float
        The objective at the beginning, and of the best network.
    """

    rounds: int = 0
    accepted: int = 0
    cycles: int = 0
    proposals: int = 0
    restarts: int = 0
    ended: str = "a budget was reached"
    first: float = float("nan")
    best: float = float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Return the tally as a plain dictionary."""
        return asdict(self)

    def words(self) -> str:
        """Return the tally in plain words.

        Examples
        --------
        >>> Tally(rounds=1, first=2.0, best=2.0, ended="it was enough").words()
        '1 exchange tried, 0 kept; the objective stayed at 2. It ended because it was enough.'
        """
        text = f"{self.rounds:,} exchange{'s'[: self.rounds != 1]} tried, {self.accepted:,} kept; "
        fell = self.best < self.first
        text += (
            f"the objective fell from {self.first:.6g} to {self.best:.6g}."
            if fell
            else (f"the objective stayed at {self.best:.6g}.")
        )
        if self.proposals:
            text += f" {self.proposals:,} proposals were drawn."
        if self.cycles:
            text += f" {self.cycles:,} led back to edges tried before and were broken off."
        if self.restarts:
            text += f" {self.restarts:,} random restart{'s'[: self.restarts != 1]}."
        return f"{text} It ended because {self.ended}."


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A network after an exchange, and how many edges came and went."""

    network: Network
    came: int
    gone: int


class Exchanging(Protocol):
    """A rule at work on one network after another."""

    def step(self, current: Network) -> Network | None:
        """Return the network after one exchange (or the same), None when there is no use."""
        ...


class Rule(Protocol):
    """Says which edges are exchanged, and whether the exchange stands."""

    def begin(self, bench: Bench, rng: np.random.Generator, tally: Tally) -> Exchanging:
        """Return the rule at work; it notes what it does in the tally."""
        ...


@dataclass(frozen=True, slots=True)
class Exchange:
    """Rounds of exchanges by a rule, with restarts.

    Parameters
    ----------
    rule : Rule
    rounds : int
        Most exchanges from one start.
    restarts : int
        How often to begin again from the best network with a third of its edges replaced at random.
    """

    rule: Rule
    rounds: int = 100
    restarts: int = 0

    def __post_init__(self) -> None:
        check_whole("rounds", self.rounds, 0)
        check_whole("restarts", self.restarts, 0)

    def begin(self, bench: Bench, network: Network, rng: np.random.Generator) -> Search:
        """Return a search from a full network."""
        return Search(self, bench, network, rng)


@dataclass(slots=True, eq=False)
class Search:
    """A search at work: the network it stands at, and the best one seen."""

    settings: Exchange
    bench: Bench
    best: Network
    rng: np.random.Generator
    tally: Tally = field(default_factory=Tally)
    current: Network = field(init=False)
    _at_work: Exchanging = field(init=False)
    _left: int = field(init=False)

    def __post_init__(self) -> None:
        self.current = self.best
        self.tally.first = self.tally.best = self.best.solution.objective
        self._begin()

    def step(self) -> Step | None:
        """Return the network after another exchange or restart; None when the search is over."""
        before, after = self.current, None
        if self._left:
            after = self._at_work.step(before)
            self._left -= 1
        if after is not None:
            self.tally.rounds += 1
        elif self.tally.restarts < self.settings.restarts and before.layout.n_edges:
            after = self._restart()
        else:
            self.tally.ended = self._reason()
            return None
        self.current = after
        if after.solution.objective < self.best.solution.objective:
            self.best, self.tally.best = after, after.solution.objective
        old, new = (net.active(self.bench.space) for net in (before, after))
        return Step(after, len(np.setdiff1d(new, old)), len(np.setdiff1d(old, new)))

    def _begin(self) -> None:
        self._left = self.settings.rounds
        self._at_work = self.settings.rule.begin(self.bench, self.rng, self.tally)

    def _restart(self) -> Network:
        """Return the best network with a share of its edges replaced by pairs drawn at random."""
        self.tally.restarts += 1
        active = self.best.active(self.bench.space)
        count = max(1, round(SHAKEN * len(active)))
        leaving = self.rng.choice(active, count, replace=False)
        absent = np.setdiff1d(self.bench.absent(self.best), leaving)
        entering = self.rng.choice(absent, min(count, len(absent)), replace=False)
        self._begin()
        less = self.bench.without(self.best, leaving)
        return self.bench.joined(less, entering)

    def _reason(self) -> str:
        if not self._left:
            return f"{self.settings.rounds:,} exchanges from one start were asked for"
        return self.tally.ended


def same_edges(first: Ints, second: Ints) -> bool:
    """Return whether two sets of keys are the same.

    Examples
    --------
    >>> same_edges(np.array([1, 2]), np.array([2, 1]))
    True
    """
    return len(first) == len(second) and bool((np.sort(first) == np.sort(second)).all())


def size_of_exchange(count: int | None, most: int) -> int:
    """Return how many edges are exchanged at once: as asked for, by default a quarter of them.

    Examples
    --------
    >>> size_of_exchange(None, 100), size_of_exchange(10, 4)
    (25, 4)
    """
    return min(most, max(1, most // 4) if count is None else count)
