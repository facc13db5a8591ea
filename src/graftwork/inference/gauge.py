"""The same network with other numbers: what tables and unaries may trade with each other.

Adding a number to a row of a table and taking it from the unary of that state changes no
probability, nor does a number added to all of a unary. Of all ways to write a network, some have
more zeros.
"""

from __future__ import annotations

import numpy as np

from graftwork.inference.layout import Floats, Ints, Potentials

# What differs from zero by fewer roundings than this is zero.
ROUNDINGS = 16.0


def sparsest(potentials: Potentials, references: Ints) -> Potentials:
    """Return the same network with the fewest numbers that are not zero, of two ways to write it.

    As it is, or with zeros for the reference states: a table is written as its differences from the
    row and the column of the reference states where that leaves fewer numbers, and a unary as its
    differences from the reference state's.

    Shapes: references (n,) int64.
    """
    changed = cornered(potentials, references)
    fewer = np.count_nonzero(changed.weights) < np.count_nonzero(potentials.weights)
    return changed if fewer else potentials


def cornered(potentials: Potentials, references: Ints) -> Potentials:
    """Return the same network with zeros for reference states, in tables where that pays."""
    layout, weights = potentials.layout, potentials.weights.copy()
    for e, (i, j) in enumerate(layout.edges.tolist()):
        table = layout.table(weights, e)
        rest, row, column = _differences(table, int(references[i]), int(references[j]))
        if np.count_nonzero(rest) < np.count_nonzero(table):
            layout.unary(weights, i)[:] += row
            layout.unary(weights, j)[:] += column
            table[:] = rest
    for i, reference in enumerate(references.tolist()):
        unary = layout.unary(weights, i)
        moved = unary - unary[reference]
        if np.count_nonzero(moved) < np.count_nonzero(unary):
            unary[:] = moved
    return Potentials(layout, weights)


def _differences(table: Floats, a: int, b: int) -> tuple[Floats, Floats, Floats]:
    """Return a table without what row a and column b explain, and what moves to the two unaries."""
    row, column = table[:, b] - table[a, b], table[a, :] - table[a, b]
    rest = table - table[a, b] - row[:, None] - column
    noise = ROUNDINGS * np.finfo(np.float64).eps * float(np.abs(table).max())
    rest[np.abs(rest) <= noise] = 0.0
    rest[a, :] = rest[:, b] = 0.0
    return rest, row, column
