"""The conditional likelihood of label chains: a conditional random field.

One evaluation gives the gradient of every candidate feature, active or not: the expected value of
each attribute with each output is one sparse product of attributes with the marginals of outputs.
It is made block by block of sequences, so that only the marginals of one block are held.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from graftwork.data.chains import Sequences
from graftwork.errors import TooLargeError
from graftwork.inference.chains import ChainShape, Codes, FeatureLayout, FeatureWeights
from graftwork.inference.layout import Floats, Ints
from graftwork.kernels.chains.states import infer_chains
from graftwork.kernels.chains.sums import (
    add_expected,
    fill_weights,
    keep_active,
    number_rows,
    spread_marginals,
)
from graftwork.kernels.threads import count_threads, cut_evenly, run_chunks
from graftwork.objectives.chains.data import ChainData, Occurrences
from graftwork.objectives.chains.features import ChainFeatures, Seen, find_features

# Chains are summed in parts of about this many positions (but not too many parts): a fixed cut, so
# that sums do not depend on the number of threads.
PART, MOST_PARTS = 4096, 64
# A block has about as many positions as hold this many marginals (16 MiB, which stay in caches),
# but at least this many positions.
HELD, LEAST = 2**21, 1024
# It is cut into about this many parts for threads, if there are as many positions as in PART.
PARTS = 16
# The solver's metric is this power of how often a feature is uncertain, with a little added.
POWER, LITTLE = 0.6, 0.1
# The most probabilities of all outputs at all positions that `marginals` returns: 8 GiB.
MOST_MARGINALS = 2**30


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Weights as kernels want them."""

    slots: Codes  # (attributes,): the row of each attribute, -1 for none
    rows: Floats  # (n, columns)
    pairs: Floats  # pairs, moves: see ``ChainShape.moves``
    moves: Floats

    @staticmethod
    def of(
        features: ChainFeatures, chosen: Ints, weights: Floats, known: Rows | None = None
    ) -> Rows:
        """Return the weights of some features, written over known ones of the same features."""
        about = features.n_votes, features.attributes
        if known is None:
            slots = np.empty(len(features.starts) - 1, dtype=np.int32)
            rows = features.shape.lines(number_rows(chosen, *about, slots))
        else:
            slots, rows = known.slots, known.rows
        fill_weights(chosen, weights, *about, features.columns, slots, rows)
        return Rows(slots, rows, *features.shape.moves(*features.moves(chosen, weights)))


