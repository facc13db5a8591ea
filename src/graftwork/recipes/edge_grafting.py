"""Edge grafting: exhaustive search for the worst violator (Chaabene and Huang, Algorithm 1)."""

from __future__ import annotations

from graftwork.grafting import Exhaustive, Recipe


def edge_grafting(count: int = 1) -> Recipe:
    """Return edge grafting that activates the ``count`` most violating pairs per round."""
    return Recipe("edge-grafting", Exhaustive(count))
