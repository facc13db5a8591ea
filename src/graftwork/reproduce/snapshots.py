"""Networks on the way of a learner, kept for later."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from graftwork.grafting.trace import Observer, Round
from graftwork.inference.layout import Potentials


class Snapshots:
    """An observer that keeps the last network of each kind, and passes everything on.

    Attributes
    ----------
    found : dict
        For each kind that occurred, the last round of it and its network.
    """

    def __init__(self, inner: Observer, kind: Callable[[Round], Hashable]) -> None:
        self.found: dict[Any, tuple[Round, Potentials]] = {}
        self._inner, self._kind = inner, kind
        self._round: Round | None = None

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Pass it on."""
        self._inner.on_stage(text, step, steps)

    def on_round(self, record: Round) -> None:
        """Remember the round, and pass it on."""
        self._round = record
        self._inner.on_round(record)

    def on_network(self, potentials: Potentials) -> None:
        """Keep the network of the round just told, and pass it on."""
        if self._round is not None:
            self.found[self._kind(self._round)] = (self._round, potentials)
        self._inner.on_network(potentials)

    def on_search(self, tested: int, total: int) -> None:
        """Pass it on."""
        self._inner.on_search(tested, total)

    def on_step(self, steps: int) -> None:
        """Pass it on, to those who want to hear of it."""
        told = getattr(self._inner, "on_step", None)
        if told is not None:
            told(steps)
