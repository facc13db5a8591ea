"""Missing cells drawn from a network, given the observed cells of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.layout import Floats, Potentials


def impute(
    potentials: Potentials,
    codes: NDArray[Any],
    rng: np.random.Generator,
    sweeps: int = 20,
) -> NDArray[Any]:
    """Return the rows with their missing cells drawn from the network, by Gibbs sampling.

    Parameters
    ----------
    codes : (n_variables, rows) integers
        States, and codes from ``cards[i]`` on where variable ``i`` is missing.
    sweeps : int
        How often each missing cell is drawn anew, given all others of its row.

    Examples
    --------
    >>> from graftwork.inference import Layout
    >>> sure = Potentials(Layout.of([2, 2], [(0, 1)]), np.array([0, 0, 0, 0, 50, 0, 0, 50.0]))
    >>> impute(sure, np.array([[0, 1, 2], [2, 2, 1]]), np.random.default_rng(0))
    array([[0, 1, 1],
           [0, 1, 1]])
    """
    layout, weights = potentials.layout, potentials.weights
    gone = [np.flatnonzero(row >= s) for row, s in zip(codes, layout.cards, strict=True)]
    neighbours: list[list[tuple[int, Floats]]] = [[] for _ in gone]
    for e, (i, j) in enumerate(layout.edges.tolist()):
        table = layout.table(weights, e)
        neighbours[i].append((j, table))
        neighbours[j].append((i, table.T))
    drawn = np.array(codes)
    for i, rows in enumerate(gone):  # to begin with, as if there were no edges
        alone = np.repeat(layout.unary(weights, i)[:, None], len(rows), axis=1)
        drawn[i, rows] = _draw(alone, rng)
    for _ in range(sweeps):
        for i, rows in enumerate(gone):
            if not len(rows):
                continue
            logits = np.repeat(layout.unary(weights, i)[:, None], len(rows), axis=1)
            for j, table in neighbours[i]:
                logits += table[:, drawn[j, rows]]
            drawn[i, rows] = _draw(logits, rng)
    return drawn


def _draw(logits: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a state for each column, with probabilities proportional to exp(logits)."""
    if not logits.size:
        return np.zeros(logits.shape[1], dtype=np.int64)
    noise = rng.gumbel(size=logits.shape)
    return np.asarray(np.argmax(logits + noise, axis=0))
