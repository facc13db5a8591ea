"""Gibbs sampling in lanes: look-ups, random words, draws of cells; `inference/test_sampling.py` has
what is drawn.
"""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from scipy.stats import kstest

from doors.kernels import WIDTH, choose, draw, load_codes, store, store_codes
from doors.kernels import gibbs as kernel
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


def test_draws_are_dealt_to_the_columns_of_their_lanes():
    part = np.arange(2 * 3 * 4).reshape(2, 3, 4).astype(np.uint8)
    out = np.full((2, 9), 99, dtype=np.uint8)
    kernel.deal(part, np.array([0, 3, 6]), np.array([3, 5, 9]), out)
    for i in range(2):
        wanted = [*part[i, :, 0], *part[i, :2, 1], 99, *part[i, :, 2]]
        assert out[i].tolist() == wanted


def test_cells_are_drawn_one_after_the_other_given_the_others_of_their_rows():
    """A chain of three variables; of the last cell drawn the first one is a neighbour's."""
    rng = np.random.default_rng(5)
    cards, tables = np.array([2, 3, 2]), (rng.normal(size=(2, 3)), rng.normal(size=(3, 2)))
    unaries = [rng.normal(size=s) for s in cards]
    weights = np.concatenate([*unaries, *(table.ravel() for table in tables)])
    halves = np.array([[1, 7, 3, 1], [0, 7, 1, 3], [2, 13, 2, 1], [1, 13, 1, 2]])
    indptr, offsets = np.array([0, 1, 3, 4]), np.array([0, 2, 5, 7])
    rows, starts = np.array([0, 3, 1, 3]), np.array([0, 2, 4, 4])
    codes = rng.integers(0, 2, (3, 4)).astype(np.uint8)
    drawn, wanted = codes.copy(), codes.astype(np.int64)
    kernel.draw_cells(
        2, 7, 100, rows, starts, cards, offsets, weights, indptr, halves, drawn
    )  # fmt: skip
    assert not np.array_equal(drawn, codes)

    def state(logits, row, i):
        shares = np.exp(logits) / np.exp(logits).sum()
        return int((shares.cumsum() <= kernel.uniform_at(7, 100 + row, 2 * 3 + i)).sum())

    for row in (0, 3):
        wanted[0, row] = state(unaries[0] + tables[0][:, wanted[1, row]], row, 0)
    for row in (1, 3):
        logits = unaries[1] + tables[0][wanted[0, row]] + tables[1][:, wanted[2, row]]
        wanted[1, row] = state(logits, row, 1)
    assert np.array_equal(drawn, wanted)


def test_numbers_by_counters_look_random():
    numbers = np.array([kernel.uniform_at(3, r, k) for r in range(300) for k in range(20)])
    grid = numbers.reshape(300, 20)
    assert kstest(numbers, "uniform").pvalue > 1e-3
    assert np.abs(np.corrcoef(grid.T) - np.eye(20)).max() < 0.25
    assert np.abs(np.corrcoef(grid[:-1].ravel(), grid[1:].ravel())[0, 1]) < 0.05
    assert len(np.unique(numbers)) == numbers.size
