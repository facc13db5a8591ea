"""The joint pseudo-likelihood: -(1/N) sum_m sum_i log p(x_i | x_-i), one table for each edge.

Convex, exact, no inference, and exact for inactive edges too. The linear part comes from the pair
counts, so only probabilities are summed over rows. It is a sum over variables, each with its own
neighbours: where a variable's weights stay, so do its sums.

Of rows with missing cells the conditionals of the observed ones count. A missing neighbour j counts
as the state drawn in its place, if the sample has one, or as its average: in place of W(a, x_j) the
logit of state a has sum_b f_j(b) W(a, b), with f_j the frequencies among observed cells. That is
linear in W, so the loss stays convex. Drawn states are no observations: their own conditionals do
not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graftwork.data.encoded import EncodedRows
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.kernels import neighbourhoods as kernel
from graftwork.kernels.tables import symmetric_products
from graftwork.kernels.threads import count_threads, cut_evenly, run_chunks
from graftwork.objectives.conditionals import NO_IDS, Conditionals, KnownConditionals
from graftwork.objectives.configurations import Ids
from graftwork.objectives.contrasts import Contrasts
from graftwork.objectives.fitted_rows import FittedRows
from graftwork.objectives.hessian import Parameters, hessian
from graftwork.objectives.neighbourhoods import (
    NeighbourhoodCache,
    Neighbourhoods,
    lanes_for,
    padded,
)
from graftwork.objectives.pair_sums import by_states, compare_pairs
from graftwork.objectives.pair_tiles import Tile, tiles
from graftwork.objectives.protocol import (
    MOST_PRODUCTS,
    MOST_WEIGHTS,
    Expectations,
    Point,
    averages_apart,
    quadratic_gains,
)

Bools = NDArray[np.bool_]

# Bytes that the conditionals of one scoring batch may take.
MEMORY = 2 * 2**30
# Rows whose conditionals are computed again at once.
SPAN = 2**15


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

    @staticmethod
    def empty(layout: Layout) -> Sums:
        """Return sums that are still to be made."""
        n_unary = layout.n_unary
        pairs = np.empty((2, layout.size - n_unary))
        return Sums(np.empty(layout.n_variables), np.empty(n_unary), np.empty(n_unary), pairs)


class PseudoLikelihood:
    """The joint pseudo-likelihood of the observed cells of a sample."""

    def __init__(
        self, sample: EncodedRows, n_jobs: int | None = None, memory: int = MEMORY
    ) -> None:
        self.sample = sample
        self.n_threads = count_threads(n_jobs)
        self.memory = memory
        self.evaluations = 0
        self.margins = np.asarray(sample.counts.margins, dtype=np.float64)
        self.observed_weight = sample.observed_weight
        self.variances = _variances(sample)
        self.known_conditionals = KnownConditionals(memory)
        self._cache = NeighbourhoodCache(sample)
        self._last: tuple[Layout, Neighbourhoods, Floats] | None = None

    def describe(self) -> str:
        """Return in plain words how it is computed."""
        cells = "" if self.sample.complete else " of the observed cells"
        return f"pseudo-likelihood{cells}, which needs no inference"

    def at(self, potentials: Potentials, warm: Point | None = None) -> PseudoPoint:
        """Return the loss, its gradient and curvature at these potentials.

        Of a ``warm`` point of this loss, variables whose own weights did not change are taken over.
        """
        self.evaluations += 1
        neighbourhoods, counts = self._structure(potentials.layout)
        near = warm if isinstance(warm, PseudoPoint) and warm.objective is self else None
        if neighbourhoods.degrees.all():  # every sum is made below, or carried over
            sums = Sums.empty(potentials.layout)
        else:
            sums = self._isolated_sums(potentials)
        moved = np.ones(len(self.sample.cards), dtype=bool)
        if near is not None:
            moved = near.carry_over(potentials, sums)
        stamps = np.where(moved, self.evaluations, 0 if near is None else near.conditionals.stamps)
        conditionals = Conditionals(
            neighbourhoods, potentials, stamps, self.known_conditionals, self.memory, self.n_threads
        )
        _sum_rows(conditionals, np.flatnonzero(moved & (neighbourhoods.degrees > 0)), sums)
        return PseudoPoint(self, conditionals, counts, sums)

    def conditionals(self, potentials: Potentials) -> Conditionals:
        """Return the conditionals at potentials where the loss is not evaluated."""
        neighbourhoods = Neighbourhoods.of(potentials.layout, self._cache)
        stamps = np.zeros(potentials.layout.n_variables, dtype=np.int64)
        known = KnownConditionals(self.memory)
        return Conditionals(neighbourhoods, potentials, stamps, known, self.memory, self.n_threads)

    def _structure(self, layout: Layout) -> tuple[Neighbourhoods, Floats]:
        # The layout stays the same for many evaluations in a row: keep what depends on it alone.
        if self._last is None or self._last[0] is not layout:
            counts, _ = self.sample.counts.extended_tables(layout.edges)
            counts = by_states(self.sample, layout.edges, counts)
            self._last = (layout, Neighbourhoods.of(layout, self._cache), counts)
        return self._last[1], self._last[2]

    def _isolated_sums(self, potentials: Potentials) -> Sums:
        """Return the sums as if no variable had a neighbour: no pass over the rows."""
        layout, (unary, tables) = potentials.layout, _parts(potentials)
        starts, weight = layout.unary_offsets[:-1], self.observed_weight
        top = np.maximum.reduceat(unary, starts)
        raised = np.exp(unary - np.repeat(top, layout.cards))
        normaliser = np.add.reduceat(raised, starts)
        p = raised / np.repeat(normaliser, layout.cards)
        each = np.repeat(weight, layout.cards)
        logs = weight * (top + np.log(normaliser))
        return Sums(logs, each * p, each * p * p, np.zeros((2, len(tables))))


class Snapshot(NamedTuple):
    """The conditionals of all variables at a point that was left.

    Where they would take too much memory, they are computed again from ``left``.
    """

    stamps: Ints
    conditionals: list[tuple[Floats, int, Ids]]
    left: Conditionals | None = None

    def renewed(self, later: Snapshot, nodes: Ints) -> Snapshot:
        """Return it with some variables as they are in a later one; both hold conditionals."""
        stamps, conditionals = self.stamps.copy(), list(self.conditionals)
        stamps[nodes] = later.stamps[nodes]
        for node in nodes.tolist():
            conditionals[node] = later.conditionals[node]
        return Snapshot(stamps, conditionals)


class PseudoPoint:
    """The pseudo-likelihood evaluated at one set of potentials."""

    exact = True
    trusted = True

    def __init__(
        self, objective: PseudoLikelihood, conditionals: Conditionals, counts: Floats, sums: Sums
    ) -> None:
        self.objective, self.conditionals = objective, conditionals
        self.potentials = conditionals.potentials
        self._counts, self._sums = counts, sums
        total = objective.sample.total_weight
        unary, tables = _parts(self.potentials)
        pair_counts = counts[0] + counts[1]
        linear = unary @ objective.margins + tables @ pair_counts
        self.value = float((sums.logs.sum() - linear) / total)
        self.mean_log_normalisers = sums.logs / objective.observed_weight
        self.gradient = np.empty(self.potentials.layout.size)
        of_unary, of_tables = _parts(replace(self.potentials, weights=self.gradient))
        np.subtract(sums.states, objective.margins, out=of_unary)
        np.add(sums.pairs[0], sums.pairs[1], out=of_tables)
        of_tables -= pair_counts
        self.gradient /= total
        self._spread = (sums.states - sums.squares) / total

    @property
    def curvature(self) -> Floats:
        """An estimate of the curvature along each entry, made when it is asked for."""
        tables = self._table_curvature(self.potentials.layout.edges)
        return np.concatenate([self._spread, tables])

    def carry_over(self, potentials: Potentials, fresh: Sums) -> Bools:
        """Copy what still holds into the sums of other potentials; return who moved.

        The conditional of a variable depends on its unary and on the tables at it, nothing else.
        """
        old, new = self.potentials.layout, potentials.layout
        now, before = potentials.weights, self.potentials.weights
        if old is new:
            moved = _who_moved(new, now != before)
            if not moved.all():
                self._keep(~moved, new, fresh)
                fresh.pairs[:] = self._sums.pairs
            return moved
        places = find_edges(old, new.edges)
        kept, came = np.flatnonzero(places >= 0), np.flatnonzero(places < 0)
        here, there = new.entries(kept), old.entries(places[kept])
        differs = np.zeros(new.size, dtype=bool)
        differs[: new.n_unary] = now[: new.n_unary] != before[: new.n_unary]
        differs[here] = now[here] != before[there]
        moved = _who_moved(new, differs)
        gone = np.ones(old.n_edges, dtype=bool)
        gone[places[kept]] = False
        moved[new.edges[came]] = moved[old.edges[gone]] = True
        self._keep(~moved, new, fresh)
        fresh.pairs[:, here - new.n_unary] = self._sums.pairs[:, there - old.n_unary]
        return moved

    def _keep(self, stays: Bools, layout: Layout, fresh: Sums) -> None:
        """Copy the sums of variables whose weights stay."""
        fresh.logs[stays] = self._sums.logs[stays]
        states = np.repeat(stays, layout.cards)
        fresh.states[states] = self._sums.states[states]
        fresh.squares[states] = self._sums.squares[states]

    def hessian(self) -> Floats | None:
        """Return the Hessian; None where cells are missing, or where it would take long."""
        layout, sample = self.potentials.layout, self.objective.sample
        degrees = np.bincount(layout.edges.ravel(), minlength=layout.n_variables)
        each = (layout.cards * (1 + degrees)).astype(np.float64)
        products = sample.n_rows * float(each @ each)
        few = products <= MOST_PRODUCTS and layout.size <= MOST_WEIGHTS
        if not few or not sample.complete or sample.parts is not None:
            return None
        rows = FittedRows(self.conditionals, Contrasts.plain(layout.cards))
        summed = hessian(rows, Parameters.of(layout, rows.contrasts))
        return summed.toarray() / sample.total_weight

    def pair_gradients(self, pairs: Ints) -> tuple[Floats, Ints, bool]:
        """Return the gradient tables of inactive pairs, where each starts, and that it is exact."""
        expectations = self.pair_expectations(pairs)
        return expectations.gradients, expectations.offsets, True

    def pair_expectations(self, pairs: Ints) -> Expectations:
        """Return the mean conditionals of both variables of each pair, and the data's cells."""
        pairs = np.ascontiguousarray(pairs, dtype=np.int64).reshape(-1, 2)
        return compare_pairs(self.conditionals, pairs, self._sums.states)

    def tiles(self, variables: Ints, leading: int | None = None) -> Iterator[Tile] | None:
        """Return all pairs among some variables, tile by tile; None where cells are missing."""
        if not self.objective.sample.complete:
            return None
        return tiles(self.conditionals, variables, self._sums.states, leading)

    def snapshot(self) -> Snapshot:
        """Return what is needed to say later how far the conditionals have moved."""
        nodes, here = np.arange(self.potentials.layout.n_variables), self.conditionals
        if here.sample.parts is not None or not here.fit(nodes):
            return Snapshot(here.stamps, [], here)
        here.remember(nodes)
        return Snapshot(here.stamps, [here.of(node) for node in nodes.tolist()])

    def drift(self, snapshot: Snapshot) -> Floats:
        """Return how far the gradient of a pair's table can have moved since, shape (n, 2).

        With D_i the root mean square change of variable i's conditional, the norm of what changed
        in the sums with x_j is at most D_i times the root of x_j's largest frequency: so the table
        of a pair (i, j) changed by at most D_i m_j + m_i D_j. Columns: D, m.
        """
        layout, here, left = self.potentials.layout, self.conditionals, snapshot.left
        moved = np.flatnonzero(here.stamps != snapshot.stamps)
        apart = np.zeros((layout.n_variables, 2))
        counted = _counted_as(here.sample)
        apart[:, 1] = np.sqrt(np.maximum.reduceat(counted, layout.unary_offsets[:-1]))
        if left is None:
            apart[moved, 0] = self._distances(moved, snapshot)
        elif here.sample.parts is None:
            apart[moved, 0] = _distances_by_rows(here, left, moved)
        else:
            apart[moved, 0] = _distances_elsewhere(here, left, moved)
        apart[:, 0] = np.sqrt(apart[:, 0] / here.sample.total_weight)
        return apart

    def _distances(self, nodes: Ints, snapshot: Snapshot) -> Floats:
        """Return the squared changes of conditionals that were kept, summed over the rows."""
        here, found = self.conditionals, np.zeros(len(nodes))
        here.remember(nodes)

        def run(part: slice) -> None:
            for place in range(part.start, part.stop):
                node = int(nodes[place])
                found[place] = self._squared_distance(node, snapshot.conditionals[node])

        costs = self.potentials.layout.cards[nodes].astype(np.float64)
        run_chunks(run, cut_evenly(costs, here.n_threads), here.n_threads)
        return found

    def _squared_distance(self, node: int, before: tuple[Floats, int, Ids]) -> float:
        """Return the sum over rows of the squared change of a conditional since a snapshot."""
        neighbourhoods = self.conditionals.neighbourhoods
        (now, states, ids), (old, _, old_ids) = self.conditionals.of(node), before
        masses, rows = neighbourhoods.cache.row_masses(node), self.objective.sample.n_rows
        if ids.size and ids is old_ids:  # the same configurations
            masses, rows = neighbourhoods.masses_of(node), len(now) // padded(states)
            ids = old_ids = NO_IDS
        lanes = lanes_for(states)
        return float(
            kernel.squared_distance(lanes, padded(states), now, ids, old, old_ids, masses, rows)
        )

    def removal_costs(self) -> Floats:
        """Return by how much the loss would rise if each edge left alone, exactly."""
        layout, sample = self.potentials.layout, self.objective.sample
        tables = _parts(self.potentials)[1]
        apart = averages_apart(layout, tables, sample.frequencies)
        sums = self._sum_over_edges(apart)
        terms = apart[0] * self._counts[0]
        terms += apart[1] * self._counts[1]
        edge = np.repeat(np.arange(layout.n_edges), layout.edge_sizes)
        linear = np.bincount(edge, terms, minlength=layout.n_edges)
        return np.asarray((sums + linear) / sample.total_weight)

    def pair_gains(self, pairs: Ints) -> Floats:
        """Return about twice what the loss would fall if each pair's table were optimised alone."""
        gradients, offsets, _ = self.pair_gradients(pairs)
        curvatures = self._table_curvature(np.ascontiguousarray(pairs, dtype=np.int64))
        return quadratic_gains(gradients, offsets, self.potentials.layout.cards, pairs, curvatures)

    def _table_curvature(self, pairs: Ints) -> Floats:
        """Return the measured curvature of the entries of pairs' tables.

        With c_i(a) the mean of p(1 - p) and v_i(a) the variance of "x_i = a" in the data, the entry
        (a, b) of an edge has about c_i(a) v_j(b) + v_i(a) c_j(b), once the unaries follow.
        """
        layout, variances = self.potentials.layout, self.objective.variances
        curvature: Floats = symmetric_products(
            self._spread, variances, layout.cards, pairs, layout.unary_offsets
        )
        return curvature

    def _sum_over_edges(self, changes: Floats) -> Floats:
        """Return the sums over the rows of log E[exp(-c)], c an edge's column of ``changes``."""
        here = self.conditionals.neighbourhoods
        away = here.connected[here.apart[here.connected]]
        total = _edge_sums(self.conditionals, np.setdiff1d(here.connected, away), changes)
        if len(away):
            total += self.conditionals.over_rows(_edge_sums, away, changes, variables=away)
        return total


