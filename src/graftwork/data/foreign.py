"""Tables of other programs: sheets of Excel (.xlsx) and data files of SPSS (.sav).

Their readers come with ``graftwork[files]``: openpyxl and pyreadstat.
"""

from __future__ import annotations

import math
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, BinaryIO, Literal

import numpy as np

from graftwork.data.columns import Raw, clean_names
from graftwork.data.encode import Coded, encode, small
from graftwork.data.missing import RECOMMENDED
from graftwork.data.sources import Source, check_unpacked
from graftwork.data.text import remarks, titles_of
from graftwork.data.values import is_missing, listing, suggestion
from graftwork.errors import DataError, TooLargeError

#: All names of a file, and the positions of those that are read.
Choose = Callable[[Sequence[Any]], list[int]]
#: The texts that mean a missing cell in a column.
Gaps = Callable[[Hashable], Collection[str]]
#: Whether cells of a column keep their types; they become text otherwise.
Convert = Callable[[Hashable], bool]

# What Excel writes where a formula has no value.
_ERRORS = ("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!")
# Rows of a sheet of Excel at most; about the bytes that a cell or a value takes here.
_MOST_ROWS, _CELL_BYTES = 1 << 20, 24
_REMEDY = f"{RECOMMENDED}; empty cells count as missing"


def needs(what: str, package: str) -> DataError:
    """Return the error for a reader that is not installed."""
    return DataError(
        f"reading {what} needs {package}: pip install 'graftwork[files]' brings it; or save the "
        "table as CSV."
    )


def read_excel(
    source: Source,
    header: bool | Literal["auto"],
    missing: Gaps,
    convert: Convert,
    choose: Choose,
    sheet: str | None = None,
) -> Raw:
    """Return the columns of a sheet of an Excel file, the first if none is named.

    Empty rows are skipped; empty cells, errors of formulas and texts that mean missing are missing.
    """
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise needs("Excel files", "openpyxl") from None
    try:
        with source.open() as stream:
            _check_members(stream, source.size())
            book = load_workbook(stream, read_only=True, data_only=True)
            sheets = {str(each.title): each for each in book.worksheets}
            title = _title(sheet, list(sheets))
            rows = _filled(sheets[title], source.size())
    except (DataError, TooLargeError):
        raise
    except Exception as error:  # of zip, XML or openpyxl: each has errors of its own
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"cannot be read as an Excel file ({first}).") from error
    raw = _sheet(
        rows,
        "first sheet" if sheet is None else f"sheet {title!r}",
        header,
        missing,
        convert,
        choose,
    )
    if sheet is not None or len(sheets) == 1:
        return raw
    others = [name for name in sheets if name != title]
    note = (
        f"The file has {len(sheets)} sheets ({listing(list(sheets))}); the first was read, and "
        f"sheet={others[0]!r} would read another."
    )
    return replace(raw, notes=(note, *raw.notes))


def _check_members(stream: BinaryIO, size: int) -> None:
    """Refuse an archive whose members unpack to very many times their sizes, or that of it."""
    with zipfile.ZipFile(stream) as archive:  # no more is unpacked than these sizes say
        members = archive.infolist()
    for member in members:
        check_unpacked(member.file_size, member.compress_size)
    check_unpacked(sum(member.file_size for member in members), size)
    stream.seek(0)


def _filled(sheet: Any, size: int) -> list[tuple[int, list[Any]]]:
    """Return the rows that hold cells, with their numbers, without empty cells at the ends."""
    sheet.reset_dimensions()  # what the file says of its size need not be true
    found, held = [], 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        if number > _MOST_ROWS:
            raise DataError(f"the sheet has more rows than Excel writes ({_MOST_ROWS:,}).")
        cells = [_cell(cell) for cell in row]
        while cells and cells[-1] is None:
            cells.pop()
        if cells:
            found.append((number, cells))
            held += len(cells) * _CELL_BYTES
            check_unpacked(held, size)
    return found


def _title(wanted: str | None, titles: list[str]) -> str:
    """Return the name of the sheet that is wanted, or refuse it."""
    if not titles:
        raise DataError("the file has no sheet with cells.")
    if wanted is None:
        return titles[0]
    if wanted not in titles:
        raise DataError(
            f"there is no sheet {wanted!r}{suggestion(wanted, titles) or '.'} The sheets are "
            f"{listing(titles)}."
        )
    return wanted


def _cell(value: Any) -> Any:
    """Return a cell as a state: text without spaces around it, whole numbers as integers."""
    if isinstance(value, str):
        value = value.strip()
        return None if value in _ERRORS or not value else value
    return value


def _sheet(
    kept: list[tuple[int, list[Any]]],
    which: str,
    header: bool | Literal["auto"],
    missing: Gaps,
    convert: Convert,
    choose: Choose,
) -> Raw:
    """Return the columns of the rows that hold cells; shorter ones end in empty cells."""
    if not kept:
        raise DataError(f"the {which} is empty.")
    width = max(len(row) for _, row in kept)
    numbers = [k for k, _ in kept]
    cells = [[*row, *[None] * (width - len(row))] for _, row in kept]
    texts = [["" if cell is None else str(cell) for cell in row] for row in cells[:1001]]
    header, titles = titles_of(texts, numbers, header)
    if header:
        cells, numbers = cells[1:], numbers[1:]
    if not cells:
        raise DataError(
            "there are no rows below the header; if that row is data, use header=False."
        )
    places = choose(titles)
    names = clean_names(titles[j] for j in places)

    def column(j: int) -> list[Any]:
        gone = missing(names[j])
        own = [None if text_of(row[places[j]]) in gone else row[places[j]] for row in cells]
        if convert(names[j]):
            return _whole(own)
        return [None if cell is None else str(cell) for cell in own]

    def place(row: int) -> str:
        return f"row {numbers[row]}"

    notes = remarks(titles, places)
    return Raw(names, len(cells), column, named=True, place=place, remedy=_REMEDY, notes=notes)


