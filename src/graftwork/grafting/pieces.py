"""Runs of the loop in a journal: finished ones are not run again, others go on where they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graftwork.grafting.certificate import Certificate
from graftwork.grafting.exchange import Tally
from graftwork.grafting.trace import Observer, PassOn, Round
from graftwork.journal import Journal, keepable


@keepable
@dataclass(frozen=True, slots=True, eq=False)
class Finished:
    """What is kept of a run that came to its end.

    Attributes
    ----------
    network : Potentials or FeatureWeights
    certificate, trace, exchange
        Of the outcome.
    rng : dict
        The state of the random numbers after it.
    memory : object
        What the observer has seen, if that is to be kept.
    """

    network: Any
    certificate: Certificate
    trace: tuple[Round, ...]
    exchange: Tally | None
    rng: dict[str, Any]
    memory: Any = None

    @staticmethod
    def of(
        network: Any,
        certificate: Certificate,
        trace: tuple[Round, ...],
        exchange: Tally | None,
        rng: np.random.Generator,
        observer: Observer,
    ) -> Finished:
        """Return what is kept of an outcome."""
        memory = getattr(observer, "memory", None)
        state = dict(rng.bit_generator.state)
        seen = None if memory is None else memory()
        return Finished(network, certificate, trace, exchange, state, seen)

    def remind(self, observer: Observer) -> None:
        """Give an observer what it had seen."""
        if self.memory is not None:
            observer.remember(self.memory)  # type: ignore[attr-defined]


@keepable
@dataclass(frozen=True, slots=True, eq=False)
class SoFar:
    """The network of a run that is under way."""

    network: Any


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """One run in a journal, or in none.

    Attributes
    ----------
    journal : Journal or None
    key : str
        Its number.
    about : list
        What must be the same.
    """

    journal: Journal | None
    key: str
    about: list[Any]

    @staticmethod
    def begin(observer: Observer, *about: Any) -> Piece:
        """Return the next run of an observer's journal."""
        journal = getattr(observer, "journal", None)
        return Piece(journal, "" if journal is None else journal.begin("fit"), list(about))

    def finished(self) -> Finished | None:
        """Return what is kept of it if it came to its end before."""
        found = self._found()
        return found if isinstance(found, Finished) else None

    def so_far(self) -> Any:
        """Return the network that it had before; None if it is new."""
        found = self._found()
        return found.network if isinstance(found, SoFar) else None

    def finish(self, outcome: Finished) -> None:
        """Keep what it ended with."""
        if self.journal is not None:
            self.journal.keep(self.key, outcome, self.about)

    def watching(self, observer: Observer) -> Observer:
        """Return an observer that also keeps the network of every round."""
        journal = self.journal
        if journal is None or not journal.partial:
            return observer
        return _Keeping(observer, journal, self)

    def _found(self) -> Any:
        return None if self.journal is None else self.journal.recall(self.key, self.about)


class _Keeping(PassOn):
    """Keeps the network of the last round; the first is where the run began."""

    def __init__(self, inner: Observer, journal: Journal, piece: Piece) -> None:
        super().__init__(inner)
        self._journal, self._piece, self._rounds = journal, piece, 0

    def on_network(self, potentials: Any) -> None:
        """Keep it, and pass it on."""
        if self._rounds:
            self._journal.keep(self._piece.key, SoFar(potentials), self._piece.about)
        self._rounds += 1
        super().on_network(potentials)
