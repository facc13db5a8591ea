"""The space of all pairs of variables, never held in memory.

A pair is a number in ``range(n (n - 1) / 2)``: its key. Keys can be run through in order, or in a
random order that needs no list either. Where some pairs may not be edges, a sieve numbers the
others anew, so that nobody else has to know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graftwork.errors import TooLargeError
from graftwork.grafting.sieve import Sieve
from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.inference.pairs import find_edges
from graftwork.inference.ragged import offsets
from graftwork.objectives.protocol import Point
from graftwork.objectives.reshaped import table_gradients
from graftwork.penalties.blocks import Bools, pair_scales

# Single cells scored in one batch; of whole tables more, unless they have many cells.
BATCH = 2**14
TABLES, TABLE_CELLS = 2**15, 2**23


class Space(Protocol):
    """All blocks that may be activated, as numbers: their keys."""

    @property
    def unit(self) -> str:
        """What a block is, in a word."""
        ...

    @property
    def whole(self) -> bool:
        """Whether a block is all that an edge or a feature has, not a part of it."""
        ...

    @property
    def batch(self) -> int:
        """How many blocks to score at once: enough to keep kernels busy, few enough for Ctrl-C."""
        ...

    @property
    def variables(self) -> Ints:
        """The variables that may have edges, ascending."""
        ...

    @property
    def size(self) -> int:
        """Number of blocks; keys are ``range(size)``."""
        ...

    def active(self, layout: Any, free: Bools) -> Ints:
        """Return the keys of the blocks in a layout, given which of its entries may move."""
        ...

    def free(self, layout: Any, weights: Floats) -> Bools:
        """Return which entries may move in a network to start from."""
        ...

    def entries(self, layout: Any, keys: Ints) -> tuple[Ints, Ints]:
        """Return the positions of the blocks' entries in a layout that has them.

        One block after the other, and where each starts, shape (k + 1,).
        """
        ...

    def gradients(self, point: Any, keys: Ints) -> tuple[Floats, Ints, bool]:
        """Return the gradient of each block, where each starts, and whether it is exact."""
        ...


class TableSpace(Space, Protocol):
    """A space whose blocks are tables of pairs of variables, or cells of them."""

    def pairs(self, keys: Ints) -> Ints:
        """Return the pair of variables of each block, shape (k, 2), ``i < j``."""
        ...

    def keys(self, pairs: Ints) -> Ints:
        """Return the keys of all blocks of some pairs."""
        ...

    def scales(self, declared: Ints, keys: Ints) -> Floats:
        """Return d_g of each block."""
        ...


def tables_at_once(cards: Ints) -> int:
    """Return how many tables of pairs of such variables to score in one batch.

    Examples
    --------
    >>> tables_at_once(np.array([2, 2, 3])), tables_at_once(np.full(50, 300))
    (32768, 93)
    """
    states, pairs = float(cards.sum()), len(cards) * (len(cards) - 1)
    cells = (states**2 - float((cards**2).sum())) / max(1, pairs)
    return max(1, min(TABLES, int(TABLE_CELLS / max(1.0, cells))))


@dataclass(frozen=True, slots=True, eq=False)
class PairSpace:
    """All pairs among some variables, or those that pass a sieve.

    Attributes
    ----------
    variables : (n,) int64
        The variables that may have edges, ascending.
    sieve : Sieve, optional
        Which of the pairs may be edges; None is all of them.
    batch : int
        How many to score at once.

    Examples
    --------
    >>> space = PairSpace(np.array([0, 2, 5]))
    >>> space.size
    3
    >>> space.pairs(np.array([0, 1, 2])).tolist()
    [[0, 2], [0, 5], [2, 5]]
    >>> space.keys(np.array([[2, 5]]))
    array([2])
    """

    variables: Ints
    sieve: Sieve | None = None
    batch: int = TABLES
    unit = "pair"
    whole = True

    @property
    def size(self) -> int:
        """Number of pairs."""
        n = len(self.variables)
        return n * (n - 1) // 2 if self.sieve is None else self.sieve.size

    def spans(self, pairs: Ints) -> tuple[Ints, Ints]:
        """Return where pairs lie among all pairs, sieve or not: first numbers, how many."""
        return PairSpace(self.variables).keys(pairs), np.ones(len(pairs), dtype=np.int64)

    def pairs(self, keys: Ints) -> Ints:
        """Return the pairs with these keys, shape (k, 2), ``i < j``."""
        n = len(self.variables)
        keys = np.asarray(keys, dtype=np.int64)
        keys = keys if self.sieve is None else self.sieve.numbers(keys)
        odd = 2 * n - 1
        i = np.floor((odd - np.sqrt(np.maximum(0.0, float(odd) ** 2 - 8.0 * keys))) / 2)
        i = i.astype(np.int64)
        i -= self._before(i) > keys  # the square root may be off by one for large n
        i += self._before(i + 1) <= keys
        j = keys - self._before(i) + i + 1
        return np.stack([self.variables[i], self.variables[j]], axis=1)

    def keys(self, pairs: Ints) -> Ints:
        """Return the keys of pairs given in either order; -1 for those that may not be edges."""
        places = np.searchsorted(self.variables, np.asarray(pairs, dtype=np.int64).reshape(-1, 2))
        i, j = places.min(axis=1), places.max(axis=1)
        numbers = np.asarray(self._before(i) + j - i - 1, dtype=np.int64)
        return numbers if self.sieve is None else self.sieve.keys(numbers)

    def active(self, layout: Layout, free: Bools) -> Ints:
        """Return the keys of the edges."""
        return self.keys(layout.edges)

    def free(self, layout: Layout, weights: Floats) -> Bools:
        """Return that every entry may move."""
        return np.ones(layout.size, dtype=bool)

    def entries(self, layout: Layout, keys: Ints) -> tuple[Ints, Ints]:
        """Return where the pairs' tables lie in the layout's vector, and where each starts."""
        edges = find_edges(layout, self.pairs(keys))
        return layout.entries(edges), offsets(layout.edge_sizes[edges])

    def gradients(self, point: Point, keys: Ints) -> tuple[Floats, Ints, bool]:
        """Return the gradient of each pair's table, where each starts, and whether it is exact."""
        return table_gradients(point, self.pairs(keys))

    def scales(self, declared: Ints, keys: Ints) -> Floats:
        """Return d_g of each pair."""
        return pair_scales(declared, self.pairs(keys))

    def keys_at(self, variable: int, places: Ints) -> Ints:
        """Return the keys of some pairs at a variable, its partners numbered from 0 in order.

        As ``keys`` has it, -1 stands for pairs that may not be edges.
        """
        own = np.searchsorted(self.variables, variable)
        others = self.variables[places + (places >= own)]
        return self.keys(np.stack([np.full_like(others, variable), others], axis=1))

    def places(self, variable: int, partners: Ints) -> Ints:
        """Return the numbers of partners of a variable: what ``keys_at`` takes."""
        place = np.searchsorted(self.variables, partners)
        numbers: Ints = place - (place > np.searchsorted(self.variables, variable))
        return numbers

    def _before(self, i: Ints) -> Ints:
        """Return how many pairs have a first variable before the ``i``-th."""
        n = len(self.variables)
        return i * (2 * n - i - 1) // 2