def text_of(cell: Any) -> str | None:
    """Return a cell as it would be written in a text file; None for an empty one."""
    if cell is None:
        return None
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def without_texts(raw: Raw, texts: Gaps) -> Raw:
    """Return columns in which cells whose states are written like these texts are missing.

    Examples
    --------
    >>> raw = without_texts(Raw(("a",), 3, lambda j: [1, 9, 2], True), lambda name: {"9"})
    >>> raw.column(0).states, raw.column(0).missing.tolist()
    ((1, 2), [False, True, False])
    """

    def column(j: int) -> Any:
        coded, gone = encode(raw.column(j), raw.names[j], raw.place), texts(raw.names[j])
        kept = [k for k, state in enumerate(coded.states) if text_of(state) not in gone]
        if len(kept) == len(coded.states):
            return coded
        place = np.zeros(len(coded.states), dtype=np.int64)
        place[kept] = np.arange(len(kept))
        lost = ~np.isin(coded.codes, kept)
        missing = lost if coded.missing is None else lost | coded.missing
        states = tuple(coded.states[k] for k in kept)
        codes = small(place[coded.codes], len(states))
        return Coded(codes, states, missing, coded.declared, coded.ordered)

    return replace(raw, column=column)


def _whole(cells: list[Any]) -> list[Any]:
    """Return a column with whole floats as integers, if all its floats are whole.

    Examples
    --------
    >>> _whole([1.0, None, 2]), _whole([1.0, 2.5])
    ([1, None, 2], [1.0, 2.5])
    """
    floats = [cell for cell in cells if isinstance(cell, float)]
    if not all(cell.is_integer() for cell in floats):
        return cells
    return [int(cell) if isinstance(cell, float) else cell for cell in cells]


def read_spss(source: Source, convert: Convert, choose: Choose) -> Raw:
    """Return the columns of an SPSS file.

    Value labels are states, in the order of their values; codes that the file declares as missing
    are missing; variables whose level of measurement is ordinal are ordered.
    """
    try:
        import pyreadstat
    except ImportError:
        raise needs("SPSS files", "pyreadstat") from None
    path = str(source.path)
    try:
        # only with user_missing the file's own missing codes are told
        _, about = pyreadstat.read_sav(
            path, metadataonly=True, user_missing=True, output_format="dict"
        )
        places = choose(about.column_names)
        wanted = [about.column_names[j] for j in places]
        widths = about.variable_storage_width
        row = sum(max(widths.get(name, 0), _CELL_BYTES) for name in wanted)
        check_unpacked(max(about.number_rows or 0, 0) * row, source.size())
        columns, _ = pyreadstat.read_sav(path, usecols=wanted, output_format="dict")
    except (DataError, TooLargeError):
        raise
    except Exception as error:  # pyreadstat has errors of its own
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(f"cannot be read as an SPSS file ({first}).") from error
    names = clean_names(wanted)

    def column(j: int) -> Any:
        name = wanted[j]
        measure = about.variable_measure.get(name, "unknown")
        gaps = about.missing_ranges.get(name, ())
        labels = {
            value: label
            for value, label in about.variable_value_labels.get(name, {}).items()
            if not _in_ranges(value, gaps)
        }
        found = labelled(list(columns[name]), labels, measure)
        if convert(name):
            return found
        states = [str(state) for state in found.states]
        return Coded(found.codes, tuple(states), found.missing, found.declared, found.ordered)

    n_rows = len(columns[wanted[0]])
    return Raw(names, n_rows, column, named=True, remedy=_REMEDY)


def _in_ranges(value: Any, ranges: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a value lies in one of the ranges that mean missing."""
    try:
        return any(each["lo"] <= value <= each["hi"] for each in ranges)
    except TypeError:
        return False


def labelled(cells: Sequence[Any], labels: Mapping[Any, str], measure: str) -> Coded:
    """Return a column of SPSS: labels in place of values, in the order of these.

    Values without a label stay numbers. Of a scale some of whose values have no label, labels are
    notes on special values, and all stay numbers.
    """
    values = [_value(cell) for cell in cells]
    seen = {value for value in values if value is not None}
    words = {_value(value): str(label).strip() for value, label in labels.items()}
    words.pop(None, None)
    if measure == "scale" and not seen <= set(words):
        words = {}
    order = _sorted({*words, *seen})
    texts = [words.get(value) or value for value in order]
    times = Counter(texts)
    states = tuple(
        text if times[text] == 1 else f"{text} ({value})"
        for text, value in zip(texts, order, strict=True)
    )
    place = {value: k for k, value in enumerate(order)}
    missing = np.array([value is None for value in values], dtype=np.bool_)
    codes = np.array([0 if value is None else place[value] for value in values], dtype=np.int64)
    return Coded(
        small(codes, len(states)),
        states,
        missing if missing.any() else None,
        declared=bool(words),
        ordered=measure == "ordinal" and len(states) > 0,
    )


def _value(cell: Any) -> Any:
    """Return a value of SPSS: whole numbers as integers, None where it is missing."""
    if isinstance(cell, str):
        return cell.strip() or None
    if is_missing(cell):
        return None
    number = cell.item() if isinstance(cell, np.generic) else cell
    if isinstance(number, float) and math.isfinite(number) and number.is_integer():
        return int(number)
    return number


def _sorted(values: Collection[Any]) -> list[Any]:
    """Return values by size; by their texts if some cannot be compared."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=str)
