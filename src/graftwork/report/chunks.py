"""Scores of label sequences: whole chunks, as the CoNLL tasks count them, or single labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from graftwork.data.values import in_order, plain
from graftwork.errors import DataError
from graftwork.report.chunk_tags import chunks


@dataclass(frozen=True, slots=True)
class Matches:
    """How what was predicted agrees with what is true: chunks of a type, or tokens of a label.

    Examples
    --------
    >>> Matches("NP", n_true=5, n_predicted=4, n_correct=3).to_dict()
    {'n_true': 5, 'n_predicted': 4, 'n_correct': 3, 'precision': 0.75, 'recall': 0.6,
     'f1': 0.666...}
    """

    name: Hashable  # the type or the label; empty for all together
    n_true: int  # n_true, n_predicted, n_correct: how many are true, were predicted, and are both
    n_predicted: int
    n_correct: int

    @property
    def precision(self) -> float:
        """Share of those predicted that are true; without any, 1 if none is true, else 0."""
        return self.n_correct / self.n_predicted if self.n_predicted else float(self.n_true == 0)

    @property
    def recall(self) -> float:
        """Share of the true ones that were predicted; without any, 1 if none was, else 0."""
        return self.n_correct / self.n_true if self.n_true else float(self.n_predicted == 0)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 1 where none is true and none was predicted."""
        both = self.n_true + self.n_predicted
        return 2 * self.n_correct / both if both else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return counts and scores as plain values, without the name."""
        names = ("n_true", "n_predicted", "n_correct", "precision", "recall", "f1")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """How many tokens and sequences have the right labels.

    Examples
    --------
    >>> TokenCounts(n_sequences=2, n_tokens=5, n_right_sequences=1, n_right_tokens=4).words()
    'Of 5 tokens 4 have the right label (80.00 %), of 2 sequences 1 throughout (50.00 %).'
    """

    n_sequences: int  # n_sequences, n_tokens: how many there are
    n_tokens: int
    # n_right_sequences, n_right_tokens: how many are right, sequences throughout
    n_right_sequences: int
    n_right_tokens: int

    @property
    def accuracy(self) -> float:
        """Share of tokens with the right label; 1 without any."""
        return self.n_right_tokens / self.n_tokens if self.n_tokens else 1.0

    @property
    def sequence_accuracy(self) -> float:
        """Share of sequences that are right throughout; 1 without any."""
        return self.n_right_sequences / self.n_sequences if self.n_sequences else 1.0

    def words(self) -> str:
        """Return the shares in a plain sentence."""
        return (
            f"Of {self.n_tokens:,} token{'s'[: self.n_tokens != 1]} {self.n_right_tokens:,} "
            f"have the right label ({self.accuracy:.2%}), of {self.n_sequences:,} "
            f"sequence{'s'[: self.n_sequences != 1]} {self.n_right_sequences:,} throughout "
            f"({self.sequence_accuracy:.2%})."
        ).replace("%", " %")

    def to_dict(self) -> dict[str, Any]:
        """Return counts and shares as plain values."""
        names = ("n_sequences", "n_tokens", "n_right_sequences", "n_right_tokens")
        out = {name: getattr(self, name) for name in names}
        return out | {"accuracy": self.accuracy, "sequence_accuracy": self.sequence_accuracy}


@dataclass(frozen=True, slots=True)
class ChunkScores:
    """What `chunk_scores` found.

    Examples
    --------
    >>> scores = chunk_scores([["B-NP", "I-NP", "B-VP"]], [["B-NP", "I-NP", "O"]])
    >>> scores["NP"].f1, scores["VP"].f1, scores.precision, scores.recall
    (1.0, 0.0, 1.0, 0.5)
    """

    tokens: TokenCounts  # single labels, whatever chunk they belong to
    overall: Matches  # chunks of all types together
    # chunks of each type that is true or predicted somewhere, in alphabetical order
    types: tuple[Matches, ...]

    @property
    def accuracy(self) -> float:
        """Share of tokens with the right label."""
        return self.tokens.accuracy

    @property
    def precision(self) -> float:
        """Share of the predicted chunks that are true."""
        return self.overall.precision

    @property
    def recall(self) -> float:
        """Share of the true chunks that were predicted."""
        return self.overall.recall

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall of all chunks."""
        return self.overall.f1

    def __getitem__(self, name: str) -> Matches:
        return _named(name, self.types, "the type")

    def words(self) -> str:
        """Return a sentence on tokens and a table of chunks, in percent."""
        return f"{self.tokens.words()}\n\n{_table('chunks', self.types, self.overall)}"

    def to_dict(self) -> dict[str, Any]:
        """Return all scores as plain values: of tokens, of all chunks, and by type."""
        by_type = {str(found.name): found.to_dict() for found in self.types}
        return self.tokens.to_dict() | self.overall.to_dict() | {"types": by_type}


