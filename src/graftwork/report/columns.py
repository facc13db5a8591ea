"""Records as columns of text: numbers to the right, names to the left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

#: A record's key, the column's title, and how a value is written.
Column = tuple[str, str, Callable[[Any], str]]


def decimals(digits: int) -> Callable[[Any], str]:
    """Return how a number is written with so many decimals; a dash stands for NaN.

    Examples
    --------
    >>> decimals(2)(1234.567), decimals(2)(float("nan"))
    ('1,234.57', '-')
    """
    return lambda value: f"{value:,.{digits}f}" if value == value else "-"


def whole(value: Any) -> str:
    """Return a whole number as text; a dash stands for None.

    Examples
    --------
    >>> whole(1200), whole(None)
    ('1,200', '-')
    """
    return "-" if value is None else f"{value:,}"


def aligned(records: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> str:
    """Return records as lines of a table: the first column to the left, others to the right.

    Columns that the records do not have are left out.

    Examples
    --------
    >>> print(aligned([{"m": "full", "n": 5}], [("m", "method", str), ("n", "n", whole)]))
      method  n
      full    5
    """
    shown = [column for column in columns if column[0] in records[0]]
    rows = [[title for _, title, _ in shown]]
    rows += [[text(record[key]) for key, _, text in shown] for record in records]
    widths = [max(len(row[k]) for row in rows) for k in range(len(shown))]
    lines = []
    for row in rows:
        first, *rest = (
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  " + "  ".join([first, *rest]).rstrip())
    return "\n".join(lines)
