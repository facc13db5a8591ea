"""Sentences in columns, as in the CoNLL tasks: a token per line, a blank line between sentences.

CoNLL-U is known by its ten columns, separated by tabs, of which the first are numbers of tokens.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path

from graftwork.data.atomic import write_lines
from graftwork.data.sources import check_file, flowing, named_after, opened
from graftwork.errors import DataError

#: One sentence: the columns of each token.
Sentence = list[tuple[str, ...]]

_NEW_DOCUMENT = "-DOCSTART-"
# "# # I-NP" is a token of the CoNLL-2000 data.
_COMMENT = re.compile(r"# +[a-z]|#(begin|end) document")
# Columns of CoNLL-U that may be labels.
_NAMES = {
    "lemma": 2, "upos": 3, "xpos": 4, "feats": 5, "head": 6, "deprel": 7, "deps": 8, "misc": 9,
}  # fmt: skip
# Ranges of tokens, and nodes without a word: lines that are no tokens.
_TOKEN, _NO_TOKEN = re.compile(r"[0-9]+"), re.compile(r"[0-9]+[-.][0-9]+")
# Not str.split: words may hold no-break or ideographic spaces.
_CELL = re.compile(r"[^ \t]+")


def read_conll(
    path: str | PathLike[str], *, sep: str | None = None, label: str | int | None = None
) -> list[Sentence]:
    r"""Return the sentences of a file with one token per line and blank lines between sentences.

    Text is UTF-8, with or without a byte order mark, perhaps gzipped, with any line ends. Lines
    that begin with ``-DOCSTART-`` part sentences as blank lines do. Lines that begin
    with ``#``, a space and a small letter are comments. Of CoNLL-U, which is known by its ten
    columns, only words are read, not ranges of tokens and empty nodes.

    Parameters
    ----------
    path : path-like
        The file or pipe. Gzip is known by its first bytes, whatever the name.
    sep : str, optional
        What separates columns; otherwise any number of spaces and tabs. With a separator cells
        may be empty or hold spaces, and are kept as they are.
    label : str or int, optional
        The column of the labels, if it is not the last one: its number, from 1, or the name of a
        column of CoNLL-U, such as "xpos". It becomes the last one; of CoNLL-U only the words stay
        in front of it.

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
        return sentences if label is None else list(label_last(sentences, label))


def stream_conll(path: str | PathLike[str], *, sep: str | None = None) -> Iterator[Sentence]:
    r"""Yield the sentences that `read_conll` returns, those of a pipe as they come."""
    file = Path(path)
    _check_separator(sep)
    with named_after(file):
        check_file(file)
        some = False
        with flowing(file) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig") as lines:
            for sentence in _sentences(lines, sep):
                some = True
                yield sentence
        if not some:
            raise DataError("there is no token in the file.")


def is_conllu(token: Sequence[str]) -> bool:
    """Return whether a token is one of CoNLL-U, which has ten columns and a number in front.

    Examples
    --------
    >>> is_conllu(("He", "PRP")), is_conllu(("1", "He", *"________"))
    (False, True)
    """
    return len(token) == 10 and _TOKEN.fullmatch(token[0]) is not None


def label_last(sentences: Iterable[Sentence], label: str | int) -> Iterator[Sentence]:
    """Yield sentences with this column behind the others; of CoNLL-U with the words alone.

    Examples
    --------
    >>> list(label_last([[("PRP", "He"), ("VBZ", "sleeps")]], 1))
    [[('He', 'PRP'), ('sleeps', 'VBZ')]]
    >>> list(label_last([[("1", "He", *"________")]], "xpos"))
    [[('He', '_')]]
    """
    at = -1
    for sentence in sentences:
        words = is_conllu(sentence[0])
        at = _place_of(label, sentence[0]) if at < 0 else at
        yield [
            (token[1], token[at]) if words else (*token[:at], *token[at + 1 :], token[at])
            for token in sentence
        ]


def _place_of(label: str | int, token: Sequence[str]) -> int:
    """Return which column of a file's tokens a label's number or name means."""
    number = int(label) if isinstance(label, int) or label.isdecimal() else None
    if number is not None:
        if 1 <= number <= len(token):
            return number - 1
        raise DataError(f"there is no column {number}: tokens have {len(token)} columns.")
    if not is_conllu(token):
        raise DataError(
            f"the columns have no names, so label={label!r} means none; give its number, from 1."
        )
    if str(label).lower() not in _NAMES:
        raise DataError(f"label={label!r} is no column of CoNLL-U; use one of {', '.join(_NAMES)}.")
    return _NAMES[str(label).lower()]


def split_labels(sentences: Iterable[Sentence]) -> tuple[list[Sentence], list[list[str]]]:
    """Return sentences without their last column, and that column as labels.

    A token with one column only is refused.
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
    r"""Write sentences with one token per line, completely or not at all, and return None."""
    write_lines(path, list(conll_lines(sentences, sep=sep)))


def conll_lines(sentences: Iterable[Sentence], *, sep: str | None = None) -> Iterator[str]:
    r"""Yield the text of each sentence, with a blank line in front of all but the first.

    Parameters and errors are those of `write_conll`, which writes these to a file.
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
        text = line.rstrip("\n")
        if _COMMENT.match(text):
            continue
        if sep in (None, "\t") and text[:1].isdecimal() and _is_of_conllu(text):
            if _NO_TOKEN.fullmatch(text.partition("\t")[0]):
                continue
            cells = tuple(text.split("\t"))  # whose words may hold spaces
        else:
            cells = _cells(text, sep)
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


def _is_of_conllu(text: str) -> bool:
    """Return whether a line that begins with a digit is one of CoNLL-U."""
    first = text.partition("\t")[0]
    fits = _TOKEN.fullmatch(first) or _NO_TOKEN.fullmatch(first)
    return fits is not None and text.count("\t") == 9


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
    broken = any(mark in line for mark in "\n\r\0") or _cells(line, sep) != tuple(token)
    # Readers drop new documents, comments, and a byte order mark in front of a file's text.
    dropped = not token or token[0] == _NEW_DOCUMENT or _COMMENT.match(line) is not None
    dropped = dropped or (_is_of_conllu(line) and _NO_TOKEN.fullmatch(token[0]) is not None)
    if dropped or broken or line.startswith("\ufeff"):
        raise DataError(
            f"sentence {i} has the token {tuple(token)!r}, which would not read back as it is; "
            "cells must not be empty, hold spaces, line ends or zero bytes, be -DOCSTART- or "
            "begin a comment"
            f"{' (a tab as sep= allows spaces)' if sep is None else ''}."
        )
    return line + "\n"
