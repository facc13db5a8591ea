"""The prioritised stream of pairs that best-choice selection draws from.

Lower priority numbers come sooner. Pairs never drawn have priority 0 and are not stored: they come
from a random order of the whole space. Pairs at a hub come before them (-1), also unstored. Pairs
that were drawn and did not violate are frozen with an offset, and return to the heap when all else
is drawn.
"""

from __future__ import annotations

import heapq
from collections import deque

import numpy as np

from graftwork.grafting.space import PairSpace, RandomOrder
from graftwork.inference.layout import Floats, Ints

UNSEEN = 0.0
AT_HUB = -1.0
_PIECE = 4096


class PairStream:
    """Draws pairs in priority order; memory grows with the pairs drawn."""

    def __init__(self, space: PairSpace, active: Ints, rng: np.random.Generator) -> None:
        self._space = space
        self._rng = rng
        self._heap: list[tuple[float, int]] = []
        self._priority: dict[int, float] = {}  # of the pairs in the heap; others there are stale
        self._frozen: dict[int, float] = {}  # scored at earlier points
        self._frozen_here: dict[int, float] = {}  # scored at this point
        self._known: set[int] = set(active.tolist())  # every pair that is not "never drawn"
        self._unseen = RandomOrder(space.size, rng)
        self._unseen_ahead: deque[int] = deque()
        self._hubs: list[int] = []
        self._hub_pairs: deque[int] = deque()  # pieces of the newest hubs' pairs, in random order
        self._hub_queue: deque[int] = deque()  # hubs whose pairs are not yet in pieces
        self._returned: deque[int] = deque()  # drawn but not used

    @property
    def n_tested(self) -> int:
        """Number of frozen pairs that were scored at this point."""
        return len(self._frozen_here)

    def new_point(self) -> None:
        """Take note that scores so far belong to an earlier point."""
        self._frozen.update(self._frozen_here)
        self._frozen_here = {}

    def draw(self, count: int) -> Ints:
        """Return the next (at most) ``count`` pairs, each one not yet scored at this point."""
        drawn: list[int] = []
        while len(drawn) < count:
            key = self._next()
            if key is None:
                break
            drawn.append(key)
            self._known.add(key)  # at once: the same pair may stand in two of the sources
        return np.array(drawn, dtype=np.int64)

    def put_back(self, keys: Ints) -> None:
        """Return pairs that were drawn and not used: they come first next time, in order."""
        self._returned.extendleft(reversed(keys.tolist()))

    def freeze(self, keys: Ints, offsets: Floats, *, tested: bool) -> None:
        """Set pairs aside with their offsets until everything else is drawn."""
        target = self._frozen_here if tested else self._frozen
        target.update(zip(keys.tolist(), offsets.tolist(), strict=True))
        self._known.update(keys.tolist())

    def activate(self, keys: Ints) -> None:
        """Take note that these pairs left the space of candidates."""
        self._known.update(keys.tolist())

    def prefer_hubs(self, degrees: Ints) -> None:
        """Move the pairs at each new hub one step to the front (Algorithm 2).

        A hub is a variable whose degree centrality lies above the mean; each counts once. The most
        central come first.
        """
        n = len(self._space.variables)
        old = set(self._hubs)
        hubs = self._space.variables[degrees[self._space.variables] > degrees.sum() / n]
        for hub in hubs[np.argsort(-degrees[hubs], kind="stable")].tolist():
            if hub not in old:
                self._add_hub(hub)

    def _add_hub(self, hub: int) -> None:
        for key in self._space.keys_at(hub).tolist():
            for frozen in (self._frozen, self._frozen_here):
                if key in frozen:
                    frozen[key] -= 1.0
            if key in self._priority:
                self._push(key, self._priority[key] - 1.0)
        for other in self._hubs:  # pairs of two hubs are few: they are stored
            key = int(self._space.keys(np.array([[hub, other]]))[0])
            if key not in self._known:
                self._known.add(key)
                self._push(key, 2 * AT_HUB)
        self._hubs.append(hub)
        self._hub_queue.append(hub)

    def _next(self) -> int | None:
        if self._returned:
            return self._returned.popleft()
        top = self._top()
        at_hub = self._peek_hub()
        if top is not None and top < (AT_HUB if at_hub is not None else UNSEEN):
            return self._pop()
        if at_hub is not None:
            return self._hub_pairs.popleft()
        unseen = self._peek_unseen()
        if unseen is not None:
            return self._unseen_ahead.popleft()
        if top is None and not self._refill():
            return None
        return self._pop()

    def _refill(self) -> bool:
        """Move what was frozen at earlier points into the heap; False when there is nothing."""
        self._priority.update(self._frozen)
        self._heap.extend((offset, key) for key, offset in self._frozen.items())
        heapq.heapify(self._heap)
        self._frozen = {}
        return bool(self._heap)

    def _push(self, key: int, priority: float) -> None:
        self._priority[key] = priority
        heapq.heappush(self._heap, (priority, key))

    def _top(self) -> float | None:
        """Return the heap's best priority, dropping stale entries."""
        while self._heap:
            priority, key = self._heap[0]
            if self._priority.get(key) == priority:
                return priority
            heapq.heappop(self._heap)
        return None

    def _pop(self) -> int:
        _, key = heapq.heappop(self._heap)
        del self._priority[key]
        return key

    def _peek_hub(self) -> int | None:
        """Return the next never drawn pair at a hub, leaving it in place."""
        while self._hub_pairs or self._hub_queue:
            if not self._hub_pairs:
                keys = self._space.keys_at(self._hub_queue.popleft())
                self._hub_pairs.extend(self._rng.permutation(keys).tolist())
            elif self._hub_pairs[0] in self._known:
                self._hub_pairs.popleft()
            else:
                return self._hub_pairs[0]
        return None

    def _peek_unseen(self) -> int | None:
        """Return the next never drawn pair, leaving it in place."""
        while True:
            while self._unseen_ahead and self._unseen_ahead[0] in self._known:
                self._unseen_ahead.popleft()
            if self._unseen_ahead:
                return self._unseen_ahead[0]
            piece = self._unseen.take(_PIECE)
            if not len(piece):
                return None
            self._unseen_ahead.extend(piece.tolist())
