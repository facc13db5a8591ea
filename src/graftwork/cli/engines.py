"""Engines that tell which part is looked at, and that Ctrl-C stops without breaking them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from graftwork.cli.interrupts import Interrupts, unseen_by_children
from graftwork.data.engines import Here, Processes
from graftwork.data.engines.dask import DaskEngine
from graftwork.data.parts import Add, Handle, Operation
from graftwork.data.scratch import temporary
from graftwork.errors import DataError
from graftwork.kernels.threads import count_threads

#: Called with the number of a part, from 1 on, and of all parts.
Watch = Callable[[int, int], None]
#: Seconds that a scheduler has to answer.
_PATIENCE = 10


class WatchedHere(Here):
    """Parts from the disk, one after the other; somebody is told before each."""

    def __init__(self, n_jobs: int | None, folder: Path | None, watch: Watch) -> None:
        super().__init__(n_jobs, folder)
        self._watch = watch

    def map(
        self,
        handles: Sequence[Handle],
        function: Callable[..., Any],
        *arguments: Any,
        own: Sequence[tuple[Any, ...]] | None = None,
        keep: bool = False,
    ) -> list[Handle]:
        """Return handles of ``function(object, *own arguments, *arguments)``."""
        given = self._told(handles) if keep else handles
        return super().map(given, function, *arguments, own=own, keep=keep)

    def total(
        self,
        handles: Sequence[Handle],
        function: Operation,
        *arguments: Any,
        add: Add | None = None,
    ) -> Any:
        """Return the sum of ``function(object, *arguments)`` over the objects."""
        return super().total(self._told(handles), function, *arguments, add=add)

    def _told(self, handles: Sequence[Handle]) -> list[Handle]:
        return [
            partial(_look, self._watch, k + 1, len(handles), one) for k, one in enumerate(handles)
        ]


def _look(watch: Watch, part: int, parts: int, handle: Handle) -> Any:
    watch(part, parts)
    return handle()


class HeldProcesses(Processes):
    """Processes that an interrupt reaches while they are waited for only."""

    def __init__(self, n_workers: int | None, interrupts: Interrupts) -> None:
        self._interrupts = interrupts
        super().__init__(n_workers)

    def _send(self, worker: Any, job: bytes) -> None:
        with self._interrupts.held():
            super()._send(worker, job)

    def _answer(self, worker: Any, job: bytes) -> tuple[Any, Any]:
        with self._interrupts.held():
            return super()._answer(worker, job)

    def _start(self, worker: Any) -> None:
        with unseen_by_children():
            super()._start(worker)


class HeldDask(DaskEngine):
    """A cluster whose client an interrupt reaches between two looks at it only."""

    def __init__(self, client: Any, interrupts: Interrupts) -> None:
        super().__init__(client)
        self._interrupts = interrupts

    def _connected(self) -> bool:
        self._interrupts.deliver()  # looked at every now and then while a result is waited for
        return super()._connected()

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        with self._interrupts.held():
            return super()._submit(function, *arguments)


@contextmanager
def dask_client(address: str | None, jobs: int | None) -> Iterator[Any]:
    """Yield a client of the cluster at an address, or of one on this machine, for a while."""
    try:
        import dask
        from distributed import Client
    except ImportError as error:
        raise DataError(
            "--engine dask needs Dask, which is not installed; use pip install dask distributed."
        ) from error
    with ExitStack() as stack:
        with unseen_by_children():
            if address is not None:
                client = stack.enter_context(_connected(Client, address))
            else:
                folder, hold = temporary()
                stack.callback(hold.close)
                stack.enter_context(dask.config.set(temporary_directory=str(folder)))
                client = stack.enter_context(
                    Client(
                        n_workers=count_threads(jobs),
                        threads_per_worker=1,
                        dashboard_address=None,
                        local_directory=str(folder),
                        silence_logs=logging.CRITICAL,
                    )
                )
        yield client


def _connected(make: Callable[..., Any], address: str) -> Any:
    """Return a client of the cluster at an address."""
    try:
        return make(address, timeout=_PATIENCE)
    except (OSError, ValueError, TypeError) as error:
        raise DataError(
            f"no Dask scheduler answers at --scheduler {address}: give the address that it says "
            "when it starts, such as tcp://10.0.0.1:8786."
        ) from error
