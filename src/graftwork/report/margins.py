"""How a network's weights were fitted, and how far its answers are from the rows."""

from __future__ import annotations

from graftwork.models.observed import Observed

#: A difference up to this is not worth a sentence where nothing was done about it.
NOTABLE = 0.05

#: Which weights a network has, in a few words.
WEIGHTS = {
    "calibrated": "tables by the pseudo-likelihood, unaries calibrated to the rows",
    "likelihood": "by the likelihood",
    "pseudolikelihood": "by the pseudo-likelihood",
}

_HOW = {
    "calibrated": (
        "The tables are fitted by the pseudo-likelihood (each variable given all others), the "
        "unaries are calibrated: probabilities of single variables are those of the rows"
    ),
    "likelihood": (
        "All weights are fitted by the likelihood: probabilities of single variables, and of pairs "
        "with an edge, follow the rows"
    ),
    "pseudolikelihood": (
        "All weights are fitted by the pseudo-likelihood, each variable given all others: "
        "probabilities of single variables may differ from the rows"
    ),
}


def margins_text(rows: Observed | None) -> str:
    """Return how a network's weights were fitted, and how far it is from its rows, in words.

    An empty text for weights of the pseudo-likelihood whose margins are close to the rows'.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = np.zeros((0, 2), dtype=np.int64)
    >>> rows = Observed(np.array([6.0, 4.0]), pairs, np.zeros(0), "pseudolikelihood", 0.15)
    >>> print(margins_text(rows)[-61:])
    differ from the rows (the largest difference is 15.0 points).
    """
    if rows is None:
        return ""
    if rows.fitted == "pseudolikelihood" and (rows.margin_error or 0.0) < NOTABLE:
        return ""
    return f"{_HOW[rows.fitted]} ({distance_text(rows)})."


def distance_text(rows: Observed) -> str:
    """Return the largest difference between a probability and its frequency, in words.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = np.zeros((0, 2), dtype=np.int64)
    >>> distance_text(Observed(np.ones(2), pairs, np.zeros(0), "calibrated", 0.0123, 0.004))
    'the largest difference is 1.2 points; sampled, with a standard error of up to 0.4'
    """
    if rows.margin_error is None:
        return "how far was not looked at, since exact answers take long"
    told = f"the largest difference is {points(rows.margin_error)}"
    if rows.noise:
        told += f"; sampled, with a standard error of up to {100 * rows.noise:.1f}"
    return told


def points(share: float) -> str:
    """Return a difference of probabilities in points."""
    return "below 0.1 points" if share < 0.0005 else f"{100 * share:.1f} points"
