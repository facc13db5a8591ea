"""Codes of rows in the device's memory, or streamed to it chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from graftwork.data.encoded import EncodedRows
from graftwork.device.memory import tensor
from graftwork.inference.layout import Ints

# Rows whose sums are float32; sums of chunks are added in float64.
CHUNK = 2**14
# Variables with more states than this are summed on the processor.
MOST_STATES = 32


class Chunk(NamedTuple):
    """Some rows: codes (n, rows) uint8 and weights (rows,) float64, or None."""

    codes: Any
    weights: Any | None


class DeviceRows:
    """Part of the rows, as a device sees them.

    Shapes: codes (n, rows) uint8 array; weights (rows,) float64 array.
    """

    def __init__(self, codes: Any, weights: Any, device: Any, resident: Any | None) -> None:
        self._codes, self._resident, self.device = codes, resident, device
        self.n_variables, self.n_rows = codes.shape
        self._weights = None if weights is None else tensor(weights, device=device)

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self._weights is not None

    def chunks(self, size: int | None = None) -> Iterator[Chunk]:
        """Yield the rows, some at a time."""
        size = CHUNK if size is None else size
        starts = range(0, self.n_rows, size)
        found = self._streamed(size) if self._resident is None else self._sliced(size)
        for start, codes in zip(starts, found, strict=True):
            weights = self._weights
            yield Chunk(codes, None if weights is None else weights[start : start + size])

    def columns(self, places: Ints) -> Any:
        """Return the codes of some rows, as an array."""
        if self._resident is None:
            return np.take(self._codes, places, axis=1)
        return self._resident[:, tensor(places, self.device)].cpu().numpy()

    def _sliced(self, size: int) -> Iterator[Any]:
        assert self._resident is not None
        for start in range(0, self.n_rows, size):
            yield self._resident[:, start : start + size]

    def _streamed(self, size: int) -> Iterator[Any]:
        """Yield chunks that are copied while the one before is worked on."""
        starts = range(0, self.n_rows, size)
        if self.device.type != "cuda":
            for start in starts:
                yield tensor(np.ascontiguousarray(self._codes[:, start : start + size]))
            return
        stream = torch.cuda.Stream(self.device)
        buffers = [
            torch.empty(self.n_variables * size, dtype=torch.uint8, pin_memory=True)
            for _ in range(2)
        ]
        sent: list[tuple[Any, Any]] = []

        def send(number: int) -> None:
            if number >= 2:
                sent[number - 2][1].synchronize()  # its buffer is used again
            part = self._codes[:, starts[number] : starts[number] + size]
            flat = buffers[number % 2][: part.size].view(part.shape)
            np.copyto(flat.numpy(), part)
            with torch.cuda.stream(stream):
                there = flat.to(self.device, non_blocking=True)
                sent.append((there, stream.record_event()))

        send(0)
        for number in range(len(starts)):
            if number + 1 < len(starts):
                send(number + 1)
            codes, done = sent[number]
            here = torch.cuda.current_stream(self.device)
            here.wait_event(done)
            codes.record_stream(here)
            yield codes
            sent[number] = (None, done)


def can_hold(sample: EncodedRows) -> bool:
    """Return whether a device has sums of these rows: complete ones with few states."""
    return bool(sample.complete and sample.codes.dtype == np.uint8 and _few(sample.cards))


def _few(cards: Any) -> bool:
    return bool(np.max(cards, initial=0) <= MOST_STATES)
