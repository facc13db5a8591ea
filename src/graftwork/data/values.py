"""States as Python values: which are equal, which are missing, and in which order they stand.

Equality is Python's, with one exception: ``True`` and ``1`` are two states, because a column that
mixes them holds two things. ``1`` and ``1.0`` are one state, written as the int when both occur.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal
from itertools import pairwise
from numbers import Number, Real
from typing import Any

import numpy as np

from graftwork.errors import DataError

_SHOWN = 10


def plain(value: Any) -> Any:
    """Return the Python value of a NumPy scalar; anything else comes back as it is.

    Time finer than a microsecond stays a NumPy scalar, since Python has no value for it.
    """
    if not isinstance(value, np.generic):
        return value
    if isinstance(value, np.datetime64 | np.timedelta64):
        item = value.item()
        if isinstance(item, int):
            coarse = value.astype(f"{value.dtype.kind}8[us]")
            item = coarse.item() if coarse == value else value
        return value if isinstance(item, int) else item
    if isinstance(value, np.longdouble):
        return float(value)
    return value.item()


def key(value: Any) -> Any:
    """Return what a state is looked up by: equal keys are one state.

    The value itself, and for a bool a pair that no number equals.
    """
    return (bool, value) if value is True or value is False else value


def is_missing(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN, NaT, pandas NA or masked.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing(0), is_missing("")
    (True, True, False, False)
    """
    if value is None or value is np.ma.masked:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")


def is_infinite(value: Any) -> bool:
    """Return whether a state is an infinite number.

    Examples
    --------
    >>> is_infinite(float("-inf")), is_infinite(10**400), is_infinite("inf")
    (True, False, False)
    """
    return isinstance(value, float | Decimal) and math.isinf(value)


def _kind(value: Any) -> str:
    """Return the name of the group a state is compared within."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, Real | Decimal):
        return "number"
    return type(value).__name__


def in_order(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return distinct states in their natural order.

    Numbers by size, text by code point, False before True; several kinds side by side go by the
    kind's name first. If some states cannot be told apart by ``<`` (sets, objects without an
    order), all stay in order of first appearance.

    Examples
    --------
    >>> in_order([10, 9, 2.5]), in_order(["b", 1, "a", True])
    ((2.5, 9, 10), (True, 1, 'a', 'b'))
    >>> in_order([frozenset("a"), frozenset("b")]) == (frozenset("a"), frozenset("b"))
    True
    """
    given = tuple(values)
    groups: dict[str, list[Any]] = {}
    for value in given:
        groups.setdefault(_kind(value), []).append(value)
    ordered: list[Any] = []
    for name in sorted(groups):
        try:
            group = sorted(groups[name])
            # A partial order (sets) sorts without complaint but by row order: ask for a chain.
            chain = all(bool(a < b) for a, b in pairwise(group))
        except TypeError:
            return given
        if not chain:
            return given
        ordered += group
    return tuple(ordered)


def prefers(new: Any, old: Any) -> bool:
    """Return whether `new` stands for a state better than its equal `old`.

    An int goes before all else and a float before all but an int, so that the choice does not
    depend on which row came first.
    """

    def rank(value: Any) -> tuple[int, str]:
        place = 0 if type(value) is int else 1 if type(value) is float else 2
        return place, type(value).__name__

    return rank(new) < rank(old)


def may_clash(kinds: set[type]) -> bool:
    """Return whether cells of these types need care before Python's equality tells them apart.

    So it is where NumPy scalars, or two kinds of numbers, meet in the column.

    Examples
    --------
    >>> may_clash({str, type(None)}), may_clash({int, bool})
    (False, True)
    """
    numbers = sum(issubclass(kind, Number | Decimal) for kind in kinds)
    return numbers > 1 or any(issubclass(kind, np.generic) for kind in kinds)


def listing(items: Sequence[Any], most: int = _SHOWN) -> str:
    """Return the first few items as text, and how many more there are."""
    text = ", ".join(repr(item) for item in items[:most])
    return text + (f" and {len(items) - most} more" if len(items) > most else "")


def suggestion(value: Hashable, known: Sequence[Hashable]) -> str:
    """Return "; did you mean ...?" for the known item nearest to a value, or an empty text.

    It names the types if only the type differs.

    Examples
    --------
    >>> suggestion("yess", ["yes", "no"])
    "; did you mean 'yes'?"
    >>> suggestion("1", [0, 1])
    '; did you mean 1 (int, not str)?'
    >>> suggestion("zebra", [0, 1])
    ''
    """
    texts = {str(item): item for item in reversed(known)}
    near = difflib.get_close_matches(str(value), texts, n=1)
    if not near:
        return ""
    item = texts[near[0]]
    retyped = type(item) is not type(value) and near[0] == str(value)
    kinds = f" ({type(item).__name__}, not {type(value).__name__})" if retyped else ""
    return f"; did you mean {item!r}{kinds}?"


def generator(random_state: int | np.random.Generator | None) -> np.random.Generator:
    """Return the random generator a seed stands for, or the one given."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"random_state is {random_state!r}; use a whole number of at least 0, a NumPy "
            "Generator, or None."
        ) from error
