"""Similarity baseline: pairs in the order of their mutual information (Lee et al., 2006)."""

from __future__ import annotations

from graftwork.grafting import Exhaustive, MutualInformation, Recipe
from graftwork.solvers import OrthantWise, ToConvergence


def mutual_information(count: int = 1, features: bool = True) -> Recipe:
    """Return induction by mutual information, of violators only: its certificate stays true.

    Examples
    --------
    >>> mutual_information().name
    'mutual-information'
    """
    selector = Exhaustive(count, MutualInformation())
    solver, schedule = OrthantWise(), ToConvergence()
    return Recipe("mutual-information", selector, solver, schedule, features=features)
