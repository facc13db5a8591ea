"""ChainModel: a linear-chain conditional random field as a value."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graftwork.data.chains import (
    Sequences,
    Template,
    Vocabulary,
    as_sequences,
    check_weights,
    compressed,
    count_columns,
    decode_labels,
    encode_labels,
    settled_sequences,
)
from graftwork.data.chains.sequences import are_fit, check_values
from graftwork.data.values import key, listing
from graftwork.errors import DataError
from graftwork.inference.chains import ChainShape
from graftwork.inference.layout import Floats, Ints
from graftwork.inference.ragged import offsets
from graftwork.kernels.chains.paths import best_paths
from graftwork.kernels.chains.states import infer_chains
from graftwork.kernels.threads import count_threads, run_chunks
from graftwork.models.archive import info_of
from graftwork.models.explanation import Explanation, explain
from graftwork.models.known_attributes import Familiar
from graftwork.notebooks import repr_html
from graftwork.objectives.chains.likelihood import Rows, cut_chains

Record = dict[str, Any]

# Columns have numbers of 32 bits in what reads matrices.
_MOST_COLUMNS = 2**31 - 1
# The arrays of a chain, and the kinds of numbers in them.
_ARRAYS = {
    "vote_attributes": "i",
    "vote_outputs": "i",
    "vote_weights": "f",
    "pairs": "f",
    "triples": "f",
}


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

    Examples
    --------
    >>> import graftwork as gw
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "dogs"}, {"word": "bark"}]] * 10
    >>> y = [["D", "N"], ["N", "V"]] * 10
    >>> model = gw.ChainCRF(lam=0.01).fit(X, y).model_
    >>> model.labels
    ('D', 'N', 'V')
    >>> model.predict([[{"word": "the"}, {"word": "dogs"}]])
    [['D', 'N']]
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
        _check_chain(self)

    _repr_html_ = repr_html

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

    def predict(
        self, X: Any, lengths: ArrayLike | None = None, n_jobs: int | None = None
    ) -> list[list[Any]]:
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

    def marginals(
        self, X: Any, lengths: ArrayLike | None = None, n_jobs: int | None = None
    ) -> list[Floats]:
        """Return the probabilities of labels: an array (positions, labels) for each sequence."""
        sequences = self.read(X, lengths)
        _, found = self._infer(sequences, n_jobs, marginals=True)
        labels = found[:, : len(self.labels)]
        return [labels[start:stop] for start, stop in pairwise(sequences.starts.tolist())]

    def predict_marginals(
        self, X: Any, lengths: ArrayLike | None = None, n_jobs: int | None = None
    ) -> list[list[dict[Any, float]]]:
        """Return the probability of each label at each position, as dicts.

        `marginals` returns them as arrays, in the order of ``labels``.
        """
        if len(set(self.labels)) < len(self.labels):  # True and 1 are two labels, but one key
            raise DataError(
                "the labels True and 1 (or False and 0) are one key of a dict; use "
                "marginals, which returns arrays."
            )
        found = self.marginals(X, lengths, n_jobs)
        return [
            [dict(zip(self.labels, row, strict=True)) for row in part.tolist()] for part in found
        ]

    def score(
        self,
        X: Any,
        y: Any,
        lengths: ArrayLike | None = None,
        sample_weight: Any = None,
        n_jobs: int | None = None,
    ) -> float:
        """Return the share of positions whose label is predicted rightly; 1 without any position.

        Labels that the chain does not have count as wrong.
        """
        sequences = self.read(X, lengths)
        codes, _ = encode_labels(y, sequences, classes=self.labels)
        labels = self.predict(sequences, None, n_jobs)
        found, _ = encode_labels(labels, sequences, classes=self.labels)
        weights = check_weights(sample_weight, sequences.n_sequences)
        each = np.ones(sequences.n_sequences) if weights is None else weights
        of_positions = np.repeat(each, sequences.lengths)
        total = of_positions.sum()
        return float((found == codes) @ of_positions / total) if total else 1.0

    def log_partition(
        self, X: Any, lengths: ArrayLike | None = None, n_jobs: int | None = None
    ) -> Floats:
        """Return log Z of each sequence."""
        return self._infer(self.read(X, lengths), n_jobs, marginals=False)[0]

    def log_prob(
        self, X: Any, y: Any, lengths: ArrayLike | None = None, n_jobs: int | None = None
    ) -> Floats:
        """Return the log-probability of the labels of each sequence, in nats.

        Labels that the chain does not have are impossible: minus infinity.
        """
        sequences = self.read(X, lengths)
        codes, _ = encode_labels(y, sequences, classes=self.labels)
        scores = self._scores(sequences, np.maximum(codes, 0).astype(np.int64))
        scores[_owners(sequences)[codes < 0]] = -np.inf
        return scores - self._infer(sequences, n_jobs, marginals=False)[0]

    def explain(self, sentence: Any, words: Sequence[Any] | None = None) -> Explanation:
        """Return which features speak for each label of one sequence, and how much.

        Parameters
        ----------
        sentence : list of items, or matrix
            One sequence, in the form of those that `predict` takes a list of.
        words : sequence, optional
            What its positions are called in texts.

        Returns
        -------
        Explanation
            Print it, or see its ``to_frame()``, ``scores`` and ``probabilities``.

        Examples
        --------
        >>> votes = np.array([0, 1]), np.array([0, 1]), np.array([2.0, 1.0])
        >>> pairs, triples = np.array([[0.0, 0.5], [0.0, 0.0]]), np.zeros((0, 0, 0))
        >>> chain = ChainModel(("D", "N"), ("the", "dog"), 1, *votes, pairs, triples)
        >>> print(chain.explain([["the"], ["dog"]]))
        1: D (0.92)
          D  0.92  +2.50  +2.00 the, +0.50 before N
          N  0.08  +0.00
        2: N (0.81)
          N  0.81  +1.50  +1.00 dog, +0.50 after D
          D  0.19  +0.00
        """
        return explain(self, sentence, words)

    def read(self, X: Any, lengths: ArrayLike | None = None) -> Sequences:
        """Return sequences in the model's attributes; others are left out.

        Columns of matrices are what they were when the model was learned.
        """
        if isinstance(X, Iterator):
            X = list(X)
        width = count_columns(X)
        if width is None:
            starts, bags = compressed(X, lengths, known=self._known)
            if not are_fit(bags.values):
                as_sequences(X, lengths)  # which names the attribute, whether it is known or not
            self._familiar.check(bags, X, lengths)
            return settled_sequences(starts, bags)
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
        starts, bags = compressed(X, lengths)
        check_values(starts, bags)
        numbers = self._numbers_of_columns[bags.indices]
        return settled_sequences(starts, replace(bags, indices=numbers, names=self.attributes))

    @property
    def record_names(self) -> tuple[str, ...]:
        """What a record of a weight has."""
        before = ("before",) if self.order == 2 else ()
        return ("attribute", *before, "previous", "label", "weight")

    def records(self) -> list[Record]:
        """Return one record per weight, the largest first.

        ``attribute`` (None for moves from label to label), ``before`` (second order only) and
        ``previous`` (None where it does not matter) labels, ``label``, ``weight``.
        """
        found = sorted(self._entries(), key=lambda entry: -abs(entry[-1]))
        labels = (*self.labels, None)
        names, used = self.record_names, slice(-self.order - 1, None)
        rows = ((a, *(labels[k] for k in ks[used]), weight) for a, *ks, weight in found)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def explore(self, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Write a page to look at the weights in a browser, and return where it is.

        One HTML file that needs nothing else: the weights of each label, to sort and to search, and
        the moves between labels as a matrix.

        Parameters
        ----------
        path : path-like
            Where to write it, such as "chain.html".
        title : str, optional
            The page's title.
        """
        from graftwork.report.explorer import explore

        return explore(self, path, title=title)

    def save(
        self,
        path: str | os.PathLike[str],
        info: Mapping[str, Any] | Template | None = None,
        *,
        template: Template | None = None,
    ) -> None:
        """Write the chain to a file (see `graftwork.models.files`), with a dict of information.

        `graftwork.load` reads the chain, `graftwork.models.read_info` the dict. ``graftwork tag``
        needs the template that made the attributes from columns; it may take the dict's place, as
        in `ChainCRF.save`.
        """
        from graftwork.models.files import save_chain

        if isinstance(info, Template):
            info, template = None, info
        if template is not None and not isinstance(template, Template):
            raise DataError(f"template must be a graftwork.Template or None, got {template!r}.")
        kept = {} if template is None else {"template": template.text()}
        save_chain(path, self, {**info_of(info), **kept})

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
    def _known(self) -> Vocabulary:
        return Vocabulary.of(self.attributes)

    @cached_property
    def _familiar(self) -> Familiar:
        return Familiar.of(self._known)

    @cached_property
    def _numbers_of_columns(self) -> NDArray[np.int32]:
        """The attribute of each column of a matrix, -1 for none."""
        numbers = np.full(self.n_columns or 0, -1, dtype=np.int32)
        numbers[self.columns] = np.arange(len(self.attributes))
        return numbers

    @cached_property
    def votes(self) -> tuple[Ints, Ints, Floats]:
        """The votes by attribute: where those of each start, their outputs and weights."""
        order = np.argsort(self.vote_attributes, kind="stable")
        counts = np.bincount(self.vote_attributes, minlength=len(self.attributes))
        return offsets(counts), self.vote_outputs[order], self.vote_weights[order]

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


