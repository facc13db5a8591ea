"""How much of the device's memory may be used."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from graftwork.errors import GraftworkError

# Bytes that work on CPU tensors may take: they are for tests.
ON_CPU = 2**28


def tensor(array: Any, device: Any = None, dtype: Any = None) -> Any:
    """Return an array as a tensor that nobody writes to: it may share the array's memory."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.as_tensor(array, device=device, dtype=dtype)


def free_bytes(device: Any) -> int:
    """Return how many bytes of the device's memory are free, or can be freed."""
    if device.type != "cuda":
        return ON_CPU
    free, _ = torch.cuda.mem_get_info(device)
    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(free + kept)


@contextmanager
def within_memory(device: Any) -> Iterator[None]:
    """Say in a sentence that the device's memory is short."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        free = free_bytes(device) / 2**30
        raise GraftworkError(
            f"the memory of the GPU is short: {free:.1f} GiB are free, and more are needed. Other "
            "programs may use it; end them, or use device='cpu'."
        ) from error
