"""pyarrow, imported when it is needed."""

from __future__ import annotations

from typing import Any

from graftwork.errors import DataError


def arrow() -> Any:
    """Return pyarrow, or say how to get it."""
    try:
        import pyarrow
    except ImportError as error:
        raise DataError(
            "reading rows in parts needs pyarrow: pip install 'graftwork[parquet]'; "
            "gw.read_table reads tables that fit in memory without it."
        ) from error
    return pyarrow
