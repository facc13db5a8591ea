"""A few numbers in one register: what the compiler does not find in plain loops.

Inside a kernel a `Lanes` value holds 2 to 16 numbers of one kind. This is generic vector code,
which LLVM fits to any processor. Arrays are C-contiguous, and ``at`` counts their elements. Where
a function takes ``sizes``, the length of that tuple is the number of lanes.
"""

from __future__ import annotations

from math import factorial

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

INT32 = ir.IntType(32)
_INT64 = ir.IntType(64)
_KINDS = {"float32": ir.FloatType(), "float64": ir.DoubleType(), "int32": INT32}

#: Bits of a float64: where the exponent begins, what it is for 1, and 1 itself.
_SHIFT, _BIAS, _ONE = 52, 1023, 1023 << 52

#: log2(e); log(2) in two parts; what added to a float64 leaves a whole number in its low bits.
_LOG2_E = 1.4426950408889634
_LOG_2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
_TO_WHOLE = 1.5 * 2.0**52

#: Coefficients of exp(t) for |t| <= log(2) / 2, highest first.
_EXPONENTIAL = [1.0 / factorial(k) for k in range(12, -1, -1)]


class Lanes(types.Type):  # type: ignore[misc]
    """The numba type of some numbers of one kind."""

    def __init__(self, kind: str, count: int) -> None:
        super().__init__(name=f"Lanes({kind}, {count})")
        self.kind = kind
        self.count = count


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.VectorType(_KINDS[fe_type.kind], fe_type.count))


def constant(kind, count, value):
    """Return a vector type's constant with the same number in all lanes."""
    return ir.Constant(ir.VectorType(kind, count), [value] * count)


def places(numbers):
    """Return the constant that says which elements a shuffle takes."""
    return ir.Constant(ir.VectorType(INT32, len(numbers)), list(numbers))


def spread(builder, value, count):
    """Return a vector that holds one number in all lanes."""
    empty = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
    first = builder.insert_element(empty, value, INT32(0))
    return builder.shuffle_vector(first, empty, places([0] * count))


def part(builder, vector, first, size):
    """Return ``size`` elements from ``first`` on; beyond the end the first ones come again."""
    count = vector.type.count
    return builder.shuffle_vector(
        vector, vector, places([(first + k) % count for k in range(size)])
    )


