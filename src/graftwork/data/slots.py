"""Where things are kept that have numbers: an index that is asked for many at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graftwork.kernels.slots import add_slots, find_slots

Ints = NDArray[np.int64]


class SlotIndex:
    """Slots of keys, both whole numbers of at least 0, in the order in which they came.

    Examples
    --------
    >>> index = SlotIndex()
    >>> index.add(np.array([7, 3]), np.array([0, 25]))
    >>> index.find(np.array([3, 4, 7]))
    array([25, -1,  0])
    >>> index.latest(1)
    array([3])
    """

    def __init__(self) -> None:
        self._known, self._slots = np.full(1024, -1), np.zeros(1024, dtype=np.int64)
        self._keys = np.zeros(512, dtype=np.int64)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def find(self, keys: Ints) -> Ints:
        """Return the slot of each key, -1 for those that are not known."""
        found = np.empty(len(keys), dtype=np.int64)
        find_slots(self._known, self._slots, keys, found)
        return found

    def add(self, keys: Ints, slots: Ints) -> None:
        """Remember the slots of keys that are not known yet."""
        if self._size + len(keys) > len(self._keys):
            self._grow(self._size + len(keys))
        self._size = add_slots(self._known, self._slots, keys, slots, self._keys, self._size)

    def latest(self, most: int) -> Ints:
        """Return (at most) so many of the keys, the latest first."""
        return self._keys[max(0, self._size - most) : self._size][::-1]

    def _grow(self, size: int) -> None:
        """Make room for so many keys; the table is never more than half full."""
        old = self._keys[: self._size]
        slots, room = self.find(old), 1 << size.bit_length()
        self._keys = np.empty(room, dtype=np.int64)
        self._known, self._slots = np.full(2 * room, -1), np.zeros(2 * room, dtype=np.int64)
        add_slots(self._known, self._slots, old, slots, self._keys, 0)
