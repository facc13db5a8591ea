"""Files that hold tables: CSV and its cousins, perhaps gzipped, Parquet, Arrow, Excel, SPSS."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graftwork.data.bins import Bins, check_bins, cuts_of
from graftwork.data.columns import Raw, assemble, clean_names
from graftwork.data.encode import Coded, arranged, encode
from graftwork.data.foreign import read_excel, read_spss, without_texts
from graftwork.data.frames import from_frame
from graftwork.data.kinds import ARROW, EXCEL, PARQUET, SPSS, Kind, kind_of, suffix_of
from graftwork.data.missing import RECOMMENDED, Missing, check_missing
from graftwork.data.oddities import warn_of_columns
from graftwork.data.sources import Source, check_file, check_unpacked, named_after, opened
from graftwork.data.table import Table
from graftwork.data.text import (
    TextColumns,
    UnreadTitle,
    guess_separator,
    is_number,
    read_rows,
    remarks,
    titles_of,
    typed,
)
from graftwork.data.values import listing, suggestion
from graftwork.errors import DataError, TooLargeError
from graftwork.limits import COLUMNS
from graftwork.text import count

Names = Sequence[Hashable]
#: Names of columns, or a function that is given all names of a file and returns these.
Wanted = Collection[Any] | Callable[[Names], Collection[Any]]
#: All names of a file, and the positions of those that are read.
Choose = Callable[[Sequence[Any]], list[int]]

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL")
#: Texts that mean a missing cell: of all columns, or by column.
MissingTexts = Collection[str] | Mapping[Any, Collection[str]]
_FIRST_LINES = 20
_SAID = re.compile(r"[sS][eE][pP]=([^\"\r\n])[,;\t]*[\r\n]+")
# About the bytes that a cell of a Parquet file takes while it is read.
_CELL_BYTES = 8


@dataclass(frozen=True, slots=True)
class GapTexts:
    """Which texts mean a missing cell: in all columns, and in some beside those.

    Examples
    --------
    >>> texts = GapTexts.of({"mood": ["9"]})
    >>> sorted(texts("mood") - texts("age")), sorted(GapTexts.of(["?"])("age"))
    (['9'], ['?'])
    """

    usual: frozenset[str]
    columns: Mapping[Any, frozenset[str]] = field(default_factory=dict)
    strict: bool = True

    @staticmethod
    def of(given: MissingTexts | GapTexts) -> GapTexts:
        """Return the texts that `read_table` is given."""
        if isinstance(given, GapTexts):
            return given
        if not isinstance(given, Mapping):
            return GapTexts(frozenset(given))
        named = {name: frozenset(map(str, texts)) for name, texts in given.items()}
        return GapTexts(named.pop(None, frozenset()) | frozenset(MISSING), named)

    def __call__(self, name: Hashable) -> frozenset[str]:
        """Return the texts of a column."""
        return self.usual | self.columns.get(name, frozenset())

    def more(self, name: Hashable) -> frozenset[str]:
        """Return the texts of a column that are none of the usual ones of text files."""
        return self(name) - frozenset(MISSING)

    def check(self, names: Sequence[Any]) -> None:
        """Refuse columns that are not there, unless some may be absent."""
        for name in self.columns:
            if self.strict and name not in names:
                raise DataError(
                    f"missing_values names the column {name!r}, which is not there"
                    f"{suggestion(name, names) or '.'} The columns are {listing(names)}."
                )


def read_table(
    path: str | PathLike[str],
    *,
    sep: str | None = None,
    header: bool | Literal["auto"] = "auto",
    missing_values: MissingTexts | GapTexts = MISSING,
    infer_types: bool = True,
    states: Mapping[Any, Iterable[Any]] | None = None,
    weights: str | ArrayLike | None = None,
    missing: Missing = "error",
    columns: Wanted | None = None,
    drop: Wanted | None = None,
    bins: Bins | None = None,
    sheet: str | None = None,
) -> Table:
    """Return the table in a CSV, TSV, Parquet, Arrow, Excel (.xlsx) or SPSS (.sav) file.

    Text is UTF-8, with or without a byte order mark, perhaps gzipped; cells may be quoted, and
    blank lines are skipped. Spaces around a cell are dropped; spaces inside quotes are kept, and
    in a line that holds quotes so are spaces behind a cell.

    Of an Excel file the first sheet is read unless another is named. Of an SPSS file value labels
    are states, in the order of their values, codes declared as missing are missing, and variables
    whose level of measurement is ordinal are ordered. Both need ``pip install 'graftwork[files]'``.

    Parameters
    ----------
    path : path-like
        The file or pipe. Its first bytes say what it is, whatever its name; what is no table of
        rows and columns (NumPy, HDF5, R, VCF, FASTA) is refused with what to do instead.
    sep : str, optional
        The separator; otherwise the one that a first line ``sep=;`` says, or that of
        ``, ; tab |`` that fits the first 20 lines, and tab for ``.tsv`` and ``.tab``.
    header : bool or "auto"
        Whether the first row names the columns. "auto" says so if its cells are all non-empty and
        distinct, none is a number, and not all of them come up again in their own columns within
        1,000 rows; or if most of them, numbers perhaps, come up nowhere below, where other cells
        come up again. Without a header the names are ``"x0"``, ``"x1"``, ...; an empty name
        becomes ``"x"`` and its position. A first column without a name, as R and pandas write for
        names of rows (R in a first line that is one cell short), is left out if its first 1,000
        cells all differ (unless `columns` names it), and so are columns without a name and a cell.
        "auto" refuses files with titles or units in a later line.
    missing_values : collection of str, or mapping of name to texts
        Texts that mean a missing cell. ``()`` keeps them as ordinary states. A mapping adds texts
        to the usual ones in some columns (None for all): ``{"mood": ["9", "no answer"]}``.
    infer_types : bool
        Whether columns of text become ints (every cell ``0``, ``-3``; not ``007`` or ``+1``),
        floats (every cell a finite number), or bools (all ``True``/``False`` or ``true``/
        ``false``). Others, and all if False, stay text exactly as written. A column whose states
        are declared as text stays text.
    states : mapping of name to states, optional
        As in `as_table`.
    weights : str or array-like of shape (n_rows,), optional
        Name of the column that holds the row weights, which is then no variable; or the weights.
    missing : {"error", "state"}
        As in `as_table`.
    columns : list of names, optional
        The columns to read, in this order (that of the weights is read anyway). Or a function that
        is given all names and returns these.
    drop : list of names, optional
        Columns to leave out: names, ids, comments. What is in them is not looked at. Or a function,
        as before.
    bins : int or mapping of name to int, optional
        As in `as_table`.
    sheet : str, optional
        The sheet of an Excel file; the first if not given, which the table's ``notes`` say where
        there are others.

    Returns
    -------
    Table
        The table.

    Raises
    ------
    DataError
        If the file is absent, empty, damaged, ragged or not UTF-8, or its cells cannot be used;
        the message starts with the file's name and says the line.

    Warns
    -----
    DataWarning
        If a column looks continuous, as in `as_table`, or has a value of its own in most rows, as
        identifiers and free text have.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "t.csv")
    >>> _ = path.write_text("smokes,visits,n\\nno,3,10\\nyes,1,5\\n")
    >>> table = read_table(path, weights="n")
    >>> table.names, table.states, table.total_weight
    (('smokes', 'visits'), (('no', 'yes'), (1, 3)), 15.0)
    >>> read_table(path, drop=["n"]).names
    ('smokes', 'visits')
    """
    file = Path(path)
    check_missing(missing)
    bins = check_bins(bins)
    if header not in (True, False, "auto"):
        raise DataError(f"header is {header!r}, but it must be True, False or 'auto'.")
    if sep is not None and (len(sep) != 1 or sep in '"\r\n'):
        raise DataError(f"sep is {sep!r}, but it must be one character.")
    with named_after(file):
        convert = converter(infer_types, states, weights)
        gaps = GapTexts.of(missing_values)
        choose = _chooser(columns, drop, weights, gaps)
        raw = _take_apart(file, sep, header, gaps, convert, choose, sheet)
        if isinstance(weights, str):
            raw, weights = _split_weights(raw, weights)
        table = assemble(raw, states=states, weights=weights, missing=missing, bins=bins)
        warn_of_columns(table)
    return table


def file_columns(file: Path, states: Mapping[Any, Collection[Any]]) -> Raw:
    """Return the columns of a file that have these names, not encoded yet.

    One whose states are text stays text unless these are bins, and a text that is a state does not
    mean a missing cell.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "t.csv")
    >>> _ = path.write_text("id,a\\n7,1\\n8,2\\n")
    >>> file_columns(path, {"a": ("1", "2")}).column(0).states
    ('1', '2')
    """
    known = {state for listed in states.values() for state in listed}
    missing = GapTexts(frozenset(text for text in MISSING if text not in known))

    def wanted(names: Sequence[Any]) -> list[Any]:
        return [name for name in names if name in states] or list(names)

    convert = converter(True, states, None)
    return _take_apart(file, None, "auto", missing, convert, _chooser(wanted, None, None))


def text_columns(
    path: str | PathLike[str],
    *,
    sep: str | None = None,
    header: bool | Literal["auto"] = "auto",
    missing_values: MissingTexts | GapTexts = MISSING,
    sheet: str | None = None,
) -> Raw:
    """Return all columns of a file, cells as text, not encoded yet: of any number of states.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "t.csv")
    >>> _ = path.write_text("id,a\\n7,1\\n8,2\\n")
    >>> text_columns(path).column(0).states
    ('7', '8')
    """
    file, missing = Path(path), GapTexts.of(missing_values)
    with named_after(file):
        convert, choose = converter(False, None, None), _chooser(list, None, None, missing)
        return _take_apart(file, sep, header, missing, convert, choose, sheet)


def _take_apart(
    file: Path,
    sep: str | None,
    header: bool | Literal["auto"],
    missing: GapTexts,
    convert: Callable[[Hashable], bool],
    choose: Choose,
    sheet: str | None = None,
) -> Raw:
    """Return the columns of a file that are wanted."""
    check_file(file)
    source = Source.of(file)
    kind = kind_of(source)
    if kind is EXCEL:
        return read_excel(source, header, missing, convert, choose, sheet)
    if sheet is not None:
        raise DataError(f"only Excel files (.xlsx) have sheets; leave sheet={sheet!r} out.")
    if kind in (PARQUET, ARROW):
        return without_texts(_read_arrow(source, kind, choose), missing.more)
    if kind is SPSS:
        return without_texts(read_spss(source, convert, choose), missing.more)
    columns, names, notes = _read_text(source, sep, header, choose)
    return replace(_text_columns(columns, names, missing, convert), notes=notes)


def _chooser(
    columns: Wanted | None, drop: Wanted | None, weights: Any, gaps: GapTexts | None = None
) -> Choose:
    """Return the function that says which columns of a file are read."""
    also = weights if isinstance(weights, str) else None

    def choose(names: Sequence[Any]) -> list[int]:
        if gaps is not None:
            gaps.check(names)
        return choose_columns(names, columns, drop, also=also)

    return choose


def converter(infer_types: bool, states: Any, weights: Any) -> Callable[[Hashable], bool]:
    """Return the function that says whether a column of text may become numbers or bools."""
    declared = states.items() if isinstance(states, Mapping) else ()
    keep = {
        name
        for name, listed in declared
        if isinstance(listed, Collection)
        and all(isinstance(state, str) for state in listed)
        and cuts_of(tuple(listed)) is None
    }
    weight_name = weights if isinstance(weights, str) else None

    def convert(name: Hashable) -> bool:
        return name == weight_name or (infer_types and name not in keep)

    return convert


def _read_text(
    source: Source, sep: str | None, header: bool | Literal["auto"], choose: Choose
) -> tuple[TextColumns, tuple[Hashable, ...], tuple[str, ...]]:
    """Return a text file's columns that are wanted, encoded as text, their names, and remarks."""
    with opened_text(source, sep, header) as text:
        places = choose(text.titles)
        names = clean_names(text.titles[j] for j in places)
        notes = remarks(text.titles, places)
        columns = TextColumns(len(text.titles), places, text.titles if text.header else ())
        for rows, numbers in text.chunks:
            columns.add(rows, numbers)
    if not columns.lines:
        raise DataError(
            f"there are no rows below the header ({listing(names)}); "
            "if that line is data, use header=False."
        )
    return columns, names, notes


