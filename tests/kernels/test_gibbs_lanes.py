from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from doors.kernels import WIDTH, choose, draw, load_codes, store, store_codes
from doors.kernels import gibbs_lanes as lanes

#: What this processor can be asked to do, by the best of them.
WAYS = {"avx512f": ("avx512f", "avx2", "select"), "avx2": ("avx2", "select")}


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def weigh_with(how):
    """Return a kernel that looks up one table in one of the ways."""
    multiply = lanes.make_multiply(how)

    @njit
    def weigh(sizes, unaries, tables, codes, out):
        held = lanes.spread_each(sizes, unaries, 0)
        held = multiply(held, tables, 0, load_codes(codes, 0))
        for a in range(len(sizes)):
            store(held[a], out, a * WIDTH)

    return weigh


@pytest.mark.parametrize("how", WAYS.get(lanes.LOOKUP, ("select",)))
@pytest.mark.parametrize("states", [2, 5, 8, 12, 16])
def test_every_way_to_look_up_gives_the_same_numbers(how, states, rng):
    tables = rng.random((states, lanes.table_length(states)), dtype=np.float32)
    unaries = rng.random(states, dtype=np.float32)
    codes = rng.integers(0, states, size=WIDTH).astype(np.uint8)
    out = np.empty((states, WIDTH), dtype=np.float32)
    weigh_with(how)((0,) * states, unaries, tables, codes, out)
    np.testing.assert_array_equal(out, unaries[:, None] * tables[:, codes])


@njit
def _pick(sizes, weights, state, chosen, total):
    held = lanes.spread_each(sizes, weights, 0)
    where, mass = choose(held, draw(state, 0))
    store_codes(where, chosen, 0)
    store(mass, total, 0)


@njit
def _uniforms(state, out):
    for row in range(len(out)):
        for first in range(0, out.shape[1], WIDTH):
            store(draw(state, first), out, row * out.shape[1] + first)


def xoshiro(words, count):
    """xoshiro128++ of one lane in plain integers."""
    s, mask, out = [int(word) for word in words], 2**32 - 1, []

    def rotate(value, by):
        return ((value << by) | (value >> (32 - by))) & mask

    for _ in range(count):
        out.append((rotate((s[0] + s[3]) & mask, 7) + s[0]) & mask)
        shifted = (s[1] << 9) & mask
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = rotate(s[3], 11)
    return np.array(out)


def test_uniform_numbers_are_the_upper_bits_of_xoshiro(rng):
    state = rng.integers(0, 2**32, size=(4, 2 * WIDTH), dtype=np.uint32)
    out = np.empty((50, 2 * WIDTH), dtype=np.float32)
    expected = [xoshiro(state[:, lane], 50) for lane in range(2 * WIDTH)]
    _uniforms(state, out)
    np.testing.assert_array_equal(np.floor(out.T * 2.0**24), np.array(expected) >> 8)


def test_xoshiro_gives_the_published_first_words():
    """From state 1, 2, 3, 4, as in the tests of the rand_xoshiro crate."""
    expected = [641, 1573767, 3222811527, 3517856514, 836907274, 4247214768]
    np.testing.assert_array_equal(xoshiro([1, 2, 3, 4], 6), expected)


@pytest.mark.parametrize("word", [0, 2**32 - 1])
def test_uniform_numbers_never_reach_the_ends(word):
    """A state without weight is not chosen, be it the first or the last one."""
    state = np.zeros((4, WIDTH), dtype=np.uint32)
    state[3] = word  # with the other words 0 the step is this one, rotated
    chosen, total = np.empty(WIDTH, np.uint8), np.empty(WIDTH, np.float32)
    _pick((0,) * 3, np.array([0, 0.3, 0], np.float32), state, chosen, total)
    assert (chosen == 1).all()
