"""Where the weights of features lie: one flat vector, block after block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.inference.layout import Floats, Ints
from graftwork.inference.ragged import offsets


@dataclass(frozen=True, slots=True, eq=False)
class FeatureLayout:
    """The active features in the order of activation, in blocks that come and go together.

    Attributes
    ----------
    blocks : (m,) int64
        The number of each block.
    offsets : (m + 1,) int64
        Where each block starts in the flat vector.
    features : (size,) int64
        The number of the feature that each entry is the weight of.

    Examples
    --------
    >>> layout = FeatureLayout.of(np.array([0, 2, 3]), np.array([1, 0]))
    >>> layout.features, layout.offsets
    (array([2, 0, 1]), array([0, 1, 3]))
    """

    blocks: Ints
    offsets: Ints
    features: Ints
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
