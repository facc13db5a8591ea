"""The pseudo-likelihood of the cells that are observed, for rows with missing ones.

-(1/N) sum over rows m and the variables i observed in them of log p(x_i | x_-i), where a missing
neighbour j counts as the state drawn in its place, if the sample has one, or as its average: in
place of W(a, x_j) the logit of state a has sum_b f_j(b) W(a, b), with f_j the frequencies among
observed cells. That is linear in W, so the loss is convex; with nothing missing it is the
pseudo-likelihood. Drawn states are no observations: their own conditionals do not count.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graftwork.data.compact import Sample
from graftwork.data.counts import Numbers, table_offsets
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.kernels import incomplete as kernel
from graftwork.kernels import pseudo as complete
from graftwork.kernels.threads import count_threads, cut_evenly, run_chunks
from graftwork.objectives.conditionals import Conditionals
from graftwork.objectives.protocol import (
    Expectations,
    Point,
    averages_apart,
    quadratic_gains,
    states_of_entries,
)
from graftwork.objectives.pseudo import PseudoLikelihood
from graftwork.objectives.soft_halves import SoftHalves

Sums = tuple[Floats, Floats, Floats, Floats]
Visit = Callable[[int, Ints, Floats], None]


class AvailableCase:
    """The joint pseudo-likelihood of the observed cells of a sample.

    Parameters
    ----------
    sample : Sample
        The prepared table, with missing cells or without.
    n_jobs : int, optional
        Threads; None is every core. Results do not depend on it.
    memory : int
        Bytes the conditionals of one scoring batch may take.

    Examples
    --------
    >>> from graftwork.data import as_table
    >>> from graftwork.data.compact import prepare
    >>> from graftwork.objectives.protocol import independent_potentials
    >>> table = as_table({"a": [0, 1, None, 1], "b": [0, 1, 1, None]}, missing="state")
    >>> sample = prepare(table, missing=True)
    >>> point = AvailableCase(sample, 1).at(independent_potentials(sample))
    >>> round(point.value, 4)
    0.9548
    >>> point.pair_gradients(np.array([[0, 1]]))[0].round(4)
    array([-0.2778,  0.2778,  0.2778, -0.2778])
    """

    def __init__(self, sample: Sample, n_jobs: int | None = None, memory: int = 2 * 2**30) -> None:
        self.sample = sample
        self.n_threads = count_threads(n_jobs)
        self.memory = memory
        self.evaluations = 0
        self.margins = np.asarray(sample.counts.margins, dtype=np.float64)
        self.frequencies = sample.frequencies
        self.observed_weight = sample.observed_weight
        self.row_weights = np.zeros(0) if sample.weights is None else sample.weights
        self.variances = _variances(sample)
        self._last: tuple[Layout, SoftHalves] | None = None

    @property
    def ignores_empty_tables(self) -> bool:
        """Yes."""
        return True

    def describe(self) -> str:
        """Return in plain words how it is computed."""
        return "pseudo-likelihood of the observed cells, which needs no inference"

    def at(self, potentials: Potentials, warm: Point | None = None) -> AvailablePoint:
        """Return the loss, its gradient and curvature at these potentials."""
        self.evaluations += 1
        if self._last is None or self._last[0] is not potentials.layout:
            self._last = (potentials.layout, SoftHalves.of(potentials.layout, self.sample))
        halves = self._last[1]
        tables = potentials.weights[potentials.layout.n_unary :]
        oriented = halves.orient(tables, tables)
        return AvailablePoint(self, potentials, halves, oriented)

    def weights_of(self, i: int) -> Floats:
        """Return the rows' weights for variable ``i``: zero where it is missing."""
        if self.sample.extended[i] == self.sample.cards[i]:
            return self.row_weights
        seen = self.sample.observed(i).astype(np.float64)
        return seen * self.row_weights if self.row_weights.size else seen

    def each_node(self, nodes: Ints, costs: Floats, visit: Visit) -> None:
        """Call ``visit(position, cards, weights)`` for each of these nodes, on several threads.

        The kernels for complete rows take the node's number of states and its neighbours' from one
        array: ``cards`` holds all codes of the others, and the states of the node.
        """

        def run(part: slice) -> None:
            cards = self.sample.extended.copy()
            for position in range(part.start, part.stop):
                node = int(nodes[position])
                cards[node] = self.sample.cards[node]
                visit(position, cards, self.weights_of(node))
                cards[node] = self.sample.extended[node]

        run_chunks(run, cut_evenly(costs, self.n_threads), self.n_threads)

    def pass_rows(self, potentials: Potentials, halves: SoftHalves, oriented: Floats) -> Sums:
        """Return the sums over rows: log-normalisers, p, p^2, and p by the neighbours' codes."""
        layout, connected = potentials.layout, halves.connected
        unary = potentials.weights[: layout.n_unary]
        log_sums, unary_sums, square_sums = self._isolated_sums(layout, unary)
        joined = np.repeat(np.diff(halves.indptr) > 0, layout.cards)
        unary_sums[joined] = square_sums[joined] = 0.0
        log_sums[connected] = 0.0
        half_sums = np.zeros(len(oriented))

        def visit(position: int, cards: Ints, weights: Floats) -> None:
            complete.pass_nodes(
                connected[position : position + 1], self.sample.codes, cards, weights, unary,
                layout.unary_offsets, halves.indptr, halves.others, oriented, halves.in_order,
                log_sums, unary_sums, square_sums, half_sums,
            )  # fmt: skip

        degree = np.diff(halves.indptr)[connected]
        self.each_node(connected, layout.cards[connected] * (4.0 + 2.0 * degree), visit)
        kernel.finish_halves(
            layout.cards, self.sample.extended, layout.unary_offsets, halves.indptr, halves.others,
            halves.in_order, unary_sums, halves.counts, half_sums,
        )  # fmt: skip
        return log_sums, unary_sums, square_sums, half_sums

    def _isolated_sums(self, layout: Layout, unary: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the sums as if no variable had a neighbour: no pass over the rows."""
        starts, weight = layout.unary_offsets[:-1], self.observed_weight
        top = np.maximum.reduceat(unary, starts)
        raised = np.exp(unary - np.repeat(top, layout.cards))
        normaliser = np.add.reduceat(raised, starts)
        p = raised / np.repeat(normaliser, layout.cards)
        each = np.repeat(weight, layout.cards)
        return weight * (top + np.log(normaliser)), each * p, each * p * p


class AvailablePoint:
    """The pseudo-likelihood of the observed cells evaluated at one set of potentials."""

    exact = True
    trusted = True

    def __init__(
        self, objective: AvailableCase, potentials: Potentials, halves: SoftHalves, oriented: Floats
    ) -> None:
        self._objective, self.potentials = objective, potentials
        self._halves, self._oriented = halves, oriented
        layout, total = potentials.layout, objective.sample.total_weight
        sums = objective.pass_rows(potentials, halves, oriented)
        log_sums, self._unary_sums, square_sums, half_sums = sums
        unary = potentials.weights[: layout.n_unary]
        linear = unary @ objective.margins + oriented @ halves.counts
        self.value = float((log_sums.sum() - linear) / total)
        self.mean_log_normalisers = log_sums / objective.observed_weight
        tables = halves.gather(half_sums - halves.counts)
        self.gradient = np.concatenate([self._unary_sums - objective.margins, tables]) / total
        self._spread = (self._unary_sums - square_sums) / total
        self._variances = objective.variances
        bend = self._table_curvature(halves.first_states, halves.second_states)
        self.curvature = np.concatenate([self._spread, bend])
        self._conditionals = Conditionals(
            layout, halves.connected, objective.sample.n_rows, objective.memory
        )

    def pair_gradients(self, pairs: Ints) -> tuple[Floats, Ints, bool]:
        """Return the gradient tables of inactive pairs, where each starts, and that it is exact."""
        expectations = self.pair_expectations(pairs)
        return expectations.gradients, expectations.offsets, True

    def pair_expectations(self, pairs: Ints) -> Expectations:
        """Return the mean conditionals of both variables of each pair, and the data's cells."""
        pairs = np.ascontiguousarray(pairs, dtype=np.int64).reshape(-1, 2)
        sample = self._objective.sample
        offsets = table_offsets(sample.cards, pairs)
        counted = sample.counts.extended_tables(pairs)
        model, data = np.empty((2, int(offsets[-1]))), np.zeros(int(offsets[-1]))
        for group, slots, values in self._conditionals.groups(pairs, self._fill):
            places = offsets[:-1][group], counted[1][:-1][group]
            self._sum_pairs(pairs[group], places, counted[0], slots, values, model, data)
        total = sample.total_weight
        return Expectations(model / total, (2, 1), data / total, offsets)

    def pair_curvatures(self, pairs: Ints) -> Floats:
        """Return the measured curvature of each entry that would be added for these pairs."""
        return self._table_curvature(*states_of_entries(self.potentials.layout, pairs))

    def edge_spreads(self) -> Floats:
        """Return w' H w of each edge, H being its own block of the loss's Hessian."""
        spread = self._over_edges(kernel.spread_of_edges, self._oriented)
        return spread / self._objective.sample.total_weight

    def removal_costs(self) -> Floats:
        """Return by how much the loss would rise if each edge left alone, exactly."""
        layout, sample = self.potentials.layout, self._objective.sample
        tables = self.potentials.weights[layout.n_unary :]
        apart = self._halves.orient(*averages_apart(layout, tables, self._objective.frequencies))
        sums = self._over_edges(kernel.removal_sums, np.exp(-apart))
        return (sums + self._halves.by_edge(apart * self._halves.counts)) / sample.total_weight

    def pair_gains(self, pairs: Ints) -> Floats:
        """Return about twice what the loss would fall if each pair's table were optimised alone."""
        gradients, offsets, _ = self.pair_gradients(pairs)
        bend = self.pair_curvatures(pairs)
        return quadratic_gains(gradients, offsets, self.potentials.layout.cards, pairs, bend)

    def _table_curvature(self, first: Ints, second: Ints) -> Floats:
        """Return the measured curvature of table entries, given by their states' positions.

        As for complete rows: c_i(a) v_j(b) + v_i(a) c_j(b), if cells are missing at random.
        """
        spread, variances = self._spread, self._variances
        bend: Floats = spread[first] * variances[second] + variances[first] * spread[second]
        return bend

    def _sum_pairs(
        self,
        pairs: Ints,
        places: tuple[Ints, Ints],
        counts: Numbers,
        slots: Ints,
        values: Floats,
        model: Floats,
        data: Floats,
    ) -> None:
        objective, layout = self._objective, self.potentials.layout
        sample, (starts, count_starts) = objective.sample, places

        def run(part: slice) -> None:
            kernel.sum_pairs(
                pairs[part], starts[part], slots, sample.codes, sample.cards, sample.extended,
                layout.unary_offsets, self._unary_sums, objective.frequencies, counts,
                count_starts[part], values, model, data,
            )  # fmt: skip

        busy = (slots[pairs] >= 0).sum(axis=1) * layout.cards[pairs].sum(axis=1) + 0.1
        run_chunks(run, cut_evenly(busy, objective.n_threads), objective.n_threads)

    def _over_edges(self, function: Callable[..., None], oriented: Floats) -> Floats:
        """Return the sums of a kernel over the rows, for each edge."""
        objective, layout = self._objective, self.potentials.layout
        sample, sums = objective.sample, np.zeros(layout.n_edges)

        def run(part: tuple[Ints, Ints, Floats]) -> None:
            members, slots, values = part
            starts, some = np.ascontiguousarray(self._halves.starts[:, members]), sums[members]
            function(
                layout.edges[members], starts, slots, sample.codes, sample.cards, sample.extended,
                objective.row_weights, values, oriented, some,
            )  # fmt: skip
            sums[members] = some

        costs = layout.cards[layout.edges].sum(axis=1).astype(np.float64)
        for group, slots, values in self._conditionals.groups(layout.edges, self._fill):
            members = np.arange(layout.n_edges)[group]
            cuts = cut_evenly(costs[members], objective.n_threads)
            parts = [(members[cut], slots, values) for cut in cuts]
            run_chunks(run, parts, objective.n_threads)
        return sums

    def _fill(self, nodes: Ints, slots: Ints, out: Floats) -> None:
        """Fill the weighted conditionals of these nodes, all states but the last."""
        layout, halves = self.potentials.layout, self._halves
        unary = self.potentials.weights[: layout.n_unary]

        def visit(position: int, cards: Ints, weights: Floats) -> None:
            one = slice(position, position + 1)
            complete.fill_probabilities(
                nodes[one], slots[one], self._objective.sample.codes, cards, weights, unary,
                layout.unary_offsets, halves.indptr, halves.others, self._oriented,
                halves.in_order, out,
            )  # fmt: skip

        costs = (layout.cards[nodes] - 1) * (2.0 + np.diff(halves.indptr)[nodes])
        self._objective.each_node(nodes, costs.astype(np.float64), visit)


def _variances(sample: Sample) -> Floats:
    """Return the variance, over all rows, of what each kept state counts as for neighbours.

    Drawn states vary like observed ones. An average does not: it is the same in all rows.
    """
    observed, frequencies = sample.observed_weight / sample.total_weight, sample.frequencies
    averaged = (sample.extended > sample.cards) & (sample.extended < 2 * sample.cards)
    varying = np.repeat(np.where(averaged, observed, 1.0), sample.cards)
    return np.asarray(frequencies * (1.0 - frequencies) * varying)


def pseudo_likelihood(
    sample: Sample, n_jobs: int | None = None
) -> PseudoLikelihood | AvailableCase:
    """Return the pseudo-likelihood of a sample: of all cells, or of those observed."""
    return PseudoLikelihood(sample, n_jobs) if sample.complete else AvailableCase(sample, n_jobs)
