"""Pair counts: exact, additive, batched, cached, counted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doors.data import PairCounts, SlotIndex, counting, table_offsets
from doors.kernels import counts as kernel
from support.problems import all_pairs


def plain_tables(codes, cards, pairs, weights=None):
    parts = []
    for i, j in pairs:
        table = np.zeros((cards[i], cards[j]))
        np.add.at(table, (codes[i], codes[j]), 1.0 if weights is None else weights)
        parts.append(table.ravel())
    return np.concatenate(parts) if parts else np.zeros(0)


def random_codes(seed, cards, rows, dtype=np.uint8):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, s, rows) for s in cards]).astype(dtype)


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 1000])
@pytest.mark.parametrize("jobs", [1, 2])
def test_tables_equal_plain_histograms(rows, jobs):
    cards = np.array([1, 2, 3, 7, 17, 20, 2])
    codes = random_codes(rows, cards, rows)
    pairs = all_pairs(len(cards))
    values, offsets = PairCounts(codes, cards, n_jobs=jobs).tables(pairs)
    assert values.dtype == np.int64
    assert np.array_equal(values, plain_tables(codes, cards, pairs))
    assert np.array_equal(offsets, table_offsets(cards, pairs))


@pytest.mark.parametrize("states", [(2,), (3,), (4,), (6,), (8,), (1, 2, 3, 2, 5), (2, 40)])
@pytest.mark.parametrize("weighted", [False, True])
def test_first_variables_that_are_counted_together(states, weighted):
    """Many variables of few states, in orders in which their second variables agree or do not."""
    rng = np.random.default_rng(len(states))
    cards = rng.choice(states, 45)
    codes = random_codes(1, cards, 300)
    weights = rng.integers(0, 5, 300).astype(float) if weighted else None
    counts = PairCounts(codes, cards, weights, n_jobs=1)
    whole = all_pairs(len(cards))
    shuffled = rng.permutation(whole)
    some = whole[rng.random(len(whole)) < 0.9]
    block = np.array([(i, j) for i in range(20) for j in range(20, 45)])
    for pairs in (whole, some, block, shuffled, whole[shuffled[:, 0] > 10]):
        assert np.array_equal(counts.compute(pairs)[0], plain_tables(codes, cards, pairs, weights))


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)])
def test_a_constant_beside_very_many_states(order):
    cards = np.array([1, 600, 2])[list(order)]
    codes = random_codes(2, cards, 1000, np.uint16)
    pairs = all_pairs(3)
    found = PairCounts(codes, cards, n_jobs=1).compute(pairs)[0]
    assert np.array_equal(found, plain_tables(codes, cards, pairs))


def test_many_states_are_counted_by_rows_and_few_by_bitsets(monkeypatch):
    cards = np.array([300, 280, 2, 3])
    codes = random_codes(0, cards, 500, np.uint16)
    pairs = all_pairs(4)
    used = []
    for name in ("count_by_rows", "count_by_bitsets"):
        original = getattr(kernel, name)
        monkeypatch.setattr(kernel, name, lambda *a, f=original, n=name: (used.append(n), f(*a))[1])
    values, _ = PairCounts(codes, cards, n_jobs=1).tables(pairs)
    assert np.array_equal(values, plain_tables(codes, cards, pairs))
    assert set(used) == {"count_by_rows", "count_by_bitsets"}


def test_weighted_rows_equal_repeated_rows():
    cards = np.array([2, 3, 4])
    codes = random_codes(1, cards, 50)
    repeats = np.random.default_rng(0).integers(0, 4, 50)
    pairs = all_pairs(3)
    weighted, _ = PairCounts(codes, cards, repeats.astype(float)).tables(pairs)
    repeated, _ = PairCounts(np.repeat(codes, repeats, axis=1), cards).tables(pairs)
    assert weighted.dtype == np.float64
    assert np.array_equal(weighted, repeated)


@given(cut=st.integers(0, 120), seed=st.integers(0, 50))
def test_counts_add_over_any_split_of_the_rows(cut, seed):
    cards = np.array([2, 5, 3])
    codes = random_codes(seed, cards, 120)
    pairs = all_pairs(3)
    whole, _ = PairCounts(codes, cards).tables(pairs)
    parts = [PairCounts(c, cards).tables(pairs)[0] for c in (codes[:, :cut], codes[:, cut:])]
    assert np.array_equal(whole, parts[0] + parts[1])


def test_each_table_is_computed_once_and_only_on_demand():
    cards = np.array([2, 3, 4, 5])
    codes = random_codes(2, cards, 200)
    counts = PairCounts(codes, cards)
    assert counts.n_computed == 0
    counts.tables(np.array([[0, 1], [2, 3]]))
    assert counts.n_computed == 2
    values, _ = counts.tables(np.array([[2, 3], [0, 2], [0, 1]]))
    assert counts.n_computed == 3
    assert np.array_equal(values, plain_tables(codes, cards, [(2, 3), (0, 2), (0, 1)]))


def test_a_full_cache_still_gives_right_tables():
    cards = np.array([3, 3, 3])
    codes = random_codes(3, cards, 100)
    counts = PairCounts(codes, cards, cache_cells=10)
    pairs = all_pairs(3)
    for _ in range(2):
        for pair in pairs:
            values, _ = counts.tables(pair[None])
            assert np.array_equal(values, plain_tables(codes, cards, [pair]))
    assert counts.n_computed == 5  # the first stays, the two others are counted twice


def test_margins_and_empty_batch():
    cards = np.array([2, 3])
    codes = random_codes(4, cards, 10)
    counts = PairCounts(codes, cards)
    assert np.array_equal(counts.margin(1), np.bincount(codes[1], minlength=3))
    values, offsets = counts.tables(np.zeros((0, 2), dtype=np.int64))
    assert len(values) == 0
    assert offsets.tolist() == [0]


@pytest.mark.parametrize("largest", [1, 3, 4, 1000, 2**20])
@pytest.mark.parametrize("rows", [1, 64, 700, 5000])
def test_whole_weights_are_counted_exactly(largest, rows):
    cards = np.array([1, 2, 3, 5, 6])
    codes = random_codes(rows, cards, rows)
    weights = np.random.default_rng(largest).integers(0, largest + 1, rows).astype(float)
    pairs = all_pairs(len(cards))
    counts = PairCounts(codes, cards, weights)
    assert np.array_equal(counts.tables(pairs)[0], plain_tables(codes, cards, pairs, weights))
    assert np.array_equal(counts.margin(3), np.bincount(codes[3], weights, 5))


def test_whole_weights_are_counted_by_bitsets(monkeypatch):
    monkeypatch.setattr(kernel, "count_by_rows", None)
    cards = np.array([5, 5])
    codes = random_codes(0, cards, 5000)
    weights = np.random.default_rng(0).poisson(2.0, 5000).astype(float)
    values, _ = PairCounts(codes, cards, weights).tables(np.array([[0, 1]]))
    assert np.array_equal(values, plain_tables(codes, cards, [(0, 1)], weights))


def test_other_weights_are_added_up_row_by_row():
    cards = np.array([2, 3, 4])
    codes = random_codes(1, cards, 500)
    weights = np.random.default_rng(0).random(500)
    pairs = all_pairs(3)
    values, _ = PairCounts(codes, cards, weights).tables(pairs)
    assert np.allclose(values, plain_tables(codes, cards, pairs, weights), rtol=1e-12)


def test_weights_of_zero_alone_give_tables_of_zeros():
    codes = random_codes(1, np.array([2, 3]), 100)
    values, _ = PairCounts(codes, np.array([2, 3]), np.zeros(100)).tables(np.array([[0, 1]]))
    assert values.tolist() == [0.0] * 6


def test_many_rows_and_variables_are_counted_in_parts_that_stay_in_cache(monkeypatch):
    monkeypatch.setattr(counting, "CACHED", 2**12)
    cards = np.tile([2, 3, 4, 7], 10)
    codes = random_codes(5, cards, 64 * 1000)
    pairs = np.random.default_rng(1).permutation(all_pairs(len(cards)))[:100]
    values, _ = PairCounts(codes, cards).tables(pairs)
    assert np.array_equal(values, plain_tables(codes, cards, pairs))


def test_bitsets_longer_than_a_block_of_words():
    cards = np.array([2, 6, 3])
    codes = random_codes(6, cards, 64 * kernel.WORDS + 1000)
    pairs = all_pairs(3)
    values, _ = PairCounts(codes, cards).tables(pairs)
    assert np.array_equal(values, plain_tables(codes, cards, pairs))


@pytest.mark.parametrize("weights", ["none", "whole", "large", "zero", "fractions"])
@pytest.mark.parametrize("rows", [1, 63, 64, 1000])
@pytest.mark.parametrize("states", [1, 2, 5, 32, 40])
def test_margins_and_tables_equal_histograms(states, rows, weights):
    rng = np.random.default_rng(states + rows)
    codes = rng.integers(0, states, (3, rows)).astype(np.uint8)
    own = {
        "none": None,
        "whole": rng.integers(0, 8, rows).astype(float),
        "large": rng.integers(0, 2**20, rows).astype(float),
        "zero": np.zeros(rows),
        "fractions": rng.random(rows),
    }[weights]
    counts = PairCounts(codes, np.full(3, states), own, n_jobs=1)
    for i in range(3):
        wanted = np.bincount(codes[i], own, minlength=states)
        np.testing.assert_allclose(counts.margin(i), wanted, rtol=1e-13)
    values, starts = counts.compute(np.array([[0, 1], [1, 2]]))
    cells = codes[1].astype(int) * states + codes[2]
    wanted = np.bincount(cells, own, minlength=states**2)
    np.testing.assert_allclose(values[starts[1] :], wanted, rtol=1e-12, atol=1e-12)
    assert values.dtype == (np.int64 if own is None else np.float64)


def test_the_index_of_slots_is_a_dict_that_is_asked_for_many_at_a_time():
    rng = np.random.default_rng(0)
    index, plain = SlotIndex(), {}
    for size in (1, 700, 3, 5000, 0, 40_000):
        keys = rng.integers(0, 100_000, size)
        fresh = keys[index.find(keys) < 0]
        slots = rng.integers(0, 2**40, len(fresh))
        index.add(fresh, slots)
        for key, slot in zip(fresh.tolist(), slots.tolist(), strict=True):
            plain.setdefault(key, slot)
        asked = rng.integers(0, 100_000, 1000)
        assert index.find(asked).tolist() == [plain.get(key, -1) for key in asked.tolist()]
        assert len(index) == len(plain)
        assert index.latest(50).tolist() == list(reversed(plain))[:50]
