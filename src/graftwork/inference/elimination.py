"""In which order to sum variables out, and what that will cost, before any table is allocated."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from graftwork.inference.layout import Layout

Key = tuple[float, float]
#: Set operations spent on one greedy order before the rest is declared one clique.
WORK = 8_000_000
#: A first order over this many cells is hopeless, and the second is not tried.
HOPELESS = 2**100
#: What to try where exact inference does not fit.
ADVICE = (
    'Use inference="bp" (or "trw", an upper bound on log Z), a network with fewer edges, or '
    "evidence on the best connected variables; or raise JunctionTree(limit_cells=...)."
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What exact inference needs."""

    width: int  # treewidth of the order found: the largest clique has ``width + 1`` variables
    largest_clique_cells: int  # cells of the largest table
    total_cells: int  # cells of all tables

    @property
    def bytes(self) -> int:
        """Memory of the tables of one run."""
        return 8 * self.total_cells

    def __repr__(self) -> str:
        return (
            f"Cost(width={self.width}, largest_clique_cells={self.largest_clique_cells}, "
            f"total_cells={self.total_cells}, bytes={self.bytes})"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Elimination:
    """An order of elimination with the variables each one is joined to when it goes."""

    order: list[int]
    separators: list[set[int]]
    tail: list[int]
    cost: Cost


def estimate(cards: object, edges: object) -> Cost:
    """Return what exact inference on this graph needs, without allocating a table."""
    return eliminate(Layout.of(cards, edges)).cost


def eliminate(layout: Layout) -> Elimination:
    """Return the cheaper of the min-weight and min-fill orders; the last few are remembered.

    Examples
    --------
    >>> eliminate(Layout.of([2, 2, 2], [(0, 1), (1, 2)])).order
    [0, 1, 2]
    """
    return _eliminate(layout.cards.tobytes(), layout.edges.tobytes())


@lru_cache(maxsize=8)
def _eliminate(cards_bytes: bytes, edges_bytes: bytes) -> Elimination:
    cards = tuple(np.frombuffer(cards_bytes, dtype=np.int64).tolist())
    pairs = np.frombuffer(edges_bytes, dtype=np.int64).reshape(-1, 2).tolist()
    edges = tuple((i, j) for i, j in pairs)
    first = greedy(cards, edges, MIN_WEIGHT, math.inf)
    assert first is not None  # nothing is over an infinite bound
    if first.cost.width <= 1 or first.cost.total_cells > HOPELESS:
        return first
    return greedy(cards, edges, MIN_FILL, first.cost.total_cells) or first


@dataclass(slots=True)
class Front:
    """What is left of the graph while variables are eliminated, and what that cost so far."""

    cards: tuple[int, ...]
    neighbours: list[set[int]]
    logs: list[float]
    around: list[float]
    links: int
    gone: list[bool]
    order: list[int] = field(default_factory=list)
    separators: list[set[int]] = field(default_factory=list)
    width: int = 0
    largest: int = 0
    total: int = 0
    work: int = 0

    def finished(self) -> bool:
        """Return whether the rest is complete, or too much work was done already."""
        left = len(self.cards) - len(self.order)
        return 2 * self.links >= left * (left - 1) or self.work >= WORK

    def remove(self, v: int) -> list[tuple[int, int]]:
        """Eliminate ``v``: connect its neighbours, and return the edges that were added."""
        near = self.neighbours[v]
        cells = self.cards[v] * math.prod([self.cards[u] for u in near])
        self.width, self.largest = max(self.width, len(near)), max(self.largest, cells)
        self.total += cells
        self.gone[v] = True
        self.order.append(v)
        self.separators.append(near)
        for u in near:
            self.neighbours[u].discard(v)
            self.around[u] -= self.logs[v]
        added = self._connect(near) if len(near) > 1 else []
        self.links += len(added) - len(near)
        self.work += len(near) ** 2
        return added

    def _connect(self, near: set[int]) -> list[tuple[int, int]]:
        added: list[tuple[int, int]] = []
        for u in near:
            missing = near - self.neighbours[u]
            missing.discard(u)
            for w in missing:
                self.neighbours[w].add(u)
                self.around[w] += self.logs[u]
                self.around[u] += self.logs[w]
            self.neighbours[u] |= missing
            added += [(u, w) for w in missing]
        return added


def clique_weight(v: int, front: Front) -> Key:
    """Return the log size of the clique that eliminating ``v`` makes; leaves come first."""
    # Removing a leaf is never wrong.
    if len(front.neighbours[v]) <= 1:
        return (-1.0, 0.0)
    return (front.logs[v] + front.around[v], 0.0)


def missing_links(v: int, front: Front) -> Key:
    """Return how many edges eliminating ``v`` adds, then the log size of its clique."""
    near, neighbours = front.neighbours[v], front.neighbours
    present = 0
    for u in near:
        present += len(near & neighbours[u])
        front.work += min(len(near), len(neighbours[u]))
    return (len(near) * (len(near) - 1) / 2 - present / 2, clique_weight(v, front)[0])


def neighbours_only(near: set[int], added: list[tuple[int, int]], front: Front) -> set[int]:
    """Return whose clique weight changed: the neighbours of what was eliminated."""
    return near


def common_neighbours(near: set[int], added: list[tuple[int, int]], front: Front) -> set[int]:
    """Return whose missing links changed: also everyone who sees both ends of an added edge."""
    touched = set(near)
    for u, w in added:
        common = front.neighbours[u] & front.neighbours[w]
        front.work += len(common)
        touched |= common
    return touched


class Rule(NamedTuple):
    """A greedy criterion: the score of a variable, and whose score an elimination changes."""

    score: Callable[[int, Front], Key]
    touched: Callable[[set[int], list[tuple[int, int]], Front], set[int]]


MIN_WEIGHT = Rule(clique_weight, neighbours_only)


MIN_FILL = Rule(missing_links, common_neighbours)


def greedy(
    cards: tuple[int, ...], edges: tuple[tuple[int, int], ...], rule: Rule, bound: float
) -> Elimination | None:
    """Return the order that always takes the lowest score, or None once it costs over `bound`.

    Scores are kept in a heap with lazy deletion. When the rest is a complete graph, or when `WORK`
    is spent (then every edge of the rest is added, which is valid but pessimistic), the rest
    becomes the tail.
    """
    front = _start(cards, edges)
    latest = {v: rule.score(v, front) for v, out in enumerate(front.gone) if not out}
    heap = [(key, v) for v, key in latest.items()]
    heapq.heapify(heap)
    while not front.finished():
        key, v = heapq.heappop(heap)
        if front.gone[v] or key != latest[v]:
            continue
        near = front.neighbours[v]
        for u in rule.touched(near, front.remove(v), front):
            latest[u] = rule.score(u, front)
            heapq.heappush(heap, (latest[u], u))
        if front.total >= bound:
            return None
    tail = sorted((v for v, out in enumerate(front.gone) if not out), key=lambda v: -cards[v])
    cost = Cost(front.width, front.largest, front.total)
    cost = _with_tail(cost, [cards[v] for v in tail])
    if cost.total_cells >= bound:
        return None
    return Elimination(front.order, front.separators, tail, cost)


def _start(cards: tuple[int, ...], edges: tuple[tuple[int, int], ...]) -> Front:
    """Return the graph without its trees: leaves go first, whatever the rule, in linear time."""
    neighbours: list[set[int]] = [set() for _ in cards]
    for i, j in edges:
        neighbours[i].add(j)
        neighbours[j].add(i)
    logs = [math.log(s) for s in cards]
    around = [sum([logs[u] for u in near]) for near in neighbours]
    links = sum(map(len, neighbours)) // 2
    front = Front(cards, neighbours, logs, around, links, [False] * len(cards))
    leaves = [v for v in range(len(cards) - 1, -1, -1) if len(neighbours[v]) <= 1]
    while leaves:
        v = leaves.pop()
        if front.gone[v]:
            continue
        front.remove(v)
        leaves += [u for u in front.separators[-1] if len(neighbours[u]) <= 1]
    return front


def _with_tail(cost: Cost, cards: list[int]) -> Cost:
    """Add the cost of a last clique over these state counts, eliminated one by one."""
    cells = math.prod(cards)
    total, largest = cost.total_cells, max(cost.largest_clique_cells, cells)
    for s in cards:
        total += cells
        cells //= s
        if cells.bit_length() + 80 < largest.bit_length():
            break  # what is left is below every printed digit, and the integers are huge
    return Cost(max(cost.width, len(cards) - 1), largest, total)


def refusal(cost: Cost, limit_cells: int, advice: str = ADVICE) -> str:
    """Return the sentence that says why exact inference is refused and what to do instead."""
    return (
        f"Exact inference needs about {_count(cost.total_cells)} table cells "
        f"({_gibibytes(cost.bytes)}; treewidth {cost.width}, largest clique "
        f"{_count(cost.largest_clique_cells)} cells), over the limit of {limit_cells:,} cells "
        f"({_gibibytes(8 * limit_cells)}). {advice}"
    )


def _count(cells: int) -> str:
    return f"{cells:,}" if cells < 10**12 else f"10^{math.log10(cells):.1f}"


def _gibibytes(size: int) -> str:
    return f"{size / 2**30:.3g} GiB" if size < 2**70 else f"10^{math.log10(size / 2**30):.1f} GiB"
