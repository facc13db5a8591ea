"""pyarrow, imported when it is needed."""

from __future__ import annotations

from typing import Any

from graftwork.errors import DataError


def arrow() -> Any:
    """Return pyarrow, or say how to get it.

    Examples
    --------
    >>> arrow().int8()
    DataType(int8)
    """
    try:
        import pyarrow
    except ImportError as error:
        raise DataError(
            "scanning rows in parts needs pyarrow: pip install 'graftwork[parquet]' brings it; "
            "gw.read_table reads a table that fits into memory without."
        ) from error
    return pyarrow
