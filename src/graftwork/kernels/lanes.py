"""Several neighbouring numbers at once: the vectors of LLVM, on every processor in some width.

A loop over a few numbers of two arrays is not made a vector instruction by the compiler, since for
all it knows the arrays overlap. These read all numbers first. ``lanes`` is a tuple whose length
says how many numbers; arrays are one-dimensional, contiguous, of float64, and nobody checks their
bounds.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_DOUBLE = ir.DoubleType()


def _address(
    context: Any, builder: Any, array_type: Any, array: Any, place: Any, width: int
) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    vector = ir.VectorType(_DOUBLE, width)
    return builder.bitcast(builder.gep(data, [place]), vector.as_pointer())


def _spread(builder: Any, number: Any, width: int) -> Any:
    vector = ir.Constant(ir.VectorType(_DOUBLE, width), ir.Undefined)
    zero = ir.Constant(ir.IntType(32), 0)
    first = builder.insert_element(vector, number, zero)
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
    return builder.shuffle_vector(first, vector, everywhere)


def _two_rows(operation: str | None) -> Any:
    """Return the code of ``target[at:] = target[at:] (operation) source[start:]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes, target_type, _, source_type, _ = signature.args
        _, target, at, source, start = arguments
        goal = _address(context, builder, target_type, target, at, lanes.count)
        value = builder.load(
            _address(context, builder, source_type, source, start, lanes.count), align=8
        )
        if operation is not None:
            value = getattr(builder, operation)(builder.load(goal, align=8), value)
        builder.store(value, goal, align=8)
        return context.get_dummy_value()

    return generate


@intrinsic
def copy_lanes(
    typing_context: Any, lanes: Any, target: Any, at: Any, source: Any, start: Any
) -> Any:
    """Set ``target[at:]`` to ``source[start:]``."""
    return types.void(lanes, target, types.intp, source, types.intp), _two_rows(None)


@intrinsic
def add_lanes(
    typing_context: Any, lanes: Any, target: Any, at: Any, source: Any, start: Any
) -> Any:
    """Add ``source[start:]`` to ``target[at:]``."""
    return types.void(lanes, target, types.intp, source, types.intp), _two_rows("fadd")


@intrinsic
def multiply_lanes(
    typing_context: Any, lanes: Any, target: Any, at: Any, source: Any, start: Any
) -> Any:
    """Multiply ``target[at:]`` by ``source[start:]``."""
    return types.void(lanes, target, types.intp, source, types.intp), _two_rows("fmul")


@intrinsic
def add_scaled_lanes(
    typing_context: Any, lanes: Any, target: Any, at: Any, source: Any, start: Any, scale: Any
) -> Any:
    """Add ``scale * source[start:]`` to ``target[at:]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        width = lanes.count
        goal = _address(context, builder, target, arguments[1], arguments[2], width)
        value = builder.load(
            _address(context, builder, source, arguments[3], arguments[4], width), align=8
        )
        value = builder.fmul(value, _spread(builder, arguments[5], width))
        builder.store(builder.fadd(builder.load(goal, align=8), value), goal, align=8)
        return context.get_dummy_value()

    given = (lanes, target, types.intp, source, types.intp, types.float64)
    return types.void(*given), generate


@intrinsic
def sum_lanes(typing_context: Any, lanes: Any, source: Any, start: Any) -> Any:
    """Return the sum of ``source[start:]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        width = lanes.count
        value = builder.load(
            _address(context, builder, source, arguments[1], arguments[2], width), align=8
        )
        while width > 1:  # halves are added until one number is left
            width //= 2
            low, high = (
                ir.Constant(ir.VectorType(ir.IntType(32), width), list(range(first, first + width)))
                for first in (0, width)
            )
            value = builder.fadd(
                builder.shuffle_vector(value, value, low),
                builder.shuffle_vector(value, value, high),
            )
        return builder.extract_element(value, ir.Constant(ir.IntType(32), 0))

    return types.float64(lanes, source, types.intp), generate


@intrinsic
def weigh_lanes(
    typing_context: Any, lanes: Any, target: Any, at: Any, scale: Any, mass: Any, squares: Any,
    start: Any,
) -> Any:  # fmt: skip
    """With p = ``target[at:]`` * scale: add mass * p^2 to ``squares[start:]``, store mass * p."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        width = lanes.count
        goal = _address(context, builder, target, arguments[1], arguments[2], width)
        sums = _address(context, builder, squares, arguments[5], arguments[6], width)
        p = builder.fmul(builder.load(goal, align=8), _spread(builder, arguments[3], width))
        heavy = builder.fmul(p, _spread(builder, arguments[4], width))
        builder.store(
            builder.fadd(builder.load(sums, align=8), builder.fmul(p, heavy)), sums, align=8
        )
        builder.store(heavy, goal, align=8)
        return context.get_dummy_value()

    given = (lanes, target, types.intp, types.float64, types.float64, squares, types.intp)
    return types.void(*given), generate
