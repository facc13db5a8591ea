"""Many fits at once, in threads or processes, with progress; Ctrl-C keeps those that are done."""

from __future__ import annotations

import pickle
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

import numpy as np

from graftwork.errors import ConvergenceWarning
from graftwork.finished import Parts
from graftwork.grafting import Round
from graftwork.grafting.trace import Observer, Silence

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


# Its number, and what is kept.
Done = tuple[int, T]


def run_pool(
    work: Work[T],
    numbers: Sequence[int],
    jobs: int,
    observer: Observer,
    stage: str,
    parts: Parts[T] | None = None,
) -> tuple[dict[int, T], bool]:
    """Return what was learned by number, and whether it was interrupted.

    Parameters
    ----------
    work : Work
    numbers : sequence of int
        What to learn, in this order.
    jobs : int
        How many at once. Results do not depend on it.
    observer : Observer
        Notified of every fit that is done.
    stage : str
        What they are called.
    parts : Parts, optional
        A folder that keeps what is learned; what is in it is not learned again.
    """
    done = {} if parts is None else parts.read(numbers)
    observer.on_stage(stage, len(done), len(numbers))
    try:
        with closing(_learned(work, [k for k in numbers if k not in done], jobs)) as learned:
            for k, kept in learned:
                done[k] = kept
                if parts is not None:
                    parts.write(k, kept)
                if len(done) < len(numbers):
                    observer.on_stage(stage, len(done), len(numbers))
    except KeyboardInterrupt:
        return done, True
    return done, False


def _learned(work: Work[T], numbers: Sequence[int], jobs: int) -> Generator[Done[T], None, None]:
    """Yield what is learned as it gets done, several at once.

    The first tells how long one takes. Small fits hold the interpreter's lock for most of their
    time, so that threads wait for each other: processes share what takes long enough to start them.
    """
    stop = threading.Event()

    def learn(k: int) -> Done[T]:
        return k, work.learn(k, _Until(stop))

    with _quiet_fits():
        begun = time.monotonic()
        first = 1 if jobs > 1 else len(numbers)
        yield from map(learn, numbers[:first])
        seconds, left = time.monotonic() - begun, numbers[first:]
        if seconds * len(left) > WORTH_PROCESSES and _can_travel(work.spec):
            yield from _by_processes(work, left, jobs, seconds)
        elif left:
            try:
                yield from _by_threads(learn, left, jobs)
            finally:
                stop.set()


def _by_threads(
    learn: Callable[[int], Done[T]], numbers: Sequence[int], jobs: int
) -> Generator[Done[T], None, None]:
    """Yield what threads learn."""
    count = len(numbers)
    pool = ThreadPoolExecutor(min(jobs, count), thread_name_prefix="graftwork-pool")
    ready: SimpleQueue[Future[Done[T]]] = SimpleQueue()
    try:
        for k in numbers:
            pool.submit(learn, k).add_done_callback(ready.put)
        while count:
            if ready.empty():
                time.sleep(_GLANCE)
            else:
                yield ready.get().result()
                count -= 1
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _by_processes(
    work: Work[T], numbers: Sequence[int], jobs: int, seconds: float
) -> Generator[Done[T], None, None]:
    """Yield what processes learn, each several at a time, so that they come about every second."""
    from joblib import Parallel, delayed  # it takes a tenth of a second to import

    size = int(np.clip(BATCH_SECONDS / max(seconds, 1e-3), 1, -(-len(numbers) // jobs)))
    parts = [numbers[start : start + size] for start in range(0, len(numbers), size)]
    pool = Parallel(n_jobs=min(jobs, len(parts)), backend="loky", return_as="generator_unordered")
    with closing(pool(delayed(_learn_some)(work, part) for part in parts)) as done:
        for some in done:
            yield from some


def _learn_some(work: Work[T], numbers: Sequence[int]) -> list[Done[T]]:
    """Return what some of them give, in a process of their own."""
    with _quiet_fits():
        return [(k, work.learn(k, Silence())) for k in numbers]


def _can_travel(spec: Any) -> bool:
    """Return whether a specification can be sent to another process: users' own parts may not."""
    try:
        pickle.dumps(spec)
    except Exception:  # whatever the parts' own code raises
        return False
    return True


class _Until(Silence):
    """An observer that ends its run once everything is to stop."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def on_round(self, record: Round) -> None:
        """End the run if it is time."""
        self.on_step(0)

    def on_search(self, tested: int, total: int) -> None:
        """End the run if it is time."""
        self.on_step(0)

    def on_stage(self, text: str, step: int, steps: int) -> None:
        """End the run if it is time."""
        self.on_step(0)

    def on_step(self, steps: int) -> None:
        """End the run if it is time."""
        if self._stop.is_set():
            raise KeyboardInterrupt


@contextmanager
def _quiet_fits() -> Iterator[None]:
    """Show no ConvergenceWarning: what is kept of a fit says whether it was solved."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
