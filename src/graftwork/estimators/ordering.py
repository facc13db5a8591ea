"""Which columns are ordered: what `MarkovNetwork.ordinal` says about a table."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

from graftwork.data.missing import MISSING_STATE
from graftwork.data.placed import AnyTable
from graftwork.data.scores import Ordered
from graftwork.data.values import listing, plain, suggestion
from graftwork.errors import ParameterError

_HOW = (
    "write ordinal={{{name!r}: ['lowest', ..., 'highest']}} (ordered categoricals and declared "
    "states have an order by themselves)"
)


def ordered_table(
    table: AnyTable,
    ordinal: Any,
    degree: int,
    declared: Collection[Hashable] = (),
    *,
    straight: bool = False,
) -> AnyTable:
    """Return the table with the columns ordered that ``ordinal`` names.

    Parameters
    ----------
    ordinal : None, bool, names or mapping
        As `MarkovNetwork.ordinal`. Bins are ordered in any case but False.
    degree : int
    declared : collection of names
        Columns whose states were listed in an order that is meant.
    straight : bool
        Whether tables have their linear parts alone.

    Examples
    --------
    >>> from graftwork.data import Table
    >>> table = Table(("a", "b"), ((1, 2, 4), ("hi", "lo", "mid")), [[0, 1, 2], [0, 1, 2]])
    >>> ordered_table(table, {"b": ["lo", "mid", "hi"]}, 1).ordered.scores
    {'b': {'hi': 2.0, 'lo': 0.0, 'mid': 1.0}}
    >>> ordered_table(table, ["a"], 1).ordered.scores
    {'a': {1: 1.0, 2: 2.0, 4: 4.0}}
    """
    known = {} if table.ordered is None else dict(table.ordered.scores)
    if ordinal is None:
        scores = known
    elif ordinal is False:
        scores = {}
    elif ordinal is True:
        scores = {name: _own(table, name, known, declared) for name in table.names}
    elif isinstance(ordinal, Mapping):
        check_ordinal(ordinal, table.names)
        scores = {
            name: _own(table, name, known, declared)
            if value is None
            else _given(table, name, value)
            for name, value in ordinal.items()
        }
    else:
        names = _names(ordinal)
        _check_names(names, table.names)
        scores = {name: _own(table, name, known, declared) for name in names}
    if ordinal is not False:  # what has an order by its type keeps it
        scores = {**known, **scores}
    return table.with_order(Ordered(scores, degree, straight) if scores else None)


def check_ordinal(ordinal: Any, names: Sequence[Hashable]) -> None:
    """Refuse names of ordered columns that there are not; return None.

    Examples
    --------
    >>> check_ordinal(["a"], ["a", "b"])
    """
    if isinstance(ordinal, Mapping):
        _check_names(list(ordinal), names)
    elif ordinal is not None and not isinstance(ordinal, bool):
        _check_names(_names(ordinal), names)


def _names(ordinal: Any) -> list[Hashable]:
    """Return a list of names."""
    if isinstance(ordinal, str | bytes) or not isinstance(ordinal, Iterable):
        raise ParameterError(
            "ordinal must be True, False, a list of column names or a dict of a column's states in "
            f"order, got {ordinal!r}."
        )
    return [plain(name) for name in ordinal]


def _check_names(names: Sequence[Any], known: Sequence[Hashable]) -> None:
    for name in names:
        if name not in known:
            raise ParameterError(
                f"ordinal names {name!r}, which is not a column{suggestion(name, known) or '.'} "
                f"The columns are {listing(known)}."
            )


def _own(
    table: AnyTable,
    name: Hashable,
    known: Mapping[Hashable, Mapping[Hashable, float]],
    declared: Collection[Hashable],
) -> Mapping[Hashable, float]:
    """Return the scores of a column whose states have an order of their own, or refuse it."""
    if name in known:
        return known[name]
    states = _states(table, name)
    if name in declared:
        return {state: float(rank) for rank, state in enumerate(states)}
    if all(isinstance(state, int | float) for state in states):
        return {state: float(state) for state in states}  # type: ignore[arg-type]
    if len(states) <= 2:  # two states have no order to be known
        return {state: float(rank) for rank, state in enumerate(states)}
    raise ParameterError(
        f"column {name!r} has the states {listing(states)}, whose order is not known: "
        f"{_HOW.format(name=name)}."
    )


def _given(table: AnyTable, name: Hashable, value: Any) -> Mapping[Hashable, float]:
    """Return the scores that are given, or those of the order that is."""
    states = _states(table, name)
    texts = {str(state): state for state in states}

    def own(given: Any) -> Hashable:  # a number may be written as text
        state: Hashable = plain(given)
        return texts.get(state, state) if isinstance(state, str) else state

    if isinstance(value, Mapping):
        try:
            scores = {own(state): float(score) for state, score in value.items()}
        except (TypeError, ValueError):
            raise ParameterError(
                f"ordinal: the scores of {name!r} must be numbers, got {dict(value)!r}."
            ) from None
    elif isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise ParameterError(
            f"ordinal: {name!r} needs its states in order or their scores, got {value!r}."
        )
    else:
        listed = [own(state) for state in value]
        twice = [state for state in listed if listed.count(state) > 1]
        if twice:
            raise ParameterError(f"ordinal: {name!r} has the state {twice[0]!r} in two places.")
        scores = {state: float(rank) for rank, state in enumerate(listed)}
    if not all(math.isfinite(score) for score in scores.values()):
        raise ParameterError(f"ordinal: the scores of {name!r} must be finite numbers.")
    absent = [state for state in states if state not in scores]
    if absent:
        raise ParameterError(
            f"ordinal: {name!r} has the states {listing(states)}, but no place or score is given "
            f"for {listing(absent)}."
        )
    if len(set(scores.values())) < len(scores):
        raise ParameterError(f"ordinal: two states of {name!r} have the same score.")
    return {state: scores[state] for state in states}


def _states(table: AnyTable, name: Hashable) -> list[Hashable]:
    """Return the states of a column, missing cells not among them."""
    return [state for state in table.states[table.names.index(name)] if state != MISSING_STATE]
