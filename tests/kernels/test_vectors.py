"""Vectors of a few numbers, lane by lane against numpy."""

import numpy as np
from numba import njit

from doors.kernels import vectors as v

FOUR = (0,) * 4


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
