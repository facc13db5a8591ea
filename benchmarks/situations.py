"""Tables whose true edges are known, of the kinds that studies have; drawn with numpy alone.

`SITUATIONS` has a row of situations for each name that `calibration.py` takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

Pairs = set[tuple[int, int]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Codes = np.ndarray[Any, np.dtype[np.int64]]
Rng = np.random.Generator

# Joint states of a component that are listed; larger components are drawn by Gibbs sampling.
LISTED, SWEEPS = 2**12, 100


@dataclass(frozen=True, eq=False)
class Truth:
    """A log-linear model: p(x) is proportional to exp(sum of the factors at x).

    Attributes
    ----------
    cards : tuple of int
        States of each variable.
    factors : dict
        A table for each tuple of variables, of one, two or three.
    """

    cards: tuple[int, ...]
    factors: dict[tuple[int, ...], Floats]

    @property
    def edges(self) -> Pairs:
        """The pairs of variables in one factor: all others are independent given the rest."""
        return {pair for own in self.factors for pair in combinations(sorted(own), 2)}

    def components(self) -> list[list[int]]:
        """Return the variables of each connected component."""
        group = list(range(len(self.cards)))
        for i, j in self.edges:
            old, new = group[j], group[i]
            group = [new if g == old else g for g in group]
        return [[i for i, g in enumerate(group) if g == label] for label in sorted(set(group))]

    def joint(self, variables: list[int]) -> Floats:
        """Return the probabilities of all joint states of a component."""
        shape = tuple(self.cards[i] for i in variables)
        logits = np.zeros(shape)
        for own, table in self.factors.items():
            if own[0] in variables:
                places = [variables.index(i) for i in own]
                room = np.ones(len(shape), dtype=int)
                room[places] = [self.cards[i] for i in own]
                logits += np.transpose(table, np.argsort(places)).reshape(room)
        chances = np.exp(logits - logits.max())
        return chances / chances.sum()

    def draw(self, count: int, rng: Rng) -> Codes:
        """Return rows: exact draws of small components, a Gibbs chain a row of large ones."""
        rows = np.empty((count, len(self.cards)), dtype=np.int64)
        for variables in self.components():
            shape = tuple(self.cards[i] for i in variables)
            if prod(shape) <= LISTED:
                drawn = rng.choice(prod(shape), count, p=self.joint(variables).ravel())
                rows[:, variables] = np.column_stack(np.unravel_index(drawn, shape))
            else:
                self.sample(rows, variables, rng)
        return rows

    def sample(self, rows: Codes, variables: list[int], rng: Rng, sweeps: int = SWEEPS) -> None:
        """Set variables of the rows to states after so many sweeps of Gibbs sampling."""
        around = {
            i: [(own, np.moveaxis(table, own.index(i), -1)) for own, table in self.factors.items()
                if i in own]
            for i in variables
        }  # fmt: skip
        for i in variables:
            rows[:, i] = rng.integers(self.cards[i], size=len(rows))
        for _ in range(sweeps):
            for i in variables:
                logits = np.zeros((len(rows), self.cards[i]))
                for own, table in around[i]:
                    logits += table[tuple(rows[:, j] for j in own if j != i)]
                noise = rng.gumbel(size=logits.shape)
                rows[:, i] = (logits + noise).argmax(axis=1)


@dataclass(frozen=True, eq=False)
class Case:
    """A table and its true edges.

    Attributes
    ----------
    rows : (rows, variables) array
        With None where a cell is missing.
    edges : set of pairs
    weights : (rows,) float64, optional
    options : dict
        Of `MarkovNetwork`.
    """

    rows: Any
    edges: Pairs
    weights: Floats | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Situation:
    """One line of the table: how a case of so many rows is drawn.

    Attributes
    ----------
    name : str
    sizes : tuple of int
        Numbers of rows.
    make : function
        Of the number of rows and a generator of random numbers.
    pairwise : bool
        Whether the truth is a pairwise network, so that the false discovery rate must hold.
    """

    name: str
    sizes: tuple[int, ...]
    make: Callable[[int, Rng], Case]
    pairwise: bool = True


def truth_of(
    states: int,
    p: int,
    pairs: Pairs,
    rng: Rng,
    size: float,
    *,
    spread: float = 0.4,
    signs: tuple[float, ...] = (-1.0, 1.0),
) -> Truth:
    """Return a network: centred tables with entries of about this size, normal unaries.

    Binary tables have log odds ratios between half the size and one and a half, of these signs.
    """
    factors: dict[tuple[int, ...], Floats] = {(i,): rng.normal(0, spread, states) for i in range(p)}
    for pair in sorted(pairs):
        if states == 2:
            ratio = size * rng.uniform(0.5, 1.5) * rng.choice(signs)
            table = ratio * np.outer([-0.5, 0.5], [-0.5, 0.5])
        else:
            table = rng.normal(0, size, (states, states))
            table -= table.mean(axis=0)
            table -= table.mean(axis=1)[:, None]
        factors[pair] = table
    return Truth((states,) * p, factors)


def some_pairs(p: int, count: int, rng: Rng) -> Pairs:
    """Return pairs of p variables, chosen at random."""
    every = list(combinations(range(p), 2))
    return {every[k] for k in rng.choice(len(every), count, replace=False).tolist()}


def chain(p: int) -> Pairs:
    """Return the pairs of a chain."""
    return {(i, i + 1) for i in range(p - 1)}


def grid(height: int, width: int) -> Pairs:
    """Return the pairs of a grid."""
    right = {(i, i + 1) for i in range(height * width) if (i + 1) % width}
    return right | {(i, i + width) for i in range((height - 1) * width)}


def blocks(count: int, size: int) -> Pairs:
    """Return the pairs within blocks of variables."""
    return {(i, j) for i, j in combinations(range(count * size), 2) if i // size == j // size}


def hubs(p: int) -> Pairs:
    """Return the pairs of two hubs, each with half of the others."""
    half = (p - 2) // 2
    return {(0, 1)} | {(h, 2 + h * half + k) for h in (0, 1) for k in range(half)}


def network(states: int, p: int, pairs: Callable[[Rng], Pairs], size: float, **options: Any) -> Any:
    """Return what makes a case of a network with these pairs."""

    def make(count: int, rng: Rng) -> Case:
        truth = truth_of(states, p, pairs(rng), rng, size, **options)
        return Case(truth.draw(count, rng), truth.edges)

    return make


def copies(states: int, agreement: float) -> Truth:
    """Return an item of even states and three copies that agree with it in a share of the rows."""
    table = np.full((states, states), np.log((1 - agreement) / (states - 1)))
    np.fill_diagonal(table, np.log(agreement))
    return Truth((states,) * 4, {(0, k): table for k in (1, 2, 3)})


def near_copies(states: int, agreement: float, ordinal: bool) -> Any:
    """Return what makes a case of near copies."""
    truth, options = copies(states, agreement), {"ordinal": True} if ordinal else {}
    return lambda count, rng: Case(truth.draw(count, rng), truth.edges, None, options)


def rare_states(count: int, rng: Rng) -> Case:
    """Return a case of twelve variables in a state of 80 %, 15 %, 4 % and 1 % each."""
    truth = truth_of(4, 12, some_pairs(12, 12, rng), rng, 1.0, spread=0.0)
    factors = dict(truth.factors)
    for i in range(12):
        factors[i,] = np.log(rng.permutation([0.8, 0.15, 0.04, 0.01]))
    truth = Truth(truth.cards, factors)
    return Case(truth.draw(count, rng), truth.edges)


def weighted(effect: float, scale: float, connected: bool) -> Any:
    """Return what makes a case whose weights have nothing to do with the rows.

    Gamma weights of mean ``scale``; Kish's design effect is 1 + their squared relative deviation.
    """

    def make(count: int, rng: Rng) -> Case:
        pairs = some_pairs(15, 15, rng) if connected else set()
        truth = truth_of(2, 15, pairs, rng, 1.2)
        shape = 1.0 / (effect - 1.0)
        weights = scale * rng.gamma(shape, 1.0 / shape, count)
        return Case(truth.draw(count, rng), truth.edges, np.maximum(weights, 1e-3 * scale))

    return make


def stratified(count: int, rng: Rng) -> Case:
    """Return a case in which the first two variables decide which rows are drawn.

    Rows of a population are drawn with chances of .1 to 1, and weighted by their inverse.
    """
    truth = truth_of(2, 15, some_pairs(15, 15, rng), rng, 1.2)
    population = truth.draw(12 * count, rng)
    chances = np.array([[0.1, 0.4], [0.4, 1.0]])[population[:, 0], population[:, 1]]
    rows = population[rng.random(len(population)) < chances][:count]
    return Case(rows, truth.edges, 1.0 / np.array([[0.1, 0.4], [0.4, 1.0]])[rows[:, 0], rows[:, 1]])


def missing(share: float, at_random: bool) -> Any:
    """Return what makes a case of a chain of binary variables with missing cells.

    At random ("MAR"), every third variable is observed, and says how often its two followers are
    missing.
    """

    def make(count: int, rng: Rng) -> Case:
        truth = truth_of(2, 20, chain(20), rng, 1.5)
        rows = truth.draw(count, rng)
        chances = np.full(rows.shape, share)
        if at_random:
            for i in range(20):
                seen = rows[:, i - i % 3]
                chances[:, i] = 1.5 * share * (0.4 + 1.2 * seen) * (i % 3 > 0)
        cells = rows.astype(object)
        cells[rng.random(rows.shape) < chances] = None
        return Case(cells, truth.edges, None, {"missing": "available-case"})

    return make


EVEN, SKEWED = np.full(5, 0.2), np.array([0.5, 0.25, 0.15, 0.07, 0.03])


def ordered(margin: Floats, theta: float) -> Any:
    """Return what makes a case of fifteen five-point items on a ring with chords (or without).

    Tables are theta * a * b, a and b being the steps from the mean of the margin.
    """
    scores = np.arange(5) - margin @ np.arange(5)
    pairs = {(i, i + 1) for i in range(14)} | {(0, 14)} | {(i, i + 5) for i in range(0, 10, 2)}
    factors: dict[tuple[int, ...], Floats] = {(i,): np.log(margin) for i in range(15)}
    if theta:
        factors |= {pair: theta * np.outer(scores, scores) for pair in pairs}
    truth = Truth((5,) * 15, factors)
    return lambda count, rng: Case(truth.draw(count, rng), truth.edges, None, {"ordinal": True})


def thresholded(count: int, rng: Rng) -> Case:
    """Return a case of Gaussians with a sparse precision matrix, cut into five skewed levels."""
    p, pairs = 15, some_pairs(15, 18, rng)
    precision = np.eye(p)
    for i, j in pairs:
        precision[i, j] = precision[j, i] = rng.uniform(0.2, 0.4) * rng.choice([-1.0, 1.0])
    least = np.linalg.eigvalsh(precision)[0]
    precision += max(0.0, 0.2 - least) * np.eye(p)
    covariance = np.linalg.inv(precision)
    scale = np.sqrt(np.diag(covariance))
    values = rng.standard_normal((count, p)) @ np.linalg.cholesky(covariance).T / scale
    cuts = np.array([0.0, 0.6745, 1.2816, 1.8808])  # of .5, .75, .9 and .97
    return Case(np.searchsorted(cuts, values), pairs, None, {"ordinal": True})


def three_way(count: int, rng: Rng) -> Case:
    """Return a case of a chain whose first three, and last three variables act on each other."""
    truth = truth_of(2, 12, chain(12), rng, 1.2)
    sign = np.array([-1.0, 1.0])
    table = 0.6 * sign[:, None, None] * sign[:, None] * sign
    truth = Truth(truth.cards, truth.factors | {(0, 1, 2): table, (9, 10, 11): table})
    return Case(truth.draw(count, rng), truth.edges)


def _sparse(p: int, edges: int) -> Callable[[Rng], Pairs]:
    return lambda rng: some_pairs(p, edges, rng)


def _fixed(pairs: Pairs) -> Callable[[Rng], Pairs]:
    return lambda rng: pairs


def _copies() -> Iterator[Situation]:
    for ordinal in (False, True):
        for states in (2, 3, 5)[ordinal:]:
            for agreement in (0.9, 0.95, 0.97):
                name = f"{'ordered ' * ordinal}{states} states, {agreement:.0%} agree"
                yield Situation(name, (500, 2000), near_copies(states, agreement, ordinal))


SITUATIONS: dict[str, list[Situation]] = {
    "null": [
        Situation("binary", (100, 500, 2000), network(2, 20, _fixed(set()), 0)),
        Situation("three states", (100, 500, 2000), network(3, 15, _fixed(set()), 0)),
        Situation("five states", (200, 500), network(5, 15, _fixed(set()), 0)),
    ],
    "sparse": [
        Situation("binary", (100, 200, 500, 2000), network(2, 20, _sparse(20, 25), 1.2)),
        Situation("three states", (200, 500, 2000), network(3, 15, _sparse(15, 15), 0.6)),
        Situation("five states", (500, 2000), network(5, 15, _sparse(15, 15), 0.6)),
    ],
    "hubs": [Situation("binary", (200, 500, 2000), network(2, 20, _fixed(hubs(20)), 1.0))],
    "grid": [Situation("binary", (200, 500, 2000), network(2, 20, _fixed(grid(4, 5)), 1.0))],
    "blocks": [
        Situation(
            "binary", (200, 500, 2000), network(2, 20, _fixed(blocks(4, 5)), 0.9, signs=(1.0,))
        )
    ],
    "dense": [Situation("binary", (200, 500, 2000), network(2, 18, _sparse(18, 76), 0.5))],
    "copies": list(_copies()),
    "rare": [Situation("four states", (200, 500, 2000), rare_states)],
    "weights": [
        *(
            Situation(
                f"{kind}, design effect {effect}{', mean 25' * (scale > 1)}",
                (300, 1000),
                weighted(effect, scale, kind == "sparse"),
            )
            for kind in ("null", "sparse")
            for effect, scale in ((1.3, 1.0), (1.9, 1.0), (1.3, 25.0))
        ),
        Situation("sparse, drawn by two variables", (300, 1000), stratified),
    ],
    "missing": [
        Situation(f"{how}, {share:.0%}", (500, 2000), missing(share, how == "MAR"))
        for how in ("MCAR", "MAR")
        for share in (0.05, 0.2, 0.25)
    ],
    "ordered": [
        Situation("null, even", (200, 500), ordered(EVEN, 0.0)),
        Situation("null, skewed", (200, 500), ordered(SKEWED, 0.0)),
        Situation("even", (300, 1000), ordered(EVEN, 0.12)),
        Situation("skewed", (300, 1000), ordered(SKEWED, 0.14)),
    ],
    "thresholded": [Situation("skewed", (500, 1000, 2000), thresholded, pairwise=False)],
    "three-way": [Situation("binary", (500, 2000), three_way, pairwise=False)],
}