def address(context, builder, array_type, array, at):
    """Return the address of element ``at`` and the bytes of an element."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [at]), array_type.dtype.bitwidth // 8


def load_at(context, builder, array_type, array, at, count):
    """Return ``count`` consecutive elements as a vector."""
    place, width = address(context, builder, array_type, array, at)
    vector = ir.VectorType(context.get_data_type(array_type.dtype), count)
    return builder.load(builder.bitcast(place, vector.as_pointer()), align=width)


def store_at(context, builder, array_type, array, at, value):
    """Write a vector to consecutive elements."""
    place, width = address(context, builder, array_type, array, at)
    builder.store(value, builder.bitcast(place, value.type.as_pointer()), align=width)


def call(builder, name, result, *values):
    """Call an LLVM intrinsic by its name."""
    kind = ir.FunctionType(result, [value.type for value in values])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), values)


def for_each_size(builder, size, sizes, emit):
    """Write the code of ``emit(n)`` for each of these sizes: the number ``size`` chooses one."""
    for n in sizes:
        with builder.if_then(builder.icmp_signed("==", size, _INT64(n))):
            emit(n)


def _greater(builder, left, right):
    return builder.select(builder.fcmp_ordered(">", left, right), left, right)


def _smaller(builder, left, right):
    return builder.select(builder.fcmp_ordered("<", left, right), left, right)


def _fold_halves(builder, vector, join):
    """Return one number for all lanes, joined two halves at a time."""
    count = vector.type.count
    while count > 1:
        count //= 2
        vector = join(builder, part(builder, vector, 0, count), part(builder, vector, count, count))
    return builder.extract_element(vector, INT32(0))


def _lanewise(describe, join):
    """Return a function of two values, lane by lane."""

    @intrinsic
    def lanewise(typingctx, left, right):
        def build(context, builder, signature, values):
            return join(builder, *values)

        return left(left, right), build

    lanewise.__doc__ = describe
    return lanewise


@intrinsic
def load(typingctx, sizes, array, at):
    """Return consecutive elements of an array."""

    def build(context, builder, signature, values):
        _, array, at = values
        return load_at(context, builder, signature.args[1], array, at, len(sizes))

    return Lanes(array.dtype.name, len(sizes))(sizes, array, types.intp), build


@intrinsic
def store(typingctx, value, array, at):
    """Write the lanes to consecutive elements of an array."""

    def build(context, builder, signature, values):
        value, array, at = values
        store_at(context, builder, signature.args[1], array, at, value)
        return context.get_dummy_value()

    return types.void(value, array, types.intp), build


@intrinsic
def same(typingctx, sizes, value):
    """Return lanes that all hold one float64 number."""

    def build(context, builder, signature, values):
        return spread(builder, values[1], len(sizes))

    return Lanes("float64", len(sizes))(sizes, types.float64), build


@intrinsic
def scale(typingctx, value, factor):
    """Return the lanes times a number."""

    def build(context, builder, signature, values):
        return builder.fmul(values[0], spread(builder, values[1], value.count))

    return value(value, types.float64), build


@intrinsic
def add_scaled(typingctx, value, factor, array, at):
    """Return the lanes plus a number times consecutive elements of an array."""

    def build(context, builder, signature, values):
        held, factor, array, at = values
        line = load_at(context, builder, signature.args[2], array, at, value.count)
        factors = spread(builder, factor, value.count)
        product = builder.fmul(factors, line, flags=("contract",))
        return builder.fadd(held, product, flags=("contract",))

    return value(value, types.float64, array, types.intp), build


@intrinsic
def largest(typingctx, value):
    """Return the largest number of all lanes."""

    def build(context, builder, signature, values):
        return _fold_halves(builder, values[0], _greater)

    return types.float64(value), build


@intrinsic
def smallest(typingctx, value):
    """Return the smallest number of all lanes."""

    def build(context, builder, signature, values):
        return _fold_halves(builder, values[0], _smaller)

    return types.float64(value), build


@intrinsic
def total(typingctx, value):
    """Return the sum of all lanes."""

    def build(context, builder, signature, values):
        return _fold_halves(builder, values[0], lambda builder, *two: builder.fadd(*two))

    return types.float64(value), build


@intrinsic
def root(typingctx, value):
    """Return the square roots."""

    def build(context, builder, signature, values):
        return call(builder, f"llvm.sqrt.v{value.count}f64", values[0].type, values[0])

    return value(value), build


@intrinsic
def exponential(typingctx, value):
    """Return exp of numbers up to 0, to about one unit in the last place; below -700 as of -700."""

    def build(context, builder, signature, values):
        def number(x):
            return constant(ir.DoubleType(), value.count, x)

        def add_product(left, right, more):
            return builder.fadd(builder.fmul(left, right, flags=("contract",)), more,
                                flags=("contract",))  # fmt: skip

        held = _greater(builder, values[0], number(-700.0))
        shifted = add_product(held, number(_LOG2_E), number(_TO_WHOLE))
        whole = builder.fsub(shifted, number(_TO_WHOLE))
        rest = held
        for part_of_log in _LOG_2:
            rest = add_product(whole, number(-part_of_log), rest)
        result = number(_EXPONENTIAL[0])
        for coefficient in _EXPONENTIAL[1:]:
            result = add_product(result, rest, number(coefficient))
        bits = builder.bitcast(shifted, ir.VectorType(_INT64, value.count))
        power = builder.add(bits, constant(_INT64, value.count, _BIAS))
        power = builder.shl(power, constant(_INT64, value.count, _SHIFT))
        return builder.fmul(result, builder.bitcast(power, held.type))

    return value(value), build


@intrinsic
def part_exponents(typingctx, value, exponents, at):
    """Return numbers from 1 to 2: the lanes' own over powers of 2, whose exponents are added.

    For positive numbers that are not denormal.
    """

    def build(context, builder, signature, values):
        held, exponents, at = values
        kind = signature.args[1]
        bits = builder.bitcast(held, ir.VectorType(_INT64, value.count))
        power = builder.lshr(bits, constant(_INT64, value.count, _SHIFT))
        power = builder.sub(power, constant(_INT64, value.count, _BIAS))
        before = load_at(context, builder, kind, exponents, at, value.count)
        store_at(context, builder, kind, exponents, at, builder.add(before, power))
        rest = builder.and_(bits, constant(_INT64, value.count, 2**_SHIFT - 1))
        rest = builder.or_(rest, constant(_INT64, value.count, _ONE))
        return builder.bitcast(rest, held.type)

    return value(value, exponents, types.intp), build


@intrinsic
def join_exponents(typingctx, value, exponents, at, top):
    """Return the lanes times 2 to the power of (exponent - top), or of -1000 if that is less."""

    def build(context, builder, signature, values):
        held, exponents, at, top = values
        power = load_at(context, builder, signature.args[1], exponents, at, value.count)
        power = builder.sub(power, spread(builder, top, value.count))
        least = constant(_INT64, value.count, -1000)
        power = builder.select(builder.icmp_signed(">", power, least), power, least)
        power = builder.add(power, constant(_INT64, value.count, _BIAS))
        power = builder.shl(power, constant(_INT64, value.count, _SHIFT))
        return builder.fmul(held, builder.bitcast(power, held.type))

    return value(value, exponents, types.intp, types.int64), build


times = _lanewise("Return the products.", lambda builder, *two: builder.fmul(*two))
over = _lanewise("Return the quotients.", lambda builder, *two: builder.fdiv(*two))
plus = _lanewise("Return the sums.", lambda builder, *two: builder.fadd(*two))
minus = _lanewise("Return the differences.", lambda builder, *two: builder.fsub(*two))
greater = _lanewise("Return the larger of two numbers in each lane.", _greater)
smaller = _lanewise("Return the smaller of two numbers in each lane.", _smaller)