def _edge_sums(at: Conditionals, nodes: Ints, changes: Floats) -> Floats:
    """Return these sums for each edge, over the conditionals of some variables."""
    here, layout = at.neighbourhoods, at.potentials.layout
    sums, total = np.zeros(len(here.edges)), np.zeros(layout.n_edges)

    def run(lanes: tuple[int, ...], some: Ints) -> None:
        kernel.sum_over_edges(lanes, some, *at.arguments(), here.masses.values, changes, sums)

    at.run_by_lanes(run, nodes)
    np.add.at(total, here.edges, sums)
    return total


def _sum_rows(conditionals: Conditionals, nodes: Ints, sums: Sums) -> None:
    """Fill the sums of these variables, which have neighbours."""
    away = nodes[conditionals.neighbourhoods.apart[nodes]]
    here = nodes[~conditionals.neighbourhoods.apart[nodes]]
    if not len(away):
        _sum_here(conditionals, here, sums)
    else:  # both at once: what is here does not wait for the parts
        with ThreadPoolExecutor(1) as pool:
            job = pool.submit(_sum_here, conditionals, here, sums)
            found = Sums(*conditionals.over_rows(_sums_of, away, variables=away))
            job.result()
        layout = conditionals.potentials.layout
        chosen = np.zeros(layout.n_variables, dtype=bool)
        chosen[away] = True
        sums.logs[away] = found.logs[away]
        states = np.repeat(chosen, layout.cards)
        sums.states[states], sums.squares[states] = found.states[states], found.squares[states]
        for side in range(2):
            entries = np.repeat(chosen[layout.edges[:, side]], layout.edge_sizes)
            sums.pairs[side, entries] = found.pairs[side, entries]


