"""The prioritised stream of pairs that best-choice selection draws from.

Lower priority numbers come sooner. Pairs never drawn have priority 0 and are not stored: they come
from a random order of the whole space. Each time a variable is a hub, all its pairs move one step
forward; those never drawn come from a random order of the hub's partners, also unstored. Pairs that
were drawn and did not violate are frozen with an offset, and return to the queue when all else is
drawn. What is stored is arrays: twenty bytes a pair drawn, and a count for each variable.
"""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray

from graftwork.grafting.spaces import PairSpace
from graftwork.inference.layout import Floats, Ints

UNSEEN = 0.0
_NONE = np.zeros(0, dtype=np.int64)


class RandomOrder:
    """A random permutation of ``range(size)``, computed in pieces as it is read.

    A four-round Feistel network on just enough bits, with values past the end skipped: no memory,
    no rejection of repeats, every number exactly once.
    """

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self._size = size
        self._half_bits = max(1, (max(size - 1, 1).bit_length() + 1) // 2)
        self._mask = np.uint64(2**self._half_bits - 1)
        self._round_keys = rng.integers(0, 2**63, size=4, dtype=np.uint64)
        self.place = 0

    def take(self, count: int) -> Ints:
        """Return the next (at most) ``count`` numbers of the permutation."""
        parts: list[Ints] = []
        end = 4**self._half_bits
        while count > 0 and self.place < end:
            stop = min(end, self.place + max(64, 2 * count))
            values = self._permute(np.arange(self.place, stop, dtype=np.uint64))
            inside = np.flatnonzero(values < self._size)[:count]
            used = stop if len(inside) < count else self.place + int(inside[-1]) + 1
            parts.append(values[inside].astype(np.int64))
            count -= len(inside)
            self.place = used
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    def taken(self, numbers: Ints) -> NDArray[np.bool_]:
        """Return which of these numbers were already read."""
        return self._places(numbers.astype(np.uint64)) < self.place

    @property
    def exhausted(self) -> bool:
        """Whether every number was read (or nearly so: the rest holds none)."""
        return bool(self.place >= 4**self._half_bits)

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


class Waiting:
    """Frozen pairs, kept as arrays: keys, offsets, and the steps that were theirs on arrival."""

    def __init__(self) -> None:
        self._batches: list[tuple[Ints, Floats, NDArray[np.int32]]] = []
        self.size = 0

    def add(self, keys: Ints, offsets: Floats, steps: Ints) -> None:
        """Add pairs, of which their hubs have moved each this many steps forward so far."""
        if len(keys):
            self._batches.append((keys, offsets, steps.astype(np.int32)))
            self.size += len(keys)

    def absorb(self, other: Waiting) -> None:
        """Take over everything that waits in another."""
        self._batches += other._batches
        self.size += other.size

    def leave(self) -> tuple[Ints, Floats, NDArray[np.int32]]:
        """Remove and return all pairs: keys, offsets, steps."""
        columns = zip(*self._batches, strict=True)
        keys, offsets, steps = (np.concatenate(column) for column in columns)
        self._batches, self.size = [], 0
        return keys, offsets, steps


def _steps(space: PairSpace, keys: Ints, counts: Ints) -> Ints:
    """Return the sum of the counts of both variables of each pair."""
    sums: Ints = counts[space.pairs(keys)].sum(axis=1)
    return sums


def hubs_of(variables: Ints, degrees: Ints, threshold: float | None) -> Ints:
    """Return the variables whose degree centrality exceeds a threshold, the most central first.

    Shapes: variables (n,) int64.
    """
    own, n = degrees[variables], len(variables)
    central = own * n > own.sum() if threshold is None else own / max(n - 1, 1) > threshold
    hubs, own = variables[central], own[central]
    ordered: Ints = hubs[np.argsort(-own, kind="stable")]
    return ordered


def _among(keys: Ints, listed: Ints) -> NDArray[np.bool_]:
    """Return which keys are in an ascending list.

    Examples
    --------
    >>> _among(np.array([5, 1, 9]), np.array([1, 4, 9]))
    array([False,  True,  True])
    """
    if not len(listed):
        return np.zeros(len(keys), dtype=bool)
    places = np.minimum(np.searchsorted(listed, keys), len(listed) - 1)
    found: NDArray[np.bool_] = listed[places] == keys
    return found


class Queue:
    """Pairs in the order of their priorities; a sorted array, read from the front."""

    def __init__(self) -> None:
        self._keys, self._priorities = _NONE, np.zeros(0)

    def add(self, keys: Ints, priorities: Floats) -> None:
        """Add pairs, each behind those of equal priority."""
        keys = np.concatenate([self._keys, keys])
        priorities = np.concatenate([self._priorities, priorities])
        order = np.argsort(priorities, kind="stable")
        self._keys, self._priorities = keys[order], priorities[order]

    def pop_below(self, bound: float, count: int) -> Ints:
        """Remove and return up to ``count`` first pairs of priority below the bound."""
        count = min(count, int(np.searchsorted(self._priorities, bound)))
        popped, self._keys = self._keys[:count], self._keys[count:]
        self._priorities = self._priorities[count:]
        return popped

    def move_up(self, space: PairSpace, counts: Ints) -> None:
        """Move every pair forward by the counts of its two variables."""
        if len(self._keys):
            keys, priorities = self._keys, self._priorities - _steps(space, self._keys, counts)
            self._keys, self._priorities = _NONE, np.zeros(0)
            self.add(keys, priorities)


class PairStream:
    """Draws pairs in priority order; memory grows with the pairs drawn.

    Shapes: hub_counts (k,) int64.
    """

    def __init__(self, space: PairSpace, active: Ints, rng: np.random.Generator) -> None:
        self._space = space
        self._rng = rng
        self._queue = Queue()
        self._frozen = Waiting()  # scored at earlier points
        self._frozen_here = Waiting()  # scored at this point
        self._unseen = RandomOrder(space.size, rng)
        self.hub_counts = np.zeros(int(space.variables.max(initial=-1)) + 1, dtype=np.int64)
        self._hubs: list[int] = []  # all that ever were, in the order they became hubs
        # of hubs with pairs left, first in line first
        self._hub_orders: dict[int, RandomOrder] = {}
        # pairs the random orders must pass over: active from the start, or of two hubs
        self._listed = np.unique(active)

    @property
    def n_tested(self) -> int:
        """Number of frozen pairs that were scored at this point."""
        return self._frozen_here.size

    def new_point(self) -> None:
        """Take note that scores so far belong to an earlier point."""
        self._frozen.absorb(self._frozen_here)
        self._frozen_here = Waiting()

    def freeze(self, keys: Ints, offsets: Floats, *, tested: bool) -> None:
        """Set pairs aside with their offsets until everything else is drawn."""
        target = self._frozen_here if tested else self._frozen
        target.add(keys, offsets, self._steps(keys))

    def draw(self, count: int) -> Ints:
        """Return the next (at most) ``count`` pairs, each one not yet scored at this point."""
        keys = self._take(count)
        while len(keys) < count and self._refill():
            keys = np.concatenate([keys, self._take(count - len(keys))])
        return keys

    def peek(self, count: int) -> Ints:
        """Return some of the pairs that ``draw`` gives next, at most ``count``; they are not drawn.

        They end where frozen pairs would follow: more may be frozen before it is their turn. There
        are none only where nothing is left to draw.
        """
        while True:
            queue, unseen = copy(self._queue), self._unseen.place
            orders = [(hub, order, order.place) for hub, order in self._hub_orders.items()]
            keys = self._take(count)
            self._queue, self._unseen.place = queue, unseen
            self._hub_orders = {hub: order for hub, order, _ in orders}
            for _, order, place in orders:
                order.place = place
            if len(keys) or not self._refill():
                return keys

    def prefer_hubs(self, hubs: Ints) -> None:
        """Move all pairs at these variables one step to the front (Algorithm 2).

        Frozen pairs move, too: in the paper they leave the queue, and come back with their offsets
        alone.
        """
        if not len(hubs):
            return
        once = np.zeros_like(self.hub_counts)
        once[hubs] = 1
        self._queue.move_up(self._space, once)
        new = hubs[self.hub_counts[hubs] == 0]
        self.hub_counts += once
        for hub in new.tolist():
            self._add_hub(hub)
        in_line = sorted(self._hub_orders.items(), key=lambda one: -self.hub_counts[one[0]])
        self._hub_orders = dict(in_line)

    def _add_hub(self, hub: int) -> None:
        """Queue the pairs of two hubs, which are few; the hub's others come from a random order."""
        if self._hubs:
            others = np.array(self._hubs, dtype=np.int64)
            keys = self._space.keys(np.stack([np.full_like(others, hub), others], axis=1))
            keys = keys[keys >= 0]  # -1: may not be an edge
            fresh = keys[~self._drawn(keys)]
            self._queue.add(fresh, -self._steps(fresh).astype(np.float64))
            self._listed = np.union1d(self._listed, keys)
        self._hubs.append(hub)
        self._hub_orders[hub] = RandomOrder(len(self._space.variables) - 1, self._rng)

    def _steps(self, keys: Ints) -> Ints:
        """Return how many steps forward the hubs have moved each pair in all."""
        if not self._hubs:
            return np.zeros(len(keys), dtype=np.int64)
        return _steps(self._space, keys, self.hub_counts)

    def _drawn(self, keys: Ints) -> NDArray[np.bool_]:
        """Return which pairs were ever drawn, by any of the orders, or are active."""
        pairs = self._space.pairs(keys)
        ended = [hub for hub in self._hubs if hub not in self._hub_orders]
        drawn = self._unseen.taken(keys) | _among(keys, self._listed)
        drawn |= np.isin(pairs, ended).any(axis=1)
        for hub, order in self._hub_orders.items():
            here = (pairs == hub).any(axis=1)
            drawn[here] |= order.taken(self._space.places(hub, pairs[here].sum(axis=1) - hub))
        return drawn

    def _take(self, count: int) -> Ints:
        """Remove and return the next (at most) ``count`` pairs that are not frozen."""
        parts = [_NONE]
        while count > 0:
            unstored = self._unstored()
            part = self._queue.pop_below(unstored, count)
            if not len(part):
                if unstored == np.inf:
                    break
                part = self._next_at_hub(count) if self._hub_orders else self._next_unseen(count)
            parts.append(part)
            count -= len(part)
        return np.concatenate(parts)

    def _unstored(self) -> float:
        """Return the priority of the pair that comes next of those that are not stored."""
        if self._hub_orders:
            return -float(self.hub_counts[next(iter(self._hub_orders))])
        return np.inf if self._unseen.exhausted else UNSEEN

    def _next_at_hub(self, count: int) -> Ints:
        """Return the next never drawn pairs of the first hub in line; the hub leaves at its end."""
        hub, order = next(iter(self._hub_orders.items()))
        chosen = self._space.keys_at(hub, order.take(count))
        if not len(chosen):
            del self._hub_orders[hub]
            return _NONE
        chosen = chosen[chosen >= 0]  # -1: may not be an edge
        return chosen[~(self._unseen.taken(chosen) | _among(chosen, self._listed))]

    def _next_unseen(self, count: int) -> Ints:
        """Return the next never drawn pairs. Every hub's pairs are drawn before any of these."""
        chosen = self._unseen.take(count)
        return chosen[~(_among(chosen, self._listed) | (self._steps(chosen) > 0))]

    def _refill(self) -> bool:
        """Move what was frozen at earlier points into the queue; False when there is nothing."""
        if not self._frozen.size:
            return False
        keys, offsets, steps = self._frozen.leave()
        self._queue.add(keys, offsets - (self._steps(keys) - steps))
        return True