class RandomOrder:
    """A random permutation of ``range(size)``, computed in pieces as it is read.

    A four-round Feistel network on just enough bits, with values past the end skipped: no memory,
    no rejection of repeats, every number exactly once.

    Examples
    --------
    >>> order = RandomOrder(10, np.random.default_rng(0))
    >>> sorted(np.concatenate([order.take(6), order.take(6)]).tolist())
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self._size = size
        self._half_bits = max(1, (max(size - 1, 1).bit_length() + 1) // 2)
        self._mask = np.uint64(2**self._half_bits - 1)
        self._round_keys = rng.integers(0, 2**63, size=4, dtype=np.uint64)
        self._next = 0

    def take(self, count: int) -> Ints:
        """Return the next (at most) ``count`` numbers of the permutation."""
        parts: list[Ints] = []
        end = 4**self._half_bits
        while count > 0 and self._next < end:
            stop = min(end, self._next + max(64, 2 * count))
            values = self._permute(np.arange(self._next, stop, dtype=np.uint64))
            inside = np.flatnonzero(values < self._size)[:count]
            used = stop if len(inside) < count else self._next + int(inside[-1]) + 1
            parts.append(values[inside].astype(np.int64))
            count -= len(inside)
            self._next = used
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    def taken(self, numbers: Ints) -> NDArray[np.bool_]:
        """Return which of these numbers were already read."""
        return self._places(numbers.astype(np.uint64)) < self._next

    @property
    def exhausted(self) -> bool:
        """Whether every number was read (or nearly so: the rest holds none)."""
        return bool(self._next >= 4**self._half_bits)

    def _permute(self, places: np.ndarray) -> np.ndarray:
        shift = np.uint64(self._half_bits)
        left, right = places >> shift, places & self._mask
        for key in self._round_keys:
            left, right = right, left ^ (_scramble(right ^ key) & self._mask)
        return (left << shift) | right

    def _places(self, values: np.ndarray) -> np.ndarray:
        """Return where in the order each number stands: the permutation run backwards."""
        shift = np.uint64(self._half_bits)
        left, right = values >> shift, values & self._mask
        for key in self._round_keys[::-1]:
            left, right = right ^ (_scramble(left ^ key) & self._mask), left
        return (left << shift) | right


def _scramble(values: np.ndarray) -> np.ndarray:
    """Return well mixed 64-bit words (the finaliser of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.ndarray = values ^ (values >> np.uint64(31))
    return mixed


# Methods that keep something for every block refuse to keep more than this.
MOST_LISTED = 2**26


def list_keys(space: Space, who: str) -> Ints:
    """Return all keys of a space, or refuse where they would not fit in memory.

    Examples
    --------
    >>> list_keys(PairSpace(np.array([0, 1, 2])), "a method")
    array([0, 1, 2])
    """
    if space.size > MOST_LISTED:
        raise TooLargeError(
            f"{who} keeps a list of all {space.size:,} {space.unit}s, which is too many; use "
            'method="best-choice", which never lists them.'
        )
    return np.arange(space.size)


def pairs_only(space: Space, who: str) -> PairSpace:
    """Return the space if its blocks are whole tables, or refuse.

    Examples
    --------
    >>> pairs_only(PairSpace(np.array([0, 1])), "first hit").size
    1
    """
    if not isinstance(space, PairSpace):
        raise ValueError(f"{who} activates whole tables: use it in a Recipe with features=False")
    return space
