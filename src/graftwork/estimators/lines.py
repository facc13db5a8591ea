"""What verbose=1 shows."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from graftwork.errors import ParameterError
from graftwork.grafting import Round
from graftwork.grafting.trace import Observer, Silence
from graftwork.inference.layout import Potentials
from graftwork.text import harmless

#: Seconds without a line before a round that takes long says how far it is.
_PAUSE = 5.0


class Lines:
    """An observer that writes a line per round to standard error, and more in long rounds."""

    def __init__(self, noun: str = "edge", pause: float = _PAUSE) -> None:
        self.noun, self._pause = noun, pause
        self._began = self._last = time.monotonic()
        self._round = 0

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Write the stage."""
        self._write(f"[{step + 1}/{steps}] {text}")

    def on_step(self, steps: int) -> None:
        """Write how many steps the round has taken, if the last line was long ago."""
        now = time.monotonic()
        if now - self._last >= self._pause:
            seconds = now - self._began
            self._write(f"round {self._round}: solving, step {steps:,}, {seconds:.1f} s")

    def on_round(self, record: Round) -> None:
        """Write the round."""
        self._round = record.index + 1
        self._began = time.monotonic() - record.seconds
        self._write(
            f"round {record.index}: {record.edges} {self.noun}s, objective {record.objective:.6f}, "
            f"{record.watched()}, {record.seconds:.1f} s"
        )

    def on_network(self, potentials: Potentials) -> None:
        """Write nothing: the round has been told."""

    def on_search(self, tested: int, total: int) -> None:
        """Write nothing: searches are many."""

    def _write(self, line: str) -> None:
        sys.stderr.write(harmless(line) + "\n")
        sys.stderr.flush()
        self._last = time.monotonic()


def watcher(verbose: Any, lines: Lines) -> Observer:
    """Return who watches a run: an observer, these lines if verbose, or nobody."""
    if verbose is None or isinstance(verbose, int | np.bool_):
        return lines if verbose else Silence()
    missing = [name for name in dir(Silence) if name.startswith("on_")]
    missing = [name for name in missing if not callable(getattr(verbose, name, None))]
    if missing:
        raise ParameterError(
            "verbose must be 0, 1 or have the methods of graftwork.grafting.trace.Observer; "
            f"{type(verbose).__name__} has no {', '.join(missing)}."
        )
    watching: Observer = verbose
    return watching
