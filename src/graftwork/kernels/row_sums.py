"""Sums of table rows that stay in vector registers.

Plain loops give the same sums, but store and load them again after each row. Rows are padded to
whole blocks of `BLOCK` numbers; they are best where they begin at cache lines (`cache_lines`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable
from numpy.typing import NDArray

from graftwork.kernels.vectors import for_each_size, load_at, spread, store_at

#: Rows have a multiple of this many numbers: those of a cache line.
BLOCK = 8

_INDEX = ir.IntType(64)
_FLAGS = ("contract",)

#: This many blocks may stay in registers.
_AT_ONCE = (1, 2, 3, 4)


@register_jitable
def cache_lines(size: int) -> NDArray[np.float64]:
    """Return zeros that begin at a cache line."""
    room = np.zeros(size + BLOCK)
    start = -(room.ctypes.data // 8) % BLOCK
    return room[start : start + size]


@intrinsic
def _sum_blocks(
    typing_context: Any, size: Any, first: Any, last: Any, places: Any, values: Any, source: Any,
    width: Any, column: Any, out: Any, at: Any,
) -> Any:  # fmt: skip
    """Sum ``size`` blocks, one of `_AT_ONCE`, of the columns from ``column`` on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        size, first, last, numbers, factors, table, width, column, target, at = arguments
        chosen = context.make_array(places)(context, builder, numbers).data
        weights = context.make_array(values)(context, builder, factors)
        plain = builder.icmp_signed("==", weights.nitems, _INDEX(0))
        zero = ir.Constant(ir.VectorType(ir.DoubleType(), BLOCK), None)

        def rows(n: int, weighted: bool) -> None:
            starts = [_INDEX(BLOCK * b) for b in range(n)]
            sums = [cgutils.alloca_once_value(builder, zero) for _ in starts]
            with cgutils.for_range_slice(builder, first, last, _INDEX(1)) as (k, _):
                row = builder.sext(builder.load(builder.gep(chosen, [k])), _INDEX)
                begin = builder.add(builder.mul(row, width), column)
                for start, total in zip(starts, sums, strict=True):
                    here = builder.add(begin, start)
                    value = load_at(context, builder, source, table, here, BLOCK)
                    if weighted:
                        factor = builder.load(builder.gep(weights.data, [k]))
                        value = builder.fmul(spread(builder, factor, BLOCK), value, flags=_FLAGS)
                    added = builder.fadd(builder.load(total), value, flags=_FLAGS)
                    builder.store(added, total)
            begin = builder.add(at, column)
            for start, total in zip(starts, sums, strict=True):
                place = builder.add(begin, start)
                store_at(context, builder, out, target, place, builder.load(total))

        with builder.if_else(plain) as (ones, others):
            with ones:
                for_each_size(builder, size, _AT_ONCE, lambda n: rows(n, False))
            with others:
                for_each_size(builder, size, _AT_ONCE, lambda n: rows(n, True))
        return context.get_dummy_value()

    whole = types.int64
    return (
        types.void(whole, whole, whole, places, values, source, whole, whole, out, whole),
        generate,
    )


@njit(inline="always")
def sum_rows(width, first, last, places, values, source, out, at):
    """Write the sum of the rows of ``source`` that places[first:last] say to ``out[at:]``.

    Each row, ``width`` numbers, is multiplied by its value; no values are ones. Arrays are flat.
    """
    column = 0
    while column < width:
        size = min(_AT_ONCE[-1], (width - column) // BLOCK)
        _sum_blocks(size, first, last, places, values, source, width, column, out, at)
        column += size * BLOCK
