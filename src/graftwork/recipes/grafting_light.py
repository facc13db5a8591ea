"""Grafting-Light: one orthant-wise step a round instead of a full solve.

References
----------
Zhu, Lao and Xing (2010), Grafting-Light: fast, incremental feature selection and structure learning
of Markov random fields, Algorithm 1.
"""

from __future__ import annotations

from graftwork.grafting import Exhaustive, Recipe
from graftwork.solvers import Forgetful, OrthantWise, Solver, Steps


def grafting_light(
    count: int = 1, steps: int = 1, memory: bool = True, features: bool = True
) -> Recipe:
    """Return Grafting-Light."""
    solver: Solver = OrthantWise() if memory else Forgetful(OrthantWise())
    return Recipe("grafting-light", Exhaustive(count), solver, Steps(steps), features=features)
