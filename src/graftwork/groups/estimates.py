"""The edges of the union fitted to one group, with the precision of what is found.

With w an edge's parameters and H the Hessian of the pseudo-likelihood with its prior, the inverse
of ``[(H^-1)_ee]^-1`` is the covariance of w if the conditionals were independent of each other;
``H^-1 V H^-1``, with V the variation of the slopes over the rows, is its robust (sandwich)
covariance. Tables of ordered variables are linear, one number for each pair, unless they are curved
in some network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from graftwork.data import Table
from graftwork.data.encoded import EncodedRows, prepare
from graftwork.estimators.imputing import COPIES, DRAWS, completed, lost_in
from graftwork.estimators.missing import read_rows
from graftwork.estimators.spec import FitSpec
from graftwork.estimators.starts import carry_over
from graftwork.grafting import Problem
from graftwork.grafting.starts import with_pairs
from graftwork.groups.shared_states import Curved, SharedStates
from graftwork.inference.incomplete import impute
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.inference.pairs import find_edges
from graftwork.kernels.threads import one_blas_thread
from graftwork.models import PairwiseMRF
from graftwork.objectives import PseudoLikelihood
from graftwork.objectives.contrasts import Contrasts, all_states
from graftwork.objectives.fitted_rows import FittedRows
from graftwork.objectives.hessian import Parameters
from graftwork.objectives.protocol import independent_potentials
from graftwork.penalties import GroupL1
from graftwork.selection.refits import bent, carry, refit, unshrunk
from graftwork.significance.edge_tests import EdgeTests, most_scale
from graftwork.significance.lost import NOTHING_LOST, Lost
from graftwork.significance.pooling import MOST_GROUPS
from graftwork.significance.profiles import variations
from graftwork.solvers import Solution
from graftwork.solvers.newton import Curvature, newton

#: Refits are solved to this; where Newton steps cannot be had, to the second.
ACCURACY, LEAST_ACCURACY = 1e-8, 1e-5
#: Proximal steps before those of Newton take over, and at most where those do not get there.
FIRST_EVALUATIONS, MOST_EVALUATIONS = 30, 300
#: Robust covariances are estimated from about this many rows.
MOST_ROWS = 20_000
#: With a share h of as many parameters as rows, covariances are too small by (1 - h) to this power:
#: 2 as in jackknife (HC3) covariances, one more because estimates are too large by as much.
POWER, MOST_SHARE = 3, 0.5


@dataclass(frozen=True, slots=True, eq=False)
class GroupFit:
    """The edges of the union, fitted to the rows of one group."""

    table: Table  # names and states
    sample: EncodedRows  # the rows
    problem: Problem  # the pseudo-likelihood with the refits' prior
    solution: Solution
    curved: Curved  # of pairs of ordered variables, only these have whole tables
    lost: Lost = NOTHING_LOST  # what missing cells take from the precision

    @property
    def potentials(self) -> Potentials:
        """The fitted weights."""
        found: Potentials = self.solution.point.potentials
        return found

    @property
    def scores(self) -> list[Floats | None]:
        """The scores of the declared states of each variable; None for one without an order.

        NaN for a state that has none, and does not occur: one for missing cells.
        """
        known = {} if self.table.ordered is None else self.table.ordered.scores
        columns = self.table.names, self.table.states, self.sample.declared.tolist()
        return [
            np.array([known[name].get(state, np.nan) for state in states[:declared]])
            if name in known
            else None
            for name, states, declared in zip(*columns, strict=True)
        ]


def shared_between(fits: Sequence[GroupFit]) -> SharedStates:
    """Return what can be compared between the fits of some groups."""
    first = fits[0]
    order = first.table.ordered
    degree = 1 if order is None else order.degree
    return SharedStates.of([fit.sample for fit in fits], first.scores, degree, first.curved)


def fit_edges(
    spec: FitSpec,
    rows: Table,
    pairs: Ints,
    near: PairwiseMRF,
    rng: np.random.Generator,
    accuracy: float = ACCURACY,
    curved: Curved = frozenset(),
) -> GroupFit:
    """Return given edges fitted to some rows, without the sparsity penalty.

    Edges at variables that do not vary in these rows are left out. Missing cells that are to be
    drawn are drawn from this network, in turns with its weights, and several times for the last.
    """
    table, _ = read_rows(spec, rows, None)
    assert isinstance(table, Table)
    draws = spec.missing in ("available-case", "impute")
    sample = prepare(table, missing=draws, n_jobs=spec.n_jobs)
    start = _start(carry_over(near, table, sample), sample, pairs)
    if sample.complete:
        return _fitted(spec, table, sample, start, accuracy, curved)

    def fitted(cells: EncodedRows, accuracy: float) -> tuple[EncodedRows, GroupFit]:
        drawn = cells.with_drawn(impute(start, cells.counts.codes, rng))
        names, own = table, drawn
        if spec.missing == "impute":
            names = completed(table, drawn)
            own = prepare(names, n_jobs=spec.n_jobs)
        return drawn, _fitted(spec, names, own, start, accuracy, curved)

    for _ in range(DRAWS):
        start = fitted(sample, LEAST_ACCURACY)[1].potentials
    drawn, fit = fitted(sample.in_copies(COPIES), accuracy)
    lost = lost_in(spec, drawn, start, all_states(drawn, curved), COPIES, rng)
    return replace(fit, lost=lost)


def _start(near: Potentials, sample: EncodedRows, pairs: Ints) -> Potentials:
    """Return the network of these pairs, with the weights that another has for them."""
    varying = pairs[(sample.cards[pairs] > 1).all(axis=1)]
    return carry(near, with_pairs(independent_potentials(sample), varying))


def _fitted(
    spec: FitSpec,
    table: Table,
    sample: EncodedRows,
    start: Potentials,
    accuracy: float,
    curved: Curved,
) -> GroupFit:
    problem = bent(Problem(PseudoLikelihood(sample, spec.n_jobs), GroupL1(0.0)), curved)
    smooth = unshrunk(problem)
    with one_blas_thread():
        found = refit(problem, start, accuracy, max_evaluations=FIRST_EVALUATIONS)
        found = newton(smooth.on(start.layout), found, accuracy)
        if found.residual > max(accuracy, LEAST_ACCURACY):
            again = found.point.potentials
            found = refit(problem, again, LEAST_ACCURACY, max_evaluations=MOST_EVALUATIONS)
    return GroupFit(table, sample, smooth, found, curved)


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """What one group says of some pairs, in differences between states that all groups have."""

    values: list[Floats]  # the parameters of each pair
    spreads: list[Floats]  # their covariance, as the curvature has it
    robust: list[Floats]  # their robust covariance; as ``spreads`` where it was not asked for
    added: Floats  # (pairs,): what missing cells have added to the covariances, as a share
    most: float  # the largest scale of a test (see `edge_tests.most_scale`)

    @staticmethod
    def of(fit: GroupFit, pairs: Ints, shared: SharedStates, *, robust: bool = True) -> Estimates:
        """Return the estimates of pairs that are edges of a fit."""
        contrasts = _contrasts(fit, shared)
        rows = FittedRows.of(fit.solution.point, contrasts)
        edges = find_edges(fit.potentials.layout, pairs)
        with one_blas_thread():
            tests = EdgeTests.of(rows)
            inverses = {e: np.linalg.inv(each.precision) for e, each in tests.profiles.items()}
            slopes: dict[int, Floats] = {}
            if robust and len(edges):
                found = variations(rows, tests.parameters, tests.profiles, tests.edges, MOST_ROWS)
                slopes = dict(zip(tests.edges.tolist(), found, strict=True))
        spreads, robusts = [], []
        factors, added = small_sample_factors(fit), 1.0 / fit.lost.of_pairs(pairs) - 1.0
        for e, pair, more in zip(edges.tolist(), pairs.tolist(), added.tolist(), strict=True):
            read = reading(contrasts, fit.sample, shared, pair)
            half, factor = read @ inverses[e], (1.0 + more) * float(factors[pair].max())
            spreads.append(factor * (half @ read.T))
            robusts.append(factor * (half @ slopes[e] @ half.T) if e in slopes else spreads[-1])
        values = read_values(fit, pairs, shared)
        return Estimates(values, spreads, robusts, added, most_scale(fit.sample))


def small_sample_factors(fit: GroupFit) -> Floats:
    """Return by how much covariances at each variable are too small for few rows, shape (n,)."""
    layout, sample = fit.potentials.layout, fit.sample
    parameters = np.ones(layout.n_variables)
    sides = all_states(sample, fit.curved).sides(layout.edges)
    for side in (0, 1):
        np.add.at(parameters, layout.edges[:, side], sides[:, 1 - side])
    shares = np.minimum(parameters / sample.observed_weight, MOST_SHARE)
    return np.asarray((1.0 - shares) ** -POWER)


def reading(
    contrasts: Contrasts, sample: EncodedRows, shared: SharedStates, pair: list[int]
) -> Floats:
    """Return the matrix that makes a pair's shared parameters of those of its group's fit."""
    counts = contrasts.sides(np.array([pair]))[0].tolist()
    columns = [contrasts.bases[i][:, :count] for i, count in zip(pair, counts, strict=True)]
    sides = [
        side.contrasts[:, sample.kept[i]] @ some
        for i, side, some in zip(pair, shared.sides(*pair), columns, strict=True)
    ]
    return np.asarray(np.kron(*sides), dtype=np.float64)


def read_values(fit: GroupFit, pairs: Ints, shared: SharedStates) -> list[Floats]:
    """Return the parameters of pairs that are edges of a fit, in shared differences."""
    layout, weights = fit.potentials.layout, fit.potentials.weights
    contrasts, out = _contrasts(fit, shared), []
    sides = contrasts.sides(pairs).tolist()
    columns = find_edges(layout, pairs).tolist(), pairs.tolist(), sides
    for e, pair, (left, right) in zip(*columns, strict=True):
        first, second = contrasts.bases[pair[0]][:, :left], contrasts.bases[pair[1]][:, :right]
        own = (first.T @ layout.table(weights, e) @ second).ravel()
        out.append(reading(contrasts, fit.sample, shared, pair) @ own)
    return out


def _contrasts(fit: GroupFit, shared: SharedStates) -> Contrasts:
    """Return the contrasts of all states; of very many only those that are compared."""
    groups = []
    for i, kept in enumerate(fit.sample.kept):
        states = np.arange(len(kept))
        if len(kept) > MOST_GROUPS and shared.members[i]:
            states = np.full(len(kept), len(shared.members[i]))
            for number, members in enumerate(shared.members[i]):
                states[np.isin(kept, members)] = number
        groups.append(np.unique(states, return_inverse=True)[1])
    return Contrasts.of(tuple(groups), fit.sample.scores, fit.curved)


def spread_of_sum(
    fit: GroupFit, pairs: Ints, shared: SharedStates, directions: list[Floats]
) -> float:
    """Return the robust variance of a sum over pairs of products of directions and parameters.

    Estimates of different edges depend on each other, so that variances cannot be added: each row's
    influence on the sum is.
    """
    if not len(pairs):
        return 0.0
    contrasts = _contrasts(fit, shared)
    rows = FittedRows.of(fit.solution.point, contrasts)
    with one_blas_thread():
        smooth = fit.problem.on(fit.potentials.layout)
        curvature = Curvature.of(smooth, fit.solution, _parameters(fit, contrasts))
        parameters = curvature.parameters
        wanted = np.zeros(parameters.size)
        edges = find_edges(fit.potentials.layout, pairs).tolist()
        for e, pair, direction in zip(edges, pairs.tolist(), directions, strict=True):
            own = reading(contrasts, fit.sample, shared, pair)
            wanted[parameters.of_edge(e)] += own.T @ direction
        follow = _divided(curvature, wanted) / fit.sample.total_weight
        some = rows.some(MOST_ROWS)
        total = 0.0
        for block in some.blocks():
            influences = _influences(some, parameters, follow, block.indicators, block.residuals)
            total += float(block.spreads @ influences**2)
    return float(small_sample_factors(fit).mean()) * total / some.share


def _divided(curvature: Curvature, wanted: Floats) -> Floats:
    """Return a vector divided by the curvature of the mean loss with its prior."""
    times, size = curvature.hessian.multiplier(), len(wanted)

    def multiply(vector: Floats) -> Floats:
        return times(vector) + curvature.ridge * vector

    whole = LinearOperator((size, size), matvec=multiply, dtype=np.float64)
    nearly = LinearOperator((size, size), curvature.inverses.multiplier(), dtype=np.float64)
    found, _ = cg(whole, wanted, rtol=1e-6, atol=0.0, M=nearly, maxiter=500)
    return np.asarray(found, dtype=np.float64)


def norms_of(values: list[Floats]) -> Floats:
    """Return the norms of some vectors."""
    return np.array([float(np.linalg.norm(w)) for w in values])


def _parameters(fit: GroupFit, contrasts: Contrasts) -> Parameters:
    return Parameters.of(fit.potentials.layout, contrasts)


def _influences(
    rows: FittedRows, parameters: Parameters, follow: Floats, seen: Floats, residuals: Floats
) -> Floats:
    """Return the slope of each row's log pseudo-likelihood along a direction, shape (rows,)."""
    places, layout = rows.places, parameters.layout
    sides = parameters.contrasts.sides(layout.edges).tolist()
    total = follow[: parameters.starts[layout.n_variables]] @ residuals
    for e, (i, j) in enumerate(layout.edges.tolist()):
        table = follow[parameters.of_edge(e)].reshape(sides[e])
        (left, right), start, other = sides[e], places[i], places[j]
        first, second = slice(start, start + left), slice(other, other + right)
        total += np.einsum("ab,ar,br->r", table, residuals[first], seen[second], optimize=True)
        total += np.einsum("ab,ar,br->r", table, seen[first], residuals[second], optimize=True)
    return np.asarray(total, dtype=np.float64)
