"""Both orientations of every edge table, where neighbours may be missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from graftwork.data.compact import Sample
from graftwork.inference.layout import Floats, Ints, Layout
from graftwork.objectives.protocol import states_of_entries


@dataclass(frozen=True, slots=True, eq=False)
class SoftHalves:
    """Half-edges with more columns where the neighbour has missing cells.

    The half-edge of variable i to j is the table W E_j', shape (cards[i], extended[j]), with E_j
    what each code of j counts as (``Sample.indicators``): columns of the neighbour's states, and
    for rows where it is missing their average by its frequencies, or those of drawn states.

    Attributes
    ----------
    indptr, others, in_order : arrays
        The half-edges grouped by variable: where each variable's start, the neighbours, and where
        each half-edge starts in the flat vector of half-edge entries.
    starts, number : (2, m) int64
        Where the half-edge of each edge's first and second variable starts, and which it is.
    first, second : sparse matrices, (half-edge entries, table entries)
        What turns tables into the half-edges of first and of second variables.
    counts : (half-edge entries,) float64
        The data's counts: rows where the variable is observed, by its state and the neighbour's.
    connected : (k,) int64
        Variables that have neighbours.
    first_states, second_states : (table entries,) int64
        Which states an entry is about, as positions among all unary entries.
    """

    indptr: Ints
    others: Ints
    in_order: Ints
    starts: Ints
    number: Ints
    first: Any
    second: Any
    counts: Floats
    connected: Ints
    first_states: Ints
    second_states: Ints

    @staticmethod
    def of(layout: Layout, sample: Sample) -> SoftHalves:
        """Return the half-edges of a layout."""
        m, extended = layout.n_edges, sample.extended
        owner = layout.edges.T.ravel()  # first variables of all edges, then second variables
        other = layout.edges[:, ::-1].T.ravel()
        sizes = layout.cards[owner] * extended[other]
        order = np.argsort(owner, kind="stable")
        ends = np.cumsum(sizes[order])
        starts, number = np.empty((2, 2 * m), dtype=np.int64)
        starts[order], number[order] = ends - sizes[order], np.arange(2 * m)
        degree = np.bincount(owner, minlength=layout.n_variables)
        states = states_of_entries(layout, layout.edges)
        halves = starts.reshape(2, m)
        first, second = (_spreading(layout, sample, halves, side, states) for side in (0, 1))
        return SoftHalves(
            indptr=np.concatenate([[0], np.cumsum(degree)]).astype(np.int64),
            others=np.ascontiguousarray(other[order]),
            in_order=(ends - sizes[order]).astype(np.int64),
            starts=halves,
            number=number.reshape(2, m),
            first=first,
            second=second,
            counts=_half_counts(layout, sample, halves),
            connected=np.flatnonzero(degree),
            first_states=states[0],
            second_states=states[1],
        )

    def orient(self, first: Floats, second: Floats) -> Floats:
        """Return the half-edges of tables: for first variables of these, for second of those."""
        oriented: Floats = self.first @ first + self.second @ second
        return oriented

    def gather(self, halves: Floats) -> Floats:
        """Return what entries of half-edges add up to in the entries of tables."""
        tables: Floats = self.first.T @ halves + self.second.T @ halves
        return tables

    def by_edge(self, halves: Floats) -> Floats:
        """Return the sums over both half-edges of each edge, shape (m,)."""
        if not len(halves):
            return np.zeros(self.number.shape[1])
        sums: Floats = np.add.reduceat(halves, self.in_order)[self.number].sum(axis=0)
        return sums


def _spreading(
    layout: Layout, sample: Sample, starts: Ints, side: int, states: tuple[Ints, Ints]
) -> Any:
    """Return the matrix that turns tables into half-edges of first or of second variables."""
    own, other = layout.edges[:, side], layout.edges[:, 1 - side]
    sizes, extended = layout.edge_sizes, sample.extended
    own_state = states[side] - np.repeat(layout.unary_offsets[own], sizes)
    other_state = states[1 - side] - np.repeat(layout.unary_offsets[other], sizes)
    rows = np.repeat(starts[side], sizes) + own_state * np.repeat(extended[other], sizes)
    entries, more = np.arange(len(rows)), np.repeat((extended - layout.cards)[other], sizes)
    soft = np.flatnonzero(more)
    states_there = np.repeat(layout.cards[other], sizes)[soft]
    drawn = more[soft] == states_there  # a column for each state, else one for their average
    column = states_there + np.where(drawn, other_state[soft], 0)
    shares = np.where(drawn, 1.0, sample.frequencies[states[1 - side][soft]])
    values = np.concatenate([np.ones(len(rows)), shares])
    places = (
        np.concatenate([rows + other_state, rows[soft] + column]),
        np.concatenate([entries, entries[soft]]),
    )
    width = int((layout.cards[layout.edges] * extended[layout.edges[:, ::-1]]).sum())
    return sparse.csr_array((values, places), shape=(width, len(rows)))


def _half_counts(layout: Layout, sample: Sample, starts: Ints) -> Floats:
    """Return the extended counts of the layout's edges, as half-edges."""
    values, offsets = sample.counts.extended_tables(layout.edges)
    width = sample.extended[layout.edges[:, 1]]
    sides = []
    for side in (0, 1):
        own, other = layout.edges[:, side], layout.edges[:, 1 - side]
        sizes = layout.cards[own] * sample.extended[other]
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        own_state, code = np.divmod(within, np.repeat(sample.extended[other], sizes))
        row, column = (own_state, code) if side == 0 else (code, own_state)
        cells = np.repeat(offsets[:-1], sizes) + row * np.repeat(width, sizes) + column
        sides.append((np.repeat(starts[side], sizes) + within, values[cells]))
    counts = np.empty(sum(len(cells) for _, cells in sides))
    for places, cells in sides:
        counts[places] = cells
    return counts
