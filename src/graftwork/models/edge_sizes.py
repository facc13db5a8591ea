"""How large the table of an edge is: its strength, its signed weight, how much of it is linear.

Tables are log-potentials, shape (states of one variable, states of the other). Scores are those of
ordered variables, NaN for states without one; binary variables have 0 and 1, others None.
"""

from __future__ import annotations

import numpy as np

from graftwork.inference.layout import Floats

#: Where scores correlate by this much in a table by itself, they go together.
_TOGETHER = 0.5


def strength(table: Floats) -> float:
    """Return the norm of the double-centred table; infinite where a cell is impossible.

    Examples
    --------
    >>> strength(np.eye(2))
    1.0
    """
    if np.isneginf(table).any():
        return float("inf")
    rows, columns = table.mean(axis=1, keepdims=True), table.mean(axis=0, keepdims=True)
    return float(np.linalg.norm(table - rows - columns + table.mean()))


def slope(table: Floats, first: Floats | None, second: Floats | None) -> float:
    """Return the theta of theta * x * y, the part of a table along both scores; NaN without them.

    Examples
    --------
    >>> slope(np.eye(2), np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    2.0
    """
    if first is None or second is None:
        return float("nan")
    if np.isneginf(table).any():
        return float("inf")
    x, y = _centred(first), _centred(second)
    return float(x @ table @ y) / float((x @ x) * (y @ y))


def score_norm(table: Floats, first: Floats | None, second: Floats | None) -> float:
    """Return the norm of the table x * y, both scores centred: of a slope of 1; NaN without them.

    Examples
    --------
    >>> score_norm(np.eye(2), np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    0.5...
    """
    if first is None or second is None:
        return float("nan")
    return float(np.linalg.norm(_centred(first)) * np.linalg.norm(_centred(second)))


def weight(table: Floats, first: Floats | None, second: Floats | None) -> float:
    """Return the slope where it tells what the edge is: NaN where the table is something else.

    That is where most of the table is along the scores, or they go together in it.

    Examples
    --------
    >>> bent = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    >>> weight(bent, np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0]))
    nan
    """
    found = slope(table, first, second)
    if first is None or second is None or not np.isfinite(found):
        return found
    squares = np.sum(_centred(first) ** 2) * np.sum(_centred(second) ** 2)
    straight = found**2 * squares >= 0.5 * strength(table) ** 2
    return found if straight or found * _together(table, first, second) > 0 else float("nan")


def linear_share(table: Floats, first: Floats | None, second: Floats | None) -> float:
    """Return the share of the squared strength along the scores of ordered variables.

    Of both, or of the one that is ordered; NaN where no variable of more than two states is.

    Examples
    --------
    >>> linear_share(np.outer([-1, 0, 1], [-1, 1]), np.array([0.0, 1.0, 2.0]), None)
    1.0
    """
    ordered = [x if x is not None and len(x) > 2 else None for x in (first, second)]
    if all(x is None for x in ordered):
        return float("nan")
    whole = strength(table) ** 2
    if not 0.0 < whole < float("inf"):
        return float("nan")
    left = table - table.mean(axis=1, keepdims=True)
    for x in ordered:
        if x is not None:
            own = _centred(x)
            left = np.outer(own, own @ left) / (own @ own)
        left = (left - left.mean(axis=0)).T
    return min(1.0, float(np.sum(left**2)) / whole)


def _centred(scores: Floats) -> Floats:
    """Return scores less their mean, 0 where a state has none."""
    centred: Floats = np.nan_to_num(scores - np.nanmean(scores))
    return centred


def _together(table: Floats, first: Floats, second: Floats) -> int:
    """Return 1 or -1 where scores go together, or against each other, in a table by itself.

    States are even otherwise. 0 if they hardly correlate.
    """
    rows, columns = ~np.isnan(first), ~np.isnan(second)
    table, x, y = table[np.ix_(rows, columns)], first[rows], second[columns]
    centred = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0)
    joint = np.exp(centred - centred.max())
    joint /= joint.sum()
    x, y = x - joint.sum(axis=1) @ x, y - joint.sum(axis=0) @ y
    scale = np.sqrt((joint.sum(axis=1) @ x**2) * (joint.sum(axis=0) @ y**2))
    correlation = float(x @ joint @ y / scale) if scale > 0 else 0.0
    return 0 if abs(correlation) < _TOGETHER else 1 if correlation > 0 else -1
