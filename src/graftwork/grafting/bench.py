"""What an exchange of edges works with: tables out, tables in, weights solved again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.grafting.ledger import Ledger
from graftwork.grafting.problem import Problem
from graftwork.grafting.space import BATCH, PairSpace, list_keys
from graftwork.grafting.support import Network
from graftwork.inference.layout import Floats, Ints
from graftwork.penalties.blocks import Bools
from graftwork.solvers import Solver

# Networks on the way are solved to this accuracy; the last one to the run's tolerance.
ACCURACY = 1e-4
# Cheap estimates rank; who comes within so many places of the last one wanted is looked at closely.
NEAR_OUT, NEAR_IN = 20, 10
# A close look is so many solver steps of the whole network, from where it was solved.
LOOK_STEPS = 2
# The one-block gains of no more pairs than this are solved; a quadratic model chooses them.
MOST_SOLVED = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Bench:
    """The problem, its solver, and how many edges there may be.

    Attributes
    ----------
    most : int
        Edges of a full network.
    """

    problem: Problem
    space: PairSpace
    solver: Solver
    ledger: Ledger
    most: int

    def loose(self, network: Network) -> Bools:
        """Return which of the network's edges may leave: all but the required ones."""
        active, needed = network.active(self.space), self.problem.domain.needed(self.space)
        return ~np.isin(active, needed)

    def solve(
        self, network: Network, accuracy: float = ACCURACY, steps: int | None = None
    ) -> Network:
        """Return the network with better weights: to the accuracy, or so many steps."""
        return network.solved(self.problem, self.solver, accuracy, steps, self.ledger.late)

    def without(self, network: Network, keys: Ints) -> Network:
        """Return the network without these edges, its other weights as they were."""
        return network.shrink(self.problem, self.space, keys)

    def joined(self, network: Network, keys: Ints) -> Network:
        """Return the network with these pairs as edges, solved; those left at zero go again."""
        solved = self.solve(network.grow(self.problem, self.space, keys))
        active = solved.active(self.space)
        idle = active[(solved.largest(self.space, active) == 0) & self.loose(solved)]
        return self.without(solved, idle) if len(idle) else solved

    def absent(self, network: Network) -> Ints:
        """Return the keys of all pairs that are not edges but may be."""
        return np.setdiff1d(list_keys(self.space, "an exchange"), network.active(self.space))

    def costs(self, network: Network) -> Floats:
        """Return by how much the objective would rise if each edge left, no weight following.

        That is exact, and an upper bound of the rise once all weights are fitted again.
        """
        layout, weights = network.layout, network.weights
        if not layout.n_edges:
            return np.zeros(0)
        slope, _ = self.problem.penalty.slope(
            self.problem.blocks(layout, network.free), weights
        )  # of a norm, slope times weights is the norm; of a squared norm it is twice that
        paid = slope * weights - self.problem.penalty.l2 * weights**2
        saved = np.add.reduceat(paid[layout.n_unary :], layout.edge_offsets[:-1] - layout.n_unary)
        rises: Floats = network.solution.point.removal_costs() - saved
        return rises

    def gains(self, network: Network, keys: Ints) -> Floats:
        """Return by how much the objective would fall if each pair's table were added, estimated.

        The pair's own table is optimised, all others stay. Of very many pairs only those that look
        best by a quadratic model; the others' gain counts as none.
        """
        point, penalty = network.solution.point, self.problem.penalty
        self.ledger.count_scores(len(keys), point.exact, self.space.size)
        gains, chosen = np.zeros(len(keys)), np.arange(len(keys))
        if len(keys) > MOST_SOLVED:
            rough = [
                point.pair_gains(self.space.pairs(keys[start : start + BATCH]))
                for start in range(0, len(keys), BATCH)
            ]
            order = np.argsort(-np.concatenate(rough), kind="stable")
            chosen = np.sort(order[:MOST_SOLVED])
        gains[chosen] = self.problem.domain.gains(self.space, point, penalty, keys[chosen])
        return gains

    def cheapest(self, network: Network, count: int) -> Ints:
        """Return edges by what their removal costs, the cheapest first: ``count`` or some more.

        Estimates rank them; those near the last one wanted are taken out one by one, the others'
        weights follow a little, and what that costs decides.
        """
        keys, loose = network.active(self.space), self.loose(network)
        ranked = keys[loose][np.argsort(self.costs(network)[loose], kind="stable")]
        sure, near = _split(ranked, count, NEAR_OUT)
        looked = [self._look(self.without(network, key[None])) for key in near]
        return np.concatenate([sure, near[np.argsort(looked, kind="stable")]])

    def best(self, network: Network, count: int, barred: Ints) -> Ints:
        """Return the (at most) ``count`` pairs that gain most, without the barred ones.

        Estimates rank them; those near the last one wanted are put in one by one.
        """
        keys = np.setdiff1d(self.absent(network), barred)
        gains = self.gains(network, keys)
        order = np.argsort(-gains, kind="stable")
        ranked = keys[order[gains[order] > 0]]
        if len(ranked) <= count:
            return ranked
        sure, near = _split(ranked, count, NEAR_IN)
        looked = [self._look(network.grow(self.problem, self.space, key[None])) for key in near]
        return np.concatenate([sure, near[np.argsort(looked, kind="stable")]])[:count]

    def _look(self, network: Network) -> float:
        """Return the objective after a few steps of all weights."""
        return self.solve(network, 0.0, LOOK_STEPS).solution.objective


def _split(ranked: Ints, count: int, width: int) -> tuple[Ints, Ints]:
    """Return the first of some ranked keys, and those within a width of the last one wanted.

    Examples
    --------
    >>> _split(np.arange(9), 5, 2)
    (array([0, 1, 2]), array([3, 4, 5, 6]))
    """
    first = max(0, count - width)
    return ranked[:first], ranked[first : count + width]
