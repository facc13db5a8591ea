"""Labelled sequences as flat arrays, ready for the kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from graftwork.data.chains import Sequences
from graftwork.inference.chains import ChainShape, Codes
from graftwork.inference.layout import Floats, Ints

_NONE = np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class ChainData:
    """Sequences, their labels, and the attributes' positions.

    Attributes
    ----------
    shape : ChainShape
    sequences : Sequences
    weights : (sequences,) or (0,) float64
        Of sequences; none are ones.
    position_weights : (positions,) or (0,) float64
        The same for each position.
    col_starts, positions, col_values
        Attribute ``a`` is at positions[col_starts[a]:col_starts[a + 1]], with these values; no
        values are ones.
    label_columns, pair_columns : int32
        The columns of the outputs that are true at each position; -1 where there is no pair, and no
        pairs at all in first order.
    pairs, triples : (positions,) int64
        The pair (triple) of labels that ends at each position, -1 where there is none.
    """

    shape: ChainShape
    sequences: Sequences
    weights: Floats
    position_weights: Floats
    col_starts: Ints
    positions: Codes
    col_values: Floats
    label_columns: Codes
    pair_columns: Codes
    pairs: Ints
    triples: Ints

    @staticmethod
    def of(
        sequences: Sequences, codes: Codes, shape: ChainShape, weights: Floats | None = None
    ) -> ChainData:
        """Return labelled sequences; codes are the labels of all positions."""
        col_starts, positions, col_values = _by_attribute(sequences)
        own = _NONE if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        k, lengths = shape.n_labels, np.diff(sequences.starts)
        place = np.arange(len(codes)) - np.repeat(sequences.starts[:-1], lengths)
        here = codes.astype(np.int64)
        before, earlier = np.roll(here, 1), np.roll(here, 2)
        pairs = np.where(place >= 1, before * k + here, -1)
        triples = np.where(place >= 2, (earlier * k + before) * k + here, -1)
        second = shape.order == 2
        pair_columns = np.where(pairs >= 0, shape.columns(k + pairs), -1)
        return ChainData(
            shape,
            sequences,
            own,
            np.repeat(own, lengths) if len(own) else _NONE,
            col_starts,
            positions,
            col_values,
            codes.astype(np.int32),
            pair_columns.astype(np.int32) if second else np.zeros(0, dtype=np.int32),
            pairs,
            triples if second else np.full(len(codes), -1),
        )

    @property
    def n_attributes(self) -> int:
        """Number of attributes."""
        return len(self.col_starts) - 1

    @property
    def total_weight(self) -> float:
        """Number of sequences, or their weights' sum."""
        return float(self.weights.sum()) if len(self.weights) else float(self.sequences.n_sequences)

    def without_zeros(self) -> ChainData:
        """Return the same without attributes of value zero, which add nothing to any sum.

        Dicts have many, one for each False. They matter only to which features are candidates.
        """
        there = self.sequences.values != 0
        if there.all():
            return self
        sequences = self.sequences
        before = np.concatenate([[0], np.cumsum(there)])
        values = sequences.values[there]
        kept = replace(
            sequences,
            indptr=before[sequences.indptr],
            indices=sequences.indices[there],
            values=_NONE if (values == 1).all() else values,
        )
        col_starts, positions, col_values = _by_attribute(kept)
        return replace(
            self, sequences=kept, col_starts=col_starts, positions=positions, col_values=col_values
        )

    def label_counts(self) -> Floats:
        """Return the weighted number of positions with each label, shape (n_labels,)."""
        weights = self.position_weights if len(self.position_weights) else None
        counts = np.bincount(self.label_columns, weights, minlength=self.shape.n_labels)
        return counts.astype(np.float64)

    def attribute_squares(self) -> Floats:
        """Return the weighted sum of squared values of each attribute."""
        counts = np.diff(self.col_starts)
        if not len(self.col_values) and not len(self.position_weights):
            return counts.astype(np.float64)
        squares = self.col_values**2 if len(self.col_values) else np.ones(len(self.positions))
        if len(self.position_weights):
            squares = squares * self.position_weights[self.positions]
        of = np.repeat(np.arange(self.n_attributes), counts)
        return np.bincount(of, squares, minlength=self.n_attributes).astype(np.float64)


def _by_attribute(sequences: Sequences) -> tuple[Ints, Codes, Floats]:
    """Return positions and values of each attribute: the matrix by columns."""
    values = sequences.values
    plain = not len(values)
    data = np.ones(len(sequences.indices), dtype=np.int8) if plain else values
    shape = (len(sequences.indptr) - 1, sequences.n_attributes)
    matrix = sparse.csr_matrix((data, sequences.indices, sequences.indptr), shape=shape).tocsc()
    starts, positions = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    return starts, positions, _NONE if plain else np.asarray(matrix.data, dtype=np.float64)
