"""Column files on the command line: sentences, the template for them, how well they were tagged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graftwork.cli.matching import near
from graftwork.errors import DataError
from graftwork.text import count, names, verb

if TYPE_CHECKING:
    from graftwork.data import Sequences, Template
    from graftwork.report import ChunkScores, LabelScores

    Sentence = list[tuple[str, ...]]

#: Unknown labels that are named.
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Corpus:
    """Sentences of a file: their columns without labels, and the labels if there are any."""

    name: str
    tokens: list[Sentence]
    labels: list[list[str]] | None

    @staticmethod
    def joined(parts: Sequence[Corpus]) -> Corpus:
        """Return labelled parts of a file as one."""
        tokens = [sentence for part in parts for sentence in part.tokens]
        labels = [row for part in parts for row in part.labels or ()]
        return Corpus(parts[0].name, tokens, labels)

    @property
    def width(self) -> int:
        """Number of columns besides labels."""
        return len(self.tokens[0][0])

    @property
    def n_tokens(self) -> int:
        """Number of tokens of all sentences."""
        return sum(map(len, self.tokens))

    def size(self) -> str:
        """Return how large it is, in words."""
        return f"{count(len(self.tokens), 'sentence')} with {count(self.n_tokens, 'token')}"

    def with_columns(self, *columns: Sequence[Sequence[str]]) -> list[Sentence]:
        """Return the sentences with their labels, if any, and these columns behind them."""
        known = [self.labels] if self.labels is not None else []
        parts = zip(self.tokens, *known, *columns, strict=True)
        return [
            [(*token, *more) for token, *more in zip(*part, strict=True)] for part in parts
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Files:
    """Which files hold the sentences, and how they are read."""

    train: Path
    test: Path | None = None
    template: str | None = None
    types: tuple[str, ...] = ()
    sep: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Material:
    """Everything read: sentences, the template, and the attributes it makes of them."""

    train: Corpus
    test: Corpus | None
    template: Template
    template_words: str
    sequences: Sequences


def read_material(files: Files, note: Callable[[str], None]) -> Material:
    """Return the sentences to learn from and to test on, and the attributes of the former."""
    from graftwork.data import as_sequences

    note(f"reading {files.train}")
    train = keep_types_of_training(read_labelled(files.train, files.sep, files.label), files.types)
    test = None
    if files.test is not None:
        note(f"reading {files.test}")
        test = read_labelled(files.test, files.sep, files.label)
        check_widths(train, test)
        test = keep_types_of_test(test, files.types)
    template, words = read_template(files.template, train.width)
    if not template.transitions:
        note(
            "note: the template has no line 'transitions', but a chain always learns which label "
            "follows which"
        )
    return Material(train, test, template, words, as_sequences(template.attributes(train.tokens)))


def refuse_two_strengths(lam: float | None, c1: float | None) -> None:
    """Refuse a strength of the penalty that is given twice."""
    if lam is not None and c1 is not None:
        raise DataError(
            "--lam and --c1 are both given, but they are one strength in two units (lam is c1 by "
            "the number of sentences); leave one out."
        )


def read_labelled(path: Path, sep: str | None, label: str | None = None) -> Corpus:
    """Return the sentences of a file whose last column is the label, or another one."""
    from graftwork.data.chains import is_conllu, read_conll, split_labels

    sentences = read_conll(path, sep=sep, label=label)
    if label is None and is_conllu(sentences[0][0]):
        raise DataError(
            f"{path.name}: this is CoNLL-U; say which column is the label, by --label of graftwork "
            "crf: upos, xpos, feats, deprel, ... Words are what attributes are made of."
        )
    if len(sentences[0][0]) < 2:
        raise DataError(
            f"{path.name}: there is one column only, but the label is the last column behind "
            "others; add labels, or say by --sep what separates columns."
        )
    return Corpus(path.name, *split_labels(sentences))


@dataclass(frozen=True, slots=True)
class Layout:
    """How the columns of a model's files lie: how many besides labels, and what is said of them.

    A label that is not the last column has its number or its name.
    """

    width: int
    sep: str | None = None
    label: str | None = None

    def read(self, path: Path) -> Corpus:
        """Return the sentences of a file with these columns, or with labels behind them."""
        from graftwork.data.chains import read_conll

        return self.corpus(path.name, read_conll(path, sep=self.sep))

    def stream(self, path: Path) -> Iterator[Corpus]:
        """Yield the same sentence by sentence, those of a pipe as they come."""
        from graftwork.data.chains import stream_conll

        for sentence in stream_conll(path, sep=self.sep):
            yield self.corpus(path.name, [sentence])

    def corpus(self, name: str, sentences: list[Sentence]) -> Corpus:
        """Return sentences of a file as a corpus, with their labels if there are any."""
        from graftwork.data.chains import is_conllu, label_last, split_labels

        first = sentences[0][0]
        if is_conllu(first) and self.width == 1:
            if self.label is not None:
                found = Corpus(name, *split_labels(label_last(sentences, self.label)))
                if any(label != "_" for labels in found.labels or () for label in labels):
                    return found
            return Corpus(name, [[(token[1],) for token in part] for part in sentences], None)
        if len(first) == self.width:
            return Corpus(name, sentences, None)
        if len(first) == self.width + 1:
            last = sentences if self.label is None else label_last(sentences, self.label)
            return Corpus(name, *split_labels(last))
        raise DataError(
            f"{name}: there {verb(len(first))} {count(len(first), 'column')}, but the model looks "
            f"at {self.width} (or {self.width + 1} with labels); give it the columns it was "
            "learned from, or say by --sep what separates them."
        )


def check_widths(train: Corpus, test: Corpus) -> None:
    """Refuse a file with other columns than the one learned from."""
    if test.width != train.width:
        raise DataError(
            f"{test.name}: there are {test.width + 1} columns, but {train.name} has "
            f"{train.width + 1}; give files with the same columns."
        )


def parse_types(text: str | None) -> tuple[str, ...]:
    """Return the chunk types in a text with commas.

    Examples
    --------
    >>> parse_types("NP, VP"), parse_types(None)
    (('NP', 'VP'), ())
    """
    return tuple(dict.fromkeys(part.strip() for part in (text or "").split(",") if part.strip()))


def keep_types_of_training(corpus: Corpus, types: Sequence[str]) -> Corpus:
    """Return the sentences with chunks of these types only, or refuse types there are not."""
    from graftwork.report.chunk_tags import chunk_types, keep_types

    if not types or corpus.labels is None:
        return corpus
    try:
        there = chunk_types(corpus.labels)
    except DataError as error:
        what = str(error).partition(";")[0]
        raise DataError(
            f"{corpus.name}: --types keeps chunks of some types, but {what}; leave --types out."
        ) from error
    for name in types:
        if name not in there:
            raise DataError(
                f"{corpus.name}: there is no chunk type {name!r}{near(name, there, 'types')}"
            )
    return replace(corpus, labels=keep_types(corpus.labels, set(types)))


def keep_types_of_test(corpus: Corpus, types: Sequence[str]) -> Corpus:
    """Return the sentences with these chunks only; what is not a chunk tag stays, and is wrong."""
    from graftwork.report.chunk_tags import is_chunk_tag, keep_types

    if not types or corpus.labels is None:
        return corpus
    tags = list({tag for tags in corpus.labels for tag in tags if is_chunk_tag(tag)})
    kept = dict(zip(tags, keep_types([tags], set(types))[0], strict=True))
    return replace(corpus, labels=[[kept.get(tag, tag) for tag in tags] for tags in corpus.labels])


def read_template(given: str | None, width: int) -> tuple[Template, str]:
    """Return the template asked for, or the one that fits the columns, and what to call it."""
    from graftwork.data import Template
    from graftwork.data.chains import NAMED

    name = given or ("words" if width == 1 else "chunking")
    template = Template.read(name)
    return template, f"the template {name if name in NAMED else Path(name).name}"


def score_tags(
    truth: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> ChunkScores | LabelScores:
    """Return the scores of chunks, or of single labels where some are no chunk tags.

    Examples
    --------
    >>> score_tags([["B-NP"]], [["O"]]).accuracy, score_tags([["NN"]], [["NN"]]).accuracy
    (0.0, 1.0)
    """
    from graftwork.report import chunk_scores, label_scores
    from graftwork.report.chunk_tags import is_chunk_tag

    labels = {label for part in (truth, predicted) for tags in part for label in tags}
    return (chunk_scores if all(map(is_chunk_tag, labels)) else label_scores)(truth, predicted)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How predictions agree with the labels of a file."""

    name: str
    scores: ChunkScores | LabelScores
    unknown: dict[str, int]

    @staticmethod
    def of(corpus: Corpus, predicted: list[list[str]], labels: Sequence[Any]) -> Verdict:
        """Return it for the labels a model knows; others count as wrong."""
        truth, known = corpus.labels or [], set(labels)
        unknown: dict[str, int] = {}
        for tags in truth:
            for tag in tags:
                if tag not in known:
                    unknown[tag] = unknown.get(tag, 0) + 1
        return Verdict(corpus.name, score_tags(truth, predicted), unknown)

    def words(self) -> str:
        """Return scores, and how many labels no model could have told."""
        text = f"{self.name}: {self.scores.words()}"
        if not self.unknown:
            return text
        tokens = sum(self.unknown.values())
        return (
            f"{text}\n\n{count(tokens, 'token')} {verb(tokens, 'has a label', 'have labels')} that "
            "the model does not know, which count as wrong: "
            f"{names(list(self.unknown), _NAMED)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {"file": self.name, **self.scores.to_dict(), "unknown_labels": self.unknown}
