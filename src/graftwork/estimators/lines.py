"""What verbose=1 shows."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from graftwork.errors import ParameterError
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
