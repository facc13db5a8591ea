"""Conditionals of the observed cells of rows where others are missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from graftwork.inference.layout import Floats, Potentials

ROW_BLOCK = 4096


def soft_log_conditionals(
    potentials: Potentials,
    codes: NDArray[np.unsignedinteger[Any]],
    frequencies: Sequence[Floats],
) -> Floats:
    """Return sum_i log p(x_i | the others) over the variables observed in each column of ``codes``.

    Parameters
    ----------
    codes : (n_variables, rows) integers
        States, and ``cards[i]`` where variable ``i`` is missing.
    frequencies : sequence of (cards[i],) float64
        What a missing neighbour counts as: its table's average by these.

    Examples
    --------
    >>> from graftwork.inference import Layout
    >>> flat = Potentials(Layout.of([2, 2], [(0, 1)]), np.zeros(8))
    >>> half = [np.array([0.5, 0.5])] * 2
    >>> soft_log_conditionals(flat, np.array([[0, 0], [1, 2]]), half).round(4)
    array([-1.3863, -0.6931])
    """
    layout, weights = potentials.layout, potentials.weights
    halves: list[list[tuple[int, Floats]]] = [[] for _ in range(layout.n_variables)]
    for e, (i, j) in enumerate(layout.edges.tolist()):
        table = layout.table(weights, e)
        halves[i].append((j, np.column_stack([table, _average(table, frequencies[j])])))
        halves[j].append((i, np.column_stack([table.T, _average(table.T, frequencies[i])])))
    out = np.zeros(codes.shape[1])
    for start in range(0, codes.shape[1], ROW_BLOCK):
        part = codes[:, start : start + ROW_BLOCK]
        for i, neighbours in enumerate(halves):
            rows = np.flatnonzero(part[i] < layout.cards[i])
            logits = np.repeat(layout.unary(weights, i)[:, None], len(rows), axis=1)
            for j, half in neighbours:
                logits += half[:, part[j, rows]]
            own = logits[part[i, rows].astype(np.int64), np.arange(len(rows))]
            out[start + rows] += own - logsumexp(logits, axis=0)
    return out


def _average(table: Floats, frequencies: Floats) -> Floats:
    """Return the mean of a table's columns; what is never there may be impossible."""
    seen = frequencies > 0
    return np.asarray(table[:, seen] @ frequencies[seen])
