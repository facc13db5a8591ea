"""Grafting: the feature with the largest gradient, then to convergence.

References
----------
Perkins, Lacker and Theiler (2003), Grafting; for Markov networks Lee, Ganapathi and Koller (2006).
"""

from __future__ import annotations

from graftwork.grafting import Exhaustive, Recipe
from graftwork.solvers import OrthantWise, ToConvergence


def grafting(count: int = 1, features: bool = True) -> Recipe:
    """Return grafting that activates the ``count`` features of largest gradient a round.

    Parameters
    ----------
    count : int
        Features activated per round.
    features : bool
        Activate single table cells (where the penalty allows it); False activates the whole table
        of the worst cell, as the priority grafting paper does.

    Examples
    --------
    >>> grafting(count=10).name
    'grafting'
    """
    return Recipe("grafting", Exhaustive(count), OrthantWise(), ToConvergence(), features=features)
