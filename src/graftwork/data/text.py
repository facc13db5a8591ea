"""Text tables: separators, headers and the types behind the text.

Cells are looked up in one dictionary per column as they are read, so that a long file never
lies in memory as text.
"""

from __future__ import annotations

import csv
import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graftwork.data.encode import small
from graftwork.data.values import listing
from graftwork.errors import DataError

SEPARATORS = (",", ";", "\t", "|")
_CHUNK_ROWS = 2_000
_CHUNK_CELLS = 1_000_000
_HEADER_ROWS = 1_000
# Cells of the first row that do not recur within this many rows are not states.
_SEVERAL_ROWS = 5
# From so many rows on, a state that comes up in the first alone is odd.
_MANY_ROWS = 30
# Numbers, and cells of a later row, are titles only if that many stand out from their columns; such
# rows are looked for among the first few, and compared with some below.
_OUTSTANDING = 2
_TITLE_ROWS, _COMPARED_ROWS = 10, 200
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_FLOAT = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_QUOTED = re.compile(r'"[^"]*"?')


def guess_separator(lines: Sequence[str], suffix: str = "") -> str:
    """Return the separator of a text table.

    The one of ``, ; tab |`` that occurs equally often in every line outside quotes, the most
    frequent one if several do; failing that, the one whose rarest line has most; a comma if none
    occurs at all. With the suffixes ``.tsv`` and ``.tab`` it is a tab if the lines hold any.
    """
    bare = [_QUOTED.sub("", line) for line in lines if line.strip()]
    if suffix.lower() in (".tsv", ".tab") and any("\t" in line for line in bare):
        return "\t"
    best, score = ",", (False, 0)
    for mark in SEPARATORS:
        counts = [line.count(mark) for line in bare]
        least = min(counts, default=0)
        found = (least > 0 and least == max(counts), least)
        if found > score:
            best, score = mark, found
    return best


