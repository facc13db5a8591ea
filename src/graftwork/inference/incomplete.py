"""Rows with missing cells: their probability, the conditionals of what is observed, and draws.

Given the observed cells of a row, its missing cells fall apart into groups that no edge joins, most
of them of a single cell. A group's sum depends on its observed neighbours alone, so rows in which
the same variables make a group are looked at together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.special import logsumexp

from graftwork.errors import TooLargeError
from graftwork.inference.elimination import eliminate, refusal
from graftwork.inference.evidence import observe
from graftwork.inference.hidden import unaries_given
from graftwork.inference.junction import JunctionTree
from graftwork.inference.layout import Floats, Ints, Layout, Potentials
from graftwork.inference.ragged import offsets
from graftwork.inference.sampling import log_weights
from graftwork.kernels.gibbs import draw_cells

Codes = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]
#: Table cells that are filled for one group of variables, over all its different rows, at most.
MOST_CELLS = 2**32
_ADVICE = "Leave out rows that lack many cells, or columns that are mostly empty."
ROW_BLOCK = 4096


def log_observed_weights(
    potentials: Potentials, codes: Codes, *, most_cells: int = MOST_CELLS
) -> Floats:
    """Return the log of the sum, over all states of the missing cells, of each row's weight.

    Less log Z, this is the log-probability of the observed cells.

    Shapes: codes (n_variables, rows) integers.
    """
    gone = codes >= potentials.layout.cards[:, None]
    out = np.empty(codes.shape[1])
    whole = ~gone.any(axis=0)
    out[whole] = log_weights(potentials, codes[:, whole].astype(np.uint16))
    if not whole.all():
        rest = np.where(gone, 0, codes)[:, ~whole].astype(np.int64)
        out[~whole] = _partly(potentials, rest, gone[:, ~whole], most_cells)
    return out


def _partly(potentials: Potentials, codes: Ints, gone: Bools, most_cells: int) -> Floats:
    """Return the same of rows that lack cells."""
    layout, weights = potentials.layout, potentials.weights
    out = np.zeros(codes.shape[1])
    for i in range(layout.n_variables):
        out += np.where(gone[i], 0.0, layout.unary(weights, i)[codes[i]])
    for e, (i, j) in enumerate(layout.edges.tolist()):
        table = layout.table(weights, e)
        out += np.where(gone[i] | gone[j], 0.0, table[codes[i], codes[j]])
    for variables, rows in groups(layout.edges, gone).items():
        out[rows] += _summed_out(potentials, np.array(variables), codes[:, rows], most_cells)
    return out


def groups(edges: Ints, gone: Bools) -> dict[tuple[int, ...], list[int]]:
    """Return the groups of missing cells that edges join: their variables, and in which rows."""
    rows, variables = np.nonzero(gone.T)
    number = np.full(gone.shape, -1, dtype=np.int64)
    number[variables, rows] = np.arange(len(rows))
    ends = [np.empty((2, 0), dtype=np.int64)]
    for i, j in edges.tolist():
        both = gone[i] & gone[j]
        if both.any():
            ends.append(np.stack([number[i, both], number[j, both]]))
    first, second = np.concatenate(ends, axis=1)
    size = len(rows)
    links = coo_matrix((np.ones(len(first), dtype=np.int8), (first, second)), shape=(size, size))
    _, label = connected_components(links, directed=False)
    order = np.argsort(label, kind="stable")  # in each group by variable
    starts = np.flatnonzero(np.diff(label[order], prepend=-1))
    found: dict[tuple[int, ...], list[int]] = {}
    for cells in np.split(order, starts[1:]):
        found.setdefault(tuple(variables[cells].tolist()), []).append(int(rows[cells[0]]))
    return found


def _summed_out(potentials: Potentials, variables: Ints, codes: Ints, most_cells: int) -> Floats:
    """Return the log of the sum over the states of some variables, given each column."""
    layout = potentials.layout
    free = np.zeros(layout.n_variables, dtype=np.bool_)
    free[variables] = True
    i, j = layout.edges[:, 0], layout.edges[:, 1]
    border = np.zeros_like(free)
    border[i[free[j]]] = border[j[free[i]]] = True
    # Columns that agree on the border are summed once.
    _, first, column = np.unique(
        codes[border & ~free], axis=1, return_index=True, return_inverse=True
    )
    unaries = unaries_given(potentials, free, codes[:, first])
    if len(variables) == 1:
        return np.asarray(logsumexp(unaries, axis=1))[column.ravel()]
    inside = observe(potentials, np.where(free, -1, 0)).potentials
    engine = JunctionTree()
    limit = min(engine.limit_cells, most_cells // len(unaries))
    cost = eliminate(inside.layout).cost
    if cost.total_cells > limit:
        raise TooLargeError(refusal(cost, limit, _ADVICE))
    tables = inside.weights[inside.layout.n_unary :]
    sums = [
        engine.log_partition(Potentials(inside.layout, np.concatenate([line, tables])))
        for line in unaries
    ]
    return np.array(sums)[column.ravel()]


def soft_log_conditionals(
    potentials: Potentials,
    codes: NDArray[np.unsignedinteger[Any]],
    frequencies: Sequence[Floats],
) -> Floats:
    """Return sum_i log p(x_i | the others) over the variables observed in each column of ``codes``.

    Shapes: codes (n_variables, rows) integers.
    """
    out = np.zeros(codes.shape[1])
    for i, rows, logits in conditional_logits(potentials, codes, frequencies):
        own = logits[codes[i, rows].astype(np.int64), np.arange(len(rows))]
        out[rows] += own - logsumexp(logits, axis=0)
    return out


def conditional_logits(
    potentials: Potentials,
    codes: NDArray[np.unsignedinteger[Any]],
    frequencies: Sequence[Floats] = (),
) -> Iterator[tuple[int, Ints, Floats]]:
    """Yield log p(x_i | the others), up to a constant, where variable ``i`` is observed.

    Rows come in blocks, and of each block all variables in turn.

    Shapes: rows (count,) int64.

    Examples
    --------
    >>> from graftwork.inference import Layout
    >>> pair = Potentials(Layout.of([2, 2], [(0, 1)]), np.array([0, 0, 0, 0, 5, 0, 0, 7.0]))
    >>> for i, rows, logits in conditional_logits(pair, np.array([[0, 1], [0, 1]])):
    ...     print(i, rows, logits.tolist())
    0 [0 1] [[5.0, 0.0], [0.0, 7.0]]
    1 [0 1] [[5.0, 0.0], [0.0, 7.0]]
    """
    layout, weights = potentials.layout, potentials.weights
    halves: list[list[tuple[int, Floats]]] = [[] for _ in range(layout.n_variables)]
    for e, (i, j) in enumerate(layout.edges.tolist()):
        table = layout.table(weights, e)
        halves[i].append((j, _with_average(table, frequencies, j)))
        halves[j].append((i, _with_average(table.T, frequencies, i)))
    for start in range(0, codes.shape[1], ROW_BLOCK):
        part = codes[:, start : start + ROW_BLOCK]
        for i, neighbours in enumerate(halves):
            rows = np.flatnonzero(part[i] < layout.cards[i])
            logits = np.repeat(layout.unary(weights, i)[:, None], len(rows), axis=1)
            for j, half in neighbours:
                logits += half[:, part[j, rows]]
            yield i, start + rows, logits


def _with_average(table: Floats, frequencies: Sequence[Floats], j: int) -> Floats:
    """Return a table with a column for a missing neighbour, where its frequencies are known."""
    if not len(frequencies):
        return table
    return np.column_stack([table, _average(table, frequencies[j])])


def _average(table: Floats, frequencies: Floats) -> Floats:
    """Return the mean of a table's columns; what is never there may be impossible."""
    seen = frequencies > 0
    return np.asarray(table[:, seen] @ frequencies[seen])


