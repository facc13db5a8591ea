"""Gauss-Seidel: a few features at a time, the others held fixed.

References
----------
Shevade and Keerthi (2003); a baseline of Zhu, Lao and Xing (2010).
"""

from __future__ import annotations

from graftwork.grafting import Exhaustive, Recipe
from graftwork.solvers import GaussSeidel, ToConvergence


def gauss_seidel(count: int = 1, features: bool = True) -> Recipe:
    """Return Gauss-Seidel that activates and optimises ``count`` features at a time."""
    solver = GaussSeidel(count)
    return Recipe("gauss-seidel", Exhaustive(count), solver, ToConvergence(), features=features)
