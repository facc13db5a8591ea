"""Log-probabilities of the observed cells of rows, the missing ones summed out exactly.

Given the observed cells of a row, its missing cells fall apart into groups that no edge joins, most
of them of a single cell. A group's sum depends on its observed neighbours alone, so rows in which
the same variables make a group are looked at together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.special import logsumexp

from graftwork.errors import TooLargeError
from graftwork.inference.elimination import eliminate
from graftwork.inference.evidence import observe
from graftwork.inference.hidden import unaries_given
from graftwork.inference.junction import JunctionTree, refusal
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.inference.sampling import log_weights

Codes = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]

#: Table cells that are filled for one group of variables, over all its different rows, at most.
MOST_CELLS = 2**32

_ADVICE = "Leave out rows that lack many cells, or columns that are mostly empty."


def log_observed_weights(
    potentials: Potentials, codes: Codes, *, most_cells: int = MOST_CELLS
) -> Floats:
    """Return the log of the sum, over all states of the missing cells, of each row's weight.

    Less log Z, this is the log-probability of the observed cells.

    Parameters
    ----------
    codes : (n_variables, rows) integers
        States, and codes from ``cards[i]`` on where variable ``i`` is missing.
    most_cells : int
        Table cells that may be filled for the rows in which the same variables are missing.

    Raises
    ------
    TooLargeError
        If there are more, or those of one row do not fit a `JunctionTree`.

    Examples
    --------
    >>> from graftwork.inference import Layout
    >>> weights = np.log([1.0, 3.0, 1.0, 1.0, 2.0, 1.0, 1.0, 2.0])
    >>> pair = Potentials(Layout.of([2, 2], [(0, 1)]), weights)
    >>> np.exp(log_observed_weights(pair, np.array([[0, 0, 2, 2], [0, 2, 0, 2]]))).round(6)
    array([ 2.,  3.,  5., 12.])
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
    for variables, rows in _groups(layout.edges, gone).items():
        out[rows] += _summed_out(potentials, np.array(variables), codes[:, rows], most_cells)
    return out


def _groups(edges: Ints, gone: Bools) -> dict[tuple[int, ...], list[int]]:
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
