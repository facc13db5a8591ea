"""Triton kernels, and when they are used; each does what a few lines of PyTorch do elsewhere.

A program is for one variable (or pair) and a block of rows. Logits of all states of a variable stay
in registers; its tables are small and stay in the cache.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np
import torch

from graftwork.device.memory import tensor
from graftwork.device.rows import Chunk
from graftwork.inference.layout import Ints

# Rows of a program; states times rows of one that sums in float64, and its warps.
BLOCK = 512
SUMMED, WARPS = 2048, 4


@cache
def _triton() -> bool:
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return True


def usable(device: Any) -> bool:
    """Return whether kernels run on a device: on GPUs, and on CPU tensors in the interpreter.

    GRAFTWORK_TRITON=0 in the environment leaves all work to PyTorch.
    """
    if os.environ.get("GRAFTWORK_TRITON") == "0":
        return False
    if device.type == "cuda":
        return _triton()
    return os.environ.get("TRITON_INTERPRET") == "1" and _triton()


def conditionals(network: Any, chunk: Chunk, part: slice) -> tuple[Any, Any]:
    """Return what `DeviceNetwork.conditionals` does."""
    from graftwork.device.programs import conditionals as program

    codes, rows = chunk.codes, chunk.codes.shape[1]
    count, width = part.stop - part.start, network.width
    like = {"dtype": network.unary.dtype, "device": codes.device}
    p = torch.empty((count, width, rows), **like)
    logs = torch.empty((count, rows), **like)
    block = _block(width)
    program[(count, _cut(rows, block))](
        codes, network.starts, network.others, network.tables, network.unary, p, logs,
        codes.stride(0), rows, part.start, W=width, B=block,
    )  # fmt: skip
    return p, logs


def residuals(network: Any, lines: Any, chunk: Chunk, begin: int) -> Any:
    """Return residuals times 127 as whole numbers, rounded at random (see `tiles`)."""
    from graftwork.device.programs import residuals as program

    codes, rows = chunk.codes, chunk.codes.shape[1]
    out = lines.empty(rows, torch.int8)
    starts = tensor(lines.starts, device=codes.device)
    block = _block(network.width)
    program[(len(network.variables), _cut(rows, block))](
        codes, network.nodes, network.starts, network.others, network.tables, network.unary,
        starts, out, codes.stride(0), out.stride(0), rows, begin, W=network.width, B=block,
    )  # fmt: skip
    return out


def indicators(codes: Any, lines: Any) -> Any:
    """Return what `Lines.indicators` does, as bytes."""
    from graftwork.device.programs import indicators as program

    rows = codes.shape[1]
    out = lines.empty(rows, torch.int8)
    program[(lines.count, _cut(rows, 1024))](
        codes, lines.variable, lines.state, out, codes.stride(0), out.stride(0), rows, B=1024
    )
    return out


def sum_by_codes(
    network: Any, chunk: Chunk, ends: Any, targets: Any, states: Any, squares: Any, pairs: Any
) -> Any:
    """Add sums of p, p^2 and p by codes, in units of 2^-28; return those of the log-normalisers.

    Parameters
    ----------
    network : DeviceNetwork
        In float64.
    ends, targets : (k + 1,), (h,) int32 tensors
        The variables by whose codes p is summed, those of each variable one after the other.
    states, squares : (k, width) int64 tensors
    pairs : (h, width, width) int64 tensor
    """
    from graftwork.device.programs import sum_by_codes as program

    codes, rows = chunk.codes, chunk.codes.shape[1]
    count, width = len(network.variables), network.width
    block = max(64, SUMMED // width)
    blocks = _cut(rows, block)
    logs = torch.empty((blocks, count), dtype=torch.float64, device=codes.device)
    program[(count, blocks)](
        codes, network.starts, network.others, network.tables, network.unary, ends, targets, logs,
        states, squares, pairs, codes.stride(0), rows, count, W=width, S=max(16, width), B=block,
        num_warps=WARPS,
    )  # fmt: skip
    return logs.sum(dim=0)


def count_pairs(codes: Any, pairs: Any, width: int, out: Any) -> None:
    """Add the tables of pairs to ``out``, (pairs, width * width) int64."""
    from graftwork.device.programs import count_pairs as program

    program[(len(pairs),)](
        codes, pairs, out, codes.stride(0), codes.shape[1], W=width, S=max(16, width), B=256
    )


def count_keys(
    chunk: Chunk, neighbours: list[Ints], cards: Ints, starts: Ints, counts: Any
) -> None:
    """Add how often keys of neighbours' codes occur to ``counts``, from ``starts`` on each."""
    from graftwork.device.programs import count_keys as program

    codes, rows = chunk.codes, chunk.codes.shape[1]
    device = codes.device
    joined = np.concatenate([np.zeros(0, dtype=np.int64), *neighbours])
    ends = np.concatenate([[0], np.cumsum([len(own) for own in neighbours])])
    weights = counts if chunk.weights is None else chunk.weights
    program[(len(neighbours), _cut(rows, 1024))](
        codes, tensor(ends, device=device), tensor(joined, device=device),
        tensor(cards[joined], device=device), tensor(starts, device=device),
        weights, counts, codes.stride(0), rows, WEIGHTED=chunk.weights is not None, B=1024,
    )  # fmt: skip


def _block(width: int) -> int:
    """Return the rows of a program whose logits stay in registers."""
    return max(64, 8 * BLOCK // width)


def _cut(rows: int, block: int) -> int:
    return -(-rows // block)
