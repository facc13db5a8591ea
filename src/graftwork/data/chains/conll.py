"""Sentences in columns, as in the CoNLL tasks: a token per line, a blank line between sentences."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path

from graftwork.data.atomic import write_lines
from graftwork.data.sources import check_file, named_after, opened
from graftwork.errors import DataError

#: One sentence: the columns of each token.
Sentence = list[tuple[str, ...]]

_NEW_DOCUMENT = "-DOCSTART-"
# Not str.split: words may hold no-break or ideographic spaces.
_CELL = re.compile(r"[^ \t]+")


def read_conll(path: str | PathLike[str], *, sep: str | None = None) -> list[Sentence]:
    r"""Return the sentences of a file with one token per line and blank lines between sentences.

    Text is UTF-8, with or without a byte order mark, perhaps gzipped, with any line ends. Lines
    that begin with ``-DOCSTART-`` part sentences as blank lines do.

    Parameters
    ----------
    path : path-like
        The file or pipe. Gzip is known by its first bytes, whatever the name.
    sep : str, optional
        What separates columns; otherwise any number of spaces and tabs. With a separator cells
        may be empty or hold spaces, and are kept as they are.

    Returns
    -------
    list of list of tuple of str
        The columns of every token of every sentence; all tokens have equally many.

    Raises
    ------
    DataError
        If the file is absent, empty, damaged or not UTF-8, or a line has more or fewer columns
        than the first; the message starts with the file's name and says the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "train.txt")
    >>> _ = path.write_text("He PRP B-NP\nsleeps VBZ B-VP\n\nWhy WRB B-ADVP\n")
    >>> read_conll(path)
    [[('He', 'PRP', 'B-NP'), ('sleeps', 'VBZ', 'B-VP')], [('Why', 'WRB', 'B-ADVP')]]
    """
    file = Path(path)
    _check_separator(sep)
    with named_after(file):
        check_file(file)
        with opened(file) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig") as lines:
            sentences = list(_sentences(lines, sep))
        if not sentences:
            raise DataError("there is no token in the file.")
    return sentences


def split_labels(sentences: Iterable[Sentence]) -> tuple[list[Sentence], list[list[str]]]:
    """Return sentences without their last column, and that column as labels.

    A token with one column only is refused.

    Examples
    --------
    >>> split_labels([[("He", "PRP", "B-NP"), ("sleeps", "VBZ", "B-VP")]])
    ([[('He', 'PRP'), ('sleeps', 'VBZ')]], [['B-NP', 'B-VP']])
    """
    tokens: list[Sentence] = []
    labels: list[list[str]] = []
    for i, sentence in enumerate(sentences):
        narrow = next((token for token in sentence if len(token) < 2), None)
        if narrow is not None:
            raise DataError(
                f"sentence {i} has the token {narrow!r} with {len(narrow)} "
                f"column{'s'[: len(narrow) != 1]}, but labels are a column behind at least one "
                "other; if these sentences have no labels, use them as they are."
            )
        tokens.append([token[:-1] for token in sentence])
        labels.append([token[-1] for token in sentence])
    return tokens, labels


def write_conll(
    path: str | PathLike[str], sentences: Iterable[Sentence], *, sep: str | None = None
) -> None:
    r"""Write sentences with one token per line, completely or not at all, and return None.

    Parameters
    ----------
    path : path-like
        Where to; compressed if it ends in ``.gz``.
    sentences : iterable of list of tuple of str
        The columns of every token.
    sep : str, optional
        What to put between columns; a space unless given.

    Raises
    ------
    DataError
        If `read_conll` with the same separator would not give the same sentences back: a sentence
        is empty, a cell holds the separator or a line end, or tokens differ in their columns.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "train.txt")
    >>> write_conll(path, [[("He", "B-NP"), ("sleeps", "B-VP")], [("Why", "B-ADVP")]])
    >>> path.read_text()
    'He B-NP\nsleeps B-VP\n\nWhy B-ADVP\n'
    """
    write_lines(path, list(conll_lines(sentences, sep=sep)))


def conll_lines(sentences: Iterable[Sentence], *, sep: str | None = None) -> Iterator[str]:
    r"""Yield the text of each sentence, with a blank line in front of all but the first.

    Parameters and errors are those of `write_conll`, which writes these to a file.

    Examples
    --------
    >>> list(conll_lines([[("He", "B-NP"), ("sleeps", "B-VP")], [("Why", "B-ADVP")]]))
    ['He B-NP\nsleeps B-VP\n', '\nWhy B-ADVP\n']
    """
    _check_separator(sep)
    blank = ""
    for text in _texts(sentences, sep):
        yield blank + text
        blank = "\n"
    if not blank:
        raise DataError("there are no sentences to write.")


def _check_separator(sep: str | None) -> None:
    """Raise unless the separator is None or a text within a line."""
    if sep is not None and (not sep or "\n" in sep or "\r" in sep):
        raise DataError(f"sep={sep!r} must be some characters within a line.")


def _cells(line: str, sep: str | None) -> tuple[str, ...]:
    """Return the columns of a line without its end; none for a blank line."""
    if sep is None:
        return tuple(_CELL.findall(line))
    return tuple(line.split(sep)) if line.strip(" \t") else ()


def _sentences(lines: Iterable[str], sep: str | None) -> Iterator[Sentence]:
    """Yield the sentences of a file's lines."""
    sentence: Sentence = []
    width = first = 0
    for number, line in enumerate(lines, 1):
        cells = _cells(line.rstrip("\n"), sep)
        if not cells or cells[0] == _NEW_DOCUMENT:
            if sentence:
                yield sentence
                sentence = []
            continue
        if len(cells) != width:
            if width:
                raise DataError(_ragged(number, len(cells), first, width, sep))
            width, first = len(cells), number
        # The same few words and tags come again and again: keep one copy of each.
        sentence.append(tuple(map(sys.intern, cells)))
    if sentence:
        yield sentence


