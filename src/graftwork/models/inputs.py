"""From dicts of tables to flat potentials, with a sentence for everything that can be wrong."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from graftwork.data.bins import bin_of
from graftwork.data.values import key, listing, plain, suggestion
from graftwork.errors import DataError
from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.parameters import LARGEST

Index = dict[Any, int]


def number(known: Iterable[Any]) -> Index:
    """Return the position of each name or state, by its lookup key."""
    return {key(item): position for position, item in enumerate(known)}


def check_states(states: Any) -> dict[Any, tuple[Any, ...]]:
    """Return the states of each variable as tuples of Python values.

    Examples
    --------
    >>> check_states({"a": [0, 1]})
    {'a': (0, 1)}
    """
    if not isinstance(states, Mapping) or not states:
        raise DataError("states must be a dict {name: list of states} with at least one variable.")
    out: dict[Any, tuple[Any, ...]] = {}
    for name, listed in states.items():
        if name != name:
            raise DataError(f"{name!r} cannot be the name of a variable: it is never found again.")
        if isinstance(listed, str | bytes) or not isinstance(listed, Iterable):
            raise DataError(f"the states of {name!r} are {listed!r}; pass a list of states.")
        values = tuple(plain(state) for state in listed)
        if not values:
            raise DataError(f"no states are given for {name!r}; list at least one.")
        seen: set[Any] = set()
        for state in values:
            if not isinstance(state, Hashable) or state != state:
                raise DataError(
                    f"{state!r} cannot be a state of {name!r}: it is never found again."
                )
            if key(state) in seen:
                raise DataError(f"the state {state!r} is given twice for {name!r}.")
            seen.add(key(state))
        out[plain(name)] = values
    return out


def find(name: Any, names: tuple[Any, ...], index: Index) -> int:
    """Return the number of a variable, or refuse with the names that come close."""
    return _find(name, names, index, "there is no variable {0!r}", "The variables are")


def find_state(state: Any, name: Any, states: tuple[Any, ...]) -> int:
    """Return the number of a state, or refuse with the states there are.

    A number finds the bin it is in.

    Examples
    --------
    >>> find_state("yes", "a", ("no", "yes")), find_state(37, "age", ("<= 20", "> 20"))
    (1, 1)
    """
    place = bin_of(plain(state), states)
    if place >= 0:
        return place
    return _find(state, states, number(states), f"{name!r} has no state {{0!r}}", "Its states are")


def _find(item: Any, known: tuple[Any, ...], index: Index, what: str, are: str) -> int:
    item = plain(item)
    found = index.get(key(item)) if isinstance(item, Hashable) else None
    if found is None:
        near = suggestion(item, known) if isinstance(item, Hashable) else ""
        raise DataError(f"{what.format(item)}{near or '.'} {are} {listing(known)}.")
    return found


def check_table(values: Any, shape: tuple[int, ...], what: str) -> Floats:
    """Return log-potentials of this shape as float64, or refuse them."""
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{what} is not a table of numbers: {error}.") from error
    if table.shape != shape:
        raise DataError(f"{what} has shape {table.shape}; its states need {shape}.")
    if np.isnan(table).any():
        raise DataError(f"{what} holds NaN; log-potentials are numbers, or -inf for impossible.")
    if (table == np.inf).any():
        raise DataError(f"{what} holds +inf; only -inf (impossible) is allowed.")
    if (np.abs(table, where=table > -np.inf, out=np.zeros(shape)) > LARGEST).any():
        raise DataError(f"{what} holds a number beyond {LARGEST:g}, the largest log-potential.")
    return table


def flatten(states: dict[Any, tuple[Any, ...]], unary: Any, pairwise: Any) -> tuple[Layout, Floats]:
    """Return the layout and the flat log-potentials that these dicts describe.

    Examples
    --------
    >>> layout, weights = flatten({"a": (0, 1), "b": (0, 1)}, None, {("b", "a"): [[1, 2], [3, 4]]})
    >>> weights
    array([0., 0., 0., 0., 1., 3., 2., 4.])
    """
    names = tuple(states)
    index = number(names)
    cards = [len(listed) for listed in states.values()]
    tables = _tables(names, index, cards, {} if pairwise is None else pairwise)
    pairs = sorted(tables)
    layout = Layout.of(cards, pairs)
    weights = layout.zeros()
    given = {} if unary is None else unary
    if not isinstance(given, Mapping):
        raise DataError("unary must be a dict {name: log-potentials}.")
    for name, values in given.items():
        i = find(name, names, index)
        layout.unary(weights, i)[:] = check_table(values, (cards[i],), f"the unary of {name!r}")
    for e, pair in enumerate(pairs):
        layout.table(weights, e)[:] = tables[pair]
    return layout, weights


def _tables(
    names: tuple[Any, ...], index: Index, cards: list[int], pairwise: Any
) -> dict[tuple[int, int], Floats]:
    """Return the tables by variable numbers i < j, transposed where they were given (j, i)."""
    if not isinstance(pairwise, Mapping):
        raise DataError("pairwise must be a dict {(a, b): table}.")
    out: dict[tuple[int, int], Floats] = {}
    for pair, values in pairwise.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise DataError(f"the edge {pair!r} is not a pair of names (a, b).")
        i, j = (find(name, names, index) for name in pair)
        if i == j:
            raise DataError(f"the edge {pair!r} joins a variable to itself; use its unary.")
        table = check_table(values, (cards[i], cards[j]), f"the table of {pair!r}")
        edge = (min(i, j), max(i, j))
        if edge in out:
            raise DataError(f"the edge between {pair[0]!r} and {pair[1]!r} is given twice.")
        out[edge] = table if i < j else table.T
    return out


def check_evidence(evidence: Any, states: dict[Any, tuple[Any, ...]], index: Index) -> Ints:
    """Return the observed state of each variable as a code, -1 where there is none."""
    names = tuple(states)
    codes = np.full(len(names), -1, dtype=np.int64)
    if evidence is None:
        return codes
    if not isinstance(evidence, Mapping):
        raise DataError(f"evidence is {evidence!r}; pass a dict {{name: state}}.")
    for name, state in evidence.items():
        i = find(name, names, index)
        codes[i] = find_state(state, names[i], states[names[i]])
    return codes
