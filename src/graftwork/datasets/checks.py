"""What generators refuse, each with a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from graftwork.data.values import listing, suggestion
from graftwork.errors import DataError
from graftwork.inference.layout import Ints

#: Codes are kept in 16 bits.
MOST_STATES = 2**16


def whole(parameter: str, value: Any, low: int, high: float = math.inf) -> int:
    """Return a whole number from ``low`` to ``high``, or refuse it.

    Examples
    --------
    >>> whole("n_rows", 10, 1)
    10
    """
    fits = isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)
    if not fits or not low <= value <= high:
        most = f" and at most {high:g}" if high < math.inf else ""
        raise DataError(f"{parameter} is {value!r}; use a whole number of at least {low:g}{most}.")
    return int(value)


def amount(parameter: str, value: Any, high: float = math.inf) -> float:
    """Return a finite number from 0 to ``high``, or refuse it.

    Examples
    --------
    >>> amount("edge_sd", 1)
    1.0
    """
    kinds = int | float | np.integer | np.floating
    fits = isinstance(value, kinds) and not isinstance(value, bool) and math.isfinite(value)
    if not fits or not 0 <= value <= high:
        most = f" and at most {high:g}" if high < math.inf else ""
        raise DataError(f"{parameter} is {value!r}; use a finite number of at least 0{most}.")
    return float(value)


def share(parameter: str, value: Any) -> float:
    """Return a number between 0 and 1, neither of them, or refuse it.

    Examples
    --------
    >>> share("held_out", 0.1)
    0.1
    """
    kinds = int | float | np.integer | np.floating
    if not isinstance(value, kinds) or isinstance(value, bool) or not 0 < value < 1:
        raise DataError(f"{parameter} is {value!r}; use a number between 0 and 1, such as 0.1.")
    return float(value)


def choice(parameter: str, value: Any, known: Sequence[str]) -> str:
    """Return one of the texts there are, or refuse what is none of them.

    Examples
    --------
    >>> choice("name", "nltc", ["nltcs", "plants"])
    Traceback (most recent call last):
    graftwork.errors.DataError: name is 'nltc'; did you mean 'nltcs'? Use 'nltcs', 'plants'.
    """
    if not isinstance(value, str) or value not in known:
        hint = suggestion(str(value), known) or "."
        raise DataError(f"{parameter} is {value!r}{hint} Use {listing(known)}.")
    return value


def state_counts(n_states: Any, n_variables: int) -> Ints:
    """Return the number of states of each variable, from one number or one a variable.

    Examples
    --------
    >>> state_counts(3, 2), state_counts([2, 5], 2)
    (array([3, 3]), array([2, 5]))
    """
    if isinstance(n_states, int | np.integer):
        listed = [n_states] * n_variables
    else:
        try:
            listed = list(n_states)
        except TypeError:
            listed = [n_states]
        if isinstance(n_states, str) or len(listed) != n_variables:
            raise DataError(
                f"n_states is {n_states!r}; use one whole number, or one for each of the "
                f"{n_variables} variables."
            )
    return np.array([whole("n_states", s, 2, MOST_STATES) for s in listed], dtype=np.int64)
