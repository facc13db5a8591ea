"""What each row says about a fitted network: indicators and residuals, in blocks of rows.

In the coordinates of ``Contrasts``: with x_i the indicator of the state of variable i and p_i its
conditional given all others, a row gives K_i' x_i and K_i' (x_i - p_i). Rows need not be complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from graftwork.data.compact import Sample
from graftwork.inference.layout import Floats, Ints, Potentials
from graftwork.inference.ragged import offsets
from graftwork.kernels.threads import cut_evenly, run_chunks
from graftwork.objectives.row_conditionals import RowConditionals
from graftwork.tuning.configurations import Configurations, Said
from graftwork.tuning.contrasts import Contrasts

# Numbers a block of rows may take in one of its arrays.
BLOCK_SIZE = 2**22
LEAST_ROWS, MOST_ROWS = 64, 8192
# Configurations of all variables are kept where the sample has at most so many cells.
MOST_KEPT = 2**23


@dataclass(frozen=True, slots=True, eq=False)
class RowBlock:
    """Some rows, as they look from a fitted network.

    The lines of variable i start at ``Rows.places[i]``. Where it is missing, its residuals are zero
    and its indicators what it counts as for its neighbours.

    Attributes
    ----------
    weights : (rows,) float64
    indicators, residuals : (k, rows) float64
        K' x and K' (x - p) of each variable, one after the other.
    """

    weights: Floats
    indicators: Floats
    residuals: Floats


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
    known : dict
        Configurations of variables that were asked for, if samples are small enough to keep them.
    """

    sample: Sample
    potentials: Potentials
    contrasts: Contrasts
    n_threads: int
    chosen: Ints | None = None
    known: dict[int, Configurations] = field(default_factory=dict, repr=False)

    @property
    def places(self) -> Ints:
        """Where each variable's lines start among indicators and residuals."""
        return offsets(self.contrasts.sizes)

    @property
    def conditionals(self) -> RowConditionals:
        """The conditionals of the network's variables."""
        return RowConditionals.of(self.potentials, self.sample)

    def configurations(self, conditionals: RowConditionals, i: int) -> Configurations:
        """Return what the conditional of a variable depends on, whatever rows are chosen."""
        found = self.known.get(i)
        if found is None:
            found = Configurations.of(self.sample, i, conditionals.neighbours(i))
            if self.sample.codes.size <= MOST_KEPT:
                self.known[i] = found
        return found

    def said(self, conditionals: RowConditionals, i: int) -> Said:
        """Return what the conditional of a variable says."""
        known = self.configurations(conditionals, i)
        return Said.of(known, conditionals, self.contrasts, i)

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

    def blocks(self) -> Iterator[RowBlock]:
        """Yield all rows, block by block."""
        width = max(1, int(self.sample.cards.sum()))
        size = int(np.clip(BLOCK_SIZE // width, LEAST_ROWS, MOST_ROWS))
        filler = _Filler.of(self)
        count = self.sample.n_rows if self.chosen is None else len(self.chosen)
        for start in range(0, count, size):
            part = slice(start, min(start + size, count))
            yield filler.block(part if self.chosen is None else self.chosen[part])


@dataclass(frozen=True, slots=True, eq=False)
class _Filler:
    """What all blocks of rows have in common.

    ``seen[i]`` has what each code of variable i counts as, in contrasts, shape (k, codes).
    """

    rows: Rows
    conditionals: RowConditionals
    places: Ints
    seen: list[Floats]

    @staticmethod
    def of(rows: Rows) -> _Filler:
        sample, bases = rows.sample, rows.contrasts.bases
        seen = [(sample.indicators(i) @ basis).T.copy() for i, basis in enumerate(bases)]
        return _Filler(rows, rows.conditionals, rows.places, seen)

    def block(self, where: slice | Ints) -> RowBlock:
        """Return some rows."""
        rows, sample = self.rows, self.rows.sample
        codes = np.ascontiguousarray(sample.codes[:, where])
        count = codes.shape[1]
        weights = np.ones(count) if sample.weights is None else sample.weights[where]
        conditionals = self.conditionals.fill(codes, rows.n_threads)
        indicators = np.empty((int(self.places[-1]), count))
        block = RowBlock(weights, indicators, np.empty_like(indicators))
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
        basis, sample = self.rows.contrasts.bases[i], self.rows.sample
        own = slice(self.places[i], self.places[i + 1])
        block.indicators[own] = self.seen[i][:, codes]
        means = (basis[:-1] - basis[-1]).T @ p + basis[-1][:, None]
        np.subtract(block.indicators[own], means, out=block.residuals[own])
        if sample.extended[i] > sample.cards[i]:
            block.residuals[own, codes >= sample.cards[i]] = 0.0
