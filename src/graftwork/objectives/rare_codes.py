"""Rows in which variables do not have their commonest code: few, of sparse tables.

Sums over rows by a variable's codes take these rows alone; what is left is its commonest code's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.layout import Floats, Ints
from graftwork.kernels import rare_codes as kernel

# A variable is sparse if at most this share of the rows has other codes than its commonest.
SPARSE = 1 / 32


@dataclass(frozen=True, slots=True, eq=False)
class RareCodes:
    """The rows of each sparse variable with other codes than its commonest."""

    sparse: NDArray[np.bool_]  # (n,): which variables are: of the others there are no rows here
    commonest: Ints  # (n,)
    starts: Ints  # (n + 1,): where each variable's rows start
    rows: Ints  # (k,): ascending, for each variable
    codes: Ints  # (k,)

    @staticmethod
    def of(codes: NDArray[np.unsignedinteger], cards: Ints, largest: Floats) -> RareCodes:
        """Return those of the variables' codes, shape (n, rows).

        Shapes: largest (n,) float64.
        """
        likely = largest >= 1.0 - SPARSE
        commonest, counts = kernel.count_rare(codes, cards, likely)
        sparse = likely & (counts <= SPARSE * codes.shape[1])
        starts = np.concatenate([[0], np.cumsum(np.where(sparse, counts, 0))])
        rows = np.empty(int(starts[-1]), dtype=np.int64)
        own = np.empty_like(rows)
        kernel.list_rare(codes, sparse, commonest, starts, rows, own)
        return RareCodes(sparse, commonest, starts, rows, own)

    def spans(self, variables: Ints, bounds: list[int]) -> Iterator[tuple[Ints, Ints]]:
        """Yield where the rows of some variables start and end, between rows that are bounds."""
        edges = np.stack([
            self.starts[i] + np.searchsorted(self.rows[self.starts[i] : self.starts[i + 1]], bounds)
            for i in variables.tolist()
        ], axis=1)  # fmt: skip
        yield from pairwise(edges)
