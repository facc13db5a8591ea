"""Sum-product with numbers in place of their logarithms: the fast way, where nothing is extreme.

Everything here answers as the kernels in logarithms do, to about 1e-12, or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.inference.layout import Floats, Layout
from graftwork.inference.wiring import Wiring, block_maxima, shift_rows, wire
from graftwork.kernels.linear_bp import (
    SPREAD,
    empty_boxes,
    fill_boxes,
    fill_tables,
    propagate_linear,
    read_linear,
)

#: The most states for which messages are held in vectors.
MOST_STATES = 16


@dataclass(frozen=True, slots=True, eq=False)
class LinearTables:
    """Potentials as the kernels of ``kernels.linear_bp`` want them.

    Attributes
    ----------
    sizes : tuple of int
        As long as the vectors are: kernels are compiled for it.
    fields : (n, lanes) float64
        Exponentials of the unaries less their maxima.
    tables : (rows, lanes) float64
        The tables of all slots.
    maxima : float
        The sum of the maxima taken away from unaries.
    """

    sizes: tuple[int, ...]
    fields: Floats
    tables: Floats
    maxima: float


def linear_tables(layout: Layout, unary: Floats, scaled: Floats) -> LinearTables | None:
    """Return unaries (logs) and tables (numbers) for the kernels, None where they do not fit.

    Examples
    --------
    >>> layout = Layout.of([2, 3], [(0, 1)])
    >>> found = linear_tables(layout, np.zeros(5), np.ones(6))
    >>> found.fields.shape, linear_tables(Layout.of([40]), np.zeros(40), np.zeros(0))
    ((2, 4), None)
    """
    widest = int(layout.cards.max(initial=1))
    if widest > MOST_STATES:
        return None
    shifted = shift_rows(unary, layout.cards)
    if shifted.min(initial=0.0) < np.log(SPREAD):
        return None
    lanes = 2 ** max(1, (widest - 1).bit_length())
    wiring = wire(layout)
    fields = np.zeros((layout.n_variables, lanes))
    fields[np.arange(lanes) < layout.cards[:, None]] = np.exp(shifted)
    tables = np.empty((wiring.rows[-1], lanes))
    fill_tables(wiring.indptr, layout.cards, wiring.slots, scaled, wiring.rows, tables)
    maxima = block_maxima(unary, layout.cards).sum()
    return LinearTables((0,) * lanes, fields, tables, float(maxima))


def propagate_numbers(
    layout: Layout, given: LinearTables, start: Floats, sweeps: int, tol: float, halved: bool
) -> tuple[Floats, int, float] | None:
    """Return log-messages, sweeps and the last change; None where something was too extreme."""
    if start.min(initial=0.0) < np.log(SPREAD):
        return None
    wiring = wire(layout)
    inbox, inverse = _boxes(layout, wiring, given, start)
    done, change = propagate_linear(
        given.sizes, given.fields, layout.cards, wiring.indptr, wiring.neighbours, wiring.reverse,
        wiring.rows, given.tables, wiring.order, wiring.position,
        inbox, inverse, sweeps, tol, halved,
    )  # fmt: skip
    if change < 0.0:
        return None
    messages = np.empty_like(start)
    empty_boxes(wiring.indptr, layout.cards, wiring.slots, inbox, messages)
    return np.log(messages, out=messages), int(done), float(change)


def read_numbers(
    layout: Layout, given: LinearTables, messages: Floats
) -> tuple[Floats, float] | None:
    """Return the beliefs of these log-messages and the Bethe log Z less the tables' maxima."""
    if messages.min(initial=0.0) < np.log(SPREAD):
        return None
    wiring = wire(layout)
    values = np.empty(layout.size)
    log_partition = read_linear(
        given.sizes, given.fields, layout.cards, layout.unary_offsets, wiring.indptr, wiring.slots,
        wiring.reverse, wiring.rows, given.tables, *_boxes(layout, wiring, given, messages), values,
    )  # fmt: skip
    return values, float(log_partition) + given.maxima


def _boxes(
    layout: Layout, wiring: Wiring, given: LinearTables, messages: Floats
) -> tuple[Floats, Floats]:
    """Return the messages into each slot, and their reciprocals."""
    inbox, inverse = np.empty((2, len(wiring.reverse), len(given.sizes)))
    fill_boxes(
        given.sizes, wiring.indptr, layout.cards, wiring.slots, np.exp(messages), inbox, inverse
    )
    return inbox, inverse
