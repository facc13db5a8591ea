"""Prior knowledge about edges as one number per pair: the factor of the penalty of its table.

An infinite factor forbids the edge, a factor of 0 leaves its table free, and a required edge is one
that is free and never leaves. Only pairs that differ from a default are stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from graftwork.inference.layout import Floats, Ints
from graftwork.penalties.blocks import Bools

_NO_PAIRS = np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class PairFactors:
    """A factor for every pair of some variables: those of a list, and one for all others."""

    n_variables: int
    numbers: Ints  # (k,): listed pairs as ``i * n_variables + j`` with ``i < j``, ascending
    values: Floats  # (k,): their factors, from 0 (free) to infinity (never an edge)
    default: float = 1.0  # the factor of all other pairs
    # (r, 2): pairs that always are edges, ``i < j`` in each row; their factor is 0
    required: Ints = field(default_factory=lambda: _NO_PAIRS)

    @staticmethod
    def of(n_variables: int, pairs: Any, values: Any, default: float = 1.0) -> PairFactors:
        """Return the factors of pairs in either order; of a pair given twice the last counts.

        Shapes: pairs (k, 2) int.
        """
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        given = np.broadcast_to(np.asarray(values, dtype=np.float64), len(pairs))
        if not ((given >= 0).all() and default >= 0):
            raise ValueError("factors must be numbers from 0 to infinity")
        numbers = _numbers(n_variables, pairs)[::-1]
        listed, last = np.unique(numbers, return_index=True)
        return PairFactors(n_variables, listed, given[::-1][last], float(default))

    @property
    def pairs(self) -> Ints:
        """The listed pairs, shape (k, 2), ``i < j``."""
        return np.stack(np.divmod(self.numbers, self.n_variables), axis=1)

    @property
    def trivial(self) -> bool:
        """Whether they say nothing: every factor is 1, and no pair is required."""
        return self.default == 1.0 and bool((self.values == 1.0).all()) and not len(self.required)

    def at(self, pairs: Ints) -> Floats:
        """Return the factors of some pairs, in either order, shape (k,)."""
        if not len(self.numbers):
            return np.full(len(pairs), self.default)
        wanted = _numbers(self.n_variables, pairs)
        place = np.minimum(np.searchsorted(self.numbers, wanted), len(self.numbers) - 1)
        return np.where(self.numbers[place] == wanted, self.values[place], self.default)

    def requires(self, pairs: Ints) -> Bools:
        """Return which of these pairs are required, in either order."""
        n = self.n_variables
        return np.isin(_numbers(n, pairs), _numbers(n, self.required))

    def requiring(self, pairs: Ints) -> PairFactors:
        """Return the factors with these pairs required too, whatever their factors were."""
        rows = np.sort(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=1)
        required = np.unique(np.concatenate([self.required, rows]), axis=0)
        both = np.concatenate([self.pairs, required])
        values = np.concatenate([self.values, np.zeros(len(required))])
        listed = PairFactors.of(self.n_variables, both, values, self.default)
        return replace(listed, required=required)

    def times(self, other: PairFactors) -> PairFactors:
        """Return the product of both; what either forbids is forbidden, unless it is required."""
        n = self.n_variables
        numbers = np.union1d(self.numbers, other.numbers)
        pairs = np.stack(np.divmod(numbers, n), axis=1)
        values = _product(self.at(pairs), other.at(pairs))
        default = float(_product(np.array(self.default), np.array(other.default)))
        both = PairFactors(n, numbers, values, default)
        required = np.concatenate([self.required, other.required])
        return both.requiring(required) if len(required) else both


def _product(first: Floats, second: Floats) -> Floats:
    """Return the product, infinite where either is: zero times infinity is forbidden."""
    endless = np.isinf(first) | np.isinf(second)
    return np.where(endless, np.inf, np.where(endless, 0.0, first) * np.where(endless, 0.0, second))


def _numbers(n: int, pairs: Ints) -> Ints:
    """Return one number for each pair, the same in either order."""
    numbers: Ints = pairs.min(axis=1) * n + pairs.max(axis=1)
    return numbers
