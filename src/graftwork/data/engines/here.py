"""One part after the other, in this process; none is kept in memory."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from graftwork.data.engines.sums import total_of
from graftwork.data.parts import Add, Handle, Operation, Tell, add_up
from graftwork.data.scratch import Hold, temporary, writing
from graftwork.kernels.threads import count_threads


class Here:
    """The engine of rows that are read from the disk whenever they are looked at."""

    def __init__(
        self,
        n_jobs: int | None = None,
        folder: Path | None = None,
        tell: Callable[[int, int], None] | None = None,
    ) -> None:
        self.n_threads = count_threads(n_jobs)
        self._folder, self._tell = folder, tell
        self._scratch: tuple[Path, Hold] | None = None
        self._count = 0

    def place(self, makers: Sequence[Callable[[], Any]], tell: Tell | None = None) -> list[Handle]:
        """Return handles: the functions themselves, called when an object is looked at."""
        return list(makers)

    def map(
        self,
        handles: Sequence[Handle],
        function: Callable[..., Any],
        *arguments: Any,
        own: Sequence[tuple[Any, ...]] | None = None,
        keep: bool = False,
    ) -> list[Handle]:
        """Return handles of ``function(object, *own arguments, *arguments)``."""
        made = [
            partial(_apply, function, handle, (*(own[k] if own else ()), *arguments))
            for k, handle in enumerate(handles)
        ]
        return [self._kept(one) for one in self._told(made)] if keep else list(made)

    def total(
        self,
        handles: Sequence[Handle],
        function: Operation,
        *arguments: Any,
        add: Add | None = None,
    ) -> Any:
        """Return the sum of ``function(object, *arguments)`` over the objects."""
        found = (function(handle(), *arguments) for handle in self._told(handles))
        return total_of(found, add or add_up)

    def close(self) -> None:
        """Remove what was kept."""
        if self._scratch is not None:
            self._scratch[1].close()
            self._scratch = None

    def _told(self, handles: Sequence[Handle]) -> Iterator[Handle]:
        """Yield handles; somebody is told before each."""
        for part, handle in enumerate(handles, 1):
            if self._tell is not None:
                self._tell(part, len(handles))
            yield handle

    def _kept(self, maker: Callable[[], tuple[Any, ...]]) -> Handle:
        """Return a handle of arrays that are written to the disk."""
        if self._scratch is None:
            self._scratch = temporary(self._folder)
        path = self._scratch[0] / f"{self._count}.npz"
        self._count += 1
        arrays = {str(k): one for k, one in enumerate(maker()) if one is not None}
        with writing(self._folder), open(path, "wb") as file:
            np.savez(file, **arrays)
        return _Kept(path)


class _Kept:
    """Arrays on the disk, which go when nobody can ask for them any more."""

    def __init__(self, path: Path) -> None:
        self._path = path
        weakref.finalize(self, path.unlink, missing_ok=True)

    def __call__(self) -> tuple[Any, ...]:
        """Return the arrays; None in place of those that were none."""
        with np.load(self._path, allow_pickle=False) as file:
            last = max(map(int, file.files))
            return tuple(file[str(k)] if str(k) in file.files else None for k in range(last + 1))


def _apply(function: Callable[..., Any], handle: Handle, arguments: tuple[Any, ...]) -> Any:
    return function(handle(), *arguments)
