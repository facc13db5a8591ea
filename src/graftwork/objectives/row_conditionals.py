"""Conditionals of all variables in some rows, for statistics that need every row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graftwork.data.compact import Sample
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.kernels import pseudo as kernel
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.half_edges import HalfEdges
from graftwork.objectives.soft_halves import SoftHalves


@dataclass(frozen=True, slots=True, eq=False)
class RowConditionals:
    """The conditionals of a network's variables given all others.

    Attributes
    ----------
    potentials : Potentials
    extended : (n,) int64
        Number of codes of each variable: more than states where cells are missing.
    indptr, others, starts : arrays
        Half-edges, grouped by variable.
    oriented : (entries,) float64
        Their tables.
    """

    potentials: Potentials
    extended: Ints
    indptr: Ints
    others: Ints
    starts: Ints
    oriented: Floats

    @staticmethod
    def of(potentials: Potentials, sample: Sample) -> RowConditionals:
        """Return the conditionals of a network of the sample's variables."""
        layout = potentials.layout
        tables = potentials.weights[layout.n_unary :]
        if sample.complete:
            halves = HalfEdges.of(layout)
            oriented = np.empty(2 * len(tables))
            oriented[halves.own_first] = oriented[halves.own_second] = tables
            parts = halves.indptr, halves.others, halves.starts, oriented
        else:
            soft = SoftHalves.of(layout, sample)
            parts = soft.indptr, soft.others, soft.in_order, soft.orient(tables, tables)
        return RowConditionals(potentials, sample.extended, *parts)

    @property
    def slots(self) -> Ints:
        """Where each variable's conditionals start: all states but the last."""
        sizes = self.potentials.layout.cards - 1
        return np.asarray(np.cumsum(sizes) - sizes)

    def fill(self, codes: NDArray[np.unsignedinteger], n_threads: int) -> Floats:
        """Return the conditionals in these rows, shape (sum of states - 1, rows).

        Parameters
        ----------
        codes : (n, rows) unsigned integers
            C-contiguous.
        """
        layout, slots = self.potentials.layout, self.slots
        sizes = layout.cards - 1
        conditionals = np.empty((int(sizes.sum()), codes.shape[1]))
        unary = self.potentials.weights[: layout.n_unary]
        nodes, unweighted = np.arange(layout.n_variables), np.zeros(0)

        def run(part: slice) -> None:
            cards = self.extended.copy()
            for i in range(part.start, part.stop):
                cards[i] = layout.cards[i]  # the node's own states, but all codes of the others
                kernel.fill_probabilities(
                    nodes[i : i + 1], slots[i : i + 1], codes, cards, unweighted, unary,
                    layout.unary_offsets, self.indptr, self.others, self.oriented, self.starts,
                    conditionals,
                )  # fmt: skip
                cards[i] = self.extended[i]

        costs = (sizes * (2.0 + np.diff(self.indptr))).astype(np.float64)
        run_chunks(run, cut_evenly(costs, n_threads), n_threads)
        return conditionals

    def neighbours(self, i: int) -> Ints:
        """Return the neighbours of variable ``i``, in the order of its edges."""
        return self.others[self.indptr[i] : self.indptr[i + 1]]

    def given(self, i: int, codes: NDArray[np.unsignedinteger]) -> Floats:
        """Return the conditionals of one variable, all states but the last, shape (s - 1, rows).

        Parameters
        ----------
        codes : (d, rows) unsigned integers
            Of its neighbours. C-contiguous.
        """
        layout, count = self.potentials.layout, len(codes)
        around = slice(self.indptr[i], self.indptr[i + 1])
        own = slice(layout.unary_offsets[i], layout.unary_offsets[i + 1])
        conditionals = np.empty((int(layout.cards[i]) - 1, codes.shape[1]))
        kernel.fill_probabilities(
            np.array([count]), np.zeros(1, dtype=np.int64), codes,
            np.append(self.extended[self.others[around]], layout.cards[i]), np.zeros(0),
            self.potentials.weights[own], np.zeros(count + 1, dtype=np.int64),
            np.append(np.zeros(count + 1, dtype=np.int64), count), np.arange(count),
            self.oriented, self.starts[around], conditionals,
        )  # fmt: skip
        return conditionals
