"""Grafting: the feature with the largest gradient, then to convergence.

References
----------
Perkins, Lacker and Theiler (2003), Grafting; for Markov networks Lee, Ganapathi and Koller (2006).
"""

from __future__ import annotations

from graftwork.grafting import Exhaustive, Recipe
from graftwork.solvers import OrthantWise, ToConvergence


def grafting(count: int = 1, features: bool = True) -> Recipe:
    """Return grafting that activates the ``count`` features of largest gradient a round."""
    return Recipe("grafting", Exhaustive(count), OrthantWise(), ToConvergence(), features=features)
