"""Groups of variables from a file: a name and its group a line."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graftwork.cli.matching import find_variable, match_text
from graftwork.errors import DataError
from graftwork.limits import read_bytes
from graftwork.text import unguarded


def read_groups(names: Sequence[Any], path: Path) -> dict[Any, str | None]:
    """Return the group of each variable that a file names.

    The first two cells of each line are a variable and its group; a first line whose first cell is
    no variable is a header. A variable with an empty group is a group by itself. The
    communities.csv that learning writes is one of these.
    """
    from graftwork.data.text import guess_separator

    try:
        text = read_bytes(path).decode("utf-8-sig")
    except FileNotFoundError as error:
        raise DataError(
            f"there is no file {str(path)!r}; give a CSV file with a variable and its group per "
            "line."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"{path.name}: cannot be read as text; give a CSV file with a variable and its "
            "group per line."
        ) from error
    mark = guess_separator(text.splitlines()[:20], path.suffix)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    out: dict[Any, str | None] = {}
    for cells in reader:
        row = [unguarded(cell.strip(" \t")) for cell in cells]
        if not any(row) or (reader.line_num == 1 and match_text(row[0], names) is None):
            continue
        if len(row) < 2:
            raise DataError(
                f"{path.name}: line {reader.line_num} has no group after the name of the variable."
            )
        try:
            out[find_variable(names, row[0])] = row[1] or None
        except DataError as error:
            raise DataError(f"{path.name}: line {reader.line_num}: {error}") from error
    return out
