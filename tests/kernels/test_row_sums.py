"""Sums of rows that stay in registers, against numpy."""

import numpy as np
import pytest
from numba import njit

from doors.kernels import BLOCK, cache_lines, sum_rows


@njit
def _sum_rows(width, places, values, source, out):
    sum_rows(width, 1, len(places), places, values, source, out, 3)


def numbers(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


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
