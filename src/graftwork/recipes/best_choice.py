"""Best-choice edge grafting (Chaabene and Huang, 2017)."""

from __future__ import annotations

from graftwork.grafting import Recipe, Reservoir


def best_choice(
    alpha: float | None = None,
    reservoir: int | None = None,
    tests: int | None = None,
    structure: bool = True,
    hubs: str | None = None,
    hub_threshold: float | None = None,
) -> Recipe:
    """Return best-choice edge grafting.

    With ``alpha``, ``reservoir``, ``tests``, ``hubs`` or ``hub_threshold`` given it is as
    published: pairs are drawn one by one, and edges of one round share no variable. With none of
    them a round draws all pairs at an eighth of the variables wherever these can be scored together
    (not under a likelihood, nor with a limit on tests), and a variable may bring in two edges: the
    same optimum, many times sooner.
    """
    selector = Reservoir(reservoir, tests, alpha, structure, hubs=hubs, hub_threshold=hub_threshold)
    return Recipe("best-choice", selector)
