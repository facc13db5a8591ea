"""Bits of rows and common bits, against plain comparisons."""

import numpy as np
import pytest
from numba import njit

from doors.kernels import WORD_BLOCK, common_bits, count_bits, equal_bits


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
