"""Bits in vector registers: rows compared with a state, and the common bits of many bitsets.

LLVM turns these few vector operations into whatever the processor has: one comparison for 64 rows
and a popcount of eight words with AVX-512, shuffles with AVX2, byte counts on ARM. Plain loops give
the same numbers, but neither keep a tile of counts in registers nor use registers of 512 bits.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

#: Bitsets have a multiple of this many 64-bit words, so that no kernel needs a loop for the rest.
WORD_BLOCK = 8

_WORD = ir.IntType(64)


def _machine(context: Any) -> tuple[int, int]:
    """Return how many words a register has, and how many rows of four counts fit in registers."""
    features = context.codegen().magic_tuple()[2].split(",")
    if "+avx512f" in features:
        return 8, 4
    return (4, 2) if "+avx2" in features else (2, 4)


def _address(context: Any, builder: Any, kind: Any, array: Any, place: Any, load: Any) -> Any:
    """Return the address of a flat place of a C-contiguous array, to load ``load`` from."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [place]), load.as_pointer())


@intrinsic
def equal_bits(typing_context: Any, codes: Any, place: Any, state: Any) -> Any:
    """Return a word whose bit r says whether ``codes.flat[place + r] == state``, r = 0..63."""
    code = codes.dtype

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, start, wanted = arguments
        lane = context.get_value_type(code)
        wanted = builder.trunc(wanted, lane)
        many = ir.VectorType(lane, 64)
        address = _address(context, builder, codes, array, start, many)
        values = builder.load(address, align=code.bitwidth // 8)
        one = builder.insert_element(ir.Constant(many, ir.Undefined), wanted, ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), 64), None)
        splat = builder.shuffle_vector(one, ir.Constant(many, ir.Undefined), zeros)
        return builder.bitcast(builder.icmp_unsigned("==", values, splat), _WORD)

    return types.uint64(codes, types.int64, types.int64), generate


@intrinsic
def count_bits(typing_context: Any, word: Any) -> Any:
    """Return the number of set bits of a word."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def common_bits(
    typing_context: Any, left: Any, right: Any, rows: Any, columns: Any, first: Any, stop: Any
) -> Any:
    """Return popcounts of ``left[row] & right[column]`` over the words first:stop, row by row.

    ``rows`` and ``columns`` are tuples of places; the result is a tuple of all their counts.
    ``stop - first`` is a multiple of ``WORD_BLOCK``, and so is the number of words.
    """
    n_columns = len(columns)
    result = types.UniTuple(types.int64, len(rows) * n_columns)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        width, most_rows = _machine(context)
        starts = [
            _starts(context, builder, kind, array, cgutils.unpack_tuple(builder, places))
            for kind, array, places in zip(
                signature.args[:2], arguments[:2], arguments[2:4], strict=True
            )
        ]
        counts = []
        for begin in range(0, len(rows), most_rows):
            some = starts[0][begin : begin + most_rows]
            counts += _tile(builder, width, some, starts[1], *arguments[4:])
        return context.make_tuple(builder, result, counts)

    return result(left, right, rows, columns, types.int64, types.int64), generate


def _starts(context: Any, builder: Any, kind: Any, array: Any, places: Any) -> list[Any]:
    """Return the addresses of these rows of a matrix of words."""
    matrix = context.make_array(kind)(context, builder, array)
    n_words = cgutils.unpack_tuple(builder, matrix.shape)[1]
    return [builder.gep(matrix.data, [builder.mul(place, n_words)]) for place in places]


def _tile(
    builder: Any, width: int, rows: list[Any], columns: list[Any], first: Any, stop: Any
) -> list[Any]:
    """Return the counts of rows times columns; all of them stay in registers."""
    many = ir.VectorType(_WORD, width)
    sums = [
        cgutils.alloca_once_value(builder, ir.Constant(many, None)) for _ in rows for _ in columns
    ]
    for total in sums:
        builder.store(ir.Constant(many, None), total)
    with cgutils.for_range_slice(builder, first, stop, _WORD(width)) as (word, _):
        taken = [
            [
                builder.load(builder.bitcast(builder.gep(p, [word]), many.as_pointer()), align=8)
                for p in side
            ]
            for side in (rows, columns)
        ]
        pairs = [(x, y) for x in taken[0] for y in taken[1]]
        for total, (x, y) in zip(sums, pairs, strict=True):
            found = _call(builder, "ctpop", many, builder.and_(x, y))
            builder.store(builder.add(builder.load(total), found), total)
    return [_call(builder, "vector.reduce.add", _WORD, builder.load(total)) for total in sums]


def _call(builder: Any, name: str, returned: Any, vector: Any) -> Any:
    """Return what LLVM's function of this name makes of a vector of words."""
    kind = ir.FunctionType(returned, [vector.type])
    full = f"llvm.{name}.v{vector.type.count}i64"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, full), [vector])
