"""Where the numbers of a pairwise network lie: one flat vector, unaries first, then edge tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Shape(Protocol):
    """What solvers and penalties know of a layout: free blocks (variables) first, then others.

    The others are edges' tables in a network, features in a chain.
    """

    @property
    def n_variables(self) -> int:
        """Number of blocks that are free unless penalised on purpose."""
        ...

    @property
    def n_edges(self) -> int:
        """Number of the other blocks."""
        ...

    @property
    def n_unary(self) -> int:
        """Where the other blocks start."""
        ...

    @property
    def size(self) -> int:
        """Length of the flat vector."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The ragged shape of a network: how many states, which edges, and where each table starts.

    The flat vector holds the unary of variable 0, of variable 1, ..., then the table of edge 0
    (row-major, ``cards[i] x cards[j]``), of edge 1, ... Edges are kept in the order given.
    """

    cards: Ints  # (n,): number of states of each variable
    edges: Ints  # (m, 2): pairs of variables, ``i < j`` in each row
    # (n + 1,): unary ``i`` is ``vector[unary_offsets[i]:unary_offsets[i + 1]]``
    unary_offsets: Ints
    # (m + 1,): table ``e`` is ``vector[edge_offsets[e]:edge_offsets[e + 1]]``, reshaped
    edge_offsets: Ints

    @staticmethod
    def of(cards: object, edges: object = ()) -> Layout:
        """Return the layout of a network with these state counts and edges."""
        card = np.ascontiguousarray(cards, dtype=np.int64)
        pairs = np.ascontiguousarray(edges, dtype=np.int64).reshape(-1, 2)
        if pairs.size and not (pairs[:, 0] < pairs[:, 1]).all():
            raise ValueError("each edge must be written (i, j) with i < j")
        unary = np.concatenate([[0], np.cumsum(card)]).astype(np.int64)
        sizes = card[pairs[:, 0]] * card[pairs[:, 1]]
        tables = unary[-1] + np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Layout(card, pairs, unary, tables)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.cards)

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.edges)

    @property
    def n_unary(self) -> int:
        """Number of unary entries: where the edge tables start."""
        return int(self.unary_offsets[-1])

    @property
    def size(self) -> int:
        """Length of the flat vector."""
        return int(self.edge_offsets[-1])

    @property
    def edge_sizes(self) -> Ints:
        """Number of entries of each edge table, shape (m,)."""
        return np.diff(self.edge_offsets)

    def unary(self, vector: Floats, i: int) -> Floats:
        """Return the entries of variable ``i``, a view of shape (cards[i],)."""
        return vector[self.unary_offsets[i] : self.unary_offsets[i + 1]]

    def table(self, vector: Floats, e: int) -> Floats:
        """Return the table of edge ``e``, a view of shape (cards[i], cards[j])."""
        i, j = self.edges[e]
        start, stop = self.edge_offsets[e], self.edge_offsets[e + 1]
        return vector[start:stop].reshape(self.cards[i], self.cards[j])

    def entries(self, edges: Ints) -> Ints:
        """Return where the entries of these edges' tables lie, one table after the other."""
        starts = self.edge_offsets[:-1][edges]
        sizes = self.edge_offsets[1:][edges] - starts
        shift = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
        places: Ints = np.arange(len(shift)) + shift
        return places

    def zeros(self) -> Floats:
        """Return a vector of zeros of this layout."""
        return np.zeros(self.size)


@dataclass(frozen=True, slots=True, eq=False)
class Potentials:
    """Log-potentials of a pairwise network: a layout and the numbers in it."""

    layout: Layout
    weights: Floats

    def __post_init__(self) -> None:
        if self.weights.shape != (self.layout.size,):
            raise ValueError(
                f"weights have shape {self.weights.shape}, the layout needs ({self.layout.size},)"
            )
