"""A test for every edge of a refitted network.

With w an edge's parameters at the refit and H the Hessian of the (penalised) pseudo-likelihood,
``w' [(H^-1)_ee]^-1 w`` is about twice what the pseudo-likelihood would lose without the edge. Each
edge sits in two conditionals that share their rows, so that under independence it follows a sum of
chi-squares weighted by the eigenvalues of ``[(H^-1)_ee]^-1 V``, V being the covariance of the
edge's estimate over the rows: between 1 and 2, less where the prior decides. It is compared with
the chi-square of the same mean and variance. H is restricted to the parameters at the edge's two
variables.

References
----------
Varin, Reid and Firth (2011), An overview of composite likelihood methods (the adjusted Wald
statistic of section 2.3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.encoded import EncodedRows
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.inference.ragged import offsets
from graftwork.objectives.fitted_rows import FittedRows
from graftwork.objectives.hessian import Parameters, hessian, is_rough
from graftwork.significance.profiles import (
    EdgeProfile,
    Surroundings,
    VariableHessians,
    alike,
    variations,
)
from graftwork.significance.tails import log_tail
from graftwork.significance.tilted import LARGE, SURE, scarce, tilted

LEAST_SCALE, MOST_SCALE = 1.0, 2.0
# Logits that changed by less than this have about the same Hessian. Where more than this share of
# the variables moved, all Hessians are made again.
UNMOVED, MOST_MOVED = 0.02, 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """Findings of some pairs."""

    pairs: Ints  # (k, 2)
    statistics: Floats  # (k,): chi-square under the hypothesis that the pair is no edge
    degrees: Floats  # (k,): degrees of freedom, which need not be whole
    log_p: Floats  # (k,): logarithms of the p-values, which may be too small for numbers themselves
    # (k,): about twice what the log pseudo-likelihood of all rows changes by the pair: the
    # statistics before they were divided by their Satterthwaite scale
    rises: Floats

    @staticmethod
    def none(count: int) -> Findings:
        """Return so many tests that say nothing yet."""
        integers = np.zeros((count, 2), dtype=np.int64)
        nothing = np.zeros(count)
        return Findings(integers, nothing, np.ones(count), nothing, nothing)

    @staticmethod
    def joined(parts: list[Findings]) -> Findings:
        """Return several lists of tests as one."""
        columns = ([getattr(part, name) for part in parts] for name in Findings.__slots__)
        return Findings(*(np.concatenate(column) for column in columns))

    def some(self, chosen: Any) -> Findings:
        """Return some of the tests."""
        return Findings(*(getattr(self, name)[chosen] for name in Findings.__slots__))

    def with_rows(self, places: Ints, others: Findings) -> Findings:
        """Return these tests with others in some places."""
        columns = [getattr(self, name).copy() for name in Findings.__slots__]
        for column, name in zip(columns, Findings.__slots__, strict=True):
            column[places] = getattr(others, name)
        return Findings(*columns)


@dataclass(frozen=True, slots=True, eq=False)
class EdgeTests:
    """Wald tests of some edges, but for what the rows add to their variance."""

    rows: FittedRows  # the sample under the refitted network
    parameters: Parameters
    edges: Ints  # (k,): the edges' places in the network
    profiles: dict[int, EdgeProfile]  # what the Hessian says of each edge
    rises: Floats  # (k,): what each edge is worth: twice the loss of likelihood without it
    around: VariableHessians | None = None  # what the profiles come from
    renewed: bool = False  # whether some of that is of a network that hardly differs
    exact: bool = True  # whether it is all of this network, and of all rows

    @staticmethod
    def of(
        rows: FittedRows,
        chosen: Ints | None = None,
        before: EdgeTests | None = None,
        *,
        roughly: bool = False,
    ) -> EdgeTests:
        """Return the tests of all edges, or of those ``chosen``."""
        layout = rows.potentials.layout
        parameters = Parameters.of(layout, rows.contrasts)
        edges = np.arange(layout.n_edges) if chosen is None else chosen
        if not len(edges):
            return EdgeTests(rows, parameters, edges, {}, np.zeros(0))
        ridge = np.zeros(parameters.size)
        ridge[parameters.starts[layout.n_variables] :] = rows.contrasts.precisions(layout.edges)
        found = None if before is None else _renewed(rows, parameters, ridge, before, roughly)
        if found is None:
            near = None if chosen is None else Surroundings.of(layout, chosen)
            variables = None if near is None else near.variables
            whole = hessian(rows, parameters, variables, roughly=roughly)
            around = VariableHessians.of(whole, parameters, ridge, rows, near)
            profiles = around.profiles(edges, rows.n_threads)
        else:
            around, profiles = found
        own, renewed = _read_edges(rows, edges), found is not None
        rises = [w @ profiles[e].precision @ w for w, e in zip(own, edges.tolist(), strict=True)]
        exact = not renewed and not (roughly and is_rough(rows))
        return EdgeTests(rows, parameters, edges, profiles, np.array(rises), around, renewed, exact)

    def findings(self, most_rows: int, cut: Cut | None = None) -> Findings:
        """Return what the tests say."""
        if not len(self.edges):
            return Findings.none(0)
        unclear = np.arange(len(self.rises))
        if cut is not None and self.rows.sample.squares is None:
            pairs, degrees = self.rows.potentials.layout.edges[self.edges], self._degrees
            unclear = cut.unclear(pairs, self.rises, degrees)
        return self._judged(unclear, self._variations(unclear, most_rows))

    def measured(self, most_rows: int) -> tuple[Findings, Floats]:
        """Return what the tests of all edges say, and the standard errors of their linear parts.

        That is the theta of theta x y that is closest to a table of ordered or binary variables
        where the rows are, scores x and y having norm 1. The error is that of the sandwich,
        P^-1 V P^-1 of precision P and variation V over the rows, and not smaller than that of P^-1:
        where the prior decides, estimates vary less than they are off.
        """
        if not len(self.edges):
            return Findings.none(0), np.zeros(0)
        every = np.arange(len(self.rises))
        found, squares = self._variations(every, most_rows), []
        for e, variation in zip(self.edges.tolist(), found, strict=True):
            along = self._linear_part(e)
            spread = np.linalg.solve(self.profiles[e].precision, along)
            squares.append(max(float(spread @ variation @ spread), float(along @ spread)))
        return self._judged(every, found), np.sqrt(squares)

    def _linear_part(self, edge: int) -> Floats:
        """Return what reads the linear part of an edge off the coordinates of its table.

        Scores are the first columns of bases. The theta closest to a table is its sum over states
        that are weighed by their frequencies and by how far their scores are from the mean.
        """
        contrasts, sample = self.rows.contrasts, self.rows.sample
        pair = self.rows.potentials.layout.edges[edge]
        starts, parts = np.cumsum(sample.cards) - sample.cards, []
        for i, side in zip(pair.tolist(), contrasts.sides(pair[None])[0].tolist(), strict=True):
            p = sample.frequencies[starts[i] : starts[i] + sample.cards[i]]
            basis = contrasts.bases[i][:, :side]
            own = p * (basis[:, 0] - p @ basis[:, 0])
            parts.append(own @ basis / (own @ basis[:, 0]))
        return np.kron(parts[0], parts[1])

    @property
    def _degrees(self) -> Floats:
        """The number of parameters of each edge."""
        return np.array([float(len(self.profiles[e].precision)) for e in self.edges.tolist()])

    def _variations(self, places: Ints, most_rows: int) -> list[Floats]:
        """Return how the slopes of the edges in some places vary over the rows."""
        return variations(self.rows, self.parameters, self.profiles, self.edges[places], most_rows)

    def _judged(self, unclear: Ints, found: list[Floats]) -> Findings:
        """Return what the tests say; edges that are not unclear have the largest scale."""
        precisions = [self.profiles[e].precision for e in self.edges.tolist()]
        degrees, scales = self._degrees, np.full(len(self.rises), MOST_SCALE)
        pairs = self.rows.potentials.layout.edges[self.edges]
        for places in alike([len(variation) for variation in found]):
            left = np.stack([precisions[unclear[place]] for place in places])
            right = np.stack([found[place] for place in places])
            products = np.linalg.solve(left, right)
            for place, product in zip(places, products, strict=True):
                k = unclear[place]
                scales[k], degrees[k] = satterthwaite(product, most_scale(self.rows.sample))
        statistics = self._soberly(self.rises / scales, degrees)
        return Findings(pairs, statistics, degrees, log_tail(statistics, degrees), self.rises)

    def _soberly(self, statistics: Floats, degrees: Floats) -> Floats:
        """Return statistics, those of edges about which few rows tell made without the edge.

        Their degrees of freedom are changed in place.
        """
        rows, out = self.rows, statistics.copy()
        pairs = rows.potentials.layout.edges[self.edges]
        sides = rows.contrasts.sides(pairs)
        own = [len(self.profiles[e].precision) for e in self.edges.tolist()]
        unsure = (log_tail(statistics, degrees) > SURE) | (np.array(own) > LARGE)
        whole = np.flatnonzero((sides.prod(axis=1) == own) & unsure)  # others are rests of tables
        for k in whole[scarce(rows, pairs[whole])].tolist():
            rows.check()
            i, j = pairs[k].tolist()
            out[k], degrees[k] = tilted(rows, (i, j))
        return out


def _renewed(
    rows: FittedRows, parameters: Parameters, ridge: Floats, before: EdgeTests, roughly: bool
) -> tuple[VariableHessians, dict[int, EdgeProfile]] | None:
    """Return Hessians and profiles, of which those that hardly changed come from before.

    None where most changed.
    """
    layout, around = parameters.layout, before.around
    moved = moved_variables(before.rows.potentials, rows.potentials)
    if around is None or moved.mean() > MOST_MOVED:
        return None
    whole = hessian(rows, parameters, np.flatnonzero(moved), around.whole, roughly=roughly)
    near = moved.copy()
    near[layout.edges[moved[layout.edges].any(axis=1)]] = True
    renewed = VariableHessians.of(
        whole, parameters, ridge, rows, None, around.inverses, np.flatnonzero(near)
    )
    new = near[layout.edges].any(axis=1)
    profiles = renewed.profiles(np.flatnonzero(new), rows.n_threads)
    kept = np.flatnonzero(~new)
    places = find_edges(before.parameters.layout, layout.edges[kept])
    for e, place in zip(kept.tolist(), places.tolist(), strict=True):
        profiles[e] = before.profiles[place]
    return renewed, profiles


def moved_variables(before: Potentials, now: Potentials) -> NDArray[np.bool_]:
    """Return which conditionals may be others: with other neighbours, or other weights.

    Logits move by the sum of the changes of many tables, which seldom have one sign: changes count
    by the root of the sum of their squares.
    """
    old, new = before.layout, now.layout
    places = find_edges(old, new.edges)
    both = np.flatnonzero(places >= 0)
    moved = np.zeros(new.n_variables, dtype=bool)
    if (np.diff(places[both]) < 0).any():  # tables stand in another order
        return ~moved
    gone = np.ones(old.n_edges, dtype=bool)
    gone[places[both]] = False
    moved[new.edges[places < 0]] = moved[old.edges[gone]] = True
    change = now.weights[: new.n_unary] - before.weights[: old.n_unary]
    starts = new.unary_offsets[:-1]
    spread = np.maximum.reduceat(change, starts) - np.minimum.reduceat(change, starts)
    squares = spread**2
    if len(both):
        change = now.weights[new.entries(both)] - before.weights[old.entries(places[both])]
        sizes = new.cards[new.edges[both]].prod(axis=1)
        largest = np.maximum.reduceat(np.abs(change), offsets(sizes)[:-1])
        for side in (0, 1):
            np.add.at(squares, new.edges[both, side], largest**2)
    return moved | (squares > UNMOVED**2)


def _read_edges(rows: FittedRows, edges: Ints) -> list[Floats]:
    """Return the parameters of some edges, K_i' W K_j."""
    layout, weights = rows.potentials.layout, rows.potentials.weights
    bases, sides = rows.contrasts.readers, rows.contrasts.sides(layout.edges[edges])
    listed = edges.tolist(), layout.edges[edges].tolist(), sides.tolist()
    return [
        (bases[i][:, :left].T @ layout.table(weights, e) @ bases[j][:, :right]).ravel()
        for e, (i, j), (left, right) in zip(*listed, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Cut:
    """Where edges are told from others: a false discovery rate among so many tests."""

    level: float
    n_tests: int
    # how tests are read before they are judged: larger statistics stay larger
    reading: Callable[[Findings], Findings] | None = None

    def unclear(self, pairs: Ints, rises: Floats, degrees: Floats) -> Ints:
        """Return the edges that would not be discoveries alone with the largest scale.

        All others are edges whatever their scale is, so it need not be known.
        """
        statistics = rises / MOST_SCALE
        least = Findings(pairs, statistics, degrees, log_tail(statistics, degrees), rises)
        if self.reading is not None:
            least = self.reading(least)
        return np.flatnonzero(least.log_p > np.log(self.level / max(1, self.n_tests)))


def most_scale(sample: EncodedRows) -> float:
    """Return the largest scale of a test: none with sampling weights.

    An edge may rest on rows of larger weight than others, which vary more.
    """
    return MOST_SCALE if sample.squares is None else np.inf


def satterthwaite(product: Floats, most: float = MOST_SCALE) -> tuple[float, float]:
    """Return the Satterthwaite scale and the degrees of freedom of a statistic.

    It is a sum of independent chi-squares with one degree each, weighted by the eigenvalues of the
    product of precision and covariance; the scaled chi-square returned has the same mean and
    variance (Satterthwaite). Where the prior decides about rare states their weights are nearly
    zero.
    """
    first, second = float(product.trace()), float((product * product.T).sum())
    if not first > 0.0 < second:
        return 1.0, float(max(1, len(product)))
    scale = min(max(second / first, LEAST_SCALE), most)
    return scale, min(max(first * first / second, 1.0), float(len(product)))
