"""Conditionals of all variables, row by row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.kernels import pseudo as kernel
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.pseudo import HalfEdges


def fill_conditionals(
    potentials: Potentials, codes: NDArray[np.unsignedinteger], n_threads: int
) -> tuple[Ints, Floats]:
    """Return where each variable's conditionals start, and those of all but its last state.

    Parameters
    ----------
    codes : (n, rows) unsigned integers

    Examples
    --------
    >>> from graftwork.inference.layout import Layout
    >>> potentials = Potentials(Layout.of([2]), np.array([0.0, 0.0]))
    >>> fill_conditionals(potentials, np.zeros((1, 2), dtype=np.uint8), 1)
    (array([0]), array([[0.5, 0.5]]))
    """
    layout = potentials.layout
    halves = HalfEdges.of(layout)
    sizes = layout.cards - 1
    slots = np.cumsum(sizes) - sizes
    conditionals = np.empty((int(sizes.sum()), codes.shape[1]))
    unary, tables = potentials.weights[: layout.n_unary], potentials.weights[layout.n_unary :]
    oriented = np.empty(2 * len(tables))
    oriented[halves.own_first] = oriented[halves.own_second] = tables
    nodes, free = np.arange(layout.n_variables), np.zeros(0)

    def run(part: slice) -> None:
        kernel.fill_probabilities(
            nodes[part], slots[part], codes, layout.cards, free, unary, layout.unary_offsets,
            halves.indptr, halves.others, oriented, halves.starts, conditionals,
        )  # fmt: skip

    costs = (sizes * (2.0 + np.diff(halves.indptr))).astype(np.float64)
    run_chunks(run, cut_evenly(costs, n_threads), n_threads)
    return slots, conditionals
