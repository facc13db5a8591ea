"""Run compiled kernels on several threads.

The kernels release the interpreter lock, so plain threads are enough: no numba threading layer, no
trouble with forks, and a kernel's numbers never depend on how the work was cut.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from graftwork.parameters import check_jobs

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads meant by ``n_jobs``: None or -1 is every core."""
    check_jobs(n_jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = cores or 1
    if n_jobs is None:
        return cores
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def one_blas_thread() -> AbstractContextManager[object]:
    """Return a context in which matrix products use one thread: ours are small, and many at once.

    Libraries are looked for once: that takes longer than a small fit's products.
    """
    limit: AbstractContextManager[object] = _libraries().limit(limits=1, user_api="blas")
    return limit


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


@lru_cache(maxsize=4)
def _pool(process: int, n_threads: int) -> ThreadPoolExecutor:
    # Keyed by process: a pool's threads do not survive a fork.
    return ThreadPoolExecutor(n_threads, thread_name_prefix="graftwork")


def run_chunks(
    function: Callable[[Chunk], Result], chunks: Sequence[Chunk], n_threads: int
) -> list[Result]:
    """Return ``[function(chunk) for chunk in chunks]``, on ``n_threads`` threads."""
    if n_threads <= 1 or len(chunks) <= 1:
        return [function(chunk) for chunk in chunks]
    left = deque(range(len(chunks)))
    results: dict[int, Result] = {}

    def work() -> None:
        while left:
            try:
                k = left.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                results[k] = function(chunks[k])
            except BaseException:
                left.clear()
                raise

    pool = _pool(os.getpid(), n_threads)
    helpers = [pool.submit(work) for _ in range(min(n_threads, len(chunks)) - 1)]
    try:
        work()  # this thread is one of them
    finally:
        begun = [helper for helper in helpers if not helper.cancel()]
        wait(begun)
    for helper in begun:
        helper.result()
    return [results[k] for k in range(len(chunks))]


#: Work of at least this cost (about the look-ups in it) takes tens of milliseconds.
LONG = 1e7


def cut_evenly(costs: NDArray[np.float64], n_threads: int) -> list[slice]:
    """Return consecutive slices of about equal total cost, a few for each thread.

    One thread has short work in one slice; between slices of long work it can be interrupted.
    """
    n_items = len(costs)
    if n_items <= 1 or (n_threads <= 1 and costs.sum() < LONG):
        return [slice(0, n_items)] if n_items else []
    n_chunks = min(n_items, 16 * n_threads)
    ends = np.searchsorted(np.cumsum(costs), costs.sum() * np.arange(1, n_chunks) / n_chunks) + 1
    bounds = np.unique(np.concatenate([[0], ends, [n_items]]))
    return [slice(int(a), int(b)) for a, b in pairwise(bounds)]
