"""What the loop tells while it runs: one record a round, counters beside clocks."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from graftwork.inference.layout import Potentials


@dataclass(frozen=True, slots=True)
class Round:
    """One round of the loop.

    Attributes
    ----------
    index : int
        Number of the round, from 0 (the network as it started).
    edges, blocks : int
        Edges and active blocks (edges, or single features) after the round.
    activated, pruned : int
        How many blocks came and went in it.
    objective, loss : float
        At the end of the round; the penalty is the difference.
    violation : float
        Largest violation seen when the round's edges were chosen (NaN where nobody looked: in
        round 0, and where edges were exchanged).
    stationarity : float
        Residual over the active blocks at the end of the round.
    accuracy : float
        What the round was solved to.
    trusted : bool
        Whether the inference behind the round's last gradient converged (belief propagation may
        not; it is damped first).
    evaluations, blocks_scored, tables_counted : int
        Totals so far: loss evaluations, scores of inactive pairs, pair tables computed.
    seconds : float
        Since the run began.
    lam : float
        The penalty's strength in this round.
    """

    index: int
    edges: int
    blocks: int
    activated: int
    pruned: int
    objective: float
    loss: float
    violation: float
    stationarity: float
    accuracy: float
    trusted: bool
    evaluations: int
    blocks_scored: int
    tables_counted: int
    seconds: float
    lam: float

    def watched(self) -> str:
        """Return what there is to watch: the worst violation, or how many edges came and went."""
        if math.isnan(self.violation):
            return f"{self.activated:,} in, {self.pruned:,} out"
        return f"worst violation {self.violation:.2g}"

    def to_dict(self) -> dict[str, Any]:
        """Return the record as a plain dictionary."""
        return asdict(self)


class Observer(Protocol):
    """Somebody who watches a run: a progress bar, a log, a test.

    It may also have ``on_step(steps)``, which is called with the number of solver steps since the
    last round.
    """

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Take note that a stage begins, with ``step`` of ``steps`` stages done before it."""
        ...

    def on_round(self, record: Round) -> None:
        """Take note of a finished round."""
        ...

    def on_network(self, potentials: Potentials) -> None:
        """Take note of the network at the end of the round just told."""
        ...

    def on_search(self, tested: int, total: int) -> None:
        """Take note that so many of all blocks were scored since the last round."""
        ...


class Silence:
    """An observer that does nothing."""

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Do nothing."""

    def on_round(self, record: Round) -> None:
        """Do nothing."""

    def on_network(self, potentials: Potentials) -> None:
        """Do nothing."""

    def on_search(self, tested: int, total: int) -> None:
        """Do nothing."""


class PassOn:
    """An observer that tells another one everything; what is made of it listens on the way."""

    def __init__(self, inner: Observer) -> None:
        self._inner = inner

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Pass it on."""
        self._inner.on_stage(text, step, steps)

    def on_round(self, record: Round) -> None:
        """Pass it on."""
        self._inner.on_round(record)

    def on_network(self, potentials: Any) -> None:
        """Pass it on."""
        self._inner.on_network(potentials)

    def on_step(self, steps: int) -> None:
        """Pass it on to those who want to know."""
        told = getattr(self._inner, "on_step", None)
        if told is not None:
            told(steps)

    def on_search(self, tested: int, total: int) -> None:
        """Pass it on."""
        self._inner.on_search(tested, total)
