"""Repeated attributes, against sets."""

import numpy as np

from doors.kernels import repeats


def test_an_attribute_twice_at_one_position_is_found():
    rng = np.random.default_rng(0)
    for _ in range(50):
        bags = [rng.integers(0, 6, rng.integers(0, 4)).astype(np.int32) for _ in range(5)]
        indptr = np.concatenate([[0], np.cumsum([len(bag) for bag in bags])]).astype(np.int64)
        twice = any(len(set(bag.tolist())) < len(bag) for bag in bags)
        assert repeats(indptr, np.concatenate(bags), 6) == twice
