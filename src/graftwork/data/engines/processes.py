"""Processes of our own on this machine, each with some of the parts in its memory."""

from __future__ import annotations

import pickle
import signal
import traceback
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import Pipe, resource_tracker
from multiprocessing.connection import Connection
from typing import Any

from graftwork.data.engines.sums import dealt, finish, meet, runs, sum_run
from graftwork.data.parts import Add, Handle, Operation, Tell, add_up
from graftwork.errors import GraftworkError
from graftwork.kernels.threads import count_threads, one_blas_thread

# A process that ended is replaced this often.
MOST_DEATHS = 20
# Seconds that a process has to end by itself, or what it is at.
PATIENCE = 2.0
# Seconds between two checks while answers are waited for.
LOOK = 0.1
# What ends a job before it is done.
_RECALL = b""


@dataclass(frozen=True, eq=False)
class _Place:
    """Which process has an object, and under which number; without it the object is let go."""

    worker: _Worker
    number: int


@dataclass(slots=True, eq=False)
class _Worker:
    """A process, and how to make again what it holds."""

    process: Any = None  # process, pipe: none where it must be started (again)
    pipe: Connection | None = None
    # owing, recalled: whether an answer is still to come, that of a job that was recalled
    owing: bool = False
    recalled: bool = False
    # by the number of each object how it was made: a kind, the number of what it was made of, and
    # so on
    log: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    # the places of objects that have one
    live: weakref.WeakValueDictionary[int, _Place] = field(
        default_factory=weakref.WeakValueDictionary
    )

    def forgotten(self) -> list[int]:
        """Return objects that nobody has a handle of, and forget how to make what needs them."""
        needed: set[int] = set()
        for number in list(self.live):
            at: int | None = number
            while at is not None and at not in needed:
                needed.add(at)
                kind, source, *_ = self.log[at]
                at = source if kind == "map" else None
        gone = [number for number in self.log if number not in self.live]
        self.log = {number: job for number, job in self.log.items() if number in needed}
        return gone

    def recall(self) -> None:
        """End what the process is at: what it answers is thrown away before it is asked again."""
        assert self.pipe is not None
        try:
            self.pipe.send_bytes(_RECALL)
        except OSError:  # it has ended
            return
        self.owing, self.recalled = False, True

    def settle(self) -> None:
        """Throw away the answer to a recalled job; end the process if that is late."""
        try:
            if self.pipe is None or not self.recalled:
                return
            if self.pipe.poll(PATIENCE):
                self.pipe.recv_bytes()
                self.recalled = False
        except (EOFError, OSError):
            pass
        finally:
            if self.recalled:
                self.stop()

    def stop(self) -> None:
        """End the process."""
        if self.pipe is not None:
            self.pipe.close()
        if self.process is not None and self.process.is_alive():
            self.process.terminate()
            self.process.join(PATIENCE)
            if self.process.is_alive():
                self.process.kill()
                self.process.join()
        self.process = self.pipe = None
        self.owing = self.recalled = False


