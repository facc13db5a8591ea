"""Rules for exchanges that delete first and then add what gains most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from graftwork.grafting.bench import Bench
from graftwork.grafting.exchange import (
    Tally,
    improves,
    same_edges,
    size_of_exchange,
)
from graftwork.grafting.support import Network
from graftwork.inference.layout import Ints
from graftwork.settings import check_whole

# An exchange stands if it lowers the objective by more than solving to ACCURACY leaves open.
MARGIN = 1e-7
# Single edges that are tried in vain before a network counts as a local optimum.
PATIENCE = 8
_EMPTY = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Greedy:
    """Delete the edges whose removal costs least; keep the exchange if the objective fell.

    When it did not, half as many edges are exchanged, down to one; then one edge after the other.
    So no network comes twice: an exchange that would lead back is noticed before it is solved.

    Parameters
    ----------
    count : int, optional
        Edges exchanged at once at first; default a quarter of them.
    """

    count: int | None = None
    name = "greedy"

    def __post_init__(self) -> None:
        if self.count is not None:
            check_whole("exchange", self.count, 1)

    def begin(self, bench: Bench, rng: np.random.Generator, tally: Tally) -> _Descent:
        """Return the rule at work; it needs no chance."""
        return _Descent(bench, tally, size_of_exchange(self.count, bench.most))


@dataclass(slots=True, eq=False)
class _Descent:
    bench: Bench
    tally: Tally
    size: int
    ranked: tuple[Network, int, Ints] | None = None
    failed: int = 0

    def step(self, current: Network, seen: Callable[[Network], None]) -> Network | None:
        """Return the exchanged network if it is better, else the same one."""
        bench = self.bench
        leaving = self._leaving(current)
        if not self.size or not len(leaving):
            self.tally.end("local-optimum", PATIENCE)
            return None
        less = bench.solve(bench.without(current, leaving))
        entering = bench.best(less, bench.most - less.layout.n_edges, _EMPTY)
        if same_edges(leaving, entering):
            self.tally.cycles += 1
        else:
            trial = bench.joined(less, entering)
            if improves(trial, current, MARGIN):
                self.tally.accepted += 1
                self.failed = 0
                return trial
        if self.size > 1:
            self.size //= 2
        else:
            self.failed += 1
        return current

    def _leaving(self, current: Network) -> Ints:
        """Return the edges to try without: the cheapest, or the next one after failures."""
        if self.failed >= PATIENCE:
            return _EMPTY
        if self.ranked is None or self.ranked[0] is not current or self.ranked[1] != self.size:
            self.ranked = current, self.size, self.bench.cheapest(current, self.size)
        return self.ranked[2][self.failed : self.failed + self.size]


@dataclass(frozen=True, slots=True)
class Rejection:
    """Delete edges drawn at random: likelier, the better the rest of the network is without them.

    A set of edges is drawn evenly and accepted with the network's mean likelihood of a row without
    them (the geometric mean; of all rows together it would never accept). No deletion can be better
    than the fitted network, so most draws are rejected, and counted, without evaluating the loss:
    the numbers are those of drawing one after the other. Every exchange stands.

    Parameters
    ----------
    count : int, optional
        Edges exchanged at once; default a quarter of them.
    proposals : int
        Draws for one exchange before it gives up.

    References
    ----------
    Abdelatty, Sahoo and Roy, section "Our approach": M g(x) = 1.
    """

    count: int | None = None
    proposals: int = 1_000_000
    name = "rejection"

    def __post_init__(self) -> None:
        if self.count is not None:
            check_whole("exchange", self.count, 1)
        check_whole("proposals", self.proposals, 1)

    def begin(self, bench: Bench, rng: np.random.Generator, tally: Tally) -> _Sampling:
        """Return the rule at work."""
        size = size_of_exchange(self.count, bench.most)
        return _Sampling(bench, tally, size, self.proposals, rng)


@dataclass(slots=True, eq=False)
class _Sampling:
    bench: Bench
    tally: Tally
    size: int
    most: int
    rng: np.random.Generator
    seen: set[bytes] = field(default_factory=set)

    def step(self, current: Network, seen: Callable[[Network], None]) -> Network | None:
        """Return the exchanged network, better or not; None when no deletion was accepted."""
        bench = self.bench
        leaving = self._draw(current)
        if leaving is None:
            return None
        self.seen.add(_fingerprint(current.active(bench.space)))
        less = bench.solve(bench.without(current, leaving))
        room = bench.most - less.layout.n_edges
        entering = bench.best(less, room, _EMPTY)
        kept = less.active(bench.space)
        if _fingerprint(np.concatenate([kept, entering])) in self.seen:
            self.tally.cycles += 1
            entering = bench.best(less, room, leaving)  # others instead of those just deleted
        self.tally.accepted += 1
        return bench.joined(less, entering)

    def _draw(self, current: Network) -> Ints | None:
        """Return the edges of the first draw accepted; None when too many were rejected."""
        keys, loss = current.active(self.bench.space), current.solution.point.value
        keys = keys[self.bench.loose(current)]
        size, spent = min(self.size, len(keys)), 0
        while size and not self.bench.ledger.late():
            spent += int(min(self.rng.geometric(min(max(np.exp(-loss), 1e-300), 1.0)), 2**62))
            if spent > self.most:
                self.tally.proposals += self.most
                self.tally.end("all-rejected", self.most, loss)
                return None
            leaving = self.rng.choice(keys, size, replace=False)
            rise = self.bench.without(current, leaving).solution.point.value - loss
            if self.rng.random() < np.exp(-max(0.0, rise)):
                self.tally.proposals += spent
                return leaving
        return None


def _fingerprint(keys: Ints) -> bytes:
    """Return what tells sets of keys apart."""
    return np.sort(keys).tobytes()