def _sums_of(conditionals: Conditionals, nodes: Ints) -> list[Floats]:
    """Return the sums of some variables over rows that are here; of others they are 0."""
    sums = Sums.empty(conditionals.potentials.layout)
    for values in sums:
        values[...] = 0.0
    _sum_here(conditionals, nodes, sums)
    return list(sums)


def _sum_here(conditionals: Conditionals, nodes: Ints, sums: Sums) -> None:
    """Fill the sums of some variables whose configurations are here."""
    masses = conditionals.neighbourhoods.masses.values

    def run(lanes: tuple[int, ...], some: Ints) -> None:
        kernel.sum_conditionals(lanes, some, *conditionals.arguments(), masses, *sums)

    conditionals.run_by_lanes(run, nodes)


def _distances_by_rows(now: Conditionals, before: Conditionals, nodes: Ints) -> Floats:
    """Return the squared changes of conditionals, summed over the rows, some rows at a time."""
    found, n_rows = np.zeros(len(nodes)), now.sample.n_rows

    def run(part: slice) -> None:
        for place in range(part.start, part.stop):
            node = int(nodes[place])
            states, masses = int(now.sample.cards[node]), now.neighbourhoods.cache.row_masses(node)
            for start in range(0, n_rows, SPAN):
                stop = min(start + SPAN, n_rows)
                both = (at.of_rows(node, start, stop) for at in (now, before))
                (here, ids), (left, left_ids) = both
                found[place] += kernel.squared_distance(
                    lanes_for(states), padded(states), here, ids, left, left_ids,
                    masses[start:stop], stop - start,
                )  # fmt: skip

    costs = now.sample.cards[nodes].astype(np.float64)
    run_chunks(run, cut_evenly(costs, now.n_threads), now.n_threads)
    return found


