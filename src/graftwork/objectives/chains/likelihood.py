"""The conditional likelihood of label chains: a conditional random field.

One evaluation gives the gradient of every candidate feature, active or not: the expected value of
each attribute with each output is one sparse product of attributes with the marginals of outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graftwork.data.chains import Sequences
from graftwork.errors import TooLargeError
from graftwork.inference.chains import ChainShape, Codes, FeatureLayout, FeatureWeights
from graftwork.inference.layout import Floats, Ints
from graftwork.kernels.chains.states import infer_chains
from graftwork.kernels.chains.sums import (
    expected_features,
    fill_weights,
    keep_active,
    number_rows,
    spread_marginals,
)
from graftwork.kernels.threads import count_threads, cut_evenly, run_chunks
from graftwork.objectives.chains.data import ChainData
from graftwork.objectives.chains.features import ChainFeatures, Seen, find_features

# Chains are summed in parts of about this many positions (but not too many parts): a fixed cut, so
# that sums do not depend on the number of threads.
PART, MOST_PARTS = 4096, 64
# The solver's metric is this power of how often a feature is uncertain, with a little added.
POWER, LITTLE = 0.6, 0.1
# The probabilities of all outputs at all positions are held at once: 8 GiB at most.
MOST_MARGINALS = 2**30


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Weights as kernels want them.

    Attributes
    ----------
    slots : (attributes,) int32
        The row of each attribute, -1 for none.
    rows : (n, columns) float64
    pairs, moves : float64
        See ``ChainShape.moves``.
    """

    slots: Codes
    rows: Floats
    pairs: Floats
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
    """The attributes of positions that have weights, for as long as these are the same ones.

    Attributes
    ----------
    slots : (attributes,) int32
        The row of each attribute, -1 for none.
    starts, places, values
        Compressed rows of positions: the rows of their attributes, and values; none are ones.
    """

    slots: Codes
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


