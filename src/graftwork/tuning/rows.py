"""What each row says about a fitted network: residuals, spreads and indicators, in blocks of rows.

In the coordinates of ``Contrasts``: with x_i the indicator of the state of variable i, p_i its
conditional given all others and S_i = diag(p_i) - p_i p_i', a row gives K_i' x_i, K_i' (x_i - p_i)
and K_i' S_i K_i (its upper triangle). Rows need not be complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graftwork.data.compact import Sample
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.inference.ragged import offsets
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.row_conditionals import RowConditionals
from graftwork.tuning.contrasts import Contrasts

# Numbers a block of rows may take in one of its arrays.
BLOCK_SIZE = 2**22
LEAST_ROWS, MOST_ROWS = 64, 8192


@dataclass(frozen=True, slots=True, eq=False)
class RowBlock:
    """Some rows, as they look from a fitted network.

    The lines of variable i start at ``Rows.places[i]``, or at ``Rows.triangles[i]`` among spreads
    and moments. What a row says of a variable that is missing in it is zero, but for indicators:
    there it counts as what it counts as for its neighbours.

    Attributes
    ----------
    weights : (rows,) float64
    indicators, residuals : (k, rows) float64
        K' x and K' (x - p) of each variable, one after the other.
    spreads : (t, rows) float64
        Upper triangles of K' S K.
    moments : (t, rows) float64
        Of K' (m m' + 2 S) K with m = p - f, f being the frequencies; empty if not asked for. Where
        the variable's state was drawn, of m m' + S.
    """

    weights: Floats
    indicators: Floats
    residuals: Floats
    spreads: Floats
    moments: Floats

    def strip(self, part: slice) -> RowBlock:
        """Return some of the rows."""
        return RowBlock(
            self.weights[part],
            self.indicators[:, part],
            self.residuals[:, part],
            self.spreads[:, part],
            self.moments[:, part],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of a sample under a network.

    Attributes
    ----------
    sample : Sample
    potentials : Potentials
    contrasts : Contrasts
    n_threads : int
    chosen : (k,) int64, optional
        Some of the rows; default all.
    """

    sample: Sample
    potentials: Potentials
    contrasts: Contrasts
    n_threads: int
    chosen: Ints | None = None

    @property
    def places(self) -> Ints:
        """Where each variable's lines start among indicators and residuals."""
        return offsets(self.contrasts.sizes)

    @property
    def triangles(self) -> Ints:
        """Where each variable's lines start among spreads and moments."""
        sizes = self.contrasts.sizes
        return offsets(sizes * (sizes + 1) // 2)

    def some(self, most: int) -> Rows:
        """Return about so many of the rows, or all where there are fewer.

        Equal rows are in it together or not at all: which are depends on what is in them alone, so
        that weights equal repeated rows.
        """
        codes = self.sample.codes
        share = most / max(1, self.sample.n_rows)
        if share >= 1.0:
            return self
        rng, marks = np.random.default_rng(0), np.zeros(codes.shape[1], dtype=np.uint64)
        for row, count in zip(codes, self.sample.extended.tolist(), strict=True):
            marks += rng.integers(2**63, size=count, dtype=np.uint64)[row]
        marks ^= marks >> np.uint64(31)
        chosen = np.flatnonzero((marks & np.uint64(0xFFFF)) < share * 2**16)
        return replace(self, chosen=chosen) if len(chosen) else self

    @property
    def share(self) -> float:
        """Share of the total weight that the rows have."""
        weights, total = self.sample.weights, self.sample.total_weight
        if self.chosen is None:
            return 1.0
        return float(len(self.chosen) if weights is None else weights[self.chosen].sum()) / total

    def blocks(self, *, moments: bool = False) -> Iterator[RowBlock]:
        """Yield all rows, block by block."""
        width = max(1, int(self.triangles[-1]), int(self.sample.cards.sum()))
        size = int(np.clip(BLOCK_SIZE // width, LEAST_ROWS, MOST_ROWS))
        filler = _Filler.of(self, moments)
        count = self.sample.n_rows if self.chosen is None else len(self.chosen)
        for start in range(0, count, size):
            part = slice(start, min(start + size, count))
            yield filler.block(part if self.chosen is None else self.chosen[part])


@dataclass(frozen=True, slots=True, eq=False)
class _Filler:
    """What all blocks of rows have in common.

    ``seen[i]`` has what each code of variable i counts as, in contrasts, shape (k, codes);
    ``average[i]`` the contrasts of its frequencies, shape (k, 1).
    """

    rows: Rows
    conditionals: RowConditionals
    moments: bool
    places: Ints
    triangles: Ints
    seen: list[Floats]
    average: list[Floats]

    @staticmethod
    def of(rows: Rows, moments: bool) -> _Filler:
        sample, bases = rows.sample, rows.contrasts.bases
        parts = np.split(sample.frequencies, np.cumsum(sample.cards)[:-1])
        return _Filler(
            rows,
            RowConditionals.of(rows.potentials, sample),
            moments,
            rows.places,
            rows.triangles,
            [(sample.indicators(i) @ basis).T.copy() for i, basis in enumerate(bases)],
            [(basis.T @ part)[:, None] for basis, part in zip(bases, parts, strict=True)],
        )

    def block(self, where: slice | Ints) -> RowBlock:
        """Return some rows."""
        rows, sample = self.rows, self.rows.sample
        codes = np.ascontiguousarray(sample.codes[:, where])
        count = codes.shape[1]
        weights = np.ones(count) if sample.weights is None else sample.weights[where]
        conditionals = self.conditionals.fill(codes, rows.n_threads)
        indicators = np.empty((int(self.places[-1]), count))
        residuals, spreads = np.empty_like(indicators), np.empty((int(self.triangles[-1]), count))
        moments = np.empty_like(spreads) if self.moments else np.zeros((0, count))
        block = RowBlock(weights, indicators, residuals, spreads, moments)
        slots = self.conditionals.slots

        def fill(part: slice) -> None:
            for i in range(part.start, part.stop):
                stop = slots[i] + sample.cards[i] - 1
                self._fill(block, i, codes[i], conditionals[slots[i] : stop])

        costs = np.asarray(sample.cards * rows.contrasts.sizes + 1, dtype=np.float64)
        run_chunks(fill, cut_evenly(costs, rows.n_threads), rows.n_threads)
        return block

    def _fill(self, block: RowBlock, i: int, codes: Any, p: Floats) -> None:
        """Fill the lines of one variable, given its conditionals (all states but the last)."""
        basis = self.rows.contrasts.bases[i]
        own = slice(self.places[i], self.places[i + 1])
        square = slice(self.triangles[i], self.triangles[i + 1])
        means = (basis[:-1] - basis[-1]).T @ p + basis[-1][:, None]
        spread = spread_of(basis, p, means)
        block.indicators[own] = self.seen[i][:, codes]
        block.residuals[own] = block.indicators[own] - means
        block.spreads[square] = spread
        if self.moments:
            first, second = np.triu_indices(basis.shape[1])
            off = means - self.average[i]
            block.moments[square] = off[first] * off[second] + 2.0 * spread
        sample = self.rows.sample
        if sample.extended[i] == sample.cards[i]:
            return
        gone = codes >= sample.cards[i]
        block.residuals[own, gone] = 0.0
        block.spreads[square, gone] = 0.0
        if self.moments:  # an average does not vary; a drawn state does, but answers nothing
            averaged = sample.extended[i] == sample.cards[i] + 1
            block.moments[square, gone] -= spread[:, gone]
            if averaged:
                block.moments[square, gone] = 0.0


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