def impute(
    potentials: Potentials,
    codes: NDArray[Any],
    rng: np.random.Generator | int,
    sweeps: int = 20,
    first_row: int = 0,
) -> NDArray[Any]:
    """Return the rows with their missing cells drawn from the network, by Gibbs sampling.

    Shapes: codes (n_variables, rows) integers.
    """
    layout, seed = potentials.layout, rng if isinstance(rng, int) else seed_of(rng)
    gone, rows = np.nonzero(codes >= layout.cards[:, None])
    starts = offsets(np.bincount(gone, minlength=layout.n_variables))
    indptr, halves = _half_edges(layout)
    drawn = np.array(codes)
    for sweep in range(sweeps + 1):
        # to begin with, as if there were no edges
        joined = indptr if sweep else np.zeros_like(indptr)
        draw_cells(
            sweep, seed, first_row, rows, starts, layout.cards, layout.unary_offsets,
            potentials.weights, joined, halves, drawn,
        )  # fmt: skip
    return drawn


def seed_of(rng: np.random.Generator) -> int:
    """Return a seed for `impute`."""
    return int(rng.integers(2**62))


def _half_edges(layout: Layout) -> tuple[Ints, Ints]:
    """Return each variable's neighbours and tables, as ``draw_cells`` takes them."""
    owner = layout.edges.ravel()
    order = np.argsort(owner, kind="stable")
    edges, side = np.divmod(order, 2)
    width = layout.cards[layout.edges[edges, 1]]
    own, other = np.where(side == 0, width, 1), np.where(side == 0, 1, width)
    neighbours = layout.edges[:, ::-1].ravel()[order]
    halves = np.stack([neighbours, layout.edge_offsets[edges], own, other], axis=1)
    return offsets(np.bincount(owner, minlength=layout.n_variables)), halves


def draw_states(logits: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a state for each column, with probabilities proportional to exp(logits).

    Examples
    --------
    >>> draw_states(np.array([[0.0, -np.inf], [-np.inf, 0.0]]), np.random.default_rng(0))
    array([0, 1])
    """
    if not logits.size:
        return np.zeros(logits.shape[1], dtype=np.int64)
    noise = rng.gumbel(size=logits.shape)
    return np.asarray(np.argmax(logits + noise, axis=0))
