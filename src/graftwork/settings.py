"""Checks of the numbers that configure a part; what means nothing is refused with a sentence."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

#: No number may be larger: squares and products of two are numbers, too.
LARGEST = 1e100
#: Nothing is solved closer than this: sums over rows are no more accurate.
FINEST = 1e-15


def check_whole(name: str, value: Any, least: int) -> None:
    """Refuse what is not a whole number of at least ``least``.

    Examples
    --------
    >>> check_whole("count", 0, 1)
    Traceback (most recent call last):
    ...
    ValueError: count must be at least 1, got 0
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    if int(value) < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")


def check_amount(name: str, value: Any) -> None:
    """Refuse what is no finite number of at least 0.

    Examples
    --------
    >>> check_amount("epsilon", -1.0)
    Traceback (most recent call last):
    ...
    ValueError: epsilon must be a finite number of at least 0, got -1.0
    """
    fits = isinstance(value, Real) and not isinstance(value, bool)
    if not fits or not 0 <= value < math.inf:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")


def check_share(name: str, value: Any) -> None:
    """Refuse what is no number from 0 to 1.

    Examples
    --------
    >>> check_share("alpha", 1.5)
    Traceback (most recent call last):
    ...
    ValueError: alpha must lie between 0 and 1, got 1.5
    """
    fits = isinstance(value, Real) and not isinstance(value, bool)
    if not fits or not 0 <= value <= 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {value!r}")
