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
class Occurrences:
    """Where attributes are: the matrix of positions and attributes by columns."""

    starts: Ints  # (attributes + 1,)
    positions: Codes  # attribute ``a`` is at positions[starts[a]:starts[a + 1]]
    values: Floats  # its values there; none are ones

    @staticmethod
    def of(sequences: Sequences, first: int = 0, last: int | None = None) -> Occurrences:
        """Return those at the positions first:last, which are counted from ``first``."""
        last = sequences.n_positions if last is None else last
        indptr = sequences.indptr[first : last + 1]
        there = slice(int(indptr[0]), int(indptr[-1]))
        indices, plain = sequences.indices[there], not len(sequences.values)
        data = np.ones(len(indices), dtype=np.int8) if plain else sequences.values[there]
        shape = (last - first, sequences.n_attributes)
        matrix = sparse.csr_matrix((data, indices, indptr - indptr[0]), shape=shape).tocsc()
        values = _NONE if plain else np.asarray(matrix.data, dtype=np.float64)
        return Occurrences(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), values)


@dataclass(frozen=True, slots=True, eq=False)
class ChainData:
    """Sequences and their labels."""

    shape: ChainShape
    sequences: Sequences
    weights: Floats  # (sequences,) or (0,): of sequences; none are ones
    position_weights: Floats  # (positions,) or (0,): the same for each position
    # label_columns, pair_columns: the columns of the outputs that are true at each position; -1
    # where there is no pair, and no pairs at all in first order
    label_columns: Codes
    pair_columns: Codes
    # pairs, triples: (positions,): the pair (triple) of labels that ends at each position, -1
    # where there is none
    pairs: Ints
    triples: Ints

    @staticmethod
    def of(
        sequences: Sequences, codes: Codes, shape: ChainShape, weights: Floats | None = None
    ) -> ChainData:
        """Return labelled sequences; codes are the labels of all positions."""
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
            codes.astype(np.int32),
            pair_columns.astype(np.int32) if second else np.zeros(0, dtype=np.int32),
            pairs,
            triples if second else np.full(len(codes), -1),
        )

    @property
    def n_attributes(self) -> int:
        """Number of attributes."""
        return self.sequences.n_attributes

    @property
    def total_weight(self) -> float:
        """Number of sequences, or their weights' sum."""
        return float(self.weights.sum()) if len(self.weights) else float(self.sequences.n_sequences)

    def without_zeros(self) -> ChainData:
        """Return the same without attributes of value zero, which add nothing to any sum.

        Dicts have many, one for each False. They matter only to which features are candidates.
        """
        sequences = self.sequences
        there = sequences.values != 0
        if there.all():
            return self
        before = np.concatenate([[0], np.cumsum(there)])
        values = sequences.values[there]
        kept = replace(
            sequences,
            indptr=before[sequences.indptr],
            indices=sequences.indices[there],
            values=_NONE if (values == 1).all() else values,
        )
        return replace(self, sequences=kept)

    def label_counts(self) -> Floats:
        """Return the weighted number of positions with each label, shape (n_labels,)."""
        weights = self.position_weights if len(self.position_weights) else None
        counts = np.bincount(self.label_columns, weights, minlength=self.shape.n_labels)
        return counts.astype(np.float64)

    def attribute_squares(self, found: Occurrences) -> Floats:
        """Return the weighted sum of squared values of each attribute."""
        counts = np.diff(found.starts)
        if not len(found.values) and not len(self.position_weights):
            return counts.astype(np.float64)
        squares = found.values**2 if len(found.values) else np.ones(len(found.positions))
        if len(self.position_weights):
            squares = squares * self.position_weights[found.positions]
        of = np.repeat(np.arange(self.n_attributes), counts)
        return np.bincount(of, squares, minlength=self.n_attributes).astype(np.float64)
