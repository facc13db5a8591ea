"""What a variable's conditional says, once for each configuration of what it depends on.

The conditional of a variable depends on its neighbours alone: rows in which all of them have the
same codes (a *configuration*) share it, with its spread. Where too many configurations occur each
row counts as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from graftwork.data.compact import Sample
from graftwork.inference.layout import Floats, Ints
from graftwork.kernels import stars as kernel
from graftwork.objectives.products import LANES, aligned
from graftwork.objectives.row_conditionals import RowConditionals
from graftwork.tuning.contrasts import Contrasts

# Rows are merged where there are at most this many configurations for each of them.
MOST_CONFIGURATIONS = 0.5
# Lines of numbers are padded to whole lanes: one number, four, or blocks of eight.
ONE, FEW, MANY = (0,), (0,) * 4, (0,) * 8


@dataclass(frozen=True, slots=True, eq=False)
class Configurations:
    """What a variable's conditional depends on.

    Attributes
    ----------
    ids : (rows,) int32
        The configuration of each row.
    codes : (d, c) unsigned integers
        The neighbours' codes in each.
    weights : (c,) float64
        Weight of the rows that have it.
    gone : (c,) bool
        Whether the variable itself is missing there.
    """

    ids: NDArray[np.int32]
    codes: NDArray[np.unsignedinteger]
    weights: Floats
    gone: NDArray[np.bool_]

    @staticmethod
    def of(sample: Sample, node: int, others: Ints) -> Configurations:
        """Return the configurations of a variable with these neighbours."""
        missing = sample.codes[node] >= sample.cards[node]
        columns = [(sample.codes[j], int(sample.extended[j])) for j in others.tolist()]
        if sample.extended[node] > sample.cards[node]:
            columns.append((missing.astype(sample.codes.dtype), 2))
        ids, count = _classes(columns, sample.n_rows)
        first, totals = np.empty(count, dtype=np.int64), np.empty(count)
        weights = np.zeros(0) if sample.weights is None else sample.weights
        kernel.gather_classes(ids, weights, first, totals)
        codes = np.stack([sample.codes[j][first] for j in others.tolist()]) if len(others) else (
            np.zeros((0, count), dtype=sample.codes.dtype)
        )  # fmt: skip
        return Configurations(ids, codes, totals, missing[first])


def _classes(
    columns: list[tuple[NDArray[np.unsignedinteger], int]], rows: int
) -> tuple[NDArray[np.int32], int]:
    """Return which rows are the same in all columns (codes, and how many there may be)."""
    ids, count, limit = np.zeros(rows, dtype=np.int32), min(1, rows), MOST_CONFIGURATIONS * rows
    for codes, card in columns:
        if count * card > 16 * rows:  # a table of all that may occur would be too large
            count = rows
        if count > limit:
            break
        fresh, places = np.empty_like(ids), np.empty(count * card, dtype=np.int32)
        count = kernel.refine(ids, count, codes, card, places, fresh)
        ids = fresh
    return (ids, count) if count <= limit else (np.arange(rows, dtype=np.int32), rows)


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """What a variable's conditional p says in each of its configurations, in contrasts K.

    Attributes
    ----------
    configurations : Configurations
    means : (k, c) float64
        K' p.
    bends : (t, c) float64
        Upper triangles of K' S K, S = diag(p) - p p'.
    """

    configurations: Configurations
    means: Floats
    bends: Floats

    @staticmethod
    def of(
        known: Configurations, conditionals: RowConditionals, contrasts: Contrasts, i: int
    ) -> Said:
        """Return what the conditional of variable ``i`` says in its configurations."""
        p = conditionals.given(i, known.codes)
        return Said(known, *spread_of(contrasts.bases[i], p))

    @property
    def spreads(self) -> Floats:
        """K' S K, and nothing where the variable is missing: there it answers nothing."""
        return np.where(self.configurations.gone, 0.0, self.bends)

    def moments(self, average: Floats, averaged: bool) -> Floats:
        """Return the upper triangles of K' (m m' + 2 S) K, m = p - f, f being the frequencies.

        Where the variable is missing: of m m' + S if its state was drawn (it varies, but answers
        nothing), and nothing if it counts as its average, which does not vary.

        Parameters
        ----------
        average : (k,) float64
            K' f.
        averaged : bool
            Whether missing cells count as averages.
        """
        gone = self.configurations.gone
        first, second = _upper(len(self.means))
        off = self.means - average[:, None]
        moments: Floats = off[first] * off[second] + np.where(gone, 1.0, 2.0) * self.bends
        if averaged:
            moments[:, gone] = 0.0
        return moments


def spread_of(basis: Floats, conditionals: Floats) -> tuple[Floats, Floats]:
    """Return K' p and the upper triangle of K' (diag(p) - p p') K in each configuration.

    ``conditionals`` hold all states but the last.

    Examples
    --------
    >>> means, spreads = spread_of(np.array([[1.0], [-1.0]]), np.array([[0.5]]))
    >>> means.tolist(), spreads.tolist()
    ([[0.0]], [[1.0]])
    """
    first, second = _upper(basis.shape[1])
    means: Floats = (basis[:-1] - basis[-1]).T @ conditionals + basis[-1][:, None]
    products = (basis[:, first] * basis[:, second]).T
    spreads: Floats = (products[:, :-1] - products[:, -1:]) @ conditionals + products[:, -1:]
    spreads -= means[first] * means[second]
    return means, spreads


@lru_cache(maxsize=64)
def _upper(size: int) -> tuple[Ints, Ints]:
    """Return rows and columns of the upper triangle of a matrix."""
    rows, columns = np.triu_indices(size)
    return rows, columns


def padded(lines: Floats, lanes: tuple[int, ...]) -> Floats:
    """Return (t, c) numbers as (c, t) ones, filled up with zeros to whole lanes."""
    width = -(-len(lines) // len(lanes)) * len(lanes)
    size = lines.shape[1] * width
    out = aligned(-(-size // len(LANES)))[:size].reshape(lines.shape[1], width)
    out[:, : len(lines)] = lines.T
    return out


def lanes_for(size: int) -> tuple[int, ...]:
    """Return how many of a line's numbers to add at once."""
    return ONE if size <= 1 else FEW if size <= len(FEW) else MANY
