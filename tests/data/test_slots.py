"""The index of slots does what a dict does."""

import numpy as np

from graftwork.data.counts import SlotIndex


def test_it_is_a_dict_that_is_asked_for_many_at_a_time():
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
