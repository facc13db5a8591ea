"""Marginals of hidden variables given the rest of a row, for many rows of one network.

Which variables are hidden is the same for all rows, so the hidden network is compiled once; what
differs between rows are its unaries, into which the tables of observed neighbours are folded. Rows
whose observed neighbours agree are inferred once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.evidence import observe
from graftwork.inference.junction import JunctionTree, compile_plan
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.messages import SECOND_DAMPING, ready
from graftwork.inference.pairs import Mask
from graftwork.inference.wiring import wire
from graftwork.kernels.bp import log_beliefs_seen
from graftwork.kernels.junction import log_marginals_seen, scale_tables
from graftwork.kernels.threads import count_threads, run_chunks

Codes = NDArray[np.unsignedinteger[Any]]

#: Most table cells of a hidden network that is still inferred exactly, since they are filled for
#: every row; more where they are few compared with what belief propagation would compute anyway.
LIMIT_CELLS = 2**17
CELLS_PER_WEIGHT = 32

#: Distinct rows inferred at a time: their unaries stay in memory.
LINES = 1024

#: Sweeps and tolerance of belief propagation, where the hidden network is too large.
SWEEPS, TOLERANCE = 200, 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class HiddenLogs:
    """Log-probabilities of hidden variables, each by itself, given the observed ones."""

    # (number hidden, rows): log p(x_i | observed) of the state each row has; -inf where the row is
    # impossible
    values: Floats
    exact: bool  # whether they are exact up to rounding
    # distinct rows for which belief propagation did not converge; 0 for exact values
    unconverged: int


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Rows sorted by what their hidden variables see: equal ones form a line, inferred once."""

    order: Ints  # (rows,): rows, line after line
    starts: Ints  # (lines + 1,): where each line starts in `order`


def log_hidden(
    potentials: Potentials,
    codes: Codes,
    hidden: Ints,
    *,
    limit_cells: int | None = None,
    n_jobs: int | None = 1,
) -> HiddenLogs:
    """Return log p(x_i | observed variables) of each hidden variable in each row.

    Exact by junction tree where the tables of the hidden network fit; beyond, by loopy belief
    propagation.

    Shapes: codes (n_variables, rows) array; hidden (number hidden,) int64.
    """
    layout = potentials.layout
    free = np.zeros(layout.n_variables, dtype=bool)
    free[hidden] = True
    marks = np.where(free, -1, 0)
    # The tables inside are those of any observation; its unaries are not used.
    inside = observe(potentials, marks).potentials
    lines = _group(_seen(layout, free, codes))
    if limit_cells is None:
        limit_cells = max(LIMIT_CELLS, CELLS_PER_WEIGHT * inside.layout.size)
    fits = JunctionTree(limit_cells).fits(inside.layout)
    run = by_junction_tree(inside) if fits else by_propagation(inside)
    rows = np.ascontiguousarray(codes[hidden][:, lines.order], dtype=np.int64)
    sorted_values = np.empty(rows.shape)

    def chunk(first: int) -> int:
        part = lines.starts[first : first + LINES + 1]
        columns = slice(int(part[0]), int(part[-1]))
        unaries = unaries_given(potentials, free, codes[:, lines.order[part[:-1]]])
        found = np.empty((len(rows), columns.stop - columns.start))
        seen = np.ascontiguousarray(rows[:, columns])
        failures = run(unaries, part - part[0], seen, found)
        sorted_values[:, columns] = found
        return failures

    failures = run_chunks(chunk, range(0, len(lines.starts) - 1, LINES), count_threads(n_jobs))
    values = np.empty_like(sorted_values)
    values[:, lines.order] = sorted_values
    return HiddenLogs(values, fits or wire(inside.layout).forest, sum(failures))


def _seen(layout: Layout, free: Mask, codes: Codes) -> Codes:
    """Return the codes of the observed variables that have a hidden neighbour."""
    i, j = layout.edges[:, 0], layout.edges[:, 1]
    border = np.zeros(len(free), dtype=bool)
    border[i[free[j]]] = True
    border[j[free[i]]] = True
    return codes[border & ~free]


