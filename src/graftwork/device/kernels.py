"""Triton kernels, and when they are used; each does what a few lines of PyTorch do elsewhere.

A program is for one variable (or pair) and a block of rows. Logits of all states of a variable stay
in registers; its tables are small and stay in the cache.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import torch

from graftwork.device.memory import tensor
from graftwork.device.rows import Chunk
from graftwork.inference.layout import Ints

# Rows of a program; states times rows of one in float64.
BLOCK, WARPS = 256, 2
SUMMED = 512
# Rows whose sums are exact in float32, and rows multiplied at once.
SPAN, ROWS_TOGETHER = 2**14, 128
# Rows of a program that counts few states: so many at once, so often.
FEW, TURNS = 2048, 64


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
        num_warps=WARPS,
    )  # fmt: skip
    return out


def indicators(codes: Any, lines: Any) -> Any:
    """Return what `Lines.indicators` does, as bytes."""
    from graftwork.device.programs import indicators as program

    rows = codes.shape[1]
    out = lines.empty(rows, torch.int8)
    starts = tensor(lines.starts, device=codes.device)
    program[(len(lines.starts) - 1, _cut(rows, 1024))](
        codes, lines.variables, starts, out, codes.stride(0), out.stride(0), rows, B=1024,
        num_warps=8,
    )  # fmt: skip
    return out


def sum_by_codes(
    network: Any, chunk: Chunk, part: slice, targets: Targets, sums: Sequence[Any]
) -> Any:
    """Add sums of p, p^2 and p by codes, in units of 2^-28; return those of the log-normalisers.

    Shapes: sums (k, width), (k, width) and (h, width, width) int64 tensors.
    """
    from graftwork.device.programs import add_terms, fill_terms

    codes, rows = chunk.codes, chunk.codes.shape[1]
    count, width, (states, squares, pairs) = part.stop - part.start, network.width, sums
    block = max(64, SUMMED // width)
    blocks, room = _cut(rows, block), _cut(rows, 16) * 16
    logs = torch.empty((blocks, count), dtype=torch.float64, device=codes.device)
    terms = torch.empty((count, 4 * width, room), dtype=torch.int8, device=codes.device)
    fill_terms[(count, blocks)](
        codes, network.starts, network.others, network.tables, network.unary, terms, logs,
        states[part], squares[part], codes.stride(0), room, rows, part.start, count,
        W=width, B=block,
    )  # fmt: skip
    owners, firsts, counts = targets.groups(part)
    if len(owners):
        add_terms[(len(owners), _cut(rows, SPAN))](
            terms, codes, owners, firsts, counts, targets.listed, pairs, codes.stride(0), room,
            rows, W=width, G=targets.together, K=ROWS_TOGETHER, SPAN=SPAN,
        )  # fmt: skip
    return logs.sum(dim=0)


class Targets:
    """The variables by whose codes conditionals are summed, cut into groups of a few.

    Shapes: ends, listed (k + 1,), (h,) int64.
    """

    def __init__(self, ends: Ints, listed: Ints, width: int, device: Any) -> None:
        self.together = max(4, min(16, 128 // width))
        self.listed = tensor(listed, device, torch.int32)
        sizes = np.diff(ends)
        groups = -(-sizes // self.together)
        self._starts = np.concatenate([[0], np.cumsum(groups)])
        self._owners = np.repeat(np.arange(len(sizes)), groups)
        number = np.arange(self._starts[-1]) - self._starts[self._owners]
        self._firsts = ends[self._owners] + self.together * number
        self._counts = np.minimum(ends[self._owners + 1] - self._firsts, self.together)
        self._device = device

    def groups(self, part: slice) -> list[Any]:
        """Return owners (places in part of the variables), first targets, and how many."""
        some = slice(*self._starts[[part.start, part.stop]].tolist())
        found = self._owners[some] - part.start, self._firsts[some], self._counts[some]
        return [tensor(own, self._device, torch.int32) for own in found]


def add_products(left: Any, right: Any, firsts: Any, seconds: Any, out: Any) -> None:
    """Add sums over rows of S_i M_j' + M_i S_j' to ``out``, (pairs, P, Q) float64.

    Shapes: left, right (variables, 2, P or Q, rows) float32 tensors; firsts, seconds (pairs,)
    int64 tensors.
    """
    from graftwork.device.programs import add_products as program

    (_, p, q), rows = out.shape, left.shape[3]
    sides = [max(16, 1 << (size - 1).bit_length()) for size in (p, q)]
    program[(len(firsts),)](
        left, right, firsts, seconds, out, rows, p, q, TP=sides[0], TQ=sides[1], K=32,
        PRECISION="tf32x3", num_warps=1,
    )  # fmt: skip


def count_states(codes: Any, out: Any) -> None:
    """Add how many rows are in each state to ``out``, (variables, width) int64."""
    from graftwork.device.programs import count_few_states
    from graftwork.device.programs import count_states as program

    (count, rows), width = codes.shape, out.shape[1]
    if width <= 8:
        count_few_states[(count, _cut(rows, FEW * TURNS))](
            codes, out, codes.stride(0), rows, W=width, B=FEW, T=TURNS
        )
        return
    block = max(64, 2**15 // width)
    program[(count, _cut(rows, block))](codes, out, codes.stride(0), rows, W=width, B=block)


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
