"""The variables and states of two sets of counts, together."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.bins import cuts_of
from graftwork.data.columns import level_of_caller
from graftwork.data.missing import MISSING_STATE
from graftwork.data.scores import Ordered
from graftwork.data.values import in_order, key, listing, prefers
from graftwork.errors import DataError, DataWarning

Ints = NDArray[np.int64]
States = tuple[Hashable, ...]
#: Names, states, order.
Side = tuple[tuple[Hashable, ...], tuple[States, ...], Ordered | None]


def united(
    first: Side, second: Side
) -> tuple[tuple[States, ...], Ordered | None, tuple[Ints, Ints] | None]:
    """Return states and order of both together, in the first's order of variables.

    States that are the same on both sides stay in their order; others stand in natural order.
    """
    names, mine, order = first
    others, theirs, other_order = second
    _check_names(names, others)
    where = {name: i for i, name in enumerate(others)}
    aligned = [theirs[where[name]] for name in names]
    both = tuple(
        unite(name, own, other) for name, own, other in zip(names, mine, aligned, strict=True)
    )
    ordered = _unite_orders(order, other_order)
    if names == others and _same(mine, both) and _same(aligned, both):
        return both, ordered, None
    sizes = np.array([len(listed) for listed in both], dtype=np.int64)
    starts = np.cumsum(sizes) - sizes
    own, found = (
        [start + _places(a, b) for start, a, b in zip(starts, side, both, strict=True)]
        for side in (mine, aligned)
    )
    place = {name: i for i, name in enumerate(names)}
    other = [found[place[name]] for name in others]
    return both, ordered, (np.concatenate(own), np.concatenate(other))


def unite(name: Hashable, first: States, second: States) -> States:
    """Return the states of a variable on both sides; that of missing cells is the last."""
    mine, theirs = (_without_missing(each) for each in (first, second))
    found: dict[Any, Hashable] = {}
    for state in (*mine, *theirs):
        if key(state) not in found or prefers(state, found[key(state)]):
            found[key(state)] = state
    if [*map(key, mine)] == [*map(key, theirs)]:
        listed = tuple(found.values())
    else:
        _warn_of_types(name, mine, theirs)
        bins = _shared_bins(name, mine, theirs, len(found))
        listed = in_order(found.values()) if bins is None else bins
    missing = MISSING_STATE in (*first, *second)
    return (*listed, MISSING_STATE) if missing else listed


def _shared_bins(name: Hashable, first: States, second: States, size: int) -> States | None:
    """Return the bins that hold all states; None where there are no bins, an error for others."""
    cuts = [cuts_of(each) for each in (first, second)]
    for own, listed in zip(cuts, (first, second), strict=True):
        if own is not None and len(listed) == size:
            return listed
    if not first or not second or cuts == [None, None]:
        return None
    bins = listing(first if cuts[0] is not None else second, 4)
    raise DataError(
        f"{name!r} has different bins on each side (here {bins}), so the counts cannot be added; "
        "count the other rows again with these bins as the states of that column."
    )


def _warn_of_types(name: Hashable, first: States, second: States) -> None:
    """Warn of states that are numbers on one side, and the same as text on the other."""
    for mine, theirs in ((first, second), (second, first)):
        texts = {state for state in theirs if isinstance(state, str)} - set(mine)
        same = [state for state in mine if not isinstance(state, str) and str(state) in texts]
        if same:
            warnings.warn(
                f"{name!r} has {same[0]!r} on one side and the text {str(same[0])!r} on the other, "
                "which stay two states; if they are one, count both as text (infer_types=False "
                "when a file is read, --strings on the command line).",
                DataWarning,
                stacklevel=level_of_caller(),
            )
            return


def _without_missing(states: States) -> States:
    return tuple(state for state in states if state != MISSING_STATE)


def _check_names(first: Sequence[Hashable], second: Sequence[Hashable]) -> None:
    """Refuse to add counts of other variables."""
    mine = [name for name in first if name not in second]
    theirs = [name for name in second if name not in first]
    if not mine and not theirs:
        return
    only = [
        f"only the {side} have {listing(some, 5)}"
        for side, some in (("first", mine), ("second", theirs))
        if some
    ]
    raise DataError(
        f"counts of different variables cannot be added: {', '.join(only)}; rename or leave out "
        "columns (take_columns) first."
    )


def _unite_orders(first: Ordered | None, second: Ordered | None) -> Ordered | None:
    """Return the scores of both; a variable with a state that has none is not ordered then."""
    if first is None or second is None:
        return first or second
    scores: dict[Hashable, Mapping[Hashable, float]] = dict(first.scores)
    for name, own in second.scores.items():
        known = scores.get(name, {})
        differ = [state for state, score in own.items() if known.get(state, score) != score]
        if differ:
            raise DataError(
                f"{name!r} is ordered in two ways: the state {differ[0]!r} has another place on "
                "each side; count both with the same states, in the same order."
            )
        scores[name] = {**known, **own}
    return Ordered(scores, max(first.degree, second.degree))


def _same(states: Sequence[States], both: Sequence[States]) -> bool:
    """Return whether states are those of both, in the same places."""
    return all(
        [*map(key, mine)] == [*map(key, listed)] for mine, listed in zip(states, both, strict=True)
    )


def _places(states: States, both: States) -> Ints:
    codes = {key(state): code for code, state in enumerate(both)}
    return np.array([codes[key(state)] for state in states], dtype=np.int64)
