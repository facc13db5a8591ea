"""What says which lambda of a path is best.

A criterion is frozen configuration. Its ``begin`` says which parts of the rows a path follows, and
gives the generator that turns lambdas into points of the path, each with the criterion's value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator

from graftwork.data.encoded import EncodedRows
from graftwork.errors import DataError
from graftwork.grafting import Outcome, PairFactors, PairSpace, Problem
from graftwork.grafting.networks import strengths
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.objectives.contrasts import all_states
from graftwork.parameters import number
from graftwork.registry import CRITERIA as CRITERIA
from graftwork.selection.folds import Fold, Folder, count_observations, deal, draw
from graftwork.selection.levels import find_levels
from graftwork.selection.path import (
    Basis,
    LambdaPath,
    PathEnd,
    PathEndedError,
    PathPoint,
    path_values,
)
from graftwork.solvers import Solution

# Rises in a row after which a criterion is not followed further: there may be several minima near
# each other.
RISES = 3
# Equal networks may differ by this, relatively; so may what is left of a table that is linear.
ROUNDING = 1e-9
# Refits that only serve a choice, and those whose strengths weigh, are solved to this.
REFIT_ACCURACY, WEIGHING_ACCURACY = 2e-4, 1e-3

#: What makes a problem, as a function of lambda.
ProblemAt = Callable[[float], Problem]


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """What judges the lambdas of one path."""

    basis: Basis  # in numbers, for texts; its threshold, if any, decides what is best
    # Yields a point for each lambda, from the paths of the folds, or of all rows. It reads one
    # lambda at a time: the next may depend on the points so far.
    points: Callable[[Sequence[LambdaPath], Iterable[float]], Iterator[PathPoint]]
    folds: Sequence[Fold] = ()  # parts of the rows, each with a path; none: one path of all rows


class Criterion(Protocol):
    """How the best lambda of a path is found."""

    @property
    def refits(self) -> bool:
        """Whether the edges at the lambda chosen are fitted again without the penalty."""
        ...

    def begin(self, problem_at: ProblemAt, folder: Folder, rng: Generator) -> Judge | None:
        """Return what judges a path of this problem; None if there are too few rows to judge."""
        ...


def best(path: Sequence[PathPoint], threshold: float = 0.0) -> int:
    """Return where the criterion is smallest (of equal ones the largest lambda).

    With a threshold: the last place where it is not exceeded, or the first of all.
    """
    values = [point.criterion for point in path]
    if not threshold:
        return int(np.argmin(values))
    return max((k for k, value in enumerate(values) if value <= threshold), default=0)


def spoken(path: Sequence[PathPoint], threshold: float = 0.0) -> PathEnd | None:
    """Return why smaller lambdas need not be looked at; None if they should."""
    if threshold:
        return "unstable" if path[-1].criterion > threshold else None
    last = [point.criterion for point in path[-RISES - 1 :]]
    rises = [b - a > ROUNDING * abs(a) for a, b in pairwise(last)]
    return "rises" if len(rises) == RISES and all(rises) else None


def _point(
    lam: float,
    fits: Sequence[Outcome],
    criterion: float,
    refit_loss: float = math.nan,
    held_out: float = math.nan,
) -> PathPoint:
    """Return the mean of the parts' fits, with what was judged."""
    known = [fit.certificate for fit in fits]
    return PathPoint(
        lam,
        round(np.mean([fit.n_edges for fit in known])),
        float(np.mean([fit.loss for fit in known])),
        float(np.mean([fit.objective for fit in known])),
        refit_loss,
        criterion,
        held_out,
    )


# Rows that were not learned from are predicted.


@dataclass(frozen=True, slots=True)
class HoldOut:
    """The rows of one random share are predicted by networks learned from the others."""

    share: float = 0.2
    refits = False

    def __post_init__(self) -> None:
        number("share", self.share, 0.0, above=True, below=1.0)

    def begin(self, problem_at: ProblemAt, folder: Folder, rng: Generator) -> Judge | None:
        """Return the judge of one fold."""
        count = count_observations(folder.weights)
        if count < 2:
            return None
        size = min(max(round(self.share * count), 1), count - 1)
        return _held_out(folder, [draw(folder.weights, size, rng)])


@dataclass(frozen=True, slots=True)
class KFold:
    """Each of several shares of the rows is predicted by networks learned from the others."""

    folds: int = 3
    refits = False

    def __post_init__(self) -> None:
        number("folds", self.folds, 2, whole=True)

    def begin(self, problem_at: ProblemAt, folder: Folder, rng: Generator) -> Judge | None:
        """Return the judge of all folds."""
        if count_observations(folder.weights) < 2:
            return None
        return _held_out(folder, deal(folder.weights, int(self.folds), rng))


