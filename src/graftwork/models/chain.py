"""ChainModel: a linear-chain conditional random field as a value."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from graftwork.data.labels import decode_labels, encode_labels
from graftwork.data.sequences import Sequences, as_sequences, count_columns
from graftwork.errors import DataError
from graftwork.inference.chains import ChainShape
from graftwork.inference.layout import Floats, Ints
from graftwork.kernels.chain_paths import best_paths
from graftwork.kernels.chains import infer_chains
from graftwork.kernels.threads import count_threads, run_chunks
from graftwork.models.chain_checks import check_chain
from graftwork.models.chain_file import write_chain
from graftwork.objectives.chain import Rows, cut_chains

Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class ChainModel:
    """Weights of a chain: p(labels | attributes) = exp(sum of weights) / Z(attributes).

    Attributes
    ----------
    labels : tuple of hashable
    attributes : tuple of hashable
        Names of the attributes with weights.
    order : {1, 2}
        How many labels before a label it looks at.
    vote_attributes, vote_outputs : (k,) int64
        Which attribute votes for what: for label ``c`` as output ``c``, for label ``c`` after label
        ``g`` as output ``n + g n + c``, n being the number of labels (in second order only).
    vote_weights : (k,) float64
    pairs : (n, n) float64
        Weight of label c after label g.
    triples : (n, n, n) float64
        In second order, the weight of label c after g after a; else of shape (0, 0, 0).
    columns : (attributes,) int64, optional
        Which column each attribute is in a matrix, if the model was learned from one.
    n_columns : int, optional
        How many columns such a matrix must have.
    label_counts : (n,) float64, optional
        How many positions had each label in training, by the weights of their sequences: what
        decides between labels that are equally probable. Without them the first label does.
    """

    labels: tuple[Hashable, ...]
    attributes: tuple[Hashable, ...]
    order: int
    vote_attributes: Ints
    vote_outputs: Ints
    vote_weights: Floats
    pairs: Floats
    triples: Floats
    columns: Ints | None = None
    n_columns: int | None = None
    label_counts: Floats | None = None

    def __post_init__(self) -> None:
        check_chain(self)

    def __repr__(self) -> str:
        return f"ChainModel: {len(self.labels)} labels, {self.n_features:,} features"

    @property
    def shape(self) -> ChainShape:
        """Number of labels and order."""
        return ChainShape(len(self.labels), self.order)

    @property
    def n_features(self) -> int:
        """Number of weights that are not zero."""
        parts = (self.vote_weights, self.pairs, self.triples)
        return sum(int(np.count_nonzero(part)) for part in parts)

    def predict(self, X: Any, lengths: Any = None, n_jobs: int | None = None) -> list[list[Any]]:
        """Return the most probable labels of each sequence (Viterbi).

        Of labels that are equally probable, the most frequent one in training is returned: so it
        is where a sequence has no attribute that the chain knows.
        """
        sequences = self.read(X, lengths)
        codes = np.empty(sequences.n_positions, dtype=np.int64)
        scores = np.zeros(sequences.n_sequences)
        rows, shape, preferred = self._rows, self.shape, self._by_frequency

        def run(part: Ints) -> None:
            best_paths(
                shape.order, shape.n_labels, part, sequences.starts, sequences.indptr,
                sequences.indices, sequences.values, rows.rows, rows.pairs, rows.moves, preferred,
                codes, scores,
            )  # fmt: skip

        _each_part(run, sequences, n_jobs)
        return decode_labels(codes, self.labels, sequences.starts)

    def marginals(self, X: Any, lengths: Any = None, n_jobs: int | None = None) -> list[Floats]:
        """Return the probabilities of labels: an array (positions, labels) for each sequence."""
        sequences = self.read(X, lengths)
        _, found = self._infer(sequences, n_jobs, marginals=True)
        labels = found[:, : len(self.labels)]
        return [labels[start:stop] for start, stop in pairwise(sequences.starts.tolist())]

    def log_partition(self, X: Any, lengths: Any = None, n_jobs: int | None = None) -> Floats:
        """Return log Z of each sequence."""
        return self._infer(self.read(X, lengths), n_jobs, marginals=False)[0]

    def log_prob(self, X: Any, y: Any, lengths: Any = None, n_jobs: int | None = None) -> Floats:
        """Return the log-probability of the labels of each sequence, in nats.

        Labels that the chain does not have are impossible: minus infinity.
        """
        sequences = self.read(X, lengths)
        codes, _ = encode_labels(y, sequences, classes=self.labels)
        scores = self._scores(sequences, np.maximum(codes, 0).astype(np.int64))
        scores[_owners(sequences)[codes < 0]] = -np.inf
        return scores - self._infer(sequences, n_jobs, marginals=False)[0]

    def read(self, X: Any, lengths: Any = None) -> Sequences:
        """Return sequences in the model's attributes; others are left out.

        Columns of matrices are what they were when the model was learned.
        """
        if isinstance(X, Iterator):
            X = list(X)
        width = count_columns(X)
        found = as_sequences(X, lengths)  # all of them: a NaN is refused wherever it is
        if width is None:
            return as_sequences(found, known=self._known)
        if self.columns is None:
            raise DataError(
                "X is a matrix, but the model was learned from named attributes; give lists of "
                "attributes, or dicts."
            )
        if width != self.n_columns:
            raise DataError(
                f"X has {width} columns, but the model was learned from {self.n_columns}; give "
                "the same columns in the same order."
            )
        numbers = {column: k for k, column in enumerate(self.columns.tolist())}
        return replace(as_sequences(found, known=numbers), names=self.attributes)

    @property
    def record_names(self) -> tuple[str, ...]:
        """What a record of a weight has."""
        before = ("before",) if self.order == 2 else ()
        return ("attribute", *before, "previous", "label", "weight")

    def records(self) -> list[Record]:
        """Return one record a weight, the largest first.

        ``attribute`` (None for moves from label to label), ``before`` (second order only) and
        ``previous`` (None where it does not matter) labels, ``label``, ``weight``.
        """
        found = sorted(self._entries(), key=lambda entry: -abs(entry[-1]))
        labels = (*self.labels, None)
        names, used = self.record_names, slice(-self.order - 1, None)
        rows = ((a, *(labels[k] for k in ks[used]), weight) for a, *ks, weight in found)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def save(self, path: str | os.PathLike[str], info: dict[str, Any] | None = None) -> None:
        """Write the chain to a file (see `graftwork.models.chain_file`), with a dict beside it.

        `graftwork.load` reads the chain, `graftwork.models.read_info` the dict.
        """
        write_chain(path, self, info)

    def _entries(self) -> Iterator[tuple[Any, int, int, int, float]]:
        """Yield attribute, three labels (-1 for those that do not matter) and weight of each."""
        n = len(self.labels)
        votes = (self.vote_attributes, self.vote_outputs, self.vote_weights)
        for a, output, weight in zip(*(part.tolist() for part in votes), strict=True):
            g, c = divmod(output - n, n) if output >= n else (-1, output)
            yield self.attributes[a], -1, g, c, weight
        for g, c in np.argwhere(self.pairs).tolist():
            yield None, -1, g, c, float(self.pairs[g, c])
        for a, g, c in np.argwhere(self.triples).tolist():
            yield None, a, g, c, float(self.triples[a, g, c])

    @cached_property
    def _known(self) -> dict[Hashable, int]:
        return {name: number for number, name in enumerate(self.attributes)}

    @cached_property
    def _rows(self) -> Rows:
        shape = self.shape
        rows = shape.lines(len(self.attributes))
        rows[self.vote_attributes, shape.columns(self.vote_outputs)] = self.vote_weights
        slots = np.arange(len(self.attributes), dtype=np.int32)
        return Rows(slots, rows, *shape.moves(self.pairs.ravel(), self.triples.ravel()))

    @cached_property
    def _by_frequency(self) -> Ints:
        """The labels' numbers, the most frequent first, those equally frequent in order."""
        counts = np.zeros(len(self.labels)) if self.label_counts is None else self.label_counts
        order: Ints = np.argsort(-counts, kind="stable")
        return order

    def _infer(
        self, sequences: Sequences, n_jobs: int | None, *, marginals: bool
    ) -> tuple[Floats, Floats]:
        """Return log-partition functions and, if wanted, marginals of outputs."""
        rows, shape = self._rows, self.shape
        log_partitions = np.zeros(sequences.n_sequences)  # that of an empty chain is log 1
        found = shape.lines(sequences.n_positions if marginals else 0)

        def run(part: Ints) -> None:
            infer_chains(
                shape.order, shape.n_labels, part, sequences.starts, np.zeros(0), sequences.indptr,
                sequences.indices, sequences.values, rows.rows, rows.pairs, rows.moves, found,
                np.zeros_like(rows.moves), log_partitions, marginals,
            )  # fmt: skip

        _each_part(run, sequences, n_jobs)
        return log_partitions, found

    def _scores(self, sequences: Sequences, codes: Ints) -> Floats:
        """Return the summed weights of the given labels of each sequence."""
        rows, n, starts = self._rows, len(self.labels), sequences.starts
        place = np.arange(len(codes)) - np.repeat(starts[:-1], np.diff(starts))
        before, earlier = np.roll(codes, 1), np.roll(codes, 2)
        owner = np.repeat(np.arange(len(codes)), np.diff(sequences.indptr))
        values = sequences.values if len(sequences.values) else 1.0
        total = np.zeros(len(codes))
        columns = [codes]
        if self.order == 2:
            pair = self.shape.columns(n + before * n + codes)
            columns.append(np.where(place > 0, pair, -1))
        for column in columns:
            votes = rows.rows[sequences.indices, column[owner]] * values
            np.add.at(total, owner, np.where(column[owner] >= 0, votes, 0.0))
        total += np.where(place > 0, self.pairs[before, codes], 0.0)
        if self.order == 2:
            total += np.where(place > 1, self.triples[earlier, before, codes], 0.0)
        sums = np.bincount(_owners(sequences), total, minlength=sequences.n_sequences)
        return sums.astype(np.float64)  # whole numbers where there is nothing to add


def _owners(sequences: Sequences) -> Ints:
    """Return which sequence each position belongs to."""
    return np.repeat(np.arange(sequences.n_sequences), sequences.lengths)


def _each_part(run: Callable[[Ints], None], sequences: Sequences, n_jobs: int | None) -> None:
    """Call a function for parts of the sequences, on threads."""
    run_chunks(run, cut_chains(sequences.starts), count_threads(n_jobs))
