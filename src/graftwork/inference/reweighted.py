"""Tree-reweighted belief propagation: a log Z that is never too small.

The potentials are shared out over a fixed set of spanning forests, each edge to those that hold it.
As log Z is convex, the mean of the forests' log Z is at least the network's, whatever the shares;
message passing looks for the shares with the smallest mean. The value reported is that mean,
evaluated at the last messages: a bound whether they converged or not. (The free energy of the
beliefs, the usual formula, is a bound at a fixed point only.)

Use it where a bound is needed, or beliefs that are the one fixed point of a convex problem under
strong couplings. On weakly coupled networks with loops `LoopyBP` is usually much closer. As the
shares follow the graph, an edge that closes a cycle can raise the bound before its table has any
weight: bounds of different edge sets cannot be compared the way losses are.

References
----------
M. J. Wainwright, T. S. Jaakkola and A. S. Willsky (2005). A new class of upper bounds on the log
partition function. IEEE Transactions on Information Theory 51(7).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.engines import Beliefs
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.messages import (
    Rule,
    Tables,
    check_rule,
    describe_rule,
    marginals_by_rule,
    read,
    ready,
    settle,
    warm_messages,
)
from graftwork.inference.pairs import find_edges
from graftwork.inference.wiring import Wiring, wire
from graftwork.kernels.forests import forest_log_partitions, hang, reorder, span

#: Fewest forests, and fewest of them that hold each edge: with more the bound hardly tightens.
LEAST_FORESTS = 16
LEAST_USES = 2


@dataclass(frozen=True, slots=True, eq=False)
class Forests:
    """Spanning forests of a layout, all of the same weight.

    Examples
    --------
    >>> kite = spanning_forests(Layout.of([2, 2, 2, 2], [(0, 1), (1, 2), (0, 2), (2, 3)]))
    >>> kite.order.shape, float(kite.shares[:3].sum()), float(kite.shares[3])
    ((16, 4), 2.0, 1.0)
    """

    # (m,): in which share of the forests each edge is: rho, in (0, 1], exactly 1 for a bridge
    shares: Floats
    slot_shares: Floats  # (2 m,): the same for each slot of the wiring
    order: NDArray[np.int32]  # (k, n): the variables of each forest, parents first
    # (k, n): the slot of each variable that leads to its parent, -1 at a root
    up: NDArray[np.int32]


def spanning_forests(layout: Layout) -> Forests:
    """Return forests that use all edges about equally often; the last few are remembered.

    Each forest prefers the edges that the ones before have used least. The answer depends on the
    graph alone, not on the order of its edges. A graph without cycles has one forest: itself.
    """
    return _spanning_forests(layout.n_variables, layout.cards.tobytes(), layout.edges.tobytes())


@lru_cache(maxsize=4)
def _spanning_forests(n: int, cards_bytes: bytes, edges_bytes: bytes) -> Forests:
    cards = np.frombuffer(cards_bytes, dtype=np.int64)
    layout = Layout.of(cards, np.frombuffer(edges_bytes, dtype=np.int64).reshape(-1, 2))
    wiring = wire(layout)
    owner = np.repeat(np.arange(n), np.diff(wiring.indptr))
    # Slots lie sorted by variable and neighbour: edges numbered by them forget the layout's order.
    forward = np.flatnonzero(owner < wiring.slots[:, 0])
    backward = wiring.reverse[forward]
    first, second = owner[forward], owner[backward]
    chosen = _balance(n, wiring, first, second)
    order = np.empty((len(chosen), n), dtype=np.int32)
    up = np.empty((len(chosen), n), dtype=np.int32)
    for k, edges in enumerate(chosen):
        hang(first, second, forward, backward, edges, order[k], up[k])
    uses = np.bincount(np.concatenate(chosen), minlength=layout.n_edges)
    slot_shares, shares = np.empty(2 * layout.n_edges), np.empty(layout.n_edges)
    slot_shares[forward] = slot_shares[backward] = uses / len(chosen)
    shares[find_edges(layout, np.stack([first, second], axis=1))] = uses / len(chosen)
    return Forests(shares, slot_shares, order, up)


def _balance(n: int, wiring: Wiring, first: Ints, second: Ints) -> list[Ints]:
    """Return the edges of each forest, enough of them for every edge to be used often enough."""
    m = len(first)
    if wiring.forest:
        return [np.arange(m)]
    size = n - 1 - int(wiring.component.max())
    use = np.zeros(m, dtype=np.int64)
    # Shuffled once: in their natural order neighbouring edges would come and go together.
    order, spare = np.random.default_rng(0).permutation(m), np.empty(m, dtype=np.int64)
    chosen: list[Ints] = []
    while len(chosen) < LEAST_FORESTS or use.min() < LEAST_USES:
        edges = np.empty(size, dtype=np.int64)
        span(n, first, second, order, edges)
        chosen.append(edges)
        use[edges] += 1
        reorder(order, use, spare)
    return chosen


@dataclass(frozen=True, slots=True)
class TreeReweighted:
    """Beliefs by tree-reweighted message passing, and an upper bound on log Z.

    The forests, and with them the share rho of each edge, depend on the graph alone. On a forest
    everything is exact. With loops, ``log_partition`` is an upper bound at any number of sweeps,
    and where the messages have converged the beliefs are its gradient for these shares. A run
    without damping that has not converged goes on once more with damping 0.5, and the better of
    the two ends is returned.
    """

    max_sweeps: int = 500
    tol: float = 1e-9
    damping: float = 0.0
    rule: Rule = "path"

    def __post_init__(self) -> None:
        check_rule(self.rule)

    def describe(self) -> str:
        """Return what this engine does, in plain words."""
        what = "tree-reweighted belief propagation (an upper bound on log Z)"
        return f"{what}, {describe_rule(self.rule)}"

    def infer(self, potentials: Potentials, warm: Beliefs | None = None) -> Beliefs:
        """Return the beliefs, from the messages of `warm` on the edges it shares."""
        layout = potentials.layout
        wiring, forests = wire(layout), spanning_forests(layout)
        start = warm_messages(layout, wiring, warm)
        tables = ready(potentials, forests.shares, forests.slot_shares)
        # There is one fixed point only: a damped run may go on from what the first one found.
        done = settle(layout, tables, start, self.max_sweeps, self.tol, self.damping, restart=False)
        values, _ = read(layout, tables, done.messages)
        log_partition = upper_bound(layout, tables, forests, done.messages)
        if log_partition == -np.inf:
            values[:] = 0.0
        return Beliefs(
            layout, values, log_partition, wiring.forest, done.residual <= self.tol,
            done.residual, done.sweeps, done.messages,
        )  # fmt: skip

    def pair_marginals(
        self, potentials: Potentials, beliefs: Beliefs, pairs: Ints
    ) -> tuple[Floats, bool]:
        """Return the joint marginals of any pairs by `rule`, and whether they are exact."""
        return marginals_by_rule(self.rule, potentials, beliefs, pairs)


def upper_bound(layout: Layout, tables: Tables, forests: Forests, messages: Floats) -> float:
    """Return the mean log Z of the forests under the split of the potentials these messages make.

    At least log Z of the network for any messages, and equal to it on a forest.
    """
    wiring = wire(layout)
    each = np.empty(len(forests.up))
    forest_log_partitions(
        tables.unary, layout.unary_offsets, wiring.indptr, wiring.slots, tables.rho,
        tables.shifted, tables.scaled, messages, forests.order, forests.up, each,
    )  # fmt: skip
    return float(each.mean() + tables.maxima.sum())