def _check_chain(model: ChainModel) -> None:
    """Refuse labels, attributes and weights that do not fit together, and return None."""
    for name, kind in _ARRAYS.items():
        found = getattr(model, name)
        if not isinstance(found, np.ndarray) or found.dtype.kind not in kind:
            what = "whole numbers" if kind == "i" else "numbers"
            raise DataError(f"{name} of a chain is a NumPy array of {what}, not {type(found)}.")
    odd = [v for v in (*model.labels, *model.attributes) if not isinstance(v, Hashable)]
    if odd:
        raise DataError(f"labels and attributes of a chain are hashable, but not {listing(odd)}.")
    if type(model.order) is not int or model.order not in (1, 2):
        raise DataError(f"a chain is of order 1 or 2, not {model.order!r}.")
    if not model.labels:
        raise DataError("a chain needs at least one label.")
    _refuse_twice("label", [key(label) for label in model.labels], model.labels)
    _refuse_twice("attribute", model.attributes, model.attributes)
    n = len(model.labels)
    wanted = {"pairs": (n, n), "triples": (n, n, n) if model.order == 2 else (0, 0, 0)}
    for name, shape in wanted.items():
        found = getattr(model, name).shape
        if found != shape:
            raise DataError(f"the {name} of a chain of {n} labels have shape {shape}, not {found}.")
    _check_votes(model)
    for name in ("vote_weights", "pairs", "triples"):
        if not _is_finite(getattr(model, name)):
            raise DataError(f"the weights of a chain are finite numbers, but {name} has others.")
    _check_columns(model)
    _check_counts(model.label_counts, n)


