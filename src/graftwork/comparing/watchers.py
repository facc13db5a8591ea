"""Observers that keep what the evaluation of a run needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from graftwork.grafting.trace import Observer, PassOn, Round
from graftwork.inference.layout import Potentials


class Album(PassOn):
    """An observer that keeps the networks of some rounds.

    It keeps every network, then every second, every fourth: memory does not grow with the rounds.
    """

    def __init__(self, inner: Observer, most: int) -> None:
        super().__init__(inner)
        self._most, self._every = most, 1
        self._kept: dict[int, Potentials] = {}
        self._last: tuple[int, Potentials] | None = None
        self._record: Round | None = None

    def on_round(self, record: Round) -> None:
        """Remember which round it was, and pass it on."""
        self._record = record
        self._inner.on_round(record)

    def on_network(self, potentials: Potentials) -> None:
        """Keep the network if it is its turn, and pass it on."""
        assert self._record is not None  # a round is told before its network
        index = self._record.index
        self._last = index, potentials
        if index % self._every == 0:
            self._kept[index] = potentials
        if len(self._kept) > 2 * self._most:
            self._every *= 2
            self._kept = {i: kept for i, kept in self._kept.items() if i % self._every == 0}
        self._inner.on_network(potentials)

    def networks(self) -> tuple[tuple[int, Potentials], ...]:
        """Return the networks of at most `most` rounds, the first and the last among them."""
        if self._last is None:
            return ()
        kept = sorted({**self._kept, self._last[0]: self._last[1]}.items())
        places = np.linspace(0, len(kept) - 1, min(len(kept), self._most)).round().astype(int)
        return tuple(kept[i] for i in places.tolist())


class Seen(PassOn):
    """An observer that counts the different features there were at the end of any round.

    A feature that comes and goes within one round is not seen: it never had a weight.
    """

    def __init__(self, inner: Observer) -> None:
        super().__init__(inner)
        self._seen = np.zeros(0, dtype=bool)
        self._counts: list[int] = []

    def on_network(self, potentials: Any) -> None:
        """Count the features that are new, and pass it on."""
        features = potentials.layout.features
        more = int(features.max(initial=-1)) + 1 - len(self._seen)
        if more > 0:
            self._seen = np.concatenate([self._seen, np.zeros(more, dtype=bool)])
        self._seen[features] = True
        self._counts.append(int(self._seen.sum()))
        self._inner.on_network(potentials)

    def by_round(self, rounds: int) -> tuple[int, ...]:
        """Return how many features were seen by each round.

        An interrupt may fall between the last round and its network, which is then not new.
        """
        last = self._counts[-1] if self._counts else 0
        return tuple(self._counts[:rounds]) + (last,) * (rounds - len(self._counts))