@dataclass(frozen=True, slots=True)
class LabelScores:
    """What `label_scores` found.

    Examples
    --------
    >>> label_scores([[0, 1, 1]], [[0, 1, 0]])[1].recall
    0.5
    """

    tokens: TokenCounts
    # tokens of each label that is true or predicted somewhere, in natural order
    labels: tuple[Matches, ...]

    @property
    def accuracy(self) -> float:
        """Share of tokens with the right label; precision, recall and F1 of all labels together."""
        return self.tokens.accuracy

    @property
    def macro_f1(self) -> float:
        """Mean of the labels' F1; 1 without any."""
        return sum(found.f1 for found in self.labels) / len(self.labels) if self.labels else 1.0

    def __getitem__(self, name: Hashable) -> Matches:
        return _named(name, self.labels, "the label")

    def words(self) -> str:
        """Return a sentence on tokens and a table of labels, in percent."""
        return f"{self.tokens.words()}\n\n{_table('label', self.labels)}"

    def to_dict(self) -> dict[str, Any]:
        """Return all scores as plain values, those of labels as a list with their names."""
        by_label = [{"label": found.name} | found.to_dict() for found in self.labels]
        return self.tokens.to_dict() | {"macro_f1": self.macro_f1, "labels": by_label}


def chunk_scores(truth: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> ChunkScores:
    """Return how predicted chunks agree with the true ones: same type, same first and last token.

    Parameters
    ----------
    truth, predicted : iterable of sequence of str
        For each sequence a tag for each token, as described at `chunks`. Chunks end where their
        sequence does.

    Returns
    -------
    ChunkScores
        Overall, by type, and for tokens.

    Raises
    ------
    DataError
        If sequences differ in length, or a label is not a chunk tag (see `label_scores`).

    References
    ----------
    E. F. Tjong Kim Sang and S. Buchholz, Introduction to the CoNLL-2000 shared task: chunking,
    2000.

    Examples
    --------
    >>> truth = [["B-NP", "I-NP", "B-VP", "B-NP"], ["B-NP", "O"]]
    >>> scores = chunk_scores(truth, [["B-NP", "I-NP", "B-VP", "O"], ["B-NP", "B-NP"]])
    >>> print(scores.words())
    Of 6 tokens 4 have the right label (66.67 %), of 2 sequences 0 throughout (0.00 %).
    <BLANKLINE>
    chunks  true  predicted  correct  precision  recall     F1
    NP         3          3        2      66.67   66.67  66.67
    VP         1          1        1     100.00  100.00 100.00
    all        4          4        3      75.00   75.00  75.00
    """
    pairs = _paired(truth, predicted)
    counts = tuple(Counter[str]() for _ in range(3))
    for i, (true, guess) in enumerate(pairs):
        try:
            both = set(chunks(true)), set(chunks(guess))
        except DataError as error:
            raise DataError(f"sequence {i} (counted from 0): {error}") from error
        for count, found in zip(counts, (*both, both[0] & both[1]), strict=True):
            count.update(name for name, _, _ in found)
    totals = (sum(count.values()) for count in counts)
    return ChunkScores(_token_counts(pairs), Matches("", *totals), _matches(*counts))


def label_scores(
    truth: Iterable[Sequence[Hashable]], predicted: Iterable[Sequence[Hashable]]
) -> LabelScores:
    """Return how predicted labels agree with the true ones, token by token.

    Parameters
    ----------
    truth, predicted : iterable of sequence of hashable
        For each sequence a label for each token.

    Returns
    -------
    LabelScores
        By label, and for all tokens.

    Raises
    ------
    DataError
        If sequences differ in length.

    Examples
    --------
    >>> scores = label_scores([["DT", "NN"], ["NN"]], [["DT", "NN"], ["DT"]])
    >>> scores.accuracy, scores["NN"].recall, round(scores.macro_f1, 4)
    (0.666..., 0.5, 0.6667)
    """
    pairs = _paired(truth, predicted)
    true = Counter(label for labels, _ in pairs for label in labels)
    guessed = Counter(label for _, labels in pairs for label in labels)
    both = Counter(a for one, other in pairs for a, b in zip(one, other, strict=True) if a == b)
    return LabelScores(_token_counts(pairs), _matches(true, guessed, both))


def _paired(truth: Iterable[Any], predicted: Iterable[Any]) -> list[tuple[list[Any], list[Any]]]:
    """Return true and predicted labels sequence by sequence, or refuse those that do not fit."""
    left, right = _sequences(truth, "truth"), _sequences(predicted, "predicted")
    if len(left) != len(right):
        raise DataError(
            f"truth has {len(left):,} sequence{'s'[: len(left) != 1]}, but predicted has "
            f"{len(right):,}."
        )
    for i, (true, guess) in enumerate(zip(left, right, strict=True)):
        if len(true) != len(guess):
            raise DataError(
                f"sequence {i} (counted from 0): truth has {len(true):,} "
                f"label{'s'[: len(true) != 1]}, but predicted has {len(guess):,}."
            )
    return list(zip(left, right, strict=True))


def _sequences(given: Iterable[Any], what: str) -> list[list[Any]]:
    """Return sequences as lists of plain labels, or refuse what is one sequence only."""
    if not isinstance(given, Iterable):
        raise DataError(f"{what} is {given!r}; pass a list with a sequence of labels each.")
    out = []
    for i, sequence in enumerate(given):
        if isinstance(sequence, str) or not isinstance(sequence, Iterable):
            raise DataError(
                f"{what} has {sequence!r} where a sequence of labels should be (at {i}); put a "
                "single sequence into a list."
            )
        labels = [plain(label) for label in sequence]
        for label in labels:
            if not isinstance(label, Hashable):
                raise DataError(f"{what} has {label!r} where a label should be (at {i}).")
        out.append(labels)
    return out


def _token_counts(pairs: Sequence[tuple[list[Any], list[Any]]]) -> TokenCounts:
    """Return how many tokens and sequences are right."""
    hits = sum(a == b for one, other in pairs for a, b in zip(one, other, strict=True))
    whole = sum(one == other for one, other in pairs)
    return TokenCounts(len(pairs), sum(len(one) for one, _ in pairs), whole, hits)


def _matches(true: Counter[Any], guessed: Counter[Any], both: Counter[Any]) -> tuple[Matches, ...]:
    """Return the counts by name, in natural order."""
    names = in_order({**true, **guessed})
    return tuple(Matches(name, true[name], guessed[name], both[name]) for name in names)


def _named(name: Hashable, found: Sequence[Matches], what: str) -> Matches:
    """Return the counts with this name, or raise KeyError."""
    for each in found:
        if each.name == name:
            return each
    raise KeyError(f"{what} {name!r} is neither true nor predicted anywhere")


def _table(head: str, found: Sequence[Matches], overall: Matches | None = None) -> str:
    """Return counts and percentages in columns, a line for each name."""
    named = [(str(each.name) or "(none)", each) for each in found]
    if overall is not None:
        named.append(("all", overall))
    rows: list[tuple[str, ...]] = [
        (head, "true", "predicted", "correct", "precision", "recall", "F1")
    ]
    for name, e in named:
        numbers = (f"{count:,}" for count in (e.n_true, e.n_predicted, e.n_correct))
        shares = (f"{100 * share:.2f}" for share in (e.precision, e.recall, e.f1))
        rows.append((name, *numbers, *shares))
    first, *wide = (max(map(len, column)) for column in zip(*rows, strict=True))
    return "\n".join(
        "  ".join([row[0].ljust(first), *map(str.rjust, row[1:], wide)]) for row in rows
    )
