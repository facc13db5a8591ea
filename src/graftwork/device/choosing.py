"""Which device rows are on, and what is said where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np

from graftwork.errors import ParameterError

#: What `device` may be.
DEVICES = ("cpu", "cuda", "auto")


def find_device(name: str) -> Any | None:
    """Return the `torch.device` that a name stands for; None for the processor.

    "auto" is a GPU where PyTorch and one are there. Without them "cuda" is refused, in a sentence.
    """
    if name == "cpu":
        return None
    try:
        import torch
    except ImportError as error:
        if name == "auto":
            return None
        raise ParameterError(
            f"device={name!r} needs PyTorch, which is not installed; use "
            "pip install 'graftwork[gpu]', or device='cpu'."
        ) from error
    if torch.cuda.is_available():
        return torch.device("cuda")
    if name == "auto":
        return None
    raise ParameterError(
        f"device={name!r} needs a GPU that PyTorch {torch.__version__} can use, and it finds none; "
        "use device='cpu', or device='auto', which takes a GPU where there is one."
    )


def device_memory(cards: Any, n_rows: int) -> dict[str, int]:
    """Return the bytes of the device's memory that learning takes where there is room for all.

    With less, rows are streamed to it and pairs are looked at in more tiles.

    Shapes: cards (n,) int64.
    """
    lines = int(np.sum(np.asarray(cards) - 1))
    return {
        "codes of the rows": len(cards) * n_rows,
        "sums of all pairs": 20 * lines**2,
        "rows multiplied at once": 2 * lines * min(n_rows, 2**16),
    }
