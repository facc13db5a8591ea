"""Gain induction: the feature that would improve the objective most if it alone were optimised.

References
----------
Della Pietra, Della Pietra and Lafferty (1997); with the L1 term Lee, Ganapathi and Koller (2006).
"""

from __future__ import annotations

from graftwork.grafting import Exhaustive, Gain, Recipe
from graftwork.solvers import OrthantWise, ToConvergence


def gain(count: int = 1, features: bool = True) -> Recipe:
    """Return gain induction: ``count`` features of largest gain a round, among the violators."""
    selector = Exhaustive(count, Gain())
    return Recipe("gain", selector, OrthantWise(), ToConvergence(), features=features)
