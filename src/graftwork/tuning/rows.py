"""What each row says about a fitted network: residuals, spreads and indicators, in blocks of rows.

In the coordinates of ``Contrasts``: with x_i the indicator of the state of variable i, p_i its
conditional given all others and S_i = diag(p_i) - p_i p_i', a row gives K_i' x_i, K_i' (x_i - p_i)
and K_i' S_i K_i (its upper triangle).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from graftwork.data.compact import Sample
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.inference.ragged import offsets
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.row_conditionals import fill_conditionals
from graftwork.tuning.contrasts import Contrasts

# Numbers a block of rows may take in one of its arrays.
BLOCK_SIZE = 2**22
LEAST_ROWS, MOST_ROWS = 64, 8192


@dataclass(frozen=True, slots=True, eq=False)
class RowBlock:
    """Some rows, seen through some variables.

    ``places[i]`` and ``triangles[i]`` say where variable i's lines are.

    Attributes
    ----------
    weights : (rows,) float64
    indicators, residuals, means : (k, rows) float64
        K' x, K' (x - p) and K' p of each variable, one after the other.
    spreads : (t, rows) float64
        Upper triangles of K' S K.
    """

    weights: Floats
    indicators: Floats
    residuals: Floats
    means: Floats
    spreads: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of a sample under a network.

    Attributes
    ----------
    sample : Sample
    potentials : Potentials
    contrasts : Contrasts
    n_threads : int
    """

    sample: Sample
    potentials: Potentials
    contrasts: Contrasts
    n_threads: int

    @property
    def places(self) -> Ints:
        """Where each variable's lines start among indicators, residuals and means."""
        return offsets(self.contrasts.sizes)

    @property
    def triangles(self) -> Ints:
        """Where each variable's lines start among spreads."""
        sizes = self.contrasts.sizes
        return offsets(sizes * (sizes + 1) // 2)

    def blocks(self) -> Iterator[RowBlock]:
        """Yield all rows, block by block."""
        width = max(1, int(self.triangles[-1]), int(self.sample.cards.sum()))
        size = int(np.clip(BLOCK_SIZE // width, LEAST_ROWS, MOST_ROWS))
        for start in range(0, self.sample.n_rows, size):
            yield self._block(slice(start, min(start + size, self.sample.n_rows)))

    def _block(self, rows: slice) -> RowBlock:
        sample, places, triangles = self.sample, self.places, self.triangles
        codes = np.ascontiguousarray(sample.codes[:, rows])
        count = codes.shape[1]
        weights = np.ones(count) if sample.weights is None else sample.weights[rows]
        slots, conditionals = fill_conditionals(self.potentials, codes, self.n_threads)
        indicators = np.empty((int(places[-1]), count))
        means, spreads = np.empty_like(indicators), np.empty((int(triangles[-1]), count))

        def fill(part: slice) -> None:
            for i in range(part.start, part.stop):
                basis, own = self.contrasts.bases[i], slice(places[i], places[i + 1])
                p = conditionals[slots[i] : slots[i] + basis.shape[0] - 1]
                indicators[own] = basis.T[:, codes[i]]
                means[own] = (basis[:-1] - basis[-1]).T @ p + basis[-1][:, None]
                spreads[triangles[i] : triangles[i + 1]] = spread_of(basis, p, means[own])

        costs = np.asarray(sample.cards * self.contrasts.sizes + 1, dtype=np.float64)
        run_chunks(fill, cut_evenly(costs, self.n_threads), self.n_threads)
        return RowBlock(weights, indicators, indicators - means, means, spreads)


def spread_of(basis: Floats, conditionals: Floats, means: Floats) -> Floats:
    """Return the upper triangle of K' (diag(p) - p p') K in each row.

    ``conditionals`` hold all states but the last.

    Examples
    --------
    >>> half = np.array([[0.5]])
    >>> basis = np.array([[1.0], [-1.0]])
    >>> spread_of(basis, half, basis.T @ np.array([[0.5], [0.5]]))
    array([[1.]])
    """
    first, second = np.triu_indices(basis.shape[1])
    products = (basis[:, first] * basis[:, second]).T
    spread: Floats = (products[:, :-1] - products[:, -1:]) @ conditionals + products[:, -1:]
    spread -= means[first] * means[second]
    return spread