class ChainLikelihood:
    """The mean negative log-likelihood of the labels of a sequence, given its attributes, in nats.

    Parameters
    ----------
    data : ChainData
    features : ChainFeatures
        All candidates.
    seen : Seen
        How often each is seen.
    n_jobs : int, optional
        Threads; None is every core. Nothing depends on it.
    """

    ignores_empty_tables = True

    def __init__(
        self, data: ChainData, features: ChainFeatures, seen: Seen, n_jobs: int | None = None
    ) -> None:
        held = data.sequences.n_positions * data.shape.n_columns
        if held > MOST_MARGINALS:
            raise TooLargeError(
                f"chains of order {data.shape.order} with {data.shape.n_labels} labels and "
                f"{data.sequences.n_positions:,} positions need {held / 2**27:,.0f} GiB for "
                "probabilities; use order=1, fewer labels or fewer sequences."
            )
        data = data.without_zeros()
        self.data, self.features, self.seen = data, features, seen
        self.n_threads = count_threads(n_jobs)
        self.evaluations = 0
        self.total = max(data.total_weight, 1e-300)
        self._chunks = cut_chains(data.sequences.starts)
        self._columns = cut_evenly(np.diff(data.col_starts) + 1.0, self.n_threads)
        self._positions = cut_evenly(np.diff(data.sequences.indptr) + 1.0, self.n_threads)
        self._marginals = data.shape.lines(data.sequences.n_positions)
        self._active: Active | None = None
        self._rows: Rows | None = None
        self._chosen: Ints | None = None
        self._sums = np.zeros(0)
        self._metric = np.zeros(0)
        self._next_metric = 0

    def describe(self) -> str:
        """Return in plain words how it is computed."""
        return "conditional likelihood of chains by forward-backward"

    def at(self, potentials: FeatureWeights, warm: object = None) -> ChainPoint:
        """Return the loss evaluated there, with the gradient of every candidate."""
        self.evaluations += 1
        log_partitions, marginals, sums = self.infer(potentials)
        weights = self.data.weights
        mean = weights @ log_partitions if len(weights) else log_partitions.sum()
        found = self.seen.sums[potentials.layout.features]
        value = float(mean - found @ potentials.weights) / self.total
        gradients = self._expected(marginals, sums, self.data.col_values)
        gradients -= self.seen.sums
        gradients /= self.total
        return ChainPoint(self, potentials, value, gradients)

    def infer(self, potentials: FeatureWeights) -> tuple[Floats, Floats, Floats]:
        """Return log-partition functions, marginals of outputs and expected moves.

        The marginals lie in an array that the next call fills anew.
        """
        data, marginals, chosen = self.data, self._marginals, potentials.layout.features
        known = self._rows if chosen is self._chosen else None
        rows = Rows.of(self.features, chosen, potentials.weights, known)
        self._rows, self._chosen = rows, chosen
        sequences, shape = data.sequences, data.shape
        log_partitions = np.zeros(sequences.n_sequences)  # that of an empty chain is log 1
        if self._active is None or not np.array_equal(self._active.slots, rows.slots):
            self._active = Active.of(sequences, rows.slots, self._positions, self.n_threads)
        active = self._active

        def run(part: Ints) -> Floats:
            sums = np.zeros_like(rows.moves)
            infer_chains(
                shape.order, shape.n_labels, part, sequences.starts, data.weights, active.starts,
                active.places, active.values, rows.rows, rows.pairs, rows.moves, marginals, sums,
                log_partitions, True,
            )  # fmt: skip
            return sums

        self._sums = np.sum(run_chunks(run, self._chunks, self.n_threads), axis=0)
        return log_partitions, marginals, self._sums

    def metric(self) -> Floats:
        """Return a rough curvature of every feature, for solvers.

        It grows with the number of occurrences where the feature is uncertain, at a point not long
        ago: it is made anew when there are twice as many evaluations.
        """
        if self.evaluations >= self._next_metric:
            self._next_metric = max(1, 2 * self.evaluations)
            squares = np.maximum(self.seen.squares, 1e-300)
            spread = self._spread() / squares
            self._metric = squares * (spread + LITTLE) ** POWER / self.total
        return self._metric

    def _spread(self) -> Floats:
        """Return the variance of every feature at the last point, as if positions were independent.

        Moves are as uncertain as labels are on average. The marginals are written over.
        """
        data, marginals = self.data, self._marginals
        total = spread_marginals(data.shape.n_labels, data.position_weights, marginals)
        positions = data.position_weights.sum() or data.sequences.n_positions
        values = data.col_values * data.col_values
        return self._expected(marginals, self._sums * (total / max(positions, 1e-300)), values)

    def _expected(self, marginals: Floats, sums: Floats, values: Floats) -> Floats:
        """Return the expected value of every feature, summed over the sequences."""
        data, features = self.data, self.features
        shape = features.shape
        out = np.empty(features.size)

        def run(part: slice) -> None:
            expected_features(
                shape.n_columns, part.start, part.stop, data.col_starts, data.positions,
                values, marginals.ravel(), features.starts, features.columns, out,
            )  # fmt: skip

        run_chunks(run, self._columns, self.n_threads)
        k, reach, n_votes = shape.n_labels, shape.reach, features.n_votes
        if shape.order == 1:
            pairs = sums[:k, 0, :k]
        else:
            pairs = marginals[:, reach:].sum(axis=0).reshape(k, reach)[:, :k]
        out[n_votes : n_votes + len(features.pairs)] = pairs.ravel()[features.pairs]
        out[n_votes + len(features.pairs) :] = sums[:k, :, :k].ravel()[features.triples]
        return out


@dataclass(frozen=True, eq=False)
class ChainPoint:
    """The loss of chains at one set of weights.

    Attributes
    ----------
    gradients : (features,) float64
        Of every candidate feature.
    """

    objective: ChainLikelihood
    potentials: FeatureWeights
    value: float
    gradients: Floats
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


def cut_chains(starts: Ints) -> list[Ints]:
    """Return the chains by length, in parts of about equal numbers of positions.

    Empty chains are left out: there is nothing to compute for them. Parts do not depend on the
    number of threads. Chains of about the same length go side by side.

    Examples
    --------
    >>> cut_chains(np.array([0, 3000, 7000, 7000, 10000]))
    [array([0, 3]), array([1])]
    """
    lengths = starts[1:] - starts[:-1]
    chains = lengths.argsort(kind="stable")[np.count_nonzero(lengths == 0) :]
    if starts[-1] < 2 * PART:
        return [chains] if len(chains) else []
    ends = np.cumsum(lengths[chains])
    count = int(np.clip(starts[-1] // PART, 1, min(MOST_PARTS, len(chains))))
    cuts = np.searchsorted(ends, starts[-1] * np.arange(1, count) / count) + 1
    return [part for part in np.split(chains, np.unique(cuts)) if len(part)]
