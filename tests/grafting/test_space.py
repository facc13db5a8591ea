"""The space of pairs: numbered without a list, in order or at random."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graftwork.grafting.space import PairSpace, RandomOrder


@pytest.mark.parametrize("n", [0, 1, 2, 3, 17, 100])
def test_keys_number_all_pairs_in_order(n):
    variables = np.sort(np.random.default_rng(n).choice(5 * n + 1, n, replace=False))
    space = PairSpace(variables)
    expected = [(a, b) for k, a in enumerate(variables) for b in variables[k + 1 :]]
    pairs = space.pairs(np.arange(space.size))
    assert [tuple(p) for p in pairs.tolist()] == [tuple(map(int, p)) for p in expected]
    assert np.array_equal(space.keys(pairs), np.arange(space.size))
    assert np.array_equal(space.keys(pairs[:, ::-1]), np.arange(space.size))


@given(st.integers(2, 10**6), st.integers(0, 2**60))
def test_keys_of_huge_spaces_round_trip(n, number):
    space = PairSpace(np.arange(n))
    key = np.array([number % space.size])
    pair = space.pairs(key)
    assert 0 <= pair[0, 0] < pair[0, 1] < n
    assert space.keys(pair)[0] == key[0]


def test_keys_at_a_variable():
    space = PairSpace(np.arange(6))
    pairs = space.pairs(space.keys_at(3, np.arange(5)))
    assert sorted(map(tuple, pairs.tolist())) == [(0, 3), (1, 3), (2, 3), (3, 4), (3, 5)]
    assert space.places(3, np.array([0, 1, 2, 4, 5])).tolist() == [0, 1, 2, 3, 4]


@given(st.integers(1, 3000), st.integers(0, 100), st.integers(0, 3000))
def test_random_order_knows_what_was_read(size, seed, count):
    order = RandomOrder(size, np.random.default_rng(seed))
    read = set(order.take(count).tolist())
    assert order.taken(np.arange(size)).tolist() == [k in read for k in range(size)]


@given(st.integers(0, 3000), st.integers(0, 100), st.integers(1, 500))
def test_random_order_is_a_permutation(size, seed, piece):
    order = RandomOrder(size, np.random.default_rng(seed))
    parts = []
    while len(part := order.take(piece)):
        parts.append(part)
    seen = np.concatenate(parts) if parts else np.zeros(0)
    assert np.array_equal(np.sort(seen), np.arange(size))


def test_random_order_looks_random():
    """Neighbouring draws are unrelated, and different seeds give different orders."""
    first = RandomOrder(100_000, np.random.default_rng(0)).take(20_000)
    second = RandomOrder(100_000, np.random.default_rng(1)).take(20_000)
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 0.03
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.03
    assert abs(first.mean() / 50_000 - 1) < 0.02
