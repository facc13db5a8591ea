"""Sixteen chains in step: weights, codes and random numbers as vectors, a lane for each chain.

All of it is generic vector code (``kernels.vectors``), except looking numbers up in a short table:
where there is an instruction that permutes a register it is used, elsewhere a chain of selections
gives the same numbers.
"""

from __future__ import annotations

from functools import reduce

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from graftwork.kernels.vectors import (
    INT32,
    Lanes,
    address,
    call,
    constant,
    load_at,
    part,
    places,
    spread,
    store_at,
)

#: Chains that go in step.
WIDTH = 16

_FLOATS, _INTS = Lanes("float32", WIDTH), Lanes("int32", WIDTH)


def table_length(states: int) -> int:
    """Return how many numbers the table of a weight holds, for a number of states."""
    return 8 if states <= 8 else WIDTH


def _features() -> frozenset[str]:
    """Return what the processor that numba compiles for can do, as LLVM names it."""
    _, _, features = cpu_target.target_context.codegen().magic_tuple()
    return frozenset(name[1:] for name in features.split(",") if name.startswith("+"))


#: How a table is looked up: "avx512f", "avx2" or (on any processor) "select".
LOOKUP = next((name for name in ("avx512f", "avx2") if name in _features()), "select")


def _ints(value):
    return constant(INT32, WIDTH, value)


def _floats(value):
    return constant(ir.FloatType(), WIDTH, value)


def _look_up_avx512(builder, table, codes):
    wide = part(builder, table, 0, WIDTH) if table.type.count < WIDTH else table
    return call(builder, "llvm.x86.avx512.permvar.sf.512", wide.type, wide, codes)


def _look_up_avx2(builder, table, codes):
    """Return two permutes of 8 lanes; a table of 16 is two of 8, chosen by the fourth bit."""
    low = part(builder, table, 0, 8)
    halves = []
    for first in (0, 8):
        code = part(builder, codes, first, 8)
        found = call(builder, "llvm.x86.avx2.permps", low.type, low, code)
        if table.type.count > 8:
            above = part(builder, table, 8, 8)
            other = call(builder, "llvm.x86.avx2.permps", low.type, above, code)
            small = builder.icmp_unsigned("<", code, ir.Constant(code.type, [8] * 8))
            found = builder.select(small, found, other)
        halves.append(found)
    return builder.shuffle_vector(*halves, places(range(WIDTH)))


def _look_up_select(builder, table, codes, states):
    value = spread(builder, builder.extract_element(table, INT32(0)), WIDTH)
    for state in range(1, states):
        other = spread(builder, builder.extract_element(table, INT32(state)), WIDTH)
        value = builder.select(builder.icmp_unsigned("==", codes, _ints(state)), other, value)
    return value


def _look_up(builder, table, codes, states, how):
    """Return table[code] in each lane, for codes below ``states``."""
    if how == "avx512f":
        return _look_up_avx512(builder, table, codes)
    if how == "avx2":
        return _look_up_avx2(builder, table, codes)
    return _look_up_select(builder, table, codes, states)


@intrinsic
def load_codes(typingctx, codes, at):
    """Return 16 consecutive codes."""

    def build(context, builder, signature, values):
        codes, at = values
        narrow = load_at(context, builder, signature.args[0], codes, at, WIDTH)
        return builder.zext(narrow, ir.VectorType(INT32, WIDTH))

    return _INTS(codes, types.intp), build


@intrinsic
def store_codes(typingctx, chosen, codes, at):
    """Write 16 codes."""

    def build(context, builder, signature, values):
        chosen, codes, at = values
        kind = signature.args[1]
        narrow = ir.VectorType(context.get_data_type(kind.dtype), WIDTH)
        store_at(context, builder, kind, codes, at, builder.trunc(chosen, narrow))
        return context.get_dummy_value()

    return types.void(_INTS, codes, types.intp), build


@intrinsic
def spread_each(typingctx, sizes, array, at):
    """Return as many values as ``sizes`` is long: consecutive numbers, each in all lanes."""

    def build(context, builder, signature, values):
        _, array, at = values
        parts = []
        for a in range(len(sizes)):
            where = builder.add(at, ir.Constant(at.type, a))
            place, _ = address(context, builder, signature.args[1], array, where)
            parts.append(spread(builder, builder.load(place), WIDTH))
        return context.make_tuple(builder, signature.return_type, parts)

    return types.UniTuple(_FLOATS, len(sizes))(sizes, array, types.intp), build


