"""Priority grafting: the first violator of a queue that the network found so far reorders.

References
----------
Chaabene and Huang (2016), Priority grafting: prioritizing edge selection with structure mining.
"""

from __future__ import annotations

from graftwork.grafting import PriorityQueue, Recipe, Zeros
from graftwork.grafting.priority import Order
from graftwork.solvers import ProximalQuasiNewton, Steps


def priority(
    central: int = 4,
    density: float = 0.05,
    steps: int = 5,
    epsilon: float = 0.0,
    order: Order = "top",
    join: bool = False,
) -> Recipe:
    """Return priority grafting; the table of the violating feature becomes active.

    Parameters
    ----------
    central : int
        A variable with more neighbours than this is central (tau_n).
    density : float
        Edges per squared number of variables above which priorities change (tau_d); 1 is never.
    steps : int
        Solver steps per round; the end is solved to convergence.
    epsilon : float
        Tables without a weight of this size are dropped at the end. The paper's 1e-4 makes up for
        a solver without exact zeros; with ours nothing but zeros need go.
    order : {"top", "turns"}
        "top", as published: every round looks from the top of the queue. "turns": tested pairs wait
        until all others were tested, which takes several times fewer tests.
    join : bool
        Activate a pair of central variables at once where it violates, and look at each such pair
        once; not in the paper.

    Examples
    --------
    >>> priority(epsilon=1e-4).schedule.count
    5
    """
    selector = PriorityQueue(central, density, order, join)
    return Recipe(
        "priority", selector, ProximalQuasiNewton(5000), Steps(steps, 0.0), Zeros(epsilon)
    )
