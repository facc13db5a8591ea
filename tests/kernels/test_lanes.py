"""Vectors of a few numbers, rows in registers, chains side by side, 64 rows in a word of bits.

Each lane against numpy, with as many registers, tiles and words as there are kernels for.
"""

import numpy as np
import pytest
from numba import njit

from doors.kernels import (
    BLOCK,
    BLOCKS,
    SIDE,
    TILES,
    WORD_BLOCK,
    add_products,
    cache_lines,
    common_bits,
    count_bits,
    equal_bits,
    mix,
    sum_rows,
    turn,
)
from doors.kernels import vectors as v

FOUR = (0,) * 4
LANES = len(SIDE)


def numbers(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


@njit
def _two(x, y, out):
    a, b = v.load(FOUR, x, 1), v.load(FOUR, y, 0)
    v.store(v.plus(a, b), out, 0)
    v.store(v.minus(a, b), out, 4)
    v.store(v.times(a, b), out, 8)
    v.store(v.over(a, b), out, 12)
    v.store(v.greater(a, b), out, 16)
    v.store(v.smaller(a, b), out, 20)
    v.store(v.scale(a, 3.0), out, 24)
    v.store(v.add_scaled(a, 3.0, y, 2), out, 28)
    v.store(v.same(FOUR, 5.0), out, 32)
    v.store(v.root(v.times(a, a)), out, 36)
    return v.total(a), v.largest(a), v.smallest(a)


def test_arithmetic_is_that_of_numpy():
    rng, out = np.random.default_rng(0), np.zeros(40)
    x, y = rng.normal(size=6), rng.normal(size=6)
    a, b = x[1:5], y[:4]
    found = _two(x, y, out)
    wanted = [
        a + b, a - b, a * b, a / b, np.maximum(a, b), np.minimum(a, b), 3 * a, a + 3 * y[2:6],
        np.full(4, 5.0), np.abs(a),
    ]  # fmt: skip
    assert np.allclose(out, np.concatenate(wanted), rtol=1e-15)
    assert np.allclose(found, [a.sum(), a.max(), a.min()], rtol=1e-14)


@njit
def _exponentials(x):
    for at in range(0, x.size, 4):
        v.store(v.exponential(v.load(FOUR, x, at)), x, at)


def test_exponentials_are_right_to_the_last_digits():
    x = -np.concatenate([[0.0, 1e-300, 1e-9, 0.3465735, 0.34658], np.linspace(0, 699, 40_003)])
    x = np.concatenate([x, np.full(-len(x) % 4, -1e300)])
    found = x.copy()
    _exponentials(found)
    np.testing.assert_allclose(found, np.exp(np.maximum(x, -700.0)), rtol=1e-15)


@njit
def _parts(x, exponents, out):
    v.store(v.part_exponents(v.load(FOUR, x, 0), exponents, 0), out, 0)
    v.store(v.join_exponents(v.load(FOUR, out, 0), exponents, 0, np.int64(10)), out, 4)


def test_exponents_are_taken_off_and_put_back():
    x, exponents, out = np.array([1.0, 3.0, 1e-200, 5e100]), np.zeros(4, np.int64), np.zeros(8)
    _parts(x, exponents, out)
    mantissas, powers = np.frexp(x)
    assert np.array_equal(exponents, powers - 1)
    assert np.array_equal(out[:4], 2 * mantissas)
    assert np.array_equal(out[4:], x / 2.0**10)


@njit
def _sum_rows(width, places, values, source, out):
    sum_rows(width, 1, len(places), places, values, source, out, 3)


@pytest.mark.parametrize("blocks", range(1, 10))
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_summed(blocks, weighted):
    width = blocks * BLOCK
    source, places = numbers(0, 6, width), np.array([5, 2, 0, 2, 5], np.int32)
    values = numbers(1, 5) if weighted else np.zeros(0)
    out = np.zeros(width + 5)
    _sum_rows(width, places, values, source.ravel(), out)
    factors = values[1:] if weighted else np.ones(4)
    np.testing.assert_allclose(out[3:-2], factors @ source[places[1:]], atol=1e-13)
    assert not out[:3].any()
    assert not out[-2:].any()


def test_cache_lines_begin_where_they_should():
    for size in (1, 7, 8, 1000):
        line = cache_lines(size)
        assert line.size == size
        assert line.ctypes.data % (8 * BLOCK) == 0
        assert not line.any()


@njit
def _mix(size, table, entry, row_step, source, first, step, count, out, place, out_step):
    mix(SIDE, size, table, entry, row_step, source, first, step, count, out, place, out_step)


@njit
def _add_products(size, count, left, left_step, right, out, out_step):
    add_products(SIDE, size, count, left, 1, left_step, 20, right, 2, 9, out, 3, out_step)


@njit
def _turn(source, step, out, out_step):
    turn(SIDE, source, 1, step, out, 2, out_step)


@pytest.mark.parametrize("size", BLOCKS)
def test_mix_multiplies_a_table_with_vectors(size):
    table, source = numbers(0, 7, 15), numbers(1, 20, LANES)
    out = np.zeros((40, LANES))
    _mix(size, table.ravel(), 2, 15, source.ravel(), 1, 3, 6, out.ravel(), 4, 2)
    wanted = np.zeros_like(out)
    wanted[4 : 4 + 2 * size : 2] = table[:6, 2 : 2 + size].T @ source[1:19:3]
    np.testing.assert_allclose(out, wanted, atol=1e-13)


@pytest.mark.parametrize("size", TILES)
def test_products_are_added_over_positions(size):
    left, right, out = numbers(0, 5, 20, LANES), numbers(1, 5, 9, LANES), numbers(2, 30, LANES)
    wanted = out.copy()
    for i in range(size):
        for j in range(size):
            wanted[3 + 6 * i + j] += (left[:, 1 + 4 * i] * right[:, 2 + j]).sum(axis=0)
    _add_products(size, 5, left.ravel(), 4, right.ravel(), out.ravel(), 6)
    np.testing.assert_allclose(out, wanted, atol=1e-13)


def test_turning_exchanges_rows_and_columns():
    source, out = numbers(0, LANES, LANES + 3), np.zeros((LANES + 1, LANES + 5))
    _turn(source.ravel(), LANES + 3, out.ravel(), LANES + 5)
    np.testing.assert_array_equal(out[:LANES, 2 : 2 + LANES], source[:, 1 : 1 + LANES].T)


@njit
def _equal(codes, place, state):
    return equal_bits(codes, place, state)


@njit
def _count(word):
    return count_bits(word)


@njit
def _common(left, right, rows, columns, first, stop):
    return common_bits(left, right, rows, columns, first, stop)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_sixty_four_rows_are_compared_at_once(kind):
    codes = np.random.default_rng(0).integers(0, 3, 100).astype(kind)
    for place, state in ((0, 0), (7, 1), (36, 2)):
        bits = int(_equal(codes, place, state))
        wanted = codes[place : place + 64] == state
        assert [bits >> r & 1 for r in range(64)] == wanted.tolist()
        assert _count(np.uint64(bits)) == wanted.sum()


@pytest.mark.parametrize("rows", [(2,), (3, 0, 1, 2)])
@pytest.mark.parametrize("columns", [(1,), (4, 0, 0, 2)])
def test_common_bits_are_counted_in_tiles(rows, columns):
    rng = np.random.default_rng(1)
    left, right = (
        rng.integers(0, 2**63, (count, 3 * WORD_BLOCK)).astype(np.uint64) for count in (4, 5)
    )
    found = _common(left, right, rows, columns, WORD_BLOCK, 3 * WORD_BLOCK)
    wanted = [
        np.bitwise_count(left[a, WORD_BLOCK:] & right[b, WORD_BLOCK:]).sum()
        for a in rows
        for b in columns
    ]
    assert list(found) == wanted
