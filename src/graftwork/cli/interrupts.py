"""Ctrl-C: once to stop and keep what there is, twice to give up."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from graftwork.cli.progress import Progress
    from graftwork.grafting.trace import Round


class Aborted(BaseException):
    """The second Ctrl-C. Nothing that waits for the first one catches it."""


class Interrupts:
    """While open, the first Ctrl-C raises KeyboardInterrupt and the second Aborted.

    Attributes
    ----------
    seen : bool
        Whether there was one.
    """

    def __init__(self) -> None:
        self.seen = False
        self._before: Any = None

    def __enter__(self) -> Self:
        ours = threading.current_thread() is threading.main_thread()
        # Somebody who ignores interrupts (nohup, a background job) goes on ignoring them.
        if ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.seen:
            raise Aborted
        self.seen = True
        raise KeyboardInterrupt


class Stoppable:
    """Passes everything on to a progress display, and insists on an interrupt already seen.

    An interrupt that falls between two parts of a run ends only the part it falls into; at the
    next sign of life it is raised once more.
    """

    def __init__(self, progress: Progress, interrupts: Interrupts) -> None:
        self._progress, self._interrupts = progress, interrupts

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Pass it on."""
        self._progress.on_stage(text, step, steps)

    def on_round(self, record: Round) -> None:
        """Pass it on, unless the run should have ended."""
        self._insist()
        self._progress.on_round(record)

    def on_search(self, tested: int, total: int) -> None:
        """Pass it on, unless the run should have ended."""
        self._insist()
        self._progress.on_search(tested, total)

    def _insist(self) -> None:
        if self._interrupts.seen:
            raise KeyboardInterrupt
