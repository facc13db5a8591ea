"""Which device rows are on, and what is said where there is none."""

from __future__ import annotations

from typing import Any

from graftwork.errors import ParameterError

#: What `device` may be.
DEVICES = ("cpu", "cuda", "auto")


def find_device(name: str) -> Any | None:
    """Return the `torch.device` that a name stands for; None for the processor.

    "auto" is a GPU where PyTorch and one are there. Without them "cuda" is refused, in a sentence.

    Examples
    --------
    >>> find_device("cpu") is None
    True
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
