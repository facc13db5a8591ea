"""PyTorch, imported when it is needed, and the device that a word stands for."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from graftwork.errors import DataError

#: Tensors, devices and number types of PyTorch: it need not be there when types are checked.
Tensor = Any


def import_torch() -> Any:
    """Return PyTorch, or refuse with what to do.

    Examples
    --------
    >>> import_torch().__name__  # doctest: +SKIP
    'torch'
    """
    try:
        return import_module("torch")
    except ImportError as error:
        raise DataError(
            'device="cuda" needs PyTorch, which cannot be imported here: pip install torch, or '
            "leave device out to work on the processor."
        ) from error


def wants_device(device: str | None) -> bool:
    """Return whether a graphics card is asked for; refuse words that mean nothing.

    Examples
    --------
    >>> wants_device(None), wants_device("cpu"), wants_device("cuda")
    (False, False, True)
    >>> wants_device("tpu")
    Traceback (most recent call last):
        ...
    graftwork.errors.DataError: device is 'tpu'; use None, "cpu" or "cuda".
    """
    if device is None or device == "cpu":
        return False
    if isinstance(device, str) and (device == "cuda" or device.startswith("cuda:")):
        return True
    raise DataError(f'device is {device!r}; use None, "cpu" or "cuda".')


def open_device(device: str) -> Any:
    """Return the device of PyTorch that a word stands for; refuse a card that is not there.

    Here "cpu" means tensors in main memory.
    """
    torch = import_torch()
    if not wants_device(device):
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise DataError(
            f'device is "{device}", and PyTorch {torch.__version__} finds no graphics card '
            "here. Leave device out to work on the processor."
        )
    if find_spec("triton") is None:
        raise DataError(f'device="{device}" needs Triton: pip install triton.')
    return torch.device(device)