@dataclass(frozen=True, slots=True)
class TextRows:
    """A text table that is being read."""

    sep: str  # what parts its cells
    header: bool  # whether its first row has titles
    titles: list[str]  # these, or x0, x1,
    chunks: Iterator[tuple[list[list[str]], list[int]]]  # the rows below, and the lines they end on


@contextmanager
def opened_text(
    source: Source, sep: str | None, header: bool | Literal["auto"]
) -> Iterator[TextRows]:
    """Open a text table, and guess what is not said about it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "t.csv")
    >>> _ = path.write_text("a;b\\n1;2\\n")
    >>> with opened_text(Source.of(path), None, "auto") as text:
    ...     text.sep, text.titles, list(text.chunks)
    (';', ['a', 'b'], [([['1', '2']], [2])])
    """
    with opened(source) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
        lines = list(islice(text, _FIRST_LINES))
        said = _SAID.fullmatch(lines[0]) if lines else None
        if said:  # as Excel wants it; the line is kept as a blank one, so that lines are counted
            sep, lines[0] = sep or said[1], "\n"
        if sep is None:
            sep = guess_separator(lines, suffix_of(source.path))
        chunks = read_rows(chain(lines, text), sep)
        first = next(chunks, None)
        if first is None:
            raise DataError("the file is empty.")
        rows, numbers = first
        header, titles = titles_of(rows, numbers, header)
        if header:
            rows, numbers = rows[1:], numbers[1:]
        more = chain([(rows, numbers)] if rows else [], chunks)
        yield TextRows(sep, header, titles, more)