def _group(seen: Codes) -> Lines:
    """Return the rows sorted so that equal ones lie together."""
    rows = seen.shape[1]
    if not len(seen):
        return Lines(np.arange(rows), np.array([0, rows]))
    order = np.lexsort(seen[::-1])
    changes = (np.diff(seen[:, order], axis=1) != 0).any(axis=0)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1, [rows]])
    return Lines(order, starts.astype(np.int64))


def unaries_given(potentials: Potentials, free: Mask, codes: NDArray[Any]) -> Floats:
    """Return the unaries of the free variables given each column, shape (columns, entries).

    Examples
    --------
    >>> pair = Potentials(Layout.of([2, 3], [(0, 1)]), np.arange(11.0))
    >>> unaries_given(pair, np.array([False, True]), np.array([[1], [0]]))
    array([[10., 12., 14.]])
    """
    layout, weights = potentials.layout, potentials.weights
    at = np.concatenate([[0], np.cumsum(np.where(free, layout.cards, 0))])
    kept = np.repeat(free, layout.cards)
    out = np.tile(weights[: layout.n_unary][kept], (codes.shape[1], 1))
    i, j = layout.edges[:, 0], layout.edges[:, 1]
    for e in np.flatnonzero(free[i] != free[j]).tolist():
        table = layout.table(weights, e)
        own, other = (i[e], j[e]) if free[i[e]] else (j[e], i[e])
        rows = table.T if free[i[e]] else table
        out[:, at[own] : at[own + 1]] += rows[codes[other]]
    return out


Runner = Callable[[Floats, Ints, Ints, Floats], int]


def by_junction_tree(inside: Potentials) -> Runner:
    """Return the function that fills in exact values, line by line.

    It takes unaries, where each line's columns start, states asked about and where to write the log
    of their probabilities, and returns how many lines did not converge.

    Examples
    --------
    >>> coin = Potentials(Layout.of([2], []), np.zeros(2))
    >>> out = np.empty((1, 2))
    >>> by_junction_tree(coin)(np.log([[1.0, 3.0]]), np.array([0, 2]), np.array([[0, 1]]), out)
    0
    >>> np.exp(out)
    array([[0.25, 0.75]])
    """
    layout = inside.layout
    plan = compile_plan(layout)
    tables = np.array(inside.weights)
    tables[: layout.n_unary] = 0.0
    scaled = np.empty(plan.n_cells)
    scale_tables(tables, plan.steps, plan.rows, plan.row_ptr, scaled)

    def run(unaries: Floats, starts: Ints, codes: Ints, out: Floats) -> int:
        log_marginals_seen(
            unaries, starts, layout.unary_offsets, codes, tables.copy(), scaled,
            plan.steps, plan.rows, plan.row_ptr, plan.maps, np.empty(plan.n_cells),
            np.empty(plan.widest), np.empty(plan.widest), np.empty(layout.n_unary), out,
        )  # fmt: skip
        return 0

    return run


def by_propagation(inside: Potentials) -> Runner:
    """Return the function that fills in beliefs, line by line, and counts what did not converge.

    It is called as that of `by_junction_tree`.
    """
    layout = inside.layout
    wiring = wire(layout)
    tables = ready(inside)
    size = int(wiring.message_offsets[-1])

    def run(unaries: Floats, starts: Ints, codes: Ints, out: Floats) -> int:
        failures = log_beliefs_seen(
            unaries, starts, layout.unary_offsets, codes, wiring.indptr, wiring.slots,
            tables.rho, tables.shifted, tables.scaled, wiring.order, wiring.position,
            np.empty(size), np.empty(size), SWEEPS, TOLERANCE, SECOND_DAMPING, out,
        )  # fmt: skip
        return int(failures)

    return run