@dataclass(frozen=True, slots=True, eq=False)
class Active:
    """The attributes of positions that have weights, for as long as these are the same ones."""

    slots: Codes  # (attributes,): the row of each attribute, -1 for none
    # starts, places, values: compressed rows of positions: the rows of their attributes, and
    # values; none are ones
    starts: Ints
    places: Codes
    values: Floats

    @staticmethod
    def of(sequences: Sequences, slots: Codes, parts: list[slice], n_threads: int) -> Active:
        """Return those of all positions, which ``parts`` cut for threads."""
        starts, places = np.zeros_like(sequences.indptr), np.empty_like(sequences.indices)
        values = np.empty_like(sequences.values)
        given = sequences.indptr, sequences.indices, sequences.values

        def fill(part: slice) -> int:
            return int(keep_active(part.start, part.stop, *given, slots, starts, places, values))

        end = 0
        for part, stop in zip(parts, run_chunks(fill, parts, n_threads), strict=True):
            begin = int(sequences.indptr[part.start])
            if begin > end:  # there is room before
                size = stop - begin
                places[end : end + size] = places[begin:stop]
                values[end : end + size] = values[begin:stop]
                starts[part.start + 1 : part.stop + 1] -= begin - end
                stop = end + size
            end = stop
        return Active(slots, starts, places, values)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Sequences that follow each other, whose marginals are held at the same time."""

    sequences: slice  # sequences, positions: which ones
    positions: slice
    starts: Ints  # (sequences + 1,): where each starts, from the block's first position
    chains: list[Ints]  # their numbers in the block, in parts for threads
    attributes: Ints  # those that occur
    places: Occurrences  # where each of these does in the block
    parts: list[slice]  # these attributes in parts for threads

    @staticmethod
    def of(sequences: Sequences, first: int, last: int, size: int, n_threads: int) -> Block:
        """Return the sequences first:last as a block of a usual size of positions."""
        begin, end = int(sequences.starts[first]), int(sequences.starts[last])
        starts = sequences.starts[first : last + 1] - begin
        every = Occurrences.of(sequences, begin, end)
        there = np.flatnonzero(np.diff(every.starts))
        places = replace(every, starts=np.append(every.starts[there], every.starts[-1]))
        return Block(
            slice(first, last),
            slice(begin, end),
            starts,
            cut_chains(starts, min(PART, -(-size // PARTS))),
            there,
            places,
            cut_evenly(np.diff(places.starts) + 1.0, n_threads),
        )


def cut_blocks(sequences: Sequences, n_columns: int, n_threads: int) -> list[Block]:
    """Return all sequences in blocks."""
    size = max(LEAST, HELD // n_columns)
    bounds, starts = [0], sequences.starts
    while bounds[-1] < sequences.n_sequences:
        after = int(np.searchsorted(starts, starts[bounds[-1]] + size, side="right")) - 1
        bounds.append(max(after, bounds[-1] + 1))
    return [Block.of(sequences, *ends, size, n_threads) for ends in pairwise(bounds)]


class ChainLikelihood:
    """The mean negative log-likelihood of a sequence's labels given its attributes, in nats."""

    def __init__(
        self, data: ChainData, features: ChainFeatures, seen: Seen, n_jobs: int | None = None
    ) -> None:
        data = data.without_zeros()
        self.data, self.features, self.seen = data, features, seen
        self.n_threads = count_threads(n_jobs)
        self.evaluations = 0
        self.total = max(data.total_weight, 1e-300)
        self._blocks = cut_blocks(data.sequences, data.shape.n_columns, self.n_threads)
        self._positions = cut_evenly(np.diff(data.sequences.indptr) + 1.0, self.n_threads)
        longest = max(
            (block.positions.stop - block.positions.start for block in self._blocks), default=0
        )
        self._marginals = data.shape.lines(longest)
        self._active: Active | None = None
        self._rows: Rows | None = None
        self._chosen: Ints | None = None
        self._metric = np.zeros(0)
        self._next_metric = 0

    def describe(self) -> str:
        """Return in plain words how it is computed."""
        return "conditional likelihood of chains by forward-backward"

    def at(self, potentials: FeatureWeights, warm: object = None) -> ChainPoint:
        """Return the loss evaluated there, with the gradient of every candidate.

        A ``warm`` point that differs by features of weight 0 alone knows all of that.
        """
        if isinstance(warm, ChainPoint) and warm.objective is self:
            before, now = np.zeros((2, self.features.size))
            before[warm.potentials.layout.features] = warm.potentials.weights
            now[potentials.layout.features] = potentials.weights
            if np.array_equal(before, now):
                return ChainPoint(self, potentials, warm.value, warm.gradients)
        self.evaluations += 1
        data, features = self.data, self.features
        due = self.evaluations >= self._next_metric
        gradients = np.zeros(features.size)
        outputs, uncertain = np.zeros(data.shape.n_columns), np.zeros(data.shape.n_columns)
        variances = np.zeros(features.size if due else 0)

        def use(block: Block, marginals: Floats) -> None:
            self._add_expected(block, marginals, block.places.values, gradients)
            if data.shape.order == 2:
                outputs[:] += marginals.sum(axis=0)
            if due:
                spread_marginals(data.position_weights[block.positions], marginals)
                self._add_expected(block, marginals, block.places.values**2, variances)
                uncertain[:] += marginals.sum(axis=0)

        log_partitions, sums = self.infer(potentials, use)
        self._set_moves(gradients, outputs, sums)
        if due:
            positions = data.position_weights.sum() or data.sequences.n_positions
            share = uncertain[: data.shape.n_labels].sum() / max(positions, 1e-300)
            self._set_moves(variances, uncertain, share * sums)
            squares = np.maximum(self.seen.squares, 1e-300)
            self._metric = squares * (variances / squares + LITTLE) ** POWER / self.total
            self._next_metric = max(1, 2 * self.evaluations)
        weights = data.weights
        mean = weights @ log_partitions if len(weights) else log_partitions.sum()
        found = self.seen.sums[potentials.layout.features]
        value = float(mean - found @ potentials.weights) / self.total
        gradients -= self.seen.sums
        gradients /= self.total
        return ChainPoint(self, potentials, value, gradients)

    def infer(
        self, potentials: FeatureWeights, use: Callable[[Block, Floats], None]
    ) -> tuple[Floats, Floats]:
        """Return log-partition functions and expected moves.

        ``use`` is called with each block and its marginals of outputs, in an array that the next
        block fills anew.
        """
        data, chosen = self.data, potentials.layout.features
        known = self._rows if chosen is self._chosen else None
        rows = Rows.of(self.features, chosen, potentials.weights, known)
        self._rows, self._chosen = rows, chosen
        sequences = data.sequences
        log_partitions = np.zeros(sequences.n_sequences)  # that of an empty chain is log 1
        if self._active is None or not np.array_equal(self._active.slots, rows.slots):
            self._active = None  # before the next one takes as much memory
            self._active = Active.of(sequences, rows.slots, self._positions, self.n_threads)
        total = np.zeros_like(rows.moves)
        for block in self._blocks:
            marginals = self._marginals[: block.positions.stop - block.positions.start]
            total += self._infer_block(block, rows, self._active, marginals, log_partitions)
            use(block, marginals)
        return log_partitions, total

    def _infer_block(
        self, block: Block, rows: Rows, active: Active, marginals: Floats, log_partitions: Floats
    ) -> Floats:
        """Fill the marginals of a block and its log-partition functions; return expected moves."""
        shape, weights = self.data.shape, self.data.weights[block.sequences]
        indptr = active.starts[block.positions.start : block.positions.stop + 1]
        found = log_partitions[block.sequences]

        def run(part: Ints) -> Floats:
            sums = np.zeros_like(rows.moves)
            infer_chains(
                shape.order, shape.n_labels, part, block.starts, weights, indptr, active.places,
                active.values, rows.rows, rows.pairs, rows.moves, marginals, sums, found, True,
            )  # fmt: skip
            return sums

        parts = run_chunks(run, block.chains, self.n_threads)
        return np.sum(parts, axis=0) if parts else np.zeros_like(rows.moves)

    def marginals(self, potentials: FeatureWeights) -> Floats:
        """Return the marginals of outputs at all positions, (positions, columns), weighted."""
        data = self.data
        held = data.sequences.n_positions * data.shape.n_columns
        if held > MOST_MARGINALS:
            raise TooLargeError(
                f"gains of features, for chains of order {data.shape.order} with "
                f"{data.shape.n_labels} labels and {data.sequences.n_positions:,} positions, need "
                f"{held / 2**27:,.0f} GiB for probabilities; use another method, order=1, fewer "
                "labels or fewer sequences."
            )
        every = data.shape.lines(data.sequences.n_positions)

        def use(block: Block, marginals: Floats) -> None:
            every[block.positions] = marginals

        self.infer(potentials, use)
        return every

    def metric(self) -> Floats:
        """Return a rough curvature of every feature, for solvers.

        It grows with the number of occurrences where the feature is uncertain: its variance as if
        positions were independent, moves being as uncertain as labels are on average. It is that at
        a point not long ago: `at` makes it anew when there are twice as many evaluations.
        """
        return self._metric

    def _add_expected(
        self, block: Block, marginals: Floats, values: Floats, expected: Floats
    ) -> None:
        """Add the expected values of the features of attributes in a block."""
        features, places = self.features, block.places

        def run(part: slice) -> None:
            add_expected(
                features.shape.n_columns, part.start, part.stop, block.attributes, places.starts,
                places.positions, values, marginals.ravel(), features.starts, features.columns,
                expected,
            )  # fmt: skip

        run_chunks(run, block.parts, self.n_threads)

    def _set_moves(self, expected: Floats, outputs: Floats, sums: Floats) -> None:
        """Fill the expected values of the features of moves, from those of outputs and moves."""
        features = self.features
        k, reach, n_votes = features.shape.n_labels, features.shape.reach, features.n_votes
        if features.shape.order == 1:
            pairs = sums[:k, 0, :k]
        else:
            pairs = outputs[reach:].reshape(k, reach)[:, :k]
        expected[n_votes : n_votes + len(features.pairs)] = pairs.ravel()[features.pairs]
        expected[n_votes + len(features.pairs) :] = sums[:k, :, :k].ravel()[features.triples]