class Processes:
    """The engine of several processes on this machine, one thread each.

    Parts stay in the processes' memory. A process that ends is replaced, and what it held is made
    again.
    """

    n_threads = 1

    def __init__(
        self, n_workers: int | None = None, check: Callable[[], None] | None = None
    ) -> None:
        from joblib.externals.loky.backend import get_context  # slow to load

        self._context = get_context("loky")  # the caller's script is not run again
        self._deaths, self._count, self._check = 0, 0, check
        self._workers = [_Worker() for _ in range(count_threads(n_workers))]
        self._end = weakref.finalize(self, _stop, self._workers)
        for worker in self._workers:
            self._start(worker)

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def pids(self) -> list[int]:
        """The processes' numbers."""
        return [one.process.pid for one in self._workers if one.process is not None]

    def place(self, makers: Sequence[Callable[[], Any]], tell: Tell | None = None) -> list[Handle]:
        """Return handles of what the functions return, dealt out to the processes."""
        owners = dealt(len(makers), len(self._workers))
        jobs = [("place", None, maker) for maker in makers]
        return self._make([self._workers[k] for k in owners], jobs)

    def map(
        self,
        handles: Sequence[Handle],
        function: Callable[..., Any],
        *arguments: Any,
        own: Sequence[tuple[Any, ...]] | None = None,
        keep: bool = False,
    ) -> list[Handle]:
        """Return handles of ``function(object, *own arguments, *arguments)``."""
        jobs = [
            ("map", handle.number, function, own[k] if own else (), arguments)
            for k, handle in enumerate(handles)
        ]
        return self._make([handle.worker for handle in handles], jobs)

    def total(
        self,
        handles: Sequence[Handle],
        function: Operation,
        *arguments: Any,
        add: Add | None = None,
    ) -> Any:
        """Return the sum of ``function(object, *arguments)`` over the objects."""
        add = add or add_up
        wanted: dict[_Worker, list[tuple[int, list[int]]]] = {}
        for worker, first, last in runs([handle.worker for handle in handles]):
            numbers = [handle.number for handle in handles[first:last]]
            wanted.setdefault(worker, []).append((first, numbers))
        job = pickle.dumps((function, arguments, add), 5)
        found = self._ask({worker: ("total", job, some) for worker, some in wanted.items()})
        blocks = sorted((run for each in found.values() for run in each), key=lambda run: run[0][0])
        total = blocks[0]
        for run in blocks[1:]:
            total = meet(total, run, add)
        return finish(total, add)

    def close(self) -> None:
        """End the processes."""
        self._end()

    def _make(self, owners: list[_Worker], jobs: Sequence[tuple[Any, ...]]) -> list[Handle]:
        """Return handles of new objects; how they are made is remembered."""
        places: list[_Place] = []
        asked: dict[_Worker, dict[int, tuple[Any, ...]]] = {}
        for worker, job in zip(owners, jobs, strict=True):
            self._count += 1
            places.append(_Place(worker, self._count))
            asked.setdefault(worker, {})[self._count] = job
        for worker, some in asked.items():
            worker.log |= some
        for place in places:
            place.worker.live[place.number] = place
        self._ask({worker: ("make", some) for worker, some in asked.items()})
        return list(places)

    def _ask(self, asked: dict[_Worker, tuple[Any, ...]]) -> dict[_Worker, Any]:
        """Return what processes answer; one that ended is replaced, and asked again."""
        if not self._end.alive:
            raise GraftworkError("the worker processes were closed: create a new Processes engine.")
        jobs = {
            worker: pickle.dumps((*job, worker.forgotten()), 5) for worker, job in asked.items()
        }
        found, errors = {}, []
        try:
            for worker, job in jobs.items():
                self._send(worker, job)
            _wait(list(jobs), self._check)
            for worker, job in jobs.items():
                failed, found[worker] = self._answer(worker, job)
                if failed is not None:
                    errors.append((failed, found[worker]))
        except BaseException:
            for worker in jobs:
                if worker.owing:  # an answer that nobody waits for would be taken for another
                    worker.stop()
            raise
        if errors:
            raise _noted(*errors[0])
        return found

    def _send(self, worker: _Worker, job: bytes) -> None:
        worker.settle()
        while True:
            if worker.pipe is None:
                self._restore(worker)
            try:
                assert worker.pipe is not None
                worker.owing = True
                worker.pipe.send_bytes(job)
            except OSError:
                self._died(worker)
            else:
                return

    def _answer(self, worker: _Worker, job: bytes) -> tuple[Any, Any]:
        while True:
            try:
                assert worker.pipe is not None
                failed, result = pickle.loads(worker.pipe.recv_bytes())
            except (EOFError, OSError):
                self._died(worker)
                self._send(worker, job)
            else:
                worker.owing = False
                return failed, result

    def _died(self, worker: _Worker) -> None:
        """Count a process that ended; too many are an error."""
        process, self._deaths = worker.process, self._deaths + 1
        process.join(PATIENCE)
        code = process.exitcode
        worker.stop()
        if self._deaths > MOST_DEATHS:
            raise GraftworkError(
                f"worker processes died {self._deaths} times (the last with exit code {code}), "
                "perhaps for lack of memory: use fewer processes, or smaller parts."
            )

    def _restore(self, worker: _Worker) -> None:
        """Start a process in place of one that ended, with all that it held."""
        self._start(worker)
        if worker.log:
            job = pickle.dumps(("make", worker.log, []), 5)
            try:
                assert worker.pipe is not None
                worker.pipe.send_bytes(job)
                failed, text = pickle.loads(worker.pipe.recv_bytes())
            except (EOFError, OSError):
                self._died(worker)
                return
            if failed is not None:
                worker.stop()
                raise _noted(failed, text)

    def _start(self, worker: _Worker) -> None:
        here, there = Pipe()
        worker.process = self._context.Process(target=_work, args=(there,), daemon=True)
        with unseen_by_children():
            worker.process.start()
        worker.pipe = here
        there.close()


