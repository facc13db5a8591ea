"""Memory that variables of very many states take, known before any of it is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graftwork.errors import TooLargeError
from graftwork.inference.layout import Ints
from graftwork.limits import PAIRS
from graftwork.objectives.hessian import triangle_lanes
from graftwork.significance.pooling import MOST_GROUPS
from graftwork.text import size

# Numbers kept for each two states of a variable while pairs are scored: sums of residuals by
# states, of both variables of a pair.
SCORED = 2


def table_bytes(cards: Ints, tests: bool) -> int:
    """Return the bytes of tables by every two states of the variable that has the most.

    Where edges are tested, the covariance of a neighbour's contrasts is summed for each two states.
    """
    *others, most = sorted(map(int, cards))
    numbers = SCORED
    if tests and others:
        contrasts = min(others[-1], MOST_GROUPS) - 1
        products = contrasts * (contrasts + 1) // 2
        lanes = len(triangle_lanes(products))
        numbers = max(numbers, -(-products // lanes) * lanes)
    return 8 * numbers * most**2


def check_pairs(n: int, tests: bool) -> None:
    """Refuse more pairs of ``n`` variables than can be tested in a sensible time; return None."""
    pairs = n * (n - 1) // 2
    if tests:
        PAIRS.check(
            pairs,
            f"{n:,} columns have {pairs:,} pairs, which are all to be tested",
            "choose columns, or give lam, with which no pair is tested",
        )


def check_tables(names: Sequence[Any], cards: Ints, tests: bool, limit: int) -> None:
    """Refuse variables whose tables would take more memory than a limit; return None."""
    needed = table_bytes(cards, tests)
    if needed > limit:
        widest = int(np.argmax(cards))
        raise TooLargeError(
            f"column {names[widest]!r} has {cards[widest]:,} states, whose tables would take about "
            f"{size(needed)}, more than the limit of {size(limit)}; leave the column out if it is "
            "an identifier, group its states, or raise the limit with "
            f"table_memory='{-(-needed // 10**9)}GB'."
        )
