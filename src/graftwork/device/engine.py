"""DeviceEngine: rows in a GPU's memory, or streamed to it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

import torch

from graftwork.data.parts import Add, Handle, Operation, RowPart, add_up
from graftwork.data.table import Table
from graftwork.device.memory import free_bytes, tensor, within_memory
from graftwork.device.operations import job_of
from graftwork.device.rows import DeviceRows, can_hold
from graftwork.device.tiles import tiles
from graftwork.kernels.threads import count_threads

# Codes may take this share of the free memory; others are streamed.
SHARE = 0.5


class DeviceEngine:
    """The engine of rows on a GPU.

    Objects stay in this process. Of tables and parts of the rows the device has a copy of the
    codes, and does what it has an implementation of (`graftwork.device.operations`); all else runs
    here.
    """

    def __init__(
        self,
        device: Any,
        n_jobs: int | None = None,
        *,
        keep: bool = True,
        room: int | None = None,
        lines: int | None = None,
    ) -> None:
        self.device, self.n_threads = device, count_threads(n_jobs)
        self._keep, self._room, self._lines = keep, room, lines
        self._known: dict[int, tuple[Any, Any]] = {}

    def place(
        self, makers: Sequence[Callable[[], Any]], tell: Callable[[int], object] | None = None
    ) -> list[Handle]:
        """Return handles of what the functions return."""
        return [_Held(maker, self._keep) for maker in makers]

    def map(
        self,
        handles: Sequence[Handle],
        function: Callable[..., Any],
        *arguments: Any,
        own: Sequence[tuple[Any, ...]] | None = None,
        keep: bool = False,
    ) -> list[Handle]:
        """Return handles of ``function(object, *own arguments, *arguments)``."""
        return [
            _Held(
                partial(_apply, function, handle, (*(own[k] if own else ()), *arguments)),
                keep or self._keep,
            )
            for k, handle in enumerate(handles)
        ]

    def total(
        self,
        handles: Sequence[Handle],
        function: Operation,
        *arguments: Any,
        add: Add | None = None,
    ) -> Any:
        """Return the sum of ``function(object, *arguments)`` over the objects."""
        with within_memory(self.device):
            found = (self._run(handle(), function, arguments) for handle in handles)
            return reduce(add or add_up, found)

    def tiles(
        self, handles: Sequence[Handle], at: Any, variables: Any, own_sums: Any, leading: int | None
    ) -> Iterator[Any] | None:
        """Return all pairs among variables, tile by tile; None where it has no sums of the rows."""
        parts = [handle() for handle in handles]
        if not all(can_hold(part.sample) for part in parts):
            return None
        rows = [self._rows(part.sample) for part in parts if part.sample.n_rows]
        return self._guarded(tiles(rows, at, variables, own_sums, leading, self._lines))

    def inverses(self, matrices: Iterable[Any]) -> Iterator[Any]:
        """Yield the inverses of symmetric matrices; None for one that is not positive definite."""
        for matrix in matrices:
            with within_memory(self.device):
                factor, failed = torch.linalg.cholesky_ex(tensor(matrix, self.device))
                if int(failed):
                    yield None
                    continue
                found = torch.cholesky_inverse(factor)
                yield found.cpu().numpy() if bool(torch.isfinite(found).all()) else None

    def close(self) -> None:
        """Let go of the device's memory."""
        self._known.clear()

    def _guarded(self, found: Iterator[Any]) -> Iterator[Any]:
        with within_memory(self.device):
            yield from found

    def _run(self, value: Any, function: Operation, arguments: tuple[Any, ...]) -> Any:
        job = job_of(value, function, arguments)
        if job is None:
            return function(value, *arguments)
        with torch.no_grad():
            return job(self._rows(value.sample if isinstance(value, RowPart) else value))

    def _rows(self, sample: Any) -> DeviceRows:
        """Return the rows of a table or sample as the device sees them."""
        assert isinstance(sample, Table) or can_hold(sample)
        codes, weights = sample.codes, sample.weights
        known = self._known.get(id(codes))
        if known is not None and known[0]() is codes:
            return DeviceRows(codes, weights, self.device, known[1])
        self._known = {key: own for key, own in self._known.items() if own[0]() is not None}
        free = SHARE * free_bytes(self.device)
        held = sum(own[1].nbytes for own in self._known.values())
        fits = codes.nbytes <= (free if self._room is None else self._room - held)
        there = None
        if fits:
            there = tensor(codes, self.device)
            self._known[id(codes)] = weakref.ref(codes), there
        return DeviceRows(codes, weights, self.device, there)


class _Held:
    """An object, made when it is first looked at."""

    def __init__(self, maker: Callable[[], Any], keep: bool) -> None:
        self._maker: Callable[[], Any] | None = maker
        self._keep, self._value = keep, None

    def __call__(self) -> Any:
        """Return the object."""
        if self._maker is None:
            return self._value
        value = self._maker()
        if self._keep:
            self._value, self._maker = value, None
        return value


def _apply(function: Callable[..., Any], handle: Handle, arguments: tuple[Any, ...]) -> Any:
    return function(handle(), *arguments)
