"""First hit: activate the first violator met, the baseline without a reservoir."""

from __future__ import annotations

from graftwork.grafting import Recipe, Reservoir
from graftwork.registry import register


@register("first-hit")
def first_hit(structure: bool = False) -> Recipe:
    """Return first hit: a reservoir of one pair, one test a round.

    Parameters
    ----------
    structure : bool
        Prefer pairs at hubs of the network found so far.

    Examples
    --------
    >>> first_hit().name
    'first-hit'
    """
    return Recipe("first-hit", Reservoir(1, 1, 1.0, structure, fill=False))
