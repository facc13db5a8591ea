"""First hit: activate the first violator met, the baseline without a reservoir."""

from __future__ import annotations

from graftwork.grafting import Recipe, Reservoir


def first_hit(
    structure: bool = False, hubs: str | None = None, hub_threshold: float | None = None
) -> Recipe:
    """Return first hit: a reservoir of one pair, one test a round.

    Examples
    --------
    >>> first_hit().name
    'first-hit'
    """
    selector = Reservoir(1, 1, 1.0, structure, fill=False, hubs=hubs, hub_threshold=hub_threshold)
    return Recipe("first-hit", selector)
