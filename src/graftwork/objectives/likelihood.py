"""The likelihood: log Z(w) - <w, data marginals>. Its cost does not grow with the rows.

It needs the data only through pair counts; log Z and the marginals come from an inference engine.
"""

from __future__ import annotations

import numpy as np

from graftwork.data.encoded import EncodedRows
from graftwork.inference import Beliefs, Engine
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.kernels.joint import joint_hessian
from graftwork.objectives.protocol import (
    MOST_PRODUCTS,
    MOST_WEIGHTS,
    Expectations,
    Point,
    averages_apart,
    quadratic_gains,
    states_of_entries,
)


class Likelihood:
    """The mean negative log-likelihood of a sample under an inference engine."""

    def __init__(self, sample: EncodedRows, engine: Engine) -> None:
        if not sample.complete:
            raise ValueError("the likelihood needs complete rows")
        self.sample = sample
        self.engine = engine
        self.evaluations = 0
        self._last: tuple[Layout, Floats] | None = None

    def describe(self) -> str:
        """Return in plain words how it is computed."""
        return f"likelihood by {self.engine.describe()}"

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

    def hessian(self) -> Floats | None:
        """Return the Hessian of exact inference; None where the network is not small.

        Where inference approximates, it is a good guess: steps are judged by the loss itself.
        """
        layout = self.potentials.layout
        configurations = float(np.prod(layout.cards.astype(np.float64)))
        products = configurations * (layout.n_variables + layout.n_edges) ** 2
        if products > MOST_PRODUCTS or layout.size > MOST_WEIGHTS:
            return None
        found: Floats = joint_hessian(
            self.potentials.weights, layout.cards, layout.edges, layout.unary_offsets,
            layout.edge_offsets,
        )  # fmt: skip
        return found

    def removal_costs(self) -> Floats:
        """Return log E[e^-V] + <V, data> of each edge, V its table without averages.

        Exact where the edge's joint marginal is.
        """
        layout = self.potentials.layout
        if not layout.n_edges:
            return np.zeros(0)
        values = self.beliefs.values[layout.n_unary :]
        tables = self.potentials.weights[layout.n_unary :]
        without = averages_apart(layout, tables, self._objective.sample.frequencies)
        apart = without[0] + without[1] - tables
        starts = layout.edge_offsets[:-1] - layout.n_unary
        raised = np.add.reduceat(values * np.exp(-apart), starts)
        linear = np.add.reduceat((values - self.gradient[layout.n_unary :]) * apart, starts)
        costs: Floats = np.log(raised) + linear
        return costs

    def pair_gains(self, pairs: Ints) -> Floats:
        """Return about twice what the loss would fall if each pair's table were optimised alone."""
        gradients, offsets, _ = self.pair_gradients(pairs)
        layout = self.potentials.layout
        unary = self.beliefs.values[: layout.n_unary]
        first, second = states_of_entries(layout, pairs)
        curvature = (unary * (1.0 - unary))[first] * (unary * (1.0 - unary))[second]
        return quadratic_gains(gradients, offsets, layout.cards, pairs, curvature)

    def pair_gradients(self, pairs: Ints) -> tuple[Floats, Ints, bool]:
        """Return model minus data marginals of inactive pairs, and whether they are exact."""
        model, exact = self._pair_marginals(pairs)
        expectations = self._compare(model, pairs)
        return expectations.gradients, expectations.offsets, exact

    def pair_expectations(self, pairs: Ints) -> Expectations:
        """Return the joint marginals of each pair under the model and in the data."""
        return self._compare(self._pair_marginals(pairs)[0], pairs)

    def _pair_marginals(self, pairs: Ints) -> tuple[Floats, bool]:
        return self._objective.engine.pair_marginals(
            self.potentials, self.beliefs, np.ascontiguousarray(pairs, dtype=np.int64)
        )

    def _compare(self, model: Floats, pairs: Ints) -> Expectations:
        sample = self._objective.sample
        counts, offsets = sample.counts.tables(pairs)
        data = np.asarray(counts, dtype=np.float64) / sample.total_weight
        return Expectations(model[None, :], (0,), data, offsets)
