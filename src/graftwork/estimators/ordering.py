"""Which columns are ordered: what `MarkovNetwork.ordinal` says about a table."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from graftwork.data.columns import level_of_caller
from graftwork.data.missing import MISSING_STATE
from graftwork.data.oddities import items
from graftwork.data.placed import AnyTable
from graftwork.data.scores import Ordered
from graftwork.data.text import as_numbers
from graftwork.data.values import listing, plain, suggestion
from graftwork.errors import DataWarning, ParameterError

if TYPE_CHECKING:
    from graftwork.estimators.spec import FitSpec

#: What stands for every column, and what stands between the words of a scale.
EVERY, BELOW = "all", "<"
_HOW = (
    "write ordinal={{{name!r}: ['lowest', ..., 'highest']}}, or ordinal='lowest < ... < highest' "
    "for every column with these answers (ordered categoricals and declared states have an order "
    "by themselves)"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What ``ordinal`` asks for."""

    # by name a column's states in order, its scores, or None where it has an order of its own
    columns: dict[Hashable, Any]
    scales: list[list[str]]  # answers in order, of every column that has no others
    every: bool  # whether all columns are meant

    @property
    def said(self) -> bool:
        """Whether anything is said."""
        return self.every or bool(self.columns or self.scales)


def in_order(spec: FitSpec, table: AnyTable) -> AnyTable:
    """Return the table with the columns ordered that a fit takes as ordered.

    Examples
    --------
    >>> from graftwork.data import Table
    >>> from graftwork.estimators.spec import FitSpec
    >>> table = Table(("a", "b"), ((1, 2, 3), (0, 1)), [[0, 1, 2], [0, 1, 1]])
    >>> in_order(FitSpec.of({}), table).ordered.taken
    ('a',)
    >>> in_order(FitSpec.of({"lam": 0.1}), table).ordered.scores
    {}
    """
    ordinal = spec.ordinal if spec.ordered else False
    found = ordered_table(table, ordinal, spec.degree, spec.states or (), take=spec.chooses)
    order = found.ordered
    return found if order is None else found.with_order(replace(order, straight=spec.straight))


def ordered_table(
    table: AnyTable,
    ordinal: Any,
    degree: int,
    declared: Collection[Hashable] = (),
    *,
    take: bool = False,
) -> AnyTable:
    """Return the table with the columns ordered that ``ordinal`` names."""
    before = table.ordered or Ordered({})
    known, taken = dict(before.scores), before.taken
    asked = check_ordinal(ordinal, table.names)
    if ordinal is False:
        return table.with_order(Ordered({}, degree, ()))
    if asked.said:
        own = {name: scores for name, scores in known.items() if name not in (taken or ())}
        return table.with_order(Ordered(_asked(table, asked, own, declared), degree, ()))
    if ordinal is None and taken is None and take:
        taken = items(table) or None
        known |= {name: _own(table, name, {}, ()) for name in taken or ()}
    return table.with_order(Ordered(known, degree, taken))


def check_ordinal(ordinal: Any, names: Sequence[Hashable]) -> Asked:
    """Return what ``ordinal`` asks for; names of columns that there are not are refused.

    Examples
    --------
    >>> check_ordinal(["a", "never < often"], ["a", "b"])
    Asked(columns={'a': None}, scales=[['never', 'often']], every=False)
    """
    asked = Asked({}, [], every=False)
    for name, value in _entries(ordinal).items():
        if name in names:
            asked.columns[name] = value
        elif value is None and name == EVERY:
            asked = replace(asked, every=True)
        elif value is None and is_scale(name):
            asked.scales.append(_words(str(name)))
        else:
            raise ParameterError(
                f"ordinal names {name!r}, which is not a column{suggestion(name, names) or '.'} "
                f"The columns are {listing(names)}."
            )
    return asked


def is_scale(text: Any) -> bool:
    """Return whether a text is a scale: answers from the lowest to the highest.

    Examples
    --------
    >>> is_scale("never < sometimes < often"), is_scale("never")
    (True, False)
    """
    return isinstance(text, str) and BELOW in text and all(_words(text))


def _words(scale: str) -> list[str]:
    """Return the answers of a scale."""
    return [word.strip() for word in scale.split(BELOW)]


def _entries(ordinal: Any) -> Mapping[Hashable, Any]:
    """Return what is said of columns, or of all of them, one by one."""
    if ordinal is None or ordinal is False:
        return {}
    if ordinal is True:
        return {EVERY: None}
    if isinstance(ordinal, Mapping):
        return ordinal
    alone = isinstance(ordinal, str) and (ordinal == EVERY or is_scale(ordinal))
    listed = isinstance(ordinal, Iterable) and not isinstance(ordinal, str | bytes)
    names = [ordinal] if alone else list(ordinal) if listed else None
    if names is None or not all(isinstance(name, Hashable) for name in names):
        raise ParameterError(
            "ordinal must be True or 'all', False, answers in order such as 'never < sometimes < "
            "often', a list of column names or a dict of a column's states in order, got "
            f"{ordinal!r}."
        )
    return {plain(name): None for name in names}


def _asked(
    table: AnyTable,
    asked: Asked,
    known: Mapping[Hashable, Mapping[Hashable, float]],
    declared: Collection[Hashable],
) -> dict[Hashable, Mapping[Hashable, float]]:
    """Return the scores of the columns asked for; what has an order by its type keeps it."""
    scores = {**known, **_scaled(table, asked)}
    names = table.names if asked.every else ()
    own = {name: None for name in names if name not in scores} | asked.columns
    return scores | {
        name: _own(table, name, known, declared) if value is None else _given(table, name, value)
        for name, value in own.items()
    }


def _scaled(table: AnyTable, asked: Asked) -> dict[Hashable, Mapping[Hashable, float]]:
    """Return the scores of the columns that have no other answers than those of a scale.

    A scale that no column has is refused, and columns that have some more answers are warned of.
    """
    found: dict[Hashable, Mapping[Hashable, float]] = {}
    for words in asked.scales:
        others: dict[Hashable, list[Hashable]] = {}
        matched = False
        for name in table.names:
            states = _states(table, name)
            more = [state for state in states if str(state) not in words]
            if states and not more:
                matched = True
                found.setdefault(name, _given(table, name, words))
            elif len(states) - len(more) > 1:
                others[name] = more
        some = {n: more for n, more in others.items() if n not in found and n not in asked.columns}
        about = "; ".join(f"{name!r} has {listing(more, 3)} as well" for name, more in some.items())
        scale = f"ordinal={f' {BELOW} '.join(words)!r}"
        if not matched:
            raise ParameterError(
                f"{scale} orders nothing: no column has these answers and no others"
                f"{f' ({about})' if about else ''}."
            )
        if about:
            warnings.warn(
                f"{scale} does not order all columns that have these answers: {about}, and "
                f"{'is' if len(some) == 1 else 'are'} not taken as ordered.",
                DataWarning,
                stacklevel=level_of_caller(),
            )
    return found


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
    numbers = as_numbers(states)
    if numbers is not None:
        return dict(zip(states, numbers, strict=True))
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
