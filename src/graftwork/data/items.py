"""Items in, bags out: lists of attributes, and dicts as python-crfsuite reads them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from decimal import Decimal
from itertools import chain, count, repeat
from math import inf
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.bags import Bags, position_of
from graftwork.data.values import in_order, plain
from graftwork.errors import DataError

_LISTS = (list, tuple, Set)
_ITEMS = (*_LISTS, Mapping)
_SHOWN = 40


def bags_of_items(
    items: Sequence[Any], place: Callable[[int], str], known: Mapping[Any, int] | None = None
) -> Bags:
    """Return the attributes of items, numbered in order of first appearance.

    Parameters
    ----------
    items : sequence of list, tuple, set or dict
        One per position. Sets are read in their natural order, so that numbers do not depend on
        how Python happened to store them.
    place : callable
        Turns a position into the words that say where it is.
    known : mapping of name to number, optional
        The attributes of a model, in order of their numbers; others become -1.

    Returns
    -------
    Bags
        Not settled.

    Raises
    ------
    DataError
        If an item is no list and no dict, or holds something that is no attribute.

    Examples
    --------
    >>> bags = bags_of_items([["bias", "w=the"], {"w": "the", "bias": True}], str)
    >>> bags.indices.tolist(), bags.names
    ([0, 1, 2, 0], ('bias', 'w=the', 'w:the'))
    """
    kinds = set(map(type, items))
    if not all(issubclass(kind, _ITEMS) for kind in kinds):
        raise _not_an_item(items, place)
    if any(issubclass(kind, Set) for kind in kinds):
        items = [in_order(item) if isinstance(item, Set) else item for item in items]
    names: Iterable[Any]
    if any(issubclass(kind, Mapping) for kind in kinds):
        counts, names, values = _spelled(items, place)
    else:
        counts = np.fromiter(map(len, items), dtype=np.int64, count=len(items))
        names, values = chain.from_iterable(items), np.empty(0)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    try:
        indices, numbered = _numbered(names, int(indptr[-1]), known)
    except TypeError as error:
        raise _unhashable(items, place) from error
    bags = Bags(indptr, indices, values, numbered)
    if known is None:
        _check_names(bags, place)
    return bags


def _numbered(
    names: Iterable[Any], total: int, known: Mapping[Any, int] | None
) -> tuple[NDArray[np.int32], tuple[Hashable, ...]]:
    """Return the number of each name, and the names by number."""
    if known is not None:
        numbers = map(known.get, names, repeat(-1))
        return np.fromiter(numbers, dtype=np.int32, count=total), tuple(known)
    # A missing name takes the next number: one look-up per attribute, millions a second.
    book: defaultdict[Any, int] = defaultdict(count().__next__)
    numbers = map(book.__getitem__, names)
    indices = np.fromiter(numbers, dtype=np.int32, count=total)
    return indices, tuple(map(plain, book))


def _check_names(bags: Bags, place: Callable[[int], str]) -> None:
    """Refuse names that are probably values: a list of numbers is no list of attributes."""
    for number, name in enumerate(bags.names):
        if name is None or isinstance(name, float | bool):
            entry = int(np.argmax(bags.indices == number))
            raise DataError(
                f"{place(position_of(bags.indptr, entry))} has {name!r} as the name of an "
                "attribute; use text, or give numbers as a dict of name to value or as a 2-D array."
            )


def _spelled(
    items: Sequence[Any], place: Callable[[int], str]
) -> tuple[NDArray[np.int64], list[Any], NDArray[np.float64]]:
    """Return how many attributes each item has, all their names, and their values."""
    names: list[Any] = []
    values: list[Any] = []
    ends = np.zeros(len(items) + 1, dtype=np.int64)
    t = 0
    try:
        for t, item in enumerate(items):
            if isinstance(item, Mapping):
                _spell(item, names, values)
            else:
                names.extend(item)
                values.extend(repeat(1, len(item)))
            ends[t + 1] = len(names)
    except DataError as error:
        raise DataError(f"{place(t)}: {error}") from None
    try:
        numbers = np.array(values, dtype=np.float64)
    except OverflowError:  # an int beyond the floats
        numbers = np.array([_number(value) for value in values])
    return np.diff(ends), names, numbers


def _spell(item: Mapping[Any, Any], names: list[Any], values: list[Any], prefix: str = "") -> None:
    """Append the attributes that a dict stands for."""
    for key, value in item.items():
        name = f"{prefix}{key}" if prefix else key
        kind = type(value)
        if kind is str:
            names.append(f"{name}:{value}")
            values.append(1)
        elif kind is float or kind is int or kind is bool:
            names.append(name)
            values.append(value)
        else:
            _spell_rare(name, value, names, values)


def _spell_rare(name: Any, value: Any, names: list[Any], values: list[Any]) -> None:
    """Append the attributes of a value that is not simply text or a number."""
    if isinstance(value, Mapping):
        _spell(value, names, values, f"{name}:")
    elif isinstance(value, str):
        names.append(f"{name}:{value}")
        values.append(1)
    elif isinstance(value, Real | Decimal | np.bool_):
        names.append(name)
        values.append(_number(value))
    elif isinstance(value, _LISTS):
        listed = in_order(value) if isinstance(value, Set) else value
        if not all(isinstance(text, str | int) for text in listed):
            raise DataError(
                f"attribute {name!r} has a {type(value).__name__} that holds more than text; "
                "name the numbers, as in {'vector': {'0': 0.5, '1': 0.2}}."
            )
        names.extend(f"{name}:{text}" for text in listed)
        values.extend(repeat(1, len(listed)))
    else:
        raise DataError(
            f"attribute {name!r} has the value {_brief(value)} of type {type(value).__name__}; "
            "use a number, a bool, text, a list of texts or a dict, or leave the attribute out."
        )


def _number(value: Any) -> float:
    """Return a number as a float, infinite if it is beyond the floats."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _brief(value: Any) -> str:
    """Return a value as text of bounded length."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _not_an_item(items: Sequence[Any], place: Callable[[int], str]) -> DataError:
    """Return the error that names the first item of a wrong type."""
    t = next(t for t, item in enumerate(items) if not isinstance(item, _ITEMS))
    kind = "the text" if isinstance(items[t], str) else f"a {type(items[t]).__name__},"
    return DataError(
        f"{place(t)} is {kind} {_brief(items[t])}; an item is a list of attributes such as "
        "['word=the', 'bias'] or a dict, and X is a list of sequences, each a list of items."
    )


def _unhashable(items: Sequence[Any], place: Callable[[int], str]) -> DataError:
    """Return the error that names the first attribute that cannot be one."""
    for t, item in enumerate(items):
        for name in item:
            try:
                hash(name)
            except TypeError:
                return DataError(
                    f"{place(t)} holds a {type(name).__name__} as an attribute, which is not "
                    "hashable; an item is a list of names or one dict, and X is a list of "
                    "sequences, each a list of items."
                )
    return DataError("some attributes cannot be compared with each other; use text.")
