"""Chains as a family of models: features come and go, alone or by rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.grafting.family import ModelFamily
from graftwork.inference.chains import FeatureLayout, FeatureWeights
from graftwork.inference.layout import Floats, Ints
from graftwork.inference.ragged import offsets
from graftwork.objectives.chains.features import ChainFeatures
from graftwork.objectives.chains.gains import feature_gains, row_gains
from graftwork.objectives.chains.likelihood import ChainPoint
from graftwork.penalties.blocks import Blocks, Bools
from graftwork.penalties.protocol import Penalty

_EMPTY = np.zeros(0, dtype=np.int64)


def places_of(numbers: Ints, count: int) -> Ints:
    """Return where each of the numbers below ``count`` stands, -1 for none."""
    places = np.full(count, -1)
    places[numbers] = np.arange(len(numbers))
    return places


@dataclass(frozen=True, slots=True, eq=False)
class FeatureSpace:
    """Blocks of features; a block's key is its number.

    Examples
    --------
    >>> FeatureSpace(np.array([0, 2, 3]), "row").size
    2
    """

    starts: Ints  # (blocks + 1,): block ``b`` has the features starts[b]:starts[b + 1]
    unit: str = "feature"  # what a block is, in a word
    variables = _EMPTY
    whole = True

    @property
    def size(self) -> int:
        """Number of blocks."""
        return len(self.starts) - 1

    @property
    def batch(self) -> int:
        """All blocks: the gradients are there."""
        return max(1, self.size)

    def active(self, layout: FeatureLayout, free: Bools) -> Ints:
        """Return the keys of the blocks in a layout."""
        return layout.blocks

    def free(self, layout: FeatureLayout, weights: Floats) -> Bools:
        """Return that every entry may move."""
        return np.ones(layout.size, dtype=bool)

    def entries(self, layout: FeatureLayout, keys: Ints) -> tuple[Ints, Ints]:
        """Return where the blocks' entries lie in a layout that has them, and where each starts."""
        places = places_of(layout.blocks, self.size)[keys]
        sizes = np.diff(layout.offsets)[places]
        starts = offsets(sizes)
        shift = np.repeat(layout.offsets[places] - starts[:-1], sizes)
        return np.arange(len(shift)) + shift, starts

    def gradients(self, point: ChainPoint, keys: Ints) -> tuple[Floats, Ints, bool]:
        """Return the gradients of the blocks' features, where each starts, and that they are exact.

        They are known: one evaluation gives those of every feature.
        """
        some = FeatureLayout.of(self.starts, keys)
        return point.gradients[some.features], some.offsets, True


@dataclass(frozen=True, slots=True, eq=False)
class ChainFamily(ModelFamily):
    """Chains: features of sequences, or rows of them (an attribute with all outputs)."""

    features: ChainFeatures
    single: bool
    scored = True

    @property
    def noun(self) -> str:
        """What is kept in the end, in a word."""
        return "feature" if self.single else "row"

    @property
    def starts(self) -> Ints:
        """Where each block's features start."""
        return np.arange(self.features.size + 1) if self.single else self.features.rows

    def empty(self) -> FeatureWeights:
        """Return the weights of no feature."""
        return FeatureWeights(FeatureLayout.of(self.starts, _EMPTY), np.zeros(0))

    def space(self, variables: Ints, features: bool) -> FeatureSpace:
        """Return the blocks: all of them, at any time."""
        return FeatureSpace(self.starts, self.noun)

    def blocks(self, layout: FeatureLayout, free: Bools | None = None) -> Blocks:
        """Return the blocks of a layout; a row's scale is the root of its number of features."""
        free = np.ones(layout.size, dtype=bool) if free is None else free
        return Blocks(layout, layout.offsets, np.sqrt(np.diff(layout.offsets)), free)

    def grown(self, layout: FeatureLayout, space: FeatureSpace, keys: Ints) -> FeatureLayout:
        """Return the layout with these blocks at its end."""
        more = FeatureLayout.of(space.starts, keys)
        return FeatureLayout(
            np.concatenate([layout.blocks, more.blocks]),
            np.concatenate([layout.offsets[:-1], layout.size + more.offsets]),
            np.concatenate([layout.features, more.features]),
        )

    def kept(self, layout: FeatureLayout, free: Bools) -> tuple[FeatureLayout, Ints]:
        """Return the layout of blocks that may move, and the entries it keeps."""
        if not layout.n_edges:
            return layout, _EMPTY
        kept = np.logical_or.reduceat(free, layout.offsets[:-1])
        sizes = np.diff(layout.offsets)
        entries = np.flatnonzero(np.repeat(kept, sizes))
        smaller = FeatureLayout(layout.blocks[kept], offsets(sizes[kept]), layout.features[entries])
        return smaller, entries

    def without(
        self, layout: FeatureLayout, weights: Floats, places: Ints, compensate: bool
    ) -> Floats:
        """Return the weights with these entries zero."""
        left = weights.copy()
        left[places] = 0.0
        return left

    def scales(self, space: FeatureSpace, keys: Ints) -> Floats:
        """Return d_g of each block: the root of its number of features."""
        roots: Floats = np.sqrt(space.starts[keys + 1] - space.starts[keys])
        return roots

    def gains(self, space: FeatureSpace, point: ChainPoint, penalty: Penalty, keys: Ints) -> Floats:
        """Return by how much the objective would fall if each block alone were optimised, about."""
        some = FeatureLayout.of(space.starts, keys)
        if self.single:
            return feature_gains(point, penalty.lam, penalty.l2, some.features)
        scales = self.scales(space, keys)
        return row_gains(point, penalty.lam, penalty.l2, some.features, some.offsets, scales)

    def count_entries(self, space: FeatureSpace) -> int:
        """Return the number of features."""
        return self.features.size

    def absent(self, layout: FeatureLayout, space: FeatureSpace, keys: Ints) -> Bools:
        """Return that every one of these would be new."""
        return np.ones(len(keys), dtype=bool)

    def known(self, space: FeatureSpace, most: int) -> Ints:
        """Return all keys: their gradients are there."""
        return np.arange(space.size)