def _ragged(number: int, count: int, first: int, width: int, sep: str | None) -> str:
    """Return the sentence about a line with another number of columns."""
    remedy = (
        "use sep= if columns are not separated by spaces or tabs, or may hold spaces"
        if sep is None
        else f"check whether {sep!r} is what separates columns"
    )
    return (
        f"line {number} has {count} column{'s'[: count != 1]}, but line {first} has {width}; "
        f"mend the line, or {remedy}."
    )


def _texts(sentences: Iterable[Sentence], sep: str | None) -> Iterator[str]:
    """Yield the lines of each sentence as one text, or refuse what would not read back."""
    width = 0
    for i, sentence in enumerate(sentences):
        if not sentence:
            raise DataError(f"sentence {i} is empty, which a file cannot say; leave it out.")
        lines = []
        for token in sentence:
            width = width or len(token)
            if len(token) != width:
                raise DataError(
                    f"sentence {i} has the token {token!r} with {len(token)} "
                    f"column{'s'[: len(token) != 1]}, but the first token has {width}."
                )
            lines.append(_line(token, sep, i))
        yield "".join(lines)


def _line(token: Sequence[str], sep: str | None, i: int) -> str:
    """Return the line of one token of sentence i, or refuse what would not read back."""
    line = (" " if sep is None else sep).join(token)
    broken = "\n" in line or "\r" in line or _cells(line, sep) != tuple(token)
    # Readers drop new documents, and a byte order mark in front of a file's text.
    if not token or broken or token[0] == _NEW_DOCUMENT or line.startswith("\ufeff"):
        raise DataError(
            f"sentence {i} has the token {tuple(token)!r}, which would not read back as it is; "
            "cells must not be empty, hold spaces or line ends, or be -DOCSTART-"
            f"{' (a tab as sep= allows spaces)' if sep is None else ''}."
        )
    return line + "\n"
