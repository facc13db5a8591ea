"""Exchange edges of a full network for as many others, and keep the best network seen.

References
----------
Abdelatty, Sahoo and Roy, Structure learning using forced pruning, Algorithm 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, Protocol

import numpy as np

from graftwork.grafting.certificate import Stop
from graftwork.grafting.problem import Network, Problem
from graftwork.grafting.spaces import BATCH, PairSpace, Space, list_keys, pairs_only
from graftwork.grafting.trace import RunLog
from graftwork.grafting.tying import tie
from graftwork.inference.layout import Floats, Ints
from graftwork.parameters import whole_number
from graftwork.penalties.blocks import Bools
from graftwork.solvers import Solver

# Networks on the way are solved to this accuracy; the last one to the run's tolerance.
ACCURACY = 1e-4
# Cheap estimates rank; those this near to the last place needed are looked at closely.
NEAR_OUT, NEAR_IN = 20, 10
# Solver steps of a close look: of the whole network, from where it was solved.
LOOK_STEPS = 2
# The one-block gains of no more pairs than this are solved; a quadratic model chooses them.
MOST_SOLVED = 10_000
# A restart replaces this share of the best network's edges by pairs drawn at random.
SHAKEN = 1 / 3

#: Why exchanges ended: no exchange of one edge improved the network; all rounds from one start were
#: used; every deletion drawn was rejected; no edge or no pair to exchange; or a `Stop` of the run.
End = Literal["local-optimum", "rounds-used", "all-rejected", "nothing-to-exchange"] | Stop
#: Why there are fewer edges than asked for: no pair improves the network, there are no more pairs,
#: or a `Stop` of the run.
Shortfall = Literal["no-improvement", "no-pairs"] | Stop


@dataclass(frozen=True, slots=True, eq=False)
class ExchangeContext:
    """The problem, its solver, and how many edges there may be."""

    problem: Problem
    space: PairSpace
    solver: Solver
    log: RunLog
    most: int  # edges of a full network
    tied: int | None = None  # how many values the weights of a network may take

    def loose(self, network: Network) -> Bools:
        """Return which of the network's edges may leave: all but the required ones."""
        active, needed = network.active(self.space), self.problem.family.needed(self.space)
        return ~np.isin(active, needed)

    def solve(
        self, network: Network, accuracy: float = ACCURACY, steps: int | None = None
    ) -> Network:
        """Return the network with better weights: to the accuracy, or a number of steps."""
        return network.solved(self.problem, self.solver, accuracy, steps, self.log.late)

    def learn(self, network: Network) -> Network:
        """Return the network solved and, where weights are tied, with few values."""
        solved = self.solve(network)
        if self.tied is None:
            return solved
        found = tie(
            self.problem.objective, solved.potentials, self.tied,
            tolerance=ACCURACY, halted=self.log.late,
        )  # fmt: skip
        return Network(self.problem.solution(found.potentials, free=solved.free), solved.free)

    def without(self, network: Network, keys: Ints) -> Network:
        """Return the network without these edges, its other weights as they were."""
        return network.shrink(self.problem, self.space, keys)

    def joined(self, network: Network, keys: Ints) -> Network:
        """Return the network with these pairs as edges, learned; those left at zero go again."""
        solved = self.learn(network.grow(self.problem, self.space, keys))
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
        self.log.count_scores(len(keys), point.exact, self.space.size)
        gains, chosen = np.zeros(len(keys)), np.arange(len(keys))
        if len(keys) > MOST_SOLVED:
            rough = [
                point.pair_gains(self.space.pairs(keys[start : start + BATCH]))
                for start in range(0, len(keys), BATCH)
            ]
            order = np.argsort(-np.concatenate(rough), kind="stable")
            chosen = np.sort(order[:MOST_SOLVED])
        gains[chosen] = self.problem.family.gains(self.space, point, penalty, keys[chosen])
        return gains

    def cheapest(self, network: Network, count: int) -> Ints:
        """Return edges by what their removal costs, the cheapest first: ``count`` or some more.

        Estimates rank them; those near the last place needed are taken out one by one, the others'
        weights follow a little, and what that costs decides.
        """
        keys, loose = network.active(self.space), self.loose(network)
        ranked = keys[loose][np.argsort(self.costs(network)[loose], kind="stable")]
        sure, near = _split(ranked, count, NEAR_OUT)
        looked = [self._look(self.without(network, key[None])) for key in near]
        return np.concatenate([sure, near[np.argsort(looked, kind="stable")]])

    def best(self, network: Network, count: int, barred: Ints) -> Ints:
        """Return the (at most) ``count`` pairs that gain most, without the barred ones.

        Estimates rank them; those near the last place needed are put in one by one.
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
    """Return the first of some ranked keys, and those within a width of the last place needed.

    Examples
    --------
    >>> _split(np.arange(9), 5, 2)
    (array([0, 1, 2]), array([3, 4, 5, 6]))
    """
    first = max(0, count - width)
    return ranked[:first], ranked[first : count + width]


@dataclass(slots=True)
class Tally:
    """What an exchange did."""

    # which rule exchanged them: "descent", "greedy", "rejection", "mcmc", or the name of another
    rule: str = ""
    wanted: int | None = None  # how many edges there were to be
    edges: int = 0  # how many there are
    rounds: int = 0  # steps of the rule
    accepted: int = 0  # exchanges that stood
    cycles: int = 0  # exchanges that would have led back to edges tried before
    proposals: int = 0  # exchanges that a sampling rule drew
    restarts: int = 0  # new beginnings from a partly random network
    first: float = math.nan  # first, best: the objective at the beginning, and of the best network
    best: float = math.nan
    ended: End | None = None  # why it ended
    # the limit that ended it: rounds from a start, draws for one exchange, edges tried in vain
    limit: int | None = None
    # the mean loss of a row where every deletion drawn was rejected: they are accepted with
    # probability exp(-loss) at most
    row_loss: float = math.nan
    shortfall: Shortfall | None = None  # why there are fewer edges than wanted, if there are

    def to_dict(self) -> dict[str, Any]:
        """Return the tally as a plain dictionary; what is unknown is None."""
        return {name: None if value != value else value for name, value in asdict(self).items()}

    @staticmethod
    def from_dict(plain: Mapping[str, Any]) -> Tally:
        """Return the tally that `to_dict` made a dictionary of."""
        known = {f.name: plain[f.name] for f in fields(Tally) if f.name in plain}
        unknown = {name: math.nan for name in _NUMBERS if known.get(name, 0.0) is None}
        return Tally(**known | unknown)

    def end(self, why: End, limit: int | None = None, row_loss: float = math.nan) -> None:
        """Note why the exchanges end."""
        self.ended, self.limit, self.row_loss = why, limit, row_loss


_NUMBERS = ("first", "best", "row_loss")


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A network after an exchange, and how many edges came and went."""

    network: Network
    came: int
    gone: int


