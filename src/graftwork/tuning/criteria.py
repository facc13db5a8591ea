"""What says which lambda of a path is best.

A criterion is frozen configuration. At the beginning of a path it makes a ``Judge``, which looks at
one lambda after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from graftwork.data.compact import Sample
from graftwork.errors import DataError
from graftwork.grafting import Outcome
from graftwork.inference.layout import Potentials
from graftwork.solvers import Solution
from graftwork.tuning.folds import Fold, Folder
from graftwork.tuning.path import Basis, PathEnd, PathPoint
from graftwork.tuning.splits import count_observations, deal, draw
from graftwork.tuning.stars import Instability
from graftwork.tuning.walk import Walk

# Refits that only serve a choice are solved to this.
REFIT_ACCURACY = 2e-4
# A criterion that has risen this many times in a row is not followed further: there may be several
# minima near each other.
RISES = 3
# Equal networks may differ by this, relatively.
ROUNDING = 1e-9


class Judge(Protocol):
    """Looks at one lambda after the other, from large to small."""

    @property
    def basis(self) -> Basis:
        """What they are judged by."""
        ...

    @property
    def walks(self) -> Sequence[Walk]:
        """What is fitted at each lambda."""
        ...

    def look(self, lam: float) -> PathPoint:
        """Return what becomes of the next lambda."""
        ...

    def done(self, path: Sequence[PathPoint]) -> PathEnd | None:
        """Return why smaller lambdas need not be looked at; None if they should."""
        ...

    def best(self, path: Sequence[PathPoint]) -> int:
        """Return the place of the best lambda so far."""
        ...

    def start(self, place: int) -> Potentials:
        """Return a network of all rows near the one at a lambda."""
        ...


class Criterion(Protocol):
    """How the best lambda of a path is found."""

    @property
    def refits(self) -> bool:
        """Whether the edges at the lambda chosen are fitted again without the penalty."""
        ...

    def begin(self, walk: Walk, folder: Folder, rng: np.random.Generator) -> Judge | None:
        """Return the judge of a path; None if there are too few rows to judge anything."""
        ...


@dataclass(frozen=True, slots=True)
class HoldOut:
    """The rows of one random share are predicted by networks learned from the others."""

    share: float = 0.2
    refits = False

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ValueError(f"share must lie between 0 and 1, got {self.share!r}")

    def begin(self, walk: Walk, folder: Folder, rng: np.random.Generator) -> Judge | None:
        """Return the judge."""
        weights = folder.weights
        count = count_observations(weights)
        if count < 2:
            return None
        judged = draw(weights, min(max(round(self.share * count), 1), count - 1), rng)
        basis = Basis("held-out", n_rows=count_observations(judged))
        return _Predicting(walk, [folder.fold(weights - judged, judged)], basis)


@dataclass(frozen=True, slots=True)
class KFold:
    """Each of several shares of the rows is predicted by networks learned from the others."""

    folds: int = 3
    refits = False

    def __post_init__(self) -> None:
        if self.folds != int(self.folds) or self.folds < 2:
            raise ValueError(f"folds must be a whole number of at least 2, got {self.folds!r}")

    def begin(self, walk: Walk, folder: Folder, rng: np.random.Generator) -> Judge | None:
        """Return the judge."""
        weights = folder.weights
        if count_observations(weights) < 2:
            return None
        parts = deal(weights, int(self.folds), rng)
        folds = [folder.fold(weights - part, part) for part in parts]
        return _Predicting(walk, folds, Basis("held-out", len(parts), count_observations(weights)))


class _Predicting:
    """Networks learned from some rows predict the others."""

    def __init__(self, walk: Walk, folds: list[Fold], basis: Basis) -> None:
        self._folds, self.basis = folds, basis
        self.walks = [walk.beside(fold.problem_at) for fold in folds]

    def look(self, lam: float) -> PathPoint:
        """Return the mean over the folds."""
        fits, scores = [], []
        for fold, walk in zip(self._folds, self.walks, strict=True):
            fits.append(walk.step(lam).certificate)
            scores.append(fold.score(walk.fits[-1].potentials))
        held_out = float(np.average(scores, weights=[fold.weight for fold in self._folds]))
        return PathPoint(
            lam,
            round(np.mean([fit.n_edges for fit in fits])),
            float(np.mean([fit.loss for fit in fits])),
            float(np.mean([fit.objective for fit in fits])),
            criterion=held_out,
            held_out=held_out,
        )

    def done(self, path: Sequence[PathPoint]) -> PathEnd | None:
        """Return whether it has risen often enough."""
        return "rises" if has_risen(path) else None

    def best(self, path: Sequence[PathPoint]) -> int:
        """Return where the minimum is."""
        return minimum(path)

    def start(self, place: int) -> Potentials:
        """Return the network of the first fold, for all rows."""
        return self._folds[0].lift(self.walks[0].fits[place].potentials)


@dataclass(frozen=True, slots=True)
class Ebic:
    """The extended Bayesian information criterion of the penalised fits (see ``ebic``)."""

    gamma: float = 0.25
    refits = False

    def __post_init__(self) -> None:
        check_gamma(self.gamma)

    def begin(self, walk: Walk, folder: Folder, rng: np.random.Generator) -> Judge:
        """Return the judge."""
        return _Informed(walk, self.gamma, _penalised)


@dataclass(frozen=True, slots=True)
class EbicThenRefit:
    """The same, and the edges at the lambda chosen are fitted again without the penalty."""

    gamma: float = 0.25
    refits = True

    def __post_init__(self) -> None:
        check_gamma(self.gamma)

    def begin(self, walk: Walk, folder: Folder, rng: np.random.Generator) -> Judge:
        """Return the judge."""
        return _Informed(walk, self.gamma, _penalised)


@dataclass(frozen=True, slots=True)
class EbicRefit:
    """The same criterion of the edges at each lambda, fitted again without the penalty."""

    gamma: float = 0.25
    refits = True

    def __post_init__(self) -> None:
        check_gamma(self.gamma)

    def begin(self, walk: Walk, folder: Folder, rng: np.random.Generator) -> Judge:
        """Return the judge."""
        return _Informed(walk, self.gamma, _Refits(), of_refits=True)


def _penalised(walk: Walk, fit: Outcome) -> tuple[float, float]:
    """Return the loss of a fit as it is; there is no refit."""
    return fit.certificate.loss, math.nan


class _Refits:
    """The loss of refits, each of which begins with the weights of the one before."""

    def __init__(self) -> None:
        self._last: Solution | None = None

    def __call__(self, walk: Walk, fit: Outcome) -> tuple[float, float]:
        self._last = walk.refit(fit.certificate.lam, fit.potentials, REFIT_ACCURACY, self._last)
        return self._last.point.value, self._last.point.value


class _Informed:
    """The information criterion of fits to all rows."""

    def __init__(
        self,
        walk: Walk,
        gamma: float,
        losses: Callable[[Walk, Outcome], tuple[float, float]],
        of_refits: bool = False,
    ) -> None:
        self.walks, self._losses = [walk], losses
        self.basis = Basis("ebic", gamma=gamma, of_refits=of_refits)

    def look(self, lam: float) -> PathPoint:
        """Return the fit with its criterion."""
        [walk] = self.walks
        fit = walk.step(lam)
        loss, refit_loss = self._losses(walk, fit)
        value = ebic(walk.problem_at(lam).objective.sample, loss, fit.potentials, self.basis.gamma)
        known = fit.certificate
        return PathPoint(lam, known.n_edges, known.loss, known.objective, refit_loss, value)

    def done(self, path: Sequence[PathPoint]) -> PathEnd | None:
        """Return whether it has risen often enough."""
        return "rises" if has_risen(path) else None

    def best(self, path: Sequence[PathPoint]) -> int:
        """Return where the minimum is."""
        return minimum(path)

    def start(self, place: int) -> Potentials:
        """Return the fit itself."""
        potentials: Potentials = self.walks[0].fits[place].potentials
        return potentials


@dataclass(frozen=True, slots=True)
class Stars:
    """The least regularised network whose edges are stable over subsamples of the rows.

    Parameters
    ----------
    threshold : float
        Largest instability: the mean over pairs of 2 p (1 - p), p being the share of subsamples
        in which the pair is an edge.
    subsamples : int
    size : int, optional
        Observations in each; by default 10 times the root of all, at most four fifths of them.

    References
    ----------
    Liu, Roeder and Wasserman (2010), Stability approach to regularization selection for high
    dimensional graphical models.
    """

    threshold: float = 0.1
    subsamples: int = 20
    size: int | None = None
    refits = False

    def __post_init__(self) -> None:
        if not 0 < self.threshold < 0.5:
            raise ValueError(f"threshold must lie between 0 and .5, got {self.threshold!r}")
        if self.subsamples != int(self.subsamples) or self.subsamples < 2:
            raise ValueError(
                f"subsamples must be a whole number of at least 2, got {self.subsamples!r}"
            )
        if self.size is not None and (self.size != int(self.size) or self.size < 1):
            raise ValueError(f"size must be a whole number of at least 1, got {self.size!r}")

    def begin(self, walk: Walk, folder: Folder, rng: np.random.Generator) -> Judge | None:
        """Return the judge."""
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
        return Instability(walk, folds, self.threshold, size)


def ebic(sample: Sample, loss: float, potentials: Potentials, gamma: float) -> float:
    """Return 2 N loss + df log N + 4 gamma m log p, for m edges between p variables that vary.

    An edge has as many degrees of freedom as its table: (s_i - 1)(s_j - 1) for the states that
    occur, or the number of entries that are not zero, where these are fewer (l1). With many states
    ``df log N`` is a high price: at a thousand rows and tables of five states half of the edges of
    a planted network are lost. The loss is the mean over rows; of the pseudo-likelihood it has
    each edge in two conditionals.

    References
    ----------
    Foygel and Drton (2010), Extended Bayesian information criteria for Gaussian graphical models.
    """
    layout = potentials.layout
    degrees = (layout.cards[layout.edges] - 1).prod(axis=1)
    held = np.array([
        np.count_nonzero(layout.table(potentials.weights, e)) for e in range(layout.n_edges)
    ], dtype=np.int64)  # fmt: skip
    degrees = np.minimum(degrees, held).sum()
    varying = max(1, int((sample.cards > 1).sum()))
    total = sample.total_weight
    price = 4.0 * gamma * layout.n_edges * math.log(varying)
    return float(2.0 * total * loss + degrees * math.log(max(total, 1.0)) + price)


def minimum(path: Sequence[PathPoint]) -> int:
    """Return where the criterion is smallest; of equal ones the largest lambda."""
    return int(np.argmin([point.criterion for point in path]))


def has_risen(path: Sequence[PathPoint]) -> bool:
    """Return whether the criterion has risen often enough in a row."""
    last = [point.criterion for point in path[-RISES - 1 :]]
    rises = [b - a > ROUNDING * abs(a) for a, b in pairwise(last)]
    return len(rises) == RISES and all(rises)


def check_gamma(gamma: float) -> None:
    """Refuse a gamma of the information criterion that means nothing."""
    if not 0 <= gamma < math.inf:
        raise ValueError(f"gamma must be a number of at least 0, got {gamma!r}")
