"""Ctrl-C and SIGTERM as a flag that is read at safe points; a second Ctrl-C is as Python has it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

if TYPE_CHECKING:
    from graftwork.cli.progress import Progress
    from graftwork.grafting.trace import Round
    from graftwork.inference.layout import Potentials

Found = TypeVar("Found")
_USUAL = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}


class Interrupts:
    """While open, Ctrl-C or SIGTERM raises KeyboardInterrupt: at once, or at the next `check`.

    A second Ctrl-C always raises it at once. A second SIGTERM changes nothing: a process and its
    group are often sent one each. Who ignores a signal (nohup, a background job) goes on ignoring.
    """

    # whether the last one opened saw SIGTERM, of the whole program: the exit code tells
    terminated: ClassVar[bool] = False

    def __init__(self) -> None:
        self.seen = self.waits = self.hurried = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            Interrupts.terminated = False
            for number, usual in _USUAL.items():
                if signal.getsignal(number) is usual:
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def check(self) -> None:
        """Raise KeyboardInterrupt if there was a signal: this is a safe point."""
        if self.seen:
            raise KeyboardInterrupt

    def optional(self, action: Callable[[], Found], *, at_once: bool = True) -> Found | None:
        """Return what a function returns that a result can do without; None if there is no time.

        A signal ends it, at once or at the next `check`, and others are not begun then.
        """
        if self.seen or self.hurried:
            return None
        try:
            self.waits = not at_once
            return action()
        except (KeyboardInterrupt, Exception):
            if not self.seen:  # compiled code that calls Python may turn one into another error
                raise
            return None
        finally:
            self.waits = True

    def _handle(self, number: int, frame: FrameType | None) -> None:
        again, self.seen = self.seen, True
        Interrupts.terminated |= number == signal.SIGTERM
        if number != signal.SIGTERM if again else not self.waits:
            raise KeyboardInterrupt


class Stoppable:
    """Passes everything on to a progress display; every call is a safe point.

    What catches one KeyboardInterrupt to keep what there is meets another at the next call.
    """

    def __init__(self, progress: Progress, interrupts: Interrupts) -> None:
        self._progress, self.check = progress, interrupts.check

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Pass it on, unless the run should have ended."""
        self.check()
        self._progress.on_stage(text, step, steps)

    def on_round(self, record: Round) -> None:
        """Pass it on, unless the run should have ended."""
        self.check()
        self._progress.on_round(record)

    def on_network(self, potentials: Potentials) -> None:
        """Pass it on: the round has been told."""
        self._progress.on_network(potentials)

    def on_step(self, steps: int) -> None:
        """Pass it on, unless the run should have ended."""
        self.check()
        self._progress.on_step(steps)

    def on_search(self, tested: int, total: int) -> None:
        """Pass it on, unless the run should have ended."""
        self.check()
        self._progress.on_search(tested, total)