def _refuse_twice(what: str, keys: Any, values: tuple[Any, ...]) -> None:
    """Refuse values with equal keys."""
    if len(set(keys)) == len(values):
        return
    counts = Counter(keys)
    twice = [value for k, value in zip(keys, values, strict=True) if counts[k] > 1]
    raise DataError(f"a chain has each {what} once, but these come again: {listing(twice)}.")


def _check_votes(model: ChainModel) -> None:
    """Refuse votes of unknown attributes, for unknown outputs, or twice for the same."""
    attributes, outputs = model.vote_attributes, model.vote_outputs
    n_attributes, n_outputs = len(model.attributes), model.shape.n_outputs
    if not len(attributes) == len(outputs) == len(model.vote_weights):
        raise DataError("each vote of a chain has one attribute, one output and one weight.")
    if not (_within(attributes, n_attributes) and _within(outputs, n_outputs)):
        raise DataError(
            f"a vote is out of range: the chain has {n_attributes} attributes and {n_outputs} "
            "outputs."
        )
    if not _distinct(attributes * np.int64(n_outputs) + outputs):
        raise DataError("an attribute votes twice for the same output; give each vote once.")


def _check_columns(model: ChainModel) -> None:
    """Refuse columns that are not one for each attribute."""
    if model.columns is None and model.n_columns is None:
        return
    if model.columns is None or model.n_columns is None:
        raise DataError("columns and n_columns go together; give both or neither.")
    n = model.n_columns
    if not isinstance(n, int | np.integer) or n > _MOST_COLUMNS:
        raise DataError(f"a chain has a number of at most {_MOST_COLUMNS:,} columns, not {n!r}.")
    fits = len(model.columns) == len(model.attributes) and _distinct(model.columns)
    if not fits or not _within(model.columns, model.n_columns):
        raise DataError(
            f"columns give each of {len(model.attributes)} attributes its own column, of "
            f"{model.n_columns}."
        )


def _check_counts(counts: Any, n_labels: int) -> None:
    """Refuse numbers of positions that are not one for each label."""
    if counts is None:
        return
    fits = isinstance(counts, np.ndarray) and counts.dtype.kind == "f"
    if not fits or counts.shape != (n_labels,) or not _is_finite(counts) or (counts < 0).any():
        raise DataError(
            f"label_counts of a chain are an array of {n_labels} finite numbers of at least 0, one "
            "for each label."
        )


def _is_finite(values: NDArray[np.float64]) -> bool:
    """Return whether all numbers are finite, without an array of answers."""
    return bool(np.isfinite([values.min(initial=0.0), values.max(initial=0.0)]).all())


def _within(numbers: NDArray[Any], size: int) -> bool:
    return bool(numbers.min(initial=0) >= 0 and numbers.max(initial=-1) < size)


def _distinct(numbers: NDArray[Any]) -> bool:
    return len(np.unique(numbers)) == len(numbers)
