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

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.special import gammaln
from scipy.stats import chi2

from graftwork.inference.layout import Floats, Ints
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.tuning.hessian import Parameters, Star, hessian
from graftwork.tuning.rows import RowBlock, Rows

LEAST_STRETCH, MOST_STRETCH = 1.0, 2.0
# Rows looked at together: they fit caches.
STRIP = 512


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """Findings of some pairs.

    Attributes
    ----------
    pairs : (k, 2) int64
    statistics : (k,) float64
        Chi-square under the hypothesis that the pair is no edge.
    degrees : (k,) float64
        Degrees of freedom, which need not be whole.
    log_p : (k,) float64
        Logarithms of the p-values, which may be too small for numbers themselves.
    rises : (k,) float64
        About twice what the log pseudo-likelihood of all rows changes by the pair: the statistics
        before they were divided by their stretch.
    """

    pairs: Ints
    statistics: Floats
    degrees: Floats
    log_p: Floats
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
class _Local:
    """One edge among the parameters at its two variables."""

    edge: int
    ends: tuple[Star, Star]
    weights: Floats
    precision: Floats
    shares: tuple[Floats, Floats]


def examine_edges(rows: Rows, most_rows: int, prior: float = 1.0) -> Findings:
    """Return a test of each edge of the network.

    Parameters
    ----------
    rows : Rows
        The sample under the refitted network.
    most_rows : int
        About so many of the rows tell the stretch.
    prior : float
        Precision of the normal prior of table entries in the refit.
    """
    layout = rows.potentials.layout
    parameters = Parameters.of(layout, rows.contrasts)
    edges = layout.edges
    sizes = rows.contrasts.sizes[edges]
    degrees = (sizes[:, 0] * sizes[:, 1]).astype(np.float64)
    statistics = rises = np.zeros(len(edges))
    if len(edges):
        ridge = np.zeros(parameters.size)
        ridge[parameters.starts[layout.n_variables] :] = prior
        bend = hessian(rows, parameters) + sparse.diags_array(ridge)
        rises, statistics, degrees = _statistics(rows, parameters, bend.tocsr(), most_rows)
    return Findings(edges, statistics, degrees, log_tail(statistics, degrees), rises)


def log_tail(statistics: Floats, degrees: Floats) -> Floats:
    """Return the logarithm of the chance that a chi-square exceeds each statistic.

    Examples
    --------
    >>> log_tail(np.array([3.841, 1e5]), np.array([1, 1])).round(1).tolist()
    [-3.0, -50006.0]
    """
    with np.errstate(divide="ignore"):
        log_p: Floats = np.asarray(chi2.logsf(statistics, degrees))
    far = np.isneginf(log_p)
    if far.any():
        x, half = statistics[far] / 2.0, degrees[far] / 2.0
        log_p[far] = (half - 1.0) * np.log(x) - x - gammaln(half)  # the tail's first term
    capped: Floats = np.minimum(log_p, 0.0)
    return capped


def _statistics(
    rows: Rows, parameters: Parameters, bend: sparse.csr_array, most_rows: int
) -> tuple[Floats, Floats, Floats]:
    """Return what each edge makes the pseudo-likelihood rise by, that over its stretch, and df."""
    weights = parameters.read(rows.potentials.weights)
    stars = parameters.stars()
    edges = np.arange(parameters.layout.n_edges)
    costs = np.array([
        float(stars[i].parameters.size + stars[j].parameters.size)
        for i, j in parameters.layout.edges.tolist()
    ])  # fmt: skip
    cuts = cut_evenly(costs**2, rows.n_threads)

    def place(part: slice) -> list[_Local]:
        return [_localise(int(e), parameters, stars, bend, weights) for e in edges[part]]

    locals_ = [one for group in run_chunks(place, cuts, rows.n_threads) for one in group]
    variation = [np.zeros_like(one.precision) for one in locals_]
    places, some = rows.places, rows.some(most_rows)
    for block in some.blocks():

        def add(part: slice, block: RowBlock = block) -> None:
            for one, total in zip(locals_[part], variation[part], strict=True):
                for start in range(0, len(block.weights), STRIP):
                    strip = block.strip(slice(start, start + STRIP))
                    moved = _influence(strip, one, places)
                    total += (moved * strip.weights) @ moved.T

        run_chunks(add, cuts, rows.n_threads)
    rises, stretches, degrees = np.zeros((3, len(edges)))
    for one, total in zip(locals_, variation, strict=True):
        rises[one.edge] = one.weights @ one.precision @ one.weights
        stretches[one.edge], degrees[one.edge] = _moments(one.precision @ total / some.share)
    return rises, rises / stretches, degrees


def _moments(product: Floats) -> tuple[float, float]:
    """Return the stretch and the degrees of freedom of a statistic.

    It is a sum of independent chi-squares with one degree each, weighted by the eigenvalues of the
    product; the stretched chi-square returned has the same mean and variance (Satterthwaite). Where
    the prior decides about rare states their weights are nearly zero.
    """
    first, second = float(np.trace(product)), float(np.sum(product * product.T))
    if not first > 0.0 < second:
        return 1.0, float(max(1, len(product)))
    stretch = float(np.clip(second / first, LEAST_STRETCH, MOST_STRETCH))
    return stretch, float(np.clip(first * first / second, 1.0, len(product)))


def _localise(
    e: int, parameters: Parameters, stars: list[Star], bend: sparse.csr_array, weights: Floats
) -> _Local:
    """Return an edge's rows of the inverse Hessian of the parameters at its variables."""
    ends = stars[parameters.layout.edges[e, 0]], stars[parameters.layout.edges[e, 1]]
    near = np.union1d(ends[0].parameters, ends[1].parameters)
    own = np.arange(parameters.of_edge(e).start, parameters.of_edge(e).stop)
    target = np.zeros((len(near), len(own)))
    target[np.searchsorted(near, own), np.arange(len(own))] = 1.0
    local = bend[near][:, near].toarray()
    local[np.diag_indices_from(local)] += 1e-10 * np.trace(local) / max(1, len(local))
    solved = cho_solve(cho_factor(local, overwrite_a=True), target)
    precision = np.asarray(np.linalg.inv(target.T @ solved), dtype=np.float64)
    shares = []
    for end, star in enumerate(ends):
        share = solved[np.searchsorted(near, star.parameters)].transpose(2, 0, 1).copy()
        if end:  # the edge itself belongs to its first variable's share
            share[:, :, star.edge_of == e] = 0.0
        shares.append(share)
    return _Local(e, ends, weights[own], precision, (shares[0], shares[1]))


def _influence(block: RowBlock, one: _Local, places: Ints) -> Floats:
    """Return how each row moves the edge's estimate, shape (df, rows)."""
    moved = np.zeros((len(one.weights), len(block.weights)))
    for star, share in zip(one.ends, one.shares, strict=True):
        df, size, width = share.shape
        own = slice(places[star.centre], places[star.centre + 1])
        flat = share.reshape(df * size, width)
        ahead = flat[:, 1:] @ block.indicators[star.lines] + flat[:, :1]
        moved += (ahead.reshape(df, size, -1) * block.residuals[own]).sum(axis=1)
        back = flat[:, 1:] @ block.residuals[star.lines]
        moved += (back.reshape(df, size, -1) * block.indicators[own]).sum(axis=1)
    return moved
