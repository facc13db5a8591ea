"""The hash table against a dict."""

import numpy as np

from doors.kernels import add_slots, find_slots


def test_keys_are_found_where_they_were_put_and_the_first_value_counts():
    rng = np.random.default_rng(0)
    known, slots = np.full(64, -1), np.zeros(64, dtype=np.int64)
    listed, size, twin = np.zeros(64, dtype=np.int64), 0, {}
    for _ in range(4):
        keys, values = rng.integers(0, 60, 12), rng.integers(0, 1000, 12)
        size = add_slots(known, slots, keys, values, listed, size)
        for key, value in zip(keys.tolist(), values.tolist(), strict=True):
            twin.setdefault(key, value)
    assert listed[:size].tolist() == list(twin)
    asked, found = np.arange(60), np.zeros(60, dtype=np.int64)
    find_slots(known, slots, asked, found)
    assert found.tolist() == [twin.get(key, -1) for key in asked.tolist()]
