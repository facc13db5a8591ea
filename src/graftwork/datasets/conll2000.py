"""CoNLL-2000: sentences with chunk labels."""

from __future__ import annotations

from dataclasses import dataclass

from graftwork.data import Template, read_conll
from graftwork.data.chains import Sentence, split_labels
from graftwork.data.sources import named_after
from graftwork.datasets.folders import Folder
from graftwork.datasets.registry import Dataset
from graftwork.errors import DataError


@dataclass(frozen=True, slots=True, eq=False)
class LabelledSentences:
    """Sentences with a label for each token.

    Attributes
    ----------
    tokens : list of list of tuple of str
        The columns of every token but the label, as a `Template` takes them.
    labels : list of list of str
        The labels, as `ChainCRF` takes them.

    Examples
    --------
    >>> made = LabelledSentences([[("He", "PRP"), ("sleeps", "VBZ")]], [["B-NP", "B-VP"]])
    >>> made
    LabelledSentences: 1 sentence, 2 tokens, 2 labels
    >>> made.attributes()[0][1][2:4]
    ['word[-1]=He', 'word[0]=sleeps']
    """

    tokens: list[Sentence]
    labels: list[list[str]]

    def __repr__(self) -> str:
        counts = {
            "sentence": len(self.tokens),
            "token": sum(map(len, self.tokens)),
            "label": len({label for row in self.labels for label in row}),
        }
        words = ", ".join(f"{n} {what}{'s'[: n != 1]}" for what, n in counts.items())
        return f"LabelledSentences: {words}"

    def __len__(self) -> int:
        return len(self.tokens)

    def attributes(self, template: str = "chunking") -> list[list[list[str]]]:
        """Return the attributes of every token by a template of that name, for `ChainCRF.fit`.

        Use `Template` itself for one of your own.
        """
        return Template.named(template).attributes(self.tokens)


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Sentences to learn from, and others to test on.

    Attributes
    ----------
    train, test : LabelledSentences
        The parts.
    """

    train: LabelledSentences
    test: LabelledSentences


def load_conll2000(folder: Folder = None, *, np_only: bool = False) -> Corpus:
    """Return the sentences of the CoNLL-2000 chunking task.

    The command line reads the files themselves: ``graftwork crf train.txt.gz --test test.txt.gz``,
    and ``--types NP`` does what `np_only` does here.

    Parameters
    ----------
    folder : path-like, optional
        The folder that has ``conll2000/``, or that folder itself; otherwise what the environment
        variable ``GRAFTWORK_DATA`` says. Files are ``train.txt.gz`` and ``test.txt.gz``, or the
        same without ``.gz``.
    np_only : bool
        Whether to keep noun phrases only: all labels but ``B-NP`` and ``I-NP`` become ``O``.

    Returns
    -------
    Corpus
        ``train`` (8,936 sentences, 211,727 tokens) and ``test`` (2,012 sentences, 47,377 tokens).

    Notes
    -----
    Not part of the package. From sections 15 to 18 and 20 of the Wall Street Journal part of the
    Penn Treebank; freely distributed for the task, without a licence stated.

    Examples
    --------
    >>> corpus = load_conll2000(np_only=True)
    >>> corpus.test
    LabelledSentences: 2012 sentences, 47377 tokens, 3 labels
    >>> corpus.train.tokens[0][:2], corpus.train.labels[0][:2]
    ([('Confidence', 'NN'), ('in', 'IN')], ['B-NP', 'O'])
    """
    paths = [DATASET.file(folder, f"{part}.txt.gz") for part in ("train", "test")]
    parts = []
    for path in paths:
        sentences = read_conll(path)
        with named_after(path):
            if len(sentences[0][0]) != 3:
                raise DataError(
                    f"lines have {len(sentences[0][0])} columns, not the three of word, part of "
                    "speech and label."
                )
            tokens, labels = split_labels(sentences)
        if np_only:
            labels = [[y if y in ("B-NP", "I-NP") else "O" for y in row] for row in labels]
        parts.append(LabelledSentences(tokens, labels))
    return Corpus(*parts)


DATASET = Dataset(
    "conll2000",
    load_conll2000,
    form="Files train.txt.gz and test.txt.gz with lines of word, part of speech and chunk label, "
    "a blank line between sentences.",
    source="https://www.nltk.org/nltk_data (conll2000, whose train.txt and test.txt may lie there "
    "as they are)",
    cite="Tjong Kim Sang and Buchholz (2000), Introduction to the CoNLL-2000 shared task: "
    "chunking, CoNLL",
)
