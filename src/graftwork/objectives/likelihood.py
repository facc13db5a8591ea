"""The likelihood: log Z(w) - <w, data marginals>. Its cost does not grow with the rows.

It needs the data only through pair counts; log Z and the marginals come from an inference engine.
"""

from __future__ import annotations

import numpy as np

from graftwork.data.compact import Sample
from graftwork.data.counts import table_offsets
from graftwork.inference import Beliefs, Engine
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.objectives.protocol import Point, quadratic_gains, states_of_entries


class Likelihood:
    """The mean negative log-likelihood of a sample under an inference engine."""

    def __init__(self, sample: Sample, engine: Engine) -> None:
        self.sample = sample
        self.engine = engine
        self.evaluations = 0
        self._last: tuple[Layout, Floats] | None = None

    def at(self, potentials: Potentials, warm: Point | None = None) -> LikelihoodPoint:
        """Return the loss, its gradient and curvature; messages start from ``warm``'s."""
        self.evaluations += 1
        before = warm.beliefs if isinstance(warm, LikelihoodPoint) else None
        beliefs = self.engine.infer(potentials, before)
        return LikelihoodPoint(self, potentials, beliefs, self._data_marginals(potentials.layout))

    def _data_marginals(self, layout: Layout) -> Floats:
        if self._last is None or self._last[0] is not layout:
            counts, _ = self.sample.counts.tables(layout.edges)
            data = np.concatenate([self.sample.counts.margins, counts]) / self.sample.total_weight
            self._last = (layout, data)
        return self._last[1]


class LikelihoodPoint:
    """The likelihood evaluated at one set of potentials."""

    def __init__(
        self, objective: Likelihood, potentials: Potentials, beliefs: Beliefs, data: Floats
    ) -> None:
        self._objective = objective
        self.potentials = potentials
        self.beliefs = beliefs
        self.exact = beliefs.exact
        self.trusted = beliefs.converged
        self.value = float(beliefs.log_partition - potentials.weights @ data)
        self.gradient = beliefs.values - data
        self.curvature = beliefs.values * (1.0 - beliefs.values)

    def edge_spreads(self) -> Floats:
        """Return the variance of each edge's table under the model: w' H w of its own block."""
        layout, values = (
            self.potentials.layout,
            self.beliefs.values[self.potentials.layout.n_unary :],
        )
        if not layout.n_edges:
            return np.zeros(0)
        tables = self.potentials.weights[layout.n_unary :]
        starts = layout.edge_offsets[:-1] - layout.n_unary
        mean = np.add.reduceat(values * tables, starts)
        spread: Floats = np.add.reduceat(values * tables**2, starts) - mean**2
        return spread

    def pair_gains(self, pairs: Ints) -> Floats:
        """Return about twice what the loss would fall if each pair's table were optimised alone."""
        gradients, offsets, _ = self.pair_gradients(pairs)
        layout = self.potentials.layout
        unary = self.beliefs.values[: layout.n_unary]
        first, second = states_of_entries(layout, pairs)
        bend = (unary * (1.0 - unary))[first] * (unary * (1.0 - unary))[second]
        return quadratic_gains(gradients, offsets, layout.cards, pairs, bend)

    def pair_gradients(self, pairs: Ints) -> tuple[Floats, Ints, bool]:
        """Return model minus data marginals of inactive pairs, and whether they are exact."""
        sample = self._objective.sample
        model, exact = self._objective.engine.pair_marginals(self.potentials, self.beliefs, pairs)
        counts, _ = sample.counts.tables(pairs)
        gradients: Floats = model - np.asarray(counts, dtype=np.float64) / sample.total_weight
        return gradients, table_offsets(sample.cards, pairs), exact