def _stop(workers: list[_Worker]) -> None:
    """End processes."""
    for worker in workers:
        if worker.process is not None:
            worker.process.terminate()
    for worker in workers:
        worker.stop()


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


def _wait(workers: list[_Worker], check: Callable[[], None] | None) -> None:
    """Wait until processes have answered, or ended; who is interrupted waits no longer."""
    try:
        for worker in workers:
            assert worker.pipe is not None
            while not worker.pipe.poll(None if check is None else LOOK):
                assert check is not None
                check()
    except BaseException:
        for worker in workers:
            worker.recall()
        raise


def _noted(error: BaseException, text: str) -> BaseException:
    """Return what went wrong in a process; what is not ours says where."""
    if not isinstance(error, GraftworkError):
        error.add_note(text)
    return error


def _work(pipe: Connection) -> None:
    """Answer what is asked, until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks hears it, and ends this process
    objects: dict[int, Any] = {}
    with one_blas_thread():
        while True:
            try:
                job = pipe.recv_bytes()
            except (EOFError, OSError):
                return
            if job == _RECALL:  # it was done already
                continue
            try:
                answer = pickle.dumps((None, _run(pipe, objects, *pickle.loads(job))), 5)
            except BaseException as error:
                answer = _failure(error)
            del job
            try:
                pipe.send_bytes(answer)
            except OSError:
                return


def _failure(error: BaseException) -> bytes:
    """Return an error as an answer, also one that cannot be pickled."""
    text = traceback.format_exc(limit=-3)
    try:
        answer = pickle.dumps((error, text), 5)
        pickle.loads(answer)
    except Exception:
        answer = pickle.dumps((GraftworkError(f"{type(error).__name__}: {error}"), text), 5)
    return answer


def _run(pipe: Connection, objects: dict[int, Any], kind: str, *rest: Any) -> Any:
    *job, gone = rest
    for number in gone:
        objects.pop(number, None)
    if kind == "make":
        for number, one in job[0].items():
            _go_on(pipe)
            objects[number] = _made(objects, *one)
        return None
    function, arguments, add = pickle.loads(job[0])

    def result(number: int) -> Any:
        _go_on(pipe)
        return function(objects[number], *arguments)

    return [sum_run(map(result, numbers), first, add) for first, numbers in job[1]]


def _go_on(pipe: Connection) -> None:
    """Raise an error if nobody waits for the answer any more."""
    if pipe.poll():
        pipe.recv_bytes()
        raise GraftworkError("nobody waits for this any more.")


def _made(objects: dict[int, Any], kind: str, source: int | None, *how: Any) -> Any:
    if kind == "place" or source is None:
        return how[0]()
    function, own, arguments = how
    return function(objects[source], *own, *arguments)
