"""Tables out again, as methods of `Table`: to other libraries' frames and to text files."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING

from graftwork.data.atomic import write_lines
from graftwork.data.encode import palette
from graftwork.errors import DataError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from graftwork.data.table import Table

_CHUNK_ROWS = 4096
_NATIVE = {"int", "float", "bool", "str", "bytes", "date", "datetime", "timedelta", "time"}


def to_pandas(table: Table) -> pd.DataFrame:
    """Return the table as a pandas frame of plain values; weights are left out."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("to_pandas needs pandas: pip install pandas") from error
    pairs = zip(table.states, table.codes, strict=True)
    frame = pd.DataFrame({j: palette(listed)[row] for j, (listed, row) in enumerate(pairs)})
    # Set afterwards: tuples as dictionary keys would become levels.
    frame.columns = pd.Index(table.names, tupleize_cols=False)
    return frame


def to_polars(table: Table) -> pl.DataFrame:
    """Return the table as a polars frame of plain values; weights are left out."""
    try:
        import polars as pl
    except ImportError as error:
        raise ImportError("to_polars needs polars: pip install polars") from error
    texts = [str(name) for name in table.names]
    if len(set(texts)) < len(texts):
        raise DataError("polars names columns by text, and two names here are one as text.")
    columns = []
    for text, states, row in zip(texts, table.states, table.codes, strict=True):
        kinds = {type(state).__name__ for state in states}
        wide = any(isinstance(state, int) and not -(2**63) <= state < 2**63 for state in states)
        native = len(kinds) == 1 and kinds <= _NATIVE and not wide
        cells = palette(states)[row].tolist()
        columns.append(pl.Series(text, cells, dtype=None if native else pl.Object))
    return pl.DataFrame(columns)


def write_csv(
    table: Table, path: str | PathLike[str], *, weight_column: Hashable | None = None
) -> None:
    """Write the table as UTF-8 text with a header, and return None.

    The file appears whole or not at all. `read_table` reads it back, guessing types from the
    text: the text "1" comes back as the int 1 unless told otherwise.
    """
    if table.weights is not None and weight_column is None:
        raise DataError(
            "the table has weights, which a plain file would lose; name a column for them by "
            "weight_column=, or take them away by with_weights(None)."
        )
    if table.weights is None and weight_column is not None:
        raise DataError("weight_column is given, but the table has no weights.")
    if weight_column in table.names:
        raise DataError(f"weight_column is {weight_column!r}, which is a column already.")
    write_lines(path, _lines(table, weight_column))


def write_parts(tables: Iterable[Table], path: str | PathLike[str]) -> None:
    """Write tables of the same columns, without weights, into one file as `write_csv` does.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from graftwork.data import as_table
    >>> path = pathlib.Path(tempfile.mkdtemp(), "t.csv")
    >>> write_parts([as_table([[1]], names=["a"]), as_table([[2]], names=["a"])], path)
    >>> path.read_text()
    'a\\n1\\n2\\n'
    """
    write_lines(
        path,
        (
            line
            for k, table in enumerate(tables)
            for line in islice(_lines(table, None), min(k, 1), None)
        ),
    )


def _lines(table: Table, weight_column: Hashable | None) -> Iterator[str]:
    """Yield the file's text in pieces of many lines."""
    names = [_cell(name) for name in table.names]
    palettes = [palette(tuple(_cell(state) for state in listed)) for listed in table.states]
    if table.weights is not None:
        names.append(_cell(weight_column))
    yield ",".join(names) + "\n"
    for start in range(0, table.n_rows, _CHUNK_ROWS):
        part = slice(start, start + _CHUNK_ROWS)
        pairs = zip(palettes, table.codes[:, part], strict=True)
        columns = [colours[row].tolist() for colours, row in pairs]
        if table.weights is not None:
            columns.append([repr(weight) for weight in table.weights[part].tolist()])
        yield "".join(",".join(row) + "\n" for row in zip(*columns, strict=True))


def _cell(value: Hashable) -> str:
    """Return a state or a name as the text of one cell, quoted where it has to be."""
    text = str(value)
    if text == "" or text != text.strip() or any(mark in text for mark in ',;|\t"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text