def _text_columns(
    columns: TextColumns,
    names: tuple[Hashable, ...],
    missing: GapTexts,
    convert: Callable[[Hashable], bool],
) -> Raw:
    """Return columns of text as columns of values."""
    codes = columns.codes()
    lines = columns.lines

    def column(j: int) -> Any:
        gone = missing(names[j])
        texts = [None if text in gone else text for text in columns.books[j]]
        return arranged(codes[j], text_values(texts, convert(names[j])))

    return Raw(
        names,
        len(lines),
        column,
        named=True,
        place=lambda row: f"line {lines[row]}",
        remedy=text_remedy(missing, titled=lines[0] != 1),
    )


def text_remedy(missing: GapTexts, *, titled: bool) -> str:
    """Return what can be done about missing cells of a text file, whose first line has titles."""
    head = "" if titled else "; if line 1 is a header, use header=True"
    return (
        f"{RECOMMENDED}. These texts count as missing: {listing(sorted(missing.usual))}; "
        f"missing_values=() keeps them as ordinary states{head}"
    )


def text_values(texts: Sequence[str | None], convert: bool) -> list[Any]:
    """Return a column's distinct texts as values; None stays None.

    Examples
    --------
    >>> text_values(["1", None, "3"], True), text_values(["1", None], False)
    ([1, None, 3], ['1', None])
    """
    present = [text for text in texts if text is not None]
    values = typed(present) if present and convert else present
    lookup = dict(zip(present, values, strict=True))
    return [None if text is None else lookup[text] for text in texts]


