"""A Dask cluster for one command: the one at an address, or one on this machine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from graftwork.data.engines.processes import unseen_by_children
from graftwork.data.scratch import temporary
from graftwork.errors import DataError
from graftwork.kernels.threads import count_threads

#: Seconds that a scheduler has to answer.
_PATIENCE = 10


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
