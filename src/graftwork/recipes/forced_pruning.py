"""Forced pruning: the best network with a given number of edges, by exchanging edges.

Abdelatty, Sahoo and Roy, Structure learning using forced pruning.
"""

from __future__ import annotations

from collections.abc import Callable

from graftwork.grafting import ChowLiu, Exchange, ExchangeRule, Exhaustive, Gain, Recipe
from graftwork.grafting.exchange_rules import Greedy, Metropolis, Rejection
from graftwork.registry import register
from graftwork.solvers import Loose


@register("forced-pruning")
def forced_pruning(
    exchange: int | None = None,
    delete: str = "greedy",
    rounds: int = 100,
    restarts: int = 0,
    proposals: int = 1_000_000,
    temperature: float = 1.0,
) -> Recipe:
    """Return forced pruning, from the Chow-Liu tree and random pairs up to ``max_edges``.

    Parameters
    ----------
    exchange : int, optional
        Edges exchanged at once; default a quarter of them.
    delete : {"greedy", "rejection", "mcmc"}
        Delete the cheapest edges and descend, draw them as the paper does, or walk by Metropolis.
    rounds, restarts : int
        Most exchanges from one start, and how often to start again.
    proposals : int
        Draws for one exchange before "rejection" gives up.
    temperature : float
        Of "mcmc".

    Examples
    --------
    >>> forced_pruning(exchange=5).exchange.rule
    Greedy(count=5)
    """
    rules: dict[str, Callable[[], ExchangeRule]] = {
        "greedy": lambda: Greedy(exchange),
        "rejection": lambda: Rejection(exchange, proposals),
        "mcmc": lambda: Metropolis(exchange, temperature),
    }
    if not isinstance(delete, str) or delete not in rules:
        raise ValueError(f"delete must be one of {', '.join(rules)}; got {delete!r}")
    return Recipe(
        "forced-pruning",
        Exhaustive(None, Gain()),
        schedule=Loose(),
        start=ChowLiu(fill=True),
        sized=True,
        exchange=Exchange(rules[delete](), rounds, restarts),
    )
