"""What the arrays inside a Table must be, and how states become an array again."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.errors import DataError

LARGEST_WEIGHT = 1e100
MAX_STATES = 65_535
_SIMPLE = {int: np.int64, float: np.float64, bool: np.bool_}


def palette(states: tuple[Hashable, ...]) -> NDArray[Any]:
    """Return the states as an array that codes can index.

    int64, float64 or bool if all are of that one type, otherwise objects.

    Examples
    --------
    >>> palette((0, 1)).dtype, palette(("a", 1)).dtype
    (dtype('int64'), dtype('O'))
    """
    kinds = {type(state) for state in states}
    simple = _SIMPLE.get(next(iter(kinds))) if len(kinds) == 1 else None
    if simple is not None:
        try:
            return np.array(states, dtype=simple)
        except OverflowError:  # an int beyond 64 bits
            pass
    out = np.empty(len(states), dtype=object)
    for code, state in enumerate(states):
        out[code] = state
    return out


def checked_codes(
    codes: Any, names: tuple[Hashable, ...], states: tuple[tuple[Hashable, ...], ...]
) -> NDArray[np.unsignedinteger[Any]]:
    """Return codes as a read-only array of the smallest type, not copied if it fits already.

    Examples
    --------
    >>> checked_codes([[0, 1]], ("a",), (("x", "y"),)).dtype
    dtype('uint8')
    """
    given = np.asarray(codes)
    if given.ndim != 2 or given.shape[0] != len(names) or len(states) != len(names):
        raise DataError(
            f"{len(names)} names, {len(states)} lists of states and codes of shape {given.shape} "
            "do not fit together; codes must have shape (n_variables, n_rows)."
        )
    if given.size == 0:
        raise DataError(f"the table has no rows or no columns (shape {given.shape[::-1]}).")
    cards = np.array([len(listed) for listed in states])
    if cards.max() > MAX_STATES:
        name = names[int(np.argmax(cards))]
        raise DataError(f"column {name!r} has more than {MAX_STATES:,} states.")
    if given.dtype.kind not in "iu" or given.min() < 0 or (given.max(axis=1) >= cards).any():
        raise DataError("codes must be integers from 0 to one less than the number of states.")
    kind = np.uint8 if cards.max() <= 1 << 8 else np.uint16
    # A view, so that the caller's own array keeps its flags.
    out: NDArray[Any] = np.ascontiguousarray(given, dtype=kind).view()
    out.flags.writeable = False
    return out


def checked_weights(
    weights: Any, n_rows: int, *, owner: str = "the table", unit: str = "row"
) -> NDArray[np.float64]:
    """Return a read-only copy of row weights.

    ``owner`` has the weights, and each of them is for a ``unit``, in the words of errors.

    Examples
    --------
    >>> checked_weights([1, 2], 2).tolist()
    [1.0, 2.0]
    """
    try:
        given = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"weights must be numbers, one per {unit}.") from error
    if given.shape != (n_rows,):
        raise DataError(
            f"weights have shape {given.shape}, but {owner} has {n_rows} {unit}s; "
            f"give one weight per {unit}."
        )
    if not np.isfinite(given).all():
        row = int(np.argmin(np.isfinite(given)))
        raise DataError(f"the weight of {unit} {row} is {given[row]} (NaN and inf are refused).")
    if (given < 0).any():
        row = int(np.argmax(given < 0))
        raise DataError(f"the weight of {unit} {row} is negative ({given[row]:g}).")
    if (given > LARGEST_WEIGHT).any():
        row = int(np.argmax(given > LARGEST_WEIGHT))
        raise DataError(
            f"the weight of {unit} {row} is {given[row]:g}, too large to add up; only ratios "
            "matter much: divide all weights by the largest."
        )
    if not (given > 0).any():
        raise DataError(f"all weights are zero; one {unit} at least must count.")
    given.flags.writeable = False
    return given
