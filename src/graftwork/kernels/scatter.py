"""Sums over rows of some lines of numbers, by the states of many variables at once.

Looking rows up beats multiplying by ones and zeros: a row adds its eight numbers to the sums of the
cell it lies in. A *cell* is a combination of states of a few variables, so that one addition serves
all of them; what each variable needs is summed up at the end.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from graftwork.kernels.vectors import load, plus, store


@njit(cache=True, nogil=True)
def find_cells(variables, strides, bounds, bases, codes, start, lanes, cells):
    """Write where the sums of each row's cells start, for rows from ``start`` on.

    Group g holds ``variables[bounds[g]:bounds[g + 1]]``; its cells start at ``bases[g]``.
    """
    for g in range(len(bases)):
        for r in range(len(cells)):
            cells[r, g] = bases[g] * lanes
        for v in range(bounds[g], bounds[g + 1]):
            stride, own = strides[v] * lanes, codes[variables[v]]
            for r in range(len(cells)):
                cells[r, g] += np.uint32(np.int64(own[start + r]) * stride)


@njit(cache=True, nogil=True)
def take_states(width, first, last, conditionals, ids, masses, start, place, lanes, out):
    """Write some states' conditionals, times the rows' weights, to ``out[:, place:]``.

    ``ids`` say which configuration each row has; where they are empty, rows from ``start`` on are
    the configurations. ``out`` is flat.
    """
    for r in range(len(out) // lanes):
        row = start + r
        source = (np.int64(ids[row]) if ids.size else row) * width
        mass = masses[row] if masses.size else 1.0
        for a in range(first, last):
            out[r * lanes + place + a - first] = mass * conditionals[source + a]


@njit(cache=True, nogil=True)
def add_rows(lanes, own, cells, sums):
    """Add the numbers of each row to the sums of its cells; all flat, ``cells`` by rows."""
    n_rows = len(own) // len(lanes)
    n_groups = len(cells) // max(1, n_rows)
    for r in range(n_rows):
        held = load(lanes, own, r * len(lanes))
        for cell in cells[r * n_groups : (r + 1) * n_groups]:
            at = np.int64(cell)
            store(plus(load(lanes, sums, at), held), sums, at)


@njit(cache=True, nogil=True)
def part_cells(lanes, strides, cards, bounds, bases, sizes, places, sums, out):
    """Add the cells' sums to those of the states of each variable; all flat."""
    for g in range(len(bases)):
        for cell in range(sizes[g]):
            held = load(lanes, sums, (bases[g] + cell) * len(lanes))
            for v in range(bounds[g], bounds[g + 1]):
                state = cell // strides[v] % cards[v]
                at = (places[v] + state) * len(lanes)
                store(plus(load(lanes, out, at), held), out, at)
