"""Pair tables from bitsets and from rows, against histograms."""

import numpy as np
import pytest

from doors.data import table_offsets
from doors.kernels import WORD_BLOCK
from doors.kernels import counts as kernel

CARDS = np.array([3, 1, 2, 5, 4, 2])
ROWS = 300


@pytest.fixture(scope="module")
def codes():
    return np.random.default_rng(0).integers(0, CARDS[:, None], (6, ROWS)).astype(np.uint8)


PAIRS = {
    "all": np.stack(np.triu_indices(6, 1), axis=1),
    "some": np.array([[0, 3], [0, 5], [1, 2], [2, 3], [2, 5], [4, 5]]),
}


def histograms(codes, pairs, weights=None):
    return np.concatenate([
        np.histogram2d(
            codes[i], codes[j], [range(CARDS[i] + 1), range(CARDS[j] + 1)], weights=weights
        )[0].ravel()
        for i, j in pairs
    ])  # fmt: skip


def bitsets(codes, order):
    offsets = np.concatenate([[0], np.cumsum(CARDS - 1)])
    words = -(-ROWS // (64 * WORD_BLOCK)) * WORD_BLOCK
    bits = np.zeros((offsets[-1], words), dtype=np.uint64)
    kernel.pack_states(0, 6, codes, order, offsets, bits)
    return bits, offsets


@pytest.mark.parametrize("ordered", [False, True])
def test_bitsets_say_which_rows_are_in_which_state(codes, ordered):
    rng = np.random.default_rng(1)
    order = rng.permutation(ROWS) if ordered else np.zeros(0, dtype=np.int64)
    bits, offsets = bitsets(codes, order)
    rows = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")[:, :ROWS]
    for i in range(6):
        values = codes[i, order] if ordered else codes[i]
        for a in range(CARDS[i] - 1):
            assert np.array_equal(rows[offsets[i] + a], values == a)
    counts = np.ones(len(bits), dtype=np.int64)
    kernel.count_sets(bits, 2, counts)
    assert np.array_equal(counts, 1 + 4 * rows.sum(axis=1, dtype=np.int64))


@pytest.mark.parametrize("pairs", PAIRS)
def test_common_bits_and_margins_make_tables(codes, pairs):
    pairs = PAIRS[pairs]
    bits, bit_offsets = bitsets(codes, np.zeros(0, dtype=np.int64))
    offsets = table_offsets(CARDS, pairs)
    tables = np.zeros(offsets[-1], dtype=np.int64)
    kernel.count_by_bitsets(bits, bits, 0, bit_offsets, CARDS, pairs, offsets, tables)
    margins = np.concatenate([
        np.bincount(row, minlength=s) for row, s in zip(codes, CARDS, strict=True)
    ])  # fmt: skip
    margin_offsets = np.concatenate([[0], np.cumsum(CARDS)])
    kernel.complete_tables(CARDS, margins, margin_offsets, pairs, offsets, tables)
    assert np.array_equal(tables, histograms(codes, pairs))
    numbers = np.zeros(len(tables))
    kernel.convert(tables, numbers)
    assert np.array_equal(numbers, tables)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_added_up_one_by_one(codes, weighted):
    weights = np.random.default_rng(2).random(ROWS) if weighted else None
    pairs, given = PAIRS["some"], np.zeros(0) if weights is None else weights
    offsets = table_offsets(CARDS, pairs)
    tables = np.zeros(offsets[-1])
    kernel.count_by_rows(codes, CARDS, given, pairs, offsets, tables)
    assert np.allclose(tables, histograms(codes, pairs, weights), rtol=1e-12)
