"""Records as CSV files, and values as JSON can hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graftwork.report.trace import write_rows


def write_records(
    path: Path, records: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None
) -> None:
    """Write records with the same keys as CSV, and return None; what is unknown stays empty.

    The columns are the keys of the first record, unless they are given.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "t.csv")
    >>> write_records(path, [{"a": 1, "b": None}, {"a": 2, "b": float("nan")}])
    >>> path.read_text()
    'a,b\\n1,\\n2,\\n'
    """
    header = list(records[0] if columns is None and records else columns or ())
    rows = (
        ["" if (v := plain(record[key])) is None else v for key in header] for record in records
    )
    write_rows(path, header, rows)


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: None for what is not finite, text for what is not plain.

    Examples
    --------
    >>> plain({"a": float("inf"), "b": (1, 2.5), "c": {3}})
    {'a': None, 'b': [1, 2.5], 'c': '{3}'}
    """
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
