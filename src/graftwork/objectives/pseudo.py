"""The joint pseudo-likelihood: -(1/N) sum_m sum_i log p(x_i | x_-i), one table for each edge.

Convex, exact, no inference, and exact for inactive edges too. The linear part comes from the pair
counts, so only probabilities are summed over rows. It is a sum over variables, each with its own
neighbours: where a variable's weights stay, so do its sums.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graftwork.data.compact import Sample
from graftwork.data.counts import table_offsets
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.kernels import pseudo as row_kernel
from graftwork.kernels import stars as kernel
from graftwork.kernels.threads import count_threads, cut_evenly, run_chunks
from graftwork.objectives.conditionals import Conditionals, KnownConditionals
from graftwork.objectives.pair_sums import sum_pairs
from graftwork.objectives.protocol import (
    Expectations,
    Point,
    averages_apart,
    quadratic_gains,
    states_of_entries,
)
from graftwork.objectives.reshaped import evaluated
from graftwork.objectives.star_conditionals import NO_IDS, StarConditionals
from graftwork.objectives.stars import FEW, MANY, StarBook, Stars, lanes_for, padded

Bools = NDArray[np.bool_]


class Sums(NamedTuple):
    """Weighted sums over the rows.

    ``logs`` of the log-normalisers of each variable; ``states`` and ``squares`` of p and p^2 of
    each state; ``pairs[side]``, laid out as the edge tables, of p of the edge's first (0) or second
    (1) variable by the other one's state.
    """

    logs: Floats
    states: Floats
    squares: Floats
    pairs: Floats


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
        self._book = StarBook(sample)
        self.known_conditionals = KnownConditionals(memory)
        self._last: tuple[Layout, Stars, Floats] | None = None

    @property
    def ignores_empty_tables(self) -> bool:
        """Yes."""
        return True

    def describe(self) -> str:
        """Return in plain words how it is computed."""
        return "pseudo-likelihood, which needs no inference"

    def at(self, potentials: Potentials, warm: Point | None = None) -> PseudoPoint:
        """Return the loss, its gradient and curvature at these potentials.

        Of a ``warm`` point of this loss, variables whose own weights did not change are taken over.
        """
        self.evaluations += 1
        stars, pair_counts = self._structure(potentials.layout)
        near = evaluated(warm) if warm is not None else None
        near = near if isinstance(near, PseudoPoint) and near.objective is self else None
        sums, moved = self._isolated_sums(potentials), np.ones(len(stars.degrees), dtype=bool)
        if near is not None:
            moved = near.carry_over(potentials, sums)
        self._pass(potentials, stars, np.flatnonzero(moved & (stars.degrees > 0)), sums)
        stamps = np.where(moved, self.evaluations, 0 if near is None else near.stamps)
        return PseudoPoint(self, potentials, stars, pair_counts, sums, stamps)

    def _structure(self, layout: Layout) -> tuple[Stars, Floats]:
        # The layout stays the same for many evaluations in a row: keep what depends on it alone.
        if self._last is None or self._last[0] is not layout:
            counts, _ = self.sample.counts.tables(layout.edges)
            stars = Stars.of(layout, self._book)
            self._last = (layout, stars, np.asarray(counts, dtype=np.float64))
        return self._last[1], self._last[2]

    def _pass(self, potentials: Potentials, stars: Stars, nodes: Ints, sums: Sums) -> None:
        """Fill the sums of these variables, which have neighbours."""
        layout = potentials.layout
        unary, tables = _parts(potentials)

        def run(lanes: tuple[int, ...], some: Ints) -> None:
            kernel.pass_stars(
                lanes, some, layout.cards, unary, layout.unary_offsets, tables, stars.halves,
                stars.groups, stars.stars, stars.codes.values, stars.masses.values,
                sums.logs, sums.states, sums.squares, sums.pairs,
            )  # fmt: skip

        run_by_lanes(run, nodes, layout.cards, stars.costs, self.n_threads)

    def _isolated_sums(self, potentials: Potentials) -> Sums:
        """Return the sums as if no variable had a neighbour: no pass over the rows."""
        layout, (unary, tables) = potentials.layout, _parts(potentials)
        starts, total = layout.unary_offsets[:-1], self.sample.total_weight
        top = np.maximum.reduceat(unary, starts)
        raised = np.exp(unary - np.repeat(top, layout.cards))
        normaliser = np.add.reduceat(raised, starts)
        p = raised / np.repeat(normaliser, layout.cards)
        logs = total * (top + np.log(normaliser))
        return Sums(logs, total * p, total * p * p, np.zeros((2, len(tables))))


class Snapshot(NamedTuple):
    """The conditionals of all variables at a point that was left."""

    stamps: Ints
    conditionals: list[tuple[Floats, int, NDArray[np.int32]]]


class PseudoPoint:
    """The pseudo-likelihood evaluated at one set of potentials."""

    exact = True
    trusted = True

    def __init__(
        self,
        objective: PseudoLikelihood,
        potentials: Potentials,
        stars: Stars,
        pair_counts: Floats,
        sums: Sums,
        stamps: Ints,
    ) -> None:
        self.objective, self.potentials, self.stamps = objective, potentials, stamps
        self._stars, self._sums = stars, sums
        total, layout = objective.sample.total_weight, potentials.layout
        unary, tables = _parts(potentials)
        linear = unary @ objective.margins + 2.0 * (tables @ pair_counts)
        self.value = float((sums.logs.sum() - linear) / total)
        self.mean_log_normalisers = sums.logs / total
        pair_sums = sums.pairs[0] + sums.pairs[1]
        self.gradient = np.concatenate(
            [sums.states - objective.margins, pair_sums - 2.0 * pair_counts]
        )
        self.gradient /= total
        self._spread = (sums.states - sums.squares) / total
        frequencies = objective.margins / total
        self._variances = frequencies * (1.0 - frequencies)
        tables = self._table_curvature(*stars.states)
        self.curvature = np.concatenate([self._spread, tables])
        rows = objective.sample.n_rows
        self._conditionals = Conditionals(layout, stars.connected, rows, objective.memory)
        self._known = StarConditionals(
            objective.sample, objective.row_weights, objective.margins, potentials, stars,
            sums.states, stamps, objective.known_conditionals, objective.memory,
            objective.n_threads,
        )  # fmt: skip

    def carry_over(self, potentials: Potentials, fresh: Sums) -> Bools:
        """Copy what still holds into the sums of other potentials; return who moved.

        The conditional of a variable depends on its unary and on the tables at it, nothing else.
        """
        old, new = self.potentials.layout, potentials.layout
        now, before = potentials.weights, self.potentials.weights
        places = np.arange(new.n_edges) if old is new else find_edges(old, new.edges)
        kept, came = np.flatnonzero(places >= 0), np.flatnonzero(places < 0)
        here, there = new.entries(kept), old.entries(places[kept])
        differs = np.zeros(new.size, dtype=bool)
        differs[: new.n_unary] = now[: new.n_unary] != before[: new.n_unary]
        differs[here] = now[here] != before[there]
        moved: Bools = np.logical_or.reduceat(differs[: new.n_unary], new.unary_offsets[:-1])
        if new.n_edges:
            changed = np.logical_or.reduceat(differs, new.edge_offsets[:-1])
            moved[new.edges[changed]] = True
        gone = np.setdiff1d(np.arange(old.n_edges), places[kept])
        moved[new.edges[came]] = moved[old.edges[gone]] = True
        stays = ~moved
        fresh.logs[stays] = self._sums.logs[stays]
        states = np.repeat(stays, new.cards)
        fresh.states[states] = self._sums.states[states]
        fresh.squares[states] = self._sums.squares[states]
        fresh.pairs[:, here - new.n_unary] = self._sums.pairs[:, there - old.n_unary]
        return moved

    def pair_gradients(self, pairs: Ints) -> tuple[Floats, Ints, bool]:
        """Return the gradient tables of inactive pairs, where each starts, and that it is exact."""
        expectations = self.pair_expectations(pairs)
        return expectations.gradients, expectations.offsets, True

    def pair_expectations(self, pairs: Ints) -> Expectations:
        """Return the mean conditionals of both variables of each pair, and the data's cells."""
        pairs = np.ascontiguousarray(pairs, dtype=np.int64).reshape(-1, 2)
        sample = self.objective.sample
        offsets = table_offsets(sample.cards, pairs)
        counts, _ = sample.counts.tables(pairs)
        sums = np.empty((2, int(offsets[-1])))
        sum_pairs(self._known, pairs, offsets[:-1], sums)
        total = sample.total_weight
        data = np.asarray(counts, dtype=np.float64) / total
        return Expectations(sums / total, (2, 1), data, offsets)

    def snapshot(self) -> Snapshot | None:
        """Return what is needed to say later how far the conditionals have moved.

        None where that would take too much memory.
        """
        nodes = np.arange(self.potentials.layout.n_variables)
        if not self._known.fit(nodes):
            return None
        self._known.remember(nodes)
        return Snapshot(self.stamps, [self._known.of(node) for node in nodes.tolist()])

    def drift(self, snapshot: Snapshot) -> Floats:
        """Return how far the gradient of a pair's table can have moved since, shape (n, 2).

        With D_i the root mean square change of variable i's conditional, the norm of what changed
        in the sums with x_j is at most D_i times the root of x_j's largest frequency: so the table
        of a pair (i, j) changed by at most D_i m_j + m_i D_j. Columns: D, m.
        """
        objective, layout = self.objective, self.potentials.layout
        sample, moved = objective.sample, np.flatnonzero(self.stamps != snapshot.stamps)
        self._known.remember(moved)
        apart = np.zeros((layout.n_variables, 2))
        apart[:, 1] = np.sqrt(np.maximum.reduceat(sample.frequencies, layout.unary_offsets[:-1]))

        def run(part: slice) -> None:
            for node in moved[part].tolist():
                now, states, ids = self._known.of(node)
                before, _, before_ids = snapshot.conditionals[node]
                masses, rows = objective.row_weights, sample.n_rows
                if ids.size and ids is before_ids:  # the same configurations
                    masses, rows = self._stars.masses_of(node), len(now) // padded(states)
                    ids = before_ids = NO_IDS
                apart[node, 0] = kernel.squared_distance(
                    lanes_for(states), padded(states), now, ids, before, before_ids, masses, rows
                )

        costs = layout.cards[moved].astype(np.float64)
        run_chunks(run, cut_evenly(costs, objective.n_threads), objective.n_threads)
        apart[:, 0] = np.sqrt(apart[:, 0] / sample.total_weight)
        return apart

    def pair_curvatures(self, pairs: Ints) -> Floats:
        """Return the measured curvature of each entry that would be added for these pairs."""
        return self._table_curvature(*states_of_entries(self.potentials.layout, pairs))

    def edge_spreads(self) -> Floats:
        """Return w' H w of each edge, H being its own block of the loss's Hessian.

        Twice what the loss would rise, to second order, if the edge left and no other weight moved.
        """
        layout, sample = self.potentials.layout, self.objective.sample
        spread = np.zeros(layout.n_edges)
        tables = _parts(self.potentials)[1]
        offsets = layout.edge_offsets - layout.n_unary
        for group, slots, conditionals in self._conditionals.groups(layout.edges, self._fill):
            some = np.zeros(len(layout.edges[group]))
            row_kernel.spread_of_edges(
                layout.edges[group], offsets[:-1][group], slots, sample.codes, layout.cards,
                self.objective.row_weights, conditionals, tables, some,
            )  # fmt: skip
            spread[group] = some
        return spread / sample.total_weight

    def removal_costs(self) -> Floats:
        """Return by how much the loss would rise if each edge left alone, exactly."""
        layout, sample = self.potentials.layout, self.objective.sample
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

    def _removal_sums(
        self, edges: Ints, starts: Ints, slots: Ints, conditionals: Floats, shrunk: Floats
    ) -> Floats:
        objective, layout = self.objective, self.potentials.layout
        sums = np.zeros(len(edges))

        def run(part: slice) -> None:
            row_kernel.removal_sums(
                edges[part], starts[part], slots, objective.sample.codes, layout.cards,
                objective.row_weights, conditionals, shrunk, sums[part],
            )  # fmt: skip

        costs = layout.cards[edges].sum(axis=1).astype(np.float64)
        run_chunks(run, cut_evenly(costs, objective.n_threads), objective.n_threads)
        return sums

    def _fill(self, nodes: Ints, slots: Ints, out: Floats) -> None:
        """Fill the weighted conditionals of these nodes, all states but the last."""
        objective, layout, stars = self.objective, self.potentials.layout, self._stars
        unary, tables = _parts(self.potentials)
        place = np.zeros(layout.n_variables, dtype=np.int64)
        place[nodes] = slots

        def run(lanes: tuple[int, ...], some: Ints) -> None:
            ids, starts = stars.ids_of(some)
            kernel.fill_stars(
                lanes, some, place[some], layout.cards, unary, layout.unary_offsets, tables,
                stars.halves, stars.groups, stars.stars, stars.codes.values, ids, starts,
                objective.row_weights, out,
            )  # fmt: skip

        costs = stars.costs + layout.cards * objective.sample.n_rows
        run_by_lanes(run, nodes, layout.cards, costs, objective.n_threads)


def run_by_lanes(
    run: Callable[[tuple[int, ...], Ints], None],
    nodes: Ints,
    cards: Ints,
    costs: Floats,
    n_threads: int,
) -> None:
    """Call ``run`` with variables of few states and of many, on several threads."""
    few = cards[nodes] <= len(FEW)
    parts = [
        (lanes, some[part])
        for lanes, some in ((FEW, nodes[few]), (MANY, nodes[~few]))
        for part in cut_evenly(costs[some], n_threads)
    ]
    run_chunks(lambda part: run(*part), parts, n_threads)


def _parts(potentials: Potentials) -> tuple[Floats, Floats]:
    n_unary = potentials.layout.n_unary
    return potentials.weights[:n_unary], potentials.weights[n_unary:]
