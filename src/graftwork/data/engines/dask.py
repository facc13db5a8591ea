"""The workers of a Dask cluster, with parts of the rows pinned in their memory."""

from __future__ import annotations

import ctypes
import pickle
import secrets
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from graftwork.data.engines.sums import Block, dealt, finish, meet, runs, sum_run
from graftwork.data.parts import Add, Handle, Operation, Tell, add_up
from graftwork.errors import GraftworkError, ParameterError
from graftwork.kernels.threads import one_blas_thread

# Seconds between looks at the scheduler, and without it before that is an error.
LOOK, PATIENCE = 0.5, 3.0
# Seconds without any worker before that is an error.
NO_WORKERS = 30.0
# Arguments of more bytes than this are sent once, and passed on from worker to worker.
SMALL = 2**16


def find_client(client: Any = None) -> Any:
    """Return the Dask client given, or else the current one; an error says if there is none."""
    if client is not None:
        return client
    try:
        import distributed

        return distributed.default_client()
    except ImportError as error:
        raise ParameterError("Dask is not installed; use pip install 'graftwork[dask]'.") from error
    except ValueError as error:
        raise ParameterError(
            "there is no Dask client; create one first: "
            "from distributed import Client; client = Client()."
        ) from error


def has_client() -> bool:
    """Return whether there is a current Dask client."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        return distributed.default_client() is not None
    except ValueError:
        return False


@dataclass(frozen=True, eq=False)
class _Shard:
    """Objects that one worker has: the future of a `_Held`."""

    future: Any


@dataclass(frozen=True, eq=False)
class _Place:
    """One object of a shard."""

    shard: _Shard
    number: int


class DaskEngine:
    """The engine of a Dask cluster.

    Every thread of a worker has some of the objects in its memory, and one task runs a function on
    all of them. A worker that is lost is replaced by the cluster, and what it held is made again
    from where it came: what the engine sends is part of the tasks, so nothing depends on this
    process's memory.
    """

    n_threads = 1

    def __init__(self, client: Any = None, check: Callable[[], None] | None = None) -> None:
        self._client = find_client(client)
        self._look = check

    def place(self, makers: Sequence[Callable[[], Any]], tell: Tell | None = None) -> list[Handle]:
        """Return handles of what the functions return, dealt out to the workers' threads."""
        topic = f"graftwork-{secrets.token_hex(8)}"
        shards = [
            (self._submit(_made, pickle.dumps(makers[first:last], 5), first, topic), last - first)
            for first, last in self._dealt(len(makers))
        ]
        if tell is not None:
            self._watch([future for future, _ in shards], topic, tell)
        return _places(shards)

    def place_frame(
        self, frame: Any, function: Callable[..., Any], *arguments: Any
    ) -> list[Handle]:
        """Return handles of ``function(partition, number, *arguments)`` of a Dask frame."""
        self._check()
        partitions = self._client.compute(frame.to_delayed())
        job = self._sent((function, arguments))
        return _places(
            (self._submit(_made_of, partitions[first:last], first, job), last - first)
            for first, last in self._dealt(len(partitions))
        )

    def map(
        self,
        handles: Sequence[Handle],
        function: Callable[..., Any],
        *arguments: Any,
        own: Sequence[tuple[Any, ...]] | None = None,
        keep: bool = False,
    ) -> list[Handle]:
        """Return handles of ``function(object, *own arguments, *arguments)``."""
        job, found = self._sent((function, arguments)), []
        for shard, first, last in runs([handle.shard for handle in handles]):
            numbers = [handle.number for handle in handles[first:last]]
            each = pickle.dumps(own[first:last] if own else [()] * len(numbers), 5)
            future = self._submit(_mapped, shard.future, numbers, job, each)
            found.append((future, len(numbers)))
        return _places(found)

    def total(
        self,
        handles: Sequence[Handle],
        function: Operation,
        *arguments: Any,
        add: Add | None = None,
    ) -> Any:
        """Return the sum of ``function(object, *arguments)``, added up in a tree on the workers."""
        job, adds = self._sent((function, arguments)), pickle.dumps(add or add_up, 5)
        some = runs([handle.shard for handle in handles])
        found = []
        for shard, first, last in some:
            numbers = [handle.number for handle in handles[first:last]]
            told = (shard.future, numbers, job, first, adds, len(some) == 1)
            found.append(self._submit(_summed, *told))
        while len(found) > 1:
            ends, pairs = len(found) == 2, zip(found[::2], found[1::2], strict=False)
            met = [self._submit(_met, *pair, adds, ends) for pair in pairs]
            found = met + found[len(found) - len(found) % 2 :]
        return self._wait(found[0])

    def close(self) -> None:
        """Nothing: the cluster is not ours, and futures that nobody has are released."""

    def _dealt(self, count: int) -> list[tuple[int, int]]:
        """Return which of some objects go together: as many groups as the workers have threads."""
        self._wait(self._submit(_nothing))  # there is a worker
        owners: list[Any] = dealt(count, sum(self._client.nthreads().values()))
        return [(first, last) for _, first, last in runs(owners)]

    def _sent(self, job: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
        """Return a function and its arguments as they travel."""
        packed = pickle.dumps(job, 5)
        return packed if len(packed) <= SMALL else self._submit(_same, packed)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        # Without saying which workers: Dask leaves tasks waiting whose worker does not come back.
        self._check()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return self._client.submit(function, *arguments, pure=False)

    def _watch(self, futures: list[Any], topic: str, tell: Tell) -> None:
        """Tell how many objects are there, until all are; an error ends it at once."""
        made: set[int] = set()
        self._client.subscribe_topic(topic, lambda event: made.add(event[1]))
        try:
            for future in futures:
                self._wait(future, lambda: tell(len(made)), fetch=False)
        finally:
            if self._connected():
                self._client.unsubscribe_topic(topic)

    def _wait(
        self, future: Any, look: Callable[[], object] | None = None, *, fetch: bool = True
    ) -> Any:
        """Return a result; the scheduler is looked at while it is not there."""
        from distributed import TimeoutError as Later
        from distributed import wait

        gone, begun = 0.0, time.monotonic()
        while True:
            began = time.monotonic()
            try:
                if fetch:
                    return future.result(timeout=LOOK)
                wait(future, timeout=LOOK)
                if future.status == "finished":
                    return None
                future.result(timeout=LOOK)  # raises what went wrong
            except (TimeoutError, Later):
                if future.status == "error":
                    raise
                gone = 0.0 if self._connected() else gone + time.monotonic() - began
                for told in (look, self._look):
                    if told is not None:
                        told()
                self._check_workers(time.monotonic() - begun)
            except Exception as error:
                if not self._connected():
                    gone = PATIENCE
                elif future.status == "error":
                    plain = _plainly(error)
                    if plain is error:
                        raise
                    raise plain from None
                else:
                    raise GraftworkError(
                        "the Dask cluster was restarted or closed during the fit: fit again."
                    ) from None
            if gone >= PATIENCE:
                self._check(patient=False)

    def _connected(self) -> bool:
        comm = getattr(self._client, "scheduler_comm", None)
        return comm is not None and not comm.closed() and self._client.status == "running"

    def _check(self, *, patient: bool = True) -> None:
        """Raise if the scheduler does not answer."""
        until = time.monotonic() + (PATIENCE if patient else 0.0)
        while not self._connected():
            if time.monotonic() >= until:
                address = getattr(getattr(self._client, "scheduler", None), "address", "")
                raise GraftworkError(
                    f"the connection to the Dask scheduler {address} is lost: start a new cluster "
                    "and client, and fit again."
                )
            time.sleep(LOOK / 5)

    def _check_workers(self, waited: float) -> None:
        """Raise if there has been no worker for long."""
        if waited >= NO_WORKERS and self._connected() and not self._client.nthreads():
            raise GraftworkError(
                f"the Dask cluster has had no workers for {NO_WORKERS:g} seconds: start some, "
                "for example with cluster.scale(2)."
            )


def _plainly(error: Exception) -> Exception:
    """Return what went wrong on a worker, in plain words if workers died repeatedly."""
    if type(error).__name__ == "KilledWorker":
        return GraftworkError(
            "Dask workers died repeatedly while processing the same part of the rows, perhaps for "
            "lack of memory: use more workers, or smaller parts."
        )
    return error


class _Held:
    """Objects that a worker has, which Dask shall not take for small ones."""

    def __init__(self, values: Iterable[Any]) -> None:
        self.values = list(values)

    def __sizeof__(self) -> int:
        return 1000 + sum({id(one): one.nbytes for one in _arrays(self.values)}.values())


def _arrays(value: Any, depth: int = 4) -> Iterable[np.ndarray[Any, Any]]:
    """Yield the arrays in an object, as far as it is made of lists and data classes."""
    if isinstance(value, np.ndarray):
        yield value
    elif depth and isinstance(value, list | tuple):
        for one in value:
            yield from _arrays(one, depth - 1)
    elif depth and is_dataclass(value):
        for each in fields(value):
            yield from _arrays(getattr(value, each.name, None), depth - 1)


def _places(shards: Iterable[tuple[Any, int]]) -> list[Handle]:
    """Return handles of the objects of shards: futures, and how many each has."""
    listed = [(_Shard(future), count) for future, count in shards]
    return [_Place(shard, k) for shard, count in listed for k in range(count)]


def _made(makers: bytes, first: int, topic: str) -> _Held:
    """Return what functions return, and tell of each."""
    from distributed import get_worker

    values = []
    for number, maker in enumerate(pickle.loads(makers), first):
        values.append(maker())
        get_worker().log_event(topic, number)
    return _Held(values)


def _made_of(partitions: list[Any], first: int, job: bytes) -> _Held:
    """Return what a function makes of some partitions."""
    function, arguments = pickle.loads(job)
    return _Held(function(one, k, *arguments) for k, one in enumerate(partitions, first))


def _nothing() -> None:
    return None


def _same(packed: bytes) -> bytes:
    return packed


def _mapped(held: _Held, numbers: list[int], job: bytes, own: bytes) -> _Held:
    """Return what a function makes of some objects."""
    function, arguments = pickle.loads(job)
    some = [held.values[k] for k in numbers]
    with one_blas_thread():
        return _Held(
            function(value, *each, *arguments)
            for value, each in zip(some, pickle.loads(own), strict=True)
        )


@cache
def _keep_memory() -> None:
    """Let this process keep memory between allocations of some megabytes.

    Dask tells its workers to give all of it back at once (MALLOC_TRIM_THRESHOLD_), and then sums of
    pairs take twice as long.
    """
    with suppress(Exception):  # not every C library can be told
        libc = ctypes.CDLL(None)
        for what, size in ((-3, 2**25), (-1, 2**27)):  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD
            libc.mallopt(what, size)


def _summed(
    held: _Held, numbers: list[int], job: bytes, first: int, adds: bytes, ends: bool
) -> Any:
    """Return the sums of what a function finds in some objects."""
    (function, arguments), add = pickle.loads(job), pickle.loads(adds)
    _keep_memory()
    with one_blas_thread():
        found = (function(held.values[k], *arguments) for k in numbers)
        blocks = sum_run(found, first, add)
    return finish(blocks, add) if ends else blocks


def _met(first: list[Block], second: list[Block], adds: bytes, ends: bool) -> Any:
    """Return the sums of both."""
    add = pickle.loads(adds)
    blocks = meet(first, second, add)
    return finish(blocks, add) if ends else blocks