def _split_weights(raw: Raw, name: str) -> tuple[Raw, Any]:
    """Return the columns without the one that holds weights, and the weights."""
    if name not in raw.names:
        raise DataError(
            f"weights names the column {name!r}, which is not there"
            f"{suggestion(name, raw.names) or '.'} The columns are {listing(raw.names)}."
        )
    at = raw.names.index(name)
    weights = column_weights(encode(raw.column(at), name, raw.place), name, raw.place)
    rest = [j for j in range(len(raw.names)) if j != at]
    names = tuple(raw.names[j] for j in rest)
    return replace(raw, names=names, column=lambda j: raw.column(rest[j])), weights


def column_weights(
    coded: Coded, name: Hashable, place: Callable[[int], str]
) -> NDArray[np.float64]:
    """Return a column's cells as weights, or refuse the first that is none.

    Examples
    --------
    >>> column_weights(Coded(np.array([1, 0]), (1, 2.5)), "n", str).tolist()
    [2.5, 1.0]
    """
    numeric = [isinstance(s, int | float) and not isinstance(s, bool) for s in coded.states]
    if not all(numeric):
        # one bad cell makes the whole column text: name the cell that is to blame
        readable = [isinstance(s, str) and is_number(s) for s in coded.states]
        blameless = numeric if any(numeric) or all(readable) else readable
        row = int(np.argmin(np.array(blameless)[coded.codes]))
        state = coded.states[coded.codes[row]]
        raise DataError(f"{place(row)}: the weight {state!r} in column {name!r} is not a number.")
    if coded.missing is not None:
        row = int(np.argmax(coded.missing))
        raise DataError(f"{place(row)}: the weight in column {name!r} is missing (NaN).")
    try:
        weights: NDArray[np.float64] = np.array(coded.states, dtype=np.float64)[coded.codes]
    except OverflowError as error:
        raise DataError(
            f"a weight in column {name!r} is too large for a float (1.8e308); divide all "
            "of them by one number."
        ) from error
    return weights


