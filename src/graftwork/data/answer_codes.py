"""Codes of missing answers among numbers: 9, 99 or -1 beside 1 to 5, 999 among ages."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

# A column with fewer states holds answers, with more numbers; nor can fewer rows tell.
MANY_STATES = 20
ANSWER_CODES = frozenset({*range(-9, 0), *(-77, -88, -99, -777, -888, -999, -9999)}) | frozenset(
    int(digit * times) for digit in "789" for times in (1, 2, 3, 4)
)
NUMBER_CODES = frozenset({-1, -9, -99, -999, -9999, 999, 9999, 99999})
_FAR = 2


def code_states(numbers: Sequence[Any]) -> tuple[Any, ...]:
    """Return which of a column's numbers look like codes of missing answers.

    Examples
    --------
    >>> code_states([1, 2, 3, 4, 5, 9]), code_states([-1, 1, 2]), code_states([-1, 0, 1])
    ((9,), (-1,), ())
    >>> code_states([*range(18, 90), 999]), code_states([1, 2, 3, 4, 5, 6, 7, 8, 9])
    ((999,), ())
    """
    if not all(number == int(number) for number in numbers):
        return ()
    if len(numbers) > MANY_STATES:
        rest = [number for number in numbers if number not in NUMBER_CODES]
        gone = [n for n in numbers if n in NUMBER_CODES and (n < 0 or n > _FAR * max(rest))]
        return tuple(gone) if min(rest) >= 0 else ()
    for low in (1, 0):  # the scale of answers: from there on without a gap
        if low not in numbers:
            continue
        high = low
        while high + 1 in numbers:
            high += 1
        others = [number for number in numbers if not low <= number <= high]
        apart = all(n > high + 1 or n < low - 1 or (n == -1 and high > _FAR) for n in others)
        if high > low and others and apart and all(n in ANSWER_CODES for n in others):
            return tuple(others)
    return ()


def written(state: Hashable) -> str:
    """Return a state as it is written in a file."""
    whole = isinstance(state, float) and state.is_integer()
    return str(int(state)) if whole else str(state)  # type: ignore[call-overload]
