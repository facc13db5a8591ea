"""True edges from a file: a model, or text with two names a line."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graftwork.cli.failures import say
from graftwork.cli.matching import find_variable, match_text
from graftwork.errors import DataError
from graftwork.limits import is_archive, read_bytes
from graftwork.text import unguarded

Pair = tuple[Any, Any]

#: How many lines tell the separator.
_FIRST_LINES = 20


def read_truth(names: Sequence[Any], path: Path) -> list[Pair]:
    """Return the edges in a file as pairs of these variables.

    A text file has two names in the first two cells of each line; what follows is not read, and a
    first line of two cells that are no variables is a header. The file `edges.csv` that learning
    writes is one of these.
    """
    return [pair for _, pair, _ in read_lines(names, path)]


def read_lines(names: Sequence[Any], path: Path) -> list[tuple[int, Pair, list[str]]]:
    """Return line number, pair of variables and cells of each line that has an edge."""
    if not path.is_dir() and path.is_file() and is_archive(path):
        from graftwork.exchange import load_network

        lines = [(0, [str(a), str(b)]) for a, b in load_network(path).edges]
    else:
        lines = _read_text(path, names)
    known = {str(name): name for name in names}
    out = []
    for line, cells in lines:
        a, b = cells[:2]
        try:
            first, second = (known[t] if t in known else find_variable(names, t) for t in (a, b))
        except DataError as error:
            raise DataError(f"{path.name}:{f' line {line}:' if line else ''} {error}") from error
        if first == second:
            raise DataError(f"{path.name}: line {line} joins {a!r} to itself; name two variables.")
        out.append((line, (first, second), cells))
    return out


def _read_text(path: Path, names: Sequence[Any]) -> list[tuple[int, list[str]]]:
    """Return line number and cells of each line, two names at least, without the header."""
    from graftwork.report.edges import COLUMNS

    rows = _rows(path)
    _, top = rows[0]
    # Our own header is one even where variables are called "first" and "second".
    if tuple(top) == COLUMNS:
        del rows[0]
    elif len(top) > 1 and all(match_text(text, names) is None for text in top[:2]):
        del rows[0]
        if tuple(top[:2]) != COLUMNS[:2]:
            say(f"note: {path.name}: line 1 ({top[0]}, {top[1]}) was read as a header.")
    for line, cells in rows:
        if len(cells) < 2 or not all(cells[:2]):
            raise DataError(
                f"{path.name}: line {line} does not have two names, but {','.join(cells)!r}; "
                "write one edge per line, such as rain,wet."
            )
    return rows


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return line numbers and cells of the lines that are not blank: one at least."""
    from graftwork.data.text import guess_separator

    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path.name}: is neither a model file nor UTF-8 text; give a CSV file with two "
            "names per line."
        ) from error
    mark = guess_separator(text.splitlines()[:_FIRST_LINES], path.suffix)
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=mark, skipinitialspace=True)
    cleaned = ((reader.line_num, [unguarded(cell.strip(" \t")) for cell in row]) for row in reader)
    rows = [(line, cells) for line, cells in cleaned if any(cells)]
    if not rows:
        raise DataError(
            f"{path.name}: the file is empty; for a truth without edges, write the header line "
            "first,second alone."
        )
    return rows
