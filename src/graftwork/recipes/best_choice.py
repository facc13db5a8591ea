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

    Parameters
    ----------
    alpha : float, optional
        1 activates only the best pair of the reservoir, 0 every one above its mean score; default
        .5.
    reservoir : int, optional
        Size of the reservoir; default the number of variables.
    tests : int, optional
        Pairs drawn each round (t_max). Default: until ceil(sqrt(n)) of them violate, but at most n.
    structure : bool
        Prefer pairs at hubs of the network found so far, from 15 edges on.
    hubs : {"once", "always"}, optional
        Pairs at a hub move one step forward when it becomes one, as in the authors' code, or in
        every round in which it is one, as in the paper (Algorithm 2); default "once".
    hub_threshold : float, optional
        A variable is a hub if the share of the other variables that are its neighbours exceeds
        this; default is the mean of all variables, as in the authors' code.

    Examples
    --------
    >>> best_choice(alpha=1.0).name
    'best-choice'
    """
    selector = Reservoir(reservoir, tests, alpha, structure, hubs=hubs, hub_threshold=hub_threshold)
    return Recipe("best-choice", selector)
