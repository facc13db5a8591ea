"""What a run took, and what is kept of its way: CPU seconds, thinned curves."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from graftwork.grafting.trace import Observer, PassOn, Round

#: So many points of a curve are kept.
POINTS = 200


class CpuClock(PassOn):
    """An observer that counts the CPU seconds of a run, all threads together.

    They run from the first round to the last: reading data and compilation are not among them.

    Examples
    --------
    >>> from graftwork.grafting.trace import Silence
    >>> CpuClock(Silence()).seconds
    0.0
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
    """Return columns of the records of rounds, no more than so many rounds, the ends among them.

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