class Exchanging(Protocol):
    """A rule at work on one network after another."""

    def step(self, current: Network, seen: Callable[[Network], None]) -> Network | None:
        """Return the network after a round (or the same one), None when there is no use.

        Networks on the way that are not returned are shown to ``seen``.
        """
        ...


class ExchangeRule(Protocol):
    """Says which edges are exchanged, and whether the exchange stands."""

    @property
    def name(self) -> str:
        """What a `Tally` calls it."""
        ...

    def begin(self, context: ExchangeContext, rng: np.random.Generator, tally: Tally) -> Exchanging:
        """Return the rule at work; it notes what it does in the tally."""
        ...


@dataclass(frozen=True, slots=True)
class Exchange:
    """Rounds of exchanges by a rule, with restarts."""

    rule: ExchangeRule
    rounds: int = 100
    restarts: int = 0
    tied: int | None = None

    def __post_init__(self) -> None:
        whole_number("rounds", self.rounds, 0)
        whole_number("restarts", self.restarts, 0)
        if self.tied is not None:
            whole_number("tied", self.tied, 1)

    def begin(
        self,
        problem: Problem,
        space: Space,
        solver: Solver,
        log: RunLog,
        network: Network,
        rng: np.random.Generator,
        tally: Tally,
    ) -> Search:
        """Return a search from a full network, whose blocks must be whole tables."""
        pairs = pairs_only(space, "an exchange of edges")
        context = ExchangeContext(problem, pairs, solver, log, network.layout.n_edges, self.tied)
        first = network if self.tied is None else context.learn(network)
        return Search(self, context, first, rng, tally)


@dataclass(slots=True, eq=False)
class Search:
    """A search at work: the network it stands at, and the best one seen."""

    settings: Exchange
    context: ExchangeContext
    best: Network
    rng: np.random.Generator
    tally: Tally
    current: Network = field(init=False)
    _at_work: Exchanging = field(init=False)
    _left: int = field(init=False)

    def __post_init__(self) -> None:
        self.current = self.best
        self.tally.rule = self.settings.rule.name
        self.tally.first = self.tally.best = self.best.solution.objective
        self._begin()

    def step(self) -> Step | None:
        """Return the network after another exchange or restart; None when the search is over."""
        before, after = self.current, None
        if self._left:
            after = self._at_work.step(before, self._note)
            self._left -= 1
        self.tally.rounds += after is not None
        if after is None and self.tally.restarts < self.settings.restarts:
            after = self._restart()
        if after is None:
            if not self._left:
                self.tally.end("rounds-used", self.settings.rounds)
            return None
        self.current = after
        self._note(after)
        old, new = (net.active(self.context.space) for net in (before, after))
        return Step(after, len(np.setdiff1d(new, old)), len(np.setdiff1d(old, new)))

    def _begin(self) -> None:
        self._left = self.settings.rounds
        self._at_work = self.settings.rule.begin(self.context, self.rng, self.tally)

    def _note(self, network: Network) -> None:
        """Keep the best network seen."""
        if improves(network, self.best):
            self.best, self.tally.best = network, network.solution.objective

    def _restart(self) -> Network | None:
        """Return the best network with a share of its edges replaced by pairs drawn at random."""
        active, absent = self.best.active(self.context.space), self.context.absent(self.best)
        active = active[self.context.loose(self.best)]
        count = min(max(1, round(SHAKEN * len(active))), len(active), len(absent))
        if not count:
            return None
        self.tally.restarts += 1
        leaving = self.rng.choice(active, count, replace=False)
        entering = self.rng.choice(absent, count, replace=False)
        self._begin()
        return self.context.joined(self.context.without(self.best, leaving), entering)


def improves(network: Network, other: Network, margin: float = 0.0) -> bool:
    """Return whether a network has a lower objective than another, by more than a margin.

    Where inference is approximate and did not converge, the objective means nothing: such a network
    is never better than one that can be trusted.
    """
    here, there = network.solution, other.solution
    if here.point.trusted != there.point.trusted:
        return bool(here.point.trusted)
    return here.objective < there.objective - margin


def same_edges(first: Ints, second: Ints) -> bool:
    """Return whether two sets of keys are the same."""
    return len(first) == len(second) and bool((np.sort(first) == np.sort(second)).all())


def size_of_exchange(count: int | None, most: int) -> int:
    """Return how many edges are exchanged at once: as asked for, by default a quarter of them.

    Examples
    --------
    >>> size_of_exchange(None, 100), size_of_exchange(10, 4)
    (25, 4)
    """
    return min(most, max(1, most // 4) if count is None else count)
