"""Resamples of a table, as weights of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graftwork.data import Table
from graftwork.data.missing import missing_cells
from graftwork.errors import ParameterError
from graftwork.inference.layout import Floats

Counts = np.ndarray[Any, np.dtype[np.int64]]

# numpy draws without replacement from fewer units than this.
MOST_UNITS = 10**9
# How often rows are drawn anew where a variable has no observed cell in them.
_DRAWS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """What is drawn when a table is resampled.

    Whole weights stand for rows that repeat, and each repetition is a unit of its own: a weighted
    table and the one with its rows written out are resampled alike, draw by draw. Sampling weights
    belong to their row: the rows are the units, and one that is drawn twice stands there twice.
    """

    table: Table  # with all its declared states; for whole weights each different row once
    copies: Counts  # how many units a row stands for
    weights: Floats | None  # the weight of a unit

    @staticmethod
    def of(table: Table) -> Units:
        """Return the units of a table; rows of weight 0 are none."""
        if table.weights is not None and not (table.weights > 0).all():
            table = table.take_rows(table.weights > 0)
        given = np.ones(table.n_rows) if table.weights is None else table.weights
        if table.squares is not None or given.sum() >= MOST_UNITS:
            return Units(table, np.ones(table.n_rows, dtype=np.int64), given)
        rows = np.ascontiguousarray(table.codes.T)
        keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first)  # of first appearance, as in the table written out
        copies = np.bincount(group, weights=given, minlength=len(first))[order]
        return Units(table.take_rows(first[order]), copies.astype(np.int64), None)

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.copies.sum())

    def resample(self, rng: np.random.Generator) -> Table:
        """Return as many units as there are, drawn with replacement."""
        return self.with_copies(rng.multinomial(self.n_units, self.copies / self.n_units))

    def subset(self, rng: np.random.Generator, dropped: float) -> Table:
        """Return the units left when a share of them, drawn without replacement, is dropped."""
        kept = max(self.n_units - round(dropped * self.n_units), 1)
        return self.with_copies(
            rng.multivariate_hypergeometric(self.copies, kept, method="marginals")
        )

    def draw(self, rng: np.random.Generator, dropped: float | None = None) -> Table:
        """Return a resample, or a subset where a share is to be dropped.

        Where cells are missing, rows in which a variable has none left are drawn again.
        """
        gone = missing_cells(self.table)
        for _ in range(_DRAWS if gone.any() else 1):
            drawn = self.resample(rng) if dropped is None else self.subset(rng, dropped)
            weights = drawn.weights
            if weights is None or not gone[:, weights > 0].all(axis=1).any():
                break
        return drawn

    def deal(self, sizes: Sequence[int], rng: np.random.Generator) -> list[Counts]:
        """Return how many units of each row go to parts of these sizes, all of them in all."""
        left, parts = self.copies.copy(), []
        for size in sizes[:-1]:
            parts.append(rng.multivariate_hypergeometric(left, size, method="marginals"))
            left = left - parts[-1]
        return [*parts, left]

    def with_copies(self, counts: Counts) -> Table:
        """Return the table with so many units of each row."""
        if self.weights is None:
            return self.table.with_weights(counts)
        squares = None if self.table.squares is None else counts * self.table.squares
        return self.table.with_weights(counts * self.weights, squares)


def seeds_for(random_state: Any, *counts: int) -> list[list[np.random.SeedSequence]]:
    """Return lists of so many seeds each; more of them do not change the first ones."""
    root = _root(random_state)
    return [kind.spawn(count) for kind, count in zip(root.spawn(len(counts)), counts, strict=True)]


def _root(random_state: Any) -> np.random.SeedSequence:
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(random_state.integers(2**32, size=4).tolist())
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(random_state.randint(2**31, size=4).tolist())
    if isinstance(random_state, np.random.SeedSequence):
        # A copy that has spawned nothing yet: the same seed gives the same resamples every time.
        return np.random.SeedSequence(random_state.entropy, spawn_key=random_state.spawn_key)
    try:
        return np.random.SeedSequence(random_state)
    except (TypeError, ValueError):
        raise ParameterError(
            f"random_state={random_state!r} is not a seed; use a whole number of at least 0, "
            "or None."
        ) from None
