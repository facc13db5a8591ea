"""Feature templates: which attributes the tokens of a sentence have."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from os import PathLike
from pathlib import Path
from typing import Any

from graftwork.data.chains.template_lines import (
    Line,
    column_name,
    is_crfpp,
    parse_columns,
    parse_crfpp,
    parse_line,
)
from graftwork.data.sources import check_file, named_after, opened
from graftwork.data.values import listing, suggestion
from graftwork.errors import DataError

#: Templates by name.
NAMED = {
    # The windows of the CRF++ example for CoNLL-2000.
    "chunking": """
columns: word tag
bias
word[-2..2]
word[-1] word[0]
word[0] word[1]
tag[-2..2]
tag[-2] tag[-1]
tag[-1] tag[0]
tag[0] tag[1]
tag[1] tag[2]
tag[-2] tag[-1] tag[0]
tag[-1] tag[0] tag[1]
tag[0] tag[1] tag[2]
transitions
""",
    # For sentences that are words and nothing else.
    "words": """
columns: word
bias
word[-2..2]
word[-1] word[0]
word[0] word[1]
lower(word[0])
prefix1(word[0])
prefix2(word[0])
prefix3(word[0])
prefix4(word[0])
suffix1(word[0])
suffix2(word[0])
suffix3(word[0])
suffix4(word[0])
shape(word[0])
transitions
""",
}
_COMMENT = re.compile(r"(?:^|\s)#.*")
_Column = list[str | int]


@dataclass(frozen=True, slots=True)
class Template:
    """What a sequence model looks at: lines that give each token one attribute each.

    Attributes
    ----------
    lines : tuple of Line
        In order, no two alike.
    transitions : bool
        Whether a label also depends on the one before it.

    Examples
    --------
    >>> template = Template.parse('''
    ... word[-1..0]
    ... lower(word[0]) tag[0]
    ... transitions
    ... ''')
    >>> template.attributes([[("The", "DT"), ("man", "NN")]])[0][0]
    ['word[-1]=_B-1', 'word[0]=The', 'lower(word[0])|tag[0]=the|DT']
    """

    lines: tuple[Line, ...]
    transitions: bool = False

    @classmethod
    def parse(cls, text: str) -> Template:
        """Return the template that a text describes, in the readable language or that of CRF++.

        Parameters
        ----------
        text : str
            One line for each attribute; lines that say the same count once. Blank lines and what
            follows ``#`` are skipped. Readable lines are described at `parse_line`; ``columns:
            word tag`` in front of them names the columns, which otherwise are word, tag, c2, c3,
            ...; ``transitions`` makes labels depend on each other. ``U05:%x[-1,0]/%x[0,0]`` and
            ``B`` mean what they do for CRF++, and both languages may be mixed.

        Raises
        ------
        DataError
            If a line means nothing; the message says which.

        Examples
        --------
        >>> readable = Template.parse("word[-1] word[0]\\ntransitions")
        >>> readable == Template.parse("U05:%x[-1,0]/%x[0,0]\\nB")
        True
        """
        lines: dict[Line, None] = {}
        names: tuple[str, ...] = ()
        ids: dict[str, Line] = {}
        transitions = False
        for number, line in _meaningful(text):
            with _at_line(number, line):
                if line in ("B", "transitions"):
                    transitions = True
                elif line.startswith("columns:"):
                    if lines:
                        raise DataError("columns are named in front of all other lines.")
                    names = parse_columns(line.removeprefix("columns:"))
                elif is_crfpp(line):
                    found = parse_crfpp(line, names)
                    _check_id(line.partition(":")[0], found, ids)
                    lines[found] = None
                else:
                    lines.update(dict.fromkeys(parse_line(line, names)))
        if not lines and not transitions:
            raise DataError("the template has no lines; write for example word[-1..1].")
        return cls(tuple(lines), transitions)

    @classmethod
    def named(cls, name: str) -> Template:
        """Return a template of `NAMED`: "chunking" (words and tags) or "words".

        Examples
        --------
        >>> len(Template.named("chunking").lines), Template.named("words").transitions
        (20, True)
        """
        if name not in NAMED:
            raise DataError(
                f"there is no template {name!r}{suggestion(name, list(NAMED)) or '.'} "
                f"The names are {listing(list(NAMED))}; a file is named by its path."
            )
        return cls.parse(NAMED[name])

    @classmethod
    def read(cls, source: str | PathLike[str]) -> Template:
        """Return the template of this name, or in this file.

        A name goes before a file called so: write ``./words`` for that. Errors start with the
        file's name.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "template.txt")
        >>> _ = path.write_text("U00:%x[0,0]")
        >>> Template.read(path) == Template.parse("word[0]")
        True
        >>> Template.read("words") == Template.named("words")
        True
        """
        file = Path(source)
        bare = isinstance(source, str) and not file.suffix and os.path.basename(source) == source
        if bare and (source in NAMED or not file.exists()):
            return cls.named(str(source))
        with named_after(file):
            check_file(file)
            with opened(file) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig") as text:
                return cls.parse(text.read())

    def text(self) -> str:
        """Return the template in the readable language; `parse` gives it back.

        Examples
        --------
        >>> print(Template.parse("U00:%x[-1,0]/%x[0,1]").text())
        word[-1] tag[0]
        """
        named = {look.column: look.name for line in self.lines for look in line.looks}
        out = [line.name.replace("|", " ") for line in self.lines]
        if any(name != column_name(column) for column, name in named.items()):
            width = max(named) + 1
            out.insert(0, "columns: " + " ".join(named.get(j, f"c{j}") for j in range(width)))
        return "\n".join([*out, "transitions"] if self.transitions else out)

    def attributes(self, sentences: Iterable[Sequence[Any]]) -> list[list[list[str]]]:
        """Return the attributes of every token of every sentence.

        Parameters
        ----------
        sentences : iterable of sequence of tokens
            A token is the tuple of its columns, all text, or just a word.

        Returns
        -------
        list of list of list of str
            One attribute for each line, such as ``word[-1]|word[0]=the|man``. Positions outside
            the sentence are called ``_B-1``, ``_B-2``, ... and ``_B+1``, ... by their distance
            from it. Equal attributes are one object.

        Raises
        ------
        DataError
            If a sentence lacks a column that a line looks at, or a cell is no text.

        Examples
        --------
        >>> Template.parse("word[0..1]").attributes([["a", "man"]])
        [[['word[0]=a', 'word[1]=man'], ['word[0]=man', 'word[1]=_B+1']]]
        """
        books = [_Book(line) for line in self.lines]
        looks = [look for line in self.lines for look in line.looks]
        used = {look.column for look in looks}
        # Positions outside the sentence are ints, which no cell can be mistaken for.
        before = range(min([0, *(look.offset for look in looks)]), 0)
        after = range(1, max([0, *(look.offset for look in looks)]) + 1)
        out = []
        for i, sentence in enumerate(sentences):
            n = len(sentence)
            columns = _columns(sentence, i)
            if n:
                self._check_columns(columns, used, i)
            padded: dict[int, _Column] = {j: [*before, *columns[j], *after] for j in used if n}
            by_line = [_values(book, padded, len(before), n) for book in books if n]
            rows = zip(*by_line, strict=True) if by_line else repeat((), n)
            out.append(list(map(list, rows)))
        return out

    def _check_columns(self, columns: Sequence[Sequence[Any]], used: set[int], i: int) -> None:
        """Raise unless sentence i has all the columns used, and they hold text."""
        for j in used:
            if j >= len(columns):
                line = next(line for line in self.lines if _reaches(line, len(columns)))
                look = next(look for look in line.looks if look.column >= len(columns))
                raise DataError(
                    f"the template line {line.name.replace('|', ' ')!r} looks at column "
                    f"{look.column} ({look.name!r}, counted from 0), but sentence {i} has "
                    f"{len(columns)} column{'s'[: len(columns) != 1]} besides any labels; "
                    "choose another template, or add the column."
                )
            if any(not issubclass(kind, str) for kind in set(map(type, columns[j]))):
                cell = next(cell for cell in columns[j] if not isinstance(cell, str))
                raise DataError(
                    f"sentence {i} has {cell!r} ({type(cell).__name__}) in column {j}; "
                    "templates look at text only: use str() on it."
                )


def _meaningful(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that say something, with their numbers."""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = _COMMENT.sub("", line).strip()
        if stripped:
            yield number, stripped


