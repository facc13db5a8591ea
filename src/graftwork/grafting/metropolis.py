"""A Markov chain over networks of a given size: one edge out, one in, accepted or not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graftwork.grafting.bench import Bench
from graftwork.grafting.exchange import Tally, size_of_exchange
from graftwork.grafting.support import Network
from graftwork.inference.layout import Floats, Ints
from graftwork.settings import check_whole

# This share of the proposals does not look at the estimates: no exchange is out of reach.
EVEN = 0.1


@dataclass(frozen=True, slots=True)
class Metropolis:
    """Metropolis-Hastings over edge sets S of a given size, p(S) ~ exp(-N objective(S) / T).

    The objective is that of S with its weights fitted, N the total weight of the rows. A proposal
    exchanges one edge: cheap ones leave and pairs of large gain enter with probabilities from their
    estimates, e^(-N cost / 2T) and e^(N gain / 2T) (a locally informed proposal), and a share of
    both is drawn evenly. What the estimates get wrong, the acceptance makes up for.

    Parameters
    ----------
    count : int, optional
        Proposals in a round; default a quarter of the edges.
    temperature : float
        T: larger wanders farther.

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
            check_whole("exchange", self.count, 1)
        if not self.temperature > 0 or not math.isfinite(self.temperature):
            raise ValueError(f"temperature must be a number above 0, got {self.temperature!r}")

    def begin(self, bench: Bench, rng: np.random.Generator, tally: Tally) -> Chain:
        """Return the chain."""
        return Chain(bench, tally, size_of_exchange(self.count, bench.most), self.temperature, rng)


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

    bench: Bench
    tally: Tally
    count: int
    temperature: float
    rng: np.random.Generator
    known: tuple[Network, Moves] | None = None

    def step(self, current: Network, seen: Callable[[Network], None]) -> Network | None:
        """Return where the chain stands after a round of proposals."""
        full = current.layout.n_edges == self.bench.space.size
        if full or not self.bench.loose(current).any():
            self.tally.end("nothing-to-exchange")
            return None
        for _ in range(self.count):
            if self.bench.ledger.late():
                break
            current = self._propose(current)
            seen(current)
        return current

    def moves(self, network: Network) -> Moves:
        """Return the exchanges that may be proposed there."""
        if self.known is None or self.known[0] is not network:
            bench = self.bench
            loose, pairs = bench.loose(network), bench.absent(network)
            edges = network.active(bench.space)[loose]
            sharp = bench.problem.objective.sample.total_weight / (2.0 * self.temperature)
            out = _chances(-sharp * bench.costs(network)[loose])
            into = _chances(sharp * bench.gains(network, pairs))
            self.known = network, Moves(edges, out, pairs, into)
        return self.known[1]

    def exchanged(self, network: Network, leaving: int, entering: int) -> Network:
        """Return the network with one edge exchanged and all weights fitted; of the same size."""
        bench = self.bench
        less = bench.without(network, np.array([leaving]))
        return bench.solve(less.grow(bench.problem, bench.space, np.array([entering])))

    def log_acceptance(self, moves: Moves, there: Network, leaving: int, entering: int,
                       fall: float) -> float:  # fmt: skip
        """Return the log of the Metropolis-Hastings ratio of an exchange."""
        rows = float(self.bench.problem.objective.sample.total_weight)
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
