"""Label chains of first and second order: outputs, features, and where their weights lie.

An *output* is what an attribute at a position can vote for: the label there or, in chains of second
order, also the pair of the label before and the label there. Outputs have numbers: labels first,
then pairs. Kernels read them in columns, each block of labels padded to whole cache lines.

References
----------
Sha and Pereira (2003), Shallow parsing with conditional random fields: second order by states that
are pairs of labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graftwork.inference.layout import Floats, Ints
from graftwork.inference.ragged import offsets
from graftwork.kernels.row_sums import BLOCK, cache_lines

Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class ChainShape:
    """How many labels there are, and how far back a label looks."""

    n_labels: int
    order: int = 1

    @property
    def reach(self) -> int:
        """The padded number of labels: rows of weights fill whole cache lines."""
        return -(-self.n_labels // BLOCK) * BLOCK

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.n_labels * (1 if self.order == 1 else 1 + self.n_labels)

    @property
    def n_columns(self) -> int:
        """Number of columns that outputs lie in."""
        return self.reach * (1 if self.order == 1 else 1 + self.n_labels)

    def lines(self, count: int) -> Floats:
        """Return ``count`` rows of columns, all zero, that begin at cache lines."""
        lines: Floats = cache_lines(count * self.n_columns)
        return lines.reshape(count, self.n_columns)

    @property
    def n_pairs(self) -> int:
        """Number of pairs of successive labels."""
        return self.n_labels**2

    @property
    def n_triples(self) -> int:
        """Number of triples of successive labels that can have a weight."""
        return 0 if self.order == 1 else self.n_labels**3

    def columns(self, outputs: Ints) -> Ints:
        """Return the columns of these outputs."""
        block, label = np.divmod(outputs, self.n_labels)
        columns: Ints = block * self.reach + label
        return columns

    def outputs(self, columns: Ints) -> Ints:
        """Return the outputs in these columns."""
        block, label = np.divmod(columns, self.reach)
        outputs: Ints = block * self.n_labels + label
        return outputs

    def moves(self, pairs: Floats, triples: Floats) -> tuple[Floats, Floats]:
        """Return the weights of pairs and of moves between states, as kernels read them.

        Shapes: pairs (n_pairs,) float64; triples (n_triples,) float64.
        """
        k, reach = self.n_labels, self.reach
        if self.order == 1:
            moves = np.zeros((reach, 1, reach))
            moves[:k, 0, :k] = pairs.reshape(k, k)
            return np.zeros((0, reach)), moves
        padded, moves = np.zeros((k, reach)), np.zeros((reach, k, reach))
        padded[:, :k] = pairs.reshape(k, k)
        moves[:k, :, :k] = triples.reshape(k, k, k)
        return padded, moves


@dataclass(frozen=True, slots=True, eq=False)
class FeatureLayout:
    """The active features in the order of activation, in blocks that come and go together."""

    blocks: Ints  # (m,): the number of each block
    offsets: Ints  # (m + 1,): where each block starts in the flat vector
    features: Ints  # (size,): the number of the feature that each entry is the weight of
    n_variables = 0
    n_unary = 0

    @staticmethod
    def of(starts: Ints, blocks: Ints) -> FeatureLayout:
        """Return the layout of these blocks; block ``b`` has features starts[b]:starts[b + 1]."""
        sizes = starts[blocks + 1] - starts[blocks]
        places = offsets(sizes)
        shift = np.repeat(starts[blocks] - places[:-1], sizes)
        return FeatureLayout(blocks, places, np.arange(len(shift)) + shift)

    @property
    def n_edges(self) -> int:
        """Number of blocks."""
        return len(self.blocks)

    @property
    def size(self) -> int:
        """Length of the flat vector."""
        return len(self.features)


@dataclass(frozen=True, slots=True, eq=False)
class FeatureWeights:
    """Weights of active features: a layout and the numbers in it."""

    layout: FeatureLayout
    weights: Floats
