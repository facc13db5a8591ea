"""Whether Markov chains have mixed: split R-hat and effective sample sizes of many statistics.

References
----------
A. Gelman, J. B. Carlin, H. S. Stern and D. B. Rubin (2004). Bayesian data analysis, section 11.6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graftwork.inference.layout import Floats
from graftwork.models import PairwiseMRF

#: Chains whose largest R-hat is above this have not mixed.
RHAT_LIMIT = 1.05

Codes = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, slots=True)
class Mixing:
    """How rows were drawn, and whether the chains they come from have mixed.

    Attributes
    ----------
    method : "exact" or "gibbs"
        Exact draws are independent and from the network itself: there is nothing to mix.
    n_rows : int
        Rows drawn, test rows included.
    n_chains, n_draws : int
        Independent chains, and what was kept of each; 0 for exact draws.
    burn_in, thin : int
        Sweeps thrown away at the start of a chain, and from one draw to the next.
    attempts : int
        How often the chains were run, each time with twice the burn-in and thinning.
    rhat : float
        Largest split R-hat of all statistics: the share of every state, the log-potential of
        every edge, and the log weight of the row. 1 for exact draws.
    worst : str
        The statistic it belongs to.
    ess : float
        Smallest effective number of draws of a statistic, of ``n_chains * n_draws``; the number of
        rows for exact draws.
    limit : float
        The largest `rhat` that passes.

    Examples
    --------
    >>> report = Mixing("gibbs", 100, 4, 50, 1000, 10, 1, 1.2, "the share of x3 = 1", 9.0)
    >>> report.ok
    False
    """

    method: Literal["exact", "gibbs"]
    n_rows: int
    n_chains: int = 0
    n_draws: int = 0
    burn_in: int = 0
    thin: int = 0
    attempts: int = 1
    rhat: float = 1.0
    worst: str = ""
    ess: float = 0.0
    limit: float = RHAT_LIMIT

    @property
    def ok(self) -> bool:
        """Whether the check passed; always for exact draws."""
        return self.rhat <= self.limit

    def to_dict(self) -> dict[str, Any]:
        """Return every field and `ok`, as plain values."""
        return {**asdict(self), "ok": self.ok}


class Diagnosis(NamedTuple):
    """The worst of all statistics of some chains."""

    rhat: float
    worst: str
    ess: float


def split_rhat(draws: ArrayLike) -> float:
    """Return the split R-hat of one statistic: near 1 where all half-chains agree.

    The root of the pooled variance over the variance within half-chains; 1 where the statistic is
    constant, infinity where it is constant in each half-chain but not over all. `draws` (chains,
    draws) needs 4 draws of each chain; of an odd number the middle one is not used.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> mixed = rng.normal(size=(8, 500))
    >>> round(split_rhat(mixed), 2), round(split_rhat(mixed + np.arange(8)[:, None]), 1)
    (1.0, 2.6)
    """
    halves = split_halves(np.asarray(draws, dtype=np.float64))
    rhat, _ = compare_halves(*_moments(halves), halves.shape[-1])
    return float(rhat)


def effective_size(draws: ArrayLike) -> float:
    """Return how many independent draws the mean of one statistic is worth, at most all.

    It compares the means of half-chains, so it needs many chains and holds for slow ones too.

    Examples
    --------
    >>> stuck = np.repeat(np.random.default_rng(0).normal(size=(50, 1)), 100, axis=1)
    >>> round(effective_size(stuck + 1e-3 * np.random.default_rng(1).normal(size=(50, 100))))
    100
    """
    halves = split_halves(np.asarray(draws, dtype=np.float64))
    _, ess = compare_halves(*_moments(halves), halves.shape[-1])
    return float(ess)


def split_halves(draws: NDArray[Any]) -> NDArray[Any]:
    """Return first halves, then last halves: (..., chains, draws) to (..., 2 chains, draws // 2).

    Examples
    --------
    >>> split_halves(np.arange(5)[None]).tolist()
    [[0, 1], [3, 4]]
    """
    half = draws.shape[-1] // 2
    if half < 2:
        raise ValueError("R-hat needs at least 4 draws of each chain")
    return np.concatenate([draws[..., :half], draws[..., -half:]], axis=-2)


def compare_halves(means: Floats, variances: Floats, n_draws: int) -> tuple[Floats, Floats]:
    """Return R-hat and effective number of draws of each statistic.

    `means` and `variances` (with ``n_draws - 1`` below) are those of half-chains, their last axis.

    Examples
    --------
    >>> compare_halves(np.array([0.0, 0.0]), np.array([1.0, 1.0]), 10)[1]
    array(20.)
    """
    within = variances.mean(axis=-1)
    between = means.var(axis=-1, ddof=1)
    # What rounding leaves of a constant is no variance.
    tiny = 1e-24 * (1.0 + (means**2).max(axis=-1))
    within, between = np.where(within > tiny, within, 0.0), np.where(between > tiny, between, 0.0)
    pooled = (n_draws - 1) / n_draws * within + between
    with np.errstate(divide="ignore", invalid="ignore"):
        rhat = np.where(pooled > 0, np.sqrt(pooled / within), 1.0)
        share = np.where(between > 0, pooled / (n_draws * between), 1.0)
    return rhat, np.asarray(means.shape[-1] * n_draws * np.minimum(share, 1.0))


def diagnose(model: PairwiseMRF, codes: Codes, n_chains: int) -> Diagnosis:
    """Return the largest R-hat and the smallest effective number of draws of some chains.

    `codes` (n_variables, n_chains * draws) are consecutive draws, chain after chain, at least 4 of
    each.
    """
    halves = split_halves(codes.reshape(len(codes), n_chains, -1))
    worst, label, least = -np.inf, "", np.inf
    for name, means, variances in _statistics(model, halves):
        rhat, ess = compare_halves(means, variances, halves.shape[-1])
        at = int(np.argmax(rhat))
        if rhat.flat[at] > worst:
            worst, label = float(rhat.flat[at]), name(at)
        least = min(least, float(ess.min()))
    return Diagnosis(worst, label, least)


def _statistics(model: PairwiseMRF, halves: Codes) -> Iterator[tuple[Any, Floats, Floats]]:
    """Yield a namer, means and variances of half-chains, for each group of statistics."""
    potentials = model.potentials
    layout, weights = potentials.layout, potentials.weights
    count, draws = halves.shape[1:]
    total = np.zeros((count, draws))
    chain = np.arange(count)[:, None]
    for i, (name, states) in enumerate(model.states.items()):
        s = len(states)
        seen = np.bincount((chain * s + halves[i]).ravel(), minlength=count * s)
        share = seen.reshape(count, s).T / draws
        total += layout.unary(weights, i)[halves[i]]
        yield (
            lambda at, name=name, states=states: f"the share of {name} = {states[at]}",
            share,
            share * (1.0 - share) * draws / (draws - 1),
        )
    for e, (a, b) in enumerate(model.edges):
        i, j = layout.edges[e]
        values = layout.table(weights, e)[halves[i], halves[j]]
        total += values
        yield (lambda at, a=a, b=b: f"the edge {a} - {b}", *_moments(values[None]))
    yield (lambda at: "the log weight of a row", *_moments(total[None]))


def _moments(values: Floats) -> tuple[Floats, Floats]:
    """Return means and variances along the last axis."""
    return values.mean(axis=-1), values.var(axis=-1, ddof=1)
