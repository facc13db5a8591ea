"""How large an edge is: its strength, its signed correlation and weight, how much is linear.

Strength and correlation are those of the pair's *joint*: the distribution of two variables that has
the odds ratios of the edge's table and, of each variable, given frequencies. So they can be
compared between tables of all sizes, and rare states count little.

Tables are log-potentials, shape (states of one variable, states of the other). Scores are those of
ordered variables, NaN for states without one; binary variables have 0 and 1, others None. ``p`` and
``q`` are the frequencies of the states of the one and the other variable.
"""

from __future__ import annotations

import numpy as np

from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.kernels.pair_joints import pair_joints

#: Cells that are impossible count as this much below the lowest other cell, for weights.
_IMPOSSIBLE = 10.0


def joints(potentials: Potentials, frequencies: list[Floats], edges: Ints) -> list[Floats]:
    """Return the joints of the pairs of some edges, given by number, shape (states, states) each.

    Examples
    --------
    >>> from graftwork.inference import Layout
    >>> flat = Potentials(Layout.of([2, 2], [(0, 1)]), np.r_[np.zeros(4), 2 * np.log(4), 0, 0, 0])
    >>> joints(flat, [np.array([0.5, 0.5])] * 2, np.array([0]))[0].round(3).tolist()
    [[0.4, 0.1], [0.1, 0.4]]
    """
    if not len(edges):
        return []
    layout = potentials.layout
    starts = layout.edge_offsets[edges]
    flat = pair_joints(
        potentials.weights, layout.cards, layout.edges[edges], starts,
        np.concatenate(frequencies), layout.unary_offsets[:-1],
    )  # fmt: skip
    shapes = layout.cards[layout.edges[edges]].tolist()
    ends = np.cumsum([rows * columns for rows, columns in shapes]).tolist()
    begins = [0, *ends[:-1]]
    return [
        flat[begin:end].reshape(shape)
        for begin, end, shape in zip(begins, ends, shapes, strict=True)
    ]


def correlation(joint: Floats, first: Floats | None, second: Floats | None) -> float:
    """Return the correlation of the scores in a joint, -1 to 1; NaN without scores of both."""
    if first is None or second is None:
        return float("nan")
    x, y = _centred(first, joint.sum(axis=1)), _centred(second, joint.sum(axis=0))
    spread = np.sqrt((joint.sum(axis=1) @ x**2) * (joint.sum(axis=0) @ y**2))
    return float(np.clip(x @ joint @ y / spread, -1.0, 1.0)) if spread > 0 else 0.0


def strength(joint: Floats, first: Floats | None, second: Floats | None) -> float:
    """Return how closely a joint ties its two variables, from 0 (not at all) to 1.

    With scores of both it is the larger of the two correlation ratios: as `correlation` without its
    sign where relations are straight, and larger where they bend. Otherwise it is the correlation
    at which two normal variables have as much mutual information, sqrt(1 - exp(-2 I)).
    """
    if first is None or second is None:
        return _informative(joint)
    ratios = _explained(joint, second), _explained(joint.T, first)
    return float(np.sqrt(np.clip(max(ratios), 0.0, 1.0)))


def _explained(joint: Floats, scores: Floats) -> float:
    """Return the share of the variance of the columns' scores that lies between the rows."""
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    y = _centred(scores, columns)
    variance = float(columns @ y**2)
    between = np.divide((joint @ y) ** 2, rows, out=np.zeros_like(rows), where=rows > 0)
    return float(between.sum()) / variance if variance > 0 else 0.0


def _informative(joint: Floats) -> float:
    """Return sqrt(1 - exp(-2 I)) of the mutual information I of a joint, in nats."""
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    there = joint > 0
    information = float(np.sum(joint[there] * np.log(joint[there] / apart[there])))
    return float(np.sqrt(-np.expm1(-2.0 * max(information, 0.0))))


def weight(
    table: Floats, first: Floats | None, second: Floats | None, p: Floats, q: Floats
) -> float:
    """Return the theta of theta * x * y, the part of a table along both scores; NaN without them.

    Where the table is more than that, it is the theta that comes closest to it, each cell counting
    as often as both variables together, were they independent, would be in it.
    """
    if first is None or second is None:
        return float("nan")
    x, y = _centred(first, p), _centred(second, q)
    squares = float(p @ x**2) * float(q @ y**2)
    impossible = np.isneginf(table)
    if not impossible.any():
        return float((p * x) @ table @ (q * y)) / squares if squares > 0 else 0.0
    finite = np.where(impossible, np.min(table, where=~impossible, initial=0.0), table)
    steep = (p * x) @ np.where(impossible, finite - _IMPOSSIBLE, finite) @ (q * y)
    return float(np.sign(steep)) * float("inf") if steep else 0.0


def score_norm(
    table: Floats, first: Floats | None, second: Floats | None, p: Floats, q: Floats
) -> float:
    """Return the norm of the table x * y, both scores centred: of a slope of 1; NaN without them.

    Examples
    --------
    >>> scores, even = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    >>> round(score_norm(np.eye(2), scores, scores, even, even), 12)
    0.5
    """
    if first is None or second is None:
        return float("nan")
    even = (_centred(x, np.ones(len(x))) for x in (first, second))
    return float(np.prod([np.linalg.norm(x) for x in even]))


def linear_share(
    table: Floats, first: Floats | None, second: Floats | None, p: Floats, q: Floats
) -> float:
    """Return the share of a table's squares that lies along the scores of ordered variables.

    Of both, or of the one that is ordered; NaN where no variable of more than two states is. What
    the table says of single variables is taken out; cells count as in `weight`.
    """
    ordered = [x if x is not None and len(x) > 2 else None for x in (first, second)]
    if all(x is None for x in ordered) or np.isneginf(table).any():
        return float("nan")
    left = table - p @ table
    left = left - (left @ q)[:, None]
    whole = float(p @ left**2 @ q)
    if not whole > 0.0:
        return float("nan")
    for scores, own in zip(ordered, (p, q), strict=True):
        if scores is not None:
            x = _centred(scores, own)
            squares = float(own @ x**2)
            left = np.outer(x, (own * x) @ left) / squares if squares > 0 else 0.0 * left
        left = left.T
    return min(1.0, float(p @ left**2 @ q) / whole)


def _centred(scores: Floats, frequencies: Floats) -> Floats:
    """Return scores less their mean, 0 where a state has none."""
    known = ~np.isnan(scores)
    total = float(frequencies[known].sum())
    mean = float(frequencies[known] @ scores[known]) / total if total > 0 else 0.0
    centred: Floats = np.nan_to_num(scores - mean)
    return centred
