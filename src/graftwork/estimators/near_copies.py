"""Edges between variables that nearly repeat each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from graftwork.data.encoded import EncodedRows
from graftwork.inference.layout import Ints

# Two variables nearly repeat each other if they agree in more than this share of the rows, and if
# this share of what chance leaves open is agreement, too (Cohen's kappa): rare states agree anyway.
AGREEMENT, KAPPA = 0.9, 0.8
SHOWN = 3


def near_copies(sample: EncodedRows, edges: Ints) -> list[tuple[int, int, float]]:
    """Return the edges between near copies, and the shares of rows in which they agree.

    Each state of one goes with one of the other, as they agree best.

    Examples
    --------
    >>> from graftwork.data import Table
    >>> from graftwork.data.encoded import prepare
    >>> codes = [[0, 1, 2] * 20, [2, 1, 0] * 19 + [2, 1, 1], [0] * 30 + [1] * 30]
    >>> table = Table(("a", "b", "c"), ((0, 1, 2), (0, 1, 2), (0, 1)), codes)
    >>> near_copies(prepare(table), np.array([[0, 1], [0, 2]]))
    [(0, 1, 0.98...)]
    """
    if not len(edges):
        return []
    values, starts = sample.counts.tables(edges)
    found = []
    for k, (i, j) in enumerate(edges.tolist()):
        table = np.asarray(values[starts[k] : starts[k + 1]], dtype=np.float64)
        table = table.reshape(sample.cards[i], sample.cards[j])
        total = float(table.sum())
        if total <= 0.0 or table.max(axis=1).sum() <= AGREEMENT * total:
            continue
        rows, columns = linear_sum_assignment(table, maximize=True)
        share = float(table[rows, columns].sum()) / total
        chance = float(table.sum(axis=1)[rows] @ table.sum(axis=0)[columns]) / total**2
        if share > AGREEMENT and share - chance > KAPPA * (1.0 - chance):
            found.append((i, j, share))
    return sorted(found, key=lambda each: (-each[2], each[:2]))


def copies_remark(sample: EncodedRows, edges: Ints, names: Sequence[Any]) -> str:
    """Return what to bear in mind about edges between near copies; an empty text without any."""
    found = near_copies(sample, edges)
    if not found:
        return ""
    pairs = [f"{names[i]} and {names[j]} ({share:.0%})" for i, j, share in found[:SHOWN]]
    more = len(found) - SHOWN
    listed = ", ".join(pairs) + (f" and {more:,} more pairs" if more > 0 else "")
    return (
        f"Nearly the same in more than {AGREEMENT:.0%} of the rows: {listed}. Which of such "
        "variables is connected to a third is hardly decided by the rows: keep one of them, or "
        "read their edges to others as edges of both."
    )