def has_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row of a text table names its columns.

    It does if its cells are all non-empty and distinct, none is a number, and not all of them come
    up again below (in 1,000 rows) in their own columns. Repeated names still are a header where a
    column below holds nothing but numbers, or where none of them comes up again in several rows.

    Distinct cells with numbers among them are a header if most of them stand out: they are not
    there below, in columns whose other cells all come up again.

    The first cell may be empty, as R and pandas write it above the names of rows; the others decide
    then. Numbers from 0 on are a header of pandas above rows that are counted from 0, too.
    """
    below = list(islice(rows, _HEADER_ROWS))
    if len(first) > 1 and not first[0]:
        if _counted(first[1:]) and _counted([row[0] for row in below]):
            return True
        first, below = first[1:], [row[1:] for row in below]
    columns = list(zip(*below, strict=False))
    several, distinct = len(below) >= _SEVERAL_ROWS, len(set(first)) == len(first)
    if not all(first):
        return False
    if any(map(is_number, first)):
        if not (several and distinct):
            return False
        found = [_stands_out(cell, column) for cell, column in zip(first, columns, strict=False)]
        least = 1 if _counted(first) else _OUTSTANDING
        return found.count(True) >= max(least, found.count(False) + 1)
    again = [cell in column for cell, column in zip(first, columns, strict=False)]
    if not distinct:
        return (several and not any(again)) or any(all(map(is_number, each)) for each in columns)
    if again and all(again):  # in a table of several files, perhaps, each with titles
        columns = list(zip(*[row for row in below if row != list(first)], strict=False))
        return any(all(map(is_number, each)) for each in columns)
    return True


def _counted(cells: Sequence[str]) -> bool:
    """Return whether cells are 0, 1, 2, ..."""
    return len(cells) > 0 and all(cell == str(k) for k, cell in enumerate(cells))


def _stands_out(cell: str, column: Iterable[str]) -> bool | None:
    """Return whether a cell is unlike those below it; None if these are not alike themselves.

    Examples
    --------
    >>> _stands_out("2019", ["1", "2", "1", "2"]), _stands_out("age", ["17.1", "17.2"])
    (True, True)
    >>> _stands_out("1", ["1", "2", "1", "2"]), _stands_out("2019", ["17.1", "17.2"])
    (False, None)
    """
    times = Counter(column)
    times.pop("", None)
    if times and not is_number(cell) and all(map(is_number, times)):
        return True
    if not times or min(times.values()) == 1:
        return None
    return cell not in times


def _check_lower(rows: Sequence[Sequence[str]], lines: Sequence[int]) -> None:
    """Refuse a table that has titles or units in one of its first lines below the first.

    No cell of such a row is a number, each is unlike those below it, and some are above numbers or
    there are many rows: the first of a few rows may well have states of its own.
    """
    for k, row in enumerate(rows[:_TITLE_ROWS]):
        below = rows[k + 1 : k + 1 + _COMPARED_ROWS]
        if len(below) < _SEVERAL_ROWS or not all(row):
            continue
        columns = list(zip(*below, strict=False))
        found = [_stands_out(cell, column) for cell, column in zip(row, columns, strict=False)]
        texts = not any(map(is_number, row))
        above_numbers = texts and any(all(map(is_number, column)) for column in columns)
        sure = above_numbers or (texts and len(below) >= _MANY_ROWS)
        if sure and False not in found and found.count(True) >= _OUTSTANDING:
            raise DataError(
                f"line {lines[k]} seems to hold titles or units ({listing(row, 3)}), as its cells "
                "come up nowhere below: delete that line, or those above it if it has the titles; "
                "if all lines are rows, say whether the first has titles: header=True or "
                "header=False."
            )


class UnnamedTitle(str):
    """The title that a column without a name gets by its place."""

    __slots__ = ()


class UnreadTitle(UnnamedTitle):
    """That of a column that is left out unless it is asked for, as nothing is in it."""

    __slots__ = ()


class IndexTitle(UnreadTitle):
    """That of a first column that holds the names of rows."""

    __slots__ = ()


def titles_of(
    rows: Sequence[Sequence[str]], lines: Sequence[int], header: bool | Literal["auto"]
) -> tuple[bool, list[str]]:
    """Return whether the first of the rows names the columns, and the names: these or x0, x1, ...

    A first row that is one cell short names all columns but that of the names of rows, as R writes
    it. Separators at the ends of lines make columns without a name and without a cell.

    Examples
    --------
    >>> titles_of([["a", "b"], ["x", "1"]], [1, 2], "auto"), titles_of([["1", "2"]], [1], "auto")
    ((True, ['a', 'b']), (False, ['x0', 'x1']))
    >>> _, titles = titles_of([["a", ""], ["1", "x", ""], ["2", "x", ""]], [1, 2, 3], "auto")
    >>> titles, [type(title).__name__ for title in titles]
    (['x0', 'a', 'x2'], ['IndexTitle', 'str', 'UnreadTitle'])
    """
    top, below = rows[0], rows[1 : _HEADER_ROWS + 1]
    if header and _one_short(top, below):
        header, top = True, ["", *top]
    filled = {j for row in (top, *below) for j, cell in enumerate(row) if cell}
    empty = set(range(len(top))) - filled if below else set[int]()
    if header == "auto":
        first, *others = [
            [cell for j, cell in enumerate(row) if j not in empty] for row in (top, *below)
        ]
        header = has_header(first, others)
        _check_lower(others, lines[1:])
    titles = [(cell if header else "") or f"x{j}" for j, cell in enumerate(top)]
    for j in empty:
        titles[j] = UnreadTitle(titles[j])
    if header and len(top) > 1 and not top[0] and 0 not in empty:
        titles[0] = (IndexTitle if _differ(below) else UnnamedTitle)(titles[0])
    return header, titles


def _one_short(top: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row lacks a title of the names of rows, as in R."""
    if {len(row) for row in below} != {len(top) + 1} or not _differ(below):
        return False
    return bool(top[-1:] == [""] or any(row[-1] for row in below))


