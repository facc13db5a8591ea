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
    """Return priority grafting; the table of the violating feature becomes active."""
    selector = PriorityQueue(central, density, order, join)
    return Recipe(
        "priority", selector, ProximalQuasiNewton(5000), Steps(steps, 0.0), Zeros(epsilon)
    )
