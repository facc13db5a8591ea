"""Records as files: the trace of a run as JSON Lines, the lambda path as CSV."""

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

PATH_COLUMNS = (
    "lam", "n_edges", "loss", "objective", "refit_loss", "criterion", "held_out", "chosen",
)  # fmt: skip


def write_trace(path: str | PathLike[str], rounds: Iterable[Round]) -> None:
    """Write one JSON object a round, one a line, and return None; the file appears whole or not.

    Parameters
    ----------
    path : path-like
        Where to.
    rounds : iterable of Round
        What `MarkovNetwork.trace_` holds. A number that is not finite is written as null.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "trace.jsonl")
    >>> write_trace(path, [])
    >>> path.read_text()
    ''
    """
    lines = [json.dumps(finite(record.to_dict()), allow_nan=False) + "\n" for record in rounds]
    write_text(path, "".join(lines))


def finite(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with None in place of numbers that JSON does not know.

    Examples
    --------
    >>> finite({"a": 1.5, "b": -math.inf})
    {'a': 1.5, 'b': None}
    """
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in record.items()
    }


def write_path(path: str | PathLike[str], points: Iterable[Any]) -> None:
    """Write the lambdas tried as CSV, and return None; the file appears whole or not.

    Parameters
    ----------
    path : path-like
        Where to.
    points : iterable
        What `MarkovNetwork.path_` holds: one point a lambda, with the attributes lam, n_edges,
        loss, objective, refit_loss, criterion, held_out and chosen. What is not known (NaN) is
        left empty.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "path.csv")
    >>> write_path(path, [])
    >>> path.read_text()
    'lam,n_edges,loss,objective,refit_loss,criterion,held_out,chosen\\n'
    """
    rows = ([getattr(point, name) for name in PATH_COLUMNS] for point in points)
    known = (["" if value != value else value for value in row] for row in rows)
    write_rows(path, PATH_COLUMNS, known)


def write_rows(
    path: str | PathLike[str], header: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Write rows as CSV below a header, and return None; the file appears whole or not.

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
    writer.writerow(header)
    writer.writerows(rows)
    write_text(path, buffer.getvalue())


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write text as UTF-8, and return None; the file appears whole or not.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "t.txt")
    >>> write_text(path, "done\\n")
    >>> path.read_text()
    'done\\n'
    """
    with replacing(path) as file:
        file.write(text.encode("utf-8"))