def _held_out(folder: Folder, parts: Sequence[Floats]) -> Judge:
    """Return the judge by parts (rows,) that are predicted by what is learned from the others."""
    folds = [folder.fold(folder.weights - part, part) for part in parts]

    def points(paths: Sequence[LambdaPath], lams: Iterable[float]) -> Iterator[PathPoint]:
        for lam in lams:
            fits = [path.step(lam) for path in paths]
            value = _mean(folds, _losses(folds, [fit.potentials for fit in fits]))
            yield _point(lam, fits, value, held_out=value)

    n_rows = count_observations(np.sum(parts, axis=0))
    return Judge(Basis("held-out", len(parts), n_rows), points, folds)


def compare(
    judge: Judge, networks: Sequence[Potentials], others: Sequence[Potentials]
) -> tuple[float, float]:
    """Return how badly networks of the folds predict the rows held out, and by how much worse.

    The second number is their loss above that of other networks, over its standard error.
    """
    folds, losses = judge.folds, _losses(judge.folds, networks)
    excess = losses - _losses(folds, others)
    mean = _mean(folds, excess)
    spread = math.sqrt(_mean(folds, (excess - mean) ** 2) / max(1, judge.basis.n_rows))
    return _mean(folds, losses), mean / spread if spread > 0.0 else 0.0


def _losses(folds: Sequence[Fold], networks: Sequence[Potentials]) -> Floats:
    """Return how badly each fold's network predicts each of its rows, fold after fold."""
    parts = zip(folds, networks, strict=True)
    return np.concatenate([fold.losses(potentials) for fold, potentials in parts])


def _mean(folds: Sequence[Fold], losses: Floats) -> float:
    """Return the mean over all rows."""
    return float(np.average(losses, weights=np.concatenate([fold.weights for fold in folds])))


# The extended Bayesian information criterion, of penalised fits or of refits.


@dataclass(frozen=True, slots=True)
class Ebic:
    """The extended Bayesian information criterion of fits to all rows (see ``ebic_value``)."""

    gamma: float = 0.25
    refits: bool = False
    of_refits: bool = False  # the edges at each lambda are fitted again without the penalty
    adaptive: bool = False  # the path is that of penalties with ``adaptive_factors``

    def __post_init__(self) -> None:
        number("gamma", self.gamma, 0.0)

    def begin(self, problem_at: ProblemAt, folder: Folder, rng: Generator) -> Judge:
        """Return the judge of all rows."""
        return Judge(Basis("ebic", gamma=self.gamma, of_refits=self.of_refits), self._points)

    def _points(self, paths: Sequence[LambdaPath], lams: Iterable[float]) -> Iterator[PathPoint]:
        [path] = paths
        last: Solution | None = None
        for lam in lams:
            fit = path.step(lam)
            loss, refit_loss = fit.certificate.loss, math.nan
            if self.of_refits:
                last = _refit(path, fit, last)
                loss = refit_loss = last.point.value
            sample = path.problem_at(lam).objective.sample
            value = ebic_value(sample, loss, fit.potentials, self.gamma)
            yield _point(lam, [fit], value, refit_loss)


def ebic(gamma: float = 0.25) -> Ebic:
    """Return the criterion of the penalised fits."""
    return Ebic(gamma)


def ebic_then_refit(gamma: float = 0.25) -> Ebic:
    """Return the same, after which the edges at the lambda chosen are fitted again."""
    return Ebic(gamma, refits=True)


def ebic_refit(gamma: float = 0.25) -> Ebic:
    """Return the criterion of the edges at each lambda, fitted again without the penalty."""
    return Ebic(gamma, refits=True, of_refits=True)


def adaptive(gamma: float = 0.25) -> Ebic:
    """Return the same of the adaptive group lasso: strong edges are penalised less."""
    return Ebic(gamma, refits=True, of_refits=True, adaptive=True)


def _refit(path: LambdaPath, fit: Outcome, last: Solution | None) -> Solution:
    """Return the refit of a fit's edges, which begins with the weights of the one before.

    Lambdas with the same edges have the same refit, so that rounding does not choose among them.
    """
    edges = fit.potentials.layout.edges
    if last is not None and np.array_equal(edges, last.point.potentials.layout.edges):
        return last
    return path.refit(fit.certificate.lam, fit.potentials, REFIT_ACCURACY, last)


def ebic_value(sample: EncodedRows, loss: float, potentials: Potentials, gamma: float) -> float:
    """Return 2 N loss + df log N + 4 gamma m log p, for m edges between p variables that vary.

    An edge has as many degrees of freedom as its table: (s_i - 1)(s_j - 1) for the states that
    occur, those of its linear part where a table of ordered variables has nothing more, or the
    number of entries that are not zero, where these are fewer (l1). With many states
    ``df log N`` is a high price: at a thousand rows and tables of five states half of the edges of
    a planted network are lost. The loss is the mean over rows; of the pseudo-likelihood it has
    each edge in two conditionals (Foygel and Drton 2010, Extended Bayesian information criteria
    for Gaussian graphical models).
    """
    layout = potentials.layout
    tables = (layout.table(potentials.weights, e) for e in range(layout.n_edges))
    held = np.array([np.count_nonzero(table) for table in tables], dtype=np.int64)
    degrees = np.minimum(_sizes(sample, potentials), held).sum()
    varying = max(1, int((sample.cards > 1).sum()))
    total = sample.total_weight
    price = 4.0 * gamma * layout.n_edges * math.log(varying)
    return float(2.0 * total * loss + degrees * math.log(max(total, 1.0)) + price)