def choose_columns(
    names: Names,
    columns: Wanted | None = None,
    drop: Wanted | None = None,
    *,
    also: Hashable = None,
) -> list[int]:
    """Return the positions of the columns to read, in the order they are to have.

    `columns` are wanted in their order (all otherwise, but names of rows), `drop` left out; both
    are names, or a function of all names. The column `also`, that of the weights, is read in any
    case.

    Examples
    --------
    >>> choose_columns(["id", "age", "sex", "n"], drop=["id"])
    [1, 2, 3]
    >>> choose_columns(["id", "age", "sex", "n"], ["sex", "age"], also="n")
    [2, 1, 3]
    """
    every = [name for name in names if not (isinstance(name, UnreadTitle) and name != also)]
    if columns is None and drop is None and len(every) == len(names):
        check_columns(len(names))
        return list(range(len(names)))
    wanted = every if columns is None else _known("columns", columns, names)
    gone = [] if drop is None else _known("drop", drop, names)
    if also is not None and also in gone:
        raise DataError(f"the column {also!r} holds the weights, so it cannot be dropped.")
    without = set(gone)
    kept = [name for name in wanted if name not in without]
    if not [name for name in kept if name != also]:
        raise DataError("no column is left; choose at least one.")
    if also is not None and also in names and also not in kept:
        kept.append(also)
    places: dict[Hashable, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place)
    found = [place for name in dict.fromkeys(kept) for place in places[name]]
    check_columns(len(found))
    return found


def check_columns(n: int) -> None:
    """Refuse more columns than the limit; return None."""
    COLUMNS.check(n, f"{count(n, 'column')} are to be read", "choose some of them")


def _known(option: str, wanted: Wanted, names: Names) -> list[Hashable]:
    """Return names that are all there."""
    if isinstance(wanted, str):
        raise DataError(f"{option} is one text, {wanted!r}; pass a list of names, [{wanted!r}].")
    listed = list(wanted(names) if callable(wanted) else wanted)
    what = "read" if option == "columns" else "drop"
    for name in listed:
        if name not in names:
            raise DataError(
                f"there is no column {name!r} to {what}{suggestion(name, names) or '.'} The "
                f"columns are {listing(names)}."
            )
    return listed


def _read_arrow(source: Source, kind: Kind, choose: Choose) -> Raw:
    """Return the columns of a Parquet or Arrow file; others than those chosen are not read.

    pyarrow reads it, or polars, or pandas (which needs fastparquet then).
    """
    for read in (_by_pyarrow, _by_polars, _by_pandas):
        try:
            raw = from_frame(read(source, kind, choose))
        except ImportError:
            continue
        except (DataError, TooLargeError, MemoryError):
            raise
        except Exception as error:  # each library has errors of its own
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise DataError(f"cannot be read as {kind.name} ({first}).") from error
        assert raw is not None
        return raw
    raise DataError(
        f"reading {kind.name} needs pyarrow or polars: pip install 'graftwork[parquet]' brings "
        "pyarrow; or save the table as CSV."
    )


