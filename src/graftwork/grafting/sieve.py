"""Some of the numbers of a range, numbered anew without gaps: blocks that may be activated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.inference.layout import Ints
from graftwork.inference.ragged import offsets


@dataclass(frozen=True, slots=True, eq=False)
class Sieve:
    """Numbers that are kept, as runs; their keys are ``range(size)``, in the same order.

    Attributes
    ----------
    starts : (m,) int64
        First number of each run, ascending.
    before : (m + 1,) int64
        How many numbers are kept before each run, and in all.

    Examples
    --------
    >>> sieve = Sieve.dropping(np.array([2, 3]), np.array([1, 1]), 6)
    >>> sieve.numbers(np.arange(sieve.size))
    array([0, 1, 4, 5])
    >>> sieve.keys(np.array([1, 2, 5]))
    array([ 1, -1,  3])
    """

    starts: Ints
    before: Ints

    @staticmethod
    def keeping(starts: Ints, sizes: Ints) -> Sieve:
        """Return the sieve of these runs, given in any order; runs that touch become one."""
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], (starts + sizes)[order]
        first = np.ones(len(starts), dtype=bool)
        first[1:] = starts[1:] > ends[:-1]
        last = np.append(first[1:], True)[: len(starts)]
        return Sieve(starts[first], offsets(ends[last] - starts[first]))

    @staticmethod
    def dropping(starts: Ints, sizes: Ints, total: int) -> Sieve:
        """Return the sieve of what is left of ``range(total)`` without these runs."""
        order = np.argsort(starts, kind="stable")
        begins = np.concatenate([[0], (starts + sizes)[order]]).astype(np.int64)
        ends = np.append(starts[order], total).astype(np.int64)
        some = ends > begins
        return Sieve(begins[some], offsets((ends - begins)[some]))

    @property
    def size(self) -> int:
        """How many numbers are kept."""
        return int(self.before[-1])

    def numbers(self, keys: Ints) -> Ints:
        """Return the number each key stands for."""
        runs = np.searchsorted(self.before, keys, side="right") - 1
        found: Ints = keys + (self.starts - self.before[:-1])[runs]
        return found

    def keys(self, numbers: Ints) -> Ints:
        """Return the key of each number, -1 for those that are not kept."""
        if not self.size:
            return np.full(len(numbers), -1, dtype=np.int64)
        runs = np.searchsorted(self.starts, numbers, side="right") - 1
        inside = numbers - self.starts[runs]
        there = (runs >= 0) & (inside < np.diff(self.before)[runs])
        return np.where(there, self.before[runs] + inside, -1)
