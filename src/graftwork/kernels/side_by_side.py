"""Products of small tables with vectors of several chains that lie side by side.

A number of every chain makes one vector of ``len(side)`` lanes, so that a table which all chains
share is multiplied with one number of it at a time, whatever its size. Arrays are C-contiguous;
places and steps count whole vectors, in tables single numbers. Sums stay in registers: there
is code for several numbers of them, all in one function, since functions are slow to compile.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from graftwork.kernels.vectors import for_each_size, load_at, places, spread, store_at

_INDEX = ir.IntType(64)
_FLAGS = ("contract",)


#: How many sums `mix` makes at once, and `add_products` before and after.
BLOCKS = (1, 2, 3, 4, 6, 8, 10, 12)
TILES = (1, 2, 3, 4)


def _add_product(builder: Any, total: Any, left: Any, right: Any) -> None:
    product = builder.fmul(left, right, flags=_FLAGS)
    builder.store(builder.fadd(builder.load(total), product, flags=_FLAGS), total)


@intrinsic
def mix(
    typing_context: Any, side: Any, size: Any, table: Any, entry: Any, row_step: Any, source: Any,
    first: Any, step: Any, count: Any, out: Any, place: Any, out_step: Any,
) -> Any:  # fmt: skip
    """Fill vectors of ``out`` with the sums of source vectors times a table's entries.

    Vector ``place + j * out_step`` gets ``sum_k table[entry + k * row_step + j] *
    source[first + k * step]`` with k < count, j < size, one of `BLOCKS`.
    """
    n_lanes = len(side)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (_, size, numbers, entry, row_step, vectors, first, step, count, target, place,
         out_step) = arguments  # fmt: skip
        width, zero = _INDEX(n_lanes), ir.Constant(ir.VectorType(ir.DoubleType(), n_lanes), None)
        entries = context.make_array(table)(context, builder, numbers).data

        def emit(n: int) -> None:
            sums = [cgutils.alloca_once_value(builder, zero) for _ in range(n)]
            with cgutils.for_range(builder, count) as loop:
                at = builder.mul(builder.add(first, builder.mul(loop.index, step)), width)
                vector = load_at(context, builder, source, vectors, at, n_lanes)
                row = builder.add(entry, builder.mul(loop.index, row_step))
                for j, total in enumerate(sums):
                    number = builder.load(builder.gep(entries, [builder.add(row, _INDEX(j))]))
                    _add_product(builder, total, spread(builder, number, n_lanes), vector)
            for j, total in enumerate(sums):
                at = builder.mul(builder.add(place, builder.mul(out_step, _INDEX(j))), width)
                store_at(context, builder, out, target, at, builder.load(total))

        for_each_size(builder, size, BLOCKS, emit)
        return context.get_dummy_value()

    whole = types.int64
    return (
        types.void(
            side, whole, table, whole, whole, source, whole, whole, whole, out, whole, whole
        ),
        generate,
    )


@intrinsic
def add_products(
    typing_context: Any, side: Any, size: Any, count: Any, left: Any, left_first: Any,
    left_step: Any, left_next: Any, right: Any, right_first: Any, right_next: Any, out: Any,
    place: Any, out_step: Any,
) -> Any:  # fmt: skip
    """Add to a square of vectors of ``out`` the products of left and right vectors, over positions.

    Vector ``place + i * out_step + j`` gets the sum over t < count of ``left[left_first +
    i * left_step + t * left_next] * right[right_first + j + t * right_next]``, i, j < size, one of
    `TILES`.
    """
    n_lanes = len(side)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (_, size, count, lefts, left_first, left_step, left_next, rights, right_first, right_next,
         target, place, out_step) = arguments  # fmt: skip
        width = _INDEX(n_lanes)

        def at(first: Any, number: int, step: Any) -> Any:
            return builder.mul(builder.add(first, builder.mul(_INDEX(number), step)), width)

        def emit(n: int) -> None:
            cells = [(i, j) for i in range(n) for j in range(n)]
            targets = [builder.add(at(place, i, out_step), _INDEX(j * n_lanes)) for i, j in cells]
            before = [load_at(context, builder, out, target, t, n_lanes) for t in targets]
            sums = [cgutils.alloca_once(builder, value.type) for value in before]
            for total, value in zip(sums, before, strict=True):
                builder.store(value, total)
            with cgutils.for_range(builder, count) as loop:
                one = builder.add(left_first, builder.mul(loop.index, left_next))
                other = builder.add(right_first, builder.mul(loop.index, right_next))
                ups = [at(one, i, left_step) for i in range(n)]
                overs = [at(other, j, _INDEX(1)) for j in range(n)]
                rows = [load_at(context, builder, left, lefts, place, n_lanes) for place in ups]
                columns = [load_at(context, builder, right, rights, p, n_lanes) for p in overs]
                for (i, j), total in zip(cells, sums, strict=True):
                    _add_product(builder, total, rows[i], columns[j])
            for total, here in zip(sums, targets, strict=True):
                store_at(context, builder, out, target, here, builder.load(total))

        for_each_size(builder, size, TILES, emit)
        return context.get_dummy_value()

    whole = types.int64
    return (
        types.void(
            side, whole, whole, left, whole, whole, whole, right, whole, whole, out, whole, whole
        ),
        generate,
    )


@intrinsic
def turn(
    typing_context: Any, side: Any, source: Any, first: Any, step: Any, out: Any, place: Any,
    out_step: Any,
) -> Any:  # fmt: skip
    """Write a square of numbers, as many rows as lanes, with rows and columns exchanged.

    Row i begins at ``source[first + i * step]``, and at ``out[place + i * out_step]``: here places
    and steps count numbers.
    """
    n_lanes = len(side)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, given, first, step, target, place, out_step = arguments

        def at(start: Any, number: int, step: Any) -> Any:
            return builder.add(start, builder.mul(_INDEX(number), step))

        rows = [
            load_at(context, builder, source, given, at(first, i, step), n_lanes)
            for i in range(n_lanes)
        ]
        half = n_lanes // 2
        while half:  # exchange the squares off the diagonal, then those within each square
            low = [k if not k & half else n_lanes + k - half for k in range(n_lanes)]
            high = [k + half if not k & half else n_lanes + k for k in range(n_lanes)]
            for i in range(n_lanes):
                if not i & half:
                    two = rows[i], rows[i + half]
                    rows[i] = builder.shuffle_vector(*two, places(low))
                    rows[i + half] = builder.shuffle_vector(*two, places(high))
            half //= 2
        for i, row in enumerate(rows):
            store_at(context, builder, out, target, at(place, i, out_step), row)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(side, source, whole, whole, out, whole, whole), generate
