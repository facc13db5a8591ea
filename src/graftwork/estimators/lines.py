"""What verbose=1 shows."""

from __future__ import annotations

import sys
from typing import Any

from graftwork.estimators.parts import ParameterError
from graftwork.grafting import Round
from graftwork.grafting.trace import Observer, Silence
from graftwork.inference.layout import Potentials


class Lines:
    """An observer that writes a line a round to standard error.

    Parameters
    ----------
    noun : str
        What is counted.
    """

    def __init__(self, noun: str = "edge") -> None:
        self.noun = noun

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Write the stage."""
        sys.stderr.write(f"[{step + 1}/{steps}] {text}\n")

    def on_round(self, record: Round) -> None:
        """Write the round."""
        sys.stderr.write(
            f"round {record.index}: {record.edges} {self.noun}s, objective {record.objective:.6f}, "
            f"{record.watched()}, {record.seconds:.1f} s\n"
        )

    def on_network(self, potentials: Potentials) -> None:
        """Write nothing: the round has been told."""

    def on_search(self, tested: int, total: int) -> None:
        """Write nothing: searches are many."""


def watcher(estimator: Any, lines: Lines) -> Observer:
    """Return who watches an estimator's run: its observer, these lines if verbose, or nobody."""
    observer = estimator.observer
    if observer is None:
        return lines if estimator.verbose else Silence()
    missing = [name for name in dir(Silence) if name.startswith("on_")]
    missing = [name for name in missing if not callable(getattr(observer, name, None))]
    if missing:
        raise ParameterError(
            f"observer must have the methods of graftwork.grafting.trace.Observer; "
            f"{type(observer).__name__} has no {', '.join(missing)}."
        )
    watching: Observer = observer
    return watching