@contextmanager
def _at_line(number: int, line: str) -> Iterator[None]:
    """Put the template's line in front of every error."""
    try:
        yield
    except DataError as error:
        raise DataError(f"template line {number}, {line!r}: {error}") from error


def _check_id(name: str, line: Line, ids: dict[str, Line]) -> None:
    """Raise if another line of CRF++ has the same id."""
    if ids.setdefault(name, line) != line:
        raise DataError(
            f"another line has the id {name!r}; CRF++ would count what both see as one attribute, "
            "which is not supported: give each line an id of its own."
        )


class _Book(dict[tuple[str | int, ...], str]):
    """The attributes of one line by the cells it looks at; each is made once, when first seen."""

    def __init__(self, line: Line) -> None:
        super().__init__()
        self.line = line

    def __missing__(self, cells: tuple[str | int, ...]) -> str:
        # Several cells may share an attribute (prefixes): interned, equal ones are one object.
        attribute = self[cells] = sys.intern(self.line.attribute(cells))
        return attribute


def _values(book: _Book, padded: dict[int, _Column], left: int, n: int) -> list[str]:
    """Return a line's attributes of the n tokens of a sentence."""
    if not book.line.looks:
        return [book[()]] * n
    starts = ((look, left + look.offset) for look in book.line.looks)
    windows = [padded[look.column][start : start + n] for look, start in starts]
    return list(map(book.__getitem__, zip(*windows, strict=True)))


def _columns(sentence: Sequence[Any], i: int) -> list[Sequence[Any]]:
    """Return the columns of sentence i."""
    kinds = set(map(type, sentence))
    plain = [issubclass(kind, str) for kind in kinds]
    if isinstance(sentence, str) or (any(plain) and not all(plain)):
        raise DataError(
            f"sentence {i} is {sentence!r:.60}; a sentence is a list of words, or a list of "
            "tuples of columns."
        )
    if any(plain):
        return [sentence]
    widths = set(map(len, sentence))
    if len(widths) > 1:
        raise DataError(
            f"sentence {i} has tokens with {min(widths)} and with {max(widths)} columns; "
            "give all the same."
        )
    return list(zip(*sentence, strict=True))


def _reaches(line: Line, width: int) -> bool:
    """Return whether a line looks at a column beyond the first `width`."""
    return any(look.column >= width for look in line.looks)
