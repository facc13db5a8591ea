"""Pairs of column names as users write them, in numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np

from graftwork.errors import DataError, ParameterError, TooLargeError
from graftwork.inference.layout import Ints
from graftwork.models.graphs import is_graph
from graftwork.models.inputs import find, number

# A function of two names is asked about no more pairs than this.
MOST_ASKED = 5_000_000


def find_pairs(parameter: str, given: Any, names: tuple[Any, ...]) -> Ints:
    """Return pairs of names as pairs of positions in the order given, shape (k, 2), ``i < j``.

    Examples
    --------
    >>> find_pairs("required", [("b", "a")], ("a", "b"))
    array([[0, 1]])
    """
    pairs = list(given.edges()) if is_graph(given) else given
    if isinstance(pairs, str | bytes | Mapping) or not isinstance(pairs, Iterable):
        raise ParameterError(
            f"{parameter} must be a list of pairs of column names, such as [('a', 'b')]; got "
            f"{given!r}."
        )
    index = number(names)
    found = [_find_pair(parameter, pair, names, index) for pair in pairs]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _find_pair(
    parameter: str, pair: Any, names: tuple[Any, ...], index: dict[Any, int]
) -> tuple[int, int]:
    """Return one pair as two positions, the smaller first, or refuse it."""
    if isinstance(pair, str | bytes) or not isinstance(pair, Collection | np.ndarray):
        raise ParameterError(f"{parameter}: {pair!r} is not a pair of column names.")
    if len(pair) != 2 or isinstance(pair, set | frozenset | Mapping):
        raise ParameterError(
            f"{parameter}: {pair!r} is not a pair of column names (first, second)."
        )
    try:
        i, j = sorted(find(name, names, index) for name in pair)
    except DataError as error:
        raise ParameterError(f"{parameter}: {error}") from None
    if i == j:
        raise ParameterError(f"{parameter}: {pair!r} joins a column to itself; name two columns.")
    return i, j


def ask_pairs(
    parameter: str, function: Callable[[Any, Any], Any], names: tuple[Any, ...], instead: str
) -> tuple[Ints, list[tuple[Any, Any]]]:
    """Return all pairs of names, and what a function says of each in both orders.

    ``instead`` says what to give where there are too many pairs to ask about.
    """
    total = len(names) * (len(names) - 1) // 2
    if total > MOST_ASKED:
        raise TooLargeError(
            f"{parameter} is a function, which would have to be asked about {total:,} pairs (at "
            f"most {MOST_ASKED:,}); give {instead} instead."
        )
    pairs = np.stack(np.triu_indices(len(names), 1), axis=1)
    answers = [
        (function(names[i], names[j]), function(names[j], names[i])) for i, j in pairs.tolist()
    ]
    return pairs, answers


def pairs_where(
    parameter: str, function: Callable[[Any, Any], Any], names: tuple[Any, ...]
) -> Ints:
    """Return the pairs of which a function says True, in one order of the names or the other.

    Examples
    --------
    >>> pairs_where("forbidden", lambda a, b: "b" in (a, b), ("a", "b", "c")).tolist()
    [[0, 1], [1, 2]]
    """
    pairs, answers = ask_pairs(parameter, function, names, "a list of pairs of names")
    for (i, j), both in zip(pairs.tolist(), answers, strict=True):
        if not all(isinstance(answer, bool | np.bool_) for answer in both):
            raise ParameterError(
                f"{parameter} must say True or False of two names; of {names[i]!r} and "
                f"{names[j]!r} it says {both[0]!r}."
            )
    said: Ints = pairs[np.array([first or second for first, second in answers], dtype=bool)]
    return said
