"""Rules for exchanges: of the paper, a descent, and a Markov chain over networks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graftwork.grafting.exchange import (
    ExchangeContext,
    Tally,
    improves,
    same_edges,
    size_of_exchange,
)
from graftwork.grafting.problem import Network
from graftwork.inference.layout import Floats, Ints
from graftwork.parameters import whole_number

# An exchange stands if it lowers the objective by more than solving to ACCURACY leaves open.
MARGIN = 1e-7
# Single edges that are tried in vain before a network counts as a local optimum.
PATIENCE = 8
_EMPTY = np.zeros(0, dtype=np.int64)
# This share of the proposals does not look at the estimates: no exchange is out of reach.
EVEN = 0.1


@dataclass(frozen=True, slots=True)
class Descent:
    """Delete the edges whose removal costs least; keep the exchange if the objective fell.

    When it did not, half as many edges are exchanged, down to one; then one edge after the other.
    So no network comes twice: an exchange that would lead back is noticed before it is solved.
    """

    count: int | None = None
    name = "descent"

    def __post_init__(self) -> None:
        if self.count is not None:
            whole_number("exchange", self.count, 1)

    def begin(self, context: ExchangeContext, rng: np.random.Generator, tally: Tally) -> _Descent:
        """Return the rule at work; it needs no chance."""
        return _Descent(context, tally, size_of_exchange(self.count, context.most))


@dataclass(slots=True, eq=False)
class _Descent:
    context: ExchangeContext
    tally: Tally
    size: int
    ranked: tuple[Network, int, Ints] | None = None
    failed: int = 0

    def step(self, current: Network, seen: Callable[[Network], None]) -> Network | None:
        """Return the exchanged network if it is better, else the same one."""
        context = self.context
        leaving = self._leaving(current)
        if not self.size or not len(leaving):
            self.tally.end("local-optimum", PATIENCE)
            return None
        less = context.solve(context.without(current, leaving))
        entering = context.best(less, context.most - less.layout.n_edges, _EMPTY)
        if same_edges(leaving, entering):
            self.tally.cycles += 1
        else:
            trial = context.joined(less, entering)
            if improves(trial, current, MARGIN):
                self.tally.accepted += 1
                self.failed = 0
                return trial
        if self.size > 1:
            self.size //= 2
        else:
            self.failed += 1
        return current

    def _leaving(self, current: Network) -> Ints:
        """Return the edges to try without: the cheapest, or the next one after failures."""
        if self.failed >= PATIENCE:
            return _EMPTY
        if self.ranked is None or self.ranked[0] is not current or self.ranked[1] != self.size:
            self.ranked = current, self.size, self.context.cheapest(current, self.size)
        return self.ranked[2][self.failed : self.failed + self.size]


@dataclass(frozen=True, slots=True)
class Greedy:
    """Delete the edges whose removal costs least; every exchange stands.

    References
    ----------
    Abdelatty, Sahoo and Roy, Algorithm 2 with the greedy heuristic.
    """

    count: int | None = None
    name = "greedy"

    def __post_init__(self) -> None:
        if self.count is not None:
            whole_number("exchange", self.count, 1)

    def begin(self, context: ExchangeContext, rng: np.random.Generator, tally: Tally) -> _Published:
        """Return the rule at work; it needs no chance."""
        size = size_of_exchange(self.count, context.most)

        def worst(network: Network) -> Ints:
            keys, loose = network.active(context.space), context.loose(network)
            order = np.argsort(context.costs(network)[loose], kind="stable")
            leaving: Ints = keys[loose][order[:size]]
            return leaving

        return _Published(context, tally, worst)


@dataclass(frozen=True, slots=True)
class Rejection:
    """Delete edges drawn at random: likelier, the better the rest of the network is without them.

    A set of edges is drawn evenly and accepted with the network's mean likelihood of a row without
    them (the geometric mean; of all rows together it would never accept). No deletion can be better
    than the fitted network, so most draws are rejected, and counted, without evaluating the loss:
    the numbers are those of drawing one after the other. Every exchange stands.

    References
    ----------
    Abdelatty, Sahoo and Roy, section "Our approach": M g(x) = 1.
    """

    count: int | None = None
    proposals: int = 1_000_000
    name = "rejection"

    def __post_init__(self) -> None:
        if self.count is not None:
            whole_number("exchange", self.count, 1)
        whole_number("proposals", self.proposals, 1)

    def begin(self, context: ExchangeContext, rng: np.random.Generator, tally: Tally) -> _Published:
        """Return the rule at work."""
        size = size_of_exchange(self.count, context.most)
        return _Published(context, tally, Draws(context, tally, size, self.proposals, rng).draw)


@dataclass(slots=True, eq=False)
class _Published:
    """Rounds of Algorithm 2: which edges leave and which pairs enter is found at one network."""

    context: ExchangeContext
    tally: Tally
    leaving: Callable[[Network], Ints | None]

    def step(self, current: Network, seen: Callable[[Network], None]) -> Network | None:
        """Return the exchanged network, better or not; None when nothing can be exchanged."""
        context, absent = self.context, self.context.absent(current)
        leaving = self.leaving(current) if len(absent) else None
        if leaving is None or not len(leaving):
            if self.tally.ended is None:
                self.tally.end("nothing-to-exchange")
            return None
        room = context.most - current.layout.n_edges + len(leaving)
        order = np.argsort(-context.gains(current, absent), kind="stable")
        self.tally.accepted += 1
        return context.joined(context.without(current, leaving), absent[order[:room]])


@dataclass(slots=True, eq=False)
class Draws:
    """Rejection sampling of the edges that leave."""

    context: ExchangeContext
    tally: Tally
    size: int
    most: int
    rng: np.random.Generator

    def draw(self, current: Network) -> Ints | None:
        """Return the edges of the first draw accepted; None when too many were rejected.

        Where inference did not converge at the network its likelihood means nothing: then the first
        draw is accepted.
        """
        keys, loss = current.active(self.context.space), current.solution.point.value
        keys = keys[self.context.loose(current)]
        size, spent = min(self.size, len(keys)), 0
        if size and not current.solution.point.trusted:
            self.tally.proposals += 1
            drawn: Ints = self.rng.choice(keys, size, replace=False)
            return drawn
        while size and not self.context.log.late():
            spent += int(min(self.rng.geometric(min(max(np.exp(-loss), 1e-300), 1.0)), 2**62))
            if spent > self.most:
                self.tally.proposals += self.most
                self.tally.end("all-rejected", self.most, loss)
                return None
            leaving = self.rng.choice(keys, size, replace=False)
            rise = self.context.without(current, leaving).solution.point.value - loss
            if self.rng.random() < np.exp(-max(0.0, rise)):
                self.tally.proposals += spent
                return leaving
        return None


@dataclass(frozen=True, slots=True)
class Metropolis:
    """Metropolis-Hastings over edge sets S of a given size, p(S) ~ exp(-N objective(S) / T).

    The objective is that of S with its weights fitted, N the total weight of the rows. A proposal
    exchanges one edge: cheap ones leave and pairs of large gain enter with probabilities from their
    estimates, e^(-N cost / 2T) and e^(N gain / 2T) (a locally informed proposal), and a share of
    both is drawn evenly. What the estimates get wrong, the acceptance makes up for.

    References
    ----------
    The future work of Abdelatty, Sahoo and Roy; Zanella (2020), Informed proposals for local MCMC
    in discrete spaces.
    """

    count: int | None = None
    temperature: float = 1.0
    name = "mcmc"

    def __post_init__(self) -> None:
        if self.count is not None:
            whole_number("exchange", self.count, 1)
        if not self.temperature > 0 or not math.isfinite(self.temperature):
            raise ValueError(f"temperature must be a number above 0, got {self.temperature!r}")

    def begin(self, context: ExchangeContext, rng: np.random.Generator, tally: Tally) -> Chain:
        """Return the chain."""
        return Chain(
            context, tally, size_of_exchange(self.count, context.most), self.temperature, rng
        )


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """What may be exchanged at a network: edges and pairs, and the chances of each."""

    edges: Ints
    out: Floats
    pairs: Ints
    into: Floats

    def chance(self, leaving: int, entering: int) -> float:
        """Return the probability of proposing this exchange."""
        out = self.out[np.flatnonzero(self.edges == leaving)[0]]
        return float(out * self.into[np.flatnonzero(self.pairs == entering)[0]])


@dataclass(slots=True, eq=False)
class Chain:
    """The chain at work."""

    context: ExchangeContext
    tally: Tally
    count: int
    temperature: float
    rng: np.random.Generator
    known: tuple[Network, Moves] | None = None

    def step(self, current: Network, seen: Callable[[Network], None]) -> Network | None:
        """Return where the chain stands after a round of proposals."""
        full = current.layout.n_edges == self.context.space.size
        if full or not self.context.loose(current).any():
            self.tally.end("nothing-to-exchange")
            return None
        for _ in range(self.count):
            if self.context.log.late():
                break
            current = self._propose(current)
            seen(current)
        return current

    def moves(self, network: Network) -> Moves:
        """Return the exchanges that may be proposed there."""
        if self.known is None or self.known[0] is not network:
            context = self.context
            loose, pairs = context.loose(network), context.absent(network)
            edges = network.active(context.space)[loose]
            sharp = context.problem.objective.sample.total_weight / (2.0 * self.temperature)
            out = _chances(-sharp * context.costs(network)[loose])
            into = _chances(sharp * context.gains(network, pairs))
            self.known = network, Moves(edges, out, pairs, into)
        return self.known[1]

    def exchanged(self, network: Network, leaving: int, entering: int) -> Network:
        """Return the network with one edge exchanged and all weights fitted; of the same size."""
        context = self.context
        less = context.without(network, np.array([leaving]))
        return context.learn(less.grow(context.problem, context.space, np.array([entering])))

    def log_acceptance(self, moves: Moves, there: Network, leaving: int, entering: int,
                       fall: float) -> float:  # fmt: skip
        """Return the log of the Metropolis-Hastings ratio of an exchange."""
        rows = float(self.context.problem.objective.sample.total_weight)
        back = self.moves(there).chance(entering, leaving)
        ahead = moves.chance(leaving, entering)
        return rows * fall / self.temperature + float(np.log(back) - np.log(ahead))

    def _propose(self, current: Network) -> Network:
        moves = self.moves(current)
        leaving = int(self.rng.choice(moves.edges, p=moves.out))
        entering = int(self.rng.choice(moves.pairs, p=moves.into))
        there = self.exchanged(current, leaving, entering)
        fall = current.solution.objective - there.solution.objective
        ratio = self.log_acceptance(moves, there, leaving, entering, fall)
        self.tally.proposals += 1
        if np.log(self.rng.random()) < ratio:
            self.tally.accepted += 1
            return there
        self.known = current, moves
        return current


def _chances(log_weights: Floats) -> Floats:
    """Return probabilities in proportion to the weights, mixed with even ones."""
    raised = np.exp(log_weights - log_weights.max())
    mixed = (1.0 - EVEN) * raised / raised.sum() + EVEN / len(raised)
    chances: Floats = mixed / mixed.sum()
    return chances
