"""The features a chain may have: attributes with outputs, then pairs of labels, then triples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graftwork.errors import TooLargeError
from graftwork.inference.chains import ChainShape, Codes
from graftwork.inference.layout import Floats, Ints
from graftwork.inference.ragged import offsets
from graftwork.kernels.chains.sums import count_outputs
from graftwork.objectives.chains.data import ChainData, Occurrences

# A feature takes some forty bytes while learning.
MOST_FEATURES = 2**27


@dataclass(frozen=True, slots=True, eq=False)
class ChainFeatures:
    """All candidate features of a chain, numbered from 0."""

    shape: ChainShape
    starts: Ints  # (attributes + 1,): features of attribute ``a`` are starts[a]:starts[a + 1]
    # attributes, columns: (starts[-1],): the attribute of each of these features, and the column
    # of the output it votes for
    attributes: Codes
    columns: Codes
    # pairs, triples: pairs and triples of labels with a feature, which follow in this order
    pairs: Ints
    triples: Ints

    @property
    def n_votes(self) -> int:
        """Number of features of attributes."""
        return len(self.columns)

    @property
    def size(self) -> int:
        """Number of features."""
        return len(self.columns) + len(self.pairs) + len(self.triples)

    @property
    def rows(self) -> Ints:
        """Where the features that belong together start, and their number: shape (rows + 1,).

        Those of one attribute with any output, and those of one label with any that follows it.
        """
        k = self.shape.n_labels
        votes = self.starts[:-1][np.diff(self.starts) > 0]
        moves = np.concatenate([self.pairs // k, k + self.triples // k])
        fresh = np.flatnonzero(np.diff(moves, prepend=-1))
        return np.concatenate([votes, self.n_votes + fresh, [self.size]])

    def moves(self, chosen: Ints, weights: Floats) -> tuple[Floats, Floats]:
        """Return the weights of all pairs and triples of labels, given those of some features."""
        moving = chosen >= self.n_votes
        places, values = chosen[moving] - self.n_votes, weights[moving]
        of_two = places < len(self.pairs)
        pairs, triples = np.zeros(self.shape.n_pairs), np.zeros(self.shape.n_triples)
        pairs[self.pairs[places[of_two]]] = values[of_two]
        triples[self.triples[places[~of_two] - len(self.pairs)]] = values[~of_two]
        return pairs, triples

    def label_names(self, feature: int) -> tuple[int | None, tuple[int, ...]]:
        """Return a feature's attribute (None for pairs and triples) and its labels in order."""
        k, place = self.shape.n_labels, feature - self.n_votes
        if place < 0:
            output = int(self.shape.outputs(self.columns[feature]))
            labels = (output,) if output < k else divmod(output - k, k)
            return int(self.attributes[feature]), labels
        if place < len(self.pairs):
            return None, divmod(int(self.pairs[place]), k)
        first, rest = divmod(int(self.triples[place - len(self.pairs)]), k * k)
        return None, (first, *divmod(rest, k))


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """How often features are seen in the data, with the weights of their chains."""

    sums: Floats  # (features,): sum of the feature over all positions
    # (features,): about how much the sum would vary if labels were drawn anew: the curvature of
    # the loss at a model that knows no more than the feature
    spread: Floats
    squares: Floats  # (features,): mean square of the values of the feature's attribute


def find_features(
    data: ChainData, *, observed: bool = True, min_count: int = 1
) -> tuple[ChainFeatures, Seen]:
    """Return the candidate features of labelled chains, and how often each is seen."""
    every = data.n_attributes * data.shape.n_outputs
    if not observed and every > MOST_FEATURES:
        raise TooLargeError(
            f"{data.n_attributes:,} attributes with {data.shape.n_outputs:,} outputs each would be "
            f'{every:,} features, which is too many; use candidates="observed".'
        )
    shape, places = data.shape, Occurrences.of(data.sequences)
    counts, columns, sums, squares = _votes(data, places)
    occurrences, totals = np.diff(places.starts), data.attribute_squares(places)
    del places
    often = occurrences >= min_count
    attributes = np.repeat(np.arange(len(counts)), counts)
    if not observed:
        cells = attributes * shape.n_outputs + shape.outputs(columns)
        counts = np.full(len(counts), shape.n_outputs)
        columns = np.tile(shape.columns(np.arange(shape.n_outputs)), len(counts))
        sums, squares = (_spread_out(v, cells, len(columns)) for v in (sums, squares))
        attributes = np.repeat(np.arange(len(counts)), counts)
    kept = often[attributes]
    attributes, columns, sums, squares = attributes[kept], columns[kept], sums[kept], squares[kept]
    moves = [(data.pairs, shape.n_pairs), (data.triples, shape.n_triples)]
    found = [_moves(data, numbers, count, observed) for numbers, count in moves]
    features = ChainFeatures(
        shape,
        offsets(np.where(often, counts, 0)),
        attributes.astype(np.int32),
        columns.astype(np.int32),
        *(numbers for numbers, _, _ in found),
    )
    means = (totals / np.maximum(occurrences, 1))[attributes]  # where not zero
    spread = _vote_spread(totals[attributes], means, squares)
    seen = Seen(
        np.concatenate([sums, *(s for _, s, _ in found)]),
        np.concatenate([spread, *(b for _, _, b in found)]),
        np.concatenate([means, *(np.ones(len(s)) for _, s, _ in found)]),
    )
    return features, seen


def _votes(data: ChainData, places: Occurrences) -> tuple[Ints, Ints, Floats, Floats]:
    """Return the outputs seen with each attribute: how many, in which columns, sums, squares."""
    counts = np.zeros(data.n_attributes, dtype=np.int64)
    nothing = np.zeros(0)
    given = (
        places.starts, places.positions, places.values, data.position_weights,
        data.label_columns, data.pair_columns, data.shape.n_columns,
    )  # fmt: skip
    count_outputs(*given, counts, counts, np.zeros(0, dtype=np.int64), nothing, nothing)
    size = int(counts.sum())
    columns, sums, squares = np.empty(max(size, 1), dtype=np.int64), np.empty(size), np.empty(size)
    count_outputs(*given, offsets(counts), counts, columns, sums, squares)
    return counts, columns[:size], sums, squares


def _spread_out(values: Floats, places: Ints, size: int) -> Floats:
    out = np.zeros(size)
    out[places] = values
    return out


def _vote_spread(own: Floats, means: Floats, squares: Floats) -> Floats:
    """Return q p (1 - p) of each feature, q being its attribute's squares, p its share of them.

    Half an occurrence is added to either side: a share of 0 or 1 has a curvature, too.
    """
    half = 0.5 * means
    rest = np.maximum(own - squares, 0.0)
    spread: Floats = (squares + half) * (rest + half) / np.maximum(own + 2.0 * half, 1e-300)
    return spread


def _moves(
    data: ChainData, numbers: Ints, count: int, observed: bool
) -> tuple[Ints, Floats, Floats]:
    """Return the pairs (or triples) of labels with a feature, their sums and spreads."""
    there = numbers >= 0
    weights = None if not len(data.position_weights) else data.position_weights[there]
    sums = np.bincount(numbers[there], weights, minlength=count).astype(np.float64)[:count]
    found = np.arange(count)
    if observed:
        found = np.flatnonzero(np.bincount(numbers[there], minlength=count)[:count])
    sums, total = sums[found], max(float(sums.sum()), 1.0)
    return found, sums, (sums + 0.5) * (total - sums + 0.5) / (total + 1.0)
