"""Working set: look at all pairs, activate many violators at once; the quickest way."""

from __future__ import annotations

from graftwork.grafting import Recipe, WorkingSet


def working_set(per_variable: int = 2) -> Recipe:
    """Return the recipe that activates the best violators of every variable at once.

    Not a published algorithm of this family: it ends at the same optimum, in few rounds. It looks
    at all pairs, which best-choice need not.

    Examples
    --------
    >>> working_set().name
    'working-set'
    """
    return Recipe("working-set", WorkingSet(per_variable))
