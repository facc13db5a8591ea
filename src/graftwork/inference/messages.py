"""What all message passing shares: tables made ready, one attempt, beliefs read, warm starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.inference.beliefs import Beliefs
from graftwork.inference.layout import Floats, Layout, Potentials
from graftwork.inference.linear import (
    LinearTables,
    linear_tables,
    propagate_numbers,
    read_numbers,
)
from graftwork.inference.pairs import find_edges
from graftwork.inference.ragged import grids
from graftwork.inference.wiring import Wiring, block_maxima, wire
from graftwork.kernels.bp import propagate, read_beliefs

#: The damping of the second attempt.
SECOND_DAMPING = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Log-potentials as the kernels want them.

    Attributes
    ----------
    unary : (n_unary,) float64
    rho : (2 m,) float64
        The share of each slot's edge: 1 for sum-product.
    shifted, scaled : float64
        Tables over their shares, less their maxima; and the exponentials of that.
    maxima : (m,) float64
        The maxima taken away, times the shares: those of the tables themselves.
    linear : LinearTables or None
        The same for messages that are not logarithms, where that can work.
    """

    unary: Floats
    rho: Floats
    shifted: Floats
    scaled: Floats
    maxima: Floats
    linear: LinearTables | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """Messages after some sweeps, how many those were, and the largest change in the last one."""

    messages: Floats
    sweeps: int
    residual: float


def ready(
    potentials: Potentials, shares: Floats | None = None, rho: Floats | None = None
) -> Tables:
    """Return the tables for the kernels, each divided by its edge's share (1 where none is given).

    Parameters
    ----------
    potentials : Potentials
    shares : (m,) float64, optional
        One share an edge.
    rho : (2 m,) float64, optional
        The same shares, one a slot.

    Examples
    --------
    >>> layout = Layout.of([1, 2], [(0, 1)])
    >>> ready(Potentials(layout, np.array([0, 0, 0, 1.0, 3.0])), np.array([0.5]), np.full(2, 0.5))
    Tables(unary=array([0., 0., 0.]), rho=array([0.5, 0.5]), shifted=array([-4., 0.]), ...
    """
    layout = potentials.layout
    weights = potentials.weights[layout.n_unary :]
    maxima = block_maxima(weights, layout.edge_sizes)
    shifted = weights - np.repeat(maxima, layout.edge_sizes)
    if shares is not None:
        shifted /= np.repeat(shares, layout.edge_sizes)
    slots = np.ones(2 * layout.n_edges) if rho is None else rho
    unary = potentials.weights[: layout.n_unary].copy()
    scaled = np.exp(shifted)
    linear = linear_tables(layout, unary, scaled) if rho is None else None
    return Tables(unary, slots, shifted, scaled, maxima, linear)


def attempt(
    layout: Layout, tables: Tables, start: Floats, sweeps: int, tol: float, damping: float
) -> Attempt:
    """Return the messages that at most so many sweeps make of these; `start` stays as it is."""
    if tables.linear is not None and sweeps and damping in (0.0, 0.5):
        found = propagate_numbers(layout, tables.linear, start, sweeps, tol, damping == 0.5)
        if found is not None:
            return Attempt(*found)
    wiring = wire(layout)
    messages = start.copy()
    done, residual = propagate(
        tables.unary, layout.unary_offsets, wiring.indptr, wiring.slots, tables.rho,
        tables.shifted, tables.scaled, wiring.order, wiring.position,
        messages, sweeps, tol, damping,
    )  # fmt: skip
    # Messages nobody has updated have not been shown to stay where they are.
    return Attempt(messages, int(done), float(residual) if done else np.inf)


def exact_sweep(layout: Layout, tables: Tables, start: Floats) -> Attempt:
    """Return the messages of a forest, where one sweep settles everything."""
    return Attempt(attempt(layout, tables, start, 1, 0.0, 0.0).messages, 1, 0.0)


def better(first: Attempt, second: Attempt) -> Attempt:
    """Return the one that changed less in the end, with the sweeps of both.

    Examples
    --------
    >>> better(Attempt(np.zeros(1), 20, 0.5), Attempt(np.ones(1), 9, 1e-10))
    Attempt(messages=array([1.]), sweeps=29, residual=1e-10)
    """
    chosen = second if second.residual < first.residual else first
    return Attempt(chosen.messages, first.sweeps + second.sweeps, chosen.residual)


def settle(
    layout: Layout,
    tables: Tables,
    start: Floats,
    sweeps: int,
    tol: float,
    damping: float,
    restart: bool,
) -> Attempt:
    """Return settled messages: one sweep on a forest, else a run and, if need be, a damped one.

    ``restart`` begins the damped run where the first one began; otherwise it goes on from there.
    """
    if wire(layout).forest:
        return exact_sweep(layout, tables, start)
    first = attempt(layout, tables, start, sweeps, tol, damping)
    if first.residual <= tol or damping > 0.0:
        return first
    again = start if restart else first.messages
    return better(first, attempt(layout, tables, again, sweeps, tol, SECOND_DAMPING))


def read(layout: Layout, tables: Tables, messages: Floats) -> tuple[Floats, float]:
    """Return the beliefs these messages give, and the Bethe log Z (reweighted by the shares).

    Examples
    --------
    >>> layout = Layout.of([1, 2], [(0, 1)])
    >>> tables = ready(Potentials(layout, np.array([0, 0, 0, 0, np.log(3)])))
    >>> settled = exact_sweep(layout, tables, np.zeros(3))
    >>> values, log_partition = read(layout, tables, settled.messages)
    >>> values, round(float(np.exp(log_partition)), 4)
    (array([1.  , 0.25, 0.75, 0.25, 0.75]), 4.0)
    """
    found = None if tables.linear is None else read_numbers(layout, tables.linear, messages)
    if found is not None:
        return found[0], found[1] + float(tables.maxima.sum())
    wiring = wire(layout)
    values = layout.zeros()
    log_partition = read_beliefs(
        tables.unary, layout.unary_offsets, wiring.indptr, wiring.slots, tables.rho,
        tables.shifted, tables.scaled, wiring.reverse, messages, values,
    )  # fmt: skip
    if log_partition == -np.inf:
        values[:] = 0.0
    return values, float(log_partition + tables.maxima.sum())


def warm_messages(layout: Layout, wiring: Wiring, warm: Beliefs | None) -> Floats:
    """Return starting messages: those of `warm` on shared edges, uniform elsewhere.

    Messages with a hard zero start afresh: a zero would never leave its loop again.
    """
    if warm is None or warm.messages is None or not np.array_equal(warm.layout.cards, layout.cards):
        return np.zeros(wiring.message_offsets[-1])
    finite = np.where(np.isfinite(warm.messages), warm.messages, 0.0)
    if warm.layout is layout or np.array_equal(warm.layout.edges, layout.edges):
        return finite
    messages = np.zeros(wiring.message_offsets[-1])
    edge = find_edges(warm.layout, layout.edges)
    here = np.flatnonzero(edge >= 0)
    sizes = layout.cards[layout.edges[here]].sum(axis=1)
    one = np.ones_like(sizes)
    source = wire(warm.layout).message_offsets[edge[here]]
    old = finite[grids(source, one, sizes, 0, 1)]
    messages[grids(wiring.message_offsets[here], one, sizes, 0, 1)] = old
    return messages
