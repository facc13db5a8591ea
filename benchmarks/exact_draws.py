"""Draws from small random networks against the enumerated probabilities of joint states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from exact_networks import Model, enumerated
from scipy.stats import binom

from graftwork.inference.sampling import gibbs_sample

DRAWS = 500
BURN_IN = 200  # sweeps from random states, where potentials are of size 1 at most


@dataclass
class Fit:
    """How well the draws of many networks agree with enumeration.

    Attributes
    ----------
    networks, tests : int
        Networks and their joint states.
    impossible : int
        Draws of probability 0.
    smallest : float
        The smallest two-sided binomial p-value of how often a joint state was drawn.
    excess, variance : float
        Pearson's chi-square statistics less their expectations, summed, and the variance of that.
    """

    networks: int = 0
    tests: int = 0
    impossible: int = 0
    smallest: float = 1.0
    excess: float = 0.0
    variance: float = 0.0

    @property
    def p_value(self) -> float:
        """The smallest p-value of a joint state, with Bonferroni's correction."""
        return min(1.0, self.smallest * self.tests)

    @property
    def z(self) -> float:
        """The sum of chi-square statistics, standardised."""
        return self.excess / max(self.variance, 1e-300) ** 0.5

    def add(self, counts: np.ndarray, shares: np.ndarray) -> None:
        """Take in how often each joint state was drawn, and its probability."""
        n = int(counts.sum())
        shares = np.minimum(shares, 1.0)
        tails = np.minimum(binom.cdf(counts, n, shares), binom.sf(counts - 1, n, shares))
        self.networks += 1
        self.tests += len(counts)
        self.impossible += int(counts[shares == 0].sum())
        self.smallest = min(self.smallest, 2 * float(tails.min()))
        seen, p = _pooled(counts, shares, 5 / n)
        k = len(p)
        if k > 1:
            self.excess += float(((seen - n * p) ** 2 / (n * p)).sum()) - (k - 1)
            self.variance += 2 * (k - 1) + (float((1 / p).sum()) - k * k - 2 * k + 2) / n


def _pooled(counts: np.ndarray, shares: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Return counts and probabilities with the rarest states taken together, `least` or more."""
    order = np.argsort(shares)
    c, p = counts[order].astype(float), shares[order]
    first = int(np.count_nonzero(p < least))
    first += bool(p[:first].sum() < least)  # the rare ones need one more
    c = np.concatenate([[c[:first].sum()], c[first:]])
    p = np.concatenate([[p[:first].sum()], p[first:]])
    return c, p


def draw(model: Model, rng: np.random.Generator, fits: dict[str, Fit]) -> None:
    """Draw from a network by each sampler, and add how well that fits."""
    shares, _ = enumerated(model)
    exact = model.network.sample(DRAWS, random_state=rng, method="exact").codes
    potentials, one = model.network.potentials, {"n": DRAWS, "rng": rng, "n_chains": DRAWS}
    drawn = {
        "exact": exact,
        "Gibbs, one sweep from exact draws": gibbs_sample(
            potentials, **one, burn_in=0, thin=1, start=exact.T.astype(np.int64)
        ),
    }
    if model.scale <= 1 and not model.barred:
        drawn[f"Gibbs, {BURN_IN} sweeps from random states"] = gibbs_sample(
            potentials, **one, burn_in=BURN_IN
        )
    for name, codes in drawn.items():
        numbers = np.ravel_multi_index(tuple(codes.astype(np.int64)), tuple(model.cards))
        counts = np.bincount(numbers, minlength=len(shares))
        fits.setdefault(name, Fit()).add(counts, shares)
