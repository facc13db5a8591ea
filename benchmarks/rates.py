"""How much elementary work one core of this machine does in a second, in cache.

Every rate is the best of a few short runs of a tiny loop that does nothing else; CPU time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from threadpoolctl import threadpool_limits

from graftwork.kernels.bitwords import common_bits, count_bits

LANES = 8  # numbers in a row of a table
FAST = {"reassoc", "contract", "nsz", "arcp"}
#: Coefficients of 2**f for -1/2 <= f <= 1/2: Taylor's, as many as the type can show.
POWERS = [np.log(2.0) ** k / float(np.prod(np.arange(1.0, k + 1))) for k in range(14)]


@dataclass(frozen=True)
class Rates:
    """Pieces of elementary work in a second, on one core."""

    words: float  # 64-bit words ANDed and their bits counted
    bytes_read: float  # bytes read from memory
    cells: float  # numbers added to the cell of a table that a byte says
    entries32: float  # float32 entries of table rows found by a byte, and added
    entries64: float
    exponentials32: float
    exponentials64: float
    small_products64: float  # float64 multiply-adds of 5 x 5 tables with vectors
    products64: float  # float64 multiply-adds, of a matrix product
    divisions64: float
    flops32: float  # float32 operations of a matrix product
    draws: float  # random 32-bit numbers, compared with a number


@njit(nogil=True)
def _and_in_tiles(bits, repeats):
    total = 0
    for _ in range(repeats):
        found = common_bits(bits, bits, (0, 1, 2, 3), (4, 5, 6, 7), 0, bits.shape[1])
        for count in found:
            total += count
    return total


@njit(nogil=True)
def _and_in_a_loop(bits, repeats):
    total = np.uint64(0)
    for t in range(repeats):
        one, other = bits[t & 3], bits[4 + (t & 3)]
        for w in range(bits.shape[1]):
            total += count_bits(one[w] & other[w])
    return total


@njit(nogil=True)
def _read(words, repeats):
    total = np.uint64(0)
    for _ in range(repeats):
        for word in words:
            total ^= word
    return total


@njit(nogil=True)
def _add_to_cells(codes, weights, table, repeats):
    for t in range(repeats):
        for r in range(codes.shape[1]):
            table[codes[t & 3, r]] += weights[r]


@intrinsic
def _sum_of_rows(typing_context, tables, rows, out, place):
    """Store the sum of these rows of tables, of LANES numbers each, at a row of ``out``."""

    def generate(context, builder, signature, arguments):
        number = context.get_value_type(tables.dtype)
        many = ir.VectorType(number, LANES)

        def address(kind, array, row):
            data = context.make_array(kind)(context, builder, array).data
            start = builder.gep(data, [builder.mul(row, ir.IntType(64)(LANES))])
            return builder.bitcast(start, many.as_pointer())

        total = ir.Constant(many, None)
        for row in cgutils.unpack_tuple(builder, arguments[1]):
            found = builder.load(address(tables, arguments[0], row), align=8)
            total = builder.fadd(total, found)
        builder.store(total, address(out, arguments[2], arguments[3]), align=8)
        return context.get_dummy_value()

    return types.void(tables, rows, out, types.int64), generate


@njit(nogil=True)
def _add_rows(codes, tables, out, repeats):
    for _ in range(repeats):
        for r in range(codes.shape[1]):
            rows = (
                np.int64(codes[0, r]),
                LANES + np.int64(codes[1, r]),
                2 * LANES + np.int64(codes[2, r]),
                3 * LANES + np.int64(codes[3, r]),
            )
            _sum_of_rows(tables, rows, out, r)


@intrinsic
def _table_times_vector(typing_context, tables, table, vector, out):
    """Store the sum of a table's rows, LANES long, times the numbers of a vector."""

    def generate(context, builder, signature, arguments):
        many = ir.VectorType(ir.DoubleType(), LANES)
        data = context.make_array(tables)(context, builder, arguments[0]).data
        factors = cgutils.unpack_tuple(builder, arguments[2])
        start = builder.mul(arguments[1], ir.IntType(64)(LANES * len(factors)))
        total = ir.Constant(many, None)
        for k, factor in enumerate(factors):
            place = builder.gep(data, [builder.add(start, ir.IntType(64)(LANES * k))])
            row = builder.load(builder.bitcast(place, many.as_pointer()), align=8)
            one = builder.insert_element(ir.Constant(many, None), factor, ir.IntType(32)(0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
            total = builder.fadd(
                total, builder.fmul(row, builder.shuffle_vector(one, one, zeros)), flags=("fast",)
            )
        target = context.make_array(out)(context, builder, arguments[3]).data
        builder.store(total, builder.bitcast(target, many.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(tables, types.int64, vector, out), generate


@njit(nogil=True)
def _multiply_small(tables, vectors, out, repeats):
    for _ in range(repeats):
        for t in range(len(tables)):
            x = vectors[t & 7]
            _table_times_vector(tables, t, (x[0], x[1], x[2], x[3], x[4]), out)


@njit(nogil=True, fastmath=FAST)
def _exponentiate32(values, powers, bits, c, repeats):
    for _ in range(repeats):
        for r in range(len(values)):
            x = values[r]
            whole = np.floor(x + np.float32(0.5))
            f = x - whole
            bits[r] = (np.int32(whole) + np.int32(127)) << np.int32(23)
            values[r] = ((((c[5] * f + c[4]) * f + c[3]) * f + c[2]) * f + c[1]) * f + c[0]
        for r in range(len(values)):
            values[r] = -values[r] * powers[r]


@njit(nogil=True, fastmath=FAST)
def _exponentiate64(values, powers, bits, c, repeats):
    for _ in range(repeats):
        for r in range(len(values)):
            x = values[r]
            whole = np.floor(x + 0.5)
            f = x - whole
            bits[r] = (np.int64(whole) + 1023) << 52
            low = ((((c[5] * f + c[4]) * f + c[3]) * f + c[2]) * f + c[1]) * f + c[0]
            high = ((((c[11] * f + c[10]) * f + c[9]) * f + c[8]) * f + c[7]) * f + c[6]
            cube = f * f * f
            values[r] = low + high * cube * cube
        for r in range(len(values)):
            values[r] = -values[r] * powers[r]


@njit(nogil=True)
def _divide(values, out, repeats):
    for t in range(repeats):
        for r in range(len(values)):
            out[r] = t / values[r]


@njit(nogil=True)
def _draw(states, limits, below, repeats):
    for _ in range(repeats):
        for r in range(len(states)):
            x = states[r]
            x ^= np.uint32(x << np.uint32(13))
            x ^= np.uint32(x >> np.uint32(17))
            x ^= np.uint32(x << np.uint32(5))
            states[r] = x
            below[r] += x < limits[r]


def best_seconds(action, repeats: int = 5, together: float = 0.3) -> float:
    """Return the least CPU seconds of a few runs, of more if they are short.

    Clocks and caches are the machine's, and other machines' on the same host: the least of many
    short runs is what a kernel takes, the least of five may be twice as much.
    """
    times = []
    while len(times) < repeats or sum(times) < together:
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def rate(amount: float, loop, *arguments, seconds: float = 0.01) -> float:
    """Return the amount of one repeat of a loop, done so many times in a second."""
    loop(*arguments, 1)
    repeats = 1
    while best_seconds(partial(loop, *arguments, repeats), 1, 0.0) < seconds:
        repeats *= 2
    return amount * repeats / best_seconds(partial(loop, *arguments, repeats))


def _rows_rate(rng, kind) -> float:
    codes = rng.integers(0, LANES, (4, 512)).astype(np.uint8)
    tables = rng.random((4 * LANES, LANES)).astype(kind)
    return rate(4 * LANES * 512, _add_rows, codes, tables, np.empty((512, LANES), kind))


def _exponential_rate(rng, loop, kind, bits) -> float:
    powers = np.empty(1024, kind)
    c = np.array(POWERS, kind)
    return rate(1024, loop, -rng.random(1024).astype(kind), powers, powers.view(bits), c)


def _product_rate(rng, kind, size: int = 768) -> float:
    a = rng.random((size, size)).astype(kind)
    a @ a
    with threadpool_limits(1):
        return 2 * size**3 / best_seconds(lambda: a @ a)


def aligned(shape) -> np.ndarray:
    """Return words that begin at a cache line."""
    room = np.zeros(int(np.prod(shape)) + 8, np.uint64)
    start = -(room.ctypes.data // 8) % 8
    return room[start : start + int(np.prod(shape))].reshape(shape)


def measure() -> Rates:
    """Return the rates of this machine."""
    rng = np.random.default_rng(0)
    bits = aligned((8, 256))
    bits[:] = rng.integers(0, 2**63, bits.shape, dtype=np.uint64)
    cells = rng.integers(0, 25, (4, 2048)).astype(np.uint8)
    states = rng.integers(1, 2**32, 512, dtype=np.uint32)
    return Rates(
        words=max(
            rate(16 * 256, _and_in_tiles, bits),
            rate(256, _and_in_a_loop, bits),
        ),
        bytes_read=rate(2**26, _read, np.ones(2**23, np.uint64)),
        cells=rate(2048, _add_to_cells, cells, rng.random(2048), np.zeros(25)),
        entries32=_rows_rate(rng, np.float32),
        entries64=_rows_rate(rng, np.float64),
        exponentials32=_exponential_rate(rng, _exponentiate32, np.float32, np.int32),
        exponentials64=_exponential_rate(rng, _exponentiate64, np.float64, np.int64),
        small_products64=rate(
            25 * 400, _multiply_small, rng.random((400, 5, LANES)), rng.random((8, 5)), np.empty(8)
        ),
        products64=_product_rate(rng, np.float64) / 2,
        divisions64=rate(1024, _divide, 1.0 + rng.random(1024), np.empty(1024)),
        flops32=_product_rate(rng, np.float32),
        draws=rate(512, _draw, states, states.copy(), np.zeros(512, np.int32)),
    )


if __name__ == "__main__":
    for name, value in vars(measure()).items():
        print(f"{name:16}{value / 1e9:10.2f} G/s")