def make_multiply(how):
    """Return ``multiply(weights, tables, at, codes)``, which looks up tables in one of the ways.

    Each weight has a table of 8 numbers (16 where there are more than 8 weights), one after the
    other from ``at``, and is multiplied by the number for the lane's code. Codes are below the
    number of weights.
    """

    @intrinsic
    def multiply(typingctx, weights, tables, at, codes):
        def build(context, builder, signature, values):
            held, tables, at, codes = values
            length = table_length(len(weights))
            parts = []
            for a in range(len(weights)):
                where = builder.add(at, ir.Constant(at.type, a * length))
                table = load_at(context, builder, signature.args[1], tables, where, length)
                found = _look_up(builder, table, codes, len(weights), how)
                parts.append(builder.fmul(builder.extract_value(held, a), found))
            return context.make_tuple(builder, signature.return_type, parts)

        return weights(weights, tables, types.intp, _INTS), build

    return multiply


@intrinsic
def choose(typingctx, weights, uniform):
    """Return the number of partial sums of the weights at most ``uniform`` of all; and all."""

    def build(context, builder, signature, values):
        held, uniform = values
        parts = [builder.extract_value(held, a) for a in range(len(weights))]
        sums = [parts[0]]
        for weight in parts[1:]:
            sums.append(builder.fadd(sums[-1], weight))
        level = builder.fmul(uniform, sums[-1])
        passed = [
            builder.zext(builder.fcmp_ordered("<=", below, level), ir.VectorType(INT32, WIDTH))
            for below in sums[:-1]
        ]
        chosen = reduce(builder.add, passed, _ints(0))
        return context.make_tuple(builder, signature.return_type, [chosen, sums[-1]])

    return types.Tuple((_INTS, _FLOATS))(weights, _FLOATS), build


@intrinsic
def any_below(typingctx, values, limit):
    """Return whether a lane's number is below a limit."""

    def build(context, builder, signature, arguments):
        low = builder.fcmp_ordered("<", arguments[0], spread(builder, arguments[1], WIDTH))
        bits = builder.bitcast(low, ir.IntType(WIDTH))
        return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(_FLOATS, types.float32), build


def _rotate(builder, value, by):
    up = builder.shl(value, _ints(by))
    return builder.or_(up, builder.lshr(value, _ints(32 - by)))


@intrinsic
def draw(typingctx, state, at):
    """Return uniform numbers between 0 and 1 (both out of reach), and step the generator.

    Row k of ``state`` (4, lanes) holds word k of each lane's xoshiro128++; ``at`` is the first
    lane. The upper 24 bits of a step count, plus a quarter of their unit.

    References
    ----------
    D. Blackman and S. Vigna (2021). Scrambled linear pseudorandom number generators. ACM
    Transactions on Mathematical Software 47(4).
    """

    def build(context, builder, signature, values):
        state, at = values
        kind = signature.args[0]
        row = cgutils.unpack_tuple(
            builder, context.make_array(kind)(context, builder, state).shape, 2
        )[1]
        places = [builder.add(at, builder.mul(row, ir.Constant(row.type, k))) for k in range(4)]
        a, b, c, d = (load_at(context, builder, kind, state, place, WIDTH) for place in places)
        drawn = builder.add(_rotate(builder, builder.add(a, d), 7), a)
        shifted = builder.shl(b, _ints(9))
        c, d = builder.xor(c, a), builder.xor(d, b)
        b, a = builder.xor(b, c), builder.xor(a, d)
        c, d = builder.xor(c, shifted), _rotate(builder, d, 11)
        for place, word in zip(places, (a, b, c, d), strict=True):
            store_at(context, builder, kind, state, place, word)
        whole = builder.sitofp(builder.lshr(drawn, _ints(8)), ir.VectorType(ir.FloatType(), WIDTH))
        scaled = builder.fmul(whole, _floats(2.0**-24))
        return builder.fadd(scaled, _floats(2.0**-26))

    return _FLOATS(state, types.intp), build


#: The fastest way on this processor.
multiply = make_multiply(LOOKUP)
