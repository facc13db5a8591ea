"""Mean differences over networks, with their standard errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Line = Mapping[str, Any]
Floats = NDArray[np.float64]

#: Runs of one problem to the same accuracy may differ by less.
NOTHING = 1e-6


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean over independent networks, or a slope over them.

    Attributes
    ----------
    mean, error : float
        The mean and its standard error; the error is NaN for fewer than two networks.
    count, wins : int
        Networks, and those on which the value is above zero.
    largest : float
        The largest absolute value.
    whose : str
        What is above zero on them, if that is not what the mean is of.
    """

    mean: float
    error: float
    count: int
    wins: int
    largest: float = np.inf
    whose: str = ""

    @property
    def known(self) -> bool:
        """Whether there is a standard error to judge by."""
        return bool(np.isfinite(self.error))

    @property
    def least(self) -> float:
        """What a clear mean exceeds: two standard errors, and what solvers may differ by."""
        return max(2 * self.error, NOTHING)

    @property
    def clearly_not(self) -> bool:
        """Whether it is more than two standard errors below zero."""
        return self.known and self.mean < -self.least

    def __str__(self) -> str:
        """Return the mean, its error and the count.

        Examples
        --------
        >>> print(difference([0.1, 0.2, 0.3]))
        0.2 (s.e. 0.058; above 0 on 3 of 3
        """
        return (
            f"{self.mean:.3g} (s.e. {self.error:.2g}; {self.whose}above 0 on {self.wins} of "
            f"{self.count}"
        )

    @property
    def why_not(self) -> str:
        """Return what speaks against a claim that the mean is above zero.

        Examples
        --------
        >>> difference([-1.0, -2.0, -1.5]).why_not
        'the opposite holds, by more than two standard errors'
        """
        if self.largest < NOTHING:
            return f"no two differ by more than {self.largest:.1g}"
        if self.clearly_not:
            return "the opposite holds, by more than two standard errors"
        text = "it is within two standard errors of zero"
        if self.wins == self.count and not self.whose:
            text += ", though above zero on every one: a few are far larger than the others"
        return text


def difference(values: Iterable[float]) -> Difference:
    """Return the mean of values, one for each network, with its standard error."""
    found = np.asarray(list(values), dtype=np.float64)
    error = found.std(ddof=1) / np.sqrt(found.size) if found.size > 1 else np.nan
    mean = found.mean() if found.size else np.nan
    largest = float(np.abs(found).max(initial=0.0))
    return Difference(float(mean), float(error), found.size, int((found > 0).sum()), largest)


def apart(first: Iterable[float], second: Iterable[float]) -> Difference:
    """Return the difference of the means of two independent groups, with its standard error.

    Examples
    --------
    >>> found = apart([3.0, 5.0], [1.0, 1.0])
    >>> found.mean, found.error
    (3.0, 1.0)
    """
    one, two = difference(first), difference(second)
    count, wins = min(one.count, two.count), max(one.wins, two.wins)
    return Difference(one.mean - two.mean, float(np.hypot(one.error, two.error)), count, wins)


def slope(x: Sequence[float], y: Sequence[float]) -> Difference:
    """Return the slope of a line through leads ``y``, with its standard error.

    Errors of the points need not have the same spread (White's estimate, with the correction of
    few points): leads over no penalty vary far more where they are large.

    Examples
    --------
    >>> found = slope([0, 0, 1, 1], [0.9, 1.1, 2.9, 3.1])
    >>> round(found.mean, 6), found.mean > found.least
    (2.0, True)
    """
    across, up = (np.asarray(values, dtype=np.float64) for values in (x, y))
    if across.size < 3 or np.ptp(across) == 0:
        return Difference(np.nan, np.nan, across.size, int((up > 0).sum()))
    centred = across - across.mean()
    total = float(centred @ centred)
    found = float(centred @ up) / total
    residuals = up - up.mean() - found * centred
    variance = float((centred**2) @ residuals**2) / total**2 * across.size / (across.size - 2)
    wins = int((up > 0).sum())
    return Difference(
        found, float(np.sqrt(variance)), across.size, wins, whose="the lead itself is "
    )


def select(lines: Iterable[Line], **wanted: Any) -> list[Line]:
    """Return the lines that have these values.

    Examples
    --------
    >>> select([{"n": 1, "y": 2}, {"n": 2, "y": 3}], n=2)
    [{'n': 2, 'y': 3}]
    """
    return [line for line in lines if all(line.get(key) == one for key, one in wanted.items())]


def paired(
    lines: Iterable[Line], by: str, first: Any, second: Any, value: str | tuple[str, int]
) -> dict[Any, float]:
    """Return, for each network that has both, a value of the first less that of the second.

    Parameters
    ----------
    by : str
        The column that tells them apart.
    value : str, or str and int
        The column to compare, or a place in it.

    Examples
    --------
    >>> lines = [{"network": 0, "p": "l1", "y": 3.0}, {"network": 0, "p": "l2", "y": 1.0}]
    >>> paired(lines, "p", "l1", "l2", "y")
    {0: 2.0}
    """
    column, place = (value, None) if isinstance(value, str) else value
    sides: list[dict[Any, float]] = [{}, {}]
    for line in lines:
        for side, name in zip(sides, (first, second), strict=True):
            cell = line.get(column)
            if line.get(by) == name and cell is not None:
                side[line["network"]] = float(cell if place is None else cell[place])
    return {key: one - sides[1][key] for key, one in sides[0].items() if key in sides[1]}
