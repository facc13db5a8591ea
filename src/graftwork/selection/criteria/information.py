"""The extended Bayesian information criterion, of penalised fits or of refits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graftwork.data.encoded import EncodedRows
from graftwork.grafting import Outcome
from graftwork.inference.layout import Ints, Potentials
from graftwork.objectives.contrasts import all_states
from graftwork.selection.criteria import Judge
from graftwork.selection.folds import Folder
from graftwork.selection.path import Basis, LambdaPath, PathPoint
from graftwork.solvers import Solution

# Refits that only serve a choice are solved to this.
REFIT_ACCURACY = 2e-4
# What is left of a linear table beside its linear part.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Ebic:
    """The extended Bayesian information criterion of the penalised fits (see ``ebic``)."""

    gamma: float = 0.25
    refits = False

    def __post_init__(self) -> None:
        check_gamma(self.gamma)

    def begin(self, path: LambdaPath, folder: Folder, rng: np.random.Generator) -> Judge:
        """Return the judge."""
        return _Informed(path, self.gamma, _penalised)


@dataclass(frozen=True, slots=True)
class EbicThenRefit(Ebic):
    """The same, and the edges at the lambda chosen are fitted again without the penalty."""

    refits = True


@dataclass(frozen=True, slots=True)
class EbicRefit(Ebic):
    """The same criterion of the edges at each lambda, fitted again without the penalty."""

    refits = True

    def begin(self, path: LambdaPath, folder: Folder, rng: np.random.Generator) -> Judge:
        """Return the judge."""
        return _Informed(path, self.gamma, _Refits(), of_refits=True)


def _penalised(path: LambdaPath, fit: Outcome) -> tuple[float, float]:
    """Return the loss of a fit as it is; there is no refit."""
    return fit.certificate.loss, math.nan


class _Refits:
    """The loss of refits, each of which begins with the weights of the one before.

    Lambdas with the same edges have the same refit, so that rounding does not choose among them.
    """

    def __init__(self) -> None:
        self._last: Solution | None = None

    def __call__(self, path: LambdaPath, fit: Outcome) -> tuple[float, float]:
        known, edges = self._last, fit.potentials.layout.edges
        if known is None or not np.array_equal(edges, known.point.potentials.layout.edges):
            known = path.refit(fit.certificate.lam, fit.potentials, REFIT_ACCURACY, known)
        self._last = known
        return known.point.value, known.point.value


class _Informed(Judge):
    """The information criterion of fits to all rows."""

    def __init__(
        self,
        path: LambdaPath,
        gamma: float,
        losses: Callable[[LambdaPath, Outcome], tuple[float, float]],
        of_refits: bool = False,
    ) -> None:
        super().__init__([path], Basis("ebic", gamma=gamma, of_refits=of_refits))
        self._losses = losses

    def look(self, lam: float) -> PathPoint:
        """Return the fit with its criterion."""
        [path] = self.paths
        fit = path.step(lam)
        loss, refit_loss = self._losses(path, fit)
        value = ebic(path.problem_at(lam).objective.sample, loss, fit.potentials, self.basis.gamma)
        known = fit.certificate
        return PathPoint(lam, known.n_edges, known.loss, known.objective, refit_loss, value)


def ebic(sample: EncodedRows, loss: float, potentials: Potentials, gamma: float) -> float:
    """Return 2 N loss + df log N + 4 gamma m log p, for m edges between p variables that vary.

    An edge has as many degrees of freedom as its table: (s_i - 1)(s_j - 1) for the states that
    occur, those of its linear part where a table of ordered variables has nothing more, or the
    number of entries that are not zero, where these are fewer (l1). With many states
    ``df log N`` is a high price: at a thousand rows and tables of five states half of the edges of
    a planted network are lost. The loss is the mean over rows; of the pseudo-likelihood it has
    each edge in two conditionals.

    References
    ----------
    Foygel and Drton (2010), Extended Bayesian information criteria for Gaussian graphical models.
    """
    layout = potentials.layout
    degrees = _sizes(sample, potentials)
    held = np.array([
        np.count_nonzero(layout.table(potentials.weights, e)) for e in range(layout.n_edges)
    ], dtype=np.int64)  # fmt: skip
    degrees = np.minimum(degrees, held).sum()
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


def check_gamma(gamma: float) -> None:
    """Refuse a gamma of the information criterion that means nothing."""
    if not 0 <= gamma < math.inf:
        raise ValueError(f"gamma must be a number of at least 0, got {gamma!r}")
