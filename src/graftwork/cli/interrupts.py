"""Ctrl-C and SIGTERM: once to stop and keep what there is; Ctrl-C twice to give up."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

if TYPE_CHECKING:
    from graftwork.cli.progress import Progress
    from graftwork.grafting.trace import Round
    from graftwork.inference.layout import Potentials


Found = TypeVar("Found")


class Aborted(BaseException):
    """The second Ctrl-C. Nothing that waits for the first one catches it."""


#: Code that must not be left half-way: locks of thread pools, imports, compilation.
_DELICATE = (
    "threading.py", "concurrent/futures", "importlib", "numba", "llvmlite", "/distributed/"
)  # fmt: skip
_RETRY_SECONDS = 0.02
#: Seconds after an interrupt in which what a result can do without may still be made.
GRACE = 1.0


class Interrupts:
    """While open, Ctrl-C or SIGTERM raises KeyboardInterrupt, and a second Ctrl-C Aborted.

    A second SIGTERM changes nothing: a process and its group are often sent one each.
    The first waits for a moment when the program is not inside delicate code: a lock left behind by
    an exception would never be released.

    Attributes
    ----------
    seen : bool
        Whether there was one.
    terminated : bool
        Whether the last one opened saw SIGTERM, of the whole program: the exit code tells.
    finishing : bool
        Set this when the result is being written: then the first Ctrl-C is only noted.
    late : bool
        Whether it came then: what can be left out is.
    """

    terminated: ClassVar[bool] = False

    def __init__(self) -> None:
        self.seen = False
        self.finishing = self.late = False
        self._waiting = self._held = self._raised = self._pressed = self._over = False
        self._when = 0.0
        self._before: Any = None
        self._alarm_before: Any = None
        self._term_before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread():
            return self
        Interrupts.terminated = False
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            self._term_before = signal.signal(signal.SIGTERM, self._terminate)
        # Somebody who ignores interrupts (nohup, a background job) goes on ignoring them.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._handle)
        handled = self._before is not None or self._term_before is not None
        if handled and hasattr(signal, "setitimer"):
            self._alarm_before = signal.signal(signal.SIGALRM, self._raise_when_safe)
        return self

    def __exit__(self, *_: object) -> None:
        if self._alarm_before is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._alarm_before)
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if self._term_before is not None:
            signal.signal(signal.SIGTERM, self._term_before)

    def press(self) -> None:
        """Leave as little time as after an interrupt for what a result can do without."""
        self._pressed, self._when = True, time.monotonic()

    def attempt(self, action: Callable[[], Found]) -> Found | None:
        """Return what a function returns that a result can do without; None after an interrupt.

        Ctrl-C ends it, and others are not begun then. After one that ended the learning there is
        little time for all of them together.
        """
        if self.late or self._over:
            return None
        self.finishing = self._raised = False
        try:
            self._hurry()
            return action()
        except KeyboardInterrupt:
            self.late, self._over = self.seen, True
            return None
        except Exception:
            if not self._raised:
                raise
            # compiled code that calls Python may turn one into another error
            self.late, self._over = self.seen, True
            return None
        finally:
            self.finishing = True
            if self._alarm_before is not None:
                signal.setitimer(signal.ITIMER_REAL, 0)  # the grace is that of the action only
            self.late |= self._waiting  # an interrupt that waited for the end of delicate code

    def _hurry(self) -> None:
        """Raise an interrupt again when its grace is over; where that cannot be, at once."""
        if not (self.seen or self._pressed):
            return
        left = self._when + GRACE - time.monotonic()
        if left <= 0 or self._alarm_before is None:
            raise KeyboardInterrupt
        signal.setitimer(signal.ITIMER_REAL, left)

    def insist(self) -> None:
        """Raise an interrupt already seen; if it was still waiting, it waits no more.

        Raised once more a moment later, it would hit whoever saves what the first one left.
        """
        if self.seen:
            self._raise()

    def deliver(self) -> None:
        """Raise an interrupt that is still waiting for its moment: this is one."""
        here = threading.current_thread() is threading.main_thread()
        if self._waiting and here and not (self._held or self.finishing):
            self._raise()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let an interrupt wait until the end of the block."""
        outer, self._held = self._held, True
        try:
            yield
        finally:
            self._held = outer
        self.deliver()

    def _raise(self) -> None:
        if self._alarm_before is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self._waiting = False
        raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.seen:
            raise Aborted
        self.seen, self._when = True, time.monotonic()
        self._raise_when_safe(number, frame)

    def _terminate(self, number: int, frame: FrameType | None) -> None:
        Interrupts.terminated = True
        if not self.seen:
            self._handle(number, frame)

    def _raise_when_safe(self, number: int, frame: FrameType | None) -> None:
        if self.finishing:
            # an alarm is no signal of anybody's, unless one has waited for it
            self.late |= number != getattr(signal, "SIGALRM", None) or self._waiting
            return
        if self._held:
            self._waiting = True
            return
        if self._alarm_before is not None and _is_delicate(frame):
            self._waiting = True
            signal.setitimer(signal.ITIMER_REAL, _RETRY_SECONDS)
            return
        self._waiting, self._raised = False, True
        raise KeyboardInterrupt


def _is_delicate(frame: FrameType | None) -> bool:
    """Return whether the program is inside code that must not be left half-way."""
    while frame is not None:
        if any(part in frame.f_code.co_filename for part in _DELICATE):
            return True
        frame = frame.f_back
    return False


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

    def on_network(self, potentials: Potentials) -> None:
        """Pass it on."""
        self._progress.on_network(potentials)

    def on_step(self, steps: int) -> None:
        """Pass it on, unless the run should have ended."""
        self._insist()
        self._progress.on_step(steps)

    def on_search(self, tested: int, total: int) -> None:
        """Pass it on, unless the run should have ended."""
        self._insist()
        self._progress.on_search(tested, total)

    def _insist(self) -> None:
        self._interrupts.insist()


@contextmanager
def unseen_by_children() -> Iterator[None]:
    """Keep Ctrl-C from processes that are started in the block: this one says when they end."""
    block: Any = getattr(signal, "pthread_sigmask", None)
    if block is None:
        yield
        return
    resource_tracker.ensure_running()  # to start it later would end the block of the signal
    before = block(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        block(signal.SIG_SETMASK, before)