def _by_pyarrow(source: Source, kind: Kind, choose: Choose) -> Any:
    if kind is ARROW:
        return _arrow_file(source, choose)
    import pyarrow.parquet as pq

    # A file object, so that folders called key=value are not taken for columns.
    with source.open() as stream, pq.ParquetFile(stream) as file:
        names = file.schema_arrow.names
        places = choose(names)
        check_unpacked(file.metadata.num_rows * len(places) * _CELL_BYTES, source.size())
        check_unpacked(unpacked_bytes(file.metadata), source.size())
        wanted = [names[j] for j in places]
        clean_names(wanted)  # twice the same is refused in our words
        _check_texts(source, file, wanted)
        return file.read(columns=sorted(wanted)).select(wanted)


def _arrow_file(source: Source, choose: Choose) -> Any:
    """Return a file of Arrow IPC: Feather of both versions, or a stream."""
    import pyarrow.feather

    with source.open() as stream:
        begins = stream.read(4)
        stream.seek(0)
        if begins == b"FEA1":  # these are not compressed
            table = pyarrow.feather.read_table(stream)
        else:
            table = _checked_batches(stream, begins == b"ARRO", source.size())
    names = table.schema.names
    if len(set(names)) < len(names):  # refused in our words
        return table
    return table.select(choose(names))


def _checked_batches(stream: BinaryIO, seekable: bool, size: int) -> Any:
    """Return the batches of a file or a stream of Arrow, unless they unpack to very much more."""
    import pyarrow as pa

    reader = pa.ipc.open_file(stream) if seekable else pa.ipc.open_stream(stream)
    batches, held = [], 0
    each = map(reader.get_batch, range(reader.num_record_batches)) if seekable else reader
    for batch in each:
        held += batch.nbytes
        check_unpacked(held, size)
        batches.append(batch)
    return pa.Table.from_batches(batches, reader.schema)


def unpacked_bytes(metadata: Any) -> int:
    """Return how many bytes the row groups of a Parquet file unpack to, as its metadata say."""
    return sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))


def _check_texts(source: Source, file: Any, wanted: Collection[str]) -> None:
    """Refuse texts of a Parquet file that unpack to very much more; its metadata count each once.

    They are read as places in the dictionaries of the file, which unpacks none. Only texts that it
    codes by their differences (delta) are unpacked, some rows at a time.
    """
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    from pyarrow.types import is_dictionary, is_large_string, is_string

    kinds = {each.name: each.type for each in file.schema_arrow if each.name in wanted}
    texts = [name for name, kind in kinds.items() if is_string(kind) or is_large_string(kind)]
    if not texts:
        return
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    chunks = (group.column(k) for group in groups for k in range(group.num_columns))
    delta = {each.path_in_schema for each in chunks if "DELTA_BYTE_ARRAY" in each.encodings}
    places = [name for name in texts if name not in delta]
    rows, held = (1 << 16 if len(places) == len(texts) else 1 << 10), 0
    with source.open() as stream, pq.ParquetFile(stream, read_dictionary=places) as again:
        for batch in again.iter_batches(rows, columns=texts):
            for column in batch.columns:
                if is_dictionary(column.type):
                    sizes = pc.binary_length(column.dictionary).cast("int64")
                    held += pc.sum(sizes.take(column.indices)).as_py() or 0
                else:
                    held += column.nbytes
            check_unpacked(held, source.size())


def _by_polars(source: Source, kind: Kind, choose: Choose) -> Any:
    import polars as pl

    parquet = kind is PARQUET
    with source.open() as stream:
        names = list(pl.read_parquet_schema(stream) if parquet else pl.read_ipc_schema(stream))
        places = choose(names)
        stream.seek(0)
        if parquet:
            n_rows = pl.scan_parquet(stream).select(pl.len()).collect().item()
            check_unpacked(n_rows * len(places) * _CELL_BYTES, source.size())
            stream.seek(0)
        read = pl.read_parquet if parquet else pl.read_ipc
        return read(stream, columns=[names[j] for j in places])


def _by_pandas(source: Source, kind: Kind, choose: Choose) -> Any:
    import pandas as pd

    with source.open() as stream:
        frame = pd.read_parquet(stream) if kind is PARQUET else pd.read_feather(stream)
    return frame.iloc[:, choose(frame.columns.tolist())]
