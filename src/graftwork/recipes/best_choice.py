"""Best-choice edge grafting (Chaabene and Huang, 2017)."""

from __future__ import annotations

from graftwork.grafting import Recipe, Reservoir
from graftwork.registry import register


@register("best-choice")
def best_choice(
    alpha: float = 0.5,
    reservoir: int | None = None,
    tests: int | None = None,
    structure: bool = True,
) -> Recipe:
    """Return best-choice edge grafting.

    Parameters
    ----------
    alpha : float
        1 activates only the best pair of the reservoir, 0 every one above its mean score.
    reservoir : int, optional
        Size of the reservoir; default the number of variables.
    tests : int, optional
        Pairs drawn each round (t_max). Default: until ceil(sqrt(n)) of them violate, but at most n.
    structure : bool
        Prefer pairs at hubs of the network found so far.

    Examples
    --------
    >>> best_choice(alpha=1.0).name
    'best-choice'
    """
    return Recipe("best-choice", Reservoir(reservoir, tests, alpha, structure))