def _sizes(sample: EncodedRows, potentials: Potentials) -> Ints:
    """Return how many numbers the tables of edges have, or their linear parts where that is all."""
    layout = potentials.layout
    whole: Ints = (layout.cards[layout.edges] - 1).prod(axis=1)
    if sample.scores is None:
        return whole
    contrasts = all_states(sample)
    for e, (i, j) in enumerate(layout.edges.tolist()):
        table = contrasts.bases[i].T @ layout.table(potentials.weights, e) @ contrasts.bases[j]
        left, right = contrasts.linear[[i, j]]
        rest = np.abs(table)
        rest[:left, :right] = 0.0
        if rest.max(initial=0.0) <= ROUNDING * np.abs(table).max(initial=0.0):
            whole[e] = left * right
    return whole


def adaptive_factors(problem_at: ProblemAt, options: dict[str, Any]) -> PairFactors | Outcome:
    """Return factors of the penalty: the mean strength of edges of a first fit over each one's own.

    The first fit is the one at the noise level; pairs that are no edges there are out. If it is cut
    short (Ctrl-C, a budget), return what there is by then (Wang and Leng 2008, A note on adaptive
    group lasso; Zou 2006, The adaptive lasso and its oracle properties).
    """
    used = {name: options[name] for name in ("budget", "rng", "observer")}
    path = LambdaPath(problem_at, **used)
    try:
        for lam in path_values(find_levels(problem_at(1.0))):
            path.observer.on_stage(f"first fit, lambda {lam:.4g}", 0, 1)
            start = path.step(lam).potentials
        fitted: Potentials = path.refit(lam, start, WEIGHING_ACCURACY).point.potentials
    except PathEndedError:
        return path.conclude(path.fits[-1], options["tolerance"])
    norms = np.sqrt(strengths(fitted))
    factors = norms.mean() / np.maximum(norms, 1e-9 * norms.max()) if len(norms) else norms
    return PairFactors.of(fitted.layout.n_variables, fitted.layout.edges, factors, np.inf)


# How much the edges at a lambda depend on which rows there happen to be.


@dataclass(frozen=True, slots=True)
class Stars:
    """StARS: the least regularised network whose edges are stable over subsamples of the rows.

    Liu, Roeder and Wasserman (2010), Stability approach to regularization selection for high
    dimensional graphical models.
    """

    threshold: float = 0.1
    subsamples: int = 20
    size: int | None = None
    refits = False

    def __post_init__(self) -> None:
        number("threshold", self.threshold, 0.0, above=True, below=0.5)
        number("subsamples", self.subsamples, 2, whole=True)
        if self.size is not None:
            number("size", self.size, 1, whole=True)

    def begin(self, problem_at: ProblemAt, folder: Folder, rng: Generator) -> Judge | None:
        """Return the judge of the subsamples."""
        weights = folder.weights
        count = count_observations(weights)
        if count < 2:
            return None
        size = self.size or max(1, min(int(10 * math.sqrt(count)), int(0.8 * count)))
        if size >= count:
            raise DataError(
                f"subsamples of {size:,} rows cannot be drawn from {count:,}; give a smaller size."
            )
        folds = [folder.fold(draw(weights, size, rng)) for _ in range(int(self.subsamples))]
        basis = Basis("stars", len(folds), size, threshold=self.threshold)
        return Judge(basis, partial(_instabilities, problem_at(1.0).space), folds)


def _instabilities(
    space: PairSpace, paths: Sequence[LambdaPath], lams: Iterable[float]
) -> Iterator[PathPoint]:
    """Yield points with the largest instability from the first lambda to theirs."""
    worst = 0.0
    for lam in lams:
        fits = [path.step(lam) for path in paths]
        keys = np.concatenate([space.keys(fit.potentials.layout.edges) for fit in fits])
        worst = max(worst, instability(keys, len(fits), space.size))
        yield _point(lam, fits, worst)


def instability(keys: np.ndarray, n_networks: int, n_pairs: int) -> float:
    """Return the mean over all pairs of 2 p (1 - p), p being the share of networks with the pair.

    Shapes: keys (edges,) int64.
    """
    if not n_pairs:
        return 0.0
    _, counts = np.unique(keys, return_counts=True)
    shares = counts / n_networks
    return float((2.0 * shares * (1.0 - shares)).sum() / n_pairs)
