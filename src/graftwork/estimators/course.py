"""The course of a run as users write it: lambdas to go through, variables that arrive."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np

from graftwork.estimators.parts import ParameterError, number
from graftwork.grafting import Problem
from graftwork.tuning.levels import largest_score


def check_annealing(anneal: Any, last: Any) -> None:
    """Refuse what is neither a number of lambdas nor lambdas that fall to the last one.

    Examples
    --------
    >>> check_annealing([0.5, 0.1], 0.02)
    >>> check_annealing(4, "auto")
    """
    if anneal is None:
        return
    if isinstance(anneal, Integral):
        number("anneal", anneal, 0, whole=True)
        return
    try:
        falling = [number("anneal", lam, 0.0, above=True) for lam in anneal]
    except TypeError:
        raise ParameterError(
            f"anneal must be a whole number or falling values of lambda, got {anneal!r}."
        ) from None
    ends = falling if isinstance(last, str) else [*falling, float(last)]
    if any(later > earlier for earlier, later in pairwise(ends)):
        raise ParameterError(
            f"anneal must fall from large to small and end at lam or above it, got {anneal!r}."
        )


def annealing_schedule(anneal: Any, problem: Problem) -> list[float]:
    """Return the lambdas to go through before the problem's own.

    A number of them is spread evenly on a log scale, from where the first edge appears.
    """
    if anneal is None:
        return []
    if isinstance(anneal, Integral):
        top, lam = largest_score(problem), problem.penalty.lam
        if not 0 < lam < top:
            return []
        return [float(x) for x in np.geomspace(top, lam, int(anneal) + 1)[:-1]]
    return [float(lam) for lam in anneal]


def arriving_variables(arrivals: Any, names: Sequence[Any]) -> list[list[int]] | None:
    """Return the groups of arriving variables as positions, or refuse names that are no columns.

    Examples
    --------
    >>> arriving_variables([["a", "c"], "b"], ["a", "b", "c"])
    [[0, 2], [1]]
    """
    if arrivals is None:
        return None
    if isinstance(arrivals, str | Mapping) or not isinstance(arrivals, Iterable):
        raise ParameterError(
            f"arrivals must be a sequence of groups of column names, got {arrivals!r}."
        )
    places = {name: place for place, name in enumerate(names)}
    groups = [_group(entry, places) for entry in arrivals]
    listed = [name for group in groups for name in group]
    unknown = [n for n in listed if not isinstance(n, Hashable) or n not in places]
    if unknown:
        raise ParameterError(f"arrivals name columns that are not there: {unknown[:5]!r}.")
    return [[places[name] for name in group] for group in groups]


def _group(entry: Any, names: Mapping[Any, int]) -> list[Any]:
    """Return a group of arriving variables; a name alone is a group of one."""
    alone = (
        isinstance(entry, str)
        or not isinstance(entry, Iterable)
        or (isinstance(entry, tuple) and entry in names)
    )
    return [entry] if alone else list(entry)
