"""Many fits at once, in threads or processes, with progress; Ctrl-C keeps those that are done."""

from __future__ import annotations

import pickle
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import islice
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

import numpy as np

from graftwork.data.engines.processes import unseen_by_children
from graftwork.errors import ConvergenceWarning
from graftwork.finished import Finished
from graftwork.grafting import Round
from graftwork.grafting.trace import Observer, Silence, check_of

# How often the main thread looks whether a fit is done. It sleeps in between and waits for no lock,
# so that an interrupt reaches it at once.
_GLANCE = 0.01

# Processes are started for more than this many seconds of work; they report about that often.
WORTH_PROCESSES = 10.0
BATCH_SECONDS = 1.0

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Work(Protocol[T_co]):
    """What is to be learned many times; ``spec`` is what may not travel to another process."""

    @property
    def spec(self) -> Any:
        """What is learned with: users' own parts may be in it."""
        ...

    def learn(self, number: int, observer: Observer) -> T_co:
        """Return what is kept of one of them."""
        ...


# What one thread of a process may use: others are at work beside it.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

# Its number, and what is kept.
Done = tuple[int, T]
# Raises KeyboardInterrupt where the pool is to end.
Check = Callable[[], None]


def run_pool(
    work: Work[T],
    numbers: Sequence[int],
    jobs: int,
    observer: Observer,
    stage: str,
    finished: Finished[T] | None = None,
) -> tuple[dict[int, T], bool]:
    """Return what was learned by number, and whether it was interrupted."""
    done = {} if finished is None else finished.read(numbers)
    observer.on_stage(stage, len(done), len(numbers))
    left, check = [k for k in numbers if k not in done], check_of(observer)
    try:
        with closing(_learned(work, left, jobs, check)) as learned:
            for k, kept in learned:
                done[k] = kept
                if finished is not None:
                    finished.write(k, kept)
                if len(done) < len(numbers):
                    observer.on_stage(stage, len(done), len(numbers))
    except KeyboardInterrupt:
        return done, True
    return done, False


def _learned(
    work: Work[T], numbers: Sequence[int], jobs: int, check: Check
) -> Generator[Done[T], None, None]:
    """Yield what is learned as it gets done, several at once.

    The first tells how long one takes. Small fits hold the interpreter's lock for most of their
    time, so that threads wait for each other: processes share what takes long enough to start them.
    """
    with _quiet_fits():
        begun = time.monotonic()
        first = 1 if jobs > 1 else len(numbers)
        for k in numbers[:first]:
            yield k, work.learn(k, _Checked(check))
        seconds, left = time.monotonic() - begun, numbers[first:]
        if seconds * len(left) > WORTH_PROCESSES and _can_travel(work.spec):
            yield from _by_processes(work, left, jobs, seconds, check)
        elif left:
            yield from _by_threads(work, left, jobs, check)


def _by_threads(
    work: Work[T], numbers: Sequence[int], jobs: int, check: Check
) -> Generator[Done[T], None, None]:
    """Yield what threads learn."""
    stop = threading.Event()

    def go_on() -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    pool = ThreadPoolExecutor(min(jobs, len(numbers)), thread_name_prefix="graftwork-pool")
    try:
        yield from _as_done(
            lambda some: pool.submit(_learn_some, work, _Checked(go_on), some),
            [[k] for k in numbers],
            jobs,
            check,
        )
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _by_processes(
    work: Work[T], numbers: Sequence[int], jobs: int, seconds: float, check: Check
) -> Generator[Done[T], None, None]:
    """Yield what processes learn, each several at a time, so that they come about every second."""
    from joblib.externals.loky import ProcessPoolExecutor  # it takes a tenth of a second to import

    size = int(np.clip(BATCH_SECONDS / max(seconds, 1e-3), 1, -(-len(numbers) // jobs)))
    parts = [numbers[start : start + size] for start in range(0, len(numbers), size)]
    pool = ProcessPoolExecutor(min(jobs, len(parts)), env=dict.fromkeys(_THREADS, "1"))
    try:
        yield from _as_done(
            lambda some: pool.submit(_learn_some, work, Silence(), some), parts, jobs, check
        )
    finally:
        pool.shutdown(wait=True, kill_workers=True)


def _as_done(
    send: Callable[[Sequence[int]], Future[list[Done[T]]]],
    parts: Sequence[Sequence[int]],
    jobs: int,
    check: Check,
) -> Iterator[Done[T]]:
    """Yield what others do, as it gets done; look now and then whether to go on."""
    ready: SimpleQueue[Future[list[Done[T]]]] = SimpleQueue()
    left = iter(parts)
    for place in range(-2 * jobs, len(parts)):
        if place >= 0:
            while ready.empty():
                check()
                time.sleep(_GLANCE)
            yield from ready.get().result()
        with unseen_by_children():
            for part in islice(left, 1):
                send(part).add_done_callback(ready.put)


def _learn_some(work: Work[T], observer: Observer, numbers: Sequence[int]) -> list[Done[T]]:
    """Return what some of them give."""
    with _quiet_fits():
        return [(k, work.learn(k, observer)) for k in numbers]


def _can_travel(spec: Any) -> bool:
    """Return whether a specification can be sent to another process: users' own parts may not."""
    try:
        pickle.dumps(spec)
    except Exception:  # whatever the parts' own code raises
        return False
    return True


class _Checked(Silence):
    """An observer that shows nothing, and looks at every call whether to go on."""

    def __init__(self, check: Check) -> None:
        self.check = check

    def on_round(self, record: Round) -> None:
        """Look whether to go on."""
        self.check()

    def on_search(self, tested: int, total: int) -> None:
        """Look whether to go on."""
        self.check()

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """Look whether to go on."""
        self.check()

    def on_step(self, steps: int) -> None:
        """Look whether to go on."""
        self.check()


@contextmanager
def _quiet_fits() -> Iterator[None]:
    """Show no ConvergenceWarning: what is kept of a fit says whether it was solved."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
