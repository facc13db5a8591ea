"""The blocks of a network's flat vector: one for each variable, then one for each edge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.layout import Floats, Ints, Layout, Shape

Bools = NDArray[np.bool_]


def pair_scales(declared: Ints, pairs: Ints) -> Floats:
    """Return d_g of each pair: the square root of its table's number of declared entries.

    Examples
    --------
    >>> pair_scales(np.array([2, 8]), np.array([[0, 1]]))
    array([4.])
    """
    return np.sqrt((declared[pairs[:, 0]] * declared[pairs[:, 1]]).astype(np.float64))


@dataclass(frozen=True, eq=False)
class Blocks:
    """Where each block lies, what weighs on it, and which of its entries may move.

    Attributes
    ----------
    layout : Shape
        Of the flat vector.
    offsets : (n + m + 1,) int64
        Block ``g`` is ``vector[offsets[g]:offsets[g + 1]]``.
    scale : (n + m,) float64
        d_g, the root of the number of declared entries.
    free : (layout.size,) bool
        Which entries may move; the others stay as they are.
    factor : (n + m,) float64, optional
        What lam is multiplied by; None is 1 everywhere. A squared norm is the same for all blocks.
    """

    layout: Shape
    offsets: Ints
    scale: Floats
    free: Bools
    factor: Floats | None = None

    @staticmethod
    def of(
        layout: Layout, declared: Ints, free: Bools | None = None, factors: Floats | None = None
    ) -> Blocks:
        """Return the blocks of a layout whose variables have these declared state counts.

        ``factors`` are those of the edges, shape (m,); variables have 1.
        """
        scale = np.concatenate([np.sqrt(declared), pair_scales(declared, layout.edges)])
        offsets = np.concatenate([layout.unary_offsets[:-1], layout.edge_offsets])
        free = np.ones(layout.size, dtype=bool) if free is None else free
        if factors is None:
            return Blocks(layout, offsets, scale, free)
        factor = np.concatenate([np.ones(layout.n_variables), factors])
        return Blocks(layout, offsets, scale, free, factor)

    @cached_property
    def sizes(self) -> Ints:
        """Number of entries of each block."""
        return np.diff(self.offsets)

    def weigh(self, unaries: float, tables: float) -> Floats:
        """Return one number for each block: the first for variables, the second for edges.

        The array is kept, since solvers ask for the same ones at every step: leave it as it is.
        """
        found = self._weighed.get((unaries, tables))
        if found is None:
            found = np.full(self.layout.n_variables + self.layout.n_edges, float(tables))
            found[: self.layout.n_variables] = unaries
            self._weighed[unaries, tables] = found
        return found

    @cached_property
    def _weighed(self) -> dict[tuple[float, float], Floats]:
        return {}

    def strengths(self, unaries: float, tables: float) -> Floats:
        """Return lam of each block: as ``weigh``, times the blocks' factors."""
        lam = self.weigh(unaries, tables)
        return lam if self.factor is None else lam * self.factor

    @cached_property
    def all_free(self) -> bool:
        """Whether all entries may move."""
        return bool(self.free.all())

    def spread(self, per_block: NDArray[Any]) -> NDArray[Any]:
        """Return one number a block as one number an entry."""
        return np.repeat(per_block, self.sizes)

    def norms(self, vector: Floats) -> Floats:
        """Return the Euclidean norm of each block."""
        return np.sqrt(np.add.reduceat(vector * vector, self.offsets[:-1]))

    def largest(self, vector: Floats) -> Floats:
        """Return the largest absolute entry of each block."""
        return np.maximum.reduceat(np.abs(vector), self.offsets[:-1])
