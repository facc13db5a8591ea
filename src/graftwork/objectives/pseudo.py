"""The joint pseudo-likelihood: -(1/N) sum_m sum_i log p(x_i | x_-i), one table for each edge.

Convex, exact, no inference, and exact for inactive edges too. The linear part comes from the pair
counts, so only probabilities are summed over rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.data.compact import Sample
from graftwork.data.counts import table_offsets
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.kernels import pseudo as kernel
from graftwork.kernels.threads import count_threads, cut_evenly, run_chunks
from graftwork.objectives.conditionals import Conditionals
from graftwork.objectives.protocol import (
    Expectations,
    Point,
    averages_apart,
    quadratic_gains,
    states_of_entries,
)


@dataclass(frozen=True, slots=True, eq=False)
class HalfEdges:
    """Both orientations of every edge table, grouped by variable.

    ``own_first`` and ``own_second`` say where each entry of the edge tables lies in the halves of
    the edge's first and second variable; ``first_states`` and ``second_states`` which states of
    them it is about, as positions among all unary entries.
    """

    indptr: Ints
    others: Ints
    starts: Ints
    own_first: Ints
    own_second: Ints
    first_states: Ints
    second_states: Ints
    connected: Ints

    @staticmethod
    def of(layout: Layout) -> HalfEdges:
        """Return the half-edges of a layout."""
        m, sizes = layout.n_edges, layout.edge_sizes
        owner = layout.edges.T.ravel()  # first endpoints of all edges, then second endpoints
        other = layout.edges[:, ::-1].T.ravel()
        order = np.argsort(owner, kind="stable")
        degree = np.bincount(owner, minlength=layout.n_variables)
        starts_in_order = np.concatenate([[0], np.cumsum(np.tile(sizes, 2)[order])[:-1]])
        starts = np.empty(2 * m, dtype=np.int64)
        starts[order] = starts_in_order[: 2 * m]
        within = np.arange(layout.size - layout.n_unary) - np.repeat(
            layout.edge_offsets[:-1] - layout.n_unary, sizes
        )
        first_states, second_states = states_of_entries(layout, layout.edges)
        s_i = np.repeat(layout.cards[layout.edges[:, 0]], sizes)
        s_j = np.repeat(layout.cards[layout.edges[:, 1]], sizes)
        return HalfEdges(
            indptr=np.concatenate([[0], np.cumsum(degree)]).astype(np.int64),
            others=np.ascontiguousarray(other[order]),
            starts=starts_in_order[: 2 * m].astype(np.int64),
            own_first=np.repeat(starts[:m], sizes) + within,
            own_second=np.repeat(starts[m:], sizes) + within % s_j * s_i + within // s_j,
            first_states=first_states,
            second_states=second_states,
            connected=np.flatnonzero(degree),
        )


class PseudoLikelihood:
    """The joint pseudo-likelihood of a sample.

    Parameters
    ----------
    sample : Sample
        The prepared table.
    n_jobs : int, optional
        Threads; None is every core. Results do not depend on it.
    memory : int
        Bytes the conditionals of one scoring batch may take.
    """

    def __init__(self, sample: Sample, n_jobs: int | None = None, memory: int = 2 * 2**30) -> None:
        self.sample = sample
        self.n_threads = count_threads(n_jobs)
        self.memory = memory
        self.evaluations = 0
        self.row_weights = np.zeros(0) if sample.weights is None else sample.weights
        self.margins = np.asarray(sample.counts.margins, dtype=np.float64)
        self._last: tuple[Layout, HalfEdges, Floats] | None = None

    @property
    def ignores_empty_tables(self) -> bool:
        """Yes."""
        return True

    def describe(self) -> str:
        """Return in plain words how it is computed."""
        return "pseudo-likelihood, which needs no inference"

    def at(self, potentials: Potentials, warm: Point | None = None) -> PseudoPoint:
        """Return the loss, its gradient and curvature at these potentials."""
        self.evaluations += 1
        halves, pair_counts = self._structure(potentials.layout)
        sums = self._pass(potentials, halves)
        return PseudoPoint(self, potentials, halves, pair_counts, *sums)

    def _structure(self, layout: Layout) -> tuple[HalfEdges, Floats]:
        # The layout stays the same for many evaluations in a row: keep what depends on it alone.
        if self._last is None or self._last[0] is not layout:
            counts, _ = self.sample.counts.tables(layout.edges)
            self._last = (layout, HalfEdges.of(layout), np.asarray(counts, dtype=np.float64))
        return self._last[1], self._last[2]

    def _pass(
        self, potentials: Potentials, halves: HalfEdges
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the sums over rows: log-normalisers, p, p^2, and p by neighbour's state."""
        layout = potentials.layout
        unary, tables = _parts(potentials)
        log_sums, unary_sums, square_sums = self._isolated_sums(layout, unary)
        connected = halves.connected
        for sums in (unary_sums, square_sums):
            sums[_entries(layout, connected)] = 0.0
        log_sums[connected] = 0.0
        half_sums = np.zeros(2 * len(tables))
        oriented = np.empty(2 * len(tables))
        oriented[halves.own_first] = oriented[halves.own_second] = tables
        degree = np.diff(halves.indptr)[connected]
        costs = layout.cards[connected] * (4.0 + 2.0 * degree)

        def run(part: slice) -> None:
            kernel.pass_nodes(
                connected[part], self.sample.codes, layout.cards, self.row_weights, unary,
                layout.unary_offsets, halves.indptr, halves.others, oriented, halves.starts,
                log_sums, unary_sums, square_sums, half_sums,
            )  # fmt: skip

        run_chunks(run, cut_evenly(costs, self.n_threads), self.n_threads)
        kernel.finish_halves(
            layout.cards, layout.unary_offsets, halves.indptr, halves.others, halves.starts,
            unary_sums, self.margins, half_sums,
        )  # fmt: skip
        return log_sums, unary_sums, square_sums, half_sums

    def _isolated_sums(self, layout: Layout, unary: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the sums as if no variable had a neighbour: no pass over the rows."""
        starts, total = layout.unary_offsets[:-1], self.sample.total_weight
        top = np.maximum.reduceat(unary, starts)
        raised = np.exp(unary - np.repeat(top, layout.cards))
        normaliser = np.add.reduceat(raised, starts)
        p = raised / np.repeat(normaliser, layout.cards)
        return total * (top + np.log(normaliser)), total * p, total * p * p


class PseudoPoint:
    """The pseudo-likelihood evaluated at one set of potentials."""

    exact = True
    trusted = True

    def __init__(
        self,
        objective: PseudoLikelihood,
        potentials: Potentials,
        halves: HalfEdges,
        pair_counts: Floats,
        log_sums: Floats,
        unary_sums: Floats,
        square_sums: Floats,
        half_sums: Floats,
    ) -> None:
        self._objective = objective
        self._halves = halves
        self._unary_sums = unary_sums
        self.potentials = potentials
        total = objective.sample.total_weight
        unary, tables = _parts(potentials)
        linear = unary @ objective.margins + 2.0 * (tables @ pair_counts)
        self.value = float((log_sums.sum() - linear) / total)
        self.mean_log_normalisers = log_sums / total
        pair_sums = half_sums[halves.own_first] + half_sums[halves.own_second]
        self.gradient = np.concatenate(
            [unary_sums - objective.margins, pair_sums - 2.0 * pair_counts]
        )
        self.gradient /= total
        self._spread = (unary_sums - square_sums) / total
        frequencies = objective.margins / total
        self._variances = frequencies * (1.0 - frequencies)
        tables = self._table_curvature(halves.first_states, halves.second_states)
        self.curvature = np.concatenate([self._spread, tables])
        rows, layout = objective.sample.n_rows, potentials.layout
        self._conditionals = Conditionals(layout, halves.connected, rows, objective.memory)

    def pair_gradients(self, pairs: Ints) -> tuple[Floats, Ints, bool]:
        """Return the gradient tables of inactive pairs, where each starts, and that it is exact."""
        expectations = self.pair_expectations(pairs)
        return expectations.gradients, expectations.offsets, True

    def pair_expectations(self, pairs: Ints) -> Expectations:
        """Return the mean conditionals of both variables of each pair, and the data's cells."""
        pairs = np.ascontiguousarray(pairs, dtype=np.int64).reshape(-1, 2)
        sample = self._objective.sample
        offsets = table_offsets(sample.cards, pairs)
        counts, _ = sample.counts.tables(pairs)
        sums = np.empty((2, int(offsets[-1])))
        for group, slots, conditionals in self._conditionals.groups(pairs, self._fill):
            self._sum_pairs(pairs[group], offsets[:-1][group], slots, conditionals, sums)
        total = sample.total_weight
        data = np.asarray(counts, dtype=np.float64) / total
        return Expectations(sums / total, (2, 1), data, offsets)

    def pair_curvatures(self, pairs: Ints) -> Floats:
        """Return the measured curvature of each entry that would be added for these pairs."""
        return self._table_curvature(*states_of_entries(self.potentials.layout, pairs))

    def edge_spreads(self) -> Floats:
        """Return w' H w of each edge, H being its own block of the loss's Hessian.

        Twice what the loss would rise, to second order, if the edge left and no other weight moved.
        """
        layout, sample = self.potentials.layout, self._objective.sample
        spread = np.zeros(layout.n_edges)
        tables = _parts(self.potentials)[1]
        offsets = layout.edge_offsets - layout.n_unary
        for group, slots, conditionals in self._conditionals.groups(layout.edges, self._fill):
            some = np.zeros(len(layout.edges[group]))
            kernel.spread_of_edges(
                layout.edges[group], offsets[:-1][group], slots, sample.codes, layout.cards,
                self._objective.row_weights, conditionals, tables, some,
            )  # fmt: skip
            spread[group] = some
        return spread / sample.total_weight

    def removal_costs(self) -> Floats:
        """Return by how much the loss would rise if each edge left alone, exactly."""
        layout, sample = self.potentials.layout, self._objective.sample
        tables = _parts(self.potentials)[1]
        apart = averages_apart(layout, tables, sample.frequencies)
        shrunk = np.exp(-np.stack(apart)).reshape(2, -1)
        offsets, sums = layout.edge_offsets - layout.n_unary, np.zeros(layout.n_edges)
        for group, slots, conditionals in self._conditionals.groups(layout.edges, self._fill):
            edges, starts = layout.edges[group], offsets[:-1][group]
            sums[group] = self._removal_sums(edges, starts, slots, conditionals, shrunk)
        counts, _ = sample.counts.tables(layout.edges)
        terms = (apart[0] + apart[1]) * counts
        linear = np.add.reduceat(terms, offsets[:-1]) if len(terms) else sums
        return (sums + linear) / sample.total_weight

    def pair_gains(self, pairs: Ints) -> Floats:
        """Return about twice what the loss would fall if each pair's table were optimised alone."""
        gradients, offsets, _ = self.pair_gradients(pairs)
        bend = self.pair_curvatures(pairs)
        return quadratic_gains(gradients, offsets, self.potentials.layout.cards, pairs, bend)

    def _table_curvature(self, first: Ints, second: Ints) -> Floats:
        """Return the measured curvature of table entries, given by their states' positions.

        With c_i(a) the mean of p(1 - p) and v_i(a) the variance of "x_i = a" in the data, the entry
        (a, b) of an edge bends by about c_i(a) v_j(b) + v_i(a) c_j(b), once the unaries follow.
        """
        spread, variances = self._spread, self._variances
        bend: Floats = spread[first] * variances[second] + variances[first] * spread[second]
        return bend

    def _sum_pairs(
        self, pairs: Ints, starts: Ints, slots: Ints, conditionals: Floats, sums: Floats
    ) -> None:
        objective, layout = self._objective, self.potentials.layout
        busy = (slots[pairs] >= 0).sum(axis=1) * layout.cards[pairs].sum(axis=1) + 0.1

        def run(part: slice) -> None:
            kernel.sum_pairs(
                pairs[part], starts[part], slots, objective.sample.codes, layout.cards,
                layout.unary_offsets, self._unary_sums, objective.margins, conditionals, sums,
            )  # fmt: skip

        run_chunks(run, cut_evenly(busy, objective.n_threads), objective.n_threads)

    def _removal_sums(
        self, edges: Ints, starts: Ints, slots: Ints, conditionals: Floats, shrunk: Floats
    ) -> Floats:
        objective, layout = self._objective, self.potentials.layout
        sums = np.zeros(len(edges))

        def run(part: slice) -> None:
            kernel.removal_sums(
                edges[part], starts[part], slots, objective.sample.codes, layout.cards,
                objective.row_weights, conditionals, shrunk, sums[part],
            )  # fmt: skip

        costs = layout.cards[edges].sum(axis=1).astype(np.float64)
        run_chunks(run, cut_evenly(costs, objective.n_threads), objective.n_threads)
        return sums

    def _fill(self, nodes: Ints, slots: Ints, out: Floats) -> None:
        """Fill the weighted conditionals of these nodes, all states but the last."""
        objective, layout, halves = self._objective, self.potentials.layout, self._halves
        unary, tables = _parts(self.potentials)
        oriented = np.empty(2 * len(tables))
        oriented[halves.own_first] = oriented[halves.own_second] = tables

        def run(part: slice) -> None:
            kernel.fill_probabilities(
                nodes[part], slots[part], objective.sample.codes, layout.cards,
                objective.row_weights, unary, layout.unary_offsets, halves.indptr, halves.others,
                oriented, halves.starts, out,
            )  # fmt: skip

        costs = ((layout.cards[nodes] - 1) * (2.0 + np.diff(halves.indptr)[nodes])).astype(float)
        run_chunks(run, cut_evenly(costs, objective.n_threads), objective.n_threads)


def _parts(potentials: Potentials) -> tuple[Floats, Floats]:
    n_unary = potentials.layout.n_unary
    return potentials.weights[:n_unary], potentials.weights[n_unary:]


def _entries(layout: Layout, variables: Ints) -> Ints:
    """Return the positions of these variables' unary entries."""
    chosen = np.zeros(layout.n_variables, dtype=bool)
    chosen[variables] = True
    return np.flatnonzero(np.repeat(chosen, layout.cards))
