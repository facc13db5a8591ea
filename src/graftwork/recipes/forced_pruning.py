"""Forced pruning (Abdelatty, Sahoo and Roy): exchanges edges, whose number is given."""

from __future__ import annotations

from collections.abc import Callable

from graftwork.grafting import ChowLiu, Exchange, ExchangeRule, Exhaustive, Gain, Recipe
from graftwork.grafting.exchange_rules import Descent, Greedy, Metropolis, Rejection
from graftwork.solvers import Loose


def forced_pruning(
    exchange: int | None = None,
    delete: str = "descent",
    rounds: int = 100,
    restarts: int = 0,
    tied: int | None = None,
    proposals: int = 1_000_000,
    temperature: float = 1.0,
) -> Recipe:
    """Return forced pruning, from the Chow-Liu tree and random pairs up to ``max_edges``."""
    rules: dict[str, Callable[[], ExchangeRule]] = {
        "descent": lambda: Descent(exchange),
        "greedy": lambda: Greedy(exchange),
        "rejection": lambda: Rejection(exchange, proposals),
        "mcmc": lambda: Metropolis(exchange, temperature),
    }
    if delete not in tuple(rules):
        raise ValueError(f"delete must be one of {', '.join(rules)}; got {delete!r}")
    return Recipe(
        "forced-pruning",
        Exhaustive(None, Gain()),
        schedule=Loose(),
        start=ChowLiu(fill=True),
        sized=True,
        exchange=Exchange(rules[delete](), rounds, restarts, tied),
    )
