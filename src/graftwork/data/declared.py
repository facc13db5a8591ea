"""Columns by states that were listed beforehand, by the caller or by a model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.encode import Coded, small
from graftwork.data.values import is_missing, key, listing, plain, suggestion
from graftwork.errors import DataError


def declared_states(states: Iterable[Any], name: Hashable) -> tuple[Hashable, ...]:
    """Return the states listed for a variable as Python values.

    Examples
    --------
    >>> declared_states(["low", "high"], "a")
    ('low', 'high')
    """
    if isinstance(states, str | bytes):
        raise DataError(f"the states of {name!r} are one text, {states!r}; pass a list of states.")
    if not isinstance(states, Iterable):
        raise DataError(f"the states of {name!r} are {states!r}; pass a list of states.")
    listed = tuple(plain(state) for state in states)
    seen: set[Any] = set()
    for state in listed:
        if is_missing(state):
            raise DataError(f"the states declared for {name!r} hold a missing value (NaN).")
        try:
            twice = key(state) in seen
        except TypeError as error:
            raise DataError(f"{name!r}: the state {state!r} is not hashable.") from error
        if twice:
            raise DataError(f"the state {state!r} is declared twice for {name!r}.")
        seen.add(key(state))
    if not listed:
        raise DataError(f"no states are declared for {name!r}; list one at least.")
    return listed


def to_states(
    coded: Coded, states: tuple[Hashable, ...], name: Hashable, place: Callable[[int], str]
) -> Coded:
    """Return a column coded by the states given rather than by those found.

    Parameters
    ----------
    coded : Coded
        The column by the states found in it.
    states : tuple of hashable
        The states to use. Numbers match by value (1.0 finds 1); a bool finds 0 or 1, and 0 or 1
        a bool, if there is no exact match. Text never matches a number.
    name : hashable
        The column's name, for errors.
    place : callable
        Turns a row number into words.

    Returns
    -------
    Coded
        The same cells.

    Raises
    ------
    DataError
        If a cell's state is not among `states`.

    Examples
    --------
    >>> import numpy as np
    >>> to_states(Coded(np.array([0, 1]), (1.0, 2.0)), (2, 1, 0), "a", str).codes.tolist()
    [1, 0]
    """
    position = {key(state): code for code, state in enumerate(states)}
    # Setting these last keeps exact matches first.
    for state, code in [(state, code) for code, state in enumerate(states)]:
        if isinstance(state, bool):
            position.setdefault(int(state), code)
        elif isinstance(state, int | float) and state in (0, 1):
            position.setdefault(key(bool(state)), code)
    found = [position.get(key(state), -1) for state in coded.states]
    lookup = np.array([*found, 0], dtype=np.int64)
    if min(found, default=0) < 0:
        _check_known(coded, lookup, states, name, place)
        lookup = np.maximum(lookup, 0)
    codes = small(lookup, len(states))[coded.codes]
    return Coded(codes, states, coded.missing, declared=True)


def _check_known(
    coded: Coded,
    lookup: NDArray[np.int64],
    states: tuple[Hashable, ...],
    name: Hashable,
    place: Callable[[int], str],
) -> None:
    """Raise if a cell that is not missing holds a state that is not among `states`."""
    unknown = lookup[coded.codes] < 0
    if coded.missing is not None:
        unknown &= ~coded.missing
    if not unknown.any():
        return
    row = int(np.argmax(unknown))
    state = coded.states[int(coded.codes[row])]
    raise DataError(
        f"column {name!r}, {place(row)}: the state {state!r} is not one of its {len(states)} "
        f"known states ({listing(states)}){suggestion(state, states) or '.'} "
        "Correct the cell, drop that row, or declare the state."
    )