def _distances_elsewhere(now: Conditionals, before: Conditionals, nodes: Ints) -> Floats:
    """Return the same of rows that are elsewhere: from configurations where these are the same."""
    here, left = now.neighbourhoods, before.neighbourhoods
    found, same = np.zeros(len(nodes)), np.zeros(len(nodes), dtype=bool)
    for place, node in enumerate(nodes.tolist()):
        same[place] = not here.apart[node] and here.known.get(node) is left.known.get(node)
        if same[place]:
            (values, states, _), (old, _, _) = now.of(node), before.of(node)
            masses = here.masses_of(node)
            found[place] = kernel.squared_distance(
                lanes_for(states), padded(states), values, NO_IDS, old, NO_IDS, masses, len(masses)
            )
    rest = nodes[~same]
    if len(rest):
        found[~same] = now.over_rows(_distances_in_part, before.potentials, rest, variables=rest)
    return found


def _distances_in_part(now: Conditionals, before: Potentials, nodes: Ints) -> Floats:
    other = Neighbourhoods.of(before.layout, now.neighbourhoods.cache, nodes)
    known = KnownConditionals(now.memory)
    left = Conditionals(other, before, now.stamps, known, now.memory, now.n_threads)
    return _distances_by_rows(now, left, nodes)


def _who_moved(layout: Layout, differs: Bools) -> Bools:
    """Return the variables of which a unary entry differs, or a table's."""
    moved: Bools = np.logical_or.reduceat(differs[: layout.n_unary], layout.unary_offsets[:-1])
    if layout.n_edges:
        changed = np.logical_or.reduceat(differs, layout.edge_offsets[:-1])
        moved[layout.edges[changed]] = True
    return moved


def _parts(potentials: Potentials) -> tuple[Floats, Floats]:
    n_unary = potentials.layout.n_unary
    return potentials.weights[:n_unary], potentials.weights[n_unary:]


def _counted_as(sample: EncodedRows) -> Floats:
    """Return in what share of the rows each kept state counts, observed or not."""
    if sample.complete:
        return sample.frequencies
    ends = np.cumsum(sample.extended)[:-1]
    margins = np.split(np.asarray(sample.counts.extended_margins, dtype=np.float64), ends)
    counted = [own @ sample.indicators(i) for i, own in enumerate(margins)]
    return np.concatenate(counted) / sample.total_weight


def _variances(sample: EncodedRows) -> Floats:
    """Return the variance, over all rows, of what each kept state counts as for neighbours.

    Drawn states vary like observed ones. An average does not: it is the same in all rows.
    """
    observed, frequencies = sample.observed_weight / sample.total_weight, sample.frequencies
    averaged = (sample.extended > sample.cards) & (sample.extended < 2 * sample.cards)
    varying = np.repeat(np.where(averaged, observed, 1.0), sample.cards)
    return np.asarray(frequencies * (1.0 - frequencies) * varying)
