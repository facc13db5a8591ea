"""Numbers grouped into ordered bins, and bins found again by their labels alone.

A bin's label says which numbers are in it, exactly: ``"<= 1.2"``, ``"(1.2, 3.4]"``, ``"> 3.4"``. So
the states of a saved network are all that new numbers need to find theirs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.data.encode import Coded, small
from graftwork.data.missing import MISSING_STATE
from graftwork.data.values import listing, plain, suggestion
from graftwork.errors import DataError, ParameterError

#: Number of bins of every column of numbers, or of some columns by name.
Bins = int | Mapping[Any, int]
Floats = NDArray[np.float64]

# How far from its quantile a cut point may lie for the sake of fewer digits, as a share of a bin.
_SLACK = 0.1
# Fewer rows do not tell row numbers from others.
_MANY_ROWS = 20
_FIRST, _INNER, _LAST = (
    re.compile(pattern) for pattern in (r"<= (\S+)", r"\((\S+), (\S+)\]", r"> (\S+)")
)


def check_bins(bins: Any, name: str = "bins") -> Bins | None:
    """Return numbers of bins, each a whole number from 2 on, or refuse them.

    Examples
    --------
    >>> check_bins(7), check_bins({"age": 5.0}), check_bins(None)
    (7, {'age': 5}, None)
    """
    if bins is None:
        return None
    if isinstance(bins, Mapping):
        return {plain(column): _count(n, f"{name} of {column!r}") for column, n in bins.items()}
    return _count(bins, name)


def _count(value: Any, what: str) -> int:
    whole = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not whole or value != value or math.isinf(value) or value != int(value) or value < 2:
        raise ParameterError(
            f"{what} must be a whole number greater than or equal to 2, or such numbers by "
            f"column (bins={{'age': 5}}), got {value!r}."
        )
    return int(value)


def check_binned_names(
    bins: Bins | None, names: Sequence[Hashable], declared: Iterable[Hashable]
) -> None:
    """Raise if columns to bin are not there, or have states that are declared; return None.

    Examples
    --------
    >>> check_binned_names({"age": 5}, ("age", "sex"), ())
    """
    for name in bins if isinstance(bins, Mapping) else ():
        if name not in names:
            raise DataError(
                f"bins names {name!r}, which is not a column{suggestion(name, names) or '.'} "
                f"The columns are {listing(names)}."
            )
        if name in declared:
            raise DataError(f"column {name!r} has declared states, so it cannot be binned.")


def binned(coded: Coded, name: Hashable, bins: Bins | None, weights: Any = None) -> Coded:
    """Return a column of numbers in ordered bins that hold about equally many rows.

    Only where it has more different values than bins are asked for; others come back as they are.
    """
    count = bins.get(name) if isinstance(bins, Mapping) else bins
    if count is None or cuts_of(coded.states) is not None:
        return coded
    values = _numbers(coded.states)
    if values is None:
        if isinstance(bins, Mapping):
            raise DataError(
                f"bins names {name!r}, which is not a column of numbers: its states are "
                f"{listing([each for each in coded.states if each != MISSING_STATE])}."
            )
        return coded
    gone = np.isnan(values)[coded.codes]
    if coded.missing is not None:
        gone |= coded.missing
    rows = np.where(gone, 0.0, 1.0 if weights is None else np.asarray(weights, dtype=np.float64))
    mass = np.bincount(coded.codes, rows, len(values)).astype(np.float64)
    seen = np.flatnonzero(mass > 0)
    if len(seen) <= count:
        return coded
    order = seen[np.argsort(values[seen], kind="stable")]
    cuts = quantile_cuts(values[order], mass[order], count)
    lookup = np.searchsorted(cuts, values, side="left")  # NaN lies behind all cuts
    states: tuple[Hashable, ...] = labels(cuts)
    if np.isnan(values).any():  # missing was a state, and stays one
        lookup[np.isnan(values)] = len(states)
        states = (*states, MISSING_STATE)
    codes = small(lookup, len(states))[coded.codes]
    return replace(coded, codes=codes, states=states, declared=True, ordered=True)


def counts_rows(coded: Coded, n_rows: int | None = None) -> bool:
    """Return whether a column looks like row numbers: another whole number in every row, no gaps.

    The rows are those of `coded`, or `n_rows` where it has each state only once.

    Examples
    --------
    >>> counts_rows(Coded(np.arange(50), tuple(range(1, 51))))
    True
    """
    rows, states = len(coded.codes) if n_rows is None else n_rows, coded.states
    if coded.missing is not None or rows < _MANY_ROWS or len(states) < rows:
        return False
    whole = all(isinstance(state, int) and not isinstance(state, bool) for state in states)
    return whole and max(states) - min(states) < 2 * rows  # type: ignore[type-var,operator]


def _numbers(states: Sequence[Hashable]) -> Floats | None:
    """Return states as numbers, NaN for that of missing cells; None if others are none."""
    listed: list[float] = []
    for state in states:
        if isinstance(state, int | float) and not isinstance(state, bool):
            try:
                listed.append(float(state))
            except OverflowError:  # an int of hundreds of digits is an identifier
                return None
        elif state == MISSING_STATE:
            listed.append(math.nan)
        else:
            return None
    found = np.array(listed)
    return None if np.isnan(found).all() else found


def quantile_cuts(values: Floats, mass: Floats, bins: int) -> list[float]:
    """Return points that cut sorted values into bins of about equal mass, with few digits.

    A point is in the bin below it. Equal values are never parted, so there are fewer bins where
    many rows have one value; no bin is empty.
    """
    share = np.cumsum(mass) / mass.sum()
    cuts: list[float] = []
    last = -1
    for k in range(1, bins):
        target = k / bins
        near = np.flatnonzero(np.abs(share[:-1] - target) <= _SLACK / bins + 1e-12)
        best = int(np.argmin(np.abs(share[:-1] - target)))
        low, high = (int(near[0]), int(near[-1])) if len(near) else (best, best)
        cut = _roundest(values[best], values[low], values[high + 1])
        place = int(np.searchsorted(values, cut, side="right")) - 1
        if place > last:
            cuts.append(cut)
            last = place
    return cuts


def _roundest(wanted: float, low: float, high: float) -> float:
    """Return the number from ``low`` to below ``high`` with the fewest digits, near to a third.

    Examples
    --------
    >>> _roundest(1.2345, 1.2345, 1.3), _roundest(19, 19, 21), _roundest(-0.01, -0.5, 0.2)
    (1.24, 20.0, 0.0)
    """
    if low <= 0 < high:
        return 0.0
    top = math.floor(math.log10(abs(wanted) or max(abs(low), abs(high))))
    for exponent in range(top, max(top - 17, -308), -1):  # powers below have no inverse
        step = round(wanted / 10.0**exponent)
        near = [float(f"{step + move}e{exponent}") for move in (0, -1, 1)]
        fitting = [value for value in near if low <= value < high]
        if fitting:
            return min(fitting, key=lambda value: abs(value - wanted))
    return float(low)


def labels(cuts: Sequence[float]) -> tuple[str, ...]:
    """Return the labels of bins, from the lowest to the highest."""
    texts = [_text(cut) for cut in cuts]
    inner = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return (f"<= {texts[0]}", *inner, f"> {texts[-1]}")


def _text(value: float) -> str:
    whole = value == int(value) and abs(value) < 1e15
    return str(int(value)) if whole else repr(float(value))


@lru_cache(maxsize=1024)
def cuts_of(states: tuple[Hashable, ...]) -> tuple[float, ...] | None:
    """Return the points between bins whose labels are these states; None if they are no bins.

    The state of missing cells may stand behind them.
    """
    listed = states[:-1] if states and states[-1] == MISSING_STATE else states
    if len(listed) < 2 or not all(isinstance(state, str) for state in listed):
        return None
    first, last = _FIRST.fullmatch(str(listed[0])), _LAST.fullmatch(str(listed[-1]))
    inner = [_INNER.fullmatch(str(state)) for state in listed[1:-1]]
    if first is None or last is None or not all(inner):
        return None
    lows = [first[1], *(found[2] for found in inner if found)]
    highs = [*(found[1] for found in inner if found), last[1]]
    try:
        cuts = tuple(float(text) for text in lows)
    except ValueError:
        return None
    rising = all(a < b for a, b in pairwise(cuts)) and all(map(math.isfinite, cuts))
    return cuts if lows == highs and rising else None


def is_label(text: str) -> bool:
    """Return whether a text is the label of a bin.

    Examples
    --------
    >>> is_label("<= 1.2"), is_label("(1.2, 3]"), is_label("low")
    (True, True, False)
    """
    return any(pattern.fullmatch(text) for pattern in (_FIRST, _INNER, _LAST))


def bin_of(value: Any, states: tuple[Hashable, ...]) -> int:
    """Return the place of the bin a number is in; -1 if it is no number, or these are no bins.

    Examples
    --------
    >>> bin_of(3, ("<= 1.25", "(1.25, 3]", "> 3")), bin_of("3", ("<= 1", "> 1"))
    (1, -1)
    """
    if not isinstance(value, int | float) or isinstance(value, bool) or value != value:
        return -1
    cuts = cuts_of(states)
    return -1 if cuts is None else int(np.searchsorted(cuts, float(value), side="left"))
