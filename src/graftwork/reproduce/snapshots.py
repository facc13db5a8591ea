"""Networks on the way of a learner, kept for later."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from graftwork.grafting.trace import Observer, PassOn, Round
from graftwork.inference.layout import Potentials


class Snapshots(PassOn):
    """An observer that keeps the last network of each kind, and passes everything on.

    Attributes
    ----------
    found : dict
        For each kind that occurred, the last round of it and its network.
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
        """Keep the network of the round just told, and pass it on."""
        if self._round is not None:
            self.found[self._kind(self._round)] = (self._round, potentials)
        self._inner.on_network(potentials)
