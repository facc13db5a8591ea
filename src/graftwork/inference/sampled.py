"""Beliefs from draws, where exact answers take too long."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from graftwork.inference.engines import Beliefs
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.pairs import check_pairs, pair_offsets
from graftwork.inference.population import ISLANDS, SWEEPS, Population

#: Draws of single variables in a sweep of a population that is affordable: a thousand variables.
MOST_MOVES = 2**24


class Sampler:
    """Beliefs of a population of draws, with their Monte Carlo error; the same at each call.

    Examples
    --------
    >>> from graftwork.inference import Layout
    >>> layout = Layout.of([2, 2], [(0, 1)])
    >>> weights = np.array([0.0, 0.0, 0.0, 0.0, np.log(3), 0.0, 0.0, np.log(3)])
    >>> beliefs = Sampler().infer(Potentials(layout, weights))
    >>> beliefs.table(0).round(1), beliefs.exact, 0 < beliefs.noise < 0.02
    (array([[0.4, 0.1],
           [0.1, 0.4]]), False, True)
    """

    def __init__(self) -> None:
        self._population: Population | None = None

    @staticmethod
    def fits(layout: Layout) -> bool:
        """Return whether a population takes seconds, so that draws are better than messages.

        Messages may settle far from the truth; draws tell how far they are from it.
        """
        return layout.n_variables * Population.draws_of(layout) <= MOST_MOVES

    def describe(self) -> str:
        """Return what this engine does, in plain words."""
        return "a population of Gibbs draws"

    def infer(self, potentials: Potentials, warm: Beliefs | None = None) -> Beliefs:
        """Return the beliefs; `warm` is not read."""
        layout = potentials.layout
        unary = potentials.weights[: layout.n_unary]
        alone = sum(float(logsumexp(layout.unary(unary, i))) for i in range(layout.n_variables))
        self._population = population = Population(layout, unary, np.random.default_rng(0))
        population.grow(potentials)
        margins, errors = population.mean(population.margins(potentials))
        tables = self._tables(layout.edges, pair_offsets(layout, layout.edges))
        log_partition = alone + float(logsumexp(population.log_islands)) - float(np.log(ISLANDS))
        return Beliefs(
            layout, np.concatenate([margins, tables]), log_partition, False, True, 0.0, SWEEPS,
            noise=float(errors.max()),
        )  # fmt: skip

    def pair_marginals(
        self, potentials: Potentials, beliefs: Beliefs, pairs: Ints
    ) -> tuple[Floats, bool]:
        """Return how often pairs of states occur among the draws, and that this is not exact."""
        pairs = check_pairs(potentials.layout, pairs)
        return self._tables(pairs, pair_offsets(potentials.layout, pairs)), False

    def _tables(self, pairs: Ints, starts: Ints) -> Floats:
        assert self._population is not None
        population = self._population
        codes, cards = population.codes.astype(np.int64), population.layout.cards
        each = np.repeat(population.shares, population.size // ISLANDS) / (
            population.size // ISLANDS
        )
        out = np.zeros(starts[-1])
        for place, (i, j) in enumerate(pairs.tolist()):
            cells = codes[i] * cards[j] + codes[j]
            here = slice(starts[place], starts[place + 1])
            out[here] = np.bincount(cells, each, int(starts[place + 1] - starts[place]))
        return out
