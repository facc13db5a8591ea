"""Packing: bits against NumPy's own, for every number of rows up to a few bytes."""

import numpy as np
import pytest

from doors.kernels import add_weights, count_bytes, first_rows, pack, recode, unpack


@pytest.mark.parametrize("bits", [1, 2, 4])
@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 31, 1000])
def test_pack_and_unpack(bits, rows):
    codes = np.random.default_rng(rows).integers(0, 1 << bits, rows).astype(np.uint8)
    each = 8 // bits
    out = np.full(-(-rows // each), 255, dtype=np.uint8)
    pack(codes, bits, out)
    digits = (codes[:, None] >> np.arange(bits)) & 1
    assert np.array_equal(out, np.packbits(digits.ravel(), bitorder="little"))
    for kind in (np.uint8, np.uint16):
        lookup = np.random.default_rng(0).permutation(1 << bits).astype(kind)
        back = np.empty(rows, dtype=kind)
        unpack(out, bits, lookup, back)
        assert np.array_equal(back, lookup[codes])


def test_unpack_bytes():
    codes = np.arange(256, dtype=np.uint8)
    lookup = codes[::-1].astype(np.uint16) + 500
    back = np.empty(256, dtype=np.uint16)
    unpack(codes, 8, lookup, back)
    assert np.array_equal(back, lookup)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_recode_and_first_rows(kind):
    rng = np.random.default_rng(3)
    index = rng.integers(5, 25, 500).astype(kind)
    lookup = rng.integers(-1, 9, 20).astype(np.int32)
    out = np.empty(500, dtype=np.uint8)
    least = recode(index, 5, lookup, out)
    expected = lookup[index - 5]
    assert least == min(expected.min(), 0)
    assert np.array_equal(out[expected >= 0], expected[expected >= 0])
    first = first_rows(index, 5, lookup)
    for k in range(20):
        found = np.flatnonzero(index - 5 == k)
        wanted = found[0] if lookup[k] < 0 and len(found) else -1
        assert first[k] == wanted


def test_sums():
    rng = np.random.default_rng(0)
    codes, weights = rng.integers(0, 5, 1003).astype(np.uint8), rng.random(1003)
    sums = np.zeros(5)
    add_weights(codes, weights, sums)
    assert np.array_equal(sums, np.bincount(codes, weights, 5))
    assert np.array_equal(count_bytes(codes), np.bincount(codes, minlength=256))
