"""What an edge must gain to be worth it."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from graftwork.grafting import Problem
from graftwork.inference.layout import Floats, Ints
from graftwork.objectives import PseudoLikelihood

# The chance that one absent pair or more would pay for itself, over all pairs.
FALSE_EDGE = 0.05


def edge_prices(problem: Problem, pairs: Ints) -> Floats:
    """Return what each edge must gain, in twice the log-likelihood, to be worth it.

    The quantile of the chi-square with (s_i - 1)(s_j - 1) degrees that chance exceeds for one of
    all pairs with probability ``FALSE_EDGE``. In a pseudo-likelihood an edge sits in two
    conditionals, which stretches the chi-square by between 1 (strong dependence) and 2 (none at
    all): 2 is used, so that chance rarely pays.
    """
    cards = problem.objective.sample.cards
    degrees = np.maximum(1, (cards[pairs[:, 0]] - 1) * (cards[pairs[:, 1]] - 1))
    stretch = 2.0 if isinstance(problem.objective, PseudoLikelihood) else 1.0
    prices: Floats = stretch * chi2.isf(FALSE_EDGE / max(1, problem.space.size), degrees)
    return prices
