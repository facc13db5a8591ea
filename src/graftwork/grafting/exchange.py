"""Exchange edges of a full network for as many others, and keep the best network seen.

References
----------
Abdelatty, Sahoo and Roy, Structure learning using forced pruning, Algorithm 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, Protocol

import numpy as np

from graftwork.grafting.bench import Bench
from graftwork.grafting.certificate import Stop
from graftwork.grafting.support import Network
from graftwork.inference.layout import Ints
from graftwork.settings import check_whole

# A restart replaces this share of the best network's edges by pairs drawn at random.
SHAKEN = 1 / 3

#: Why exchanges ended: no exchange of one edge improved the network; all rounds from one start were
#: used; every deletion drawn was rejected; no edge or no pair to exchange; or a `Stop` of the run.
End = Literal["local-optimum", "rounds-used", "all-rejected", "nothing-to-exchange"] | Stop
#: Why there are fewer edges than asked for: no pair improves the network, there are no more pairs,
#: or a `Stop` of the run.
Shortfall = Literal["no-improvement", "no-pairs"] | Stop


@dataclass(slots=True)
class Tally:
    """What an exchange did.

    Attributes
    ----------
    rule : str
        Which rule exchanged them: "greedy", "rejection", "mcmc", or what another calls itself.
    wanted : int or None
        How many edges there were to be; None where nobody said: as many as at the start.
    edges : int
        How many there are.
    rounds : int
        Steps of the rule.
    accepted : int
        Exchanges that stood.
    cycles : int
        Exchanges that would have led back to edges tried before.
    proposals : int
        Exchanges that a sampling rule drew.
    restarts : int
        New beginnings from a partly random network.
    first, best : float
        The objective at the beginning, and of the best network.
    ended : End or None
        Why it ended; None where there was no exchange.
    limit : int or None
        The limit that ended it: rounds from a start, draws for one exchange, edges tried in vain.
    row_loss : float
        The mean loss of a row where every deletion drawn was rejected: they are accepted with
        probability exp(-loss) at most.
    shortfall : Shortfall or None
        Why there are fewer edges than wanted, if there are.
    """

    rule: str = ""
    wanted: int | None = None
    edges: int = 0
    rounds: int = 0
    accepted: int = 0
    cycles: int = 0
    proposals: int = 0
    restarts: int = 0
    first: float = math.nan
    best: float = math.nan
    ended: End | None = None
    limit: int | None = None
    row_loss: float = math.nan
    shortfall: Shortfall | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the tally as a plain dictionary; what is unknown is None."""
        return {name: None if value != value else value for name, value in asdict(self).items()}

    @staticmethod
    def from_dict(plain: Mapping[str, Any]) -> Tally:
        """Return the tally that `to_dict` made a dictionary of."""
        known = {f.name: plain[f.name] for f in fields(Tally) if f.name in plain}
        unknown = {name: math.nan for name in _NUMBERS if known.get(name, 0.0) is None}
        return Tally(**known | unknown)

    def end(self, why: End, limit: int | None = None, row_loss: float = math.nan) -> None:
        """Note why the exchanges end."""
        self.ended, self.limit, self.row_loss = why, limit, row_loss


_NUMBERS = ("first", "best", "row_loss")


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A network after an exchange, and how many edges came and went."""

    network: Network
    came: int
    gone: int


class Exchanging(Protocol):
    """A rule at work on one network after another."""

    def step(self, current: Network, seen: Callable[[Network], None]) -> Network | None:
        """Return the network after a round (or the same one), None when there is no use.

        Networks on the way that are not returned are shown to ``seen``.
        """
        ...


class ExchangeRule(Protocol):
    """Says which edges are exchanged, and whether the exchange stands."""

    @property
    def name(self) -> str:
        """What a `Tally` calls it."""
        ...

    def begin(self, bench: Bench, rng: np.random.Generator, tally: Tally) -> Exchanging:
        """Return the rule at work; it notes what it does in the tally."""
        ...


@dataclass(frozen=True, slots=True)
class Exchange:
    """Rounds of exchanges by a rule, with restarts.

    Parameters
    ----------
    rule : ExchangeRule
    rounds : int
        Most exchanges from one start.
    restarts : int
        How often to begin again from the best network with a third of its edges replaced at random.
    """

    rule: ExchangeRule
    rounds: int = 100
    restarts: int = 0

    def __post_init__(self) -> None:
        check_whole("rounds", self.rounds, 0)
        check_whole("restarts", self.restarts, 0)

    def begin(
        self, bench: Bench, network: Network, rng: np.random.Generator, tally: Tally
    ) -> Search:
        """Return a search from a full network."""
        return Search(self, bench, network, rng, tally)


@dataclass(slots=True, eq=False)
class Search:
    """A search at work: the network it stands at, and the best one seen."""

    settings: Exchange
    bench: Bench
    best: Network
    rng: np.random.Generator
    tally: Tally
    current: Network = field(init=False)
    _at_work: Exchanging = field(init=False)
    _left: int = field(init=False)

    def __post_init__(self) -> None:
        self.current = self.best
        self.tally.rule = self.settings.rule.name
        self.tally.first = self.tally.best = self.best.solution.objective
        self._begin()

    def step(self) -> Step | None:
        """Return the network after another exchange or restart; None when the search is over."""
        before, after = self.current, None
        if self._left:
            after = self._at_work.step(before, self._note)
            self._left -= 1
        self.tally.rounds += after is not None
        if after is None and self.tally.restarts < self.settings.restarts:
            after = self._restart()
        if after is None:
            if not self._left:
                self.tally.end("rounds-used", self.settings.rounds)
            return None
        self.current = after
        self._note(after)
        old, new = (net.active(self.bench.space) for net in (before, after))
        return Step(after, len(np.setdiff1d(new, old)), len(np.setdiff1d(old, new)))

    def _begin(self) -> None:
        self._left = self.settings.rounds
        self._at_work = self.settings.rule.begin(self.bench, self.rng, self.tally)

    def _note(self, network: Network) -> None:
        """Keep the best network seen."""
        if improves(network, self.best):
            self.best, self.tally.best = network, network.solution.objective

    def _restart(self) -> Network | None:
        """Return the best network with a share of its edges replaced by pairs drawn at random."""
        active, absent = self.best.active(self.bench.space), self.bench.absent(self.best)
        active = active[self.bench.loose(self.best)]
        count = min(max(1, round(SHAKEN * len(active))), len(active), len(absent))
        if not count:
            return None
        self.tally.restarts += 1
        leaving = self.rng.choice(active, count, replace=False)
        entering = self.rng.choice(absent, count, replace=False)
        self._begin()
        return self.bench.joined(self.bench.without(self.best, leaving), entering)


def improves(network: Network, other: Network, margin: float = 0.0) -> bool:
    """Return whether a network has a lower objective than another, by more than a margin.

    Where inference is approximate and did not converge, the objective means nothing: such a network
    is never better than one that can be trusted.
    """
    here, there = network.solution, other.solution
    if here.point.trusted != there.point.trusted:
        return bool(here.point.trusted)
    return here.objective < there.objective - margin


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