@dataclass(frozen=True, eq=False)
class ChainPoint:
    """The loss of chains at one set of weights."""

    objective: ChainLikelihood
    potentials: FeatureWeights
    value: float
    gradients: Floats  # (features,): of every candidate feature
    exact = True
    trusted = True

    @cached_property
    def gradient(self) -> Floats:
        """The gradient of the active features."""
        return self.gradients[self.potentials.layout.features]

    @property
    def curvature(self) -> Floats:
        """A rough metric of the active features, see ``ChainLikelihood.metric``."""
        metric: Floats = self.objective.metric()[self.potentials.layout.features]
        return metric


def compile_kernels(shape: ChainShape) -> None:
    """Run everything once on next to nothing: compilation is on nobody's clock then."""
    one = np.arange(2)
    sequences = Sequences(one, one, np.zeros(1, dtype=np.int32), np.zeros(0), ("",))
    data = ChainData.of(sequences, np.zeros(1, dtype=np.int32), shape)
    objective = ChainLikelihood(data, *find_features(data), n_jobs=1)
    none = FeatureWeights(FeatureLayout.of(one, np.zeros(0, dtype=np.int64)), np.zeros(0))
    objective.at(none)
    objective.metric()


def cut_chains(starts: Ints, part: int = PART) -> list[Ints]:
    """Return the chains by length, in parts of about equal numbers of positions.

    Empty chains are left out: there is nothing to compute for them. Parts do not depend on the
    number of threads. Chains of about the same length go side by side.
    """
    lengths = starts[1:] - starts[:-1]
    chains = lengths.argsort(kind="stable")[np.count_nonzero(lengths == 0) :]
    if starts[-1] < 2 * part:
        return [chains] if len(chains) else []
    ends = np.cumsum(lengths[chains])
    count = int(np.clip(starts[-1] // part, 1, min(MOST_PARTS, len(chains))))
    cuts = np.searchsorted(ends, starts[-1] * np.arange(1, count) / count) + 1
    return [part for part in np.split(chains, np.unique(cuts)) if len(part)]
