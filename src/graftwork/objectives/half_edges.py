"""Both orientations of every edge table, grouped by variable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.inference.layout import Ints, Layout
from graftwork.objectives.protocol import states_of_entries


@dataclass(frozen=True, slots=True, eq=False)
class HalfEdges:
    """Both orientations of every edge table, grouped by variable.

    ``own_first`` and ``own_second`` say where each entry of the edge tables lies in the halves of
    the edge's first and second variable; ``first_states`` and ``second_states`` which states of
    them it is about, as positions among all unary entries.
    """

    indptr: Ints
    others: Ints
    starts: Ints
    own_first: Ints
    own_second: Ints
    first_states: Ints
    second_states: Ints
    connected: Ints

    @staticmethod
    def of(layout: Layout) -> HalfEdges:
        """Return the half-edges of a layout."""
        m, sizes = layout.n_edges, layout.edge_sizes
        owner = layout.edges.T.ravel()  # first endpoints of all edges, then second endpoints
        other = layout.edges[:, ::-1].T.ravel()
        order = np.argsort(owner, kind="stable")
        degree = np.bincount(owner, minlength=layout.n_variables)
        starts_in_order = np.concatenate([[0], np.cumsum(np.tile(sizes, 2)[order])[:-1]])
        starts = np.empty(2 * m, dtype=np.int64)
        starts[order] = starts_in_order[: 2 * m]
        within = np.arange(layout.size - layout.n_unary) - np.repeat(
            layout.edge_offsets[:-1] - layout.n_unary, sizes
        )
        first_states, second_states = states_of_entries(layout, layout.edges)
        s_i = np.repeat(layout.cards[layout.edges[:, 0]], sizes)
        s_j = np.repeat(layout.cards[layout.edges[:, 1]], sizes)
        return HalfEdges(
            indptr=np.concatenate([[0], np.cumsum(degree)]).astype(np.int64),
            others=np.ascontiguousarray(other[order]),
            starts=starts_in_order[: 2 * m].astype(np.int64),
            own_first=np.repeat(starts[:m], sizes) + within,
            own_second=np.repeat(starts[m:], sizes) + within % s_j * s_i + within // s_j,
            first_states=first_states,
            second_states=second_states,
            connected=np.flatnonzero(degree),
        )