def _differ(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first cells of rows, of which there are some, all differ."""
    cells = {row[0] for row in rows}
    return "" not in cells and len(cells) == len(rows) > 0


def remarks(titles: Sequence[str], places: Sequence[int]) -> tuple[str, ...]:
    """Return what there is to say about columns without a name."""
    found, first = [], next(iter(titles), "")
    if type(first) is IndexTitle and 0 not in places:
        found.append(
            "The first column has no name, and a different cell in every row: it is taken for the "
            "names of the rows, and left out; with a name of its own it is read."
        )
    if type(first) is UnnamedTitle and 0 in places:
        found.append(
            f"The first column has no name, and cells that come up again: it is called {first!r}."
        )
    empty = [each for j, each in enumerate(titles) if type(each) is UnreadTitle and j not in places]
    if empty:
        verb, pronoun = ("has", "it is") if len(empty) == 1 else ("have", "they are")
        found.append(
            f"{listing(empty, 3)} {verb} no name and no cell in the first rows: {pronoun} left out."
        )
    return tuple(found)


def is_number(text: str) -> bool:
    """Return whether Python reads the text as a number, NaN and infinity included."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def typed(texts: Sequence[str]) -> list[Any]:
    """Return the distinct texts of one column as values of one type.

    Ints if every text is an integer as Python writes it (``0``, ``-3``, no leading zeros, no plus);
    floats if every text is a finite number; bools if all are ``True`` or ``False``, or all ``true``
    or ``false``; otherwise the texts as they are.
    """
    found = set(texts)
    if found <= {"True", "False"} or found <= {"true", "false"}:
        return [text in ("True", "true") for text in texts]
    if all(map(_INTEGER.fullmatch, texts)):
        return [int(text) for text in texts] if max(map(len, texts)) < 4000 else list(texts)
    if all(map(_FLOAT.fullmatch, texts)):
        numbers = [float(text) for text in texts]
        if all(map(math.isfinite, numbers)):
            return numbers
    return list(texts)


class _Book(dict[str, int]):
    """A dictionary that gives each new text the next code."""

    def __missing__(self, text: str) -> int:
        code = self[text] = len(self)
        return code


class TextColumns:
    """Columns of text as they are read, chunk by chunk."""

    def __init__(
        self, width: int, places: Sequence[int] | None = None, titles: Sequence[str] = ()
    ) -> None:
        self._width = width
        self._titles = list(titles)
        self._places = range(width) if places is None else places
        self.books = [_Book() for _ in self._places]
        self.lines = array("q")
        self._parts: list[NDArray[Any]] = []

    def add(self, rows: Sequence[Sequence[str]], lines: Sequence[int]) -> None:
        """Encode more rows and return None."""
        width, count = self._width, len(rows)
        if set(map(len, rows)) - {width}:
            row, line = next(
                (row, line) for row, line in zip(rows, lines, strict=True) if len(row) != width
            )
            raise DataError(
                f"line {line} has {len(row)} cell{'s'[: len(row) != 1]}, expected {width} as in "
                "the first line; check its separators and quotes, and delete lines above the "
                "titles or below the rows."
            )
        if self._titles in rows and width > 1:
            raise DataError(
                f"line {lines[list(rows).index(self._titles)]} repeats the titles of the first; "
                "delete it."
            )
        part = np.empty((len(self.books), count), dtype=np.int32)
        columns = list(zip(*rows, strict=True))
        for j, (book, place) in enumerate(zip(self.books, self._places, strict=True)):
            cells = map(book.__getitem__, columns[place])
            part[j] = np.fromiter(cells, dtype=np.int32, count=count)
        self._parts.append(small(part, max(map(len, self.books))))
        self.lines.extend(lines)

    def codes(self) -> NDArray[Any]:
        """Return the codes of all rows so far.

        They are positions in each column's book, in order of first appearance.
        """
        # The last part has seen the most texts, so its type is the widest.
        out = np.empty((len(self.books), len(self.lines)), dtype=self._parts[-1].dtype)
        start = 0
        for part in self._parts:
            out[:, start : start + part.shape[1]] = part
            start += part.shape[1]
        return out


def as_numbers(states: Sequence[Any]) -> list[float] | None:
    """Return distinct states as finite numbers, which may be texts; None if they are not.

    Examples
    --------
    >>> as_numbers([1, 2.5]), as_numbers(["1", "2", "10"]), as_numbers(["01", "02"])
    ([1.0, 2.5], [1.0, 2.0, 10.0], None)
    """
    values = typed(states) if all(isinstance(state, str) for state in states) else states
    if not all(isinstance(value, int | float) for value in values):
        return None
    try:
        numbers = [float(value) for value in values]
    except OverflowError:  # whole, and larger than any float
        return None
    if not all(map(math.isfinite, numbers)):
        return None
    return numbers if len(set(numbers)) == len(numbers) else None


def read_rows(lines: Iterable[str], sep: str) -> Iterator[tuple[list[list[str]], list[int]]]:
    """Yield a text table's rows in chunks, with the lines they end on; blank lines are skipped."""
    reader = csv.reader(_trimmed(lines, sep), delimiter=sep, skipinitialspace=True)
    rows: list[list[str]] = []
    numbers: list[int] = []
    try:
        for row in reader:
            if row:
                rows.append(row)
                numbers.append(reader.line_num)
                if len(rows) * min(len(row), _CHUNK_CELLS) >= _CHUNK_CELLS or (
                    len(rows) == _CHUNK_ROWS
                ):
                    yield rows, numbers
                    rows, numbers = [], []
    except csv.Error as error:
        raise DataError(f"line {reader.line_num}: {error}; check its quotes.") from error
    if rows:
        yield rows, numbers


def _trimmed(lines: Iterable[str], sep: str) -> Iterator[str]:
    """Yield lines without spaces in front of separators, where no quote is in play."""
    loose = re.compile(f" +(?={re.escape(sep)}|[\r\n]*$)")
    before = " " + sep
    quoted = False
    for line in lines:
        if '"' in line:
            quoted ^= line.count('"') % 2 == 1
        elif not quoted and (before in line or line.rstrip("\r\n").endswith(" ")):
            line = loose.sub("", line)
        yield line
