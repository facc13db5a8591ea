"""Records as files: the trace of a run as JSON Lines, the lambda path and others as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

from graftwork.data.atomic import replacing
from graftwork.grafting.trace import Round
from graftwork.selection import PathPoint
from graftwork.text import guarded

PATH_COLUMNS = (
    "lam", "n_edges", "loss", "objective", "refit_loss", "criterion", "held_out", "chosen",
)  # fmt: skip


def write_trace(path: str | PathLike[str], rounds: Iterable[Round]) -> None:
    """Write one JSON object a round, one a line, and return None; the file appears whole or not."""
    lines = [json.dumps(plain(record.to_dict()), allow_nan=False) + "\n" for record in rounds]
    write_text(path, "".join(lines))


def write_path(path: str | PathLike[str], points: Iterable[PathPoint]) -> None:
    """Write the lambdas tried as CSV, and return None; the file appears whole or not."""
    rows = ([getattr(point, name) for name in PATH_COLUMNS] for point in points)
    known = (["" if value != value else value for value in row] for row in rows)
    write_rows(path, PATH_COLUMNS, known)


def write_rows(
    path: str | PathLike[str], header: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Write rows as CSV below a header, and return None; the file appears whole or not.

    Text that a spreadsheet would calculate begins with an apostrophe (see `guarded`).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "t.csv")
    >>> write_rows(path, ["a", "b"], [[1, "x, y"]])
    >>> path.read_text()
    'a,b\\n1,"x, y"\\n'
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([guarded(cell) for cell in header])
    writer.writerows([guarded(cell) for cell in row] for row in rows)
    write_text(path, buffer.getvalue())


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write text as UTF-8, and return None; the file appears whole or not."""
    with replacing(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def write_records(
    path: str | PathLike[str],
    records: Sequence[Mapping[str, Any]],
    columns: Sequence[str] | None = None,
) -> None:
    """Write records with the same keys as CSV, and return None; what is unknown stays empty.

    The columns are the keys of the first record, unless they are given.
    """
    header = list(records[0] if columns is None and records else columns or ())
    rows = (
        ["" if (v := plain(record[key])) is None else v for key in header] for record in records
    )
    write_rows(path, header, rows)


def plain(value: Any) -> Any:
    """Return a value for JSON: None for what is not finite, text for what is not plain."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
