"""Priority grafting: the first violator of a queue that the network found so far reorders.

References
----------
Chaabene and Huang (2016), Priority grafting: prioritizing edge selection with structure mining.
"""

from __future__ import annotations

from graftwork.grafting import PriorityQueue, Recipe, Zeros
from graftwork.registry import register
from graftwork.solvers import ProximalQuasiNewton, Steps


@register("priority")
def priority(
    central: int = 4, density: float = 0.05, steps: int = 5, epsilon: float = 0.0
) -> Recipe:
    """Return priority grafting; the table of the violating feature becomes active.

    Parameters
    ----------
    central : int
        A variable with more neighbours than this is central (tau_n).
    density : float
        Edges per squared number of variables above which priorities change (tau_d).
    steps : int
        Solver steps per round; the end is solved to convergence.
    epsilon : float
        Tables without a weight of this size are dropped at the end. The paper's 1e-4 makes up for
        a solver without exact zeros; with ours nothing but zeros need go.

    Examples
    --------
    >>> priority(epsilon=1e-4).schedule.count
    5
    """
    selector = PriorityQueue(central, density)
    return Recipe(
        "priority", selector, ProximalQuasiNewton(5000), Steps(steps, 0.0), Zeros(epsilon)
    )
