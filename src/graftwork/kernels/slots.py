"""A hash table of whole numbers, for many at a time."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _place(known, key):
    """Return where a key is, or would be put; the table's size is a power of two."""
    place = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)
    place &= np.uint64(len(known) - 1)
    while known[place] >= 0 and known[place] != key:
        place = (place + np.uint64(1)) & np.uint64(len(known) - 1)
    return place


@njit(cache=True, nogil=True)
def find_slots(known, slots, keys, found):
    """Fill ``found`` with the slots of these keys, -1 for those that are not known."""
    for k in range(len(keys)):
        place = _place(known, keys[k])
        found[k] = slots[place] if known[place] >= 0 else -1


@njit(cache=True, nogil=True)
def add_slots(known, slots, keys, values, listed, size):
    """Remember the slots of keys that are not known, and list them from ``size`` on.

    There must be room. Return how many keys are listed then.
    """
    for k in range(len(keys)):
        place = _place(known, keys[k])
        if known[place] < 0:
            known[place], slots[place], listed[size] = keys[k], values[k], keys[k]
            size += 1
    return size
